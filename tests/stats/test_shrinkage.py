"""Means drawn together for ranking."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.meta_analysis import combine_effects

from evaluator.stats.shrinkage import PRIOR_CLUSTERS, shrink, steady_errors
from tests.stats.simulate import PROPERTY


class TestShrink:
    """Normal-normal empirical Bayes."""

    @pytest.mark.parametrize("seed", range(8))
    def test_variance_between_and_overall_mean_are_dersimonian_and_lairds(self, seed):
        """Agrees with statsmodels' random effects; a negative estimate is zero."""
        rng = np.random.default_rng(seed)
        errors = rng.uniform(0.05, 0.4, 12)
        means = rng.normal(3.5, np.hypot(errors, 0.3 * (seed % 2)))
        known = combine_effects(means, errors**2, method_re="dl")
        found = shrink(means, errors)
        assert found.tau2 == pytest.approx(max(0.0, known.tau2), abs=1e-9)
        if known.tau2 > 0:
            assert found.overall == pytest.approx(known.mean_effect_re)

    def test_by_hand(self):
        """Two means with equal errors: half the squared distance, less the error, is between them."""
        found = shrink([3.0, 4.0], [0.5, 0.5])
        assert found.tau2 == pytest.approx(0.5 - 0.25)
        assert found.overall == pytest.approx(3.5)
        assert found.mean == pytest.approx([3.25, 3.75])

    @PROPERTY
    @given(st.lists(st.tuples(st.floats(1, 5), st.floats(0.05, 2)), min_size=1, max_size=20))
    def test_every_mean_moves_towards_the_overall_one_and_not_past_it(self, rows):
        """Whatever the errors."""
        means, errors = (np.array(column) for column in zip(*rows, strict=True))
        found = shrink(means, errors)
        assert ((found.weight >= 0) & (found.weight <= 1)).all()
        assert (np.abs(found.mean - found.overall) <= np.abs(means - found.overall) + 1e-9).all()

    def test_means_that_differ_by_chance_only_are_all_the_same(self):
        """Nobody is the lowest."""
        found = shrink([3.0, 3.1, 2.95, 3.05], [0.2, 0.2, 0.2, 0.2])
        assert found.tau2 == 0.0
        assert found.mean == pytest.approx([found.overall] * 4)

    def test_a_mean_of_few_answers_does_not_win(self):
        """1.0 of three answers against 3.2 of four hundred, among fifty around 3.8."""
        rng = np.random.default_rng(4)
        means = np.concatenate([rng.normal(3.8, 0.1, 48), [3.2, 1.0]])
        errors = 1.0 / np.sqrt([*[100] * 48, 400, 3])
        assert int(np.argmin(shrink(means, errors).mean)) == 48

    def test_what_is_not_known_is_left_out(self):
        """It stays nan and moves nobody; without any there is nothing."""
        with_gap, without = shrink([3.0, math.nan, 4.0], [0.1, 0.1, 0.1]), shrink([3.0, 4.0], [0.1, 0.1])
        assert with_gap.mean[[0, 2]] == pytest.approx(without.mean)
        assert np.isnan(with_gap.mean[1])
        assert np.isnan(shrink([math.nan], [0.1]).overall)

    @pytest.mark.parametrize(("errors", "message"), [([0.0, 0.1], "positive"), ([0.1], "one length")])
    def test_bad_input_is_refused(self, errors, message):
        """An error of zero; a missing one."""
        with pytest.raises(ValueError, match=message):
            shrink([3.0, 4.0], errors)


class TestSteadyErrors:
    """Spreads drawn together."""

    def test_three_answers_that_agree_are_not_sure(self):
        """Their spread of 0.02 is nearly that of all: 2 degrees of freedom against ten clusters of the others."""
        errors = [0.02 / math.sqrt(3), *[1.0 / math.sqrt(100)] * 9]
        found = steady_errors(errors, [3, *[100] * 9])
        assert found[0] > 0.5
        assert found[1] == pytest.approx(0.1, rel=0.01)

    def test_by_hand(self):
        """Spreads 1 and 3 with 4 and 8 degrees of freedom: the common one is 19/3."""
        found = steady_errors([1 / math.sqrt(5), 3 / math.sqrt(9)], [5, 9])
        common = (4 * 1 + 8 * 9) / 12
        assert found[0] ** 2 * 5 == pytest.approx((4 + PRIOR_CLUSTERS * common) / (4 + PRIOR_CLUSTERS))

    def test_no_spread_of_its_own_takes_the_common_one(self):
        """A single answer; and none at all has no error."""
        found = steady_errors([math.nan, 0.1, math.nan], [1, 100, 0])
        assert found[0] == pytest.approx(1.0)
        assert np.isnan(found[2])

    def test_no_spread_anywhere_is_not_no_error(self):
        """All answers the same."""
        assert np.isnan(steady_errors([math.nan, math.nan], [5, 9])).all()
