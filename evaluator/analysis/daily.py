"""The daily line: every day with a sample, its raw mean and its corrected one, and what is to be known of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from evaluator.analysis.judge import Judge
from evaluator.analysis.totals import NO_MEAN, TextArray, Traffic, corrected_mean, raw_mean
from evaluator.analysis.units import Scale
from evaluator.findings import TrafficDay
from evaluator.stats.correction import AFFINE, JudgeMap, NoMap
from evaluator.stats.numeric import IntArray

NO_ANCHORS = "no anchors in that run"


def traffic_days(
    traffic: Traffic,
    judge: Judge,
    *,
    scale: Scale,
    level: float,
    reasons: Mapping[str, Mapping[str, int]],
    missing: str = NO_ANCHORS,
) -> list[TrafficDay]:
    """Return a row for every day with a sample, whether or not it has a mean.

    Args:
        traffic: The answers.
        judge: What corrects them.
        scale: Of the rubric.
        level: Coverage of the intervals.
        reasons: Day to reason to the number of answers without a score.
        missing: Why a day is not corrected whose run has no anchors.
    """
    rows = np.flatnonzero(traffic.totals.segment_id == traffic.everything)
    rows_of: dict[str, list[int]] = {}
    for row in rows:
        rows_of.setdefault(str(traffic.totals.day[row]), []).append(int(row))
    of_day = {day: np.array(rows_of.get(day, []), dtype=np.int64) for day in traffic.days}
    return [_traffic_day(day, found, traffic, judge, scale, level, reasons, missing) for day, found in of_day.items()]


def _traffic_day(
    day: str,
    rows: IntArray,
    traffic: Traffic,
    judge: Judge,
    scale: Scale,
    level: float,
    reasons: Mapping[str, Mapping[str, int]],
    missing: str,
) -> TrafficDay:
    totals, sample = traffic.totals, traffic.sampled.get(day)
    n, n_unscored = int(totals.n[rows].sum()), int(totals.n_unscored[rows].sum())
    used = rows[totals.usable[rows]]
    raw = raw_mean(totals, used, level) if len(used) else NO_MEAN
    corrected = corrected_mean(totals, used, level) if len(used) else NO_MEAN
    note = None
    if n_unscored and not len(used):
        note = _mostly_unscored(n_unscored, n + n_unscored, reasons.get(day, {}))
    elif len(used) and np.isnan(corrected.mean):
        note = _not_corrected(totals.run_id[used[-1]], judge, missing)
    elif len(used):
        note = _offset_only(totals.run_id[used], judge)
    return TrafficDay(
        day=day,
        n=n,
        n_unscored=n_unscored,
        n_planned=None if sample is None else int(sample["n_planned"]),
        n_answers=None if sample is None else int(sample["n_answers"]),
        finished=sample is not None and n + n_unscored >= int(sample["n_planned"]),
        mean=scale.score(raw.mean),
        low=scale.drawn(raw.low),
        high=scale.drawn(raw.high),
        corrected=scale.drawn(corrected.mean),
        corrected_low=scale.drawn(corrected.low),
        corrected_high=scale.drawn(corrected.high),
        note=note,
    )


def _mostly_unscored(n_unscored: int, n: int, reasons: Mapping[str, int]) -> str:
    why = f" ({reasons_text(reasons)})" if reasons else ""
    return f"mostly unscored: {n_unscored} of {n} answers have no score{why}, so the day has no mean"


def _not_corrected(run_id: str, judge: Judge, missing: str) -> str:
    judge_map = judge.maps.get(run_id)
    return "not corrected: " + (judge_map.reason if isinstance(judge_map, NoMap) else missing)


def _offset_only(run_ids: TextArray, judge: Judge) -> str | None:
    """Say so where the anchors of a run carry no slope: the same is taken out of every score."""
    maps = [judge.maps.get(str(run_id)) for run_id in run_ids]
    methods = [each.method for each in maps if isinstance(each, JudgeMap) and each.method != AFFINE]
    return f"corrected by the {methods[-1]}" if methods else None


def reasons_text(reasons: Mapping[str, int]) -> str:
    """Why scores are missing, the commonest reason first: 12 timeout, 3 server error."""
    ordered = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{n} {reason.replace('_', ' ')}" for reason, n in ordered)
