"""Whether a set of anchors can do its work: which levels it covers, and which anchors cannot show a move.

Describes the set from the runs in which the judge did not change. Advice in words is for those who show it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.stats.numeric import BoolArray, FloatArray, IntArray, as_scores, t_two_sided_p
from evaluator.stats.paired import MIN_ANCHORS, enough_anchors, normalise
from evaluator.stats.reliability import item_noise

RESTLESS_FLIP_RATE = 0.3
ANCHORS_PER_LEVEL = 5
LEVELS = (1.0, 2.0, 3.0, 4.0, 5.0)  # of the 1..5 equivalents
DEAD_SHARE = 0.5  # of the runs without a score
PINNED = 0.02  # from an end of the scale: always there, to the digit
FEW_RUNS = 3
TREND_LEVEL = 0.01


@dataclass(frozen=True, kw_only=True, eq=False)
class AnchorHealth:
    """What a set of anchors can show. Masks and arrays have one entry per anchor, shape (K,).

    Attributes:
        n_runs: Runs looked at.
        mean: Each anchor's mean score, in the units given; nan without a score.
        flip_rate: Share of its scores that are not its usual one; nan without a score.
        noise_sd: Spread of its scores, in the units given; nan under two.
        n_scores: Scores it has.
        is_dead: Without a score in most of the runs.
        is_restless: Off its usual score in more than 30 % of the runs.
        at_ceiling: Always at the highest score: it cannot show a judge that grows generous.
        at_floor: Always at the lowest score: it cannot show one that grows strict.
        per_level: Anchors nearest to each fifth of the scale, low to high, shape (5,).
        thin_levels: Numbers of the fifths (0 is the lowest) with fewer than five anchors.
        trend_per_run: Slope of the runs' mean shift over the runs, in the units given; None with fewer than three.
        trend_p: Its two-sided p-value, Student t; None where there is no slope.
        has_trend: The p-value is under 1 %: these runs are no norm.
    """

    n_runs: int
    mean: FloatArray
    flip_rate: FloatArray
    noise_sd: FloatArray
    n_scores: IntArray
    is_dead: BoolArray
    is_restless: BoolArray
    at_ceiling: BoolArray
    at_floor: BoolArray
    per_level: IntArray
    thin_levels: tuple[int, ...]
    trend_per_run: float | None
    trend_p: float | None
    has_trend: bool

    @property
    def n_usable(self) -> int:
        """Anchors that get scores."""
        return int((~self.is_dead).sum())

    @property
    def is_enough(self) -> bool:
        """Whether a run can count at all: at least ten anchors get scores."""
        return self.n_usable >= MIN_ANCHORS


def anchor_health(scores: npt.ArrayLike, *, scale: tuple[float, float] = (1.0, 5.0)) -> AnchorHealth:
    """Look at the anchors of runs in which the judge did not change.

    Args:
        scores: Shape (runs, anchors), rubric units, nan where missing; in the order of the runs.
        scale: Lowest and highest score of the rubric.

    Raises:
        ValueError: not runs by anchors, no run, an infinite score, or a scale upside down.
    """
    matrix = as_scores(scores)
    if matrix.ndim != 2 or not len(matrix):
        raise ValueError(f"scores must be runs by anchors, at least one run, got shape {matrix.shape}")
    noise = item_noise(matrix)
    points = normalise(noise.mean, scale)
    spread = normalise(matrix, scale)
    lowest, highest = _ends(spread)
    nearest = np.floor(points + 0.5)
    per_level = np.array([int((nearest == level).sum()) for level in LEVELS], dtype=np.int64)
    slope, p = baseline_trend(matrix)
    return AnchorHealth(
        n_runs=len(matrix),
        mean=noise.mean,
        flip_rate=noise.flip_rate,
        noise_sd=noise.sd,
        n_scores=noise.n,
        is_dead=np.asarray(noise.n <= DEAD_SHARE * len(matrix), dtype=np.bool_),
        is_restless=np.asarray((noise.n >= FEW_RUNS) & (noise.flip_rate > RESTLESS_FLIP_RATE), dtype=np.bool_),
        at_ceiling=np.asarray((noise.n >= 1) & (lowest >= 5 - PINNED), dtype=np.bool_),
        at_floor=np.asarray((noise.n >= 1) & (highest <= 1 + PINNED), dtype=np.bool_),
        per_level=per_level,
        thin_levels=tuple(int(place) for place in np.flatnonzero(per_level < ANCHORS_PER_LEVEL)),
        trend_per_run=slope,
        trend_p=p,
        has_trend=p is not None and p < TREND_LEVEL,
    )


def _ends(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest score of each anchor; nan without one."""
    known = ~np.isnan(matrix)
    none = ~known.any(axis=0)
    lowest = np.where(none, np.nan, np.where(known, matrix, np.inf).min(axis=0))
    return lowest, np.where(none, np.nan, np.where(known, matrix, -np.inf).max(axis=0))


def baseline_trend(scores: npt.ArrayLike) -> tuple[float | None, float | None]:
    """Slope of the runs' mean over the runs, anchors compared with themselves, and its two-sided p-value.

    A judge that drifts while it is being learned makes a norm that no later run can be held to.

    Args:
        scores: Shape (runs, anchors), nan where missing, in the order of the runs.

    Returns:
        Slope per run in the units of the scores, and p; both None with fewer than three counted runs, p None when the
        runs lie on a line exactly.

    Raises:
        ValueError: not runs by anchors, or an infinite score.
    Source: ordinary least squares over the run's number, Student t with n - 2 degrees of freedom.
    """
    matrix = as_scores(scores)
    if matrix.ndim != 2:
        raise ValueError(f"scores must be runs by anchors, got shape {matrix.shape}")
    known = ~np.isnan(matrix)
    counted = np.flatnonzero(enough_anchors(known.sum(axis=1), known.any(axis=0).sum()))
    if len(counted) < FEW_RUNS:
        return None, None
    noise = item_noise(matrix[counted])
    y = np.nanmean(matrix[counted] - noise.mean, axis=1)
    x = counted - counted.mean()
    slope = float((x @ y) / (x @ x))
    rest = y - y.mean() - slope * x
    variance = float(rest @ rest) / (len(y) - 2)
    if variance <= 1e-18:
        return slope, None if abs(slope) > 1e-12 else 1.0
    p = float(t_two_sided_p(slope / math.sqrt(variance / float(x @ x)), len(y) - 2))
    return slope, p
