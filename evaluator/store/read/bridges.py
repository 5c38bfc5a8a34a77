"""Reads: which judge setup's anchors stand for scores that were imported."""

from __future__ import annotations

from evaluator.store.db import Store
from evaluator.store.read.base import Row, queries, to_row, to_rows


def bridge_of(store: Store, app: str, ruler_id: str) -> Row | None:
    """The judge setup whose anchors speak for an imported one: anchor_ruler_id, created_utc, by_whom, note."""
    return to_row(queries().bridge_of(store.connection, app=app, ruler_id=ruler_id))


def bridged_rulers(store: Store, app: str, anchor_ruler_id: str) -> list[str]:
    """Ids of the imported setups that a setup's anchors speak for."""
    rows = queries().bridged_rulers(store.connection, app=app, anchor_ruler_id=anchor_ruler_id)
    return [row["ruler_id"] for row in to_rows(rows)]
