"""From both scores of every answer to the stored result of a recheck: numbers with their intervals, and the words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from evaluator.clock import day_of, parse_utc
from evaluator.recheck.wording import sentences
from evaluator.records import Rubric
from evaluator.stats.clustered_means import Estimate
from evaluator.stats.recheck import (
    PartShift,
    RecheckShift,
    more_answers_needed,
    parity_is_off,
    recheck_finding,
    recheck_shift,
)
from evaluator.stats.recheck_limits import told_by_enough

SCHEMA_VERSION = 1
LEVEL = 0.95
POINTS = 4.0  # the smallest change is set in points of a scale of 1 to 5
FURTHEST = 3

Row = Mapping[str, Any]


def make_result(
    rows: Sequence[Row],
    facts: Mapping[str, Any],
    rubric: Rubric,
    *,
    smallest_change: float,
    zone: ZoneInfo,
    last: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Work out what a recheck shows.

    Args:
        rows: As of ``read.recheck_scores``.
        facts: What was known before the first call; all of it is part of the result.
        rubric: Of the configured judge.
        smallest_change: The smallest change that matters, in points of a scale of 1 to 5.
        zone: Zone of the days.
        last: What ``since_last`` found; None without an earlier recheck of the same answers.

    Returns:
        The result as JSON, with ``schema_version``; numbers in the rubric's units, None where there is none.
    """
    parts = {name: [row for row in rows if row["part"] == name] for name in ("recent", "old")}
    tolerance = smallest_of(rubric, smallest_change)
    shift = told_by_enough(_shift(parts, rubric), scale=(rubric.scale_min, rubric.scale_max))
    found: dict[str, Any] = {
        **facts,
        "schema_version": SCHEMA_VERSION,
        "level": LEVEL,
        "smallest_change": tolerance,
        "finding": str(recheck_finding(shift, tolerance)),
        "recent": _part(shift.recent, parts["recent"], zone),
        "old": None if shift.old is None else _part(shift.old, parts["old"], zone),
        "parity": {**_estimate(shift.recent.shift), "is_off": parity_is_off(shift, tolerance)},
        "drift": None if shift.drift is None else _estimate(shift.drift),
        "more_answers": more_answers_needed(shift, tolerance),
        "n_pending": sum(row["score"] is None and row["unscored_reason"] is None for row in rows),
        "unscored": dict(Counter(row["unscored_reason"] for row in rows if row["unscored_reason"] is not None)),
        "furthest": _furthest(rows),
        "since_last": None if last is None else dict(last),
    }
    found["sentences"] = sentences(found)
    found["headline"] = " ".join(found["sentences"])
    return found


def smallest_of(rubric: Rubric, smallest_change: float) -> float:
    """The smallest change that matters, in the rubric's units."""
    return smallest_change * (rubric.scale_max - rubric.scale_min) / POINTS


def _shift(parts: Mapping[str, Sequence[Row]], rubric: Rubric) -> RecheckShift:
    recent, old = parts["recent"], parts["old"]
    return recheck_shift(
        [row["stored_score"] for row in recent],
        [_score(row) for row in recent],
        [row["stored_score"] for row in old],
        [_score(row) for row in old],
        recent_clusters=[row["cluster_id"] for row in recent],
        old_clusters=[row["cluster_id"] for row in old],
        level=LEVEL,
        step=(rubric.scale_max - rubric.scale_min) / max(1, len(rubric.levels) - 1),
    )


def _score(row: Row) -> float:
    return math.nan if row["score"] is None else float(row["score"])


def _part(part: PartShift, rows: Sequence[Row], zone: ZoneInfo) -> dict[str, Any]:
    times = sorted(row["stored_utc"] for row in rows)
    days = [day_of(parse_utc(times[place]), zone).isoformat() for place in (0, -1)] if times else [None, None]
    return {
        "n": part.n,
        "n_unscored": part.n_unscored,
        "n_clusters": part.n_clusters,
        "n_same": part.n_same,
        "first_day": days[0],
        "last_day": days[1],
        "then": _estimate(part.then),
        "now": _estimate(part.now),
        "shift": _estimate(part.shift),
    }


def _estimate(found: Estimate) -> dict[str, Any]:
    interval = found.interval
    return {
        "value": None if math.isnan(found.value) else found.value,
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "method": None if interval is None else interval.method,
    }


def _furthest(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The answers whose two scores are furthest apart; what the judge wrote stays where deletions find it."""
    moved = [row for row in rows if row["score"] is not None and row["score"] != row["stored_score"]]
    moved.sort(key=lambda row: (-abs(row["score"] - row["stored_score"]), row["item_id"]))
    return [
        {
            "item_id": row["item_id"],
            "part": row["part"],
            "stored_utc": row["stored_utc"],
            "stored": row["stored_score"],
            "now": row["score"],
        }
        for row in moved[:FURTHEST]
    ]
