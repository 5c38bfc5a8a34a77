"""The judge monitor: scores of the fixed anchors in, run by run; whether the judge moved, when and how far, out.

A thin face over ``paired`` and ``detector`` for users of the library. The product's own analysis calls those on the
stored matrix instead, so that nothing has to be remembered between runs. Traffic has no place here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evaluator.stats.detector import BASELINE_RUNS, LevelChange, alarm_threshold, level_since
from evaluator.stats.evidence import DEFAULT_SETTINGS, MIN_REFERENCE_RUNS, DetectorSettings
from evaluator.stats.judge_evidence import ANCHOR, WEIGHTS, Alarm, EvidenceChange, JudgeEvidence
from evaluator.stats.kinds import Ends, Kind, culprit, ends_since, name_kind
from evaluator.stats.numeric import FloatArray, as_scores, mean_of_present
from evaluator.stats.paired import enough_anchors, normalise, run_shifts, units_per_point
from evaluator.stats.streams import STREAMS, RunStatistics, anchor_reference, run_statistics, stream_floors

Bounds = tuple[float, float | None, float | None]  # estimate, low, high


@dataclass(frozen=True, kw_only=True)
class MonitorState:
    """What is known after a run. Runs are numbered by calls of ``update``, from 0.

    Attributes:
        run: Number of the run; -1 before the first.
        counted: Whether enough of its anchors were graded.
        n_anchors: Anchors compared in it.
        learning: The reference has fewer than ten counted runs: nothing can alarm yet.
        n_reference: Counted runs in the reference.
        evidence: Evidence after the last counted run; 0 before there is any.
        threshold: Evidence at which the alarm fires.
        alarm: Whether it has fired, in this run or before.
        alarm_run: Run in which it fired; None without alarm.
        kind: How the judge moved: "level", "compression", "stretch", "low_end", "high_end", "noisier", "calmer" or
            "single_anchor"; None without alarm.
        anchor: Column of the anchor that broke, for a single one; None otherwise.
        parts: Evidence of each stream (level, slope, spread, anchor), weighted: they add up to ``evidence``.
        ends: How far the anchors of the lower and the upper third moved since the change, rubric units, as ((estimate,
            low, high), the same for the upper); None where it cannot be told.
        estimate: Mean shift since the change, or since the baseline's end without alarm, in rubric units.
        low: Lower bound of that, valid however often one looks; None while there is none.
        high: Upper bound; None while there is none.
        level: Coverage of the bounds.
        method: Name of the interval.
        change_run: First run after the change; None without alarm.
        change_low: First run of the 95 % set of the change date.
        change_high: Last run of that set.
        today: Shift of this run alone, in rubric units; None when no anchor could be compared.
        outlier: This run is far off and waits for a second one.
        error_against_expected: Mean of score less expected score in this run, in rubric units; None without either.
    """

    run: int
    counted: bool
    n_anchors: int
    learning: bool
    n_reference: int
    evidence: float
    threshold: float
    alarm: bool
    alarm_run: int | None
    kind: Kind | None
    anchor: int | None
    parts: dict[str, float]
    ends: tuple[Bounds | None, Bounds | None]
    estimate: float | None
    low: float | None
    high: float | None
    level: float
    method: str
    change_run: int | None
    change_low: int | None
    change_high: int | None
    today: float | None
    outlier: bool
    error_against_expected: float | None


class JudgeMonitor:
    """Watches one judge setup on fixed anchors.

    Args:
        baseline: Anchor scores of the runs that define "unchanged", oldest first, shape (B, K), nan where missing.
            Fewer than ten counted runs are allowed: the monitor then learns from the next ones.
        expected: Scores a person gave, shape (K,), nan where there is none. They tell how right the judge is and never
            cause an alarm.
        false_alarms_per_year: Alarms accepted, on average, per year in which nothing changes.
        runs_per_year: Counted runs in a year.
        scale: Lowest and highest score of the rubric.
        level: Coverage of the intervals.
        settings: Constants of the method.

    Raises:
        ValueError: a baseline that is not runs by anchors, expected scores of another length, or settings out of
            range.
    """

    def __init__(
        self,
        baseline: npt.ArrayLike,
        *,
        expected: npt.ArrayLike | None = None,
        false_alarms_per_year: float = 1.0,
        runs_per_year: float = 365.0,
        scale: tuple[float, float] = (1.0, 5.0),
        level: float = 0.95,
        settings: DetectorSettings = DEFAULT_SETTINGS,
    ) -> None:
        self._baseline = normalise(baseline, scale)
        if self._baseline.ndim != 2 or not self._baseline.size:
            raise ValueError(f"baseline must be runs by anchors, shape (B, K), got shape {self._baseline.shape}")
        if np.isnan(self._baseline).all():
            raise ValueError("the baseline holds no score")
        self._expected = None if expected is None else as_scores(expected)
        if self._expected is not None and self._expected.shape != self._baseline.shape[1:]:
            raise ValueError(f"expected must hold one score per anchor, got shape {self._expected.shape}")
        self._threshold = alarm_threshold(runs_per_year=runs_per_year, false_alarms_per_year=false_alarms_per_year)
        self._scale, self._level, self._settings = scale, level, settings
        self._run = -1
        self._counted_runs: list[int] = []
        self._alarm: Alarm | None = None
        self._alarm_run: int | None = None
        self._start()
        self._state = self._describe(None, counted=False)

    @property
    def state(self) -> MonitorState:
        """State after the last run."""
        return self._state

    def update(self, scores: npt.ArrayLike) -> MonitorState:
        """Take in the anchor scores of the next run.

        Args:
            scores: Scores in rubric units, shape (K,), nan for anchors that were not graded.

        Raises:
            ValueError: another number of anchors, or an infinite score.
        """
        raw = as_scores(scores)
        if raw.shape != self._anchor_means.shape:
            raise ValueError(f"scores must hold one entry per anchor, {self._anchor_means.shape}, got {raw.shape}")
        self._run += 1
        row = normalise(raw, self._scale)
        n_present = int((~np.isnan(row - self._anchor_means)).sum())
        counted = bool(enough_anchors(n_present, int((~np.isnan(self._anchor_means)).sum())))
        if self._judge is None:
            self._baseline = np.vstack([self._baseline, row])
            self._start()
        elif counted:
            self._watch(row)
        self._state = self._describe(raw, counted=counted)
        return self._state

    def _start(self) -> None:
        """Freeze the baseline and, once it is long enough, begin to watch."""
        shifts = run_shifts(self._baseline, slice(None))
        self._anchor_means = shifts.anchor_mean
        self._scores = self._baseline[shifts.counted]
        self._n_reference = len(self._scores)
        self._judge: JudgeEvidence | None = None
        self._reference = anchor_reference(self._scores, self._anchor_means)
        self._numbers = self._statistics(self._scores, in_baseline=True)
        if self._n_reference < MIN_REFERENCE_RUNS:
            return
        self._judge = JudgeEvidence(
            self._numbers,
            self._scores,
            floors=stream_floors(self._anchor_means),
            most_learned=max(BASELINE_RUNS, self._n_reference),
            settings=self._settings,
        )

    def _statistics(self, scores: FloatArray, *, in_baseline: bool) -> RunStatistics:
        used = np.ones(len(scores), dtype=np.bool_)
        return run_statistics(scores, self._reference, in_baseline=used & in_baseline, counted=used)

    def _watch(self, row: FloatArray) -> None:
        if self._judge is None:
            return
        new = self._statistics(row[None, :], in_baseline=False)
        self._counted_runs.append(self._run)
        self._scores = np.vstack([self._scores, row])
        self._numbers = RunStatistics(
            level=np.append(self._numbers.level, new.level),
            slope=np.append(self._numbers.slope, new.slope),
            spread=np.append(self._numbers.spread, new.spread),
        )
        evidence = self._judge.update({name: float(new.stream(name)[0]) for name in STREAMS}, row)
        if self._alarm is None and evidence >= self._threshold:
            self._alarm, self._alarm_run = self._judge.alarm(), self._run

    def _change(self) -> EvidenceChange | None:
        """Date of the change in counted runs, reference included."""
        if self._alarm is None or self._judge is None:
            return None
        found = self._judge.change(self._alarm)
        if found.stream == ANCHOR:
            return found
        before, after = self._scores[: found.index], self._scores[found.index :]
        column = culprit(found.stream, before, after, self._anchor_means)
        return found if column is None else replace(found, stream=ANCHOR, anchor=column)

    def _since(self, name: str, split: int) -> LevelChange:
        floor = stream_floors(self._anchor_means)[name]
        return level_since(
            self._numbers.stream(name), split, floor_sd=floor, level=self._level, settings=self._settings
        )  # fmt: skip

    def _as_run(self, index: int) -> int:
        return self._counted_runs[index - self._n_reference]

    def _describe(self, raw: FloatArray | None, *, counted: bool) -> MonitorState:
        found = self._change()
        split = self._n_reference if found is None else found.index
        level = self._since("level", split)
        kind, ends = self._named(found, split)
        unit = units_per_point(self._scale)
        differences = np.full(1, np.nan) if raw is None else normalise(raw, self._scale) - self._anchor_means
        n_anchors = int((~np.isnan(differences)).sum())
        today, _ = mean_of_present(differences, axis=0)
        judge = self._judge
        return MonitorState(
            run=self._run,
            counted=counted,
            n_anchors=n_anchors,
            learning=judge is None,
            n_reference=self._n_reference,
            evidence=0.0 if judge is None else judge.value,
            threshold=self._threshold,
            alarm=self._alarm is not None,
            alarm_run=self._alarm_run,
            kind=kind,
            anchor=None if found is None else found.anchor,
            parts=dict.fromkeys(WEIGHTS, 0.0) if judge is None else dict(judge.parts),
            ends=(_bounds(ends.low, unit), _bounds(ends.high, unit)) if ends is not None else (None, None),
            estimate=_scaled(level.estimate, unit),
            low=_scaled(level.low, unit),
            high=_scaled(level.high, unit),
            level=level.level,
            method=level.method,
            change_run=None if found is None else self._as_run(found.index),
            change_low=None if found is None else self._as_run(found.low),
            change_high=None if found is None else self._as_run(found.high),
            today=_scaled(float(today), unit) if n_anchors else None,
            outlier=counted and judge is not None and judge.n > self._n_reference and judge.last_was_clipped,
            error_against_expected=self._error(raw),
        )

    def _named(self, found: EvidenceChange | None, split: int) -> tuple[Kind | None, Ends | None]:
        """What the change is called, and how far both ends of the scale moved since."""
        if found is None:
            return None, None
        used = np.ones(len(self._scores), dtype=np.bool_)
        ends = ends_since(self._scores, self._anchor_means, used, split, level=self._level)
        return name_kind(found.stream, ends, self._since("slope", split), self._since("spread", split)), ends

    def _error(self, raw: FloatArray | None) -> float | None:
        if raw is None or self._expected is None:
            return None
        mean, n = mean_of_present(raw - self._expected, axis=0)
        return float(mean) if int(n) else None


def _bounds(change: LevelChange | None, unit: float) -> Bounds | None:
    if change is None or change.estimate is None:
        return None
    return change.estimate * unit, _scaled(change.low, unit), _scaled(change.high, unit)


def _scaled(value: float | None, unit: float) -> float | None:
    return None if value is None else value * unit
