"""One comparison across a change of the judge, with the error of the anchors in it. Within a stretch, see ``watching``.

The anchors are a sample; their error in the correction is the same on every day after the judge's change, so the
corrected line jumps by it and stays there. The days of both sides are therefore compared once, through the line of the
anchors' averages over the whole stretch, whose slope is drawn towards 1 as far as the anchors do not speak against it.

The judge's change only says where to compare. Answers that are blamed may have changed some days before it or after, so
their own date is looked for over the days of both sides, and what is told of them is told from that date on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluator.analysis.events import ChangeDays
from evaluator.analysis.judge import Regime
from evaluator.analysis.needed import in_days
from evaluator.analysis.series import Series, joined
from evaluator.analysis.watching import Watched
from evaluator.stats.correction import JudgeMap, NoMap
from evaluator.stats.detector import BASELINE_RUNS, change_date, level_floor_sd
from evaluator.stats.evidence import MIN_REFERENCE_RUNS
from evaluator.stats.numeric import FloatArray, t_quantile
from evaluator.stats.steadying import BLAME_LEVEL, MAP_ALLOWANCE, allowance, needed, steady_slope

DAYS_ACROSS = 5  # values that either side of a judge's change needs before the two are compared
DAYS_REVISED = BASELINE_RUNS  # values on the new side until which the comparison is revised
DAYS_EARLIER = 5  # values before the judge's change that are not taken for unchanged: too new for their own watch


@dataclass(frozen=True, kw_only=True, eq=False)
class Across:
    """Both sides of a change of the judge. Numbers in 1..5 equivalents.

    Attributes:
        before: Days before, as they were watched: before the answers changed where that has a date, else the judge.
        after: Days after.
        mean_before: Corrected mean before.
        mean_after: Corrected mean after.
        half_width: Half the width of the interval of their difference.
        is_blamed: Whether the difference is so far from zero that the answers may be blamed.
        more_days: Days until the half-width is down to the tolerance; None when more days within the time in which the
            comparison is revised will not do.
        more_anchors: Anchors that would do it instead; None when they never will.
        more_together: Neither would do alone; so many days and so many anchors together would.
        open_days: Days for which the comparison is still revised.
        began: When the answers changed; None unless they are blamed, and where too few days before allow no date.
    """

    before: Series
    after: Series
    mean_before: float
    mean_after: float
    half_width: float
    is_blamed: bool
    more_days: int | None
    more_anchors: int | None
    more_together: bool
    open_days: int
    began: ChangeDays | None = None

    @property
    def estimate(self) -> float:
        """After less before."""
        return self.mean_after - self.mean_before


@dataclass(frozen=True, kw_only=True, eq=False)
class _Side:
    """The days of a side, taken back through the steadied line of its stretch; the first is the norm and has none."""

    values: FloatArray
    judge_map: JudgeMap | None

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    @property
    def anchor_variance(self) -> float:
        m = self.judge_map
        if m is None:
            return 0.0
        variance = m.var_intercept + 2 * self.mean * m.covariance + self.mean**2 * m.var_slope
        return max(variance, 0.0) / m.slope**2

    @property
    def allowance(self) -> float:
        m = self.judge_map
        return 0.0 if m is None else allowance(m, m.intercept + (m.slope - 1.0) * self.mean)

    @property
    def df(self) -> float:
        return math.inf if self.judge_map is None else self.judge_map.df


def compare_across(
    stretches: Sequence[Series],
    watched: Sequence[Watched],
    place: int,
    regimes: Sequence[Regime],
    *,
    level: float,
    tolerance: float,
    n_looks: int,
) -> Across | None:
    """Compare the two sides of the judge's change at the beginning of a stretch.

    Args:
        stretches: The values of each stretch of the judge.
        watched: What the watch saw of each.
        place: The stretch on the new side, > 0.
        regimes: The judge's stretches.
        level: Coverage of the interval.
        tolerance: Largest change that does not matter, 1..5 equivalents.
        n_looks: Series of the same kind that are looked at; the more, the surer a blame must be.

    Returns:
        The comparison; None while a side has too few days or no line.
    """
    before, after = _sides(stretches, watched, place)
    first, second = _steadied(before, regimes), _steadied(after, regimes)
    if min(len(before), len(after)) < DAYS_ACROSS or first is None or second is None:
        return None
    floor_sd = level_floor_sd(max(1, int(np.median(after.n))))
    variance = _variance_of_days(first.values, second.values, floor_sd)
    anchors = first.anchor_variance + second.anchor_variance
    allowed = max(MAP_ALLOWANCE, first.allowance, second.allowance)
    se = math.sqrt(variance * (1 / len(before) + 1 / len(after)) + anchors + allowed**2)
    df = min(len(before) + len(after) - 2, first.df, second.df)
    quantile = float(t_quantile(df, level))
    parts = quantile * np.sqrt([variance / len(before), variance / len(after), anchors, allowed**2])
    open_values = max(0, DAYS_REVISED - len(after))
    n_anchors = 0 if second.judge_map is None else second.judge_map.n_anchors
    rest = math.hypot(parts[0], parts[3])
    more = needed((len(after), parts[1]), (n_anchors, parts[2]), rest, tolerance, most_answers=open_values)
    blame_level = 1 - (1 - BLAME_LEVEL) / n_looks
    found = Across(
        before=before,
        after=after,
        mean_before=first.mean,
        mean_after=second.mean,
        half_width=quantile * se,
        is_blamed=abs(second.mean - first.mean) > float(t_quantile(df, blame_level)) * se,
        more_days=None if more.answers is None else in_days(more.answers, after),
        more_anchors=more.anchors,
        more_together=more.together,
        open_days=in_days(open_values, after),
    )
    if not found.is_blamed or len(before) < MIN_REFERENCE_RUNS:
        return found
    values = np.concatenate([first.values, second.values])
    return _from_its_date(found, values, quantile=quantile, fixed=anchors + allowed**2, floor_sd=floor_sd)


def _from_its_date(found: Across, values: FloatArray, *, quantile: float, fixed: float, floor_sd: float) -> Across:
    """Tell it from the day on which the answers changed, which need not be the judge's.

    Days of the old side that lie after the judge's change share the anchors' error with the new side. It is kept whole
    all the same: the interval is rather too wide.

    Args:
        found: What was compared.
        values: Of both sides, through their steadied lines.
        quantile: Half-width over standard error.
        fixed: Variance that no number of days makes smaller.
        floor_sd: Least spread of the days.
    """
    days = joined(found.before, found.after)
    n_reference = min(BASELINE_RUNS, max(MIN_REFERENCE_RUNS, len(found.before) - DAYS_EARLIER))
    date = change_date(values, floor_sd=floor_sd, n_reference=n_reference)
    is_after = np.arange(len(values)) >= date.index
    old, new = values[~is_after], values[is_after]
    of_days = _variance_of_days(old, new, floor_sd) * (1 / len(old) + 1 / len(new))
    first, last = (str(days.first_day[row]) for row in (date.low, date.high))
    return replace(
        found,
        before=days.part(~is_after),
        after=days.part(is_after),
        mean_before=float(old.mean()),
        mean_after=float(new.mean()),
        half_width=quantile * math.sqrt(of_days + fixed),
        began=ChangeDays(day=str(days.first_day[date.index]), first=first, last=last),
    )


def _sides(stretches: Sequence[Series], watched: Sequence[Watched], place: int) -> tuple[Series, Series]:
    """The days to compare.

    Before are the days since the answers last changed on the old side: an earlier change is told as such and must not
    be told again. After are the first days on the new side, until its own watch finds a change, which has its own date.
    """
    old, new = stretches[place - 1], stretches[place]
    steps_before, steps_after = watched[place - 1].steps, watched[place].steps
    start = steps_before[-1].row if steps_before else 0
    stop = min([DAYS_REVISED, *(step.row for step in steps_after)])
    return old.part(np.arange(len(old)) >= start), new.part(np.arange(len(new)) < stop)


def _steadied(side: Series, regimes: Sequence[Regime]) -> _Side | None:
    """Values through the steadied line of the stretch; None without days or line.

    They were corrected day by day with the line of their run. Going forward through the line of the stretch and back
    through the steadied one keeps what each day's anchors took out.
    """
    if not len(side):
        return None
    if side.regime[0] == 0:
        return _Side(values=side.value, judge_map=None)
    found = regimes[int(side.regime[0])].average_map
    if isinstance(found, NoMap):
        return None
    steady = steady_slope(found)
    values = (found.intercept + found.slope * side.value - steady.intercept) / steady.slope
    return _Side(values=values, judge_map=steady)


def _variance_of_days(old: FloatArray, new: FloatArray, floor_sd: float) -> float:
    """Variance between days, pooled over both sides."""
    squares = len(old) * float(old.var()) + len(new) * float(new.var())
    return max(squares / (len(old) + len(new) - 2), floor_sd**2)
