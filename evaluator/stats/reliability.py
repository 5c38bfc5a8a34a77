"""How repeatable a judge is on the same answers: flips, repeats, noise of one score. Describes; never alarms."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.stats.intervals import Interval, wilson
from evaluator.stats.numeric import FloatArray, IntArray, as_scores, divide, mean_of_present

SAME = 1e-9  # scores nearer than this are the same


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemNoise:
    """What repeats say of each item. Arrays have one entry per item, nan where there are too few scores.

    Attributes:
        n: Scores of the item.
        mean: Their mean.
        usual: The score it got most often (the lowest of several).
        flip_rate: Share of its scores that are not the usual one.
        sd: Standard deviation of its scores.
    """

    n: IntArray
    mean: FloatArray
    usual: FloatArray
    flip_rate: FloatArray
    sd: FloatArray


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """Repeatability over all items.

    Attributes:
        n_items: Items with at least two scores.
        n_runs: Most scores that one item has.
        ever_flipped: Share of the items that were not always given the same score, with Wilson's interval.
        repeat_rate: Share of pairs of consecutive scores of an item that are the same; None without a pair.
        noise_sd: Standard error of measurement: the spread of one item's scores about its own mean, pooled.
        reliability: ``1 - noise / (noise + spread between items)``, variances; None when nothing varies.
    """

    n_items: int
    n_runs: int
    ever_flipped: Interval | None
    n_flipped: int
    repeat_rate: float | None
    noise_sd: float | None
    reliability: float | None


def item_noise(scores: npt.ArrayLike) -> ItemNoise:
    """Noise of each item over repeated grading.

    Args:
        scores: Shape (runs, items), nan where missing.

    Raises:
        ValueError: not runs by items, or an infinite score.
    """
    matrix = as_scores(scores)
    if matrix.ndim != 2:
        raise ValueError(f"scores must be runs by items, got shape {matrix.shape}")
    mean, n = mean_of_present(matrix, axis=0)
    usual = np.array([_usual(matrix[:, column]) for column in range(matrix.shape[1])])
    is_other = np.abs(matrix - usual) > SAME
    squares = np.nansum((matrix - mean) ** 2, axis=0)
    return ItemNoise(
        n=n,
        mean=mean,
        usual=usual,
        flip_rate=divide(np.where(np.isnan(matrix), 0.0, is_other).sum(axis=0), n),
        sd=np.sqrt(np.where(n >= 2, divide(squares, n - 1), np.nan)),
    )


def _usual(column: FloatArray) -> float:
    known = column[~np.isnan(column)]
    if not len(known):
        return math.nan
    values, counts = np.unique(known, return_counts=True)
    return float(values[np.argmax(counts)])


def reliability(scores: npt.ArrayLike, *, level: float = 0.95) -> Reliability:
    """Repeatability over all items.

    Args:
        scores: Shape (runs, items), nan where missing; runs in which the judge did not change.
        level: Coverage of the interval, in (0, 1).

    Raises:
        ValueError: not runs by items, an infinite score, or level outside (0, 1).
    """
    matrix = as_scores(scores)
    noise = item_noise(matrix)
    repeated = noise.n >= 2
    n_items = int(repeated.sum())
    n_flipped = int((noise.flip_rate[repeated] > 0).sum())
    pairs = np.abs(np.diff(matrix, axis=0))
    known = pairs[~np.isnan(pairs)]
    degrees = float((noise.n[repeated] - 1).sum())
    within = float((noise.sd[repeated] ** 2 * (noise.n[repeated] - 1)).sum()) / degrees if degrees else None
    return Reliability(
        n_items=n_items,
        n_runs=int(noise.n.max(initial=0)),
        ever_flipped=wilson(n_flipped, n_items, level=level) if n_items else None,
        n_flipped=n_flipped,
        repeat_rate=float((known <= SAME).mean()) if len(known) else None,
        noise_sd=None if within is None else math.sqrt(within),
        reliability=_share_between(noise, within),
    )


def _share_between(noise: ItemNoise, within: float | None) -> float | None:
    """Variance between items over all variance; the items' means carry some noise of their own, which is taken out."""
    repeated = noise.n >= 2
    if within is None or repeated.sum() < 2:
        return None
    between = float(noise.mean[repeated].var(ddof=1)) - within * float((1 / noise.n[repeated]).mean())
    between = max(between, 0.0)
    return None if between + within == 0 else between / (between + within)
