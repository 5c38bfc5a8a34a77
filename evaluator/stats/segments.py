"""What changed where: segments before and after, with multiplicity under control.

Works on one period against another, from means that were computed elsewhere. Watching segments day by day is the
detector's work; splitting a change between judge, assistant and mix is that of ``shares``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.stats.multiplicity import benjamini_hochberg
from evaluator.stats.numeric import FloatArray, check_level, divide, t_quantile, t_two_sided_p

WELCH = "Welch t between clusters"


@dataclass(frozen=True, kw_only=True)
class SegmentMean:
    """A segment in one period.

    Attributes:
        n: Scores.
        mean: None without scores.
        low: Lower bound; None where there is no interval.
        high: Upper bound; None where there is no interval.
    """

    n: int
    mean: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class SegmentChange:
    """One segment before and after.

    Attributes:
        segment: Its name.
        before: Mean and interval before.
        after: Mean and interval after.
        change: After less before; None when one side has no score.
        change_low: Lower bound of the change; None where there is no interval.
        change_high: Upper bound; None where there is no interval.
        p_value: Two-sided; None where there is no interval.
        p_adjusted: After correcting for the number of segments looked at; None where there is no p-value.
        flagged: Whether the change stands out after that correction.
        level: Coverage of the intervals.
        method: Name of the interval of the change.
    """

    segment: str
    before: SegmentMean
    after: SegmentMean
    change: float | None
    change_low: float | None
    change_high: float | None
    p_value: float | None
    p_adjusted: float | None
    flagged: bool
    level: float
    method: str = WELCH


def segment_table(
    segments: Sequence[str],
    before: Mapping[str, npt.ArrayLike],
    after: Mapping[str, npt.ArrayLike],
    *,
    level: float = 0.95,
    false_share: float = 0.05,
) -> tuple[SegmentChange, ...]:
    """Compare segments before and after, corrected for the number of looks.

    A segment with one score shows it and has no interval; it cannot stand out. A side whose scores are all equal
    borrows the spread of the other side, because no spread seen is not no spread.

    Args:
        segments: Names, length m, no duplicates.
        before: Columns n, n_clusters, mean, se, df, low, high of shape (m,), as ``intervals.means_from_sums`` gives
            them; optional column no_spread.
        after: The same for the later period.
        level: Coverage of the intervals, in (0, 1).
        false_share: Expected share of false finds among those flagged, in (0, 1).

    Returns:
        One row per segment, in the given order.

    Raises:
        ValueError: level or false_share outside (0, 1), duplicate names, or columns of another length.
    Assumes: the two periods share no cluster. For corrected means the error of the anchors is common to all rows of a
        run and is to be left out of ``se`` when segments are compared with each other.
    Source: Welch, Biometrika 34, 1947 (degrees of freedom).
    """
    check_level(level)
    check_level(false_share)
    if len(set(segments)) != len(segments):
        raise ValueError("segments must not repeat")
    first, second = _columns(before, len(segments)), _columns(after, len(segments))
    change = second["mean"] - first["mean"]
    first_se, first_df = _borrowed_se(first, second)
    second_se, second_df = _borrowed_se(second, first)
    se, df = welch(first_se, first_df, second_se, second_df)
    half_width = t_quantile(df, level) * se
    p_value = t_two_sided_p(divide(change, se), df)
    adjusted = benjamini_hochberg(p_value)
    return tuple(
        SegmentChange(
            segment=name,
            before=_segment_mean(first, row),
            after=_segment_mean(second, row),
            change=_known(change[row]),
            change_low=_known(change[row] - half_width[row]),
            change_high=_known(change[row] + half_width[row]),
            p_value=_known(p_value[row]),
            p_adjusted=_known(adjusted[row]),
            flagged=bool(adjusted[row] <= false_share),
            level=level,
        )
        for row, name in enumerate(segments)
    )


def welch(
    first_se: npt.ArrayLike, first_df: npt.ArrayLike, second_se: npt.ArrayLike, second_df: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Standard error and degrees of freedom of a difference of two independent means; nan gives nan."""
    a, b = np.asarray(first_se, dtype=np.float64) ** 2, np.asarray(second_se, dtype=np.float64) ** 2
    df = divide((a + b) ** 2, divide(a**2, first_df) + divide(b**2, second_df))
    return np.sqrt(a + b), df


def _columns(table: Mapping[str, npt.ArrayLike], length: int) -> dict[str, FloatArray]:
    names = ("n", "n_clusters", "mean", "se", "df", "low", "high")
    columns = {name: np.asarray(table[name], dtype=np.float64) for name in names}
    columns["no_spread"] = np.asarray(table.get("no_spread", np.zeros(length)), dtype=np.float64)
    wrong = [name for name, values in columns.items() if values.shape != (length,)]
    if wrong:
        raise ValueError(f"columns {', '.join(wrong)} must have one entry per segment, {length}")
    return columns


def _borrowed_se(side: Mapping[str, FloatArray], other: Mapping[str, FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Standard error and df of a side; one whose scores are all equal takes the other side's spread."""
    borrows = (side["no_spread"] > 0) & ~np.isnan(other["se"])
    borrowed = other["se"] * np.sqrt(divide(other["n_clusters"], side["n_clusters"]))
    return np.where(borrows, borrowed, side["se"]), np.where(borrows, other["df"], side["df"])


def _segment_mean(columns: Mapping[str, FloatArray], row: int) -> SegmentMean:
    return SegmentMean(
        n=int(columns["n"][row]),
        mean=_known(columns["mean"][row]),
        low=_known(columns["low"][row]),
        high=_known(columns["high"][row]),
    )


def _known(value: np.float64 | float) -> float | None:
    return None if np.isnan(value) else float(value)
