"""The evidence that a judge changed, in whichever way: four streams of a run's numbers, averaged.

An average of e-detectors is an e-detector, so one threshold serves them all and nothing has to be calibrated. The
stream with most of the evidence tells in which way the judge changed and dates the change. What to call it, and
whether it matters, is ``kinds``'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.stats.anchor_flips import AnchorFlips
from evaluator.stats.detector import BASELINE_RUNS
from evaluator.stats.evidence import (
    DEFAULT_SETTINGS,
    MIN_REFERENCE_RUNS,
    DetectorSettings,
    EvidenceStream,
    from_log,
)
from evaluator.stats.numeric import BoolArray, FloatArray
from evaluator.stats.streams import STREAMS, RunStatistics

ANCHOR = "anchor"
# shares of the average; chosen on simulated streams (docs/statistics.md), they add up to 1
WEIGHTS = {"level": 0.5, "slope": 0.2, "spread": 0.15, ANCHOR: 0.15}


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """What is remembered of the moment an alarm fired.

    Attributes:
        stream: The stream with most of the evidence.
        n: Counted runs seen, reference included.
        autocorrelation: Of that stream at that moment.
        evidence: Combined evidence.
        anchor: Column of the anchor with most evidence of its own.
    """

    stream: str
    n: int
    autocorrelation: float
    evidence: float
    anchor: int


@dataclass(frozen=True, kw_only=True)
class EvidenceChange:
    """When the judge changed: places among the counted runs, reference included.

    Attributes:
        stream: The stream that dates it.
        index: First run after the change.
        low: First run of the 95 % set.
        high: Last run of it.
        anchor: Column of the anchor that broke; None for the other streams.
    """

    stream: str
    index: int
    low: int
    high: int
    anchor: int | None


class JudgeEvidence:
    """The four streams of one judge setup, one counted run at a time.

    Args:
        reference: Numbers of the counted reference runs, at least ten, none nan.
        reference_scores: The anchors' scores of those runs, shape (B, K), nan where missing.
        floors: Least spread of each stream, from ``streams.stream_floors``.
        most_learned: Counted runs that an anchor's usual score is learned from at once.
        settings: Constants of the method.

    Raises:
        ValueError: too short a reference, or one with a number missing.
    """

    def __init__(
        self,
        reference: RunStatistics,
        reference_scores: npt.ArrayLike,
        *,
        floors: dict[str, float],
        most_learned: int = BASELINE_RUNS,
        settings: DetectorSettings = DEFAULT_SETTINGS,
    ) -> None:
        self._n_reference = len(reference)
        self._streams = {
            name: EvidenceStream(reference.stream(name), floor_sd=floors[name], settings=settings) for name in STREAMS
        }
        self._flips = AnchorFlips(reference_scores, most_learned=most_learned)
        self.n = self._n_reference
        self.parts = dict.fromkeys(WEIGHTS, 0.0)

    @property
    def value(self) -> float:
        """Combined evidence after the last run; 0 before any."""
        return sum(self.parts.values())

    @property
    def leading(self) -> str:
        """The stream with most of the evidence."""
        return max(self.parts, key=lambda name: self.parts[name])

    @property
    def last_was_clipped(self) -> bool:
        """Whether the last run is far off its stream, waiting for a second such run."""
        return any(stream.last_was_clipped for stream in self._streams.values())

    def update(self, numbers: dict[str, float], scores: npt.ArrayLike) -> float:
        """Take in the next counted run; returns the combined evidence after it.

        Args:
            numbers: The run's number for each of ``STREAMS``.
            scores: Its anchors' scores, shape (K,), nan where missing.
        """
        for name, stream in self._streams.items():
            self.parts[name] = WEIGHTS[name] * from_log(stream.update(numbers[name]))
        self.parts[ANCHOR] = WEIGHTS[ANCHOR] * self._flips.update(scores)
        self.n += 1
        return self.value

    def take_in(self, numbers: dict[str, float]) -> None:
        """Take in a run after the alarm without weighing the evidence: what the date alone needs."""
        for name, stream in self._streams.items():
            stream.take_in(numbers[name])
        self.n += 1

    def alarm(self) -> Alarm:
        """What is to be remembered if the alarm fires now."""
        name = self.leading
        stream = self._streams.get(name)
        rho = 0.0 if stream is None else stream.autocorrelation
        return Alarm(
            stream=name, n=self.n, autocorrelation=rho, evidence=self.value, anchor=self._flips.leading
        )  # fmt: skip

    def change(self, alarm: Alarm) -> EvidenceChange:
        """Date the change behind an alarm, by all runs up to now."""
        if alarm.stream == ANCHOR:
            first = self._n_reference
            left = self._flips.change_of(alarm.anchor, alarm.n - first)
            return EvidenceChange(
                stream=ANCHOR,
                index=first + left.index,
                low=first + left.low,
                high=first + left.high,
                anchor=left.anchor,
            )
        date = self._streams[alarm.stream].change_date(alarm.n, alarm.autocorrelation)
        return EvidenceChange(stream=alarm.stream, index=date.index, low=date.low, high=date.high, anchor=None)


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgeDetection:
    """What ``detect_judge`` saw. Rows are those of the history as given.

    Attributes:
        learning: Too few counted runs: nothing can alarm yet.
        n_counted: Counted runs from the first one watched.
        evidence: Combined evidence after each run, shape (R,); nan before the watch, in its reference, and for runs
            that do not count.
        outlier: Runs far off, waiting for a second one, shape (R,).
        alarm_row: Where the alarm fired first; None without alarm.
        alarm_evidence: Evidence at that moment; None without alarm.
        stream: The stream that leads; None without alarm.
        row: First run after the change; None without alarm.
        first_row: First run of the 95 % set of the date.
        last_row: Last run of that set.
        anchor: Column of the anchor that broke; None otherwise.
        parts: Evidence of each stream after the last run, weighted; they add up to the combined one.
    """

    learning: bool
    n_counted: int
    evidence: FloatArray
    outlier: BoolArray
    alarm_row: int | None = None
    alarm_evidence: float | None = None
    stream: str | None = None
    row: int | None = None
    first_row: int | None = None
    last_row: int | None = None
    anchor: int | None = None
    parts: dict[str, float] | None = None


def detect_judge(
    numbers: RunStatistics,
    scores: npt.ArrayLike,
    *,
    threshold: float,
    floors: dict[str, float],
    start: int = 0,
    n_reference: int = MIN_REFERENCE_RUNS,
    weighed_after_alarm: int | None = None,
    settings: DetectorSettings = DEFAULT_SETTINGS,
) -> JudgeDetection:
    """Replay a history from a row on and find its first change.

    Args:
        numbers: The runs' numbers, from ``streams.run_statistics``.
        scores: The anchors' scores, shape (R, K), nan where missing.
        threshold: Evidence that fires the alarm, from ``detector.alarm_threshold``.
        floors: From ``streams.stream_floors``.
        start: First row that is looked at.
        n_reference: Counted runs before which no change is looked for, at least 10.
        weighed_after_alarm: Counted runs after the alarm that have evidence, for a history that is watched anew from
            its change on anyway; all by default. The date of the change is by all runs either way.
        settings: Constants of the method.

    Raises:
        ValueError: n_reference under 10, or a threshold that is not positive.
    """
    if n_reference < MIN_REFERENCE_RUNS:
        raise ValueError(f"n_reference must be at least {MIN_REFERENCE_RUNS}, got {n_reference!r}")
    if not (threshold > 0 and math.isfinite(threshold)):
        raise ValueError(f"threshold must be positive and finite, got {threshold!r}")
    matrix = np.asarray(scores, dtype=np.float64)
    rows = np.flatnonzero(~np.isnan(numbers.level))
    rows = rows[rows >= start]
    evidence, outlier = np.full(len(numbers), np.nan), np.zeros(len(numbers), dtype=np.bool_)
    if len(rows) < n_reference:
        return JudgeDetection(learning=True, n_counted=len(rows), evidence=evidence, outlier=outlier)
    judge = JudgeEvidence(
        _taken(numbers, rows[:n_reference]),
        matrix[rows[:n_reference]],
        floors=floors,
        most_learned=max(BASELINE_RUNS, n_reference),
        settings=settings,
    )
    alarm: Alarm | None = None
    alarm_row: int | None = None
    for row in rows[n_reference:]:
        values = {name: float(numbers.stream(name)[row]) for name in STREAMS}
        if alarm is not None and weighed_after_alarm is not None and judge.n >= alarm.n + weighed_after_alarm:
            judge.take_in(values)
            continue
        evidence[row] = judge.update(values, matrix[row])
        outlier[row] = judge.last_was_clipped
        if alarm is None and evidence[row] >= threshold:
            alarm, alarm_row = judge.alarm(), int(row)
    if alarm is None:
        return JudgeDetection(
            learning=False, n_counted=len(rows), evidence=evidence, outlier=outlier, parts=dict(judge.parts)
        )
    change = judge.change(alarm)
    return JudgeDetection(
        learning=False,
        n_counted=len(rows),
        evidence=evidence,
        outlier=outlier,
        alarm_row=alarm_row,
        alarm_evidence=alarm.evidence,
        stream=alarm.stream,
        row=int(rows[change.index]),
        first_row=int(rows[change.low]),
        last_row=int(rows[change.high]),
        anchor=change.anchor,
        parts=dict(judge.parts),
    )


def _taken(numbers: RunStatistics, rows: npt.NDArray[np.int64]) -> RunStatistics:
    return RunStatistics(level=numbers.level[rows], slope=numbers.slope[rows], spread=numbers.spread[rows])
