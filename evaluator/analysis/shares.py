"""Where the change of the traffic mean comes from: the judge, the assistant, or another mix of questions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evaluator.analysis.events import shift_day
from evaluator.analysis.judge import Judge
from evaluator.analysis.mix import mix_cells, mix_key
from evaluator.analysis.quality import MAP_ALLOWANCE
from evaluator.analysis.totals import COLUMN, Traffic, mean_columns
from evaluator.analysis.units import Scale
from evaluator.findings import SettingsUsed, Shares
from evaluator.stats.correction import JudgeMap, correct_means, fit_judge_map
from evaluator.stats.numeric import BoolArray, FloatArray, mean_of_present, t_quantile
from evaluator.stats.segments import ChangeShares, decompose_change

SMALL_CELL = 30  # answers under which a segment is pooled into "other"
MIN_DAYS = 5


@dataclass(frozen=True, kw_only=True, eq=False)
class _Periods:
    """Rows of the totals that are compared, of all segments."""

    before: BoolArray
    after: BoolArray
    before_days: tuple[str, str]
    after_days: tuple[str, str]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Cells:
    """Sums by value of the mix key, shape (cells, SUM_NAMES): before raw, after raw and after corrected."""

    before: FloatArray
    after: FloatArray
    corrected: FloatArray


@dataclass(frozen=True, kw_only=True)
class _Split:
    """The shares with half the width of their intervals, 1..5 equivalents; None where there is no interval."""

    shares: ChangeShares
    judge_half: float | None
    assistant_half: float | None
    mix_half: float | None
    method: str


def change_shares(
    traffic: Traffic, judge: Judge, *, scale: Scale, settings: SettingsUsed, last_days: int
) -> Shares | None:
    """Split the change between the baseline's days and those since the judge moved (or the last days).

    Returns:
        The shares in rubric units, adding up at two digits; None while either side has too few days, or while the
        anchors cannot carry a correction.
    """
    periods = _periods(traffic, judge, last_days)
    judge_map = None if periods is None else _map_of_period(traffic, judge, periods)
    if periods is None or judge_map is None:
        return None
    key = mix_key(traffic)
    cells = _cells(traffic, key, periods)
    split = _split(cells, judge_map, settings["level"])
    return _in_units(split, cells, periods, key, scale)


def _periods(traffic: Traffic, judge: Judge, last_days: int) -> _Periods | None:
    """Choose what is compared.

    Before: the days graded by the baseline's runs. On them the raw score is on the first scale by definition, so no
    error of the anchors enters this side.

    After: the days graded since the judge's last change, if one is told. Days between the baseline and that change
    would dilute the judge's share to a figure that holds on no day. Where no change is told: the last days.

    A segment that got worse only later is in the assistant's share with the days it has: the share says why the one
    mean differs from the other, not how large the fault is. That is the segment's own finding.
    """
    totals = traffic.totals
    usable = totals.correctable
    in_baseline = np.isin(totals.run_id, list(judge.baseline_runs))
    before = usable & in_baseline
    if not before.any():
        return None
    if judge.finding["state"] == "changed":
        after = usable & (totals.regime == len(judge.regimes) - 1)
    else:
        after = usable & ~in_baseline & (totals.day >= shift_day(str(np.unique(totals.day[usable])[-1]), 1 - last_days))
    days = [np.unique(totals.day[rows]) for rows in (before, after)]
    if min(len(each) for each in days) < MIN_DAYS:
        return None
    first, second = ((str(each[0]), str(each[-1])) for each in days)
    return _Periods(before=before, after=after, before_days=first, after_days=second)


def _map_of_period(traffic: Traffic, judge: Judge, periods: _Periods) -> JudgeMap | None:
    """The map of all runs of the later period together: their anchors averaged, for the error that remains."""
    if judge.compared is None:
        return None
    used = np.isin(judge.history.run_ids, np.unique(traffic.totals.run_id[periods.after]))
    average, _ = mean_of_present(judge.history.scores[used], axis=0)
    found = fit_judge_map(average, judge.compared.shifts.anchor_mean)
    return found if isinstance(found, JudgeMap) else None


def _cells(traffic: Traffic, key: str | None, periods: _Periods) -> _Cells:
    """Sums of each value of the key; small ones and answers without the key are "other"."""
    totals = traffic.totals
    total = [_sums(traffic, traffic.everything, rows, corrected) for rows, corrected in _sides(periods)]
    cells = []
    for segment_id in mix_cells(traffic, key):
        cell = [_sums(traffic, segment_id, rows, corrected) for rows, corrected in _sides(periods)]
        if min(cell[0][0], cell[1][0]) >= SMALL_CELL:
            cells.append(cell)
    found = np.array(cells, dtype=np.float64).reshape(-1, 3, totals.raw.shape[1])
    other = np.maximum(np.array(total) - found.sum(axis=0), 0.0)
    other[other[:, 0] < 1] = 0.0
    if other[:, 0].any():
        found = np.concatenate([found, other[None]])
    return _Cells(before=found[:, 0], after=found[:, 1], corrected=found[:, 2])


def _sides(periods: _Periods) -> tuple[tuple[BoolArray, bool], ...]:
    return (periods.before, False), (periods.after, False), (periods.after, True)


def _sums(traffic: Traffic, segment_id: int, rows: BoolArray, corrected: bool) -> FloatArray:
    table = traffic.totals.corrected if corrected else traffic.totals.raw
    return np.asarray(table[rows & (traffic.totals.segment_id == segment_id)].sum(axis=0), dtype=np.float64)


def _split(cells: _Cells, judge_map: JudgeMap, level: float) -> _Split:
    before, after, corrected = (mean_columns(side, level) for side in (cells.before, cells.after, cells.corrected))
    shares = decompose_change(
        n_before=_effective_counts(cells.before),
        n_after=_effective_counts(cells.after),
        mean_before=before["mean"],
        mean_after=corrected["mean"],
        raw_mean_before=before["mean"],
        raw_mean_after=after["mean"],
        se_before=_known_se(before),
        se_after=_known_se(corrected),
    )
    total = mean_columns(cells.after.sum(axis=0)[None, :], level)
    overall = correct_means(total["mean"], total["se"], total["df"], judge_map, level=level)
    quantile = float(t_quantile(judge_map.df, level))
    anchor_se = math.hypot(float(overall.anchor_se[0]), MAP_ALLOWANCE)
    return _Split(
        shares=shares,
        judge_half=_half(quantile, math.hypot(float(overall.judge_part_se[0]), MAP_ALLOWANCE)),
        assistant_half=None if shares.assistant_se is None else _half(quantile, shares.assistant_se, anchor_se),
        mix_half=None if shares.mix_se is None else _half(quantile, shares.mix_se),
        method=f"{judge_map.method}; Kitagawa split",
    )


def _effective_counts(sums: FloatArray) -> FloatArray:
    """Shares by weight, as counts that carry as much as so many independent answers.

    A sum of weights is the size of the traffic, not of the sample; and the answers of a conversation come together.
    """
    total = sums.sum(axis=0)
    n, n_clusters = total[COLUMN["n"]], total[COLUMN["n_clusters"]]
    sum_w, sum_w2 = total[COLUMN["sum_w"]], total[COLUMN["sum_w2"]]
    effective = sum_w**2 / sum_w2 * n_clusters / n
    return np.asarray(sums[:, COLUMN["sum_w"]] / sum_w * effective, dtype=np.float64)


def _known_se(columns: dict[str, FloatArray]) -> FloatArray:
    """Standard errors of the cells; one that shows no spread of its own takes the widest spread of the others."""
    spread = columns["se"] * np.sqrt(columns["n_clusters"])
    widest = float(np.nanmax(spread)) if np.isfinite(spread).any() else math.nan
    borrowed = widest / np.sqrt(np.maximum(columns["n_clusters"], 1.0))
    return np.where(np.isnan(columns["se"]), borrowed, columns["se"])


def _half(quantile: float, *errors: float) -> float | None:
    half = quantile * math.hypot(*errors)
    return half if math.isfinite(half) else None


def _in_units(split: _Split, cells: _Cells, periods: _Periods, key: str | None, scale: Scale) -> Shares:
    parts, unit = split.shares, scale.unit
    raw, judge, assistant, mix = rounded_shares(
        parts.raw_change * unit, parts.judge * unit, parts.assistant * unit, parts.mix * unit
    )
    before, after = cells.before.sum(axis=0), cells.after.sum(axis=0)
    judge_low, judge_high = _bounds(parts.judge, split.judge_half, scale)
    assistant_low, assistant_high = _bounds(parts.assistant, split.assistant_half, scale)
    mix_low, mix_high = _bounds(parts.mix, split.mix_half, scale)
    return Shares(
        before_first_day=periods.before_days[0],
        before_last_day=periods.before_days[1],
        after_first_day=periods.after_days[0],
        after_last_day=periods.after_days[1],
        n_before=int(before[COLUMN["n"]]),
        n_after=int(after[COLUMN["n"]]),
        raw_before=scale.known_score(before[COLUMN["sum_wy"]] / before[COLUMN["sum_w"]]),
        raw_after=scale.known_score(after[COLUMN["sum_wy"]] / after[COLUMN["sum_w"]]),
        raw=raw,
        judge=judge,
        judge_low=judge_low,
        judge_high=judge_high,
        assistant=assistant,
        assistant_low=assistant_low,
        assistant_high=assistant_high,
        mix=mix,
        mix_low=mix_low,
        mix_high=mix_high,
        mix_key=key,
        method=split.method,
    )


def _bounds(value: float, half_width: float | None, scale: Scale) -> tuple[float | None, float | None]:
    if half_width is None:
        return None, None
    return scale.change(value - half_width), scale.change(value + half_width)


def rounded_shares(raw: float, judge: float, assistant: float, mix: float) -> tuple[float, float, float, float]:
    """Round to two digits so that the shares add up to the raw change as printed.

    The share whose rounding was furthest off takes the missing cent.
    """
    exact = [judge * 100, assistant * 100, mix * 100]
    cents = [round(value) for value in exact]
    missing = round(raw * 100) - sum(cents)
    step = 1 if missing > 0 else -1
    for _ in range(abs(missing)):
        furthest = max(range(3), key=lambda place: step * (exact[place] - cents[place]))
        cents[furthest] += step
    return round(raw * 100) / 100, cents[0] / 100, cents[1] / 100, cents[2] / 100
