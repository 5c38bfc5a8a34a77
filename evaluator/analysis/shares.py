"""Where the change of the traffic mean comes from: the judge, the assistant, or another mix of questions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evaluator.analysis.events import shift_day
from evaluator.analysis.judge import Judge
from evaluator.analysis.mix import mix_cells, mix_key
from evaluator.analysis.split import KindSums, Split, split_change
from evaluator.analysis.totals import COLUMN, Traffic
from evaluator.analysis.units import Scale
from evaluator.findings import SettingsUsed, Shares
from evaluator.stats.correction import JudgeMap, fit_judge_map
from evaluator.stats.numeric import BoolArray, FloatArray, mean_of_present
from evaluator.stats.share_errors import run_variance
from evaluator.stats.shares import rounded_to_add_up
from evaluator.stats.verdict import Share, decide, look_of

SMALL_CELL = 30  # answers under which a segment is pooled into "other"
MIN_DAYS = 5


@dataclass(frozen=True, kw_only=True, eq=False)
class _Periods:
    """Rows of the totals that are compared, of all segments."""

    before: BoolArray
    after: BoolArray
    before_days: tuple[str, str]
    after_days: tuple[str, str]
    n_days_after: int


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
    sums = _kind_sums(traffic, key, periods)
    of_runs = run_variance(*(_anchor_rows(traffic, judge, rows) for rows in (periods.before, periods.after)))
    split = split_change(sums, judge_map, of_runs=of_runs, level=settings["level"])
    found = _in_units(split, sums, periods, key, scale)
    _add_verdict(found, split, periods, settings["smallest_change"], scale)
    return found


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
    return _Periods(before=before, after=after, before_days=first, after_days=second, n_days_after=len(days[1]))


def _map_of_period(traffic: Traffic, judge: Judge, periods: _Periods) -> JudgeMap | None:
    """The map of all runs of the later period together: their anchors averaged, for the error that remains."""
    if judge.compared is None:
        return None
    average, _ = mean_of_present(_anchor_rows(traffic, judge, periods.after), axis=0)
    found = fit_judge_map(average, judge.compared.shifts.anchor_mean)
    return found if isinstance(found, JudgeMap) else None


def _anchor_rows(traffic: Traffic, judge: Judge, rows: BoolArray) -> FloatArray:
    """Anchor scores of the runs that graded some rows of the totals, shape (runs, anchors)."""
    return judge.history.scores[np.isin(judge.history.run_ids, np.unique(traffic.totals.run_id[rows]))]


def _kind_sums(traffic: Traffic, key: str | None, periods: _Periods) -> KindSums:
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
    return KindSums(before=found[:, 0], after=found[:, 1], corrected=found[:, 2])


def _sides(periods: _Periods) -> tuple[tuple[BoolArray, bool], ...]:
    return (periods.before, False), (periods.after, False), (periods.after, True)


def _sums(traffic: Traffic, segment_id: int, rows: BoolArray, corrected: bool) -> FloatArray:
    table = traffic.totals.corrected if corrected else traffic.totals.raw
    return np.asarray(table[rows & (traffic.totals.segment_id == segment_id)].sum(axis=0), dtype=np.float64)


def _in_units(split: Split, sums: KindSums, periods: _Periods, key: str | None, scale: Scale) -> Shares:
    parts, unit = split.shares, scale.unit
    raw, judge, assistant, mix = rounded_shares(
        parts.raw_change * unit, parts.judge * unit, parts.assistant * unit, parts.mix * unit
    )
    before, after = sums.before.sum(axis=0), sums.after.sum(axis=0)
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


def _add_verdict(found: Shares, split: Split, periods: _Periods, tolerance: float, scale: Scale) -> None:
    """Say whose the change is, and what it takes where that cannot be told."""
    judge, assistant, mix = (
        _looked_at(estimate * scale.unit, low, high, tolerance)
        for estimate, low, high in (
            (split.shares.judge, found["judge_low"], found["judge_high"]),
            (split.shares.assistant, found["assistant_low"], found["assistant_high"]),
            (split.shares.mix, found["mix_low"], found["mix_high"]),
        )
    )
    if judge.look == assistant.look == "changed" and not split.is_beyond:
        assistant = replace(assistant, look="cannot tell yet")
    found["verdict"] = decide(judge, assistant, mix, tolerance=tolerance)
    more = split.needed(periods.n_days_after, tolerance / scale.unit)
    found["more_days"], found["more_anchors"], found["more_together"] = more.answers, more.anchors, more.together


def _looked_at(estimate: float, low: float | None, high: float | None, tolerance: float) -> Share:
    return Share(estimate=estimate, low=low, high=high, look=look_of(low, high, tolerance))


def _bounds(value: float, half_width: float | None, scale: Scale) -> tuple[float | None, float | None]:
    if half_width is None:
        return None, None
    return scale.change(value - half_width), scale.change(value + half_width)


def rounded_shares(raw: float, judge: float, assistant: float, mix: float) -> tuple[float, float, float, float]:
    """Round to two digits so that the shares add up to the raw change as printed."""
    total, parts = rounded_to_add_up(raw, (judge, assistant, mix))
    return total, parts[0], parts[1], parts[2]
