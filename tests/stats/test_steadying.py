"""A steadier slope, an allowance, and what it would take."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.stats.correction import JudgeMap, fit_judge_map
from evaluator.stats.steadying import MAP_ALLOWANCE, Needed, allowance, more_needed, needed, steady_slope
from tests.stats.simulate import PROPERTY


def map_of(slope, *, noise=0.25, seed=1, n=50, gain=0.2):
    """The map of anchors whose judge has that slope about 3."""
    rng = np.random.default_rng(seed)
    means = rng.uniform(1.2, 4.8, n)
    found = fit_judge_map(3 + gain + slope * (means - 3) + rng.normal(0, noise, n), means)
    assert isinstance(found, JudgeMap)
    return found


def variance_at(judge_map, level):
    """Variance of the line's value at a level."""
    return judge_map.var_intercept + 2 * level * judge_map.covariance + level**2 * judge_map.var_slope


class TestSteadySlope:
    """Towards 1, as far as the anchors do not speak against it."""

    @PROPERTY
    @given(st.floats(0.5, 1.5), st.integers(0, 1000))
    def test_lies_between_one_and_the_fitted_slope_and_keeps_the_anchors_shift(self, slope, seed):
        """Neither past 1 nor further from it; the value at the anchors' centre, and its variance, stay."""
        fitted = map_of(slope, seed=seed)
        steady = steady_slope(fitted)
        assert min(1.0, fitted.slope) - 1e-12 <= steady.slope <= max(1.0, fitted.slope) + 1e-12
        centre = fitted.centre
        assert steady.intercept + steady.slope * centre == pytest.approx(fitted.intercept + fitted.slope * centre)
        assert variance_at(steady, centre) == pytest.approx(variance_at(fitted, centre))

    @PROPERTY
    @given(st.integers(0, 1000))
    def test_is_never_less_certain_far_from_the_centre(self, seed):
        """The slope's error is no larger, nor is its covariance with the level."""
        fitted = map_of(0.95, seed=seed)
        steady = steady_slope(fitted)
        assert 0 <= steady.var_slope <= fitted.var_slope
        assert abs(steady.covariance + steady.centre * steady.var_slope) <= (
            abs(fitted.covariance + fitted.centre * fitted.var_slope) + 1e-12
        )

    def test_a_slope_that_is_surely_off_one_is_hardly_touched(self):
        """A judge that squeezes the scale by a quarter."""
        fitted = map_of(0.75, noise=0.1)
        assert steady_slope(fitted).slope == pytest.approx(fitted.slope, abs=0.01)

    def test_a_slope_within_its_error_of_one_becomes_one(self):
        """What is left is the anchors' mean shift; the distance drawn stays in the error."""
        fitted = replace(map_of(1.0), slope=1.01, var_slope=0.03**2)
        steady = steady_slope(fitted)
        assert (steady.slope, steady.var_slope) == (1.0, pytest.approx(0.01**2))
        assert steady.method.endswith("slope drawn towards 1")

    def test_an_offset_comes_back_as_it_is(self):
        """It has no slope to steady."""
        means = np.linspace(2, 4, 12)
        offset = fit_judge_map(means + 0.3 + 0.01 * (-1) ** np.arange(12), means)
        assert steady_slope(offset) is offset

    def test_the_steadied_line_is_closer_to_the_truth(self):
        """Two hundred judges that moved by the same everywhere: what is taken out of answers above the anchors."""
        errors = {"fitted": [], "steady": []}
        for seed in range(200):
            fitted = map_of(1.0, seed=seed, noise=0.4)
            for name, judge_map in (("fitted", fitted), ("steady", steady_slope(fitted))):
                errors[name].append((4.4 - judge_map.intercept) / judge_map.slope - 4.2)
        assert np.std(errors["steady"]) < 0.9 * np.std(errors["fitted"])


class TestAllowance:
    """For the judge's move not being a straight line."""

    @pytest.mark.parametrize(
        ("share", "slope", "allowed"),
        [(0.0, 1.0, 0.0), (0.05, 1.0, 0.01), (0.15, 1.0, MAP_ALLOWANCE), (-0.3, 1.0, 0.03), (0.0, 0.75, 0.025)],
    )
    def test_goes_with_the_size_of_the_move(self, share, slope, allowed):
        """None without a move, 0.02 from 0.1 on, a tenth of a large one; a squeezed scale is a move too."""
        assert allowance(replace(map_of(1.0), slope=slope), share) == pytest.approx(allowed)


class TestMoreNeeded:
    """Until an interval is narrow enough."""

    @PROPERTY
    @given(st.integers(1, 500), st.floats(0.01, 1), st.floats(0, 1), st.floats(0.01, 1))
    def test_is_the_least_number_that_does(self, n, part, rest, wanted):
        """With it the half-width is what is wanted, with one less it is not."""

        def half(more):
            return math.hypot(part * math.sqrt(n / (n + more)), rest)

        more = more_needed(n, part, rest, wanted)
        if more is None:
            assert rest >= wanted
            return
        assert half(more) <= wanted * (1 + 1e-6)
        assert more == 0 or half(more - 1) > wanted * (1 - 1e-6)

    def test_unknown_widths_need_an_unknown_number(self):
        """No guess."""
        assert more_needed(10, math.nan, 0.1, 0.2) is None


class TestNeeded:
    """Answers, anchors, or both."""

    def test_each_alone_where_each_would_do(self):
        """By hand: 100 * (9 / 4.25 - 1) answers, or 50 * (16 / 11.25 - 1) anchors."""
        found = needed((100, 3.0), (50, 4.0), 0.0, 4.5)
        assert found == Needed(answers=112, anchors=22, together=False)

    def test_one_alone_where_only_one_would_do(self):
        """The anchors' part is wider than what is wanted; the answers' is not: 50 * (16 / 3.25 - 1) anchors."""
        assert needed((100, 3.0), (50, 4.0), 0.0, 3.5) == Needed(answers=None, anchors=197, together=False)

    def test_both_together_where_neither_would_do_alone(self):
        """Both grow by the same factor, (9 + 16) / 2.25 less one."""
        found = needed((90, 3.0), (45, 4.0), 0.0, 1.5)
        assert found == Needed(answers=910, anchors=455, together=True)
        left = math.hypot(3.0 * math.sqrt(90 / 1000), 4.0 * math.sqrt(45 / 500))
        assert left == pytest.approx(1.5)

    def test_nothing_where_the_rest_alone_is_too_wide(self):
        """Neither answers nor anchors are what it lacks."""
        assert needed((90, 3.0), (45, 4.0), 2.0, 1.5) == Needed(answers=None, anchors=None, together=False)

    def test_answers_that_cannot_be_had_are_not_asked_for(self):
        """Alone or together."""
        assert needed((100, 3.0), (50, 4.0), 0.0, 4.5, most_answers=100).answers is None
        assert needed((90, 3.0), (45, 4.0), 0.0, 1.5, most_answers=900) == needed((90, 3.0), (45, 4.0), 9.0, 1.5)

    def test_unknown_widths_are_not_guessed(self):
        """Nothing is known, nothing is needed."""
        unknown = needed((90, math.nan), (45, math.nan), math.nan, 1.5)
        assert unknown == Needed(answers=None, anchors=None, together=False)
