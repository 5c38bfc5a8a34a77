"""The judge's map from its baseline scale to its scale of today, and means taken back through it.

Anchors graded today are regressed on their own frozen baseline means, ``score = a + c * baseline``; the mean of any
traffic graded in the same run is then ``(mean - a) / c`` on the baseline's scale. The regression runs forward, so the
result does not lean towards the anchors' mix of levels. When the traffic changed is not decided here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.stats.intervals import clip_to_scale
from evaluator.stats.numeric import BoolArray, FloatArray, as_scores, divide, mean_of_present, t_quantile
from evaluator.stats.paired import MIN_ANCHORS

AFFINE = "affine map of the anchors, HC3"
OFFSET_ONLY = "offset only: {reason}"
SLOPE_RUNS = 5
MIN_ANCHORS_FOR_SLOPE = 15
MIN_BASELINE_SD = 0.6
MAX_SLOPE_SE = 0.25
MIN_SLOPE = 0.2

# an anchor with this leverage alone decides the slope, and its residual says nothing
_FULL_LEVERAGE = 1 - 1e-6


@dataclass(frozen=True, kw_only=True)
class JudgeMap:
    """Straight line from the baseline's scale to today's: ``today = intercept + slope * baseline``.

    Attributes:
        intercept: a, in 1..5 equivalents.
        slope: c; 1 when only the offset could be estimated.
        var_intercept: Variance of the intercept between anchors.
        covariance: Covariance of intercept and slope.
        var_slope: Variance of the slope; 0 when only the offset could be estimated.
        n_anchors: Anchors graded in the run.
        df: Degrees of freedom between anchors.
        method: "affine map ..." or "offset only: ..." with the reason.
        centre: Mean of the anchors' baseline means: the line goes through their mean of today there.
    """

    intercept: float
    slope: float
    var_intercept: float
    covariance: float
    var_slope: float
    n_anchors: int
    df: float
    method: str
    centre: float = 3.0


@dataclass(frozen=True, kw_only=True)
class NoMap:
    """The anchors of the run do not allow any correction."""

    n_anchors: int
    reason: str


@dataclass(frozen=True, kw_only=True, eq=False)
class CorrectedMeans:
    """Means on the baseline's scale; all arrays have the shape of the means given.

    Attributes:
        mean: Corrected mean.
        se: Its standard error, with the error of the anchor sample; nan where the raw mean has none.
        anchor_se: The part of it that comes from the anchors: common to all rows of the run, so contrasts between
            rows are nearly free of it.
        df: Degrees of freedom of the interval.
        low: Lower bound; nan where there is none.
        high: Upper bound; nan where there is none.
        drawn_low: Lower bound clipped to the scale.
        drawn_high: Upper bound clipped to the scale.
        judge_part: Raw mean less corrected mean: what the judge adds.
        judge_part_se: Standard error of that; nan where the raw mean has none.
        level: Coverage of the intervals.
        method: From the map.
    """

    mean: FloatArray
    se: FloatArray
    anchor_se: FloatArray
    df: FloatArray
    low: FloatArray
    high: FloatArray
    drawn_low: FloatArray
    drawn_high: FloatArray
    judge_part: FloatArray
    judge_part_se: FloatArray
    level: float
    method: str


def fit_judge_map(recent: npt.ArrayLike, anchor_means: npt.ArrayLike) -> JudgeMap | NoMap:
    """Fit the map of one run, with the slope from the average of the last runs.

    The level is today's alone, the slope that of the anchors' averages over ``recent``: the same mean, less noise.
    With one run this is ordinary least squares with the HC3 covariance. Where the slope cannot be trusted only the
    offset is used, and the method says why.

    Args:
        recent: Anchor scores of the last runs in 1..5 equivalents, today last, shape (L, K), nan where missing; or
            today alone, shape (K,).
        anchor_means: Frozen baseline means, shape (K,), nan where an anchor has none.

    Returns:
        The map, or the reason why there is none: fewer than ten anchors, or a judge that no longer tells good
        answers from bad ones.

    Raises:
        ValueError: shapes that do not fit, or an infinite score.
    Assumes: the drift on anchors is the drift on traffic of the same level, close to a straight line.
    Source: MacKinnon and White, Journal of Econometrics 29, 1985 (HC3).
    """
    scores, means = np.atleast_2d(as_scores(recent)), as_scores(anchor_means)
    if scores.ndim != 2 or scores.shape[1:] != means.shape or not len(scores):
        raise ValueError(f"recent must have one column per anchor, got shapes {scores.shape} and {means.shape}")
    today = scores[-1]
    present = ~np.isnan(today) & ~np.isnan(means)
    n = int(present.sum())
    if n < MIN_ANCHORS:
        return NoMap(n_anchors=n, reason=f"{n} anchors graded, at least {MIN_ANCHORS} needed")
    base, now = means[present], today[present]
    if n < MIN_ANCHORS_FOR_SLOPE:
        return _offset(base, now, f"{n} anchors, a slope needs {MIN_ANCHORS_FOR_SLOPE}")
    if float(base.std(ddof=1)) < MIN_BASELINE_SD:
        return _offset(base, now, "the anchors lie too close together on the scale for a slope")
    averages, _ = mean_of_present(scores, axis=0)
    return _affine(means, today, averages, present)


def fit_judge_maps(
    scores: npt.ArrayLike,
    anchor_means: npt.ArrayLike,
    *,
    slope_runs: int = SLOPE_RUNS,
    change_index: int | None = None,
) -> tuple[JudgeMap | NoMap, ...]:
    """Fit the map of every run.

    Args:
        scores: Anchor scores in 1..5 equivalents, shape (R, K), nan where missing.
        anchor_means: Frozen baseline means, shape (K,).
        slope_runs: Runs whose average gives the slope, today included.
        change_index: First run after a change of the judge; slopes are not averaged across it.

    Returns:
        One map, or reason for none, per run.
    """
    matrix = as_scores(scores)
    if matrix.ndim != 2 or slope_runs < 1:
        raise ValueError(f"need scores of shape (R, K) and slope_runs >= 1, got {matrix.shape} and {slope_runs!r}")
    maps = []
    for run in range(len(matrix)):
        start = max(run + 1 - slope_runs, 0)
        if change_index is not None and run >= change_index:
            start = max(start, change_index)
        maps.append(fit_judge_map(matrix[start : run + 1], anchor_means))
    return tuple(maps)


def correct_means(
    mean: npt.ArrayLike,
    se: npt.ArrayLike,
    df: npt.ArrayLike,
    judge_map: JudgeMap,
    *,
    level: float = 0.95,
    scale: tuple[float, float] | None = None,
) -> CorrectedMeans:
    """Take raw means of traffic back to the baseline's scale, for all days and segments of one run.

    ``theta = (mean - a) / c`` with ``SE^2 = (se^2 + h'Vh) / c^2``, ``h = (1, theta)``. The shock of the run is common
    to anchors and traffic and cancels.

    Args:
        mean: Raw means in 1..5 equivalents, any shape; nan gives nan.
        se: Their standard errors between clusters, same shape; nan gives a mean without interval.
        df: Their degrees of freedom (clusters - 1), same shape.
        judge_map: The map of the run that graded these answers.
        level: Coverage, in (0, 1).
        scale: Lowest and highest score in the same units; clips drawn_low and drawn_high.

    Raises:
        ValueError: level outside (0, 1), or a scale upside down.
    Source: delta method; Rogan and Gladen, American Journal of Epidemiology 107, 1978, is the two-level case.
    """
    raw, raw_se, raw_df = (np.asarray(values, dtype=np.float64) for values in (mean, se, df))
    slope = judge_map.slope
    corrected = (raw - judge_map.intercept) / slope
    anchor_variance = (
        judge_map.var_intercept + 2 * corrected * judge_map.covariance + corrected**2 * judge_map.var_slope
    ) / slope**2
    anchor_se = np.sqrt(np.maximum(anchor_variance, 0.0))
    total_se = np.hypot(raw_se / slope, anchor_se)
    total_df = np.minimum(raw_df, judge_map.df)
    half_width = t_quantile(total_df, level) * total_se
    low, high = corrected - half_width, corrected + half_width
    return CorrectedMeans(
        mean=corrected,
        se=total_se,
        anchor_se=anchor_se,
        df=total_df,
        low=low,
        high=high,
        drawn_low=clip_to_scale(low, scale),
        drawn_high=clip_to_scale(high, scale),
        judge_part=raw - corrected,
        judge_part_se=np.hypot((1 - 1 / slope) * raw_se, anchor_se),
        level=level,
        method=judge_map.method,
    )


def _offset(base: FloatArray, now: FloatArray, reason: str) -> JudgeMap:
    difference = now - base
    n = len(difference)
    return JudgeMap(
        intercept=float(difference.mean()),
        slope=1.0,
        var_intercept=float(difference.var(ddof=1)) / n,
        covariance=0.0,
        var_slope=0.0,
        n_anchors=n,
        df=float(n - 1),
        method=OFFSET_ONLY.format(reason=reason),
        centre=float(base.mean()),
    )


def _affine(means: FloatArray, today: FloatArray, averages: FloatArray, present: BoolArray) -> JudgeMap | NoMap:
    """Slope from the averages, level from today; both errors as sums over the same anchors."""
    base, now = means[present], today[present]
    n, centre = len(base), float(base.mean())
    known = ~np.isnan(averages) & ~np.isnan(means)
    slope = _least_squares_slope(means[known], averages[known])
    level_line = float(now.mean()) + slope * (means - centre)
    level_leverage, slope_leverage = _leverage(means, present), _leverage(means, known)
    if max(float(level_leverage[present].max()), float(slope_leverage[known].max())) > _FULL_LEVERAGE:
        return _offset(base, now, "a single anchor would decide the slope")
    distance = means - float(means[known].mean())
    slope_line = float(averages[known].mean()) + slope * distance
    level_error = np.where(present, divide(today - level_line, n * (1 - level_leverage)), 0.0)
    slope_error = divide(distance * (averages - slope_line), (distance[known] @ distance[known]) * (1 - slope_leverage))
    slope_error = np.where(known, slope_error, 0.0)
    var_slope = float(slope_error @ slope_error)
    if var_slope > MAX_SLOPE_SE**2:
        return _offset(base, now, "the slope is too uncertain")
    if slope < MIN_SLOPE:
        # adding zero turns "-0.00" into "0.00"
        reason = f"the judge hardly tells good anchors from bad ones any more (slope {round(slope, 2) + 0.0:.2f})"
        return NoMap(n_anchors=n, reason=reason)
    intercept_error = level_error - centre * slope_error
    return JudgeMap(
        intercept=float(now.mean()) - slope * centre,
        slope=slope,
        var_intercept=float(intercept_error @ intercept_error),
        covariance=float(intercept_error @ slope_error),
        var_slope=var_slope,
        n_anchors=n,
        df=float(n - 2),
        method=AFFINE,
        centre=centre,
    )


def _least_squares_slope(x: FloatArray, y: FloatArray) -> float:
    distance = x - x.mean()
    return float(distance @ y) / float(distance @ distance)


def _leverage(x: FloatArray, used: BoolArray) -> FloatArray:
    """Leverage of each point in a line fitted to the used ones."""
    distance = x - float(x[used].mean())
    return 1 / int(used.sum()) + distance**2 / float(distance[used] @ distance[used])
