"""Who moved the mean: the change between two periods split into judge, assistant and mix, with intervals.

Arrays in, one frozen result out, for a comparison of two periods that were chosen beforehand. Watching day by day is
the work of ``detector`` and ``monitor``; shares and errors come from ``share_errors``, words from ``verdict``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evaluator.stats.clusters import Answers, Ids, answers_of, numbered, variance_between_clusters
from evaluator.stats.correction import JudgeMap, NoMap, fit_judge_map
from evaluator.stats.numeric import FloatArray, as_scores, check_level, mean_of_present, t_quantile
from evaluator.stats.paired import MIN_ANCHORS
from evaluator.stats.share_errors import Cells, Errors, run_variance, share_errors, share_estimates, split_by_segment
from evaluator.stats.steadying import BLAME_LEVEL, Needed, needed, steady_slope
from evaluator.stats.verdict import Attribution, Share, decide, look_of

SMALL_CELL = 30  # answers in either period under which a segment is pooled with the other small ones
METHOD = "{method}; Kitagawa split; Student t, linearised between clusters"
NO_SPREAD = "no interval: the answers of a period show no spread between conversations"

DEFAULT_TOLERANCE = 0.1  # 1..5 equivalents

_OTHER = ("other",)


@dataclass(frozen=True, kw_only=True)
class _Wanted:
    """Units of the scale in one point of 1..5, coverage, and the largest change that does not matter."""

    unit: float
    level: float
    tolerance: float


def attribute(
    *,
    before: npt.ArrayLike,
    after: npt.ArrayLike,
    anchors_before: npt.ArrayLike,
    anchors_after: npt.ArrayLike,
    segments_before: Ids | None = None,
    segments_after: Ids | None = None,
    clusters_before: Ids | None = None,
    clusters_after: Ids | None = None,
    weights_before: npt.ArrayLike | None = None,
    weights_after: npt.ArrayLike | None = None,
    scale: tuple[float, float] = (1.0, 5.0),
    level: float = 0.95,
    tolerance: float | None = None,
) -> Attribution:
    """Say how much of a change of the mean is the judge's, the assistant's, and a changed mix of questions'.

    The anchors' averages after are regressed on those before; the answers after, taken back through that line, are
    what the judge of before would have given. Judge = raw change less corrected change; the rest is split into change
    within segments (assistant) and change of their shares (mix), each at the average of both periods.

    Args:
        before: Scores of the answers of the first period, shape (n,); nan is "unscored".
        after: Scores of the second period, graded in the runs of ``anchors_after``.
        anchors_before: Scores of the fixed anchors in the runs of the first period, shape (B, K), or their means, shape
            (K,); nan where missing.
        anchors_after: The same anchors in the same order in the runs of the second period, shape (R, K) or (K,). Runs
            and answers of the same days share the judge's mood of the day, which then cancels.
        segments_before: Kind of question of each answer; without it there is no share of the mix. Kinds with under 30
            answers in either period are pooled.
        segments_after: The same for the second period.
        clusters_before: Conversation or user of each answer; by default every answer stands for itself.
        clusters_after: The same for the second period; the two periods count as independent.
        weights_before: 1 / inclusion probability of each answer; 1 by default.
        weights_after: The same for the second period.
        scale: Lowest and highest score of the rubric; all results are in its units.
        level: Coverage of the intervals, in (0, 1).
        tolerance: Largest change that does not matter; by default a fortieth of the scale, 0.1 on 1 to 5.

    Returns:
        The shares with their intervals, the verdict, and what it would take to decide where it is undecided. Where the
        anchors carry no correction there is a reason and no share.

    Raises:
        ValueError: a period without scores, shapes or lengths that do not fit, segments for one period only, level,
            scale or tolerance out of range.
    Assumes: the two periods were not chosen by looking at the scores; clusters are independent; the drift on anchors is
        the drift on answers of the same level, close to a straight line.
    Source: Kitagawa, Journal of the American Statistical Association 50, 1955 (split); MacKinnon and White, Journal of
        Econometrics 29, 1985 (HC3); linearisation as in ``clusters.variance_between_clusters``.
    """
    wanted = _wanted(scale, level, tolerance)
    kinds = _pooled(segments_before, segments_after)
    first = _side(before, "before", scale, clusters_before, weights_before, kinds[0])
    second = _side(after, "after", scale, clusters_after, weights_after, kinds[1])
    base, now = (_anchors(rows, scale) for rows in (anchors_before, anchors_after))
    found = fit_judge_map(_averages(now), _averages(base))
    if isinstance(found, NoMap):
        return _refused(first, second, found, wanted)
    judge_map = steady_slope(found)
    cells, has_mix = split_by_segment(first, second, judge_map), segments_before is not None
    errors = share_errors(first, second, judge_map, cells, of_runs=run_variance(base, now))
    return _result(first, second, judge_map, cells, errors, wanted, n_runs=len(now), has_mix=has_mix)


# ---------------------------------------------------------------- what is given


def _wanted(scale: tuple[float, float], level: float, tolerance: float | None) -> _Wanted:
    check_level(level)
    if not scale[0] < scale[1]:
        raise ValueError(f"scale must go from low to high, got {scale!r}")
    unit = (scale[1] - scale[0]) / 4.0
    if tolerance is not None and not tolerance > 0:
        raise ValueError(f"tolerance must be positive, got {tolerance!r}")
    return _Wanted(unit=unit, level=level, tolerance=DEFAULT_TOLERANCE * unit if tolerance is None else tolerance)


def _equivalents(scores: npt.ArrayLike, scale: tuple[float, float]) -> FloatArray:
    """Scores in 1..5 equivalents."""
    return 1.0 + (as_scores(scores) - scale[0]) * 4.0 / (scale[1] - scale[0])


def _side(
    scores: npt.ArrayLike,
    name: str,
    scale: tuple[float, float],
    clusters: Ids | None,
    weights: npt.ArrayLike | None,
    segments: npt.ArrayLike | None,
) -> Answers:
    found = answers_of(_equivalents(scores, scale), clusters=clusters, weights=weights, segments=segments)
    if not found.n:
        raise ValueError(f"{name} holds no score")
    return found


def _anchors(rows: npt.ArrayLike, scale: tuple[float, float]) -> FloatArray:
    found = np.atleast_2d(_equivalents(rows, scale))
    if found.ndim != 2 or not found.size:
        raise ValueError(f"anchors must be runs by anchors, got shape {found.shape}")
    return found


def _averages(rows: FloatArray) -> FloatArray:
    average, _ = mean_of_present(rows, axis=0)
    return average


def _pooled(before: Ids | None, after: Ids | None) -> tuple[npt.ArrayLike | None, npt.ArrayLike | None]:
    """Number the segments of both periods; those that are small in either become one."""
    if before is None or after is None:
        if (before is None) != (after is None):
            raise ValueError("give segments_before and segments_after, or neither")
        return None, None
    numbers, names = numbered([*before, *after])
    cut = len(list(before))
    counts = [Counter(part.tolist()) for part in (numbers[:cut], numbers[cut:])]
    kept: list[Hashable] = [
        place if min(count[place] for count in counts) >= SMALL_CELL else _OTHER for place in range(len(names))
    ]
    pooled, _ = numbered(kept)
    return pooled[numbers[:cut]], pooled[numbers[cut:]]


# ---------------------------------------------------------------- the result


def _result(
    first: Answers,
    second: Answers,
    judge_map: JudgeMap,
    cells: Cells,
    errors: Errors,
    wanted: _Wanted,
    *,
    n_runs: int,
    has_mix: bool,
) -> Attribution:
    estimates = share_estimates(first, second, cells)
    halves = t_quantile(errors.df, wanted.level) * errors.se
    raw, judge, assistant, mix = (_share(*pair, wanted) for pair in zip(estimates, halves, strict=True))
    is_beyond = abs(estimates[2]) > float(t_quantile(errors.df, BLAME_LEVEL)) * errors.se[2]
    if judge.look == assistant.look == "changed" and not is_beyond:
        assistant = replace(assistant, look="cannot tell yet")
    if not has_mix:
        mix = Share(estimate=0.0, low=None, high=None, look="not looked at")
    more = _needed(errors, second, judge_map, wanted)
    return Attribution(
        raw=raw,
        judge=judge,
        assistant=assistant,
        mix=mix,
        verdict=decide(judge, assistant, mix, tolerance=wanted.tolerance, raw=raw),
        more_answers=more.answers,
        more_days=None if more.answers is None else math.ceil(more.answers * n_runs / second.n),
        more_anchors=more.anchors,
        more_together=more.together,
        n_before=first.n,
        n_after=second.n,
        n_clusters=min(first.n_clusters, second.n_clusters),
        n_anchors=judge_map.n_anchors,
        df=errors.df if errors.is_known else None,
        level=wanted.level,
        tolerance=wanted.tolerance,
        method=METHOD.format(method=judge_map.method),
        reason=None if errors.is_known else NO_SPREAD,
    )


def _needed(errors: Errors, second: Answers, judge_map: JudgeMap, wanted: _Wanted) -> Needed:
    """Answers after, anchors, or both, until the assistant's interval is narrow enough."""
    quantile, limit = float(t_quantile(errors.df, wanted.level)), wanted.tolerance / wanted.unit
    before, after, anchors, allowance = (
        quantile * math.sqrt(part[2]) if errors.is_known else math.nan
        for part in (errors.before, errors.after, errors.anchors, errors.allowance)
    )
    return needed((second.n, after), (judge_map.n_anchors, anchors), math.hypot(before, allowance), limit)


