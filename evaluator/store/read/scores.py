"""Reads: scores as totals by day, segment and level, and what an analysis made of them."""

from __future__ import annotations

import json

from evaluator.records import Source
from evaluator.store.db import Store
from evaluator.store.read.base import FIRST_DAY, LAST_DAY, Row, queries, to_row, to_rows


def everything_segment(store: Store, app: str) -> int | None:
    """Id of the segment that holds all items; None before the first rollup."""
    return next((row["segment_id"] for row in segments(store, app) if row["key"] == ""), None)


def segments(store: Store, app: str) -> list[Row]:
    """Segments of an app: segment_id, key, value, key2, value2; key "" is everything."""
    return to_rows(queries().segments(store.connection, app=app))


def segment_keys(store: Store, app: str) -> list[tuple[str, str]]:
    """Keys that the app is broken down by: (key, "") or (key, crossed key)."""
    return [(row["key"], row["key2"]) for row in queries().segment_keys(store.connection, app=app)]


def day_totals(
    store: Store,
    *,
    app: str,
    ruler_id: str,
    criterion: str,
    source: Source,
    segment_id: int,
    first_day: str = FIRST_DAY,
    last_day: str = LAST_DAY,
) -> list[Row]:
    """Weighted sums per day and run of one segment; ``stats.intervals`` makes means of them."""
    return to_rows(
        queries().day_totals(
            store.connection,
            app=app,
            ruler_id=ruler_id,
            criterion=criterion,
            source=str(source),
            segment_id=segment_id,
            first_day=first_day,
            last_day=last_day,
        )
    )


def segment_day_totals(
    store: Store,
    *,
    app: str,
    ruler_id: str,
    criterion: str,
    source: Source,
    first_day: str = FIRST_DAY,
    last_day: str = LAST_DAY,
) -> list[Row]:
    """Weighted sums per segment, day and run, all segments at once."""
    return to_rows(
        queries().segment_day_totals(
            store.connection,
            app=app,
            ruler_id=ruler_id,
            criterion=criterion,
            source=str(source),
            first_day=first_day,
            last_day=last_day,
        )
    )


def day_levels(
    store: Store,
    *,
    app: str,
    ruler_id: str,
    criterion: str,
    source: Source,
    segment_id: int,
    first_day: str = FIRST_DAY,
    last_day: str = LAST_DAY,
) -> list[Row]:
    """How many scores of each level, per day."""
    return to_rows(
        queries().day_levels(
            store.connection,
            app=app,
            ruler_id=ruler_id,
            criterion=criterion,
            source=str(source),
            segment_id=segment_id,
            first_day=first_day,
            last_day=last_day,
        )
    )


def score_days(store: Store, app: str, ruler_id: str) -> tuple[str, str] | None:
    """First and last day with scores under a setup; None when there are none."""
    row = queries().score_days(store.connection, app=app, ruler_id=ruler_id)
    return None if row is None or row["first_day"] is None else (row["first_day"], row["last_day"])


def sampled_days(store: Store, app: str, ruler_id: str) -> dict[str, Row]:
    """The samples drawn, by answered day: n_answers of the day, n_planned of them, run_id."""
    rows = queries().sampled_days(store.connection, app=app, ruler_id=ruler_id)
    return {row["answered_day"]: dict(row) for row in rows}


def unscored_reasons(
    store: Store,
    *,
    app: str,
    ruler_id: str,
    source: Source,
    first_day: str = FIRST_DAY,
    last_day: str = LAST_DAY,
) -> list[Row]:
    """Why verdicts have no score: day, unscored_reason, n."""
    return to_rows(
        queries().unscored_reasons(
            store.connection,
            app=app,
            ruler_id=ruler_id,
            source=str(source),
            first_day=first_day,
            last_day=last_day,
        )
    )


def newest_analysis(store: Store, *, app: str, ruler_id: str, criterion: str) -> Row | None:
    """The newest stored analysis, its payload parsed; None when there is none."""
    row = to_row(queries().newest_analysis(store.connection, app=app, ruler_id=ruler_id, criterion=criterion))
    if row is not None:
        row["payload"] = json.loads(row.pop("payload_json"))
    return row
