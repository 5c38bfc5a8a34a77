"""Three shares of a change from single answers, and their errors in closed form. Whose it is, is said elsewhere.

Every share is a smooth function of the segments' weights and sums and of the anchors' line. So its error has these
parts: how each cluster of answers moves it (linearised), how each anchor moves the line (HC3), with opposite signs in
judge and assistant, and an allowance for the line not being exactly straight. The judge's mood of a run is in the raw
change and in the judge's share. All in 1..5 equivalents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluator.stats.clusters import Answers, variance_between_clusters
from evaluator.stats.correction import JudgeMap
from evaluator.stats.numeric import FloatArray, divide, mean_of_present
from evaluator.stats.steadying import allowance

# variance that equal scores leave by rounding alone; one answer of a million that differs leaves far more
_ROUNDING = 1e-20


@dataclass(frozen=True, kw_only=True, eq=False)
class Cells:
    """Both periods by segment, on the baseline's scale. Where a segment is missing, its level is the other period's.

    Attributes:
        share_before: p, shape (segments,), as all of them.
        share_after: q.
        level_before: m.
        level_after: M, corrected.
        by_level_before: Derivative of assistant and mix by m, shape (2, segments).
        by_level_after: Derivative of assistant and mix by M, shape (2, segments).
    """

    share_before: FloatArray
    share_after: FloatArray
    level_before: FloatArray
    level_after: FloatArray
    by_level_before: FloatArray
    by_level_after: FloatArray


def split_by_segment(first: Answers, second: Answers, judge_map: JudgeMap) -> Cells:
    """Weigh both periods by segment and take the second back to the baseline's scale."""
    n = int(max(first.segment.max(), second.segment.max())) + 1
    weights, sums = (
        [np.bincount(side.segment, weights=values, minlength=n).astype(np.float64) for side, values in sides]
        for sides in (
            ((first, first.weight), (second, second.weight)),
            ((first, first.weight * first.score), (second, second.weight * second.score)),
        )
    )
    return cells_of(weights[0], weights[1], divide(sums[0], weights[0]), divide(sums[1], weights[1]), judge_map)


def cells_of(
    weight_before: FloatArray,
    weight_after: FloatArray,
    mean_before: FloatArray,
    raw_mean_after: FloatArray,
    judge_map: JudgeMap,
) -> Cells:
    """Cells from the weights and means of the segments, shape (segments,) each; nan for the mean of an empty one."""
    p, q = weight_before / weight_before.sum(), weight_after / weight_after.sum()
    m, corrected = mean_before, (raw_mean_after - judge_map.intercept) / judge_map.slope
    # a kind whose answers are all unscored is in neither period and counts nothing
    level0, level1 = np.nan_to_num(np.where(p > 0, m, corrected)), np.nan_to_num(np.where(q > 0, corrected, m))
    in_both = (p > 0) & (q > 0)
    within, between = np.where(in_both, (p + q) / 2, 0.0), np.where(in_both, (q - p) / 2, q - p)
    return Cells(
        share_before=p,
        share_after=q,
        level_before=level0,
        level_after=level1,
        by_level_before=np.stack([-within, np.where(p > 0, between, 0.0)]),
        by_level_after=np.stack([within, np.where(q > 0, between, 0.0)]),
    )


def _influences_before(side: Answers, cells: Cells) -> FloatArray:
    """How much each answer of the first period moves raw, judge, assistant and mix, shape (4, n)."""
    p, g = cells.share_before, side.segment
    change, middle = cells.level_after - cells.level_before, (cells.level_before + cells.level_after) / 2
    off_level = side.score - cells.level_before[g]
    assistant = divide(cells.by_level_before[0], p)[g] * off_level + (change[g] - p @ change) / 2
    mix = divide(cells.by_level_before[1], p)[g] * off_level - (middle[g] - p @ middle)
    raw = side.mean - side.score
    return np.asarray(np.stack([raw, np.zeros_like(raw), assistant, mix]) * side.weight / side.weight.sum())


