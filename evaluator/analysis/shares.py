"""Where the change of the traffic mean comes from: the judge, the assistant, or another mix of questions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.analysis.anchors import AnchorHistory, JudgeChange, shift_day
from evaluator.analysis.traffic import Series, Traffic, add_sums, means
from evaluator.findings import SettingsUsed, Shares
from evaluator.stats.correction import CorrectedMeans, JudgeMap, correct_means, fit_judge_map
from evaluator.stats.intervals import SUM_NAMES
from evaluator.stats.numeric import mean_of_present, t_quantile
from evaluator.stats.paired import units_per_point
from evaluator.stats.segments import ChangeShares, decompose_change
from evaluator.store import read

SMALL_CELL = 30  # answers under which a segment is pooled into "other"
MIX_VALUES = range(2, 31)  # a key with so many values can say what a changed mix did
MAP_ALLOWANCE = 0.02  # the judge's move is not exactly a straight line; the honest floor of any corrected comparison
MIN_DAYS = 5


@dataclass(frozen=True, kw_only=True, eq=False)
class _Periods:
    """The totals of the days before and after, by run."""

    before: set[str]
    after: set[str]
    before_days: tuple[str, str]
    after_days: tuple[str, str]


def change_shares(
    traffic: Traffic,
    history: AnchorHistory,
    change: JudgeChange,
    *,
    scale: tuple[float, float],
    settings: SettingsUsed,
    last_days: int,
) -> Shares | None:
    """Split the change between the baseline's days and those since the judge moved (or the last days).

    Returns:
        The shares in rubric units, adding up at two digits; None while either side has too few days, or while the
        anchors cannot carry a correction.
    """
    periods = _periods(traffic, history, change, last_days)
    if periods is None:
        return None
    judge_map = _map_of_period(history, change, periods)
    if judge_map is None:
        return None
    key = _mix_key(traffic)
    cells = _cells(traffic, key, periods)
    before, after = [cell[0] for cell in cells], [cell[1] for cell in cells]
    level = settings["level"]
    first, second = means(before, level), means(after, level)
    corrected = correct_means(second["mean"], second["se"], second["df"], judge_map, level=level)
    shares = decompose_change(
        n_before=np.array([cell["sum_w"] for cell in before]),
        n_after=np.array([cell["sum_w"] for cell in after]),
        mean_before=first["mean"],
        mean_after=corrected.mean,
        raw_mean_before=first["mean"],
        raw_mean_after=second["mean"],
        se_before=first["se"],
        se_after=second["se"] / judge_map.slope,
    )
    total_after = means([add_sums(after)], level)
    overall = correct_means(total_after["mean"], total_after["se"], total_after["df"], judge_map, level=level)
    return _in_words(shares, overall, judge_map, add_sums(before), add_sums(after), periods, key, scale, level)


def _periods(traffic: Traffic, history: AnchorHistory, change: JudgeChange, last_days: int) -> _Periods | None:
    """Days graded by the baseline's runs, and days graded since the judge moved or, if it did not, the last ones."""
    rows = [row for row in traffic.everything.rows if row["usable"] and row["n"]]
    baseline = {
        run for run, used in zip(history.run_ids, history.baseline_mask(change.change_run), strict=True) if used
    }
    before = [row for row in rows if row["run_id"] in baseline]
    if not before:
        return None
    if change.change_run is not None:
        after = [row for row in rows if change.is_after(history, row["slot_utc"])]
    else:
        start = shift_day(rows[-1]["day"], 1 - last_days)
        after = [row for row in rows if row["day"] >= start and row["run_id"] not in baseline]
    if len({row["day"] for row in before}) < MIN_DAYS or len({row["day"] for row in after}) < MIN_DAYS:
        return None
    return _Periods(
        before={row["run_id"] for row in before},
        after={row["run_id"] for row in after},
        before_days=(min(row["day"] for row in before), max(row["day"] for row in before)),
        after_days=(min(row["day"] for row in after), max(row["day"] for row in after)),
    )


def _map_of_period(history: AnchorHistory, change: JudgeChange, periods: _Periods) -> JudgeMap | None:
    """The map of all runs of the later period together: their anchors averaged, which leaves the least noise."""
    if change.shifts is None:
        return None
    used = np.array([run in periods.after for run in history.run_ids])
    if not used.any():
        return None
    average, _ = mean_of_present(history.scores[used], axis=0)
    found = fit_judge_map(average, change.shifts.anchor_mean)
    return found if isinstance(found, JudgeMap) else None


