"""What readers of files of answers and of scores share: the files themselves, their rejects, what each of them held."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from evaluator.errors import DataFileError, StoppedReadingError
from evaluator.importers import Reject
from evaluator.records import content_hash

_REJECTS_IN_MEMORY = 1 << 20
_ROWS_BETWEEN_LOOKS = 256
Stop = Callable[[], bool]
T = TypeVar("T")
FLOOD = 100_000  # rejects
_FEW_USABLE = 0.1  # usable rows for each of them


def never() -> bool:
    """Whether to give up: no."""
    return False


@dataclass(frozen=True, kw_only=True)
class FileReport:
    """What one file held. ``n_rows`` = readable rows + rejects; ``notes`` is what the reader left out.

    ``redacted`` counts what was taken out by name, ``n_redacted`` the answers it was taken out of.
    """

    path: str
    n_rows: int
    n_blank: int
    n_rejected: int
    notes: tuple[str, ...]
    n_redacted: int = 0
    redacted: Mapping[str, int] = field(default_factory=dict)


def refuse_flood(path: Path, *, n_bad: int, n_usable: int) -> None:
    """Give up on what is no file of rows at all: a log of gigabytes would be read for an hour, line by line.

    Raises:
        DataFileError: there are many rejects, and hardly a row that can be used.
    """
    if n_bad >= FLOOD and n_usable < n_bad * _FEW_USABLE:
        raise DataFileError(
            f"{path}: {n_bad:,} rows cannot be used and {n_usable:,} can, and there it was given up: these are no rows"
            " of that format; nothing is stored"
        )


class RejectLog:
    """Rejects in the order of the files; a few stay in memory, many go to a temporary file. A context manager."""

    def __init__(self) -> None:
        self.n = 0
        self._lines = tempfile.SpooledTemporaryFile(  # noqa: SIM115 - closed at the end of the context
            max_size=_REJECTS_IN_MEMORY, mode="w+", encoding="utf-8"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lines.close()

    def add(self, path: str, reject: Reject) -> None:
        """Note a reject of a file."""
        row = {"file": path, "line": reject.line_number, "reason": reject.reason, "text_start": reject.text_start}
        self._lines.write(json.dumps(row) + "\n")
        self.n += 1

    def rows(self, most: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield the rejects, at most so many: file, line, reason, text_start."""
        self._lines.seek(0)
        for position, line in enumerate(self._lines):
            if most is not None and position >= most:
                break
            yield json.loads(line)
        self._lines.seek(0, os.SEEK_END)

    def write_to(self, path: Path) -> None:
        """Write all rejects to a file, as JSON lines."""
        with path.open("w", encoding="utf-8") as target:
            target.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in self.rows())


class KeptOutError(Exception):
    """Ends the staging of answers that shall not be stored."""


@dataclass(frozen=True, kw_only=True)
class FilesRead:
    """A report on files that were read; ``files`` is what each of them held."""

    files: tuple[FileReport, ...]

    @property
    def n_rows(self) -> int:
        """Rows of all files, rejects included."""
        return sum(file.n_rows for file in self.files)

    @property
    def n_rejected(self) -> int:
        """Rejects of all files."""
        return sum(file.n_rejected for file in self.files)


class FileSet:
    """Files that are read one after the other and must not change on the way, with their rejects.

    Args:
        paths: The files.
        rejects: Receives the rows that cannot be used.
        skip_bad: Whether readable rows count although there are rejects.
        stop: Whether to give up; asked every few hundred rows.

    Raises:
        DataFileError: a file cannot be read.
    """

    def __init__(self, paths: Sequence[Path], rejects: RejectLog, *, skip_bad: bool, stop: Stop = never) -> None:
        self._stop = stop
        self.paths = tuple(paths)
        self.rejects = rejects
        self.skip_bad = skip_bad
        self._hashes = {path: hash_file(path) for path in paths}

    @property
    def sha256(self) -> str:
        """Hash of the file, or of the hashes of several."""
        hashes = list(self._hashes.values())
        return hashes[0] if len(hashes) == 1 else content_hash(*hashes)

    def watched(self, path: Path, rows: Iterable[T]) -> Iterator[T]:
        """Yield the rows of a file, until somebody asks to stop.

        Raises:
            StoppedReadingError: somebody did.
        """
        for number, row in enumerate(rows):
            if number % _ROWS_BETWEEN_LOOKS == 0 and self._stop():
                raise StoppedReadingError(f"{path}: reading was stopped; nothing of it is taken in")
            yield row

    @property
    def keeps_out(self) -> bool:
        """Whether what was read must not be stored."""
        return bool(self.rejects.n) and not self.skip_bad

    def reject(self, path: Path, reject: Reject, *, n_usable: int) -> None:
        """Note a reject; gives up on a file of little else.

        Raises:
            DataFileError: as of ``refuse_flood``.
        """
        self.rejects.add(str(path), reject)
        refuse_flood(path, n_bad=self.rejects.n, n_usable=n_usable)

    def check_unchanged(self, path: Path) -> None:
        """Refuse a file that was written to while it was read.

        Raises:
            DataFileError: it was, or it cannot be read any more.
        """
        if hash_file(path) != self._hashes[path]:
            raise DataFileError(f"{path} changed while it was read; nothing is stored, import it when it is complete")


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file.

    Raises:
        DataFileError: it cannot be read, or is no file that can be read twice.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise DataFileError(f"{path} is no ordinary file; save its content to one and import that")
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataFileError(f"{path}: cannot be read: {error.strerror or error}") from error
