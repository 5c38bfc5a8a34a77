"""How well two or more graders agree: weighted kappa, Krippendorff's alpha, intraclass correlation.

They tell how right and how repeatable a judge is. None of them raises an alarm: agreement can stay high while the
judge grows generous, which is what the anchors' paired differences are for (``paired``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from evaluator.stats.numeric import FloatArray, as_scores, check_level

Weights = Literal["unweighted", "linear", "quadratic"]
Metric = Literal["nominal", "ordinal", "interval"]

_LARGE_SAMPLE = "{percent:g} % interval, large-sample variance"
_F_INTERVAL = "{percent:g} % interval, Shrout and Fleiss"
_BOOTSTRAP = "{percent:g} % interval, bootstrap over items"


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """A coefficient of agreement: 1 is perfect, 0 is what chance would give (correlation: no common part).

    Attributes:
        value: The coefficient; None where it is not defined, because nothing varies.
        low: Lower bound; None where no interval can be given.
        high: Upper bound.
        n: Items that were compared.
        n_graders: Graders, or repeats.
        method: Name of the interval.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    n_graders: int
    method: str


def weighted_kappa(
    first: npt.ArrayLike, second: npt.ArrayLike, *, weights: Weights = "quadratic", level: float = 0.95
) -> Agreement:
    """Agreement of two graders beyond chance; disagreements weigh by their distance on the scale.

    Args:
        first: Scores of one grader, shape (n,), nan where missing. Levels are the values that occur.
        second: Scores of the other, same shape.
        weights: "unweighted" counts every disagreement alike; "linear" by its size; "quadratic" by its square.
        level: Coverage, in (0, 1).

    Returns:
        Kappa over the items both graded. None when both gave one and the same level to everything.

    Raises:
        ValueError: shapes differ, an infinite score, or level outside (0, 1).
    Source: Fleiss, Cohen and Everitt, Psychological Bulletin 72, 1969 (variance); the weights of linear and quadratic
        kappa are on the scores themselves, so levels need not be equally spaced.
    """
    check_level(level)
    one, two = as_scores(first).ravel(), as_scores(second).ravel()
    if one.shape != two.shape:
        raise ValueError(f"both graders need one score per item, got {len(one)} and {len(two)}")
    both = ~(np.isnan(one) | np.isnan(two))
    one, two = one[both], two[both]
    method = _LARGE_SAMPLE.format(percent=round(100 * level, 6))
    levels = np.unique(np.concatenate([one, two]))
    if len(levels) < 2:
        return Agreement(value=None, low=None, high=None, n=len(one), n_graders=2, method=method)
    table = np.zeros((len(levels), len(levels)))
    np.add.at(table, (np.searchsorted(levels, one), np.searchsorted(levels, two)), 1.0)
    value, variance = _kappa(table / len(one), _agreement_weights(levels, weights), len(one))
    reach = float(special.ndtri(0.5 + level / 2)) * float(np.sqrt(variance))
    low, high = max(value - reach, -1.0), min(value + reach, 1.0)
    return Agreement(value=value, low=low, high=high, n=len(one), n_graders=2, method=method)


def _agreement_weights(levels: FloatArray, weights: Weights) -> FloatArray:
    """1 on the diagonal, 0 for the two ends of the scale."""
    distance = np.abs(levels[:, None] - levels[None, :]) / (levels[-1] - levels[0])
    if weights == "unweighted":
        return np.asarray(distance == 0, dtype=np.float64)
    return np.asarray(1.0 - (distance if weights == "linear" else distance**2), dtype=np.float64)


def _kappa(shares: FloatArray, weights: FloatArray, n: int) -> tuple[float, float]:
    """Kappa and its large-sample variance (Fleiss, Cohen and Everitt 1969, equation 9)."""
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    observed = float((weights * shares).sum())
    expected = float((weights * np.outer(rows, columns)).sum())
    kappa = (observed - expected) / (1 - expected)
    marginal = (weights @ columns)[:, None] + (weights.T @ rows)[None, :]
    spread = (shares * (weights - marginal * (1 - kappa)) ** 2).sum()
    spread -= (kappa - expected * (1 - kappa)) ** 2
    return kappa, max(float(spread), 0.0) / (n * (1 - expected) ** 2)


def krippendorff_alpha(
    scores: npt.ArrayLike, *, metric: Metric = "ordinal", level: float = 0.95, n_resamples: int = 0, seed: int = 0
) -> Agreement:
    """Agreement of any number of graders with any number of missing scores.

    Args:
        scores: Shape (graders, items), nan where missing. Repeats of one judge count as graders.
        metric: How far apart two scores are: "nominal" (the same or not), "ordinal" (by ranks), "interval".
        level: Coverage of the interval, in (0, 1).
        n_resamples: Resamples of items for the interval; 0 gives none.
        seed: Of the resampling.

    Returns:
        Alpha over the items with at least two scores. None when nothing varies.

    Raises:
        ValueError: not graders by items, an infinite score, or level outside (0, 1).
    Source: Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011 (coincidence matrix, metric differences).
    """
    check_level(level)
    matrix = as_scores(scores)
    if matrix.ndim != 2:
        raise ValueError(f"scores must be graders by items, got shape {matrix.shape}")
    matrix = matrix[:, (~np.isnan(matrix)).sum(axis=0) >= 2]
    levels = np.unique(matrix[~np.isnan(matrix)])
    n_items = matrix.shape[1]
    coincidences = _coincidences(matrix, levels)
    value = _alpha(coincidences.sum(axis=0), levels, metric)
    low = high = None
    if value is not None and n_resamples > 0:
        generator = np.random.default_rng(seed)
        drawn = generator.integers(0, n_items, (n_resamples, n_items))
        again = [_alpha(coincidences[rows].sum(axis=0), levels, metric) for rows in drawn]
        known = np.array([each for each in again if each is not None])
        low, high = (float(bound) for bound in np.quantile(known, [(1 - level) / 2, (1 + level) / 2]))
    method = _BOOTSTRAP.format(percent=round(100 * level, 6)) if n_resamples else ""
    return Agreement(value=value, low=low, high=high, n=n_items, n_graders=matrix.shape[0], method=method)


