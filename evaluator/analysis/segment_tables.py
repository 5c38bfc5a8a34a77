"""Segments on a fixed day: each against the rest, and the last days against the first; corrected for so many looks.

These tables are looked at once for a day that was fixed before; watching segments day by day, for years, is the
e-detectors' work in ``segments``. The lowest and the most moved segment are found by shrunk means, so that one with
three answers never is; what is shown beside them is their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.analysis.events import shift_day
from evaluator.analysis.judge import Judge
from evaluator.analysis.totals import COLUMN, Traffic, mean_columns
from evaluator.stats.correction import JudgeMap
from evaluator.stats.numeric import BoolArray, FloatArray, divide
from evaluator.stats.segments import SegmentChange, segment_table
from evaluator.stats.shrinkage import shrink, steady_errors
from evaluator.stats.steadying import allowance, steady_slope

FALSE_SHARE = 0.05  # expected share of false finds among the segments that a table names
LEAST_IN_CONTRAST = 2  # answers on either side
LEAST_TO_RANK = 10  # answers under which a segment is never called the lowest or the most moved


@dataclass(frozen=True, kw_only=True)
class Span:
    """First and last day of a period; None without days."""

    first: str | None
    last: str | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Tables:
    """One entry per segment throughout, in the given order; 1..5 equivalents.

    Attributes:
        against_rest: The segment ("after") against all other answers of the last days ("before").
        recent: The last days ("after") against the first ones ("before"), on the first scale.
        shrunk_mean: What ranks the lowest; nan where nothing can be ranked.
        shrunk_change: What ranks the most moved.
        lowest: Place of the lowest; None where no segment differs from the others by more than chance.
        most_moved: Place of the one that moved most; None likewise.
    """

    against_rest: tuple[SegmentChange, ...]
    recent: tuple[SegmentChange, ...]
    shrunk_mean: FloatArray
    shrunk_change: FloatArray
    lowest: int | None
    most_moved: int | None


def segment_tables(traffic: Traffic, judge: Judge, ids: Sequence[int], *, last_days: int, level: float) -> Tables:
    """Compare every segment with the rest, and with itself in the first days.

    Args:
        traffic: The answers, at least one day of them.
        judge: What corrects them, and which runs are the first.
        ids: The segments.
        last_days: Length of the recent period.
        level: Coverage of the intervals.
    """
    totals = traffic.totals
    period = recent_period(traffic, last_days)
    is_first = first_rows(traffic, judge)
    names = [str(segment_id) for segment_id in ids]
    own = _sums(traffic, totals.raw, ids, period & totals.usable)
    against_rest = _against_rest(traffic, names, own, period & totals.usable, level)
    is_last = period & totals.correctable & ~is_first
    first = mean_columns(_sums(traffic, totals.corrected, ids, is_first), level)
    last = mean_columns(_sums(traffic, totals.corrected, ids, is_last), level)
    recent = segment_table(names, first, _with_anchors(last, traffic, judge, is_last), level=level)
    mean, lowest = _ranked_means(own, level)
    change, most_moved = _ranked_changes(first, last)
    return Tables(
        against_rest=against_rest,
        recent=recent,
        shrunk_mean=mean,
        shrunk_change=change,
        lowest=lowest,
        most_moved=most_moved,
    )


def first_rows(traffic: Traffic, judge: Judge) -> BoolArray:
    """Rows of the first days, those that the baseline's runs graded."""
    totals = traffic.totals
    return np.asarray(totals.correctable & np.isin(totals.run_id, list(judge.baseline_runs)), dtype=np.bool_)


def recent_period(traffic: Traffic, last_days: int) -> BoolArray:
    """Rows of the last days."""
    if not traffic.days:
        return np.zeros(len(traffic.totals.day), dtype=np.bool_)
    last_day = traffic.days[-1]
    return (traffic.totals.day >= shift_day(last_day, 1 - last_days)) & (traffic.totals.day <= last_day)


def _sums(traffic: Traffic, table: FloatArray, ids: Sequence[int], rows: BoolArray) -> FloatArray:
    """Sums by segment over some rows, shape (segments, SUM_NAMES)."""
    totals = traffic.totals
    place_of = np.full(int(totals.segment_id.max()) + 1, len(ids), dtype=np.int64)
    place_of[list(ids)] = np.arange(len(ids))
    found = np.zeros((len(ids) + 1, table.shape[1]))
    np.add.at(found, place_of[totals.segment_id[rows]], table[rows])
    return found[:-1]


