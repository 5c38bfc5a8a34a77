"""Answers in conversations, with weights, against statsmodels, plain loops and a published estimator."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from evaluator.stats.clusters import answers_of, clustered_mean, numbered, sums_of, variance_between_clusters
from tests.stats import test_intervals
from tests.stats.simulate import PROPERTY


def drawn(seed, n=60, n_talks=25):
    """Scores, weights and conversations of a period."""
    rng = np.random.default_rng(seed)
    talk = rng.integers(0, n_talks, n)
    scores = rng.normal(3.5, 0.7, n) + rng.normal(0, 0.5, n_talks)[talk]
    return scores, rng.uniform(0.5, 8, n), talk


def jackknife(scores, weights, clusters):
    """Variance of the ratio mean by leaving out one cluster at a time: another way to the same quantity."""
    left_out = []
    for cluster in np.unique(clusters):
        kept = clusters != cluster
        left_out.append(float(weights[kept] @ scores[kept] / weights[kept].sum()))
    n = len(left_out)
    return (n - 1) / n * sum((value - np.mean(left_out)) ** 2 for value in left_out)


class TestMean:
    """Hájek's mean and its linearised variance."""

    @PROPERTY
    @given(st.integers(0, 10**6))
    def test_agrees_with_cluster_robust_least_squares(self, seed):
        """Weighted regression on a constant, its covariance between clusters, as statsmodels has it."""
        scores, weights, talk = drawn(seed)
        fit = sm.WLS(scores, np.ones(len(scores)), weights=weights).fit(cov_type="cluster", cov_kwds={"groups": talk})
        found = clustered_mean(answers_of(scores, clusters=talk, weights=weights))
        assert found.mean == pytest.approx(float(fit.params[0]))
        assert found.se == pytest.approx(float(fit.bse[0]))

    def test_agrees_with_leaving_out_one_conversation_at_a_time(self):
        """The jackknife of the ratio, which knows nothing of a linearisation."""
        scores, weights, talk = drawn(1, n=600, n_talks=200)
        found = clustered_mean(answers_of(scores, clusters=talk, weights=weights))
        assert found.se**2 == pytest.approx(jackknife(scores, weights, talk), rel=0.02)

    def test_a_worked_example_by_hand(self):
        """Weights 1, 1, 2 on 4, 2, 5 in conversations a, a, b: mean 4, z = (0 - 2, 2) / 4, variance 2/1 * (1/4 + 1/4).

        T = 6 and 10, W = 2 and 2, so T - 4 W = -2 and 2; over the weight of 4, and with C/(C - 1) = 2: 1.
        """
        found = clustered_mean(answers_of([4.0, 2.0, 5.0], clusters=["a", "a", "b"], weights=[1, 1, 2]))
        assert (found.mean, found.se) == pytest.approx((4.0, 1.0))

    def test_covers_as_often_as_it_says_with_weights_and_conversations(self):
        """Rare answers drawn more often and weighed down for it; 400 samples."""
        rng, hits = np.random.default_rng(2), 0
        for _ in range(400):
            is_rare = rng.random(150) < 0.5
            talk = rng.integers(0, 100, 150)
            scores = np.where(is_rare, 2.0, 4.0) + rng.normal(0, 0.4, 100)[talk] + rng.normal(0, 0.5, 150)
            # rare ones are a tenth of the traffic, and half of the sample
            found = clustered_mean(answers_of(scores, clusters=talk, weights=np.where(is_rare, 1.0, 9.0)))
            hits += found.interval.low <= 3.8 <= found.interval.high
        assert hits / 400 == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / 400))


class TestSums:
    """What the store keeps."""

    def test_are_those_added_up_answer_by_answer(self):
        """Every column, by a plain loop."""
        scores, weights, talk = drawn(3)
        found = sums_of(answers_of(scores, clusters=talk, weights=weights))
        assert found == pytest.approx(test_intervals.sums_of(scores, weights, talk))


class TestVariance:
    """Of anything that answers move."""

    def test_of_the_means_influences_is_the_means(self):
        """Each answer moves the mean by w (y - mean) / sum of w."""
        scores, weights, talk = drawn(4)
        side = answers_of(scores, clusters=talk, weights=weights)
        influence = side.weight * (side.score - side.mean) / side.weight.sum()
        assert math.sqrt(variance_between_clusters(influence, side.cluster)) == pytest.approx(clustered_mean(side).se)

    def test_of_one_conversation_is_unknown(self):
        """Not zero."""
        assert math.isnan(variance_between_clusters(np.array([0.1, -0.1]), np.array([0, 0])))


class TestGiven:
    """What a caller hands in."""

    def test_unscored_answers_are_left_out_with_their_weights(self):
        """And counted."""
        found = answers_of([4.0, math.nan, 2.0], clusters=["a", "b", "a"], weights=[1, 7, 3])
        assert (found.n, found.n_unscored, found.n_clusters, found.mean) == (2, 1, 1, pytest.approx(2.5))

    def test_ids_of_any_kind_are_numbered_as_they_come(self):
        """Text, numbers and nothing beside each other."""
        numbers, names = numbered(["b", 3, None, "b"])
        assert (numbers.tolist(), names) == ([0, 1, 2, 0], ["b", 3, None])

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"clusters": ["a"]}, "needs a cluster"),
            ({"weights": [1, 0]}, "positive"),
            ({"weights": [1, math.inf]}, "positive"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, options, message):
        """Lengths, and weights no sample has."""
        with pytest.raises(ValueError, match=message):
            answers_of([4.0, 2.0], **options)

    def test_a_table_of_scores_is_refused(self):
        """One row of answers."""
        with pytest.raises(ValueError, match="one row"):
            answers_of([[4.0, 2.0]])
