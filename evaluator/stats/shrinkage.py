"""Ranking many means fairly: each is drawn towards the overall mean by as much as chance could have moved it.

The lowest of fifty raw means is usually that of a segment with three answers. Shrunk means say which segment is lowest
once luck is taken out; they rank and are not shown as estimates: what is shown beside a rank is the segment's own mean
with its own interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.stats.numeric import FloatArray, divide

PRIOR_CLUSTERS = 10.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Shrunk:
    """Means drawn together.

    Attributes:
        mean: Shrunk means, shape (m,); nan where there was no mean or no error.
        overall: Mean of the means, each weighted by what is known of it; nan without any.
        tau2: Variance of the true means between each other, >= 0.
        weight: How much of its own distance from ``overall`` each keeps, in [0, 1], shape (m,).
    """

    mean: FloatArray
    overall: float
    tau2: float
    weight: FloatArray


def shrink(means: npt.ArrayLike, errors: npt.ArrayLike) -> Shrunk:
    """Shrink means towards each other: ``overall + tau2 / (tau2 + se^2) (mean - overall)``.

    tau2 is DerSimonian and Laird's: what the means differ by beyond their errors, and 0 where they do not.

    Args:
        means: Shape (m,); nan for one that is not known.
        errors: Standard errors, shape (m,), > 0; nan leaves the mean out.

    Raises:
        ValueError: shapes that differ, or an error that is not positive.
    Assumes: errors that are known; with few clusters give those of ``steady_errors``.
    Source: DerSimonian and Laird, Controlled Clinical Trials 7, 1986; Efron and Morris, JASA 70, 1975.
    """
    y, se = np.asarray(means, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    if y.shape != se.shape or y.ndim != 1:
        raise ValueError(f"means and errors must be rows of one length, got shapes {y.shape} and {se.shape}")
    known = ~np.isnan(y) & ~np.isnan(se)
    if not (se[known] > 0).all():
        raise ValueError("errors must be positive; an error of 0 is one that is not known")
    if not known.any():
        nothing = np.full(y.shape, np.nan)
        return Shrunk(mean=nothing, overall=math.nan, tau2=0.0, weight=nothing.copy())
    tau2 = between_variance(y[known], se[known])
    precision = 1 / (tau2 + se[known] ** 2)
    overall = float(precision @ y[known] / precision.sum())
    weight = np.full(y.shape, np.nan)
    weight[known] = tau2 / (tau2 + se[known] ** 2)
    return Shrunk(mean=overall + weight * (y - overall), overall=overall, tau2=tau2, weight=weight)


def between_variance(means: FloatArray, errors: FloatArray) -> float:
    """DerSimonian and Laird's variance between true means; 0 for fewer than two."""
    if len(means) < 2:
        return 0.0
    w = 1 / errors**2
    centre = float(w @ means / w.sum())
    excess = float(w @ (means - centre) ** 2) - (len(means) - 1)
    return max(0.0, excess / float(w.sum() - (w**2).sum() / w.sum()))


def steady_errors(errors: npt.ArrayLike, n_clusters: npt.ArrayLike) -> FloatArray:
    """Standard errors that three answers which happen to agree cannot make small.

    The spread of each segment is drawn to that of all of them with the weight of ten clusters. One without an error of
    its own (a single cluster, or no difference between its scores) takes the common spread.

    Args:
        errors: Standard errors, shape (m,); nan where there is none.
        n_clusters: Clusters behind each, shape (m,).

    Returns:
        Errors, shape (m,); nan for segments without answers, and throughout when no segment shows any spread.
    Source: Smyth, Statistical Applications in Genetics and Molecular Biology 3, 2004 (moderated variances).
    """
    se, count = np.asarray(errors, dtype=np.float64), np.asarray(n_clusters, dtype=np.float64)
    df = np.where(np.isnan(se), 0.0, np.maximum(count - 1, 0.0))
    variance = np.where(df > 0, np.nan_to_num(se) ** 2 * count, 0.0)
    total = float(df.sum())
    if not total or not variance.any():
        return np.full(se.shape, np.nan)
    common = float(df @ variance) / total
    steadied = (df * variance + PRIOR_CLUSTERS * common) / (df + PRIOR_CLUSTERS)
    return np.sqrt(divide(steadied, np.where(count > 0, count, np.nan)))