def _against_rest(
    traffic: Traffic, names: Sequence[str], own: FloatArray, rows: BoolArray, level: float
) -> tuple[SegmentChange, ...]:
    """Segments against all other answers of the same days: both were graded in the same runs, so raw scores do.

    The rest is what remains of the sums of everything. A conversation that is partly inside counts on both sides,
    which changes the error a little.
    """
    totals = traffic.totals
    everything = totals.raw[rows & (totals.segment_id == traffic.everything)].sum(axis=0)
    rest = np.maximum(everything - own, 0.0)
    n = COLUMN["n"]
    too_few = (own[:, n] < LEAST_IN_CONTRAST) | (rest[:, n] < LEAST_IN_CONTRAST)
    inside, outside = mean_columns(own, level), mean_columns(rest, level)
    # a few answers that agree by chance may not borrow their certainty from thousands of others
    inside["no_spread"] = inside["no_spread"] * (own[:, n] >= LEAST_TO_RANK)
    inside["mean"] = np.where(too_few, np.nan, inside["mean"])
    return segment_table(names, outside, inside, level=level, false_share=FALSE_SHARE)


def _with_anchors(
    means: dict[str, FloatArray], traffic: Traffic, judge: Judge, rows: BoolArray
) -> dict[str, FloatArray]:
    """Means with the error of the anchors in them, where the judge has moved since the first days.

    In its first stretch the judge defines the scale, and the anchors bring no error.
    """
    totals = traffic.totals
    stretch = int(totals.regime[rows].max()) if rows.any() else 0
    if not stretch:
        return means
    judge_map = judge.regimes[stretch].average_map
    if not isinstance(judge_map, JudgeMap):
        return means | {"se": np.full(len(means["se"]), np.nan)}
    steady = steady_slope(judge_map)
    mean = means["mean"]
    variance = (steady.var_intercept + 2 * mean * steady.covariance + mean**2 * steady.var_slope) / steady.slope**2
    move = steady.intercept + (steady.slope - 1) * mean
    allowed = np.array([allowance(steady, each) if np.isfinite(each) else np.nan for each in move])
    return means | {
        "se": np.sqrt(means["se"] ** 2 + np.maximum(variance, 0.0) + allowed**2),
        "df": np.minimum(means["df"], steady.df),
    }


def _ranked_means(own: FloatArray, level: float) -> tuple[FloatArray, int | None]:
    """Shrunk means of the last days, and the place of the lowest."""
    means = mean_columns(own, level)
    errors = steady_errors(means["se"], means["n_clusters"])
    found = shrink(np.where(means["n"] >= LEAST_TO_RANK, means["mean"], np.nan), errors)
    below = found.overall - found.mean
    return found.mean, _largest(below)


def _ranked_changes(first: dict[str, FloatArray], last: dict[str, FloatArray]) -> tuple[FloatArray, int | None]:
    """Shrunk changes, and the place of the largest.

    The error of the anchors is common to all segments and moves none of them past another.
    """
    errors = np.hypot(*(steady_errors(side["se"], side["n_clusters"]) for side in (first, last)))
    enough = (first["n"] >= LEAST_TO_RANK) & (last["n"] >= LEAST_TO_RANK)
    found = shrink(np.where(enough, last["mean"] - first["mean"], np.nan), errors)
    kept = np.where(divide(found.weight, 1.0) > 0, np.abs(found.mean), np.nan)
    return found.mean, _largest(kept)


def _largest(values: FloatArray) -> int | None:
    """Place of the largest positive value; None without one."""
    return int(np.nanargmax(values)) if (np.nan_to_num(values, nan=0.0) > 0).any() else None


def days_of(traffic: Traffic, rows: BoolArray) -> Span:
    """First and last day of some rows."""
    days = np.unique(traffic.totals.day[rows & (traffic.totals.segment_id == traffic.everything)])
    return Span(first=str(days[0]), last=str(days[-1])) if len(days) else Span(first=None, last=None)
