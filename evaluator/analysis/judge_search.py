"""Finds every change of a judge in its runs, and takes anchors that broke out of them on the way.

What may be said of the judge when all are found is ``judge_watch``'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluator.analysis.watching import Step, bounded
from evaluator.stats.anchor_flips import HALF_A_LEVEL
from evaluator.stats.detector import LevelChange, level_since
from evaluator.stats.evidence import MIN_REFERENCE_RUNS
from evaluator.stats.intervals import Finding, classify
from evaluator.stats.judge_evidence import JudgeDetection, detect_judge
from evaluator.stats.kinds import Ends, Kind, culprit, ends_since, is_shown, name_kind, slope_since, spread_since
from evaluator.stats.numeric import BoolArray, FloatArray
from evaluator.stats.paired import run_shifts
from evaluator.stats.streams import RunStatistics, statistics_of_history, stream_floors

MOST_LEFT_OUT = 50  # times that an anchor is left out before the search ends
STAYS_SHARE = 0.8  # of its runs that an anchor is away from its score when it has left it for good


@dataclass(frozen=True, kw_only=True)
class JudgeStep(Step):
    """A change of the judge; ``kind`` is what it is called."""

    kind: Kind


@dataclass(frozen=True, kw_only=True)
class BrokenAnchor(Step):
    """An anchor that left its usual score for good; ``column`` is its place in the history."""

    column: int


@dataclass(kw_only=True, eq=False)
class JudgeSearch:
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
        if stays and all(each.column != column for each in self.broken):
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

    def since_away(self, column: int, step: Step, start: int) -> Step:
        """The step dated by the anchor itself: all anchors' numbers may show its move some runs late."""
        row = step.row
        while row > start and self._is_away(row - 1, column):
            row -= 1
        return replace(step, row=row, first_row=min(row, step.first_row))

    def _is_away(self, row: int, column: int) -> bool:
        return bool(abs(self.scores[row, column] - self.shifts.anchor_mean[column]) >= HALF_A_LEVEL)

    # ---------------------------------------------------------------- search

    def find(self, first: int, stop: int) -> list[JudgeStep]:
        """Every change between two rows, each with a reference that begins at the change before it."""
        steps: list[tuple[Step, str]] = []
        start, n_left_out = first, 0
        while True:
            found = self._detect(start, stop)
            fresh = np.isfinite(found.evidence)
            self.evidence[start:stop][fresh[start:stop]] = found.evidence[start:stop][fresh[start:stop]]
            self.parts = found.parts or self.parts
            step = _step(found)
            if step is None or n_left_out >= MOST_LEFT_OUT:
                return self.named(steps, first, stop)
            column = self.one_behind(found, start, step)
            if column is not None:
                self.leave_out(column, step if found.anchor is not None else self.since_away(column, step, start))
                n_left_out += 1
                continue
            steps.append((step, str(found.stream)))
            start = step.row

    def named(self, found: Sequence[tuple[Step, str]], first: int, stop: int) -> list[JudgeStep]:
        """The changes with their kinds, each by the runs between the change before it and the one after it."""
        rows = [first, *(step.row for step, _ in found), stop]
        return [
            JudgeStep(**vars(step), kind=self.kind_of(stream, rows[place], step.row, rows[place + 2]))
            for place, (step, stream) in enumerate(found)
        ]

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
        numbers = replace(self.numbers, slope=self.numbers.slope[:stop], spread=self.numbers.spread[:stop])
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
        return any(is_changed(change, self.tolerance) for change in changes)

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


def _step(found: JudgeDetection) -> Step | None:
    rows = (found.row, found.first_row, found.last_row, found.alarm_row)
    row, first, last, alarm = rows
    if row is None or first is None or last is None or alarm is None:
        return None
    return Step(row=row, first_row=first, last_row=last, alarm_row=alarm, evidence=found.alarm_evidence or 0.0)


def is_changed(change: LevelChange, tolerance: float) -> bool:
    """Whether the interval of a change leaves out zero and is not all within what does not matter."""
    return classify(change.low, change.high, tolerance) in (Finding.CHANGED_UP, Finding.CHANGED_DOWN)
