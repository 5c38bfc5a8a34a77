"""The judge: did it move, and what takes traffic back to its first scale? Anchors only, never traffic."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evaluator.analysis.comparison import Comparison, anchor_runs, broken_anchor, compare_runs, moved_anchors
from evaluator.analysis.events import OF_THE_JUDGE, ChangeDays, likely_cause, shift_day
from evaluator.analysis.history import AnchorHistory
from evaluator.analysis.judge_search import BrokenAnchor
from evaluator.analysis.settings import JUDGE_WEIGHT
from evaluator.analysis.units import Scale
from evaluator.findings import AcceptedBaseline, BrokenFinding, EndShift, EventMark, JudgeFinding, SettingsUsed
from evaluator.stats.correction import JudgeMap, NoMap, fit_judge_map, fit_judge_maps
from evaluator.stats.detector import LevelChange, alarm_threshold
from evaluator.stats.evidence import MIN_REFERENCE_RUNS
from evaluator.stats.numeric import mean_of_present

DAYS_PER_YEAR = 365.25
_LARGEST_LOG = 50.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Regime:
    """A stretch of runs in which the judge did not change.

    Attributes:
        slot_utc: Its first scheduled instant; "" for the first stretch, which has no beginning.
        began: When the judge changed; None for the first stretch.
        average_map: Takes raw means back to the baseline's scale, from the anchors' averages over the stretch.
    """

    slot_utc: str
    began: ChangeDays | None
    average_map: JudgeMap | NoMap


@dataclass(frozen=True, kw_only=True, eq=False)
class Judge:
    """What the rest of the analysis knows of the judge.

    Attributes:
        finding: Whether it moved.
        baseline_runs: Ids of the runs whose scores are the norm.
        regimes: Oldest first, at least one.
        maps: By run id: the map of that run alone; no entry for a run without anchors.
    """

    history: AnchorHistory
    compared: Comparison | None
    finding: JudgeFinding
    baseline_runs: frozenset[str]
    regimes: tuple[Regime, ...]
    maps: dict[str, JudgeMap | NoMap]

    def regime_at(self, slot_utc: str) -> int:
        """Number of the stretch that an instant lies in."""
        return bisect_right([regime.slot_utc for regime in self.regimes], slot_utc) - 1


def find_judge(
    history: AnchorHistory,
    *,
    scale: Scale,
    settings: SettingsUsed,
    events: Sequence[EventMark],
    accepted: AcceptedBaseline | None = None,
) -> Judge:
    """Decide whether the judge moved, and fit what corrects traffic.

    Args:
        history: The anchors of a judge setup.
        scale: Of the rubric.
        settings: The user's decisions.
        events: What was logged.
        accepted: A later normal that a person accepted; the alarm compares with the runs since, the scale of the
            corrected line stays.
    """
    threshold = alarm_threshold(
        runs_per_year=settings["runs_per_year"],
        false_alarms_per_year=settings["false_alarms_per_year"],
        weight=JUDGE_WEIGHT,
    )
    tolerance = settings["smallest_change"] / scale.unit
    compared = compare_runs(
        history,
        threshold=threshold,
        level=settings["level"],
        tolerance=tolerance,
        accepted_day=None if accepted is None else accepted["from_day"],
    )
    finding = _nothing_known(history, threshold)
    finding["accepted"] = accepted
    finding["runs"] = anchor_runs(history, compared, scale, settings["level"])
    if compared is None:
        alone = Regime(slot_utc="", began=None, average_map=NoMap(n_anchors=0, reason="no run has enough anchors"))
        return Judge(
            history=history, compared=None, finding=finding, baseline_runs=frozenset(), regimes=(alone,), maps={}
        )
    _describe(finding, history, compared, scale, settings)
    finding["broken"] = [_broken(history, each, scale, events) for each in compared.watched.broken]
    if finding["state"] == "changed":
        _describe_change(finding, history, compared, scale, events)
    regimes, maps = _regimes(history, compared)
    baseline = (run_id for run_id, used in zip(history.run_ids, compared.baseline, strict=True) if used)
    return Judge(
        # an anchor that broke measures the judge no more
        history=replace(history, scores=compared.watched.scores),
        compared=compared,
        finding=finding,
        baseline_runs=frozenset(baseline),
        regimes=regimes,
        maps=maps,
    )


def _regimes(history: AnchorHistory, compared: Comparison) -> tuple[tuple[Regime, ...], dict[str, JudgeMap | NoMap]]:
    steps, means = compared.watched.boundaries, compared.shifts.anchor_mean
    scores = compared.watched.scores
    starts = [0, *(step.row for step in steps)]
    stops = [*starts[1:], len(history.run_ids)]
    regimes: list[Regime] = []
    maps: dict[str, JudgeMap | NoMap] = {}
    for start, stop, step in zip(starts, stops, (None, *steps), strict=True):
        # a run's slope is averaged over the last runs, but never across a change
        maps |= dict(zip(history.run_ids[start:stop], fit_judge_maps(scores[start:stop], means), strict=True))
        average, _ = mean_of_present(scores[start:stop], axis=0)
        regimes.append(
            Regime(
                slot_utc="" if step is None else history.slots[start],
                began=None if step is None else _days(history, step.row, step.first_row, step.last_row),
                average_map=fit_judge_map(average, means),
            )
        )
    return tuple(regimes), maps


def _days(history: AnchorHistory, row: int, first: int, last: int) -> ChangeDays:
    return ChangeDays(day=history.days[row], first=history.days[first], last=history.days[last])


# ---------------------------------------------------------------- the finding


def _nothing_known(history: AnchorHistory, threshold: float) -> JudgeFinding:
    """The finding before anything can be compared."""
    return JudgeFinding(
        state="no_data",
        direction=None,
        estimate=None,
        low=None,
        high=None,
        method="",
        n_anchors=history.n_asked,
        n_runs=len(history.run_ids),
        n_runs_counted=0,
        n_runs_after=0,
        since_day=None,
        since_first_day=None,
        since_last_day=None,
        alarm_day=None,
        earlier_days=[],
        against_first_runs=None,
        against_first_runs_low=None,
        against_first_runs_high=None,
        evidence=None,
        threshold=threshold,
        learning_runs_left=MIN_REFERENCE_RUNS,
        first_alarm_day=None,
        likely_cause=None,
        runs=[],
        moved=[],
        kind=None,
        ends=[],
        noise_ratio=None,
        noise_ratio_low=None,
        noise_ratio_high=None,
        broken=[],
        evidence_parts={},
        baseline_trend=None,
        baseline_trend_p=None,
        accepted=None,
    )


def _describe(
    finding: JudgeFinding, history: AnchorHistory, compared: Comparison, scale: Scale, settings: SettingsUsed
) -> None:
    """Put in what is known whether or not the judge moved."""
    watched = compared.watched
    finding["state"] = watched.state
    finding["estimate"] = scale.change(watched.level.estimate)
    finding["low"], finding["high"] = scale.change(watched.level.low), scale.change(watched.level.high)
    finding["method"] = watched.level.method
    finding["n_runs_counted"] = watched.n
    finding["n_runs_after"] = watched.level.n_after
    finding["against_first_runs"] = scale.change(watched.total.estimate)
    finding["against_first_runs_low"] = scale.change(watched.total.low)
    finding["against_first_runs_high"] = scale.change(watched.total.high)
    finding["evidence"] = watched.newest_evidence
    finding["learning_runs_left"] = max(0, MIN_REFERENCE_RUNS - watched.n)
    finding["ends"] = [_end("low", watched.ends.low, watched.ends.n_low, scale)]
    finding["ends"].append(_end("high", watched.ends.high, watched.ends.n_high, scale))
    ratio = watched.spread
    finding["noise_ratio"] = _as_ratio(ratio.estimate)
    finding["noise_ratio_low"], finding["noise_ratio_high"] = _as_ratio(ratio.low), _as_ratio(ratio.high)
    finding["evidence_parts"] = dict(watched.parts)
    slope, p = watched.trend
    finding["baseline_trend"], finding["baseline_trend_p"] = scale.change(slope), p
    finding["first_alarm_day"] = _first_alarm_day(history, watched.n, settings["runs_per_year"])


def _describe_change(
    finding: JudgeFinding,
    history: AnchorHistory,
    compared: Comparison,
    scale: Scale,
    events: Sequence[EventMark],
) -> None:
    """Put in what there is to say of a change."""
    watched = compared.watched
    if not watched.steps:
        _describe_broken(finding, history, watched.broken[-1])
        return
    *earlier, step = watched.steps
    when = _days(history, step.row, step.first_row, step.last_row)
    finding["kind"] = step.kind
    finding["direction"] = _direction(finding)
    finding["since_day"], finding["since_first_day"], finding["since_last_day"] = when.day, when.first, when.last
    finding["alarm_day"] = history.days[step.alarm_row]
    finding["earlier_days"] = [history.days[each.row] for each in earlier]
    finding["likely_cause"] = likely_cause(events, when, OF_THE_JUDGE)
    finding["moved"] = moved_anchors(history, watched, scale)


def _direction(finding: JudgeFinding) -> Literal["more generous", "stricter"] | None:
    """Which way the mean moved; None where it is not shown to have moved, as when the judge only grew noisy."""
    if finding["low"] is not None and finding["low"] > 0:
        return "more generous"
    return "stricter" if finding["high"] is not None and finding["high"] < 0 else None


def _describe_broken(finding: JudgeFinding, history: AnchorHistory, broken: BrokenAnchor) -> None:
    """A change that is one anchor's alone: dates are its own, the estimate stays that of all others."""
    found = finding["broken"][-1]
    finding["kind"] = "single_anchor"
    finding["since_day"] = found["since_day"]
    finding["since_first_day"], finding["since_last_day"] = found["since_first_day"], found["since_last_day"]
    finding["alarm_day"] = history.days[broken.alarm_row]
    finding["likely_cause"] = found["likely_cause"]
    finding["moved"] = [found["anchor"]]


