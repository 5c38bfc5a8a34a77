"""What a run's anchors say, in numbers that can be watched: how far they moved, how unevenly, how restless they were.

A judge can move without its mean moving: towards the middle, at one end of the scale, or by growing noisy. Each of
these shows in one number a run, made of the differences between the anchors' scores and their own baseline means.
Single anchors that break are ``anchor_flips``'.

Scores are 1..5 equivalents throughout.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.stats.numeric import BoolArray, FloatArray, divide, mean_of_present
from evaluator.stats.paired import RunShifts

FLIP_VARIANCE = 0.02  # of one anchor that flips by a point with probability 0.02: the least noise believed
LEAST_SPREAD = 0.3  # of the anchors' levels, for the floor of the slope
SPREAD_FLOOR_SD = 0.25  # of the log of a run's spread
SPREAD_OFFSET = 0.01  # keeps the log of a run without any flip finite
MIN_SPREAD_SCORES = 2

STREAMS = ("level", "slope", "spread")


@dataclass(frozen=True, kw_only=True, eq=False)
class AnchorReference:
    """What the baseline says of each anchor, shape (K,).

    Attributes:
        mean: Baseline mean; nan for an anchor that has none.
        n: Baseline scores behind it.
        spread_offset: What is added before the logarithm of a run's spread is taken: half the baseline's own average.
    """

    mean: FloatArray
    n: FloatArray
    spread_offset: float

    @property
    def n_anchors(self) -> int:
        """Anchors that can be compared."""
        return int((~np.isnan(self.mean)).sum())


@dataclass(frozen=True, kw_only=True, eq=False)
class RunStatistics:
    """The watched numbers of each run, shape (R,); nan for runs that do not count.

    Attributes:
        level: Mean difference from the baseline.
        slope: How the difference changes with the anchor's level: negative when high anchors fall and low ones rise.
        spread: Log of the mean squared difference, freed of what the baseline's own error adds.
    """

    level: FloatArray
    slope: FloatArray
    spread: FloatArray

    def __len__(self) -> int:
        """Runs, those that do not count included."""
        return len(self.level)

    def stream(self, name: str) -> FloatArray:
        """One of ``STREAMS`` by its name."""
        return {"level": self.level, "slope": self.slope, "spread": self.spread}[name]


def anchor_reference(baseline: npt.ArrayLike, mean: npt.ArrayLike | None = None) -> AnchorReference:
    """Describe the anchors by their baseline.

    Args:
        baseline: Scores of the counted baseline runs, shape (B, K), nan where missing.
        mean: Baseline means where they are known otherwise, shape (K,): an anchor that joined later has one of its own.
    """
    scores = np.asarray(baseline, dtype=np.float64)
    own, n = mean_of_present(scores, axis=0)
    given = own if mean is None else np.asarray(mean, dtype=np.float64)
    n_used = np.where(n > 0, n, np.where(np.isnan(given), 0, MIN_SPREAD_SCORES)).astype(np.float64)
    squares = _mean_squares(scores - given, _inside(n_used))
    known = squares[~np.isnan(squares)]
    offset = SPREAD_OFFSET + 0.5 * (float(known.mean()) if len(known) else 0.0)
    return AnchorReference(mean=given.copy(), n=n_used, spread_offset=offset)


def run_statistics(
    scores: npt.ArrayLike, reference: AnchorReference, *, in_baseline: npt.ArrayLike, counted: npt.ArrayLike
) -> RunStatistics:
    """Turn runs of anchor scores into the numbers that are watched.

    Args:
        scores: Shape (R, K), nan where missing or not yet comparable.
        reference: The anchors' baseline.
        in_baseline: Which runs the baseline was made of, shape (R,): their differences are smaller by construction.
        counted: Which runs have enough anchors, shape (R,).
    """
    difference = np.asarray(scores, dtype=np.float64) - reference.mean
    used = np.asarray(counted, dtype=np.bool_)
    level, _ = mean_of_present(difference, axis=1)
    inside = np.asarray(in_baseline, dtype=np.bool_)[:, None]
    correction = np.where(inside, _inside(reference.n), _outside(reference.n))
    spread = np.log(_mean_squares(difference, correction) + reference.spread_offset)
    return RunStatistics(
        level=np.where(used, level, np.nan),
        slope=np.where(used, _slopes(difference, reference.mean), np.nan),
        spread=np.where(used, spread, np.nan),
    )


def statistics_of_history(scores: npt.ArrayLike, baseline: npt.ArrayLike, shifts: RunShifts) -> RunStatistics:
    """The watched numbers of a whole history, late anchors only from where they are compared.

    Args:
        scores: Shape (R, K), nan where missing.
        baseline: Which runs are the baseline, shape (R,).
        shifts: What ``paired.run_shifts`` made of the same scores and baseline.
    """
    matrix = np.asarray(scores, dtype=np.float64)
    rows = np.asarray(baseline, dtype=np.bool_)
    reference = anchor_reference(matrix[rows & shifts.counted], shifts.anchor_mean)
    comparable = np.arange(len(matrix))[:, None] >= shifts.joined_at[None, :]
    return run_statistics(
        np.where(comparable, matrix, np.nan), reference, in_baseline=rows, counted=shifts.counted
    )  # fmt: skip


def stream_floors(reference_means: npt.ArrayLike) -> dict[str, float]:
    """Least spread between runs that each stream is credited with, by its name.

    A reference that repeats exactly would otherwise take the first flip for a change.

    Args:
        reference_means: Baseline means of the anchors, shape (K,), nan where there is none.
    """
    means = np.asarray(reference_means, dtype=np.float64)
    known = means[~np.isnan(means)]
    level = math.sqrt(FLIP_VARIANCE / max(len(known), 1))
    levels = max(float(known.std()) if len(known) else 0.0, LEAST_SPREAD)
    return {"level": level, "slope": level / levels, "spread": SPREAD_FLOOR_SD}


def _inside(n: FloatArray) -> FloatArray:
    """Makes squares about a mean they helped to form unbiased for the anchor's own variance."""
    at_least = np.maximum(n, MIN_SPREAD_SCORES)
    return np.asarray(at_least / (at_least - 1.0), dtype=np.float64)


def _outside(n: FloatArray) -> FloatArray:
    """The same for squares about a mean of other runs."""
    at_least = np.maximum(n, MIN_SPREAD_SCORES)
    return np.asarray(at_least / (at_least + 1.0), dtype=np.float64)


def _mean_squares(difference: FloatArray, correction: FloatArray) -> FloatArray:
    squares, _ = mean_of_present(difference**2 * correction, axis=1)
    return squares


def _slopes(difference: FloatArray, means: FloatArray) -> FloatArray:
    """Least-squares slope of the differences on the anchors' levels, over those that are present."""
    present: BoolArray = ~np.isnan(difference)
    level = np.where(present, means, np.nan)
    middle, _ = mean_of_present(level, axis=1)
    centred = np.where(present, level - middle[:, None], 0.0)
    squares = (centred**2).sum(axis=1)
    slope = divide((centred * np.where(present, difference, 0.0)).sum(axis=1), squares)
    # anchors that all lie at one level cannot show a slope, and never will
    return np.where(np.isnan(slope) & present.any(axis=1), 0.0, slope)
