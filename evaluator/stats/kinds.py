"""In which way a judge changed: its level, one end of the scale, towards the middle, its noise, or a single anchor.

The stream that raised the alarm says where to look; the two ends of the scale decide what it is called, because a
judge that pulls everything towards 4 moves the mean, too. Anchors that moved and stay where they are raise the spread
as well: that is no noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from evaluator.stats.anchor_flips import HALF_A_LEVEL
from evaluator.stats.detector import LevelChange, level_floor_sd, level_since
from evaluator.stats.judge_evidence import ANCHOR
from evaluator.stats.numeric import FloatArray, mean_of_present
from evaluator.stats.streams import RunStatistics, stream_floors

Kind = Literal["level", "compression", "stretch", "low_end", "high_end", "noisier", "calmer", "single_anchor"]
FEWEST_AT_AN_END = 5


@dataclass(frozen=True, kw_only=True)
class Ends:
    """How far the anchors of the lower and of the upper third moved, 1..5 equivalents.

    Attributes:
        low: Of the lower third; None with too few anchors in it.
        high: Of the upper third.
        n_low: Anchors in the lower third.
        n_high: Anchors in the upper third.
        lasting: Whether the anchors' other distance from their baseline is mostly a move that stays (away from it, or
            back), not other scatter.
    """

    low: LevelChange | None
    high: LevelChange | None
    n_low: int
    n_high: int
    lasting: bool = False


def end_masks(means: npt.ArrayLike) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Anchors of the lower and of the upper third of the levels there are, shape (K,) each.

    Args:
        means: Baseline means, shape (K,), nan where there is none.
    """
    values = np.asarray(means, dtype=np.float64)
    known = values[~np.isnan(values)]
    if not len(known):
        none = np.zeros(values.shape, dtype=np.bool_)
        return none, none.copy()
    lower, upper = np.quantile(known, [1 / 3, 2 / 3])
    if lower == upper:  # most anchors at one level: the ends are what lies beside it
        return np.nan_to_num(values, nan=lower) < lower, np.nan_to_num(values, nan=upper) > upper
    return np.nan_to_num(values, nan=np.inf) <= lower, np.nan_to_num(values, nan=-np.inf) >= upper


def ends_since(
    scores: npt.ArrayLike, means: npt.ArrayLike, counted: npt.ArrayLike, split: int, *, level: float = 0.95
) -> Ends:
    """How far either end of the scale moved since a run.

    Args:
        scores: Shape (R, K), nan where missing; from the beginning of "before".
        means: Baseline means, shape (K,).
        counted: Runs that count, shape (R,).
        split: First run of "after".
        level: Coverage of both intervals together (Bonferroni).
    """
    difference = np.asarray(scores, dtype=np.float64) - np.asarray(means, dtype=np.float64)
    used = np.asarray(counted, dtype=np.bool_)
    low, high = end_masks(means)

    def moved(mask: npt.NDArray[np.bool_]) -> LevelChange | None:
        n = int(mask.sum())
        if n < FEWEST_AT_AN_END:
            return None
        stream, _ = mean_of_present(difference[:, mask], axis=1)
        stream = np.where(used, stream, np.nan)
        return level_since(stream, split, floor_sd=level_floor_sd(n), level=1 - (1 - level) / 2)

    return Ends(
        low=moved(low),
        high=moved(high),
        n_low=int(low.sum()),
        n_high=int(high.sum()),
        lasting=_is_lasting(difference[:split][used[:split]], difference[split:][used[split:]]),
    )


def dominant_anchor(scores: npt.ArrayLike, means: npt.ArrayLike) -> int | None:
    """The one anchor that most of the distance from the baseline is due to; None where several have a part in it.

    Args:
        scores: Of the counted runs since the change, shape (R, K), nan where missing.
        means: Baseline means, shape (K,).
    """
    difference = np.nan_to_num(np.asarray(scores, dtype=np.float64) - np.asarray(means, dtype=np.float64))
    squares = (difference**2).sum(axis=0)
    if not squares.sum() > 0:
        return None
    column = int(np.argmax(squares))
    is_away = np.abs(difference[:, column]).max() >= HALF_A_LEVEL
    return column if squares[column] > 0.5 * squares.sum() and is_away else None


