"""Array types and the few numeric helpers that every part of the statistics shares.

Quantiles come from ``scipy.special``: the product's read path imports these modules, and ``scipy.stats`` and
``statsmodels`` cost it more than a second.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import special

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


def check_level(level: float) -> None:
    """Refuse a coverage that is not inside (0, 1).

    Raises:
        ValueError: level outside (0, 1); 95 instead of 0.95 is the usual slip.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie inside (0, 1), got {level!r}; write 95 % as 0.95")


def as_scores(scores: npt.ArrayLike) -> FloatArray:
    """Return scores as floats, where nan means unscored.

    Raises:
        ValueError: an infinite score.
    """
    array = np.asarray(scores, dtype=np.float64)
    if np.isinf(array).any():
        raise ValueError("scores must be finite numbers, or nan where there is no score; got an infinite one")
    return array


def t_quantile(df: npt.ArrayLike, level: float) -> FloatArray:
    """Two-sided Student quantile: ``P(|T| <= q) = level``.

    Args:
        df: Degrees of freedom, any shape; nan and values <= 0 give nan.
        level: Coverage, in (0, 1).
    """
    check_level(level)
    return np.asarray(special.stdtrit(np.asarray(df, dtype=np.float64), 0.5 + level / 2), dtype=np.float64)


def t_two_sided_p(statistic: npt.ArrayLike, df: npt.ArrayLike) -> FloatArray:
    """Two-sided p-value of a Student statistic; nan in gives nan out."""
    magnitude = np.abs(np.asarray(statistic, dtype=np.float64))
    return np.asarray(2.0 * special.stdtr(np.asarray(df, dtype=np.float64), -magnitude), dtype=np.float64)


def divide(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> FloatArray:
    """Elementwise quotient with nan, and no warning, where the denominator is zero or nan."""
    top, bottom = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    )
    quotient = np.full(top.shape, np.nan)
    np.divide(top, bottom, out=quotient, where=bottom != 0)
    return quotient


def mean_of_present(values: FloatArray, axis: int) -> tuple[FloatArray, IntArray]:
    """Mean over the entries that are not nan, with their count; nan where there is none.

    Args:
        values: Array with nan for missing entries.
        axis: Axis to average over.
    """
    present = ~np.isnan(values)
    count = present.sum(axis=axis).astype(np.int64)
    return divide(np.where(present, values, 0.0).sum(axis=axis), count), count
