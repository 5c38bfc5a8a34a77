"""The weekday pattern of a daily series, and days joined to weeks."""

from __future__ import annotations

import math
from datetime import date

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from evaluator.stats.seasons import DAYS, weekday_pattern, whole_weeks

MONDAY = date(2026, 3, 2).toordinal()
WEEKEND = np.array([0.0, 0.0, 0.0, 0.0, 0.0, -0.3, -0.3])


def days(n, first=MONDAY):
    """Ordinals of n days in a row."""
    return np.arange(first, first + n)


def daily(n, rng, effects=WEEKEND, spread=0.08):
    """Values about 3.8 with a weekday pattern."""
    return 3.8 + effects[np.arange(n) % DAYS] + rng.normal(0, spread, n)


class TestPattern:
    """Told from chance."""

    def test_f_test_is_that_of_randomised_blocks(self):
        """Agrees with statsmodels' two-way table, days missing here and there."""
        rng = np.random.default_rng(1)
        n = 60
        values = daily(n, rng, effects=WEEKEND / 6)
        values[[3, 17, 18, 40]] = math.nan
        present = ~np.isnan(values)
        columns = {"y": values[present], "w": (np.arange(n) % 7)[present], "b": (np.arange(n) // 7)[present]}
        frame = pd.DataFrame(columns)
        table = anova_lm(ols("y ~ C(b) + C(w)", frame).fit(), typ=2)
        assert weekday_pattern(values, days(n)).p_value == pytest.approx(table["PR(>F)"]["C(w)"])

    def test_a_weekend_is_found_and_measured(self):
        """Eight weeks: the effects add up to zero and are drawn a little towards it."""
        found = weekday_pattern(daily(56, np.random.default_rng(2)), days(56))
        assert (found.state, found.n_weeks) == ("found", 8)
        assert found.p_value < 1e-6
        assert found.effects.sum() == pytest.approx(0.0, abs=1e-12)
        truth = WEEKEND - WEEKEND.mean()
        np.testing.assert_allclose(found.effects, truth, atol=0.08)

    def test_a_change_of_level_is_no_pattern(self):
        """Weeks are compared with themselves: a fall of one point in the middle of the history changes nothing."""
        values = daily(70, np.random.default_rng(3))
        fallen = values - np.where(np.arange(70) >= 35, 1.0, 0.0)
        before, after = weekday_pattern(values, days(70)), weekday_pattern(fallen, days(70))
        np.testing.assert_allclose(before.effects, after.effects, atol=1e-9)

    def test_under_four_weeks_nothing_is_known(self):
        """However plain it looks."""
        found = weekday_pattern(daily(21, np.random.default_rng(4)), days(21))
        assert (found.state, found.p_value, found.n_weeks) == ("unknown", None, 3)
        assert not found.effects.any()

    def test_chance_is_rarely_taken_for_a_pattern(self):
        """At p < 0.01: of 400 quiet histories not more than chance allows, and no effects where none is told."""
        rng = np.random.default_rng(5)
        found = [weekday_pattern(daily(42, rng, effects=np.zeros(7)), days(42)) for _ in range(400)]
        told = sum(each.state == "found" for each in found)
        assert told <= stats.binom.ppf(0.995, 400, 0.01)
        assert not any(each.effects.any() for each in found if each.state == "none")

    def test_weekdays_that_are_never_graded_have_no_effect(self):
        """An office that closes at the weekend: five weekdays are compared."""
        rng = np.random.default_rng(6)
        values = daily(42, rng, effects=np.array([0.4, 0, 0, 0, 0, 0, 0]))
        values[np.arange(42) % 7 >= 5] = math.nan
        found = weekday_pattern(values, days(42))
        assert found.state == "found"
        assert found.effects[5:].tolist() == [0.0, 0.0]
        assert found.effects[0] == pytest.approx(0.32, abs=0.1)

    def test_a_series_that_repeats_exactly(self):
        """No spread: a pattern is certain, and so is its absence."""
        certain = weekday_pattern(3.8 + WEEKEND[np.arange(35) % 7], days(35))
        assert (certain.state, certain.p_value) == ("found", 0.0)
        np.testing.assert_allclose(certain.effects, WEEKEND - WEEKEND.mean(), atol=1e-9)
        assert weekday_pattern(np.full(35, 3.8), days(35)).state == "none"

    def test_lengths_that_differ_are_refused(self):
        """A day without a value."""
        with pytest.raises(ValueError, match="one length"):
            weekday_pattern([1.0, 2.0], [1])


class TestWholeWeeks:
    """Seven days in a row."""

    def test_blocks_of_seven_from_the_first_day_and_a_rest_that_waits(self):
        """Seventeen days from a Wednesday."""
        found = whole_weeks(days(17, MONDAY + 2), np.zeros(17))
        assert found.tolist() == [0] * 7 + [1] * 7 + [-1] * 3

    def test_missing_days_do_not_move_the_blocks(self):
        """A block ends by the calendar, and one without any day has no number."""
        present = np.array([0, 1, 5, 8, 21, 27, 28])
        assert whole_weeks(MONDAY + present, np.zeros(7)).tolist() == [0, 0, 0, 1, 2, 2, -1]

    def test_none_spans_two_stretches(self):
        """The judge changed on the fifth day: the rest of its week is left out, and the next begins there."""
        found = whole_weeks(days(12), np.array([0] * 5 + [1] * 7))
        assert found.tolist() == [-1] * 5 + [0] * 7

    def test_no_days(self):
        """Nothing, and lengths that differ."""
        assert whole_weeks([], []).shape == (0,)
        with pytest.raises(ValueError, match="one length"):
            whole_weeks([1, 2], [0])
