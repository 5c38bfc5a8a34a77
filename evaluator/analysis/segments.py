"""The breakdown: each segment's recent level against the rest, and whether it moved once the judge is taken out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.analysis.anchors import AnchorHistory, JudgeChange, shift_day
from evaluator.analysis.traffic import (
    Series,
    Traffic,
    add_sums,
    clipped,
    correct_rows,
    means,
    period_rows,
    quality_finding,
    to_scale,
)
from evaluator.findings import SegmentFinding, SettingsUsed
from evaluator.stats.intervals import SUM_NAMES
from evaluator.stats.numeric import t_quantile, t_two_sided_p
from evaluator.stats.paired import units_per_point
from evaluator.stats.segments import benjamini_hochberg, welch

SEGMENTS_WEIGHT = 0.15  # share of the false-alarm budget, divided by the segments watched
FALSE_SHARE = 0.05  # expected share of false finds among the segments said to be below the rest


@dataclass(frozen=True, kw_only=True)
class _Contrast:
    """A segment less the rest of its period, 1..5 equivalents."""

    difference: float | None
    low: float | None
    high: float | None
    p_value: float


_NO_CONTRAST = _Contrast(difference=None, low=None, high=None, p_value=float("nan"))


def segment_findings(
    traffic: Traffic,
    history: AnchorHistory,
    change: JudgeChange,
    *,
    scale: tuple[float, float],
    settings: SettingsUsed,
    last_days: int,
) -> list[SegmentFinding]:
    """One row per segment that has answers, the lowest of the last days first."""
    keys = set(traffic.keys)
    watched = {
        key: series
        for key, series in traffic.segments.items()
        if (traffic.names[key]["key"], traffic.names[key]["key2"]) in keys
    }
    if not watched or not traffic.days:
        return []
    last_day = traffic.days[-1]
    first_day = shift_day(last_day, 1 - last_days)
    contrasts = {
        key: _against_rest(series, traffic.everything, first_day, last_day, settings["level"])
        for key, series in watched.items()
    }
    adjusted = benjamini_hochberg([contrast.p_value for contrast in contrasts.values()])
    stands_out = dict(zip(contrasts, adjusted <= FALSE_SHARE, strict=True))
    rows = [
        _segment(
            series,
            traffic,
            history,
            change,
            contrasts[key],
            stands_out=bool(stands_out[key]),
            period=(first_day, last_day),
            scale=scale,
            settings=settings,
            weight=SEGMENTS_WEIGHT / len(watched),
        )
        for key, series in watched.items()
    ]
    return sorted(rows, key=lambda row: (row["mean"] is None, row["mean"] or 0.0))


def _segment(
    series: Series,
    traffic: Traffic,
    history: AnchorHistory,
    change: JudgeChange,
    contrast: _Contrast,
    *,
    stands_out: bool,
    period: tuple[str, str],
    scale: tuple[float, float],
    settings: SettingsUsed,
    weight: float,
) -> SegmentFinding:
    name = traffic.names[series.segment_id]
    rows = period_rows(series, *period)
    raw = means([add_sums(rows)], settings["level"])
    corrected = correct_rows(rows, history, change, settings["level"])
    unit = units_per_point(scale)
    quality = quality_finding(series, history, change, scale=scale, settings=settings, weight=weight)
    unscored = sum(int(row["n_unscored"]) for row in series.rows if period[0] <= row["day"] <= period[1])
    return SegmentFinding(
        **quality,
        segment_id=series.segment_id,
        key=name["key"],
        value=name["value"],
        key2=name["key2"],
        value2=name["value2"],
        n=sum(int(row["n"]) for row in rows),
        n_unscored=unscored,
        mean=to_scale(float(raw["mean"][0]), scale),
        mean_low=clipped(to_scale(float(raw["low"][0]), scale), scale),
        mean_high=clipped(to_scale(float(raw["high"][0]), scale), scale),
        corrected=clipped(to_scale(corrected.mean, scale), scale),
        corrected_low=clipped(to_scale(corrected.low, scale), scale),
        corrected_high=clipped(to_scale(corrected.high, scale), scale),
        against_rest=_times(contrast.difference, unit),
        against_rest_low=_times(contrast.low, unit),
        against_rest_high=_times(contrast.high, unit),
        stands_out=stands_out and (contrast.difference or 0.0) < 0,
    )


def _against_rest(series: Series, everything: Series, first_day: str, last_day: str, level: float) -> _Contrast:
    """A segment against all other answers of the same days; both were graded in the same runs, so raw scores do."""
    inside = add_sums(period_rows(series, first_day, last_day))
    total = add_sums(period_rows(everything, first_day, last_day))
    rest = _subtract(total, inside)
    if inside["n"] < 2 or rest["n"] < 2:
        return _NO_CONTRAST
    both = means([inside, rest], level)
    difference = float(both["mean"][0] - both["mean"][1])
    se, df = (float(value[0]) for value in welch(both["se"][:1], both["df"][:1], both["se"][1:], both["df"][1:]))
    if not np.isfinite(se) or se <= 0:
        return _Contrast(difference=difference, low=None, high=None, p_value=float("nan"))
    half_width = float(t_quantile(df, level)) * se
    p_value = float(t_two_sided_p(difference / se, df))
    return _Contrast(difference=difference, low=difference - half_width, high=difference + half_width, p_value=p_value)


def _subtract(total: dict[str, float], part: dict[str, float]) -> dict[str, float]:
    """Totals of the rest. A conversation that is partly inside counts for both, which changes the error a little."""
    return {name: max(0.0, total[name] - part[name]) for name in SUM_NAMES}


def largest_first(segments: Sequence[SegmentFinding]) -> list[SegmentFinding]:
    """Segments that changed, the largest change first, single keys before crossed ones."""
    changed = [row for row in segments if row["state"] == "changed" and row["estimate"] is not None]
    return sorted(changed, key=lambda row: (row["key2"] != "", -abs(row["estimate"] or 0.0)))


def _times(value: float | None, unit: float) -> float | None:
    return None if value is None else value * unit