def _mix_key(traffic: Traffic) -> str | None:
    """The first key of the breakdown that has between 2 and 30 values."""
    for key, key2 in traffic.keys:
        values = [row for row in traffic.names.values() if row["key"] == key and row["key2"] == ""]
        if not key2 and len(values) in MIX_VALUES:
            return key
    return None


def _cells(traffic: Traffic, key: str | None, periods: _Periods) -> list[tuple[dict[str, float], dict[str, float]]]:
    """Totals before and after of each value of the key; small ones and answers without the key are "other"."""
    total = _both(traffic.everything, periods)
    if key is None:
        return [total]
    cells: list[tuple[dict[str, float], dict[str, float]]] = []
    for segment_id, series in traffic.segments.items():
        name = traffic.names[segment_id]
        if name["key"] == key and name["key2"] == "":
            cell = _both(series, periods)
            if min(cell[0]["n"], cell[1]["n"]) >= SMALL_CELL:
                cells.append(cell)
    other = tuple(_left(total[side], [cell[side] for cell in cells]) for side in (0, 1))
    if other[0]["n"] > 0 or other[1]["n"] > 0:
        cells.append((other[0], other[1]))
    return cells


def _both(series: Series, periods: _Periods) -> tuple[dict[str, float], dict[str, float]]:
    usable: list[read.Row] = [row for row in series.rows if row["usable"] and row["n"]]
    return (
        add_sums([row for row in usable if row["run_id"] in periods.before]),
        add_sums([row for row in usable if row["run_id"] in periods.after]),
    )


def _left(total: Mapping[str, float], parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    left = {name: max(0.0, total[name] - sum(part[name] for part in parts)) for name in SUM_NAMES}
    return left if left["n"] > 0.5 else dict.fromkeys(SUM_NAMES, 0.0)


def _in_words(
    shares: ChangeShares,
    overall: CorrectedMeans,
    judge_map: JudgeMap,
    before: Mapping[str, float],
    after: Mapping[str, float],
    periods: _Periods,
    key: str | None,
    scale: tuple[float, float],
    level: float,
) -> Shares:
    unit = units_per_point(scale)
    quantile = float(t_quantile(judge_map.df, level))
    judge_half = quantile * math.hypot(float(overall.judge_part_se[0]), MAP_ALLOWANCE)
    anchor_se = math.hypot(float(overall.anchor_se[0]), MAP_ALLOWANCE)
    assistant_half = None if shares.assistant_se is None else quantile * math.hypot(shares.assistant_se, anchor_se)
    mix_half = None if shares.mix_se is None else quantile * shares.mix_se
    raw, judge, assistant, mix = rounded_shares(
        shares.raw_change * unit, shares.judge * unit, shares.assistant * unit, shares.mix * unit
    )
    raw_before = scale[0] + (before["sum_wy"] / before["sum_w"] - 1) * unit
    return Shares(
        before_first_day=periods.before_days[0],
        before_last_day=periods.before_days[1],
        after_first_day=periods.after_days[0],
        after_last_day=periods.after_days[1],
        n_before=int(before["n"]),
        n_after=int(after["n"]),
        raw_before=raw_before,
        raw_after=raw_before + shares.raw_change * unit,
        raw=raw,
        judge=judge,
        judge_low=_bound(shares.judge, -judge_half, unit),
        judge_high=_bound(shares.judge, judge_half, unit),
        assistant=assistant,
        assistant_low=_bound(shares.assistant, None if assistant_half is None else -assistant_half, unit),
        assistant_high=_bound(shares.assistant, assistant_half, unit),
        mix=mix,
        mix_low=_bound(shares.mix, None if mix_half is None else -mix_half, unit),
        mix_high=_bound(shares.mix, mix_half, unit),
        mix_key=key,
        method=f"{judge_map.method}; Kitagawa split",
    )


def _bound(value: float, half_width: float | None, unit: float) -> float | None:
    return None if half_width is None or not math.isfinite(half_width) else (value + half_width) * unit


def rounded_shares(raw: float, judge: float, assistant: float, mix: float) -> tuple[float, float, float, float]:
    """Round to two digits so that the shares add up to the raw change as printed.

    The share whose rounding was furthest off takes the missing cent.
    """
    exact = [judge * 100, assistant * 100, mix * 100]
    cents = [round(value) for value in exact]
    missing = round(raw * 100) - sum(cents)
    for _ in range(abs(missing)):
        step = 1 if missing > 0 else -1
        furthest = max(range(3), key=lambda index: step * (exact[index] - cents[index]))
        cents[furthest] += step
    return round(raw, 2), cents[0] / 100, cents[1] / 100, cents[2] / 100