def lone_mover(before: npt.ArrayLike, after: npt.ArrayLike) -> int | None:
    """The one anchor that most of the anchors' own moves are due to; None where several have a part in it.

    Args:
        before: Scores of the counted runs before the change, shape (R, K), nan where missing.
        after: The same since.
    """
    old, _ = mean_of_present(np.asarray(before, dtype=np.float64), axis=0)
    new, _ = mean_of_present(np.asarray(after, dtype=np.float64), axis=0)
    moved = np.nan_to_num(new - old)
    column = int(np.argmax(np.abs(moved)))
    is_away = abs(moved[column]) >= HALF_A_LEVEL
    return column if is_away and moved[column] ** 2 > 0.5 * float((moved**2).sum()) else None


def culprit(stream: str, before: npt.ArrayLike, after: npt.ArrayLike, means: npt.ArrayLike) -> int | None:
    """The one anchor behind an alarm of all anchors' numbers, which it may raise sooner than its own evidence.

    Args:
        stream: The stream that raised the alarm; not that of single anchors.
        before: Scores of the counted runs before the change, shape (R, K), nan where missing.
        after: The same since.
        means: Baseline means, shape (K,).
    """
    return dominant_anchor(after, means) if stream == "spread" else lone_mover(before, after)


def name_kind(stream: str, ends: Ends, slope: LevelChange, spread: LevelChange) -> Kind:
    """What a change is called.

    Args:
        stream: The stream that raised the alarm.
        ends: How far both ends moved, and whether the move lasts.
        slope: Change of the slope since then.
        spread: Change of the log spread since then.
    """
    if stream == ANCHOR:
        return "single_anchor"
    if stream == "spread":
        has_moved = is_shown(slope) or _same_way(ends)
        if not (ends.lasting and has_moved):
            return "noisier" if (spread.estimate or 0.0) > 0 else "calmer"
    if not is_shown(slope):
        return "level"
    low, high = ends.low, ends.high
    if low is None or high is None or low.estimate is None or high.estimate is None:
        return "compression" if (slope.estimate or 0.0) < 0 else "stretch"
    if is_shown(low) and not is_shown(high):
        return "low_end"
    if is_shown(high) and not is_shown(low):
        return "high_end"
    if low.estimate * high.estimate > 0:
        return "level"
    return "compression" if (slope.estimate or 0.0) < 0 else "stretch"


def is_shown(change: LevelChange) -> bool:
    """Whether the interval leaves out zero."""
    return change.low is not None and change.high is not None and not change.low <= 0 <= change.high


def _same_way(ends: Ends) -> bool:
    """Whether both ends moved, and in one direction."""
    low, high = ends.low, ends.high
    if low is None or high is None or not (is_shown(low) and is_shown(high)):
        return False
    return (low.estimate or 0.0) * (high.estimate or 0.0) > 0


def _is_lasting(before: FloatArray, after: FloatArray) -> bool:
    """Whether squares changed more by anchors that moved for good than by each anchor's own scatter.

    Args:
        before: Differences from the baseline in the runs before the change, shape (R, K).
        after: The same since.
    """
    moved, scatter = _moved_and_scatter(after)
    if moved is None or scatter is None:
        return False
    moved_before, scatter_before = _moved_and_scatter(before)
    return abs(moved - (moved_before or 0.0)) > abs(scatter - (scatter_before or 0.0))


def _moved_and_scatter(difference: FloatArray) -> tuple[float | None, float | None]:
    """Mean square of the anchors' distances from the baseline, and mean variance about these; None where unknown."""
    mean, n = mean_of_present(difference, axis=0)
    known = n >= 2
    if not known.any():
        return None, None
    own = _own_variance(difference)[known]
    return float((mean[known] ** 2 - own / n[known]).mean()), float(own.mean())


def _own_variance(values: FloatArray) -> FloatArray:
    """Each column's variance about its own mean; nan with fewer than two values."""
    mean, n = mean_of_present(values, axis=0)
    squares = np.nansum((values - mean) ** 2, axis=0)
    return np.where(n >= 2, squares / np.maximum(n - 1, 1), np.nan)


def slope_since(
    numbers: RunStatistics, means: FloatArray, split: int, *, start: int = 0, level: float = 0.95
) -> LevelChange:
    """Change of the slope since a run; its bounds as those of ``detector.level_since``."""
    return level_since(numbers.slope[start:], split - start, floor_sd=stream_floors(means)["slope"], level=level)


def spread_since(
    numbers: RunStatistics, means: FloatArray, split: int, *, start: int = 0, level: float = 0.95
) -> LevelChange:
    """Change of the log of the spread since a run."""
    return level_since(numbers.spread[start:], split - start, floor_sd=stream_floors(means)["spread"], level=level)