def _influences_after(side: Answers, cells: Cells, judge_map: JudgeMap) -> FloatArray:
    """How much each answer of the second period moves raw, judge, assistant and mix, shape (4, n)."""
    q, g = cells.share_after, side.segment
    change, middle = cells.level_after - cells.level_before, (cells.level_before + cells.level_after) / 2
    off_level = (side.score - judge_map.intercept) / judge_map.slope - cells.level_after[g]
    assistant = divide(cells.by_level_after[0], q)[g] * off_level + (change[g] - q @ change) / 2
    mix = divide(cells.by_level_after[1], q)[g] * off_level + middle[g] - q @ middle
    raw = side.score - side.mean
    judge = (1 - 1 / judge_map.slope) * raw
    return np.asarray(np.stack([raw, judge, assistant, mix]) * side.weight / side.weight.sum())


def anchor_variances(cells: Cells, judge_map: JudgeMap) -> FloatArray:
    """What the anchors' line adds to the variance of raw, judge, assistant and mix.

    A line off by (da, dc) moves a corrected level M by ``-(da + M dc) / c``.
    """
    by_level = np.concatenate([np.zeros((1, len(cells.share_after))), [-cells.share_after], cells.by_level_after])
    by_intercept, by_slope = by_level.sum(axis=1), by_level @ cells.level_after
    variance = (
        by_intercept**2 * judge_map.var_intercept
        + 2 * by_intercept * by_slope * judge_map.covariance
        + by_slope**2 * judge_map.var_slope
    )
    return np.asarray(np.maximum(variance, 0.0) / judge_map.slope**2, dtype=np.float64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Errors:
    """Variances of raw, judge, assistant and mix by where they come from, shape (4,) each; 1..5 equivalents."""

    before: FloatArray
    after: FloatArray
    anchors: FloatArray
    runs: FloatArray
    allowance: FloatArray
    df: float

    @property
    def is_known(self) -> bool:
        """Whether there is an interval. A spread of zero is one that was not seen, not one that is not there."""
        return bool(min(self.before[0], self.after[0]) > _ROUNDING)

    @property
    def se(self) -> FloatArray:
        """Standard errors; nan where there is no interval."""
        total = self.before + self.after + self.anchors + self.runs + self.allowance
        return np.sqrt(total) if self.is_known else np.full(4, np.nan)


def share_errors(first: Answers, second: Answers, judge_map: JudgeMap, cells: Cells, *, of_runs: float = 0.0) -> Errors:
    """Variances of the shares, with what ``run_variance`` found, and the degrees of freedom of their intervals."""
    allowed = allowance(judge_map, float(share_estimates(first, second, cells)[1])) ** 2
    return Errors(
        before=_variances(_influences_before(first, cells), first),
        after=_variances(_influences_after(second, cells, judge_map), second),
        anchors=anchor_variances(cells, judge_map),
        runs=np.array([of_runs, of_runs, 0.0, 0.0]),
        allowance=np.array([0.0, allowed, allowed, 0.0]),
        df=float(min(first.n_clusters - 1, second.n_clusters - 1, judge_map.df)),
    )


def run_variance(before: FloatArray, after: FloatArray) -> float:
    """Variance of the difference of two periods that comes from the judge's mood of each run.

    It moves anchors and answers alike: it is in the raw change and in the judge's share, and cancels in the
    assistant's. Without several runs in either period nothing is known of it, and it counts 0.

    Args:
        before: Anchor scores, shape (B, K), nan where missing.
        after: The same, shape (R, K).
    """
    squares, df, factor = 0.0, 0, 0.0
    for rows in (before, after):
        average, _ = mean_of_present(rows, axis=0)
        moods, n = mean_of_present(rows - average, axis=1)
        known = moods[n > 0]
        if not len(known):
            return 0.0
        squares, df = squares + float(((known - known.mean()) ** 2).sum()), df + len(known) - 1
        factor += 1 / len(known)
    return squares / df * factor if df else 0.0


def _variances(influences: FloatArray, side: Answers) -> FloatArray:
    return np.array([variance_between_clusters(row, side.cluster) for row in influences])


def share_estimates(first: Answers, second: Answers, cells: Cells) -> FloatArray:
    """Raw, judge, assistant and mix; the last three add up to the first. Kitagawa's split."""
    p, q = cells.share_before, cells.share_after
    raw = second.mean - first.mean
    assistant = float((p + q) / 2 @ (cells.level_after - cells.level_before))
    mix = float((cells.level_before + cells.level_after) / 2 @ (q - p))
    return np.array([raw, raw - assistant - mix, assistant, mix])
