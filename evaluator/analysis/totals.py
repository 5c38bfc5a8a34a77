"""The graded answers as sums by segment, answered day and run: raw, and as the judge of the first runs scored.

A mean over any days and any segment comes from adding rows, and so does its interval. Correcting a score is a straight
line, so correcting the sums of a row corrects all of its scores at once; the day's shock, which anchors and answers of
a run share, cancels in it. What remains is the error of the anchor sample. It is the same sample in every run, so it
does not average out over days.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.analysis.judge import Judge
from evaluator.analysis.units import Scale
from evaluator.records import Source
from evaluator.stats.correction import JudgeMap
from evaluator.stats.intervals import SUM_NAMES, means_from_sums
from evaluator.stats.numeric import BoolArray, FloatArray, IntArray, divide, t_quantile
from evaluator.store import read
from evaluator.store.db import Store

MOSTLY = 0.5  # a day (or a correction) needs this share of its answers: a smaller rest is not a sample of them
COLUMN = {name: place for place, name in enumerate(SUM_NAMES)}

TextArray = npt.NDArray[np.str_]


@dataclass(frozen=True, kw_only=True, eq=False)
class Totals:
    """One row per (segment, answered day, run). Scores in 1..5 equivalents.

    Attributes:
        segment_id: Shape (rows,), as are all below but the sums.
        day: The answered day.
        run_id: The run that graded them.
        regime: Number of the judge's stretch that run lies in.
        n: Scored answers.
        n_unscored: Answers with a verdict but no score.
        usable: Scored answers of a day that may have a mean.
        raw: Sums, shape (rows, SUM_NAMES).
        corrected: The same on the first scale; nan where the run has no map.
        anchor_se: Error that the anchors bring into the row's corrected mean.
        map_df: Degrees of freedom of that.
    """

    segment_id: IntArray
    day: TextArray
    run_id: TextArray
    regime: IntArray
    n: IntArray
    n_unscored: IntArray
    usable: BoolArray
    raw: FloatArray
    corrected: FloatArray
    anchor_se: FloatArray
    map_df: FloatArray

    @property
    def correctable(self) -> BoolArray:
        """Usable rows whose run has a map."""
        return self.usable & ~np.isnan(self.anchor_se)


@dataclass(frozen=True, kw_only=True, eq=False)
class Traffic:
    """All answers graded under one judge setup.

    Attributes:
        totals: Their sums.
        everything: Id of the segment that holds all of them; -1 before there is one.
        names: Key, value, key2, value2 of each segment.
        keys: What the app is broken down by, in order.
        sampled: The samples drawn, by answered day.
    """

    totals: Totals
    everything: int
    names: dict[int, read.Row]
    keys: tuple[tuple[str, str], ...]
    sampled: dict[str, read.Row]

    @property
    def days(self) -> list[str]:
        """Days with graded or sampled answers."""
        graded = self.totals.day[self.totals.segment_id == self.everything]
        return sorted({str(day) for day in graded} | set(self.sampled))


def read_traffic(
    store: Store,
    *,
    app: str,
    ruler_id: str,
    criterion: str,
    scale: Scale,
    judge: Judge,
    stand_ins: Mapping[str, str] | None = None,
) -> Traffic:
    """Read the totals of every segment and correct them with the maps of the judge.

    ``stand_ins`` names, by run id, the run whose anchors speak for a run that has none of its own.
    """
    rows = read.segment_day_totals(store, app=app, ruler_id=ruler_id, criterion=criterion, source=Source.TRAFFIC)
    if stand_ins:
        rows = [{**row, "run_id": stand_ins.get(row["run_id"], row["run_id"])} for row in rows]
    names = {row["segment_id"]: row for row in read.segments(store, app)}
    everything = next((key for key, row in names.items() if row["key"] == ""), -1)
    slots = {run["run_id"]: run["slot_utc"] for run in read.run_slots(store, app)}
    return Traffic(
        totals=correct_totals(rows, everything=everything, slots=slots, scale=scale, judge=judge),
        everything=everything,
        names=names,
        keys=tuple(read.segment_keys(store, app)),
        sampled=read.sampled_days(store, app, ruler_id),
    )


def correct_totals(
    rows: Sequence[Mapping[str, Any]], *, everything: int, slots: Mapping[str, str], scale: Scale, judge: Judge
) -> Totals:
    """Bring stored sums to 1..5 equivalents and take the judge's own move out of them.

    Args:
        rows: segment_id, day, run_id, n, n_unscored and ``SUM_NAMES`` of each (segment, day, run).
        everything: Id of the segment of all answers.
        slots: Scheduled instant by run id.
        scale: Of the rubric.
        judge: What corrects them.
    """
    segment_id = np.array([row["segment_id"] for row in rows], dtype=np.int64)
    day = np.array([row["day"] for row in rows], dtype=np.str_)
    n, n_unscored = (np.array([row[name] for row in rows], dtype=np.int64) for name in ("n", "n_unscored"))
    sums = np.array([[row[name] for name in SUM_NAMES] for row in rows], dtype=np.float64).reshape(-1, len(SUM_NAMES))
    factor = np.full(len(rows), 1.0 / scale.unit)
    raw = transform_sums(sums, factor, 1.0 - scale.low * factor)
    run_ids = [row["run_id"] for row in rows]
    regime_of = {run_id: judge.regime_at(slots[run_id]) for run_id in set(run_ids)}
    corrected, anchor_se, map_df = _correct(raw, run_ids, judge)
    return Totals(
        segment_id=segment_id,
        day=day,
        run_id=np.array(run_ids, dtype=np.str_),
        regime=np.array([regime_of[run_id] for run_id in run_ids], dtype=np.int64),
        n=n,
        n_unscored=n_unscored,
        usable=(n > 0) & _mostly_scored(day, segment_id == everything, n, n_unscored),
        raw=raw,
        corrected=corrected,
        anchor_se=anchor_se,
        map_df=map_df,
    )


def _mostly_scored(day: TextArray, is_everything: BoolArray, n: IntArray, n_unscored: IntArray) -> BoolArray:
    """Whether the day of a row has a score for most of its verdicts, over all runs that graded it."""
    _, place = np.unique(day, return_inverse=True)
    scored = np.bincount(place, weights=np.where(is_everything, n, 0))
    tried = np.bincount(place, weights=np.where(is_everything, n + n_unscored, 0))
    return np.asarray((tried > 0) & (scored >= MOSTLY * tried), dtype=np.bool_)[place]


def transform_sums(sums: FloatArray, factor: FloatArray, offset: FloatArray) -> FloatArray:
    """Sums of scores y as sums of ``factor * y + offset``, row by row.

    Args:
        sums: Shape (rows, SUM_NAMES).
        factor: Shape (rows,).
        offset: Shape (rows,).
    """
    w, w2, wy, w2y, w2y2, t2, tw, ww = (
        sums[:, COLUMN[name]]
        for name in ("sum_w", "sum_w2", "sum_wy", "sum_w2y", "sum_w2y2", "sum_t2", "sum_tw", "sum_ww")
    )
    found = sums.copy()
    found[:, COLUMN["sum_wy"]] = factor * wy + offset * w
    found[:, COLUMN["sum_w2y"]] = factor * w2y + offset * w2
    found[:, COLUMN["sum_w2y2"]] = factor**2 * w2y2 + 2 * factor * offset * w2y + offset**2 * w2
    found[:, COLUMN["sum_t2"]] = factor**2 * t2 + 2 * factor * offset * tw + offset**2 * ww
    found[:, COLUMN["sum_tw"]] = factor * tw + offset * ww
    return found


def _correct(raw: FloatArray, run_ids: Sequence[str], judge: Judge) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Sums on the first scale, the error of the anchors in their means, and its degrees of freedom; nan without map."""
    empty = (math.nan,) * 6
    values = {
        run_id: (m.intercept, m.slope, m.var_intercept, m.covariance, m.var_slope, m.df)
        for run_id, m in judge.maps.items()
        if isinstance(m, JudgeMap)
    }
    columns = np.array([values.get(run_id, empty) for run_id in run_ids], dtype=np.float64).reshape(-1, 6)
    intercept, slope, var_intercept, covariance, var_slope, df = columns.T
    corrected = transform_sums(raw, 1.0 / slope, -intercept / slope)
    mean = divide(corrected[:, COLUMN["sum_wy"]], corrected[:, COLUMN["sum_w"]])
    variance = (var_intercept + 2 * mean * covariance + mean**2 * var_slope) / slope**2
    return corrected, np.sqrt(np.maximum(variance, 0.0)), df


