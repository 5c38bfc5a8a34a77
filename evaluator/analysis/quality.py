"""Did the answers get better or worse, once the judge's own move is taken out?

Within a stretch in which the judge did not change, the corrected means are watched day by day. Across a change of the
judge they may not be taken at face value: the anchors are a sample, their error in the correction is the same every
day, and so the corrected line jumps by it and stays there. There the two sides are compared once, with that error in
the interval, and the answers are blamed only where it is very sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.analysis.across import Across, compare_across
from evaluator.analysis.events import OF_THE_ASSISTANT, ChangeDays, likely_cause
from evaluator.analysis.judge import Regime
from evaluator.analysis.needed import in_days, more_days_within
from evaluator.analysis.series import Series
from evaluator.analysis.units import Scale
from evaluator.analysis.watching import State, Watched, state_of, watch
from evaluator.findings import EventMark, QualityFinding, SettingsUsed
from evaluator.stats.detector import alarm_threshold, level_floor_sd
from evaluator.stats.evidence import MIN_REFERENCE_RUNS
from evaluator.stats.intervals import classify

ACROSS = "Student t between days, across the judge's change, with the error of the anchors"
GUARD_VALUES = 5  # values after an alarm of the answers for which a judge's alarm may still explain it


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
    mean_before: float | None
    mean_after: float | None
    when: ChangeDays | None
    alarm_day: str | None
    evidence: float | None
    more_days: int | None
    more_anchors: int | None
    more_together: bool
    open_days: int


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
        within = _within(stretches[place], watched[place], tolerance)
        both = None
        if place:
            both = compare_across(
                stretches, watched, place, regimes, level=level, tolerance=tolerance, n_looks=budget.n_looks
            )
        across = None if both is None else _across(both, regimes, tolerance)
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


def _within(stretch: Series, watched: Watched, tolerance: float) -> _Comparison:
    rows = np.arange(len(stretch))
    before = stretch.part((rows >= watched.start) & (rows < watched.split))
    after = stretch.part(rows >= watched.split)
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
        before=before,
        after=after,
        mean_before=_mean(before),
        mean_after=_mean(after),
        when=when,
        alarm_day=None if step is None else str(stretch.last_day[step.alarm_row]),
        evidence=watched.newest_evidence,
        more_days=more_days_within(stretch, watched, tolerance),
        more_anchors=None,
        more_together=False,
        open_days=_open_days(stretch, watched),
    )


def _across(found: Across, regimes: Sequence[Regime], tolerance: float) -> _Comparison:
    low, high = found.estimate - found.half_width, found.estimate + found.half_width
    state = state_of(classify(low, high, tolerance), is_alarm=found.is_blamed)
    when = found.began or regimes[int(found.after.regime[0])].began
    return _Comparison(
        state=state,
        estimate=found.estimate,
        low=low,
        high=high,
        method=ACROSS,
        before=found.before,
        after=found.after,
        mean_before=found.mean_before,
        mean_after=found.mean_after,
        when=when if state == "changed" else None,
        alarm_day=None,
        evidence=None,
        more_days=found.more_days,
        more_anchors=found.more_anchors,
        more_together=found.more_together,
        open_days=found.open_days,
    )


def _open_days(stretch: Series, watched: Watched) -> int:
    """Days after an alarm of the answers in which the judge may still turn out to have moved."""
    if not watched.steps:
        return 0
    since = len(stretch) - 1 - watched.steps[-1].alarm_row
    return in_days(max(0, GUARD_VALUES - since), stretch)


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
        more_days=None,
        more_anchors=None,
        more_together=False,
        open_days=0,
        before_first_day=None,
        before_last_day=None,
        after_first_day=None,
        after_last_day=None,
    )


def _describe(finding: QualityFinding, found: _Comparison, scale: Scale, events: Sequence[EventMark]) -> None:
    finding["state"] = found.state
    finding["estimate"] = scale.change(found.estimate)
    finding["low"], finding["high"] = scale.change(found.low), scale.change(found.high)
    finding["method"] = found.method
    finding["before"] = scale.score(found.mean_before)
    finding["after"] = scale.score(found.mean_after)
    finding["n_before"], finding["n_after"] = int(found.before.n.sum()), int(found.after.n.sum())
    finding["days_before"], finding["days_after"] = len(found.before), len(found.after)
    finding["alarm_day"] = found.alarm_day
    finding["evidence"] = found.evidence
    finding["open_days"] = found.open_days
    finding["before_first_day"], finding["before_last_day"] = _day_range(found.before)
    finding["after_first_day"], finding["after_last_day"] = _day_range(found.after)
    if found.state != "changed":
        finding["more_days"], finding["more_anchors"] = found.more_days, found.more_anchors
        finding["more_together"] = found.more_together
    if found.state == "changed":
        finding["direction"] = "better" if (found.estimate or 0.0) > 0 else "worse"
    if found.when is not None:
        when = found.when
        finding["since_day"], finding["since_first_day"], finding["since_last_day"] = when.day, when.first, when.last
        finding["likely_cause"] = likely_cause(events, when, OF_THE_ASSISTANT)


def _day_range(side: Series) -> tuple[str | None, str | None]:
    return (str(side.first_day[0]), str(side.last_day[-1])) if len(side) else (None, None)


def _mean(side: Series) -> float | None:
    return float(side.value.mean()) if len(side) else None
