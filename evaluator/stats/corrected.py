"""One period's mean as the judge of the baseline would have given it, from scores at hand.

The face of ``clusters`` and ``correction`` for users of the library. A number is given with its method, or refused with
a reason; comparing two periods is the work of ``attribution``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.stats.clusters import Ids, answers_of, clustered_mean
from evaluator.stats.correction import AFFINE, JudgeMap, NoMap, correct_means, fit_judge_map
from evaluator.stats.intervals import MeanEstimate
from evaluator.stats.numeric import FloatArray, as_scores, check_level, mean_of_present

METHODS = {True: "affine", False: "offset only"}
NO_ANSWERS = "no answer has a score"
NO_SPREAD = "no interval: the answers show no spread between conversations"


@dataclass(frozen=True, kw_only=True)
class CorrectedMean:
    """A mean as it was given, and as the judge of the baseline would have given it. In units of the scale.

    Attributes:
        mean: Raw mean; None without scores. It is there whether or not it could be corrected.
        corrected: On the baseline's scale; None where it is refused.
        low: Lower bound of the corrected mean, clipped to the scale; None without an interval.
        high: Upper bound; None without an interval.
        method: "affine"; "offset only"; or "refused".
        n: Scored answers.
        n_clusters: Clusters among them.
        n_anchors: Anchors graded now that have a baseline.
        df: Degrees of freedom of the interval; None without one.
        level: Coverage of the interval.
        reason: Why the correction was refused, why only the offset was used, or why there is no interval; else None.
    """

    mean: float | None
    corrected: float | None
    low: float | None
    high: float | None
    method: str
    n: int
    n_clusters: int
    n_anchors: int
    df: float | None
    level: float
    reason: str | None


def corrected_mean(
    answers: npt.ArrayLike,
    anchors_now: npt.ArrayLike,
    anchors_baseline: npt.ArrayLike,
    *,
    clusters: Ids | None = None,
    weights: npt.ArrayLike | None = None,
    scale: tuple[float, float] = (1.0, 5.0),
    level: float = 0.95,
) -> CorrectedMean:
    """Take the mean of some answers back to the scale of the baseline, with the error of answers and anchors.

    The anchors' scores of now are regressed on their baseline means, ``now = a + c * baseline``; the corrected mean is
    ``(mean - a) / c``. The shock that answers and anchors of one run share cancels.

    Args:
        answers: Scores of the answers, shape (N,); nan is "unscored".
        anchors_now: Scores of the anchors in the run that graded the answers, shape (K,), nan where missing; or in the
            last runs, that one last, shape (L, K): then the slope is taken from their average, which is steadier.
        anchors_baseline: The same anchors in the runs of the baseline, shape (B, K), or their means, shape (K,).
        clusters: Conversation or user of each answer; by default every answer stands for itself.
        weights: 1 / inclusion probability of each answer; 1 by default.
        scale: Lowest and highest score of the rubric.
        level: Coverage of the interval, in (0, 1).

    Returns:
        Both means. With fewer than ten anchors, or a judge that no longer tells good answers from bad ones, the
        corrected one is refused; with anchors that carry no slope, only the offset is taken out, and said.

    Raises:
        ValueError: shapes or lengths that do not fit, an infinite score, level or scale out of range.
    Assumes: the drift on anchors is the drift on answers of the same level, close to a straight line; clusters are
        independent.
    Source: ``correction`` and ``intervals.means_from_sums``.
    """
    check_level(level)
    if not scale[0] < scale[1]:
        raise ValueError(f"scale must go from low to high, got {scale!r}")
    side = answers_of(_equivalents(answers, scale), clusters=clusters, weights=weights)
    baseline, _ = mean_of_present(np.atleast_2d(_equivalents(anchors_baseline, scale)), axis=0)
    found = fit_judge_map(_equivalents(anchors_now, scale), baseline)
    raw = clustered_mean(side, level=level) if side.n else None
    counts = {"n": side.n, "n_clusters": side.n_clusters, "n_anchors": found.n_anchors}
    if raw is None or isinstance(found, NoMap):
        reason = found.reason if isinstance(found, NoMap) else NO_ANSWERS
        mean = None if raw is None or raw.mean is None else _in_units(raw.mean, scale)
        return _refused(mean, counts, level, reason)
    return _corrected(raw, found, counts, scale, level)


def _corrected(
    raw: MeanEstimate, judge_map: JudgeMap, counts: dict[str, int], scale: tuple[float, float], level: float
) -> CorrectedMean:
    mean = math.nan if raw.mean is None else raw.mean
    se = math.nan if raw.se is None else raw.se
    found = correct_means(mean, se, counts["n_clusters"] - 1, judge_map, level=level, scale=(1.0, 5.0))
    is_affine, has_interval = judge_map.method == AFFINE, math.isfinite(se)
    reason = None if is_affine else judge_map.method.partition(": ")[2]
    return CorrectedMean(
        mean=_in_units(mean, scale),
        corrected=_in_units(float(found.mean), scale),
        low=_in_units(float(found.drawn_low), scale) if has_interval else None,
        high=_in_units(float(found.drawn_high), scale) if has_interval else None,
        method=METHODS[is_affine],
        df=float(found.df) if has_interval else None,
        level=level,
        reason=reason if has_interval else NO_SPREAD,
        **counts,
    )


def _refused(mean: float | None, counts: dict[str, int], level: float, reason: str) -> CorrectedMean:
    return CorrectedMean(
        mean=mean, corrected=None, low=None, high=None, method="refused", df=None, level=level, reason=reason, **counts
    )


def _equivalents(scores: npt.ArrayLike, scale: tuple[float, float]) -> FloatArray:
    return 1.0 + (as_scores(scores) - scale[0]) * 4.0 / (scale[1] - scale[0])


def _in_units(value: float, scale: tuple[float, float]) -> float:
    return scale[0] + (value - 1.0) * (scale[1] - scale[0]) / 4.0