# ---------------------------------------------------------------- means


@dataclass(frozen=True, kw_only=True)
class Mean:
    """A mean with its interval, 1..5 equivalents; nan where there is none."""

    mean: float
    low: float
    high: float
    se: float
    df: float


NO_MEAN = Mean(mean=math.nan, low=math.nan, high=math.nan, se=math.nan, df=math.nan)


def raw_mean(totals: Totals, rows: BoolArray | IntArray, level: float) -> Mean:
    """Mean of the scores as the judge gave them."""
    found = mean_columns(totals.raw[rows].sum(axis=0)[None, :], level)
    return Mean(**{name: float(found[name][0]) for name in ("mean", "low", "high", "se", "df")})


def corrected_mean(totals: Totals, rows: BoolArray | IntArray, level: float) -> Mean:
    """Mean as the judge of the first runs would have scored; none when less than half of the answers has a map.

    Student t between clusters of the corrected scores, with the error of the anchors added to it.
    """
    n, anchor_se = totals.n[rows], totals.anchor_se[rows]
    known = ~np.isnan(anchor_se)
    if not n.sum() or n[known].sum() < MOSTLY * n.sum():
        return NO_MEAN
    sums = totals.corrected[rows][known].sum(axis=0)
    found = mean_columns(sums[None, :], level)
    mean, se = float(found["mean"][0]), float(found["se"][0])
    weight = totals.corrected[rows][known][:, COLUMN["sum_w"]]
    anchor_part = float(weight @ anchor_se[known] / weight.sum())
    total_se = math.hypot(se, anchor_part) if math.isfinite(se) else math.nan
    df = min(float(found["df"][0]), float(totals.map_df[rows][known].min()))
    half_width = float(t_quantile(df, level)) * total_se
    return Mean(mean=mean, low=mean - half_width, high=mean + half_width, se=total_se, df=df)


def mean_columns(sums: FloatArray, level: float) -> dict[str, FloatArray]:
    """Means with intervals of several rows of sums, as arrays; see ``means_from_sums``."""
    found = means_from_sums({name: sums[:, place] for name, place in COLUMN.items()}, level=level)
    return {name: np.asarray(values, dtype=np.float64) for name, values in found.items()}
