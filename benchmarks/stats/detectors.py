"""Our monitor and the rules it is compared with, behind one face: a baseline first, then run by run, alarm or not.

Rules are as textbooks or dashboards state them, with their usual constants; none is tuned to the simulator. What comes
from other packages is ``libraries``'.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from scipy.special import kolmogorov, stdtrit

from benchmarks.stats.limits import RUNS_PER_YEAR
from benchmarks.stats.simulator import FloatArray
from evaluator.analysis.settings import JUDGE_WEIGHT
from evaluator.stats.detector import BASELINE_RUNS, alarm_threshold
from evaluator.stats.judge_evidence import EvidenceChange, JudgeEvidence
from evaluator.stats.paired import enough_anchors, run_shifts
from evaluator.stats.streams import STREAMS, anchor_reference, run_statistics, stream_floors

LEAST_SCORES = 3
LEAST_SD = 1e-9
SCORES = np.arange(1.0, 6.0)


class Detector(Protocol):
    """One rule. ``n_baseline`` runs come first; ``is_slow`` ones are shown a quarter of the streams."""

    name: str
    n_baseline: int
    is_slow: bool

    def start(self, baseline: FloatArray) -> None:
        """Forget everything and learn the baseline, shape (B, K), nan where a score is missing."""

    def update(self, scores: FloatArray) -> bool:
        """Take in a run, shape (K,); whether it alarms."""


class Rule:
    """What most rules have in common: twenty runs of baseline, and quick."""

    name = ""
    n_baseline = BASELINE_RUNS
    is_slow = False


class Monitor(Rule):
    """Our monitor by its parts: what ``JudgeMonitor`` does for the alarm, without describing each run.

    Args:
        name: As the tables show it.
        weight: Share of the yearly budget of one false alarm.
        n_baseline: Runs of baseline.
    """

    def __init__(self, name: str = "**judgewatch**", *, weight: float = 1.0, n_baseline: int = BASELINE_RUNS) -> None:
        self.name, self.n_baseline = name, n_baseline
        self._threshold = alarm_threshold(runs_per_year=RUNS_PER_YEAR, false_alarms_per_year=1.0, weight=weight)

    def start(self, baseline: FloatArray) -> None:
        """Freeze the baseline and begin to watch."""
        shifts = run_shifts(baseline, slice(None))
        scores, means = baseline[shifts.counted], shifts.anchor_mean
        self._n_anchors = int((~np.isnan(means)).sum())
        self._reference = anchor_reference(scores, means)
        used = np.ones(len(scores), dtype=np.bool_)
        self._judge = JudgeEvidence(
            run_statistics(scores, self._reference, in_baseline=used, counted=used),
            scores,
            floors=stream_floors(means),
            most_learned=max(BASELINE_RUNS, len(scores)),
        )
        self._rows: list[int] = [-1] * len(scores)
        self._row = -1

    def update(self, scores: FloatArray) -> bool:
        """Take in a run that counts."""
        self._row += 1
        graded = int((~np.isnan(scores - self._reference.mean)).sum())
        if not enough_anchors(graded, self._n_anchors):
            return False
        one = np.ones(1, dtype=np.bool_)
        numbers = run_statistics(scores[None, :], self._reference, in_baseline=~one, counted=one)
        self._rows.append(self._row)
        evidence = self._judge.update({name: float(numbers.stream(name)[0]) for name in STREAMS}, scores)
        return evidence >= self._threshold

    @property
    def judge(self) -> JudgeEvidence:
        """The evidence, for those who want to date its alarm."""
        return self._judge

    def as_rows(self, change: EvidenceChange) -> tuple[int, int, int]:
        """Date and the ends of its set as rows since the start, from 0."""
        return self._rows[change.index], self._rows[change.low], self._rows[change.high]


def mean_of(scores: FloatArray) -> float | None:
    """Mean of a run's scores; None if too few are there."""
    known = scores[~np.isnan(scores)]
    return float(known.mean()) if len(known) >= LEAST_SCORES else None


class FirstMean(Rule):
    """Compares each run's mean with the first one's."""

    name = "last mean - first mean > 0.3"
    limit = 0.3

    def start(self, baseline: FloatArray) -> None:
        """Keep the mean of the first run that has one."""
        self._first = next(mean for mean in map(mean_of, baseline) if mean is not None)

    def update(self, scores: FloatArray) -> bool:
        """Compare the run with it."""
        mean = mean_of(scores)
        return mean is not None and abs(mean - self._first) > self.limit


