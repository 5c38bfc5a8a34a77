"""Did the answers get better or worse, once the judge's own move is taken out?

Within a stretch in which the judge did not change, the corrected means are watched day by day. Across a change of the
judge they may not be taken at face value: the anchors are a sample, their error in the correction is the same every
day, and so the corrected line jumps by it and stays there. There the two sides are compared once, with that error in
the interval, and the answers are blamed only where it is very sure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.analysis.events import OF_THE_ASSISTANT, ChangeDays, likely_cause
from evaluator.analysis.judge import Regime
from evaluator.analysis.series import Series
from evaluator.analysis.units import Scale
from evaluator.analysis.watching import State, Watched, state_of, watch
from evaluator.findings import EventMark, QualityFinding, SettingsUsed
from evaluator.stats.correction import NoMap
from evaluator.stats.detector import alarm_threshold, level_floor_sd
from evaluator.stats.evidence import MIN_REFERENCE_RUNS
from evaluator.stats.intervals import classify
from evaluator.stats.numeric import t_quantile

ACROSS = "Student t between days, across the judge's change, with the error of the anchors"
DAYS_ACROSS = 5  # values that either side of a judge's change needs before the two are compared
BLAME_LEVEL = 0.99  # coverage with which the two sides must differ, divided by the segments looked at
MAP_ALLOWANCE = 0.02  # the judge's move is not exactly a straight line: the honest floor of any comparison across it


@dataclass(frozen=True, kw_only=True)
class Budget:
    """How sure a series must be of a change before it is told.

    Attributes:
        weight: Share of the false-alarm budget.
        n_looks: Series of the same kind that are looked at.
    """

    weight: float
    n_looks: int = 1


@dataclass(frozen=True, kw_only=True, eq=False)
class _Comparison:
    """Before and after a change, or before and since the reference. Numbers in 1..5 equivalents."""

    state: State
    estimate: float | None
    low: float | None
    high: float | None
    method: str
    before: Series
    after: Series
    when: ChangeDays | None
    alarm_day: str | None
    evidence: float | None


def quality_finding(
    series: Series,
    regimes: Sequence[Regime],
    *,
    scale: Scale,
    settings: SettingsUsed,
    events: Sequence[EventMark],
    budget: Budget,
) -> QualityFinding:
    """Find the newest change of a series, or how things stand without one.

    Args:
        series: Corrected means of all answers, or of those of a segment.
        regimes: The judge's stretches.
        scale: Of the rubric.
        settings: The user's decisions.
        events: What was logged.
        budget: What this series may use.
    """
    threshold = alarm_threshold(
        runs_per_year=settings["runs_per_year"],
        false_alarms_per_year=settings["false_alarms_per_year"],
        weight=budget.weight,
    )
    tolerance = settings["smallest_change"] / scale.unit
    found = _newest(series.by_regime(), regimes, threshold, tolerance, settings["level"], budget)
    finding = _nothing_known(threshold)
    if found is not None:
        _describe(finding, found, scale, events)
    return finding


def _newest(
    stretches: Sequence[Series],
    regimes: Sequence[Regime],
    threshold: float,
    tolerance: float,
    level: float,
    budget: Budget,
) -> _Comparison | None:
    """Look back from today: within the newest stretch, across the judge's change before it, and so on."""
    watched = [_watch(stretch, threshold, level, tolerance) for stretch in stretches]
    newest = None
    for place in reversed(range(len(stretches))):
        within = _within(stretches[place], watched[place])
        across = _across(stretches, watched, place, regimes, tolerance, level, budget) if place else None
        found = next((each for each in (within, across) if each is not None and each.state == "changed"), None)
        if found is not None:
            return found
        if newest is None:
            # while a new stretch is too short to be watched, the comparison with the one before says more
            is_young = watched[place].n <= MIN_REFERENCE_RUNS
            newest = across if across is not None and is_young else within
    return newest


def _watch(stretch: Series, threshold: float, level: float, tolerance: float) -> Watched:
    floor_sd = level_floor_sd(max(1, int(np.median(stretch.n))))
    return watch(stretch.value, threshold=threshold, floor_sd=floor_sd, level=level, tolerance=tolerance)


def _within(stretch: Series, watched: Watched) -> _Comparison:
    rows = np.arange(len(stretch))
    step = watched.steps[-1] if watched.steps else None
    when = None
    if step is not None:
        days = stretch.first_day
        when = ChangeDays(day=str(days[step.row]), first=str(days[step.first_row]), last=str(days[step.last_row]))
    return _Comparison(
        state=watched.state,
        estimate=watched.level.estimate,
        low=watched.level.low,
        high=watched.level.high,
        method=watched.level.method,
        before=stretch.part((rows >= watched.start) & (rows < watched.split)),
        after=stretch.part(rows >= watched.split),
        when=when,
        alarm_day=None if step is None else str(stretch.last_day[step.alarm_row]),
        evidence=watched.newest_evidence,
    )


