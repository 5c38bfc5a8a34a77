"""Whether a series of run or day values changed, how often, and by how much the last time. Knows no judge, no traffic.

The detector finds one change and stops. A judge that is rolled back, or a fault that is mended, is another change of
the same series, so after each alarm the watch begins anew with the values since the change as its reference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from evaluator.stats.detector import BASELINE_RUNS, LevelChange, detect, level_since
from evaluator.stats.evidence import MIN_REFERENCE_RUNS
from evaluator.stats.intervals import Finding, classify
from evaluator.stats.numeric import FloatArray

FEW_VALUES = 5  # values after the reference under which an interval is too wide to say anything
WIDTH_OF_THE_SCALE = 4.0  # in 1..5 equivalents

State = Literal["changed", "steady", "no_change_shown", "cannot_tell", "learning"]


@dataclass(frozen=True, kw_only=True)
class Step:
    """A change of level. Rows count the values as given.

    Attributes:
        row: First value after it.
        first_row: First row of the 95 % set of its date.
        last_row: Last row of that set.
        alarm_row: Where the alarm fired.
        evidence: Evidence at that moment. Later values say less: the step itself comes to look like correlation.
    """

    row: int
    first_row: int
    last_row: int
    alarm_row: int
    evidence: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Watched:
    """What the watch saw.

    Attributes:
        state: What may be said.
        n: Values that are there.
        steps: Changes worth telling, oldest first.
        start: First row of what ``level`` calls before: the last change but one, or 0.
        split: First row of what it calls after: the last change, or the end of the reference.
        level: After less before.
        total: The level since the last change less the very first one; the same as ``level`` after one change.
        evidence: Evidence after each value; nan where there is none.
    """

    state: State
    n: int
    steps: tuple[Step, ...]
    start: int
    split: int
    level: LevelChange
    total: LevelChange
    evidence: FloatArray

    @property
    def newest_evidence(self) -> float | None:
        """Evidence at the last alarm, or for a change that has not been found yet."""
        if self.steps:
            return self.steps[-1].evidence
        return _last_known(self.evidence)


def watch(values: FloatArray, *, threshold: float, floor_sd: float, level: float, tolerance: float) -> Watched:
    """Watch a series from its beginning.

    Args:
        values: In order of time, shape (n,); nan for a run that does not count.
        threshold: Evidence that fires an alarm.
        floor_sd: Least spread of the series.
        level: Coverage of the intervals.
        tolerance: Largest change that does not matter.
    """

    def change(start: int, split: int, stop: int) -> LevelChange:
        return bounded(level_since(values[start:stop], split - start, floor_sd=floor_sd, level=level))

    found, evidence = _find_steps(values, threshold=threshold, floor_sd=floor_sd)
    steps = _worth_telling(found, len(values), change, tolerance)
    start, split = (steps[-2].row if len(steps) > 1 else 0), (steps[-1].row if steps else reference_end(values))
    newest = change(start, split, len(values))
    total = newest
    if len(steps) > 1:
        ends = np.concatenate([values[: steps[0].row], values[split:]])
        total = bounded(level_since(ends, steps[0].row, floor_sd=floor_sd, level=level))
    n = int((~np.isnan(values)).sum())
    return Watched(
        state=_state(n, newest, tolerance, is_alarm=bool(steps)),
        n=n,
        steps=tuple(steps),
        start=start,
        split=split,
        level=newest,
        total=total,
        evidence=evidence,
    )


def _state(n: int, level: LevelChange, tolerance: float, *, is_alarm: bool) -> State:
    if n < MIN_REFERENCE_RUNS:
        return "learning"
    if not is_alarm and level.n_after < FEW_VALUES:
        return "cannot_tell"
    return state_of(classify(level.low, level.high, tolerance), is_alarm=is_alarm)


def state_of(found: Finding, *, is_alarm: bool) -> State:
    """The word for an interval. One that is off zero without an alarm is not sure enough over all looks of a year."""
    if found is Finding.STEADY:
        return "steady"
    if found is Finding.NO_CHANGE_SHOWN:
        return "no_change_shown"
    return "changed" if is_alarm else "cannot_tell"


def _worth_telling(
    found: Sequence[Step], n: int, change: Callable[[int, int, int], LevelChange], tolerance: float
) -> list[Step]:
    """The alarms that stand for a change which lasted and matters; ``change`` compares (start, split, stop).

    A step too small to matter is passed over and its values join those before it, so that a second and a third in the
    same direction are measured from where the first began.
    """

    def matters(start: int, split: int, stop: int) -> bool:
        bounds = change(start, split, stop)
        return state_of(classify(bounds.low, bounds.high, tolerance), is_alarm=True) == "changed"

    kept: list[Step] = []
    for place, step in enumerate(found):
        stop = found[place + 1].row if place + 1 < len(found) else n
        if matters(kept[-1].row if kept else 0, step.row, stop):
            kept.append(step)
    # what followed the last one may have taken it back
    while kept and not matters(kept[-2].row if len(kept) > 1 else 0, kept[-1].row, n):
        kept.pop()
    return kept


def reference_end(values: FloatArray) -> int:
    """First row after the values that stand for "before" while nothing changed.

    The first ten values, later the whole baseline. Two lengths and not one that grows with each value, because the
    interval that is compared with it holds for a fixed split.
    """
    known = np.flatnonzero(~np.isnan(values))
    length = BASELINE_RUNS if len(known) >= BASELINE_RUNS + MIN_REFERENCE_RUNS else MIN_REFERENCE_RUNS
    return int(known[length]) if len(known) > length else len(values)


def _find_steps(values: FloatArray, *, threshold: float, floor_sd: float) -> tuple[list[Step], FloatArray]:
    """Every alarm, each with a reference that begins at the change before it."""
    evidence = np.full(len(values), np.nan)
    steps: list[Step] = []
    start = 0
    while True:
        found = detect(values[start:], threshold=threshold, floor_sd=floor_sd, n_reference=MIN_REFERENCE_RUNS)
        # a new watch learns at first; until then the evidence of the old one stands
        evidence[start:] = np.where(np.isnan(found.evidence), evidence[start:], found.evidence)
        indices = (found.change_index, found.change_low, found.change_high, found.alarm_index)
        row, first, last, alarm = (None if index is None else start + index for index in indices)
        if row is None or first is None or last is None or alarm is None:
            return steps, evidence
        at_alarm = float(evidence[alarm])
        steps.append(Step(row=row, first_row=first, last_row=last, alarm_row=alarm, evidence=at_alarm))
        start = row


def bounded(level: LevelChange) -> LevelChange:
    """The change of level, without bounds where they are wider than the whole scale: those say nothing."""
    if level.low is not None and level.high is not None and level.high - level.low > WIDTH_OF_THE_SCALE:
        return replace(level, low=None, high=None)
    return level


def _last_known(evidence: FloatArray) -> float | None:
    known = evidence[~np.isnan(evidence)]
    return float(known[-1]) if len(known) else None
