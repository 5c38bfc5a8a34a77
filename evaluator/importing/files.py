"""Reads files of answers one after the other for the store, notes their rejects, and counts what they hold.

What a row means is the importers' business; what becomes of it is ``evaluator.importing``'s.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from zoneinfo import ZoneInfo

from evaluator.clock import day_of, parse_utc, utc_text
from evaluator.errors import DataFileError
from evaluator.identity import base_item_id
from evaluator.importers import Reject, iter_items
from evaluator.importing.redacting import RedactedStream
from evaluator.records import Item, ItemFlag, content_hash
from evaluator.redaction import Redactor

MOST_VALUES = 200  # values of a tag that are told apart, as in the store's choice of segments
_REJECTS_IN_MEMORY = 1 << 20
FLOOD = 100_000  # rejects
_FEW_USABLE = 0.1  # usable rows for each of them
_AHEAD = timedelta(days=1)  # clocks and zones may differ by less
_SECONDS = len("2026-03-01T09:00:00")

Answer = tuple[str, Item]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How files are read, see ``evaluator.importers.iter_items``, and what is taken out of them on the way."""

    format: str | None = None
    field_map: Mapping[str, str] = field(default_factory=dict)
    naive_zone: str = "UTC"
    time_format: str | None = None
    default_answered_utc: str | None = None
    encoding: str = "utf-8"
    redactor: Redactor | None = None

    def stream(self, path: Path) -> RedactedStream:
        """Return the rows of a file as items and rejects.

        Raises:
            UsageError: a setting that cannot be used.
            DataFileError: the file as a whole cannot be read.
        """
        stream = iter_items(
            path,
            format=self.format,
            naive_zone=self.naive_zone,
            field_map=self.field_map,
            time_format=self.time_format,
            default_answered_utc=self.default_answered_utc,
            encoding=self.encoding,
        )
        return RedactedStream(stream, self.redactor)


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


class FilesReader:
    """Reads files as answers, and counts what it sees.

    Args:
        paths: The files.
        app: The app the answers belong to.
        reading: How the files are read.
        rejects: Receives the rows that cannot be used.
        skip_bad: Whether readable rows count although there are rejects.
        now: Wall clock, to notice times that lie ahead of it.

    Raises:
        DataFileError: a file cannot be read.
    """

    def __init__(
        self, paths: Sequence[Path], app: str, reading: Reading, rejects: RejectLog, *, skip_bad: bool, now: datetime
    ) -> None:
        self._paths = paths
        self._app = app
        self._reading = reading
        self._rejects = rejects
        self.skip_bad = skip_bad
        self._hashes = {path: hash_file(path) for path in paths}
        self.files: list[FileReport] = []
        self.n_answers = 0
        self.n_empty = 0
        self.n_ahead = 0
        self.n_without_time = 0
        self._ahead_of = utc_text(now + _AHEAD)[:_SECONDS]
        self._first: str | None = None
        self._last: str | None = None
        self._tag_rows: dict[str, int] = {}
        self._tag_values: dict[str, set[str]] = {}

    @property
    def sha256(self) -> str:
        """Hash of the file, or of the hashes of several."""
        hashes = list(self._hashes.values())
        return hashes[0] if len(hashes) == 1 else content_hash(*hashes)

    @property
    def keeps_out(self) -> bool:
        """Whether what was read must not be stored."""
        return bool(self._rejects.n) and not self.skip_bad

    def answers(self) -> Iterator[Answer]:
        """Yield (item id, item) for each readable row; after a reject that keeps everything out, nothing more.

        Raises:
            DataFileError: a file cannot be used, or changed since this reader was made.
            KeptOutError: at the end, when a reject keeps everything out, or there is nothing to store.
        """
        for path in self._paths:
            yield from self._answers_of(path)
        if self.keeps_out or not self.n_answers:
            raise KeptOutError

    def _answers_of(self, path: Path) -> Iterator[Answer]:
        stream = self._reading.stream(path)
        for entry in stream:
            if isinstance(entry, Reject):
                self._rejects.add(str(path), entry)
                refuse_flood(path, n_bad=self._rejects.n, n_usable=self.n_answers)
                continue
            self._count(entry.item)
            if not self.keeps_out:
                yield base_item_id(self._app, entry.item, entry.ordinal), entry.item
        if hash_file(path) != self._hashes[path]:
            raise DataFileError(f"{path} changed while it was read; nothing is stored, import it when it is complete")
        self.files.append(
            FileReport(
                path=str(path),
                n_rows=stream.n_rows,
                n_blank=stream.n_blank,
                n_rejected=stream.n_rejected,
                notes=stream.notes,
                n_redacted=stream.n_redacted,
                redacted=dict(stream.found),
            )
        )

    def _count(self, item: Item) -> None:
        self.n_answers += 1
        self.n_empty += ItemFlag.EMPTY_OUTPUT in item.flags
        answered = item.answered_utc
        if answered is None:
            self.n_without_time += 1
        else:
            self.n_ahead += answered[:_SECONDS] > self._ahead_of
            if self._first is None or answered < self._first:
                self._first = answered
            if self._last is None or answered > self._last:
                self._last = answered
        for key, value in item.tags.items():
            self._tag_rows[key] = self._tag_rows.get(key, 0) + 1
            values = self._tag_values.setdefault(key, set())
            if len(values) < MOST_VALUES:
                values.add(value)

    def days(self, zone: ZoneInfo) -> tuple[str | None, str | None]:
        """First and last day of the answers read so far."""
        return _day(self._first, zone), _day(self._last, zone)

    def tags(self) -> dict[str, int]:
        """Number of values by tag, commonest tags first; ``MOST_VALUES`` stands for that many or more."""
        names = sorted(self._tag_rows, key=lambda name: (-self._tag_rows[name], name))
        return {name: len(self._tag_values[name]) for name in names}


def count_rejects(paths: Sequence[Path], reading: Reading) -> int:
    """Return how many rows of the files cannot be used.

    Raises:
        DataFileError: a file as a whole cannot be used.
    """
    n_bad = n_usable = 0
    for path in paths:
        for entry in reading.stream(path):
            if isinstance(entry, Reject):
                n_bad += 1
                refuse_flood(path, n_bad=n_bad, n_usable=n_usable)
            else:
                n_usable += 1
    return n_bad


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


def _day(moment: str | None, zone: ZoneInfo) -> str | None:
    return None if moment is None else day_of(parse_utc(moment), zone).isoformat()
