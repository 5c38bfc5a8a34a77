"""The breakdown: each segment's recent level against the rest, and whether it moved once the judge is taken out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.analysis.events import shift_day
from evaluator.analysis.judge import Judge
from evaluator.analysis.quality import Budget, quality_finding
from evaluator.analysis.series import Series, watched_series
from evaluator.analysis.totals import Traffic, corrected_mean, mean_columns, raw_mean
from evaluator.analysis.units import Scale
from evaluator.findings import EventMark, QualityFinding, SegmentFinding, SettingsUsed
from evaluator.stats.evidence import MIN_REFERENCE_RUNS
from evaluator.stats.numeric import BoolArray, FloatArray, divide, t_quantile, t_two_sided_p
from evaluator.stats.segments import benjamini_hochberg, welch

SEGMENTS_WEIGHT = 0.15  # share of the false-alarm budget, divided by the segments watched
FALSE_SHARE = 0.05  # expected share of false finds among the segments said to be below the rest
LEAST_IN_CONTRAST = 2  # answers on either side


@dataclass(frozen=True, kw_only=True, eq=False)
class _Contrasts:
    """Each segment less the rest of the period, 1..5 equivalents; nan where there is nothing to compare."""

    difference: FloatArray
    low: FloatArray
    high: FloatArray
    stands_out: BoolArray


def segment_findings(
    traffic: Traffic,
    judge: Judge,
    *,
    scale: Scale,
    settings: SettingsUsed,
    events: Sequence[EventMark],
    last_days: int,
) -> list[SegmentFinding]:
    """One row per segment that has answers, the lowest of the last days first."""
    ids = _segment_ids(traffic)
    if not ids:
        return []
    last_day = traffic.days[-1]
    period = (traffic.totals.day >= shift_day(last_day, 1 - last_days)) & (traffic.totals.day <= last_day)
    contrasts = _contrasts(traffic, ids, period, settings["level"])
    series = [watched_series(traffic.totals, segment_id) for segment_id in ids]
    budget = _budget(series)
    rows = []
    for place, segment_id in enumerate(ids):
        quality = quality_finding(
            series[place], judge.regimes, scale=scale, settings=settings, events=events, budget=budget
        )
        rows.append(_segment(traffic, segment_id, period, quality, contrasts, place, scale, settings["level"]))
    return sorted(rows, key=lambda row: (row["mean"] is None, row["mean"] or 0.0))


def _segment_ids(traffic: Traffic) -> list[int]:
    """Segments of the keys in force; those of keys that were dropped keep their old totals and are not shown."""
    keys, names = set(traffic.keys), traffic.names
    found = (int(segment_id) for segment_id in np.unique(traffic.totals.segment_id))
    return [key for key in found if key in names and (names[key]["key"], names[key]["key2"]) in keys]


def _budget(series: Sequence[Series]) -> Budget:
    """The share of each segment; one that is too thin to alarm takes nothing from the others."""
    n_watched = max(1, sum(len(each) > MIN_REFERENCE_RUNS for each in series))
    return Budget(weight=SEGMENTS_WEIGHT / n_watched, n_looks=n_watched)


def _segment(
    traffic: Traffic,
    segment_id: int,
    period: BoolArray,
    quality: QualityFinding,
    contrasts: _Contrasts,
    place: int,
    scale: Scale,
    level: float,
) -> SegmentFinding:
    totals, name = traffic.totals, traffic.names[segment_id]
    own = (totals.segment_id == segment_id) & period
    used = own & totals.usable
    raw, corrected = raw_mean(totals, used, level), corrected_mean(totals, used, level)
    return SegmentFinding(
        **quality,
        segment_id=segment_id,
        key=name["key"],
        value=name["value"],
        key2=name["key2"],
        value2=name["value2"],
        n=int(totals.n[used].sum()),
        n_unscored=int(totals.n_unscored[own].sum()),
        mean=scale.score(raw.mean),
        mean_low=scale.drawn(raw.low),
        mean_high=scale.drawn(raw.high),
        corrected=scale.drawn(corrected.mean),
        corrected_low=scale.drawn(corrected.low),
        corrected_high=scale.drawn(corrected.high),
        against_rest=scale.change(contrasts.difference[place]),
        against_rest_low=scale.change(contrasts.low[place]),
        against_rest_high=scale.change(contrasts.high[place]),
        stands_out=bool(contrasts.stands_out[place]),
    )


def _contrasts(traffic: Traffic, ids: Sequence[int], period: BoolArray, level: float) -> _Contrasts:
    """Segments against all other answers of the same days: both were graded in the same runs, so raw scores do.

    The rest is what remains of the sums of everything. A conversation that is partly inside counts on both sides,
    which changes the error a little.
    """
    totals = traffic.totals
    used = period & totals.usable
    place_of = np.full(int(totals.segment_id.max()) + 1, len(ids), dtype=np.int64)
    place_of[list(ids)] = np.arange(len(ids))
    inside = np.zeros((len(ids) + 1, totals.raw.shape[1]))
    np.add.at(inside, place_of[totals.segment_id[used]], totals.raw[used])
    inside = inside[:-1]
    everything = totals.raw[used & (totals.segment_id == traffic.everything)].sum(axis=0)
    rest = np.maximum(everything - inside, 0.0)
    own, others = mean_columns(inside, level), mean_columns(rest, level)
    enough = (inside[:, 0] >= LEAST_IN_CONTRAST) & (rest[:, 0] >= LEAST_IN_CONTRAST)
    difference = np.where(enough, own["mean"] - others["mean"], np.nan)
    se, df = welch(own["se"], own["df"], others["se"], others["df"])
    half_width = t_quantile(df, level) * se
    p_value = np.where(enough, t_two_sided_p(divide(difference, se), df), np.nan)
    return _Contrasts(
        difference=difference,
        low=difference - half_width,
        high=difference + half_width,
        stands_out=(benjamini_hochberg(p_value) <= FALSE_SHARE) & (difference < 0),
    )