class PairedT(Rule):
    """A t test over the anchors' differences from their baseline means, anew every day."""

    name = "daily paired t test, 95 %"

    def start(self, baseline: FloatArray) -> None:
        """Keep the anchors' means."""
        self._means = np.nanmean(baseline, axis=0)

    def update(self, scores: FloatArray) -> bool:
        """Test the run on its own."""
        differences = scores - self._means
        known = differences[~np.isnan(differences)]
        if len(known) < LEAST_SCORES:
            return False
        error = max(float(known.std(ddof=1)) / math.sqrt(len(known)), LEAST_SD)
        return bool(abs(float(known.mean())) / error > stdtrit(len(known) - 1, 0.975))


class MeanChart(Rule):
    """A control chart of the run means, standardised by mean and spread of the baseline's."""

    def start(self, baseline: FloatArray) -> None:
        """Take the baseline's mean and spread for the truth."""
        means = np.array([mean for mean in map(mean_of, baseline) if mean is not None])
        self._mean, self._sd = float(means.mean()), max(float(means.std(ddof=1)), LEAST_SD)
        self.reset()

    def update(self, scores: FloatArray) -> bool:
        """Standardise the run's mean and chart it."""
        mean = mean_of(scores)
        return mean is not None and self.chart((mean - self._mean) / self._sd)

    def reset(self) -> None:
        """Forget the runs charted so far."""

    def chart(self, value: float) -> bool:
        """Whether this value, with those before it, is out of control."""
        raise NotImplementedError


class Shewhart(MeanChart):
    """Three standard deviations."""

    name = "Shewhart, 3 sigma"

    def chart(self, value: float) -> bool:
        """Look at this run alone."""
        return abs(value) > 3.0


class Ewma(MeanChart):
    """Exponentially weighted mean with exact limits for the first runs; 370 runs between alarms by the textbook."""

    name = "EWMA 0.2, L = 2.86"
    weight, limit = 0.2, 2.86

    def reset(self) -> None:
        """Begin at the baseline's mean."""
        self._smoothed, self._n = 0.0, 0

    def chart(self, value: float) -> bool:
        """Smooth and compare."""
        self._n += 1
        self._smoothed += self.weight * (value - self._smoothed)
        variance = self.weight / (2 - self.weight) * (1 - (1 - self.weight) ** (2 * self._n))
        return abs(self._smoothed) > self.limit * math.sqrt(variance)


class Cusum(MeanChart):
    """Two-sided sums with the textbook's constants for 370 runs between alarms."""

    name = "CUSUM 0.5, h = 4.77"
    slack, limit = 0.5, 4.77

    def reset(self) -> None:
        """Begin at zero."""
        self._up = self._down = 0.0

    def chart(self, value: float) -> bool:
        """Add up and compare."""
        self._up = max(0.0, self._up + value - self.slack)
        self._down = max(0.0, self._down - value - self.slack)
        return max(self._up, self._down) > self.limit


class SharesRule(Rule):
    """Compares how often each score was given with all of the baseline's scores pooled."""

    def start(self, baseline: FloatArray) -> None:
        """Pool the baseline."""
        self._before, self._n_before = _shares(baseline)

    def update(self, scores: FloatArray) -> bool:
        """Compare the run with it."""
        now, n = _shares(scores)
        return n >= LEAST_SCORES and self.differs(now, n)

    def differs(self, now: FloatArray, n: int) -> bool:
        """Whether the shares of a run of n scores are too far off."""
        raise NotImplementedError


class StabilityIndex(SharesRule):
    """Population stability index with the customary first limit."""

    name = "PSI > 0.1"

    def differs(self, now: FloatArray, n: int) -> bool:  # noqa: ARG002  (the index knows no number of scores)
        """Index over the five scores."""
        before, after = np.maximum(self._before, 1e-4), np.maximum(now, 1e-4)
        return float(((after - before) * np.log(after / before)).sum()) > 0.1


class Kolmogorov(SharesRule):
    """Two-sample test of Kolmogorov and Smirnov, asymptotic, at 5 %."""

    name = "KS test, p < 0.05"

    def differs(self, now: FloatArray, n: int) -> bool:
        """Largest distance of the two distributions."""
        distance = float(np.abs(np.cumsum(now) - np.cumsum(self._before)).max())
        size = n * self._n_before / (n + self._n_before)
        return bool(kolmogorov(distance * math.sqrt(size)) < 0.05)


def _shares(scores: FloatArray) -> tuple[FloatArray, int]:
    known = scores[~np.isnan(scores)].astype(np.int64)
    counts = np.bincount(known, minlength=6)[1:6]
    return counts / max(len(known), 1), len(known)


def own_detectors() -> list[Detector]:
    """Our monitor, alone and with the share of the budget that the product's analysis gives to the judge."""
    return [
        Monitor(),
        Monitor(f"**judgewatch**, {JUDGE_WEIGHT:g} of the budget", weight=JUDGE_WEIGHT),
    ]


def rules() -> list[Detector]:
    """Rules that need no package."""
    return [FirstMean(), PairedT(), Shewhart(), Ewma(), Cusum(), StabilityIndex(), Kolmogorov()]