def _share(estimate: float, half_width: float, wanted: _Wanted) -> Share:
    middle, half = float(estimate) * wanted.unit, float(half_width) * wanted.unit
    low, high = (middle - half, middle + half) if math.isfinite(half) else (None, None)
    return Share(estimate=middle, low=low, high=high, look=look_of(low, high, wanted.tolerance))


def _refused(first: Answers, second: Answers, found: NoMap, wanted: _Wanted) -> Attribution:
    unknown = Share(estimate=None, low=None, high=None, look="cannot tell yet")
    variance = sum(
        variance_between_clusters((side.score - side.mean) * side.weight / side.weight.sum(), side.cluster)
        for side in (first, second)
    )
    n_clusters = min(first.n_clusters, second.n_clusters)
    half = float(t_quantile(n_clusters - 1, wanted.level)) * math.sqrt(variance) if variance > 0 else math.nan
    return Attribution(
        raw=_share(second.mean - first.mean, half, wanted),
        judge=unknown,
        assistant=unknown,
        mix=unknown,
        verdict="undecided",
        more_answers=None,
        more_days=None,
        more_anchors=max(MIN_ANCHORS - found.n_anchors, 0) or None,
        more_together=False,
        n_before=first.n,
        n_after=second.n,
        n_clusters=n_clusters,
        n_anchors=found.n_anchors,
        df=None,
        level=wanted.level,
        tolerance=wanted.tolerance,
        method="refused",
        reason=found.reason,
    )