def _across(
    stretches: Sequence[Series],
    watched: Sequence[Watched],
    place: int,
    regimes: Sequence[Regime],
    tolerance: float,
    level: float,
    budget: Budget,
) -> _Comparison | None:
    """Compare the two sides of a change of the judge; None while one of them has too few days or no map."""
    before, after = _sides(stretches, watched, place)
    errors = [_anchor_error(regimes, side) for side in (before, after)]
    if min(len(before), len(after)) < DAYS_ACROSS or any(error is None for error in errors):
        return None
    estimate = float(after.value.mean() - before.value.mean())
    se, df = _se_across(before, after, [error for error in errors if error is not None])
    half_width = float(t_quantile(df, level)) * se
    blame_level = 1 - (1 - BLAME_LEVEL) / budget.n_looks
    is_blamed = abs(estimate) > float(t_quantile(df, blame_level)) * se
    state = state_of(classify(estimate - half_width, estimate + half_width, tolerance), is_alarm=is_blamed)
    return _Comparison(
        state=state,
        estimate=estimate,
        low=estimate - half_width,
        high=estimate + half_width,
        method=ACROSS,
        before=before,
        after=after,
        when=regimes[int(after.regime[0])].began if state == "changed" else None,
        alarm_day=None,
        evidence=None,
    )


def _sides(stretches: Sequence[Series], watched: Sequence[Watched], place: int) -> tuple[Series, Series]:
    """The days to compare across the judge's change at the beginning of a stretch.

    Before are the days since the answers last changed on the old side: an earlier change is told as such and must not
    be told again. After are the first days on the new side, those that its own watch takes as given; what happens
    later is found by that watch, with its own date.
    """
    old, new, steps = stretches[place - 1], stretches[place], watched[place - 1].steps
    last_step = steps[-1].row if steps else 0
    return old.part(np.arange(len(old)) >= last_step), new.part(np.arange(len(new)) < MIN_REFERENCE_RUNS)


def _anchor_error(regimes: Sequence[Regime], side: Series) -> tuple[float, float] | None:
    """What the anchors' sample adds to the error of a side's mean, with its degrees of freedom; None without a map.

    The first stretch defines the scale and has no such error.
    """
    if not len(side):
        return None
    if side.regime[0] == 0:
        return 0.0, math.inf
    judge_map = regimes[int(side.regime[0])].average_map
    if isinstance(judge_map, NoMap):
        return None
    mean = float(side.value.mean())
    variance = judge_map.var_intercept + 2 * mean * judge_map.covariance + mean**2 * judge_map.var_slope
    return math.sqrt(max(variance, 0.0)) / judge_map.slope, judge_map.df


def _se_across(before: Series, after: Series, anchors: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Standard error of the difference, with days and anchors as its units, and its degrees of freedom."""
    n_before, n_after = len(before), len(after)
    squares = n_before * float(before.value.var()) + n_after * float(after.value.var())
    df = n_before + n_after - 2
    floor_sd = level_floor_sd(max(1, int(np.median(after.n))))
    variance = max(squares / df, floor_sd**2) * (1 / n_before + 1 / n_after)
    variance += sum(error**2 for error, _ in anchors) + MAP_ALLOWANCE**2
    return math.sqrt(variance), min(df, *(anchor_df for _, anchor_df in anchors))


# ---------------------------------------------------------------- the finding


def _nothing_known(threshold: float) -> QualityFinding:
    return QualityFinding(
        state="no_data",
        direction=None,
        estimate=None,
        low=None,
        high=None,
        method="",
        before=None,
        after=None,
        n_before=0,
        n_after=0,
        days_before=0,
        days_after=0,
        since_day=None,
        since_first_day=None,
        since_last_day=None,
        alarm_day=None,
        likely_cause=None,
        evidence=None,
        threshold=threshold,
    )


def _describe(finding: QualityFinding, found: _Comparison, scale: Scale, events: Sequence[EventMark]) -> None:
    finding["state"] = found.state
    finding["estimate"] = scale.change(found.estimate)
    finding["low"], finding["high"] = scale.change(found.low), scale.change(found.high)
    finding["method"] = found.method
    finding["before"] = scale.score(_mean(found.before))
    finding["after"] = scale.score(_mean(found.after))
    finding["n_before"], finding["n_after"] = int(found.before.n.sum()), int(found.after.n.sum())
    finding["days_before"], finding["days_after"] = len(found.before), len(found.after)
    finding["alarm_day"] = found.alarm_day
    finding["evidence"] = found.evidence
    if found.state == "changed":
        finding["direction"] = "better" if (found.estimate or 0.0) > 0 else "worse"
    if found.when is not None:
        when = found.when
        finding["since_day"], finding["since_first_day"], finding["since_last_day"] = when.day, when.first, when.last
        finding["likely_cause"] = likely_cause(events, when, OF_THE_ASSISTANT)


def _mean(side: Series) -> float | None:
    return float(side.value.mean()) if len(side) else None
