"""Many looks at once: what must be asked of each so that few of those told are false. Knows no segments, no days.

Two worlds that must not be mixed. A p-value belongs to one look on a day fixed in advance; ``holm`` and
``benjamini_hochberg`` adjust a table of them. The evidence of an e-detector may be looked at every day for years;
``evidence_needed`` shares out one threshold among streams, and ``suspects`` lists what else stands out when an alarm
has been told.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from evaluator.stats.numeric import BoolArray, FloatArray


def benjamini_hochberg(p_values: npt.ArrayLike) -> FloatArray:
    """Adjust p-values so that cutting at q keeps the expected share of false finds under q.

    Args:
        p_values: Shape (m,); nan is "not tested", stays nan and does not count.

    Raises:
        ValueError: a p-value outside [0, 1].
    Assumes: p-values that are independent or positively dependent, as means of segments that share answers are.
    Source: Benjamini and Hochberg, Journal of the Royal Statistical Society B 57, 1995.
    """
    p, tested = _tested(p_values)
    adjusted = np.full(p.shape, np.nan)
    m = len(tested)
    if m:
        order = tested[np.argsort(p[tested], kind="stable")]
        scaled = p[order] * m / np.arange(1, m + 1)
        # from the largest down: a smaller p-value is never adjusted to more than a larger one
        adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted


def holm(p_values: npt.ArrayLike) -> FloatArray:
    """Adjust p-values so that cutting at q keeps the chance of even one false find under q, whatever they depend on.

    Args:
        p_values: Shape (m,); nan is "not tested", stays nan and does not count.

    Raises:
        ValueError: a p-value outside [0, 1].
    Source: Holm, Scandinavian Journal of Statistics 6, 1979.
    """
    p, tested = _tested(p_values)
    adjusted = np.full(p.shape, np.nan)
    m = len(tested)
    if m:
        order = tested[np.argsort(p[tested], kind="stable")]
        scaled = p[order] * np.arange(m, 0, -1)
        adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted


def evidence_needed(threshold: float, weights: npt.ArrayLike) -> FloatArray:
    """Evidence at which each of several streams alarms, so that all of them together keep one promise.

    A stream with weight w alarms at ``threshold / w`` (e-d-Bonferroni): the false alarms of all of them are at most
    as frequent as those of one stream at ``threshold``, whatever the streams depend on.

    Args:
        threshold: What one stream alone would need, > 0: runs a year / false alarms a year.
        weights: Shares, each positive, together at most 1, shape (m,).

    Raises:
        ValueError: a threshold or a share that is not positive, or shares of more than 1 together.
    Source: Dandapanthula and Ramdas, arXiv 2501.04130, 2025.
    """
    w = np.asarray(weights, dtype=np.float64)
    if not (threshold > 0 and math.isfinite(threshold)):
        raise ValueError(f"threshold must be positive and finite, got {threshold!r}")
    if not ((w > 0).all() and float(w.sum()) <= 1 + 1e-9):
        raise ValueError(f"weights must be positive and add up to 1 at most, got {w.tolist()}")
    return np.asarray(threshold / w, dtype=np.float64)


def suspects(evidence: npt.ArrayLike, *, threshold: float) -> BoolArray:
    """Streams that stand out together: the largest m of them of which each has ``threshold / m`` (e-d-BH).

    One that has the whole threshold is always among them. The others need less the more there are: the expected share
    of false ones among those listed is bounded, not the chance of any, so they are worth a look and no alarm. Valid
    at any time, whatever the streams depend on.

    Args:
        evidence: Newest evidence of each stream, shape (m,); nan for one that cannot be judged.
        threshold: Evidence at which a single one alarms, > 0, as ``evidence_needed`` gives it for equal shares.

    Raises:
        ValueError: threshold not positive.
    Source: Dandapanthula and Ramdas, arXiv 2501.04130, 2025; Wang and Ramdas, JRSS B 84, 2022 (e-BH).
    """
    if not threshold > 0:
        raise ValueError(f"threshold must be positive, got {threshold!r}")
    values = np.nan_to_num(np.asarray(evidence, dtype=np.float64), nan=0.0)
    ordered = np.sort(values)[::-1]
    ranks = np.arange(1, len(values) + 1)
    enough = np.flatnonzero(ordered >= threshold / ranks)
    if not len(enough):
        return np.zeros(len(values), dtype=np.bool_)
    return np.asarray(values >= threshold / ranks[enough[-1]], dtype=np.bool_)


def _tested(p_values: npt.ArrayLike) -> tuple[FloatArray, npt.NDArray[np.intp]]:
    p = np.asarray(p_values, dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(p))
    if np.any((p[tested] < 0) | (p[tested] > 1)):
        raise ValueError("p-values must lie in [0, 1]")
    return p, tested
