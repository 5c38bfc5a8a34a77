"""Which answers a run grades: the first of each day in the order of a hash, so every judge and every rerun takes the
same ones and a lower rate is a subset of a higher one.

A day is sampled once, when it has ended: the share taken is fixed then and stored as each answer's inclusion
probability. A floor gives a segment a probability of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, timedelta

from evaluator.config import TrafficConfig
from evaluator.records import Source
from evaluator.store import read
from evaluator.store.db import Store
from evaluator.store.write import PlannedItem, SampledDay

MOST_RUNS_PER_ITEM = 3  # an answer that failed in three runs is left unscored


@dataclass(frozen=True, kw_only=True)
class TrafficSample:
    """The answers one run takes, in order, with the days it closes. ``n_older`` answers lie before its window."""

    items: tuple[PlannedItem, ...]
    days: tuple[SampledDay, ...]
    n_older: int
    oldest_day: str | None


def draw_traffic(
    store: Store, *, app: str, ruler_id: str, traffic: TrafficConfig, slot_day: str, since: str | None = None
) -> TrafficSample:
    """Draw from every day that ended before the slot and was not sampled yet under this ruler.

    Args:
        store: The store.
        app: The app.
        ruler_id: The ruler the answers will be graded with.
        traffic: Rate, floors and window of the sample.
        slot_day: Day of the run; only days before it have ended.
        since: First answered day to take; None for the last ``lookback_days`` days that have answers.
    """
    sizes = {day: n for day, n in read.answer_days(store, app).items() if day < slot_day}
    if not sizes:
        return TrafficSample(items=(), days=(), n_older=0, oldest_day=None)
    oldest = since or _days_before(max(sizes), traffic.lookback_days - 1)
    closed = read.sampled_days(store, app, ruler_id)
    days = [day for day in sorted(sizes) if day >= oldest and day not in closed]
    drawn = [_draw_day(store, app, day, sizes[day], traffic) for day in days]
    again = [
        (
            0.0,
            PlannedItem(
                item_id=row["item_id"], source=Source.TRAFFIC, inclusion_probability=row["inclusion_probability"]
            ),
        )
        for row in _worth_another_try(store, app, ruler_id, oldest)
    ]
    ordered = sorted([pair for items in drawn for pair in items] + again, key=lambda pair: (pair[0], pair[1].item_id))
    return TrafficSample(
        items=tuple(item for _, item in ordered),
        days=tuple(
            SampledDay(answered_day=day, n_answers=sizes[day], n_planned=len(items))
            for day, items in zip(days, drawn, strict=True)
        ),
        n_older=sum(n for day, n in sizes.items() if day < oldest and day not in closed),
        oldest_day=min(sizes),
    )


def _draw_day(
    store: Store, app: str, day: str, n_answers: int, traffic: TrafficConfig
) -> list[tuple[float, PlannedItem]]:
    """Draw from one day: (place in the order of the hash, item), each with its probability."""
    n_taken = _number_taken(n_answers, traffic)
    share = n_taken / n_answers
    drawn = {item_id: (place, share) for item_id, place in read.sampling_order(store, app, day, most=n_taken)}
    for floor in traffic.floors:
        segment = (floor.key, floor.value)
        size = read.segment_size(store, app, day, segment)
        if size == 0:
            continue
        floor_share = min(1.0, floor.answers_per_day / size)
        if floor_share <= share:
            continue
        for item_id, place in read.sampling_order(store, app, day, most=floor.answers_per_day, segment=segment):
            _, known = drawn.get(item_id, (place, 0.0))
            drawn[item_id] = (place, max(known, floor_share))
    return [
        (place, PlannedItem(item_id=item_id, source=Source.TRAFFIC, inclusion_probability=probability))
        for item_id, (place, probability) in drawn.items()
    ]


def _number_taken(n_answers: int, traffic: TrafficConfig) -> int:
    """How many of a day's answers the configured rate takes; at least one, so that no day is left without a number."""
    if traffic.answers_per_day is not None:
        return min(n_answers, traffic.answers_per_day)
    if traffic.sample_rate is not None:
        return min(n_answers, max(1, math.ceil(n_answers * traffic.sample_rate)))
    return n_answers


def _worth_another_try(store: Store, app: str, ruler_id: str, oldest_day: str) -> list[read.Row]:
    from evaluator.records import UnscoredReason

    rows = read.to_grade_again(store, app, ruler_id, most_attempts=MOST_RUNS_PER_ITEM, oldest_day=oldest_day)
    return [row for row in rows if UnscoredReason(row["unscored_reason"]).is_transient]


def _days_before(day: str, n_days: int) -> str:
    return (date.fromisoformat(day) - timedelta(days=n_days)).isoformat()
