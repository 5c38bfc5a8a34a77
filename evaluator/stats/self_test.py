"""Does the alarm keep its promise on this judge? Quiet history is dealt anew, and false alarms are counted.

Whole runs are drawn in blocks of seven, so that what one day does to all anchors, and what neighbouring days have in
common, stays as it was. A history with a trend in it is refused: dealing it anew would hide just what spoils it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.stats.anchor_health import TREND_LEVEL, baseline_trend
from evaluator.stats.detector import BASELINE_RUNS
from evaluator.stats.monitor import JudgeMonitor
from evaluator.stats.numeric import FloatArray, as_scores, mean_of_present
from evaluator.stats.paired import enough_anchors

BLOCK_RUNS = 7
FEWEST_RUNS = 30
MOST_DELAY = 60


@dataclass(frozen=True, kw_only=True)
class SelfTest:
    """What became of the promise on histories dealt anew.

    Attributes:
        passed: Whether false alarms stay under the promise, within two standard errors; None when it cannot be told.
        reason: Why it cannot be told or is not passed; "" when it is passed.
        n_runs: Quiet runs that were dealt anew.
        n_years: Years that were watched.
        false_alarms: Alarms in them.
        per_year: Alarms a year.
        per_year_se: Its standard error, between years.
        promised: What was promised a year.
        change: The change that was put in for the second half of the test, in the units given.
        n_changes: How often it was put in.
        n_found: How often an alarm followed within 60 runs.
        median_delay: Runs from the change to its alarm; None when under half were found.
        trend_per_run: Slope over the quiet runs; None with too few.
        trend_p: Its p-value.
    """

    passed: bool | None
    reason: str
    n_runs: int
    n_years: int = 0
    false_alarms: int = 0
    per_year: float | None = None
    per_year_se: float | None = None
    promised: float = 1.0
    change: float = 0.0
    n_changes: int = 0
    n_found: int = 0
    median_delay: float | None = None
    trend_per_run: float | None = None
    trend_p: float | None = None


def self_test(
    quiet: npt.ArrayLike,
    *,
    scale: tuple[float, float] = (1.0, 5.0),
    false_alarms_per_year: float = 1.0,
    runs_per_year: float = 365.0,
    smallest_change: float = 0.1,
    n_years: int = 20,
    seed: int = 0,
) -> SelfTest:
    """Deal quiet runs anew, watch them as years, count alarms; then put the smallest change in and time its alarm.

    Args:
        quiet: Anchor scores of runs in which nothing is known to have changed, shape (R, K), rubric units, nan where
            missing; runs that do not count are left out.
        scale: Lowest and highest score of the rubric.
        false_alarms_per_year: What was promised.
        runs_per_year: Runs in a year.
        smallest_change: The change that matters to the user, in rubric units, > 0.
        n_years: Years to watch, at least 2.
        seed: Of the dealing.

    Raises:
        ValueError: not runs by anchors, fewer than two years, or settings out of range.
    Source: block bootstrap in its circular form, Politis and Romano, A circular block-resampling procedure, 1992.
    """
    matrix = as_scores(quiet)
    if matrix.ndim != 2:
        raise ValueError(f"quiet must be runs by anchors, got shape {matrix.shape}")
    if n_years < 2 or not smallest_change > 0:
        raise ValueError(
            f"n_years must be at least 2 and smallest_change positive, got {n_years!r}, {smallest_change!r}"
        )
    known = ~np.isnan(matrix)
    matrix = matrix[enough_anchors(known.sum(axis=1), known.any(axis=0).sum())]
    slope, p = baseline_trend(matrix) if len(matrix) else (None, None)
    if len(matrix) < FEWEST_RUNS:
        reason = f"{len(matrix)} quiet runs; the test needs {FEWEST_RUNS}"
        return SelfTest(passed=None, reason=reason, n_runs=len(matrix), trend_per_run=slope, trend_p=p)
    if p is None or p < TREND_LEVEL:
        reason = "the runs themselves have a trend: they are no quiet history"
        return SelfTest(passed=False, reason=reason, n_runs=len(matrix), trend_per_run=slope, trend_p=p)
    watch = _Watch(scale=scale, false_alarms_per_year=false_alarms_per_year, runs_per_year=runs_per_year)
    rng = np.random.default_rng(seed)
    runs_a_year = max(round(runs_per_year), 1)
    by_year = [watch.alarms(_dealt(matrix, BASELINE_RUNS + runs_a_year, rng)) for _ in range(n_years)]
    per_year = float(np.mean(by_year)) * runs_per_year / runs_a_year
    se = float(np.std(by_year, ddof=1)) / math.sqrt(n_years)
    # no alarm in so many years is no proof of none a year: Poisson's spread is the least that is believed
    se = max(se, math.sqrt(max(false_alarms_per_year, per_year) / n_years) if sum(by_year) == 0 else se)
    delays = [
        watch.delay(_dealt(matrix, 2 * BASELINE_RUNS, rng), matrix, smallest_change, rng) for _ in range(2 * n_years)
    ]
    found = [delay for delay in delays if delay is not None]
    passed = per_year - 2 * se <= false_alarms_per_year
    return SelfTest(
        passed=passed,
        reason="" if passed else "more false alarms than promised on this judge's own runs",
        n_runs=len(matrix),
        n_years=n_years,
        false_alarms=int(sum(by_year)),
        per_year=per_year,
        per_year_se=se,
        promised=false_alarms_per_year,
        change=smallest_change,
        n_changes=len(delays),
        n_found=len(found),
        median_delay=_median_of_all(delays),
        trend_per_run=slope,
        trend_p=p,
    )


@dataclass(frozen=True, kw_only=True)
class _Watch:
    scale: tuple[float, float]
    false_alarms_per_year: float
    runs_per_year: float

    def start(self, baseline: FloatArray) -> JudgeMonitor:
        return JudgeMonitor(
            baseline,
            scale=self.scale,
            false_alarms_per_year=self.false_alarms_per_year,
            runs_per_year=self.runs_per_year,
        )

    def alarms(self, runs: FloatArray) -> int:
        """Alarms in a history whose first runs are the baseline; the watch begins anew after each."""
        baseline, found = runs[:BASELINE_RUNS], 0
        monitor = self.start(baseline)
        for scores in runs[BASELINE_RUNS:]:
            if monitor.update(scores).alarm:
                found += 1
                monitor = self.start(baseline)
        return found

    def delay(self, runs: FloatArray, quiet: FloatArray, change: float, rng: np.random.Generator) -> int | None:
        """Runs from a change put in after ``runs`` to its alarm; None when there is none, or one came before."""
        monitor = self.start(runs[:BASELINE_RUNS])
        if any(monitor.update(scores).alarm for scores in runs[BASELINE_RUNS:]):
            return None
        changed = _shifted(_dealt(quiet, MOST_DELAY, rng), change, self.scale, rng)
        for number, scores in enumerate(changed, start=1):
            if monitor.update(scores).alarm:
                return number
        return None


def _dealt(matrix: FloatArray, n_runs: int, rng: np.random.Generator) -> FloatArray:
    """A history of n_runs in blocks of neighbouring runs, centred: every block start is equally likely."""
    n_blocks = math.ceil(n_runs / BLOCK_RUNS)
    starts = rng.integers(0, len(matrix), n_blocks)
    rows = (starts[:, None] + np.arange(BLOCK_RUNS)[None, :]).ravel() % len(matrix)
    return np.asarray(matrix[rows[:n_runs]], dtype=np.float64)


def _shifted(runs: FloatArray, change: float, scale: tuple[float, float], rng: np.random.Generator) -> FloatArray:
    """Runs of a judge whose mean moved by ``change``: some anchors move a whole level, as a real judge moves them.

    Which ones is drawn once, as many as it takes for the mean to move by at least ``change``. Anchors that stand at
    the end of the scale cannot move, so more of the others do.
    """
    step = float(np.sign(change)) * (scale[1] - scale[0]) / 4
    mean, _ = mean_of_present(runs, axis=0)
    moved = np.clip(runs + step, *scale) - runs
    gain = np.where(np.isnan(mean), 0.0, np.nan_to_num(np.nanmean(np.where(np.isnan(runs), 0.0, moved), axis=0)))
    order = rng.permutation(len(mean))
    reached = np.cumsum(np.abs(gain[order]))
    n_moved = int(np.searchsorted(reached, abs(change) * len(mean))) + 1
    shifted = runs.copy()
    chosen = order[:n_moved]
    shifted[:, chosen] += np.nan_to_num(moved[:, chosen])
    return shifted


def _median_of_all(delays: list[int | None]) -> float | None:
    """Median with those not found as the longest; None when it is one of them."""
    longest = [math.inf if delay is None else float(delay) for delay in delays]
    median = float(np.median(longest))
    return median if math.isfinite(median) else None
