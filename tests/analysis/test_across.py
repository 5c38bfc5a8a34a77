"""The comparison across a change of the judge: its days, its line, its interval, and what would make it narrower."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from evaluator.analysis.across import DAYS_REVISED, Across, compare_across
from evaluator.analysis.judge import Regime
from evaluator.analysis.series import Series
from evaluator.analysis.watching import watch
from evaluator.stats.correction import JudgeMap, NoMap, fit_judge_map
from evaluator.stats.steadying import BLAME_LEVEL, steady_slope
from tests.analysis.test_quality import EXACT, regimes_at, series_of


def across(series: Series, regimes: list[Regime], place: int = 1, **options: Any) -> Across | None:
    """The comparison at the beginning of a stretch, with the watch's own view of every stretch."""
    stretches = series.by_regime()
    watched = [watch(each.value, threshold=365 / 0.35, floor_sd=0.014, level=0.95, tolerance=0.1) for each in stretches]
    defaults: dict[str, Any] = {"level": 0.95, "tolerance": 0.1, "n_looks": 1}
    return compare_across(stretches, watched, place, regimes, **(defaults | options))


def fitted(slope: float, seed: int = 1) -> JudgeMap:
    """The map of fifty anchors after the judge got that slope."""
    rng = np.random.default_rng(seed)
    means = rng.uniform(1.2, 4.8, 50)
    found = fit_judge_map(3.2 + slope * (means - 3) + rng.normal(0, 0.3, 50), means)
    assert isinstance(found, JudgeMap)
    return found


class TestDays:
    """Which days stand on either side."""

    def test_the_new_side_is_revised_for_twenty_days(self):
        """The twenty-first changes nothing any more."""
        short, long = (series_of((0, 40, 3.8), (1, days, 3.7)) for days in (19, 60))
        found = across(short, regimes_at(40))
        assert (len(found.after), found.open_days) == (19, 1)
        found = across(long, regimes_at(40))
        assert (len(found.after), found.open_days) == (DAYS_REVISED, 0)

    def test_a_later_change_of_the_answers_is_no_part_of_it(self):
        """They fell fifteen days after the judge's change."""
        found = across(series_of((0, 40, 3.8), (1, 15, 3.8), (1, 20, 3.2)), regimes_at(40))
        assert len(found.after) == 15
        assert abs(found.estimate) < 0.05

    def test_an_earlier_change_of_the_answers_is_no_part_of_it(self):
        """They fell fifteen days before the judge's change."""
        found = across(series_of((0, 25, 3.8), (0, 15, 3.3), (1, 20, 3.3)), regimes_at(40))
        assert len(found.before) == 15
        assert abs(found.estimate) < 0.05

    @pytest.mark.parametrize(("before", "after"), [(4, 20), (40, 4)])
    def test_too_few_days_on_a_side_are_not_compared(self, before, after):
        """Under five."""
        assert across(series_of((0, before, 3.8), (1, after, 3.8)), regimes_at(before)) is None

    def test_without_a_line_nothing_is_compared(self):
        """The anchors carry no correction."""
        regimes = regimes_at(40, average_map=NoMap(n_anchors=3, reason="too few"))
        assert across(series_of((0, 40, 3.8), (1, 20, 3.8)), regimes) is None


class TestLine:
    """The slope is drawn towards 1."""

    def test_a_line_that_stands_is_used_as_it_is(self):
        """The means are those of the daily values."""
        series = series_of((0, 40, 3.8), (1, 20, 3.6))
        found = across(series, regimes_at(40))
        assert found.mean_after == pytest.approx(series.value[40:].mean())
        assert found.estimate == pytest.approx(series.value[40:].mean() - series.value[:40].mean())

    def test_values_go_forward_through_the_fitted_line_and_back_through_the_steadied_one(self):
        """By hand: the raw mean behind them is what counts."""
        series, judge_map = series_of((0, 40, 3.8), (1, 20, 3.8)), fitted(0.97)
        found = across(series, regimes_at(40, average_map=judge_map))
        steady = steady_slope(judge_map)
        raw = judge_map.intercept + judge_map.slope * series.value[40:].mean()
        assert found.mean_after == pytest.approx((raw - steady.intercept) / steady.slope)
        assert found.mean_after != pytest.approx(series.value[40:].mean(), abs=1e-4)

    def test_from_the_second_stretch_on_both_sides_have_the_anchors_error(self):
        """The judge moved twice: neither side is on the first scale."""
        uncertain = replace(EXACT, var_intercept=0.05**2)
        series = series_of((0, 40, 3.8), (1, 20, 3.8), (2, 20, 3.8))
        regimes = regimes_at(40, 60, average_map=uncertain)
        one, two = across(series, regimes, 1), across(series, regimes, 2)
        assert two.half_width > 1.25 * one.half_width


class TestBlame:
    """How sure it must be."""

    def test_the_answers_are_blamed_beyond_the_level_and_not_before(self):
        """A difference just under and just over Student's quantile of the standard error."""
        series = series_of((0, 40, 3.8), (1, 20, 3.8))
        base = across(series, regimes_at(40))
        se = base.half_width / stats.t.ppf(0.975, 58)
        limit = stats.t.ppf(0.5 + BLAME_LEVEL / 2, 58) * se
        for size, is_blamed in ((0.97, False), (1.03, True)):
            moved = series.value.copy()
            moved[40:] -= base.estimate + size * limit
            found = across(replace(series, value=moved), regimes_at(40))
            assert found.is_blamed is is_blamed

    def test_a_large_move_of_the_judge_allows_for_more(self):
        """A line is not exactly straight: a tenth of +0.5."""
        series = series_of((0, 40, 3.8), (1, 20, 3.8))
        small, large = (
            across(series, regimes_at(40, average_map=replace(EXACT, intercept=gain))) for gain in (0.1, 0.5)
        )
        difference = large.half_width**2 - small.half_width**2
        assert difference == pytest.approx(stats.t.ppf(0.975, 58) ** 2 * (0.05**2 - 0.02**2), rel=1e-6)


class TestNeeds:
    """What would make it narrower."""

    def test_days_do_while_they_are_still_taken_in(self):
        """Noisy days: a few more, and then the half-width is there."""
        series = series_of((0, 60, 3.8), (1, 12, 3.8), sd=0.18)
        found = across(series, regimes_at(60))
        assert found.half_width > 0.1
        assert 0 < found.more_days <= found.open_days == 8
        later = across(series_of((0, 60, 3.8), (1, 12 + found.more_days, 3.8), sd=0.18), regimes_at(60))
        assert later.half_width == pytest.approx(0.1, abs=0.01)

    def test_anchors_do_where_days_never_will(self):
        """Their error alone is wider than what matters."""
        few = replace(EXACT, var_intercept=0.07**2, n_anchors=30, df=28.0)
        found = across(series_of((0, 60, 3.8), (1, 20, 3.8)), regimes_at(60, average_map=few))
        assert found.more_days is None
        enough = replace(few, var_intercept=0.07**2 * 30 / (30 + found.more_anchors))
        later = across(series_of((0, 60, 3.8), (1, 20, 3.8)), regimes_at(60, average_map=enough))
        assert later.half_width == pytest.approx(0.1, abs=0.002)
        assert math.isclose(found.half_width, 0.15, abs_tol=0.02)

    def test_nothing_more_is_needed_when_it_is_narrow(self):
        """Zero, not unknown."""
        found = across(series_of((0, 60, 3.8), (1, 20, 3.8), sd=0.02), regimes_at(60))
        assert (found.more_days, found.more_anchors) == (0, 0)
