"""The judge's map and means taken back through it."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluator.stats.correction import (
    AFFINE,
    JudgeMap,
    NoMap,
    correct_means,
    fit_judge_map,
    fit_judge_maps,
)
from tests.stats.simulate import PROPERTY


def anchors(rng, n=40, slope=0.8, intercept=0.5, noise=0.25):
    """Baseline means spread over the scale, and scores of today on a straight line with noise."""
    means = rng.uniform(1.2, 4.8, n)
    return means, intercept + slope * means + rng.normal(0, noise, n)


class TestFit:
    """The map of one run."""

    @PROPERTY
    @given(st.integers(0, 10**6), st.integers(15, 80))
    def test_agrees_with_statsmodels_hc3(self, seed, n):
        """Coefficients and covariance of ordinary least squares, noise growing with the level."""
        rng = np.random.default_rng(seed)
        means, _ = anchors(rng, n)
        scores = 0.4 + 0.85 * means + rng.normal(0, 0.1, n) * means
        fit = sm.OLS(scores, sm.add_constant(means)).fit(cov_type="HC3")
        found = fit_judge_map(scores, means)
        assert isinstance(found, JudgeMap)
        assert found.method == AFFINE
        assert (found.intercept, found.slope) == pytest.approx(tuple(fit.params))
        covariance = fit.cov_params()
        assert found.var_intercept == pytest.approx(covariance[0, 0])
        assert found.covariance == pytest.approx(covariance[0, 1])
        assert found.var_slope == pytest.approx(covariance[1, 1])
        assert found.df == n - 2

    def test_anchors_missing_on_either_side_are_left_out(self):
        """As if they were not there."""
        means, scores = anchors(np.random.default_rng(1))
        holed_scores, holed_means = scores.copy(), means.copy()
        holed_scores[:5], holed_means[5:10] = np.nan, np.nan
        holed, whole = fit_judge_map(holed_scores, holed_means), fit_judge_map(scores[10:], means[10:])
        assert holed.n_anchors == whole.n_anchors == 30
        for name in ("intercept", "slope", "var_intercept", "covariance", "var_slope", "df"):
            assert getattr(holed, name) == pytest.approx(getattr(whole, name))

    def test_slope_from_the_last_runs_level_from_today(self):
        """The average's slope; the line goes through today's mean."""
        rng = np.random.default_rng(2)
        means, _ = anchors(rng)
        recent = 0.5 + 0.8 * means + rng.normal(0, 0.3, (5, 40)) + np.array([0, 0, 0, 0, 0.4])[:, None]
        found = fit_judge_map(recent, means)
        slope, _ = np.polyfit(means, recent.mean(axis=0), 1)
        assert found.slope == pytest.approx(slope)
        assert found.intercept + found.slope * means.mean() == pytest.approx(recent[-1].mean())
        assert found.var_slope < fit_judge_map(recent[-1], means).var_slope

    def test_repeating_the_same_run_changes_nothing(self):
        """Five equal runs are one run."""
        means, scores = anchors(np.random.default_rng(3))
        one, five = fit_judge_map(scores, means), fit_judge_map(np.tile(scores, (5, 1)), means)
        for name in ("intercept", "slope", "var_intercept", "covariance", "var_slope"):
            assert getattr(five, name) == pytest.approx(getattr(one, name))

    def test_slopes_are_not_averaged_across_a_change(self):
        """The judge compresses at run 10; from then on only the new regime counts."""
        means = np.linspace(1, 5, 30)
        scores = np.tile(means, (14, 1))
        scores[10:] = 1.5 + 0.5 * means
        blurred = fit_judge_maps(scores, means)
        sharp = fit_judge_maps(scores, means, change_index=10)
        assert [m.slope for m in sharp] == pytest.approx([1.0] * 10 + [0.5] * 4)
        assert blurred[10].slope == pytest.approx(0.9)

    @pytest.mark.parametrize(
        ("n", "spread", "noise", "reason"),
        [(14, 1.0, 0.1, "14 anchors"), (40, 0.1, 0.1, "too close"), (16, 0.75, 1.5, "too uncertain")],
    )
    def test_offset_only_where_the_slope_cannot_be_trusted(self, n, spread, noise, reason):
        """Few anchors, anchors of one level, noise: the mean difference, and the method says why."""
        rng = np.random.default_rng(4)
        means = 3 + spread * np.linspace(-1.7, 1.7, n)
        scores = means + 0.3 + rng.normal(0, noise, n)
        found = fit_judge_map(scores, means)
        assert found.method.startswith("offset only: ")
        assert reason in found.method
        difference = scores - means
        assert (found.slope, found.intercept) == (1.0, pytest.approx(difference.mean()))
        assert math.sqrt(found.var_intercept) == pytest.approx(stats.sem(difference))

    def test_a_single_anchor_does_not_decide_the_slope(self):
        """Nineteen anchors at 3 and one at 1: the residual of that one says nothing."""
        means = np.array([3.0] * 19 + [-0.5])
        found = fit_judge_map(means + 0.2, means)
        assert "single anchor" in found.method

    def test_fewer_than_ten_anchors_are_refused_with_a_reason(self):
        """No correction is better than one from nine anchors."""
        found = fit_judge_map(np.ones(9), np.linspace(1, 5, 9))
        assert isinstance(found, NoMap)
        assert "9 anchors graded" in found.reason

    def test_a_judge_that_gives_everything_the_same_grade_is_refused(self):
        """A slope of zero cannot be inverted."""
        found = fit_judge_map(np.full(30, 4.0), np.linspace(1, 5, 30))
        assert isinstance(found, NoMap)
        assert "slope 0.00" in found.reason

    def test_shapes_that_do_not_fit_are_refused(self):
        """One baseline mean per anchor."""
        with pytest.raises(ValueError, match="one column per anchor"):
            fit_judge_map(np.ones(12), np.ones(11))
        with pytest.raises(ValueError, match="slope_runs"):
            fit_judge_maps(np.ones((3, 12)), np.ones(12), slope_runs=0)


class TestCorrect:
    """Means on the baseline's scale."""

    def test_undoes_a_known_map_exactly(self):
        """A judge that maps x to 0.5 + 0.8 x without noise."""
        means = np.linspace(1, 5, 30)
        judge = fit_judge_map(0.5 + 0.8 * means, means)
        found = correct_means([3.7, 2.1, math.nan], [0.08, math.nan, math.nan], [50, 50, 50], judge)
        assert found.mean[:2] == pytest.approx([4.0, 2.0])
        assert found.se[0] == pytest.approx(0.1)
        assert found.judge_part[:2] == pytest.approx([-0.3, 0.1])
        assert np.isnan(found.low).tolist() == [False, True, True]
        assert np.isnan(found.mean[2])

    def test_standard_error_is_the_delta_methods(self):
        """By the gradient, with the covariance of the regression."""
        means, scores = anchors(np.random.default_rng(5))
        fit = sm.OLS(scores, sm.add_constant(means)).fit(cov_type="HC3")
        (a, c), covariance = fit.params, fit.cov_params()
        found = correct_means(3.6, 0.05, 25, fit_judge_map(scores, means), scale=(1, 5))
        theta = (3.6 - a) / c
        gradient = np.array([-1 / c, -theta / c])
        anchor_variance = gradient @ covariance @ gradient
        se = math.sqrt(0.05**2 / c**2 + anchor_variance)
        assert float(found.mean) == pytest.approx(theta)
        assert float(found.se) == pytest.approx(se)
        assert float(found.high) == pytest.approx(theta + stats.t.ppf(0.975, 25) * se)
        assert float(found.judge_part_se) == pytest.approx(math.hypot((1 - 1 / c) * 0.05, math.sqrt(anchor_variance)))

    def test_the_scarcer_of_anchors_and_conversations_sets_the_degrees_of_freedom(self):
        """Twenty anchors beside two hundred conversations, and beside five."""
        means, scores = anchors(np.random.default_rng(8), n=20)
        found = correct_means([3.6, 3.6], [0.1, 0.1], [199, 4], fit_judge_map(scores, means), level=0.9)
        assert found.df.tolist() == [18, 4]
        np.testing.assert_allclose(found.high - found.mean, stats.t.ppf(0.95, [18, 4]) * found.se)

    def test_drawn_bounds_stay_on_the_scale(self):
        """A corrected mean near the ceiling."""
        means, scores = anchors(np.random.default_rng(6), slope=0.7, intercept=0.2, noise=0.6)
        found = correct_means(3.6, 0.1, 25, fit_judge_map(scores, means), scale=(1, 5))
        assert found.high > 5
        assert found.drawn_high == 5

    @PROPERTY
    @given(st.integers(0, 10**6))
    def test_a_judge_that_did_not_move_needs_no_correction(self, seed):
        """Scores equal to the baseline: nothing changes, no anchor error."""
        means, _ = anchors(np.random.default_rng(seed))
        found = correct_means([3.3], [0.1], [20], fit_judge_map(means, means))
        assert found.mean[0] == pytest.approx(3.3)
        assert found.se[0] == pytest.approx(0.1)

    @pytest.mark.parametrize("n_runs", [1, 5])
    def test_covers_as_often_as_it_says_under_compression(self, n_runs):
        """500 panels of 50 anchors; the judge squeezes the scale, anchors and traffic differ in level."""
        rng = np.random.default_rng(7)
        hits = raw_hits = 0
        for _ in range(500):
            true_levels = rng.uniform(1.2, 4.8, 50)
            means = true_levels + rng.normal(0, 0.3, 50) / math.sqrt(20)
            own_drift, shocks = rng.normal(0, 0.2, 50), rng.normal(0, 0.05, n_runs)
            recent = 1 + 0.75 * true_levels + own_drift + shocks[:, None] + rng.normal(0, 0.2, (n_runs, 50))
            traffic = 1 + 0.75 * rng.normal(4.0, 0.5, 200) + rng.normal(0, 0.28, 200) + shocks[-1]
            found = correct_means(traffic.mean(), stats.sem(traffic), 199, fit_judge_map(recent, means))
            hits += bool(found.low <= 4.0 <= found.high)
            raw_hits += abs(traffic.mean() - 4.0) < 1.96 * stats.sem(traffic)
        assert hits / 500 == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / 500))
        assert raw_hits / 500 < 0.9
