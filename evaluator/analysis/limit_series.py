"""The daily series that limits are held against: corrected means, and shares of answers, thin days joined."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluator.analysis.judge import Judge
from evaluator.analysis.series import ENOUGH_ANSWERS, Series, watched_series
from evaluator.analysis.settings import Limit
from evaluator.analysis.totals import TextArray, Totals, Traffic
from evaluator.analysis.units import Scale
from evaluator.stats.correction import JudgeMap
from evaluator.stats.detector import level_floor_sd
from evaluator.stats.limits import Side
from evaluator.stats.numeric import FloatArray, IntArray, t_quantile
from evaluator.stats.steadying import allowance, steady_slope

Levels = Sequence[Mapping[str, Any]]
_Counts = tuple[TextArray, FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True, kw_only=True, eq=False)
class Daily:
    """A watched series against its limit, both in the units it is watched in.

    Attributes:
        value: In order of time, shape (n,).
        n: Answers in each.
        first_day: Day each begins with.
        last_day: Day each ends with.
        bound: The limit.
        side: Where it is crossed.
        floor_sd: Least spread of the values at the limit.
        own_floor_sd: The same where the level is.
        anchor_error: Half-width that the anchors add to the level since the judge changed; 0 where they add none.
    """

    value: FloatArray
    n: IntArray
    first_day: TextArray
    last_day: TextArray
    bound: float
    side: Side
    floor_sd: float
    own_floor_sd: float
    anchor_error: float = 0.0


def daily_series(
    limit: Limit,
    segment_id: int,
    traffic: Traffic,
    judge: Judge,
    scale: Scale,
    levels_of: Callable[[int], Levels],
    ignored: Sequence[str],
    level: float,
) -> Daily:
    """The series of a limit.

    Args:
        limit: What was set.
        segment_id: Of the segment it is about.
        traffic: The answers.
        judge: What corrects them.
        scale: Of the rubric.
        levels_of: As for ``limits.limit_findings``.
        ignored: Days that do not count.
        level: Coverage of the intervals.
    """
    if limit.kind == "mean_under":
        series = watched_series(traffic.totals, segment_id)
        return mean_series(series, equivalent(limit.bound, scale), _anchor_error(series, judge, level))
    if limit.kind == "share_at_or_under":
        days = np.unique(traffic.totals.day[(traffic.totals.segment_id == segment_id) & traffic.totals.usable])
        low = -math.inf if limit.level is None else limit.level + 1e-9
        counts = _low_counts(levels_of(segment_id), set(days.tolist()), low)
    else:
        counts = _unscored_counts(traffic.totals, segment_id, ignored)
    return _share(*counts, bound=limit.bound)


def mean_series(series: Series, bound: float, anchor_error: float) -> Daily:
    """Daily means against the least that they may be, 1..5 equivalents."""
    floor_sd = level_floor_sd(max(1, int(np.median(series.n)))) if len(series) else 1.0
    return Daily(
        value=series.value,
        n=series.n,
        first_day=series.first_day,
        last_day=series.last_day,
        bound=bound,
        side="under",
        floor_sd=floor_sd,
        own_floor_sd=floor_sd,
        anchor_error=anchor_error,
    )


def equivalent(score: float, scale: Scale) -> float:
    """A score of the rubric in 1..5 equivalents."""
    return 1.0 + (score - scale.low) / scale.unit


def _anchor_error(series: Series, judge: Judge, level: float) -> float:
    """What the sample of the anchors adds to the error of the newest stretch's level; the first one is the norm."""
    stretch = int(series.regime[-1]) if len(series) else 0
    judge_map = judge.regimes[stretch].average_map
    if not stretch or not isinstance(judge_map, JudgeMap):
        return 0.0
    steady = steady_slope(judge_map)
    mean = float(series.value[series.regime == stretch].mean())
    variance = (steady.var_intercept + 2 * mean * steady.covariance + mean**2 * steady.var_slope) / steady.slope**2
    allowed = allowance(steady, steady.intercept + (steady.slope - 1) * mean)
    return float(t_quantile(steady.df, level)) * math.hypot(math.sqrt(max(variance, 0.0)), allowed)


def _low_counts(rows: Levels, days: set[str], low: float) -> _Counts:
    """Days, the weight of their low scores, that of all, and their number."""
    found = sorted({str(row["day"]) for row in rows} & days)
    place = {day: number for number, day in enumerate(found)}
    hits, total, n = np.zeros(len(found)), np.zeros(len(found)), np.zeros(len(found))
    for row in rows:
        day = place.get(str(row["day"]))
        if day is not None:
            total[day] += row["sum_w"]
            n[day] += row["n"]
            hits[day] += row["sum_w"] if row["level"] <= low else 0.0
    return np.array(found, dtype=np.str_), hits, total, n


def _unscored_counts(totals: Totals, segment_id: int, ignored: Sequence[str]) -> _Counts:
    """Days, their verdicts without a score, all of them, and their number; a day that failed as a whole counts too."""
    rows = np.flatnonzero((totals.segment_id == segment_id) & ~np.isin(totals.day, list(ignored)))
    days, day_of = np.unique(totals.day[rows], return_inverse=True)
    hits, scored = (
        np.bincount(day_of, weights=column[rows], minlength=len(days)).astype(np.float64)
        for column in (totals.n_unscored, totals.n)
    )
    return days, hits, hits + scored, hits + scored


def _share(days: TextArray, hits: FloatArray, total: FloatArray, n: FloatArray, *, bound: float) -> Daily:
    """Shares of days, thin days joined until they hold thirty answers; a rest at the end waits."""
    starts, stops, waiting, start = [], [], 0.0, 0
    for day in range(len(days)):
        waiting += n[day]
        if waiting >= ENOUGH_ANSWERS:
            starts.append(start)
            stops.append(day)
            start, waiting = day + 1, 0.0
    joined = [
        np.add.reduceat(column[: start or None], starts) if starts else np.zeros(0) for column in (hits, total, n)
    ]
    counts = joined[2].astype(np.int64)
    usual = max(1.0, float(np.median(counts)) if len(counts) else 1.0)
    # one more hit and one more miss: none so far is not never
    share = (float(joined[0].sum()) + 1) / (float(joined[1].sum()) + 2)
    return Daily(
        value=joined[0] / np.where(joined[1] > 0, joined[1], np.nan),
        n=counts,
        first_day=days[starts] if starts else days[:0],
        last_day=days[stops] if stops else days[:0],
        bound=bound,
        side="over",
        # what chance alone leaves of independent answers, at the limit and where they are
        floor_sd=math.sqrt(bound * (1 - bound) / usual),
        own_floor_sd=math.sqrt(share * (1 - share) / usual),
    )
