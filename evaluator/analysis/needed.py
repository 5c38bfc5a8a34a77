"""What it would take to tell: how many more days until an interval is narrow enough. About, at the present rate.

Only counts of days, for findings that cannot tell yet. Which intervals there are is decided elsewhere.
"""

from __future__ import annotations

import math
from datetime import date

from evaluator.analysis.series import Series
from evaluator.analysis.watching import FEW_VALUES, Watched
from evaluator.stats.detector import BASELINE_RUNS
from evaluator.stats.evidence import MIN_REFERENCE_RUNS
from evaluator.stats.steadying import more_needed


def more_days_within(stretch: Series, watched: Watched, wanted: float) -> int | None:
    """Days until the interval of a watched stretch is no wider than wanted to either side.

    Args:
        stretch: The values.
        watched: What the watch saw of them.
        wanted: Half-width, 1..5 equivalents.

    Returns:
        0 when it is narrow enough; None when more days of the new level alone never make it so.
    """
    level = watched.level
    if level.low is None or level.high is None:
        return in_days(max(1, MIN_REFERENCE_RUNS + FEW_VALUES - watched.n), stretch)
    half = (level.high - level.low) / 2
    more = _more_values(level.n_before, level.n_after, half, wanted)
    if more is None and not watched.steps and level.n_before < BASELINE_RUNS:
        # the first days that stand for "before" become more once there are enough of them
        more = _more_with_whole_baseline(level.n_before, level.n_after, half, wanted)
    return None if more is None else in_days(more, stretch)


def in_days(n_values: int, stretch: Series) -> int:
    """Days that so many more values take, at the rate of a stretch; thin days are joined to one value."""
    if not len(stretch):
        return n_values
    span = date.fromisoformat(str(stretch.last_day[-1])) - date.fromisoformat(str(stretch.first_day[0]))
    return math.ceil(n_values * (span.days + 1) / len(stretch) - 1e-9)


def _more_values(n_before: int, n_after: int, half: float, wanted: float) -> int | None:
    """The half-width goes with the root of ``1/n_before + 1/n_after``."""
    both = 1 / n_before + 1 / n_after
    part, rest = half * math.sqrt(1 / n_after / both), half * math.sqrt(1 / n_before / both)
    return more_needed(n_after, part, rest, wanted)


def _more_with_whole_baseline(n_before: int, n_after: int, half: float, wanted: float) -> int | None:
    spread = half / math.sqrt(1 / n_before + 1 / n_after)
    after = max(1, n_before + n_after - BASELINE_RUNS)
    more = _more_values(BASELINE_RUNS, after, spread * math.sqrt(1 / BASELINE_RUNS + 1 / after), wanted)
    if more is None:
        return None
    whole = BASELINE_RUNS + MIN_REFERENCE_RUNS  # values from which the whole baseline is "before"
    return max(BASELINE_RUNS + after + more, whole) - n_before - n_after
