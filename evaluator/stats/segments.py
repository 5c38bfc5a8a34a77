"""What changed where: segments before and after with multiplicity under control, and the change split into shares.

Works on one period against another, from means that were computed elsewhere. Watching segments day by day is the
detector's work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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


@dataclass(frozen=True, kw_only=True)
class ChangeShares:
    """A raw change split into judge, assistant and mix. The three add up to ``raw_change``.

    Attributes:
        raw_change: Overall raw mean after less before.
        judge: Raw change less corrected change.
        assistant: Change within segments, at the average of both mixes.
        mix: Change of the mix, at the average of both levels.
        assistant_se: Standard error of the assistant's share, without the error of the anchor sample; None without
            standard errors for the segments.
        mix_se: Standard error of the mix's share; None without standard errors for the segments.
        within_at_before_mix: Change within segments at the mix of before; the mix's share is then the rest.
        mix_at_after_levels: That rest: corrected change less ``within_at_before_mix``.
        adjusted_mean_after: Corrected mean after, had the mix stayed as it was before.
    """

    raw_change: float
    judge: float
    assistant: float
    mix: float
    assistant_se: float | None
    mix_se: float | None
    within_at_before_mix: float
    mix_at_after_levels: float
    adjusted_mean_after: float


def benjamini_hochberg(p_values: npt.ArrayLike) -> FloatArray:
    """Adjust p-values so that cutting at q keeps the expected share of false finds under q.

    Args:
        p_values: Shape (m,); nan is "not tested", stays nan and does not count.

    Raises:
        ValueError: a p-value outside [0, 1].
    Source: Benjamini and Hochberg, Journal of the Royal Statistical Society B 57, 1995.
    """
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(p.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    if np.any((p[tested] < 0) | (p[tested] > 1)):
        raise ValueError("p-values must lie in [0, 1]")
    if len(tested):
        # more than half a second to import, and many readers of these modules never adjust anything
        from statsmodels.stats.multitest import multipletests

        adjusted[tested] = multipletests(p[tested], method="fdr_bh")[1]
    return adjusted


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


def decompose_change(
    *,
    n_before: npt.ArrayLike,
    n_after: npt.ArrayLike,
    mean_before: npt.ArrayLike,
    mean_after: npt.ArrayLike,
    raw_mean_before: npt.ArrayLike | None = None,
    raw_mean_after: npt.ArrayLike | None = None,
    se_before: npt.ArrayLike | None = None,
    se_after: npt.ArrayLike | None = None,
) -> ChangeShares:
    """Split the change of the overall mean into what the judge, the assistant and the mix of questions did.

    With shares p and q of the segments and corrected means m and M: assistant ``sum (p+q)/2 (M-m)``, mix
    ``sum (m+M)/2 (q-p)``, judge = raw change less corrected change. A segment seen in one period only tells nothing
    about the assistant: all of its effect is mix.

    Args:
        n_before: Scores (or effective scores) per segment before, shape (m,); they give the shares.
        n_after: The same after.
        mean_before: Corrected means before, shape (m,); nan where n is 0.
        mean_after: Corrected means after.
        raw_mean_before: Raw means before; by default the corrected ones, so that the judge's share is 0.
        raw_mean_after: Raw means after.
        se_before: Standard errors of the corrected means before, without anchor error; nan counts as unknown.
        se_after: The same after.

    Returns:
        The shares; standard errors when those of all present segments are given.

    Raises:
        ValueError: shapes that differ, a period without scores, or a mean missing where there are scores.
    Source: Kitagawa, Journal of the American Statistical Association 50, 1955.
    """
    n0, n1 = np.asarray(n_before, dtype=np.float64), np.asarray(n_after, dtype=np.float64)
    p, q = _shares(n0), _shares(n1)
    level0, level1 = _levels(mean_before, mean_after, p, q)
    raw0, raw1 = level0, level1
    if raw_mean_before is not None and raw_mean_after is not None:
        raw0, raw1 = _levels(raw_mean_before, raw_mean_after, p, q)
    raw_change = float(q @ raw1 - p @ raw0)
    corrected_change = float(q @ level1 - p @ level0)
    assistant = float((p + q) / 2 @ (level1 - level0))
    within = float(p @ (level1 - level0))
    assistant_se, mix_se = _share_errors(n0, n1, level0, level1, se_before, se_after)
    return ChangeShares(
        raw_change=raw_change,
        judge=raw_change - corrected_change,
        assistant=assistant,
        mix=corrected_change - assistant,
        assistant_se=assistant_se,
        mix_se=mix_se,
        within_at_before_mix=within,
        mix_at_after_levels=corrected_change - within,
        adjusted_mean_after=float(p @ level1),
    )


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


def _shares(n: FloatArray) -> FloatArray:
    total = float(n.sum())
    if not (np.isfinite(n).all() and (n >= 0).all() and total > 0):
        raise ValueError("each period needs scores, and counts that are finite and not negative")
    return n / total


def _levels(before: npt.ArrayLike, after: npt.ArrayLike, p: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means of both periods, where a segment absent from one takes the other's and an absent one counts nothing."""
    first, second = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    if not first.shape == second.shape == p.shape == q.shape:
        raise ValueError("counts and means must have one entry per segment in both periods")
    if np.isnan(first[p > 0]).any() or np.isnan(second[q > 0]).any():
        raise ValueError("a segment with scores has no mean")
    nowhere = (p == 0) & (q == 0)
    level0 = np.where(p > 0, first, second)
    level1 = np.where(q > 0, second, first)
    return np.where(nowhere, 0.0, level0), np.where(nowhere, 0.0, level1)


def _share_errors(
    n0: FloatArray,
    n1: FloatArray,
    level0: FloatArray,
    level1: FloatArray,
    se_before: npt.ArrayLike | None,
    se_after: npt.ArrayLike | None,
) -> tuple[float | None, float | None]:
    """Delta method: the error of the levels, and that of the shares as counts of independent draws."""
    if se_before is None or se_after is None:
        return None, None
    p, q = _shares(n0), _shares(n1)
    variance0 = np.where(n0 > 0, np.asarray(se_before, dtype=np.float64) ** 2, 0.0)
    variance1 = np.where(n1 > 0, np.asarray(se_after, dtype=np.float64) ** 2, 0.0)
    of_levels = variance0 + variance1
    draws = [(p, float(n0.sum())), (q, float(n1.sum()))]
    change, middle = level1 - level0, (level0 + level1) / 2
    assistant = float(((p + q) / 2) ** 2 @ of_levels) + sum(_draw_variance(s, change, n) for s, n in draws) / 4
    mix = float(((q - p) / 2) ** 2 @ of_levels) + sum(_draw_variance(s, middle, n) for s, n in draws)
    known = bool(np.isfinite(of_levels).all())
    return (float(np.sqrt(assistant)), float(np.sqrt(mix))) if known else (None, None)


def _draw_variance(share: FloatArray, values: FloatArray, n: float) -> float:
    """Variance of ``sum share * values`` when shares are counted from n draws."""
    centre = float(share @ values)
    return float(share @ (values - centre) ** 2) / n
