"""Reads: from which day a judge setup's scores are taken as the norm."""

from __future__ import annotations

from evaluator.store.db import Store
from evaluator.store.read.base import Row, queries, to_row, to_rows


def accepted_baselines(store: Store, app: str, ruler_id: str) -> list[Row]:
    """Every acceptance of a new normal, newest first, with those taken back (``undone_utc`` is set)."""
    return to_rows(queries().accepted_baselines(store.connection, app=app, ruler_id=ruler_id))


def accepted_baseline(store: Store, app: str, ruler_id: str) -> Row | None:
    """The acceptance that holds: accepted_id, from_day, accepted_utc, by_whom, note; None for the first runs."""
    return to_row(queries().accepted_baseline(store.connection, app=app, ruler_id=ruler_id))
