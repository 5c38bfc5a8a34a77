"""Finds files by patterns and tells those that are ready from those that somebody still writes. Reads no rows."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

FRESH_S = 10.0  # a file without a last line end that was written so lately may get more
LOOK_AGAIN_S = 0.2
UNFINISHED_SUFFIXES = (".tmp", ".part", ".crdownload")
_WILDCARD = re.compile(r"[*?\[]")


@dataclass(frozen=True, kw_only=True)
class FoundFile:
    """A file as it was when it was found."""

    path: Path
    size_bytes: int
    mtime_ns: int


@dataclass(frozen=True, kw_only=True)
class Found:
    """What patterns lead to.

    Attributes:
        files: The files, in the order of their paths.
        notes: What is left alone, and why, a sentence each.
        problems: Folders that cannot be looked into.
    """

    files: tuple[FoundFile, ...]
    notes: tuple[str, ...]
    problems: tuple[str, ...]


def find_files(patterns: Sequence[str], folder: Path, *, key: str = "traffic.files") -> Found:
    """Return the files that patterns lead to, each once, but for those whose names say that they are not finished.

    Args:
        patterns: Paths with ``*``, ``?``, ``[...]`` and ``**``; relative ones start at the folder.
        folder: The configuration's folder.
        key: What messages call the setting.
    """
    files: dict[Path, FoundFile] = {}
    notes: list[str] = []
    problems: list[str] = []
    for pattern in dict.fromkeys(patterns):
        base, rest = _split(pattern, folder)
        if base.is_dir() and not os.access(base, os.R_OK | os.X_OK):
            problems.append(f"the folder {base} of {key} = {pattern!r} cannot be read; allow it to be read")
            continue
        try:
            paths = sorted(base.glob(rest)) if rest else [base]
        except (ValueError, NotImplementedError) as error:
            problems.append(f"{key} = {pattern!r} is no pattern: {error}")
            continue
        found = [file for path in paths if (file := look_at(path)) is not None]
        if not found:
            notes.append(_nothing_there(f"{key} = {pattern!r}", base))
        files.update({file.path: file for file in found})
    ready = [file for file in files.values() if not _is_named_unfinished(file.path)]
    left = [file.path for file in files.values() if _is_named_unfinished(file.path)]
    notes += [f"{path} is left alone: its name says that it is not finished" for path in left]
    return Found(files=tuple(sorted(ready, key=lambda file: file.path)), notes=tuple(notes), problems=tuple(problems))


def _split(pattern: str, folder: Path) -> tuple[Path, str]:
    """The folder in front of the first wildcard, and the rest of the pattern."""
    parts = (folder / Path(pattern).expanduser()).absolute().parts
    n_fixed = next((place for place, part in enumerate(parts) if _WILDCARD.search(part)), len(parts))
    return Path(*parts[:n_fixed]), "/".join(parts[n_fixed:])


def _nothing_there(setting: str, base: Path) -> str:
    is_missing = not base.exists() and not base.is_symlink()
    return f"{setting} matches no file: there is no {base}" if is_missing else f"{setting} matches no file"


def _is_named_unfinished(path: Path) -> bool:
    return path.name.startswith(".") or path.name.lower().endswith(UNFINISHED_SUFFIXES)


def look_at(path: Path) -> FoundFile | None:
    """Return a file as it is now; None when it is gone, or no file that can be read twice."""
    try:
        if not path.is_file():
            return None
        found = path.stat()
    except OSError:
        return None
    return FoundFile(path=path, size_bytes=found.st_size, mtime_ns=found.st_mtime_ns)


def settled(
    files: Iterable[FoundFile], *, now: datetime, pause: Callable[[float], None]
) -> tuple[list[FoundFile], list[str]]:
    """Tell files that are complete from those that are still being written.

    Args:
        files: The files, as they were a moment ago.
        now: Wall clock, which file times are compared with.
        pause: Waits so many seconds, between two looks.

    Returns:
        The complete files, and a sentence for each of the others.
    """
    files = list(files)
    ready: list[FoundFile] = []
    notes: list[str] = []
    if files:
        pause(LOOK_AGAIN_S)
    for file in files:
        again = look_at(file.path)
        if again is None:
            notes.append(f"{file.path} was there a moment ago and is gone")
        elif again != file:
            notes.append(f"{file.path} is being written; the next run takes it")
        elif _is_fresh(file, now) and not ends_with_line_end(file.path):
            notes.append(
                f"{file.path} may be half-written: it was changed less than {FRESH_S:.0f} seconds ago and its last line"
                " has no end; the next run takes it"
            )
        else:
            ready.append(file)
    return ready, notes


def _is_fresh(file: FoundFile, now: datetime) -> bool:
    age_s = now.timestamp() - file.mtime_ns / 1e9
    return abs(age_s) < FRESH_S  # a time far ahead is that of another clock, and says nothing


def ends_with_line_end(path: Path) -> bool:
    """Whether the last byte of a file is a line end; an empty file has nothing that could be unfinished."""
    try:
        with path.open("rb") as file:
            if file.seek(0, os.SEEK_END) == 0:
                return True
            file.seek(-1, os.SEEK_END)
            return file.read(1) in (b"\n", b"\r")
    except OSError:
        return True  # what cannot be read is told of when it is imported
