"""Reads: anchor sets, and every score their anchors were given."""

from __future__ import annotations

from evaluator.records import Anchor
from evaluator.store.db import Store
from evaluator.store.read.answers import load_items
from evaluator.store.read.base import Row, queries, to_row, to_rows


def anchor_scores(store: Store, *, app: str, ruler_id: str, criterion: str) -> list[Row]:
    """Every anchor verdict: slot_utc, slot_day, run_id, item_id, score (None = unscored). Failed runs are left out."""
    return to_rows(queries().anchor_scores(store.connection, app=app, ruler_id=ruler_id, criterion=criterion))


def anchor_runs(store: Store, *, app: str, ruler_id: str) -> list[Row]:
    """Every run that planned anchors, by slot: run_id, slot, status, anchor_set_id, n_anchors, not_counted."""
    return to_rows(queries().anchor_runs(store.connection, app=app, ruler_id=ruler_id))


def anchor_set(store: Store, anchor_set_id: str) -> Row | None:
    """A set: its name, n_anchors, loaded_utc; None when it was never used."""
    return to_row(queries().anchor_set(store.connection, anchor_set_id=anchor_set_id))


def anchors_of_set(store: Store, anchor_set_id: str) -> list[Row]:
    """The anchors of a set in their order: anchor_id, item_id, expected_score, why."""
    return to_rows(queries().anchors_of_set(store.connection, anchor_set_id=anchor_set_id))


def anchor_names(store: Store, app: str) -> dict[str, Row]:
    """Name, expected score and reason of every anchor item, by item id."""
    return {row["item_id"]: dict(row) for row in queries().anchor_names(store.connection, app=app)}


def load_anchor_set(store: Store, anchor_set_id: str) -> list[tuple[str, Anchor]]:
    """The anchors of a stored set in their order, as (item id, anchor)."""
    rows = anchors_of_set(store, anchor_set_id)
    items = load_items(store, [row["item_id"] for row in rows])
    return [
        (
            row["item_id"],
            Anchor(
                anchor_id=row["anchor_id"],
                item=items[row["item_id"]],
                expected_score=row["expected_score"],
                why=row["why"],
            ),
        )
        for row in rows
    ]
