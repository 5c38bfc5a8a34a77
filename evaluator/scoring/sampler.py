"""Which answers a run grades: the first of each day in the order of a hash, so every judge and every rerun takes the
same ones and a lower rate is a subset of a higher one.

A day is sampled once, when it has ended: the share taken is fixed then and stored as each answer's inclusion
probability. A floor makes a segment a stratum of its own, with the share that was taken of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import chain

from evaluator.config import TrafficConfig
from evaluator.records import Source, UnscoredReason
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
    oldest = since or oldest_day_drawn(sizes, traffic, slot_day)
    closed = set(read.sampled_days(store, app, ruler_id)) | _days_without_texts(store, app, ruler_id, oldest)
    days = [day for day in sorted(sizes) if day >= oldest and day not in closed]
    drawn = [_draw_day(store, app, day, sizes[day], traffic) for day in days]
    again = {row["item_id"]: row["inclusion_probability"] for row in worth_another_try(store, app, ruler_id, oldest)}
    for _, item in chain.from_iterable(drawn):
        again.pop(item.item_id, None)  # of a day whose sample was undone, those that failed are drawn anew as well
    pairs = chain(chain.from_iterable(drawn), ((0.0, _planned(*pair)) for pair in again.items()))
    ordered = sorted(pairs, key=lambda pair: (pair[0], pair[1].item_id))
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
    """Draw from one day: (place in the order of the hash, item), each with its probability.

    A floor's segment is weighed by the share really taken of it, which makes its weighted sum exact: the general sample
    alone may have brought more of it than the floor asks for. An answer of two floors has the larger share of theirs.
    """
    n_taken = _number_taken(n_answers, traffic)
    general = dict(read.sampling_order(store, app, day, most=n_taken))
    of_floors: dict[str, float] = {}
    floor_shares: dict[str, float] = {}
    for floor in traffic.floors:
        segment = (floor.key, floor.value)
        most = max(n_taken, floor.answers_per_day)
        of_segment = read.sampling_order(store, app, day, most=most, segment=segment)
        n_general = sum(item_id in general for item_id, _ in of_segment)
        taken = of_segment[: max(n_general, floor.answers_per_day)]
        size = read.segment_size(store, app, day, segment)
        for item_id, place in taken:
            of_floors[item_id] = place
            floor_shares[item_id] = max(floor_shares.get(item_id, 0.0), len(taken) / size)
    share = n_taken / n_answers
    return [
        (place, _planned(item_id, floor_shares.get(item_id, share))) for item_id, place in (general | of_floors).items()
    ]


def _planned(item_id: str, probability: float) -> PlannedItem:
    return PlannedItem(item_id=item_id, source=Source.TRAFFIC, inclusion_probability=probability)


def _number_taken(n_answers: int, traffic: TrafficConfig) -> int:
    """How many of a day's answers the configured rate takes; at least one, so that no day is left without a number."""
    if traffic.answers_per_day is not None:
        return min(n_answers, traffic.answers_per_day)
    if traffic.sample_rate is not None:
        return min(n_answers, max(1, math.ceil(n_answers * traffic.sample_rate)))
    return n_answers


def oldest_day_drawn(sizes: Mapping[str, int], traffic: TrafficConfig, slot_day: str) -> str:
    """First day of the window of a run: the last ``lookback_days`` before it that have answers, counted from them."""
    newest = max((day for day in sizes if day < slot_day), default=slot_day)
    return _days_before(newest, traffic.lookback_days - 1)


def _days_without_texts(store: Store, app: str, ruler_id: str, oldest_day: str) -> set[str]:
    """Days that another judge setup has graded and whose texts were not kept: there is nothing left to grade."""
    others = [other["ruler_id"] for other in read.rulers(store, app) if other["ruler_id"] != ruler_id]
    taken = {day for other in others for day in read.sampled_days(store, app, other)}
    if not any(day >= oldest_day for day in taken):
        return set()
    return taken & read.days_with_blank_texts(store, app, first_day=oldest_day)


def worth_another_try(store: Store, app: str, ruler_id: str, oldest_day: str) -> list[read.Row]:
    """Answers of recent days whose verdict failed in a way that may pass, while they have tries left."""
    return [
        row
        for row in read.to_grade_again(store, app, ruler_id, oldest_day=oldest_day)
        if UnscoredReason(row["unscored_reason"]).is_transient
        and read.times_planned(store, app, ruler_id, row["item_id"]) < MOST_RUNS_PER_ITEM
    ]


def _days_before(day: str, n_days: int) -> str:
    return (date.fromisoformat(day) - timedelta(days=n_days)).isoformat()
