"""The sums of both periods by kind of question, split into the shares of judge, assistant and mix, with their errors.

From stored sums: the answers of a period are as many independent draws as their weights and conversations leave. Which
days are compared, and in which units, is decided in ``shares``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evaluator.analysis.totals import COLUMN, mean_columns, transform_sums
from evaluator.stats.correction import JudgeMap, correct_means
from evaluator.stats.numeric import FloatArray, t_quantile
from evaluator.stats.share_errors import anchor_variances, cells_of
from evaluator.stats.shares import ChangeShares, decompose_change
from evaluator.stats.steadying import BLAME_LEVEL, Needed, allowance, needed, steady_slope


@dataclass(frozen=True, kw_only=True, eq=False)
class KindSums:
    """Sums by value of the mix key, shape (kinds, SUM_NAMES): before raw, after raw and after corrected run by run."""

    before: FloatArray
    after: FloatArray
    corrected: FloatArray


@dataclass(frozen=True, kw_only=True)
class Split:
    """The shares with half the width of their intervals, 1..5 equivalents; None where there is no interval.

    Attributes:
        shares: Judge, assistant and mix.
        judge_half: Of the judge's share.
        assistant_half: Of the assistant's share.
        mix_half: Of the mix's share.
        parts: What ``assistant_half`` comes from, to be added in squares: answers before, answers after, anchors,
            allowance; nan where unknown.
        is_beyond: Whether the assistant's share is so far from zero that it may be blamed beside the judge.
        n_anchors: Anchors used.
        method: How.
    """

    shares: ChangeShares
    judge_half: float | None
    assistant_half: float | None
    mix_half: float | None
    parts: tuple[float, float, float, float]
    is_beyond: bool
    n_anchors: int
    method: str

    def needed(self, n_after: int, wanted: float) -> Needed:
        """What it takes until the assistant's half-width is what is wanted: units after (days, answers) or anchors."""
        before, after, anchors, allowed = self.parts
        return needed((n_after, after), (self.n_anchors, anchors), math.hypot(before, allowed), wanted)


def split_change(sums: KindSums, judge_map: JudgeMap, *, of_runs: float, level: float) -> Split:
    """Split the change through the steadied line of the whole later period.

    The sums were corrected with the line of each run. Going forward through the line of the period and back through the
    steadied one keeps what each run's anchors took out.

    Args:
        sums: Of both periods, by kind of question.
        judge_map: From the anchors' averages over the later period.
        of_runs: Variance from the judge's mood of each run (``share_errors.run_variance``).
        level: Coverage of the intervals.
    """
    steady = steady_slope(judge_map)
    rows = np.ones(len(sums.corrected))
    factor, offset = judge_map.slope / steady.slope, (judge_map.intercept - steady.intercept) / steady.slope
    corrected = mean_columns(transform_sums(sums.corrected, factor * rows, offset * rows), level)
    before, after = mean_columns(sums.before, level), mean_columns(sums.after, level)
    counts = _effective_counts(sums.before), _effective_counts(sums.after)
    shares = decompose_change(
        n_before=counts[0],
        n_after=counts[1],
        mean_before=before["mean"],
        mean_after=corrected["mean"],
        raw_mean_before=before["mean"],
        raw_mean_after=after["mean"],
        se_before=_known_se(before),
        se_after=_known_se(corrected),
    )
    total = mean_columns(sums.after.sum(axis=0)[None, :], level)
    judge_se = float(correct_means(total["mean"], total["se"], total["df"], steady, level=level).judge_part_se[0])
    cells = cells_of(*counts, before["mean"], after["mean"], steady)
    _, _, of_assistant, of_mix = (float(error) for error in np.sqrt(anchor_variances(cells, steady)))
    return _with_errors(shares, steady, counts, (judge_se, of_assistant, of_mix, math.sqrt(of_runs)), level)


def _with_errors(
    shares: ChangeShares,
    judge_map: JudgeMap,
    counts: tuple[FloatArray, FloatArray],
    errors: tuple[float, float, float, float],
    level: float,
) -> Split:
    """Put the errors together: judge's share, anchors in the assistant's, anchors in the mix's, runs."""
    judge_se, of_assistant, of_mix, of_runs = errors
    quantile, allowed = float(t_quantile(judge_map.df, level)), allowance(judge_map, shares.judge)
    answers_se = math.nan if shares.assistant_se is None else shares.assistant_se
    mix_se = math.nan if shares.mix_se is None else shares.mix_se
    # the answers of both periods spread alike: the fewer of a period, the more of the error is its own
    of_before, of_after = (1 / float(count.sum()) for count in counts)
    both = of_before + of_after
    parts = (
        *(quantile * answers_se * math.sqrt(own / both) for own in (of_before, of_after)),
        quantile * of_assistant,
        quantile * allowed,
    )
    assistant_se = math.hypot(answers_se, of_assistant, allowed)
    blame_quantile = float(t_quantile(judge_map.df, BLAME_LEVEL))
    return Split(
        shares=shares,
        judge_half=_half(quantile, judge_se, of_runs, allowed),
        assistant_half=_half(quantile, assistant_se),
        mix_half=_half(quantile, mix_se, of_mix),
        parts=(parts[0], parts[1], parts[2], parts[3]),
        is_beyond=abs(shares.assistant) > blame_quantile * assistant_se,
        n_anchors=judge_map.n_anchors,
        method=f"{judge_map.method}; Kitagawa split",
    )


def _effective_counts(sums: FloatArray) -> FloatArray:
    """Shares by weight, as counts that carry as much as so many independent answers.

    A sum of weights is the size of the traffic, not of the sample; and the answers of a conversation come together.
    """
    total = sums.sum(axis=0)
    n, n_clusters = total[COLUMN["n"]], total[COLUMN["n_clusters"]]
    sum_w, sum_w2 = total[COLUMN["sum_w"]], total[COLUMN["sum_w2"]]
    effective = sum_w**2 / sum_w2 * n_clusters / n
    return np.asarray(sums[:, COLUMN["sum_w"]] / sum_w * effective, dtype=np.float64)


def _known_se(columns: dict[str, FloatArray]) -> FloatArray:
    """Standard errors of the cells; one that shows no spread of its own takes the widest spread of the others."""
    spread = columns["se"] * np.sqrt(columns["n_clusters"])
    widest = float(np.nanmax(spread)) if np.isfinite(spread).any() else math.nan
    borrowed = widest / np.sqrt(np.maximum(columns["n_clusters"], 1.0))
    return np.where(np.isnan(columns["se"]), borrowed, columns["se"])


def _half(quantile: float, *errors: float) -> float | None:
    half = quantile * math.hypot(*errors)
    return half if math.isfinite(half) else None
