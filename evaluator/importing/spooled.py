"""Fetches the answers that applications have recorded since the last time, before a run draws its sample.

A spool file is removed when its answers are stored. Rows that cannot be used never hold up the rest: the file is kept
under another name, for a person to look at.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from evaluator.errors import DataFileError
from evaluator.importing import Reading, RejectLog, import_files
from evaluator.redaction import Redactor
from evaluator.spool import OPEN_SUFFIX, TAKEN_SUFFIX, remove_spooled, take_spooled

REJECTED_SUFFIX = ".rejected.jsonl"


@dataclass(frozen=True, kw_only=True)
class SpoolReport:
    """What was fetched. ``set_aside`` are the files with rows that could not be used, ``problems`` why, one each."""

    n_files: int
    n_new: int
    n_known: int
    n_rejected: int
    set_aside: tuple[str, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Taken:
    """What came of one file; ``problem`` says why some or all of it could not be used."""

    n_new: int = 0
    n_known: int = 0
    n_rejected: int = 0
    problem: str | None = None


def count_waiting(folder: Path) -> int:
    """Return how many spool files wait to be fetched."""
    return sum(len(list(folder.glob(f"*{suffix}"))) for suffix in (OPEN_SUFFIX, TAKEN_SUFFIX))


def import_spooled(
    folder: Path,
    *,
    store_path: Path,
    app: str,
    day_zone: str | None,
    naive_zone: str,
    now: datetime,
    redactor: Redactor | None = None,
) -> SpoolReport:
    """Store the answers that were recorded in a spool folder.

    Args:
        folder: The folder; nothing happens when it is missing.
        store_path: The database; made when it is missing.
        app: The app the answers belong to.
        day_zone: Zone of the store's days.
        naive_zone: Zone of times that name none.
        now: Wall clock.
        redactor: Takes personal data out before anything is stored.

    Raises:
        JudgewatchError: the folder does not allow its files to be taken over, or the database cannot be used; what was
            not stored stays in the folder.
    """
    reading = Reading(format="jsonl", naive_zone=naive_zone, redactor=redactor)
    taken: list[_Taken] = []
    set_aside: list[str] = []
    for path in take_spooled(folder):
        found = _store(path, store_path, app=app, day_zone=day_zone, reading=reading, now=now)
        taken.append(found)
        if found.problem is None:
            remove_spooled(path)
        else:
            set_aside.append(str(_set_aside(path)))
    return SpoolReport(
        n_files=len(taken),
        n_new=sum(found.n_new for found in taken),
        n_known=sum(found.n_known for found in taken),
        n_rejected=sum(found.n_rejected for found in taken),
        set_aside=tuple(set_aside),
        problems=tuple(found.problem for found in taken if found.problem is not None),
    )


def _store(path: Path, store_path: Path, *, app: str, day_zone: str | None, reading: Reading, now: datetime) -> _Taken:
    """Store what can be used of one file."""
    with RejectLog() as rejects:
        try:
            report = import_files(
                store_path,
                [path],
                app=app,
                now=now,
                day_zone=day_zone,
                reading=reading,
                rejects=rejects,
                skip_bad=True,
            )
        except DataFileError as error:
            return _Taken(n_rejected=rejects.n, problem=str(error))
        return _Taken(n_new=report.n_new, n_known=report.n_known, n_rejected=rejects.n, problem=_first_problem(rejects))


def _first_problem(rejects: RejectLog) -> str | None:
    for row in rejects.rows(most=1):
        return f"line {row['line']}: {row['reason']}" + (f" (and {rejects.n - 1} more)" if rejects.n > 1 else "")
    return None


def _set_aside(path: Path) -> Path:
    """Keep a file out of the way of the next pass."""
    kept = path.with_name(path.name.removesuffix(TAKEN_SUFFIX) + REJECTED_SUFFIX)
    path.rename(kept)
    return kept
