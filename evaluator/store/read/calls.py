"""Reads: the calls that a run made for its anchors, and the runs they are compared with."""

from __future__ import annotations

from evaluator.store.db import Store
from evaluator.store.read.base import Row, queries, to_row, to_rows


def anchor_calls(store: Store, run_id: str) -> list[Row]:
    """The usable calls of a run's anchors: item_id, started_utc, duration_ms, id, created, tokens, raw_reply."""
    return to_rows(queries().anchor_calls(store.connection, run_id=run_id))


def runs_to_compare(store: Store, run_id: str, *, most: int) -> list[Row]:
    """The newest runs of the same judge setup that began before a run and count: run_id, started_utc, slot_utc."""
    return to_rows(queries().runs_to_compare(store.connection, run_id=run_id, most=most))


def run_before(store: Store, run_id: str) -> Row | None:
    """The anchor run of the slot before, with why it does not count; None when there is none."""
    return to_row(queries().run_before(store.connection, run_id=run_id))


def recent_durations(store: Store, app: str, ruler_id: str, *, most: int = 500) -> list[float]:
    """How long usable calls of a judge setup's three newest runs took, in milliseconds."""
    rows = queries().recent_durations(store.connection, app=app, ruler_id=ruler_id, most=most)
    return [row["duration_ms"] for row in to_rows(rows)]
