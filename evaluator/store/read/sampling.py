"""Reads: what a run may draw from."""

from __future__ import annotations

from evaluator.store.db import Store
from evaluator.store.read.base import Row, queries, to_rows


def answer_days(store: Store, app: str) -> dict[str, int]:
    """Number of answers by answered day."""
    return {row["answered_day"]: row["n"] for row in queries().answer_days(store.connection, app=app)}


def sampling_order(
    store: Store, app: str, day: str, *, most: int, segment: tuple[str, str] | None = None
) -> list[tuple[str, float]]:
    """The first ``most`` answers of a day (and segment) in the order of the hash: (item id, place in [0, 1))."""
    if segment is None:
        rows = queries().sampling_order(store.connection, app=app, day=day, most=most)
    else:
        rows = queries().sampling_order_of_segment(
            store.connection, app=app, day=day, key=segment[0], value=segment[1], most=most
        )
    return [(row["item_id"], row["sample_key"]) for row in rows]


def segment_size(store: Store, app: str, day: str, segment: tuple[str, str]) -> int:
    """How many answers of a day belong to a segment."""
    found = queries().segment_size(store.connection, app=app, day=day, key=segment[0], value=segment[1])
    return int(found["n"])


def to_grade_again(store: Store, app: str, ruler_id: str, *, oldest_day: str) -> list[Row]:
    """Sampled answers of recent days without a score: item_id, unscored_reason, inclusion_probability."""
    return to_rows(queries().to_grade_again(store.connection, app=app, ruler_id=ruler_id, oldest_day=oldest_day))


def times_planned(store: Store, app: str, ruler_id: str, item_id: str) -> int:
    """In how many runs of a setup an answer was planned."""
    found = queries().times_planned(store.connection, app=app, ruler_id=ruler_id, item_id=item_id)
    return int(found["n"])
