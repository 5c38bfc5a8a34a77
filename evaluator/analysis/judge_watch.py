"""The judge's four streams watched from the first run on: every change, its kind, and how things stand since.

The detector finds one change and stops. After each, the watch begins anew with the runs since the change as its
reference. A single anchor that breaks is no change of the ruler: it is left out from then on, and the watch goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluator.analysis.watching import FEW_VALUES, State, Step, bounded, reference_end, state_of
from evaluator.stats.anchor_flips import HALF_A_LEVEL
from evaluator.stats.anchor_health import baseline_trend
from evaluator.stats.detector import LevelChange, level_since
from evaluator.stats.evidence import MIN_REFERENCE_RUNS
from evaluator.stats.intervals import Finding, classify
from evaluator.stats.judge_evidence import JudgeDetection, detect_judge
from evaluator.stats.kinds import Ends, Kind, culprit, ends_since, is_shown, name_kind, slope_since, spread_since
from evaluator.stats.numeric import BoolArray, FloatArray
from evaluator.stats.paired import RunShifts, run_shifts
from evaluator.stats.streams import RunStatistics, statistics_of_history, stream_floors

MOST_LEFT_OUT = 50  # times that an anchor is left out before the search ends
STAYS_SHARE = 0.8  # of its runs that an anchor is away from its score when it has left it for good
# changes that the map from baseline to today's scores has to follow
OF_THE_MAP: frozenset[Kind] = frozenset({"level", "compression", "stretch", "low_end", "high_end"})


@dataclass(frozen=True, kw_only=True)
class JudgeStep(Step):
    """A change of the judge; ``kind`` is what it is called."""

    kind: Kind


@dataclass(frozen=True, kw_only=True)
class BrokenAnchor(Step):
    """An anchor that left its usual score for good; ``column`` is its place in the history."""

    column: int


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


@dataclass(kw_only=True, eq=False)
class _Watch:
    """The history while it is searched: broken anchors are taken out of it one by one."""

    scores: FloatArray
    asked: BoolArray
    baseline: BoolArray
    threshold: float
    level: float
    tolerance: float

    def __post_init__(self) -> None:
        self.scores, self.asked = self.scores.copy(), self.asked.copy()
        self.broken: list[BrokenAnchor] = []
        self.evidence = np.full(len(self.scores), np.nan)
        self.parts: dict[str, float] = {}
        self._refresh()

    def _refresh(self) -> None:
        self.shifts = run_shifts(self.scores, self.baseline, asked=self.asked)
        self.numbers: RunStatistics = statistics_of_history(self.scores, self.baseline, self.shifts)
        self.floors = stream_floors(self.shifts.anchor_mean)

    def leave_out(self, column: int, step: Step) -> None:
        """Take an anchor that left its score out: for good, or only the runs in which it was away if it came back."""
        away = np.abs(self.scores[step.row :, column] - self.shifts.anchor_mean[column]) >= HALF_A_LEVEL
        known = ~np.isnan(self.scores[step.row :, column])
        stays = bool(away.sum() >= STAYS_SHARE * known.sum())
        if stays:
            self.broken.append(BrokenAnchor(**vars(step), column=column))
        rows = step.row + np.flatnonzero(known if stays else away)
        if not len(rows):  # never half a level from its mean: leave out what raised the alarm, so that the search ends
            rows = np.arange(step.row, step.alarm_row + 1)
        self.scores[rows, column], self.asked[rows, column] = np.nan, False
        self._refresh()

    def one_behind(self, found: JudgeDetection, start: int, step: Step) -> int | None:
        """The one anchor that an alarm is due to; None where several have a part in it."""
        if found.anchor is not None:
            return found.anchor
        counted, stop = self.shifts.counted, step.alarm_row + 1
        # the date of a single anchor's move is uncertain by runs: without it the others' flips would hide it
        for split in (step.row, step.first_row, max(step.row, step.alarm_row - 1)):
            before = self.scores[start:split][counted[start:split]]
            after = self.scores[split:stop][counted[split:stop]]
            column = culprit(str(found.stream), before, after, self.shifts.anchor_mean)
            if column is not None:
                return column
        return None

    # ---------------------------------------------------------------- search

    def find(self, first: int, stop: int) -> list[JudgeStep]:
        """Every change between two rows, each with a reference that begins at the change before it."""
        steps: list[JudgeStep] = []
        start, n_left_out = first, 0
        while True:
            found = self._detect(start, stop)
            fresh = np.isfinite(found.evidence)
            self.evidence[start:stop][fresh[start:stop]] = found.evidence[start:stop][fresh[start:stop]]
            self.parts = found.parts or self.parts
            step = _step(found)
            if step is None or n_left_out >= MOST_LEFT_OUT:
                return steps
            column = self.one_behind(found, start, step)
            if column is not None:
                self.leave_out(column, step)
                n_left_out += 1
                continue
            steps.append(JudgeStep(**vars(step), kind=self.kind_of(str(found.stream), start, step.row, stop)))
            start = step.row

    def _detect(self, start: int, stop: int) -> JudgeDetection:
        numbers = RunStatistics(
            level=self.numbers.level[:stop], slope=self.numbers.slope[:stop], spread=self.numbers.spread[:stop]
        )
        found = detect_judge(
            numbers,
            self.scores[:stop],
            threshold=self.threshold,
            floors=self.floors,
            start=start,
            weighed_after_alarm=MIN_REFERENCE_RUNS,  # until the watch that begins at the change has learned
        )
        missing = np.full(len(self.scores) - stop, np.nan)
        return replace(found, evidence=np.concatenate([found.evidence, missing]))

    # ---------------------------------------------------------------- sizes

    def level_change(self, start: int, split: int, stop: int) -> LevelChange:
        """Change of the mean shift; bounds wider than the scale say nothing and are left out."""
        floor = self.floors["level"]
        return bounded(level_since(self.numbers.level[start:stop], split - start, floor_sd=floor, level=self.level))

    def ends_change(self, start: int, split: int, stop: int) -> Ends:
        """Change of the lower and the upper third."""
        means, counted = self.shifts.anchor_mean, self.shifts.counted[start:stop]
        return ends_since(self.scores[start:stop], means, counted, split - start, level=self.level)

    def spread_change(self, start: int, split: int, stop: int) -> LevelChange:
        """Change of the log of the spread."""
        numbers = replace(self.numbers, spread=self.numbers.spread[:stop])
        return spread_since(numbers, self.shifts.anchor_mean, split, start=start, level=self.level)

    def kind_of(self, stream: str, start: int, split: int, stop: int) -> Kind:
        """What a change is called."""
        numbers = replace(self.numbers, slope=self.numbers.slope[:stop])
        slope = slope_since(numbers, self.shifts.anchor_mean, split, start=start, level=self.level)
        return name_kind(stream, self.ends_change(start, split, stop), slope, self.spread_change(start, split, stop))

    def matters(self, kind: Kind, start: int, split: int, stop: int) -> bool:
        """Whether a change is larger than what does not matter to the user, in the way that its kind shows."""
        if kind in ("noisier", "calmer"):
            return is_shown(self.spread_change(start, split, stop))
        changes = [self.level_change(start, split, stop)]
        if kind != "level":
            ends = self.ends_change(start, split, stop)
            changes += [end for end in (ends.low, ends.high) if end is not None]
        return any(_is_changed(change, self.tolerance) for change in changes)

    def worth_telling(self, found: Sequence[JudgeStep], first: int, stop: int) -> list[JudgeStep]:
        """The changes that lasted and matter; one too small joins what was before it, so that several add up."""
        kept: list[JudgeStep] = []
        for place, step in enumerate(found):
            end = found[place + 1].row if place + 1 < len(found) else stop
            if self.matters(step.kind, kept[-1].row if kept else first, step.row, end):
                kept.append(step)
        # what followed the last one may have taken it back
        while kept and not self.matters(kept[-1].kind, kept[-2].row if len(kept) > 1 else first, kept[-1].row, stop):
            kept.pop()
        return kept


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
    watch = _Watch(
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


def _step(found: JudgeDetection) -> Step | None:
    rows = (found.row, found.first_row, found.last_row, found.alarm_row)
    row, first, last, alarm = rows
    if row is None or first is None or last is None or alarm is None:
        return None
    return Step(row=row, first_row=first, last_row=last, alarm_row=alarm, evidence=found.alarm_evidence or 0.0)


def _total(watch: _Watch, steps: Sequence[JudgeStep], first: int, split: int, newest: LevelChange) -> LevelChange:
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
    return any(_is_changed(end, tolerance) for end in (ends.low, ends.high))


def _is_changed(change: LevelChange, tolerance: float) -> bool:
    return classify(change.low, change.high, tolerance) in (Finding.CHANGED_UP, Finding.CHANGED_DOWN)