def _coincidences(matrix: FloatArray, levels: FloatArray) -> FloatArray:
    """Pairs of values within each item, shape (items, levels, levels); an item with m scores weighs 1/(m - 1)."""
    counts = (matrix[:, :, None] == levels[None, None, :]).sum(axis=0).astype(np.float64)
    pairs = counts[:, :, None] * counts[:, None, :]
    rows = np.arange(len(levels))
    pairs[:, rows, rows] -= counts
    return np.asarray(pairs / (counts.sum(axis=1) - 1)[:, None, None], dtype=np.float64)


def _alpha(coincidences: FloatArray, levels: FloatArray, metric: Metric) -> float | None:
    totals = coincidences.sum(axis=1)
    n = float(totals.sum())
    distance = _DISTANCES[metric](levels, totals)
    expected = float((np.outer(totals, totals) * distance).sum()) / (n - 1) if n > 1 else 0.0
    if expected <= 0:
        return None
    return 1 - float((coincidences * distance).sum()) / expected


def _nominal(levels: FloatArray, totals: FloatArray) -> FloatArray:
    del totals
    return np.asarray(levels[:, None] != levels[None, :], dtype=np.float64)


def _ordinal(levels: FloatArray, totals: FloatArray) -> FloatArray:
    """Squared number of values between two levels, half of each end counted."""
    del levels
    middle = np.cumsum(totals) - totals / 2
    return np.asarray((middle[:, None] - middle[None, :]) ** 2, dtype=np.float64)


def _interval(levels: FloatArray, totals: FloatArray) -> FloatArray:
    del totals
    return np.asarray((levels[:, None] - levels[None, :]) ** 2, dtype=np.float64)


_DISTANCES: dict[Metric, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _interval,
}


def intraclass_correlation(scores: npt.ArrayLike, *, level: float = 0.95) -> Agreement:
    """Share of the variance of single scores that is the items' own; graders are a sample: ICC(2,1), agreement.

    A grader who is generous throughout lowers it, as does noise.

    Args:
        scores: Shape (graders, items); items with a missing score are left out.
        level: Coverage, in (0, 1).

    Returns:
        The correlation; None with fewer than two complete items or graders, or when nothing varies.

    Raises:
        ValueError: not graders by items, an infinite score, or level outside (0, 1).
    Source: Shrout and Fleiss, Psychological Bulletin 86, 1979: two-way random effects, single rating.
    """
    check_level(level)
    matrix = as_scores(scores)
    if matrix.ndim != 2:
        raise ValueError(f"scores must be graders by items, got shape {matrix.shape}")
    complete = matrix[:, ~np.isnan(matrix).any(axis=0)].T
    n, k = complete.shape
    method = _F_INTERVAL.format(percent=round(100 * level, 6))
    if n < 2 or k < 2 or float(np.ptp(complete)) == 0.0:
        return Agreement(value=None, low=None, high=None, n=n, n_graders=k, method=method)
    items, graders, rest = _mean_squares(complete)
    value = (items - rest) / (items + (k - 1) * rest + k * (graders - rest) / n)
    low, high = _icc_bounds(items, graders, rest, value, n, k, level)
    return Agreement(value=value, low=low, high=high, n=n, n_graders=k, method=method)


def _mean_squares(complete: FloatArray) -> tuple[float, float, float]:
    """Mean squares of items, graders and the rest of a table items by graders."""
    n, k = complete.shape
    mean = float(complete.mean())
    by_item, by_grader = complete.mean(axis=1), complete.mean(axis=0)
    rest = complete - by_item[:, None] - by_grader[None, :] + mean
    items = k * float(((by_item - mean) ** 2).sum()) / (n - 1)
    graders = n * float(((by_grader - mean) ** 2).sum()) / (k - 1)
    return items, graders, float((rest**2).sum()) / ((n - 1) * (k - 1))


def _icc_bounds(
    items: float, graders: float, rest: float, value: float, n: int, k: int, level: float
) -> tuple[float | None, float | None]:
    """Bounds with Satterthwaite's degrees of freedom; none where graders agree to the digit."""
    if rest <= 0:
        return None, None
    ratio = graders / rest
    top = (k - 1) * (n - 1) * (k * value * ratio + n * (1 + (k - 1) * value) - k * value) ** 2
    bottom = (n - 1) * k**2 * value**2 * ratio**2 + (n * (1 + (k - 1) * value) - k * value) ** 2
    df = top / bottom
    tail = 0.5 + level / 2
    upper_f, lower_f = float(special.fdtri(n - 1, df, tail)), float(special.fdtri(df, n - 1, tail))
    mixed = k * graders + (k * n - k - n) * rest
    low = n * (items - upper_f * rest) / (upper_f * mixed + n * items)
    high = n * (lower_f * items - rest) / (mixed + n * lower_f * items)
    return low, high
