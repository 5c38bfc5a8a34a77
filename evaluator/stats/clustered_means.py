"""Means of answers that come in clusters, for rechecks: an estimate with its interval, and the sums it came from.

A cluster is what moves together, like the answers of one conversation. What is compared is said in ``recheck``.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.stats.intervals import Interval
from evaluator.stats.numeric import FloatArray, t_quantile

CLUSTERED = "Student t between clusters, small-sample corrected"
RULE_OF_THREE = 3.0  # Hanley and Lippman-Hand, JAMA 249, 1983
ROUNDING = 1e-12  # a share of a variance that is left by rounding only


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean, or a difference of two, with its interval.

    Attributes:
        value: In the units of the scores; nan without scores.
        se: Standard error; nan where there is no interval.
        df: Degrees of freedom; nan where there is no interval.
        interval: None under two clusters, or without any spread.
    """

    value: float
    se: float
    df: float
    interval: Interval | None


@dataclass(frozen=True, kw_only=True)
class ClusterSums:
    """A part reduced to its clusters: sizes, sums of residuals, and what each adds to the mean's error."""

    sizes: FloatArray
    residuals: FloatArray
    share: FloatArray
    names: tuple[Hashable, ...]


def change_floor(names: Sequence[Hashable], step: float) -> float:
    """Least variance of a mean difference: three clusters whose scores moved by one step."""
    return RULE_OF_THREE * step**2 / max(1, len(set(names))) ** 2


def clustered_mean(
    values: FloatArray, names: Sequence[Hashable], level: float, *, floor: float = 0.0
) -> tuple[Estimate, ClusterSums]:
    """A mean with its cluster-robust interval, and the sums of its clusters.

    Args:
        values: Shape (n,), without nan.
        names: Cluster of each value.
        level: Coverage of the interval, in (0, 1).
        floor: Least variance of the mean.

    Returns:
        The mean, nan without values; without an interval under two clusters.
    Source: Bell and McCaffrey, Survey Methodology 28, 2002 (CR2 and its degrees of freedom).
    """
    order = {name: place for place, name in enumerate(dict.fromkeys(names))}
    places = np.array([order[name] for name in names], dtype=np.int64)
    n, n_clusters = len(values), len(order)
    mean = float(values.mean()) if n else math.nan
    sizes = np.bincount(places, minlength=n_clusters).astype(np.float64)
    residuals: FloatArray = np.zeros(n_clusters)
    np.add.at(residuals, places, values - mean)
    if n_clusters < 2:
        sums = ClusterSums(sizes=sizes, residuals=residuals, share=np.zeros(n_clusters), names=tuple(order))
        return Estimate(value=mean, se=math.nan, df=math.nan, interval=None), sums
    share = residuals / (n * np.sqrt(1 - sizes / n))
    sums = ClusterSums(sizes=sizes, residuals=residuals, share=share, names=tuple(order))
    spread = float((values**2).sum()) / n**2
    variance = float((share**2).sum())
    variance = max(0.0 if variance <= ROUNDING * spread else variance, floor)
    df = min(_df_independent(sizes), _df_as_one(sizes))
    return estimate_of(mean, variance, df, level, CLUSTERED), sums


def estimate_of(value: float, variance: float, df: float, level: float, method: str) -> Estimate:
    """An estimate with Student's interval; without one where there is no variance."""
    if not variance > 0:
        return Estimate(value=value, se=math.nan, df=math.nan, interval=None)
    se = math.sqrt(variance)
    half_width = float(t_quantile(df, level)) * se
    interval = Interval(low=value - half_width, high=value + half_width, level=level, method=method)
    return Estimate(value=value, se=se, df=df, interval=interval)


def _df_independent(sizes: FloatArray) -> float:
    """Bell-McCaffrey degrees of freedom of a mean when answers within a cluster are independent.

    (tr B)^2 / tr(B^2) for B[g, h] = a_g a_h (n_g [g = h] - n_g n_h / n), a_g^2 = 1 / (1 - n_g / n); n - 1 when every
    cluster is one answer.
    """
    n = float(sizes.sum())
    q = sizes**2 / (1 - sizes / n)
    return n**2 / (float((sizes**2).sum()) + (float(q.sum()) ** 2 - float((q**2).sum())) / n**2)


def _df_as_one(sizes: FloatArray) -> float:
    """The same when all answers of a cluster move together: large clusters count for more, and there are fewer.

    B[g, h] = a_g a_h (n_g^2 [g = h] - n_g n_h (n_g + n_h - s) / n), s = sum of n_g^2 / n.
    """
    n = float(sizes.sum())
    s = float((sizes**2).sum()) / n
    weight = 1 / (1 - sizes / n)
    own = weight * (sizes**2 - sizes**2 * (2 * sizes - s) / n)
    r = weight * sizes**2
    r0, r1, r2 = (float((r * sizes**power).sum()) for power in (0, 1, 2))
    crossed = 2 * r0 * r2 + 2 * r1**2 - 4 * s * r0 * r1 + s**2 * r0**2
    crossed -= float((r**2 * (2 * sizes - s) ** 2).sum())
    return float(own.sum()) ** 2 / (float((own**2).sum()) + crossed / n**2)


def shared_covariance(one: ClusterSums, other: ClusterSums) -> float:
    """What clusters with answers in both parts add to the covariance of the two means."""
    shares = dict(zip(one.names, one.share, strict=True))
    return float(
        sum(shares[name] * share for name, share in zip(other.names, other.share, strict=True) if name in shares)
    )
