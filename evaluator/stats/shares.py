"""A change of the mean split into what the judge, the assistant and the mix of questions did; and such splits printed.

Works on means of segments that were computed elsewhere. Which intervals belong to the shares when single answers are
at hand is decided in ``attribution``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.stats.numeric import FloatArray


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


def rounded_to_add_up(total: float, parts: Sequence[float], *, digits: int = 2) -> tuple[float, tuple[float, ...]]:
    """Round a total and its parts so that the parts add up to the total as printed.

    Each is rounded on its own; what is then missing goes, a unit of the last digit at a time, to the part whose
    rounding was furthest off (the method of largest remainders).

    Args:
        total: Sum of the parts.
        parts: At least one.
        digits: Digits after the point, >= 0.

    Returns:
        The rounded total and the rounded parts; no part is further than one unit of the last digit from its value.

    Raises:
        ValueError: no parts, parts that do not add up to the total, or digits negative.
    """
    if not parts or digits < 0:
        raise ValueError(f"need at least one part and digits >= 0, got {len(parts)} and {digits!r}")
    unit = 10**digits
    if not abs(total - sum(parts)) * unit < 0.5:
        raise ValueError(f"the parts {list(parts)} do not add up to {total!r}")
    exact = [part * unit for part in parts]
    units = [round(value) for value in exact]
    missing = round(total * unit) - sum(units)
    step = 1 if missing > 0 else -1
    for _ in range(abs(missing)):
        furthest = max(range(len(units)), key=lambda place: step * (exact[place] - units[place]))
        units[furthest] += step
    return round(total * unit) / unit, tuple(value / unit for value in units)


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
