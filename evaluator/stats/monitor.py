"""The judge monitor: scores of the fixed anchors in, run by run; whether the judge moved, when and how far, out.

A thin face over ``paired`` and ``detector`` for users of the library. The product's own analysis calls those on the
stored matrix instead, so that nothing has to be remembered between runs. Traffic has no place here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.stats.detector import LevelChange, alarm_threshold, level_floor_sd, level_since
from evaluator.stats.evidence import (
    DEFAULT_SETTINGS,
    MIN_REFERENCE_RUNS,
    ChangeDate,
    DetectorSettings,
    EvidenceStream,
    from_log,
)
from evaluator.stats.numeric import FloatArray, as_scores, mean_of_present
from evaluator.stats.paired import enough_anchors, normalise, run_shifts, units_per_point


@dataclass(frozen=True, kw_only=True)
class StreamKind:
    """A way in which a judge can move, and the number per run that shows it.

    Attributes:
        kind: Its name in the monitor's state.
        weight: Its share in the combined evidence; the shares sum to 1.
        statistic: From the differences to the baseline and the baseline means, both of shape (K,), nan where an
            anchor is missing, to the run's value.
        floor_sd: From the baseline means to the least spread of that value.
    """

    kind: str
    weight: float
    statistic: Callable[[FloatArray, FloatArray], float]
    floor_sd: Callable[[FloatArray], float]


def _mean_shift(differences: FloatArray, _anchor_means: FloatArray) -> float:
    mean, _ = mean_of_present(differences, axis=0)
    return float(mean)


def _mean_shift_floor(anchor_means: FloatArray) -> float:
    return level_floor_sd(int((~np.isnan(anchor_means)).sum()))


STREAM_KINDS = (StreamKind(kind="level", weight=1.0, statistic=_mean_shift, floor_sd=_mean_shift_floor),)


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
        kind: How the judge moved ("level"); None without alarm.
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
    kind: str | None
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


@dataclass(frozen=True, kw_only=True)
class _Alarm:
    run: int
    stream: int
    n_values: int
    autocorrelation: float


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
        self._alarm: _Alarm | None = None
        self._evidence = 0.0
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
        if self._streams is None:
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
        rows = self._baseline[shifts.counted]
        self._n_reference = len(rows)
        self._shifts = [float(value) for value in shifts.shift[shifts.counted]]
        self._streams: tuple[EvidenceStream, ...] | None = None
        if len(rows) < MIN_REFERENCE_RUNS:
            return
        self._streams = tuple(
            EvidenceStream(
                [kind.statistic(row - self._anchor_means, self._anchor_means) for row in rows],
                floor_sd=kind.floor_sd(self._anchor_means),
                settings=self._settings,
            )
            for kind in STREAM_KINDS
        )

    def _watch(self, row: FloatArray) -> None:
        streams = self._streams or ()
        differences = row - self._anchor_means
        self._counted_runs.append(self._run)
        self._shifts.append(_mean_shift(differences, self._anchor_means))
        shares = [
            kind.weight * from_log(stream.update(kind.statistic(differences, self._anchor_means)))
            for kind, stream in zip(STREAM_KINDS, streams, strict=True)
        ]
        self._evidence = sum(shares)
        if self._alarm is None and self._evidence >= self._threshold:
            leading = int(np.argmax(shares))
            stream = streams[leading]
            self._alarm = _Alarm(
                run=self._run, stream=leading, n_values=stream.n, autocorrelation=stream.autocorrelation
            )

    def _date(self) -> ChangeDate | None:
        """Date of the change in counted values, reference included."""
        if self._alarm is None or self._streams is None:
            return None
        stream = self._streams[self._alarm.stream]
        return stream.change_date(self._alarm.n_values, self._alarm.autocorrelation)

    def _level_change(self, date: ChangeDate | None) -> LevelChange:
        start = self._n_reference if date is None else date.index
        floor_sd = _mean_shift_floor(self._anchor_means)
        return level_since(self._shifts, start, floor_sd=floor_sd, level=self._level, settings=self._settings)

    def _as_run(self, index: int) -> int:
        return self._counted_runs[index - self._n_reference]

    def _describe(self, raw: FloatArray | None, *, counted: bool) -> MonitorState:
        date = self._date()
        change = self._level_change(date)
        unit = units_per_point(self._scale)
        differences = np.full(1, np.nan) if raw is None else normalise(raw, self._scale) - self._anchor_means
        n_anchors = int((~np.isnan(differences)).sum())
        return MonitorState(
            run=self._run,
            counted=counted,
            n_anchors=n_anchors,
            learning=self._streams is None,
            n_reference=self._n_reference,
            evidence=self._evidence,
            threshold=self._threshold,
            alarm=self._alarm is not None,
            alarm_run=None if self._alarm is None else self._alarm.run,
            kind=None if self._alarm is None else STREAM_KINDS[self._alarm.stream].kind,
            estimate=_scaled(change.estimate, unit),
            low=_scaled(change.low, unit),
            high=_scaled(change.high, unit),
            level=change.level,
            method=change.method,
            change_run=None if date is None else self._as_run(date.index),
            change_low=None if date is None else self._as_run(date.low),
            change_high=None if date is None else self._as_run(date.high),
            today=_scaled(_mean_shift(differences, self._anchor_means), unit) if n_anchors else None,
            outlier=counted and any(stream.last_was_clipped for stream in self._streams or ()),
            error_against_expected=self._error(raw),
        )

    def _error(self, raw: FloatArray | None) -> float | None:
        if raw is None or self._expected is None:
            return None
        mean, n = mean_of_present(raw - self._expected, axis=0)
        return float(mean) if int(n) else None


def _scaled(value: float | None, unit: float) -> float | None:
    return None if value is None else value * unit
