"""Reads: which files were taken in, what came of asking the sources, and how far the stored answers reach."""

from __future__ import annotations

from datetime import datetime

from evaluator.clock import day_of, utc_text
from evaluator.store.db import Store
from evaluator.store.read.base import Row, queries, to_row, to_rows


def source_files(store: Store, app: str, *, kind: str = "traffic", most: int = 100) -> list[Row]:
    """The files of a kind ("traffic", "verdicts") that were taken in, newest first."""
    return to_rows(queries().source_files(store.connection, app=app, kind=kind, most=most))


def source_file(store: Store, app: str, path: str, *, kind: str = "traffic") -> Row | None:
    """One file as it was when it was taken in; None when it never was."""
    return to_row(queries().source_file(store.connection, app=app, kind=kind, path=path))


def pulls(store: Store, app: str, *, most: int = 50) -> list[Row]:
    """What came of asking the sources, newest first: status "ok", "nothing_new" or "failed", counts, times."""
    return to_rows(queries().pulls(store.connection, app=app, most=most))


def newest_answered(store: Store, app: str, *, until: datetime) -> str | None:
    """Time of the newest stored answer that is not ahead of an instant, as ISO-8601 in UTC; None without answers."""
    day = day_of(until, store.zone).isoformat()
    row = queries().newest_answered(store.connection, app=app, until_utc=utc_text(until), until_day=day)
    return None if row is None else row["answered_utc"]
