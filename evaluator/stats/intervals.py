"""Means and shares with honest intervals, from scores or from the stored daily sums; and what an interval says.

No interval is better than a false one: a single score, an empty day or scores without any spread have none. Nothing
here knows of anchors, days or drift.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
from scipy import special

from evaluator.stats.numeric import FloatArray, as_scores, check_level, divide, t_quantile

STUDENT = "Student t"
CLUSTERED = "Student t between clusters, linearised"
WILSON = "Wilson"
CLOPPER_PEARSON = "Clopper-Pearson"

# Sums of squares of equal scores differ from zero by rounding only; a real difference in one score of a million
# clusters is still some thousand times larger than this share of the sum.
_ROUNDING = 1e-12

SUM_NAMES = (
    "n",
    "n_clusters",
    "sum_w",
    "sum_w2",
    "sum_wy",
    "sum_w2y",
    "sum_w2y2",
    "sum_t2",
    "sum_tw",
    "sum_ww",
)


class Finding(StrEnum):
    """What an interval for a change says, given how much change matters."""

    CHANGED_UP = "changed_up"
    CHANGED_DOWN = "changed_down"
    STEADY = "steady"
    NO_CHANGE_SHOWN = "no_change_shown"
    CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True, kw_only=True)
class Interval:
    """Bounds with their level and method. Both bounds are finite and low < high."""

    low: float
    high: float
    level: float
    method: str


@dataclass(frozen=True, kw_only=True)
class MeanEstimate:
    """A mean with all that must be shown beside it.

    Attributes:
        n: Scores used.
        mean: In scale units; None without scores.
        sd: Spread of the scores (n - 1); None under two scores.
        se: Standard error of the mean; None where there is no interval.
        interval: Raw bounds, which may leave the scale; None under two scores (or clusters) or without spread.
        drawn_low: Lower bound clipped to the scale, for charts; None without interval.
        drawn_high: The same for the upper bound.
        method: Name of the method, also when there was too little for an interval.
        no_spread: Two scores (or clusters) or more and no difference between them: the spread is unknown, not zero.
        n_unscored: Entries without a score (nan), left out.
    """

    n: int
    mean: float | None
    sd: float | None
    se: float | None
    interval: Interval | None
    drawn_low: float | None
    drawn_high: float | None
    method: str
    no_spread: bool
    n_unscored: int = 0


def classify(low: float | None, high: float | None, tolerance: float) -> Finding:
    """Say in one word what an interval for a change shows.

    ``steady`` needs the whole interval inside +-tolerance, and wins over "changed" where a change is certain but too
    small to matter. An interval that holds zero but is wider shows neither change nor steadiness.

    Args:
        low: Lower bound; None, nan or -inf when there is none.
        high: Upper bound; None, nan or inf when there is none.
        tolerance: Largest change that does not matter, in the units of the bounds, > 0.

    Raises:
        ValueError: tolerance not positive, or low > high.
    """
    if not tolerance > 0:
        raise ValueError(f"tolerance must be positive, got {tolerance!r}")
    if low is None or high is None or not (np.isfinite(low) and np.isfinite(high)):
        return Finding.CANNOT_TELL
    if low > high:
        raise ValueError(f"low must not exceed high, got {low!r} and {high!r}")
    if -tolerance <= low and high <= tolerance:
        return Finding.STEADY
    if low > 0:
        return Finding.CHANGED_UP
    if high < 0:
        return Finding.CHANGED_DOWN
    return Finding.NO_CHANGE_SHOWN


def mean_interval(
    scores: npt.ArrayLike, *, level: float = 0.95, scale: tuple[float, float] | None = None
) -> MeanEstimate:
    """Mean of independent scores with its Student interval.

    Args:
        scores: Scores, shape (n,); nan is "unscored": left out and counted.
        level: Coverage of the interval, in (0, 1).
        scale: Lowest and highest score of the rubric; clips what is drawn, never the interval itself.

    Returns:
        The estimate; no mean without scores, no interval under two scores or when all are equal.

    Raises:
        ValueError: level outside (0, 1), an infinite score, or a scale upside down.
    Assumes: scores are independent; with conversations or weights use ``mean_from_sums``.
    """
    values = as_scores(scores).ravel()
    present = values[~np.isnan(values)]
    n = len(present)
    ones = {name: float(n) for name in ("n", "n_clusters", "sum_w", "sum_w2", "sum_ww")}
    total, squares = float(present.sum()), float((present**2).sum())
    sums = ones | {"sum_wy": total, "sum_w2y": total, "sum_tw": total, "sum_w2y2": squares, "sum_t2": squares}
    columns = means_from_sums({name: np.array([value]) for name, value in sums.items()}, level=level, scale=scale)
    return _first_row(columns, level, STUDENT, n_unscored=len(values) - n)


def mean_from_sums(
    *,
    n: int,
    sum_w: float,
    sum_w2: float,
    sum_wy: float,
    sum_w2y: float,
    sum_w2y2: float,
    n_clusters: int,
    sum_t2: float,
    sum_tw: float,
    sum_ww: float,
    level: float = 0.95,
    scale: tuple[float, float] | None = None,
) -> MeanEstimate:
    """Weighted mean of clustered scores from the sums the store keeps; one row of ``means_from_sums``."""
    given = (n, n_clusters, sum_w, sum_w2, sum_wy, sum_w2y, sum_w2y2, sum_t2, sum_tw, sum_ww)
    sums = {name: np.array([float(value)]) for name, value in zip(SUM_NAMES, given, strict=True)}
    return _first_row(means_from_sums(sums, level=level, scale=scale), level, CLUSTERED)


def means_from_sums(
    sums: Mapping[str, npt.ArrayLike], *, level: float = 0.95, scale: tuple[float, float] | None = None
) -> dict[str, npt.NDArray[np.generic]]:
    """Weighted means of clustered scores for many rows, from the sums the store keeps.

    The mean is ``m = sum w y / sum w`` (w = 1 / inclusion probability), its variance the linearised one between
    clusters, ``C/(C-1) * (sum T^2 - 2 m sum T W + m^2 sum W^2) / (sum w)^2`` with T = sum of w y and W = sum of w
    within a cluster, and the interval has C - 1 degrees of freedom. With weights of 1 and clusters of one score this
    is the ordinary Student interval.

    Args:
        sums: Columns ``SUM_NAMES``, each of shape (rows,): n, n_clusters, sum_w, sum_w2, sum_wy, sum_w2y, sum_w2y2
            over scores; sum_t2, sum_tw, sum_ww (sums of T^2, T W, W^2) over clusters.
        level: Coverage of the intervals, in (0, 1).
        scale: Lowest and highest score; clips drawn_low and drawn_high.

    Returns:
        Columns of shape (rows,): n, n_clusters, mean, sd, se, df, low, high, drawn_low, drawn_high, n_effective (Kish)
        as floats, nan where there is none, and no_spread as booleans.

    Raises:
        ValueError: level outside (0, 1), a scale upside down, or a missing column.
    Assumes: clusters are independent of each other. Where weights differ, sd is the w^2-weighted spread.
    Source: Hájek, 1971 (the ratio mean); linearisation as in Särndal, Swensson and Wretman, 1992, section 5.7.
    """
    check_level(level)
    column = _float_columns(sums)
    n_clusters, sum_w = column["n_clusters"], column["sum_w"]
    mean = divide(column["sum_wy"], sum_w)
    residual = column["sum_t2"] - 2 * mean * column["sum_tw"] + mean**2 * column["sum_ww"]
    several = n_clusters >= 2
    no_spread = several & (residual <= _ROUNDING * column["sum_t2"])
    usable = several & ~no_spread
    df = np.where(usable, n_clusters - 1, np.nan)
    variance = np.where(usable, divide(n_clusters * residual, n_clusters - 1) / np.where(usable, sum_w, 1.0) ** 2, 0.0)
    se = np.where(usable, np.sqrt(variance), np.nan)
    half_width = t_quantile(df, level) * se
    low, high = mean - half_width, mean + half_width
    return {
        "n": column["n"],
        "n_clusters": n_clusters,
        "mean": mean,
        "sd": _spread(column, mean),
        "se": se,
        "df": df,
        "low": low,
        "high": high,
        "drawn_low": clip_to_scale(low, scale),
        "drawn_high": clip_to_scale(high, scale),
        "n_effective": divide(sum_w**2, column["sum_w2"]),
        "no_spread": no_spread,
    }


def clip_to_scale(bounds: FloatArray, scale: tuple[float, float] | None) -> FloatArray:
    """Clip bounds to the scale for drawing; nan stays nan.

    Raises:
        ValueError: the scale's lowest score is not under its highest.
    """
    if scale is None:
        return bounds
    if not scale[0] < scale[1]:
        raise ValueError(f"scale must go from low to high, got {scale!r}")
    return np.clip(bounds, scale[0], scale[1])


def wilson(successes: int, n: int, *, level: float = 0.95) -> Interval | None:
    """Score interval of a share, the one to show.

    Args:
        successes: Hits, 0 <= successes <= n.
        n: Trials; 0 gives None.
        level: Coverage, in (0, 1).

    Raises:
        ValueError: counts that do not fit, or level outside (0, 1).
    Source: Wilson, Journal of the American Statistical Association 22, 1927.
    """
    _check_counts(successes, n, level)
    if n == 0:
        return None
    z2 = float(special.ndtri(0.5 + level / 2)) ** 2
    share = successes / n
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half_width = float(np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n)))) / (1 + z2 / n)
    low = 0.0 if successes == 0 else max(centre - half_width, 0.0)
    high = 1.0 if successes == n else min(centre + half_width, 1.0)
    return Interval(low=low, high=high, level=level, method=WILSON)


def clopper_pearson(successes: int, n: int, *, level: float = 0.95) -> Interval | None:
    """Interval of a share that covers at least ``level`` for every n, the one for guarantees.

    Args:
        successes: Hits, 0 <= successes <= n.
        n: Trials; 0 gives None.
        level: Coverage, in (0, 1).

    Raises:
        ValueError: counts that do not fit, or level outside (0, 1).
    Source: Clopper and Pearson, Biometrika 26, 1934.
    """
    _check_counts(successes, n, level)
    if n == 0:
        return None
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else float(special.betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes == n else float(special.betaincinv(successes + 1, n - successes, 1 - tail))
    return Interval(low=low, high=high, level=level, method=CLOPPER_PEARSON)


def effective_sample_size(weights: npt.ArrayLike) -> float:
    """Scores of equal weight that would carry as much: ``(sum w)^2 / sum w^2``; 0 without weights.

    Raises:
        ValueError: a negative or non-finite weight.
    Source: Kish, Survey Sampling, 1965.
    """
    w = np.asarray(weights, dtype=np.float64)
    if not np.isfinite(w).all() or (w < 0).any():
        raise ValueError("weights must be finite and not negative")
    total = float(w.sum())
    return total**2 / float((w**2).sum()) if total > 0 else 0.0


def _check_counts(successes: int, n: int, level: float) -> None:
    check_level(level)
    if not 0 <= successes <= n:
        raise ValueError(f"successes must lie between 0 and n, got {successes!r} of {n!r}")


def _float_columns(sums: Mapping[str, npt.ArrayLike]) -> dict[str, FloatArray]:
    missing = [name for name in SUM_NAMES if name not in sums]
    if missing:
        raise ValueError(f"sums lack the columns {', '.join(missing)}")
    return {name: np.asarray(sums[name], dtype=np.float64) for name in SUM_NAMES}


def _spread(column: Mapping[str, FloatArray], mean: FloatArray) -> FloatArray:
    """Spread of the scores themselves, ignoring clusters; rounding below zero counts as zero."""
    n, squares = column["n"], column["sum_w2y2"]
    residual = squares - 2 * mean * column["sum_w2y"] + mean**2 * column["sum_w2"]
    residual = np.where(residual <= _ROUNDING * squares, 0.0, residual)
    variance = divide(n * residual, (n - 1) * column["sum_w2"])
    return np.sqrt(np.where(n >= 2, variance, np.nan))


def _first_row(
    columns: Mapping[str, npt.NDArray[np.generic]], level: float, method: str, n_unscored: int = 0
) -> MeanEstimate:
    row = {name: float(values[0]) for name, values in columns.items() if name != "no_spread"}
    value = {name: None if np.isnan(number) else number for name, number in row.items()}
    low, high = value["low"], value["high"]
    known = low is not None and high is not None
    return MeanEstimate(
        n=int(row["n"]),
        mean=value["mean"],
        sd=value["sd"],
        se=value["se"],
        interval=Interval(low=row["low"], high=row["high"], level=level, method=method) if known else None,
        drawn_low=value["drawn_low"],
        drawn_high=value["drawn_high"],
        method=method,
        no_spread=bool(columns["no_spread"][0]),
        n_unscored=n_unscored,
    )