def _broken(history: AnchorHistory, broken: BrokenAnchor, scale: Scale, events: Sequence[EventMark]) -> BrokenFinding:
    when = _days(history, broken.row, broken.first_row, broken.last_row)
    return BrokenFinding(
        anchor=broken_anchor(history, broken, scale),
        since_day=when.day,
        since_first_day=when.first,
        since_last_day=when.last,
        alarm_day=history.days[broken.alarm_row],
        likely_cause=likely_cause(events, when, OF_THE_JUDGE),
    )


def _end(end: Literal["low", "high"], change: LevelChange | None, n: int, scale: Scale) -> EndShift:
    return EndShift(
        end=end,
        n_anchors=n,
        estimate=None if change is None else scale.change(change.estimate),
        low=None if change is None else scale.change(change.low),
        high=None if change is None else scale.change(change.high),
    )


def _as_ratio(log_change: float | None) -> float | None:
    """Ratio of the spreads, from a change of the log of the squared spread; None beyond what floats hold."""
    if log_change is None or not abs(log_change) < _LARGEST_LOG:
        return None
    return math.exp(log_change / 2)


def _first_alarm_day(history: AnchorHistory, n_counted: int, runs_per_year: float) -> str | None:
    """Day of the eleventh counted run if from now on every run counts; None once it is past."""
    left = MIN_REFERENCE_RUNS + 1 - n_counted
    return None if left <= 0 else shift_day(history.days[-1], round(left * DAYS_PER_YEAR / runs_per_year))
