"""Detectors of other packages, with their defaults, on the mean of each run; those that are not installed are left out.

``make bench-stats`` installs them. They are compared with and never used by the product.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.stats.detectors import Detector, Rule, mean_of
from benchmarks.stats.limits import RUNS_PER_YEAR
from benchmarks.stats.simulator import FloatArray

CHARTS = ("ewma", "cusum")
CALIPER_BASELINE = 100  # it refuses fewer
MOVING_RANGE = 2 / math.sqrt(math.pi)  # mean absolute difference of two values of standard deviation 1


class River(Rule):
    """A detector of river, which learns its reference by itself: the baseline is fed first."""

    def __init__(self, make: Callable[[], Any], name: str, *, is_slow: bool = False) -> None:
        self.name, self.is_slow = name, is_slow
        self._make = make

    def start(self, baseline: FloatArray) -> None:
        """A new detector that has seen the baseline."""
        self._detector = self._make()
        for scores in baseline:
            self.update(scores)

    def update(self, scores: FloatArray) -> bool:
        """Feed the run's mean."""
        mean = mean_of(scores)
        if mean is None:
            return False
        self._detector.update(mean)
        return bool(self._detector.drift_detected)


class _GivenScores:
    """A judge for drift-caliper that says what it was told to."""

    def __init__(self, package: Any) -> None:
        self._response = package.JudgeProviderResponse
        self.next = 0.0

    def score(self, **_asked: object) -> Any:
        """The score that was given last."""
        return self._response(score=self.next, reasoning="given")


class Caliper(Rule):
    """A chart of drift-caliper for one false alarm a year, with the hundred runs of baseline that it demands.

    Solving for the limits takes seconds and gives the same multiple of the spread for every baseline. So the package
    solves once, and each baseline's mean and spread (of moving ranges, as the package estimates it) are put into that
    solution; watching is the package's own.
    """

    n_baseline = CALIPER_BASELINE
    is_slow = True

    def __init__(self, chart: str) -> None:
        self._package = importlib.import_module("drift_caliper")
        self.name = f"drift-caliper {chart}, B = {CALIPER_BASELINE}"
        self._given = _GivenScores(self._package)
        self._judge = self._package.Judge.create(model_version="m", provider=self._given, criteria="c")
        self._solved = self._solve(chart)

    def start(self, baseline: FloatArray) -> None:
        """Limits of this baseline, and a new monitor with them."""
        means = np.array([mean for mean in map(mean_of, baseline) if mean is not None])
        self._monitor = self._package.Monitor(self.fit(means), receivers=[])

    def update(self, scores: FloatArray) -> bool:
        """Record the run's mean."""
        mean = mean_of(scores)
        return mean is not None and not self._monitor.record(self._said(mean)).is_in_control

    def fit(self, means: FloatArray) -> Any:
        """The package's limits for these run means."""
        solved, centre = self._solved, float(means.mean())
        sd = float(np.abs(np.diff(means)).mean()) / MOVING_RANGE
        moved = {"baseline_mean": centre, "sigma_estimate": sd}
        if solved.chart_type == "cusum":
            moved["target_value"] = centre
        else:
            half_width = (solved.ucl - solved.cl) / solved.sigma_estimate * sd
            moved |= {"cl": centre, "ucl": centre + half_width, "lcl": centre - half_width}
        return solved.model_copy(update=moved)

    def _solve(self, chart: str) -> Any:
        baseline = self._package.Baseline()
        for value in np.random.default_rng(0).normal(3.0, 0.04, CALIPER_BASELINE):
            baseline.record(self._said(float(value)))
        return getattr(self._package, f"fit_{chart}")(baseline, target_arl=float(RUNS_PER_YEAR))

    def _said(self, value: float) -> Any:
        self._given.next = value
        return self._judge.score("x")


def library_detectors() -> list[Detector]:
    """Those whose package is installed."""
    found: list[Detector] = []
    if find_spec("river") is not None:
        drift = importlib.import_module("river.drift")
        found += [
            River(drift.ADWIN, "river ADWIN"),
            River(drift.PageHinkley, "river PageHinkley"),
            River(lambda: drift.KSWIN(seed=1), "river KSWIN", is_slow=True),
        ]
    if find_spec("drift_caliper") is not None:
        found += [Caliper(chart) for chart in CHARTS]
    return found


def versions() -> str:
    """Which packages are compared with, or what to do when there are none."""
    names = {"river": "river", "drift-caliper": "drift_caliper"}
    there = [f"{name} {version(name)}" for name, module in names.items() if find_spec(module) is not None]
    missing = [name for name, module in names.items() if find_spec(module) is None]
    said = [", ".join(there)] if there else []
    if missing:
        said.append(f"not installed, so left out: {', '.join(missing)} (make bench-stats installs them)")
    return "; ".join(said)
