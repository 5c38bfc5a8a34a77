"""Answers that come in conversations, with weights: their stored sums, their mean, and the error of what is computed.

Clusters are conversations or users. They are the independent draws, not the answers within them; whatever is computed
from many answers is turned into one influence per answer, and the influences are added up within each cluster.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.stats.intervals import SUM_NAMES, MeanEstimate, mean_from_sums
from evaluator.stats.numeric import FloatArray, IntArray, as_scores

Ids = npt.NDArray[np.generic] | Sequence[Hashable]


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """The scored answers of a period.

    Attributes:
        score: Shape (n,), in the units given.
        weight: 1 / inclusion probability, shape (n,).
        cluster: Number of the cluster of each answer, from 0, shape (n,).
        segment: Number of the segment of each answer, shape (n,); 0 throughout where none are given.
        n_unscored: Answers without a score, left out.
    """

    score: FloatArray
    weight: FloatArray
    cluster: IntArray
    segment: IntArray
    n_unscored: int

    @property
    def n(self) -> int:
        """Scored answers."""
        return len(self.score)

    @property
    def n_clusters(self) -> int:
        """Clusters with at least one scored answer."""
        return int(self.cluster.max()) + 1 if len(self.cluster) else 0

    @property
    def mean(self) -> float:
        """Weighted mean of the scores."""
        return float(self.weight @ self.score / self.weight.sum())


def answers_of(
    scores: npt.ArrayLike,
    *,
    clusters: Ids | None = None,
    weights: npt.ArrayLike | None = None,
    segments: npt.ArrayLike | None = None,
) -> Answers:
    """Check what a caller gives for a period, and leave out what has no score.

    Args:
        scores: Shape (n,); nan is "unscored".
        clusters: Id of the conversation (or user) of each answer, shape (n,); by default every answer is its own.
        weights: 1 / inclusion probability, shape (n,); 1 by default.
        segments: Number of each answer's segment, shape (n,); see ``numbered``.

    Raises:
        ValueError: lengths that differ, an infinite score, or a weight that is not positive and finite.
    """
    values = as_scores(scores)
    if values.ndim != 1:
        raise ValueError(f"scores must be one row of numbers, got shape {values.shape}")
    weight = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    ids: Sequence[Hashable] = range(len(values)) if clusters is None else _as_list(clusters)
    segment = np.zeros(len(values), dtype=np.int64) if segments is None else np.asarray(segments, dtype=np.int64)
    if not len(values) == len(weight) == len(ids) == len(segment):
        raise ValueError(
            f"each of {len(values)} scores needs a cluster, a weight and a segment where these are given, got"
            f" {len(ids)}, {len(weight)} and {len(segment)}"
        )
    if not (np.isfinite(weight).all() and (weight > 0).all()):
        raise ValueError("weights must be positive and finite; an answer that cannot be drawn is left out")
    present = np.flatnonzero(~np.isnan(values))
    cluster, _ = numbered([ids[int(place)] for place in present])
    return Answers(
        score=values[present],
        weight=weight[present],
        cluster=cluster,
        segment=segment[present],
        n_unscored=len(values) - len(present),
    )


def numbered(ids: Ids) -> tuple[IntArray, list[Hashable]]:
    """Replace ids by numbers from 0 in order of first appearance; returns them and the ids by number."""
    number_of: dict[Hashable, int] = {}
    numbers = [number_of.setdefault(each, len(number_of)) for each in _as_list(ids)]
    return np.array(numbers, dtype=np.int64), list(number_of)


def sums_of(answers: Answers) -> dict[str, float]:
    """The sums that the store keeps of such answers, by ``SUM_NAMES``."""
    y, w, cluster = answers.score, answers.weight, answers.cluster
    total, weight = np.bincount(cluster, weights=w * y), np.bincount(cluster, weights=w)
    values = (
        *(answers.n, answers.n_clusters, w.sum(), w @ w, w @ y, w**2 @ y, (w * y) @ (w * y)),
        *(total @ total, total @ weight, weight @ weight),
    )
    return {name: float(value) for name, value in zip(SUM_NAMES, values, strict=True)}


def clustered_mean(answers: Answers, *, level: float = 0.95, scale: tuple[float, float] | None = None) -> MeanEstimate:
    """Weighted mean of a period with its interval between clusters; see ``intervals.mean_from_sums``."""
    s = sums_of(answers)
    return mean_from_sums(
        n=answers.n,
        n_clusters=answers.n_clusters,
        sum_w=s["sum_w"],
        sum_w2=s["sum_w2"],
        sum_wy=s["sum_wy"],
        sum_w2y=s["sum_w2y"],
        sum_w2y2=s["sum_w2y2"],
        sum_t2=s["sum_t2"],
        sum_tw=s["sum_tw"],
        sum_ww=s["sum_ww"],
        level=level,
        scale=scale,
    )


def variance_between_clusters(influence: FloatArray, cluster: IntArray) -> float:
    """Variance of an estimate, from how much each answer moves it: ``C/(C-1) * sum z^2``, z added up in a cluster.

    Args:
        influence: Shape (n,); sums to 0 over the answers.
        cluster: Number of each answer's cluster, shape (n,).

    Returns:
        The variance; nan under two clusters.

    Assumes: clusters are independent draws.
    Source: Särndal, Swensson and Wretman, Model Assisted Survey Sampling, 1992, section 5.5 (Taylor linearisation);
        with one weight it is the cluster-robust variance of Liang and Zeger, Biometrika 73, 1986.
    """
    z = np.bincount(cluster, weights=influence)
    n = len(z)
    return float(n / (n - 1) * (z @ z)) if n >= 2 else float("nan")


def _as_list(ids: Ids) -> list[Hashable]:
    if isinstance(ids, np.ndarray):
        return list(ids.tolist())
    return list(ids)
