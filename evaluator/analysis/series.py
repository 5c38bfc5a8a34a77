"""The watched series of a segment: corrected means of days, thin days joined until they hold enough answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import numpy as np

from evaluator.analysis.totals import COLUMN, TextArray, Totals
from evaluator.stats.numeric import BoolArray, FloatArray, IntArray
from evaluator.stats.seasons import whole_weeks

ENOUGH_ANSWERS = 30  # answers that one value is made of


@dataclass(frozen=True, kw_only=True, eq=False)
class Series:
    """Values in order of time, each of one day or of several thin ones.

    Attributes:
        value: Corrected mean, 1..5 equivalents, shape (n,).
        n: Answers in it.
        first_day: Day it begins with.
        last_day: Day it ends with.
        regime: Number of the judge's stretch in which they were graded; no value spans two.
    """

    value: FloatArray
    n: IntArray
    first_day: TextArray
    last_day: TextArray
    regime: IntArray

    def __len__(self) -> int:
        return len(self.value)

    def part(self, chosen: BoolArray) -> Series:
        """Some of the values."""
        return Series(
            value=self.value[chosen],
            n=self.n[chosen],
            first_day=self.first_day[chosen],
            last_day=self.last_day[chosen],
            regime=self.regime[chosen],
        )

    def by_regime(self) -> list[Series]:
        """The values of each stretch of the judge that has any, oldest first."""
        return [self.part(self.regime == regime) for regime in np.unique(self.regime)]


def joined(first: Series, second: Series) -> Series:
    """Both, one after the other."""
    return Series(
        value=np.concatenate([first.value, second.value]),
        n=np.concatenate([first.n, second.n]),
        first_day=np.concatenate([first.first_day, second.first_day]),
        last_day=np.concatenate([first.last_day, second.last_day]),
        regime=np.concatenate([first.regime, second.regime]),
    )


def watched_series(
    totals: Totals, segment_id: int, *, taken_out: FloatArray | None = None, by_week: bool = False
) -> Series:
    """Make the series of a segment from the days that have a corrected mean.

    Args:
        totals: The answers.
        segment_id: The segment.
        taken_out: What is subtracted from the corrected mean of each row, shape (rows,).
        by_week: Join days to whole weeks, however many answers they hold.
    """
    rows = np.flatnonzero((totals.segment_id == segment_id) & totals.correctable)
    days, day_of = np.unique(totals.day[rows], return_inverse=True)
    regime_of_day = _main_regime(day_of, totals.regime[rows], totals.n[rows], len(days))
    # the few answers of a day that were graded on the other side of the judge's change are left out
    kept = totals.regime[rows] == regime_of_day[day_of]
    rows, day_of = rows[kept], day_of[kept]
    n_of_day = np.bincount(day_of, weights=totals.n[rows], minlength=len(days)).astype(np.int64)
    if by_week:
        group_of_day = whole_weeks([date.fromisoformat(str(day)).toordinal() for day in days], regime_of_day)
    else:
        group_of_day = _join_thin_days(n_of_day, regime_of_day)
    in_group = group_of_day[day_of] >= 0
    rows, group = rows[in_group], group_of_day[day_of[in_group]]
    n_groups = int(group.max()) + 1 if len(group) else 0
    weight, sum_wy = totals.corrected[rows, COLUMN["sum_w"]], totals.corrected[rows, COLUMN["sum_wy"]]
    if taken_out is not None:
        sum_wy = sum_wy - weight * taken_out[rows]
    grouped = group_of_day >= 0
    first = np.searchsorted(group_of_day[grouped], np.arange(n_groups), side="left")
    last = np.searchsorted(group_of_day[grouped], np.arange(n_groups), side="right") - 1
    return Series(
        value=np.bincount(group, weights=sum_wy, minlength=n_groups)
        / np.bincount(group, weights=weight, minlength=n_groups),
        n=np.bincount(group, weights=totals.n[rows], minlength=n_groups).astype(np.int64),
        first_day=days[grouped][first],
        last_day=days[grouped][last],
        regime=regime_of_day[grouped][first],
    )


def _main_regime(day_of: IntArray, regime: IntArray, n: IntArray, n_days: int) -> IntArray:
    """The judge's stretch in which most answers of each day were graded."""
    counts = np.zeros((n_days, int(regime.max()) + 1 if len(regime) else 1), dtype=np.int64)
    np.add.at(counts, (day_of, regime), n)
    return np.asarray(counts.argmax(axis=1), dtype=np.int64)


def _join_thin_days(n: IntArray, regime: IntArray) -> IntArray:
    """Number of the value that each day belongs to; -1 for days that wait, or ended, short of enough answers."""
    found = np.full(len(n), -1, dtype=np.int64)
    number, start, waiting = 0, 0, 0
    for day in range(len(n)):
        if day and regime[day] != regime[day - 1]:
            start, waiting = day, 0
        waiting += int(n[day])
        if waiting >= ENOUGH_ANSWERS:
            found[start : day + 1] = number
            number, start, waiting = number + 1, day + 1, 0
    return found
