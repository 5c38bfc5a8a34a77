"""A mean as the judge of the baseline would have given it, for users of the library."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluator import corrected_mean
from tests.stats.simulate import PROPERTY, Change, two_periods


def period(seed=1, n_anchors=50, change=None):
    """Baseline anchors, and anchors and answers of now."""
    first, second = two_periods(
        change or Change(judge_gain=0.2, judge_slope=0.8), np.random.default_rng(seed), n_anchors=n_anchors
    )
    return first.anchors, second


class TestAffine:
    """Fifty anchors over the whole scale."""

    def test_agrees_with_least_squares_and_the_delta_method(self):
        """statsmodels: HC3 for the anchors, clusters for the answers."""
        baseline, now = period()
        found = corrected_mean(now.scores, now.anchors[-1], baseline, clusters=now.conversations)
        line = sm.OLS(now.anchors[-1], sm.add_constant(baseline.mean(axis=0))).fit(cov_type="HC3")
        mean = sm.OLS(now.scores, np.ones(len(now.scores))).fit(
            cov_type="cluster", cov_kwds={"groups": now.conversations}
        )
        (a, c), covariance = line.params, line.cov_params()
        theta = (now.scores.mean() - a) / c
        h = np.array([1.0, theta])
        se = math.sqrt(float(mean.bse[0]) ** 2 + h @ covariance @ h) / c
        assert (found.mean, found.corrected) == pytest.approx((now.scores.mean(), theta))
        assert found.high - found.corrected == pytest.approx(stats.t.ppf(0.975, 48) * se)
        assert (found.method, found.df, found.n_anchors, found.reason) == ("affine", 48, 50, None)
        assert (found.n, found.n_clusters) == (1000, len(np.unique(now.conversations)))

    def test_several_runs_steady_the_slope_and_the_newest_gives_the_level(self):
        """A narrower interval about answers far from the anchors' centre."""
        baseline, now = period(2)
        answers = np.full(400, 4.8) + np.random.default_rng(2).normal(0, 0.01, 400)
        one = corrected_mean(answers, now.anchors[-1], baseline)
        five = corrected_mean(answers, now.anchors[-5:], baseline)
        assert five.high - five.low < one.high - one.low

    def test_means_of_the_baseline_are_as_good_as_its_runs(self):
        """They are all that is used."""
        baseline, now = period(3)
        assert corrected_mean(now.scores, now.anchors[-1], baseline) == corrected_mean(
            now.scores, now.anchors[-1], baseline.mean(axis=0)
        )

    @PROPERTY
    @given(st.integers(0, 10**6))
    def test_is_in_units_of_the_scale(self, seed):
        """The same on 0 to 1."""
        baseline, now = period(seed)
        plain = corrected_mean(now.scores, now.anchors[-1], baseline)
        unit = corrected_mean((now.scores - 1) / 4, (now.anchors[-1] - 1) / 4, (baseline - 1) / 4, scale=(0, 1))
        for name in ("mean", "corrected", "low", "high"):
            assert getattr(unit, name) == pytest.approx((getattr(plain, name) - 1) / 4)

    def test_weights_count(self):
        """Answers that stand for nine each."""
        baseline, now = period(4)
        weights = np.where(now.kinds == "easy", 9.0, 1.0)
        found = corrected_mean(now.scores, now.anchors[-1], baseline, weights=weights)
        assert found.mean == pytest.approx(np.average(now.scores, weights=weights))

    def test_covers_the_truth_as_often_as_it_says(self):
        """A judge that squeezes and shifts; three hundred runs of 200 answers."""
        rng, hits, n = np.random.default_rng(5), 0, 300
        for _ in range(n):
            first, second = two_periods(Change(judge_gain=0.2, judge_slope=0.8), rng, n_runs=5, answers_a_run=200)
            # the answers of the run that the newest anchors are of
            newest = slice(800, 1000)
            found = corrected_mean(
                second.scores[newest], second.anchors, first.anchors, clusters=second.conversations[newest]
            )
            hits += found.low <= 3.7 <= found.high
        assert hits / n == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / n))


class TestLess:
    """What the anchors or the answers do not carry."""

    def test_few_anchors_carry_the_offset_only(self):
        """Twelve: the mean difference, and why."""
        baseline, now = period(6, n_anchors=12)
        found = corrected_mean(now.scores, now.anchors[-1], baseline)
        offset = (now.anchors[-1] - baseline.mean(axis=0)).mean()
        assert found.corrected == pytest.approx(now.scores.mean() - offset)
        assert found.method == "offset only"
        assert found.reason == "12 anchors, a slope needs 15"

    def test_fewer_than_ten_are_refused_and_the_raw_mean_stands(self):
        """A reason and no number."""
        baseline, now = period(7, n_anchors=9)
        found = corrected_mean(now.scores, now.anchors[-1], baseline)
        assert found.mean == pytest.approx(now.scores.mean())
        assert (found.corrected, found.low, found.high, found.df) == (None, None, None, None)
        assert (found.method, found.reason) == ("refused", "9 anchors graded, at least 10 needed")

    def test_no_scored_answer_has_no_mean(self):
        """Neither raw nor corrected."""
        baseline, now = period(8)
        found = corrected_mean([math.nan, math.nan], now.anchors[-1], baseline)
        assert (found.mean, found.corrected, found.n) == (None, None, 0)
        assert found.reason == "no answer has a score"

    @pytest.mark.parametrize("answers", [[4.0], [4.0, 4.0, 4.0]])
    def test_answers_without_spread_have_a_mean_and_no_interval(self, answers):
        """One answer, and three alike."""
        baseline, now = period(9)
        found = corrected_mean(answers, now.anchors[-1], baseline)
        assert found.corrected is not None
        assert (found.low, found.high, found.df) == (None, None, None)
        assert "no spread" in found.reason

    def test_bounds_stay_on_the_scale(self):
        """Near the top."""
        baseline, now = period(10)
        found = corrected_mean([5.0, 4.0, 5.0, 5.0], now.anchors[-1], baseline)
        assert found.high == 5.0

    @pytest.mark.parametrize(
        ("options", "message"),
        [({"scale": (5, 1)}, "low to high"), ({"level": 95}, "inside"), ({"clusters": ["a"]}, "needs a cluster")],
    )
    def test_what_does_not_fit_is_refused(self, options, message):
        """Scale upside down, a level in percent, too few clusters."""
        baseline, now = period(11)
        with pytest.raises(ValueError, match=message):
            corrected_mean(now.scores, now.anchors[-1], baseline, **options)

    def test_anchors_of_another_set_are_refused(self):
        """One baseline per anchor."""
        baseline, now = period(12)
        with pytest.raises(ValueError, match="one column per anchor"):
            corrected_mean(now.scores, now.anchors[-1][:30], baseline)
