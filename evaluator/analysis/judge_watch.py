"""The judge's four streams watched from the first run on: every change, its kind, and how things stand since.

How the changes are found is ``judge_search``'s. A single anchor that breaks is no change of the ruler: it is left out
from then on, and the watch goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.analysis.judge_search import BrokenAnchor, JudgeSearch, JudgeStep, is_changed
from evaluator.analysis.watching import FEW_VALUES, State, Step, bounded, reference_end, state_of
from evaluator.stats.anchor_health import baseline_trend
from evaluator.stats.detector import LevelChange, level_since
from evaluator.stats.evidence import MIN_REFERENCE_RUNS
from evaluator.stats.intervals import classify
from evaluator.stats.kinds import Ends, Kind, is_shown, slope_since
from evaluator.stats.numeric import BoolArray, FloatArray
from evaluator.stats.paired import RunShifts

# changes that the map from baseline to today's scores has to follow
OF_THE_MAP: frozenset[Kind] = frozenset({"level", "compression", "stretch", "low_end", "high_end"})


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgeWatched:
    """What the watch saw. Rows are those of the history.

    Attributes:
        state: What may be said of the judge.
        n: Counted runs.
        steps: Changes worth telling, oldest first, those before an accepted new normal left out.
        boundaries: Changes that the map from baseline to scores has to follow, accepted ones included, oldest first.
        broken: Anchors that left their score for good, oldest first.
        start: First row of "before" in ``level``.
        split: First row of "after".
        level: Level since the last change (or the end of the reference) less the level before.
        total: Level since the last change less the very first one.
        ends: How far the lower and the upper third moved since ``split``.
        spread: Change of the log of the spread since ``split``.
        evidence: Combined evidence after each run; nan where there is none.
        parts: Evidence of each stream after the last run, weighted; empty while learning.
        shifts: The runs' shifts, broken anchors left out from their change on.
        scores: Scores, broken anchors left out likewise.
        trend: Slope per run and p-value of the baseline itself.
    """

    state: State
    n: int
    steps: tuple[JudgeStep, ...]
    boundaries: tuple[Step, ...]
    broken: tuple[BrokenAnchor, ...]
    start: int
    split: int
    level: LevelChange
    total: LevelChange
    ends: Ends
    spread: LevelChange
    evidence: FloatArray
    parts: dict[str, float]
    shifts: RunShifts
    scores: FloatArray
    trend: tuple[float | None, float | None]

    @property
    def newest_evidence(self) -> float | None:
        """Evidence at the last alarm, or for a change that has not been found yet."""
        alarms: Sequence[Step] = (*self.steps, *self.broken)
        if alarms:
            return max(alarms, key=lambda step: step.row).evidence
        known = self.evidence[~np.isnan(self.evidence)]
        return float(known[-1]) if len(known) else None


def watch_judge(
    scores: FloatArray,
    asked: BoolArray,
    baseline: BoolArray,
    *,
    threshold: float,
    level: float,
    tolerance: float,
    accepted_row: int | None = None,
) -> JudgeWatched:
    """Watch a judge from its first run.

    Args:
        scores: Shape (R, K), 1..5 equivalents, nan where missing.
        asked: Which anchors each run should have graded, shape (R, K).
        baseline: The runs whose means are the norm, shape (R,).
        threshold: Evidence that fires the alarm.
        level: Coverage of the intervals.
        tolerance: Largest change that does not matter.
        accepted_row: First row of a new normal that a person accepted: changes before it are told no more, and the
            alarm compares with the runs since. The means of the baseline stay the scale.
    """
    watch = JudgeSearch(
        scores=scores, asked=asked, baseline=baseline, threshold=threshold, level=level, tolerance=tolerance
    )  # fmt: skip
    n_rows, first = len(scores), accepted_row or 0
    earlier = watch.worth_telling(watch.find(0, first), 0, first) if first else []
    found = watch.find(first, n_rows)
    steps = watch.worth_telling(found, first, n_rows)
    level_stream = watch.numbers.level
    start = steps[-2].row if len(steps) > 1 else first
    split = steps[-1].row if steps else first + reference_end(level_stream[first:])
    newest = watch.level_change(start, split, n_rows)
    total = _total(watch, steps, first, split, newest)
    ends, spread = watch.ends_change(start, split, n_rows), watch.spread_change(start, split, n_rows)
    slope_moved = is_shown(slope_since(watch.numbers, watch.shifts.anchor_mean, split, start=start, level=level))
    n = int((~np.isnan(level_stream[first:])).sum())
    broken = tuple(sorted((each for each in watch.broken if each.row >= first), key=lambda each: each.row))
    slope, p = baseline_trend(scores[baseline])
    return JudgeWatched(
        state=_state(
            n,
            newest,
            tolerance,
            moved_otherwise=is_shown(spread) or _ends_moved(ends, tolerance, slope_moved=slope_moved),
            is_alarm=bool(steps or broken),
        ),
        n=n,
        steps=tuple(steps),
        boundaries=_boundaries([*earlier, *steps], accepted_row),
        broken=broken,
        start=start,
        split=split,
        level=newest,
        total=total,
        ends=ends,
        spread=spread,
        evidence=watch.evidence,
        parts=watch.parts,
        shifts=watch.shifts,
        scores=watch.scores,
        trend=(slope, p),
    )


def _total(watch: JudgeSearch, steps: Sequence[JudgeStep], first: int, split: int, newest: LevelChange) -> LevelChange:
    """Level since the last change less the very first one."""
    if len(steps) < 2 and not first:
        return newest
    until = steps[0].row if steps and not first else reference_end(watch.numbers.level)
    if until >= split:
        return newest
    ends = np.concatenate([watch.numbers.level[:until], watch.numbers.level[split:]])
    return bounded(level_since(ends, until, floor_sd=watch.floors["level"], level=watch.level))


def _boundaries(steps: Sequence[JudgeStep], accepted_row: int | None) -> tuple[Step, ...]:
    """Rows at which the map from baseline to scores begins anew."""
    found: list[Step] = [step for step in steps if step.kind in OF_THE_MAP]
    if accepted_row and all(step.row != accepted_row for step in found):
        found.append(
            Step(row=accepted_row, first_row=accepted_row, last_row=accepted_row, alarm_row=accepted_row, evidence=0.0)
        )
    return tuple(sorted(found, key=lambda step: step.row))


def _state(n: int, level: LevelChange, tolerance: float, *, moved_otherwise: bool, is_alarm: bool) -> State:
    if n < MIN_REFERENCE_RUNS:
        return "learning"
    if is_alarm:
        return "changed"
    if level.n_after < FEW_VALUES:
        return "cannot_tell"
    state = state_of(classify(level.low, level.high, tolerance), is_alarm=False)
    # a mean that stands still while one end of the scale moves, or while the scores scatter otherwise, is not steady
    return "cannot_tell" if state == "steady" and moved_otherwise else state


def _ends_moved(ends: Ends, tolerance: float, *, slope_moved: bool) -> bool:
    """Whether an end of the scale is shown to have moved; by the slope where an end has too few anchors."""
    if ends.low is None or ends.high is None:
        return slope_moved
    return any(is_changed(end, tolerance) for end in (ends.low, ends.high))
