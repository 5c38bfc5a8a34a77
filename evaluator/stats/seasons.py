"""The week in a daily series: its weekday pattern, told from chance, and days joined to whole weeks.

Weekends bring other users and other questions. A pattern that repeats every week is no change, and it makes the days
differ by more than chance does. Which days belong to a series is not decided here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from evaluator.stats.numeric import FloatArray, IntArray

DAYS = 7
MIN_WEEKS = 4
PATTERN_P = 0.01

PatternState = Literal["unknown", "none", "found"]


@dataclass(frozen=True, kw_only=True, eq=False)
class WeekdayPattern:
    """What the weekday does to a day's value.

    Attributes:
        state: "unknown" before there are four weeks; "found" when it is more than chance.
        n_weeks: Weeks that tell about it: with at least two days.
        p_value: Of the F test; None while unknown.
        effects: What each weekday adds, Monday first, shape (7,); together 0. Zeros unless found.
    """

    state: PatternState
    n_weeks: int
    p_value: float | None
    effects: FloatArray


def weekday_pattern(values: npt.ArrayLike, day_numbers: npt.ArrayLike) -> WeekdayPattern:
    """Find the weekday pattern of a daily series, each week compared with itself.

    Weeks are blocks: a change of level, or a slow trend, moves whole weeks and is no pattern. The effects are drawn
    towards zero by what chance alone would give (1 - 1/F).

    Args:
        values: One value per day, shape (n,); nan for a day without one.
        day_numbers: Proleptic ordinals of the days (``date.toordinal``), rising, shape (n,).

    Raises:
        ValueError: lengths that differ.
    Assumes: days of about equal precision.
    Source: the F test of treatments in randomised blocks, Fisher 1935; shrinkage as in James and Stein, 1961.
    """
    y, days = np.asarray(values, dtype=np.float64), np.asarray(day_numbers, dtype=np.int64)
    if y.shape != days.shape or y.ndim != 1:
        raise ValueError(f"values and day_numbers must be rows of one length, got shapes {y.shape} and {days.shape}")
    present = ~np.isnan(y)
    y, days = y[present], days[present]
    weekday = (days - 1) % DAYS  # ordinal 1 was a Monday
    _, week, per_week = np.unique((days - 1) // DAYS, return_inverse=True, return_counts=True)
    telling = per_week[week] >= 2
    y, weekday = y[telling], weekday[telling]
    _, week = np.unique(week[telling], return_inverse=True)
    n_weeks = int((per_week >= 2).sum())
    seen = np.unique(weekday)
    freedom = len(y) - n_weeks - (len(seen) - 1)
    nothing = np.zeros(DAYS)
    if n_weeks < MIN_WEEKS or len(seen) < 2 or freedom < 1:
        return WeekdayPattern(state="unknown", n_weeks=n_weeks, p_value=None, effects=nothing)
    effects, explained, residual = _fit(y, weekday, week, seen)
    if not residual > 0:
        state: PatternState = "found" if explained > 0 else "none"
        return WeekdayPattern(state=state, n_weeks=n_weeks, p_value=0.0 if explained > 0 else 1.0, effects=effects)
    f = explained / (len(seen) - 1) / (residual / freedom)
    p_value = float(special.fdtrc(len(seen) - 1, freedom, f))
    if p_value >= PATTERN_P:
        return WeekdayPattern(state="none", n_weeks=n_weeks, p_value=p_value, effects=nothing)
    return WeekdayPattern(state="found", n_weeks=n_weeks, p_value=p_value, effects=effects * (1 - 1 / f))


def whole_weeks(day_numbers: npt.ArrayLike, stretch: npt.ArrayLike) -> IntArray:
    """Number of the seven days that each day belongs to, counted from the first day of its stretch; -1 for a rest.

    Seven days in a row hold every weekday once, whichever they begin with. A block counts when the series goes on
    past it or reaches its seventh day; none spans two stretches.

    Args:
        day_numbers: Proleptic ordinals, rising, shape (n,).
        stretch: Number of the stretch of each day, shape (n,).

    Raises:
        ValueError: lengths that differ.
    """
    days, part = np.asarray(day_numbers, dtype=np.int64), np.asarray(stretch, dtype=np.int64)
    if days.shape != part.shape or days.ndim != 1:
        raise ValueError(f"day_numbers and stretch must be rows of one length, got {days.shape} and {part.shape}")
    found = np.full(len(days), -1, dtype=np.int64)
    if not len(days):
        return found
    begins = np.flatnonzero(np.diff(part, prepend=part[0] - 1) != 0)
    number = 0
    for start, stop in zip(begins, [*begins[1:], len(days)], strict=True):
        block = (days[start:stop] - days[start]) // DAYS
        complete = block < (days[stop - 1] - days[start] + 1) // DAYS
        _, numbered = np.unique(block[complete], return_inverse=True)
        found[start:stop][complete] = number + numbered
        number += int(numbered.max()) + 1 if len(numbered) else 0
    return found


def _fit(y: FloatArray, weekday: IntArray, week: IntArray, seen: IntArray) -> tuple[FloatArray, float, float]:
    """Weekday effects that add up to 0, the squares they explain beyond the weeks, and the squares that are left."""
    weeks = (week[:, None] == np.arange(int(week.max()) + 1)).astype(np.float64)
    weekdays = (weekday[:, None] == seen[1:]).astype(np.float64)
    within = y - weeks @ ((weeks.T @ y) / weeks.sum(axis=0))
    design = np.concatenate([weeks, weekdays], axis=1)
    solution = np.linalg.lstsq(design, y, rcond=None)[0]
    left = y - design @ solution
    residual = float(left @ left)
    # what rounding leaves of a perfect fit is no spread
    residual = residual if residual > 1e-12 * max(float(y @ y), 1.0) else 0.0
    effects = np.zeros(DAYS)
    effects[seen[1:]] = solution[weeks.shape[1] :]
    effects[seen] -= effects[seen].mean()
    explained = float(within @ within) - residual
    return effects, explained if explained > 1e-12 * max(float(y @ y), 1.0) else 0.0, residual
