"""The evidence itself: published closed form, plain loops, symmetries."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.signal import lfilter

from evaluator.stats.evidence import (
    DetectorSettings,
    EvidenceStream,
    from_log,
    guarding_correlation,
    log_bayes_factors,
    shrunk_autocorrelation,
)
from tests.stats import oracle
from tests.stats.simulate import PROPERTY

FLOOR = 0.02
STREAMS = st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=12, max_size=30)


def log_evidence(values, n_reference=10, **settings):
    """Log evidence after every run of a stream."""
    stream = EvidenceStream(values[:n_reference], floor_sd=FLOOR, settings=DetectorSettings(**settings))
    return np.array([stream.update(value) for value in values[n_reference:]])


class TestBayesFactor:
    """Evidence for one candidate change."""

    @pytest.mark.parametrize("g", [0.25, 1.0, 16.0])
    def test_equals_the_published_two_sample_bayes_factor(self, g):
        """Gönen, Johnson, Lu and Westfall, The American Statistician 59, 2005, from scipy's t statistic."""
        rng = np.random.default_rng(2)
        before, after = rng.normal(0, 1, 9), rng.normal(0.8, 1, 6)
        t, nu, size = stats.ttest_ind(after, before).statistic, 13, 9 * 6 / 15
        shrink = 1 + size * g
        published = shrink**-0.5 * ((1 + t**2 / nu) / (1 + t**2 / (nu * shrink))) ** ((nu + 1) / 2)
        settings = DetectorSettings(effect_variances=(g,), prior_runs=0.0)
        values = np.concatenate([before, after])
        found = log_bayes_factors(values, np.array([9]), floor_sd=FLOOR, settings=settings)
        assert math.exp(found[0]) == pytest.approx(published)

    def test_equals_the_ratio_of_marginal_likelihoods(self):
        """Noncentral t likelihood integrated over the effect size, by quadrature."""
        rng = np.random.default_rng(4)
        values = np.concatenate([rng.normal(0, 1, 8), rng.normal(1.5, 1, 4)])
        t, nu, size, g = stats.ttest_ind(values[8:], values[:8]).statistic, 10, 8 * 4 / 12, 2.25

        def weighted_likelihood(effect):
            return stats.nct.pdf(t, nu, effect * math.sqrt(size)) * stats.norm.pdf(effect, 0, math.sqrt(g))

        marginal, _ = integrate.quad(weighted_likelihood, -8, 8)
        settings = DetectorSettings(effect_variances=(g,), prior_runs=0.0)
        found = log_bayes_factors(values, np.array([8]), floor_sd=FLOOR, settings=settings)
        assert math.exp(found[0]) == pytest.approx(marginal / stats.t.pdf(t, nu), rel=1e-6)

    def test_is_one_on_average_when_nothing_changed(self):
        """An e-value: mean 1 under the null, over 4000 draws."""
        rng = np.random.default_rng(6)
        settings = DetectorSettings(effect_variances=(0.25,), prior_runs=0.0)
        draws = [
            math.exp(log_bayes_factors(row, np.array([10]), floor_sd=FLOOR, settings=settings)[0])
            for row in rng.normal(3, 0.4, (4000, 12))
        ]
        assert np.mean(draws) == pytest.approx(1.0, abs=4 * np.std(draws) / math.sqrt(4000))


class TestStream:
    """Evidence of a whole stream."""

    @PROPERTY
    @given(STREAMS, st.sampled_from([10, 12]))
    def test_agrees_with_plain_loops(self, values, n_reference):
        """Clipping, correlation guard, mixture and sum."""
        np.testing.assert_allclose(
            np.exp(log_evidence(values, n_reference)), oracle.evidence(values, n_reference, FLOOR), rtol=1e-8
        )

    def test_agrees_with_plain_loops_beyond_the_window(self):
        """Old candidates leave the sum."""
        values = np.random.default_rng(9).normal(0, 0.03, 60)
        found = log_evidence(values, window=15)
        np.testing.assert_allclose(np.exp(found), oracle.evidence(list(values), 10, FLOOR, window=15), rtol=1e-8)

    @PROPERTY
    @given(STREAMS)
    def test_direction_of_the_change_does_not_matter(self, values):
        """Mirrored streams carry the same evidence."""
        np.testing.assert_allclose(log_evidence(values), log_evidence([-v for v in values]), atol=1e-9)

    @PROPERTY
    @given(STREAMS, st.floats(-1000, 1000))
    def test_shifting_all_values_changes_nothing(self, values, constant):
        """Only differences between runs count."""
        moved = [v + constant for v in values]
        np.testing.assert_allclose(log_evidence(values), log_evidence(moved), atol=1e-6)

    def test_unit_of_the_scores_does_not_matter_when_the_floor_follows(self):
        """Scale invariance: ten times the values, ten times the floor."""
        values = np.random.default_rng(1).normal(0, 0.03, 40)
        small = EvidenceStream(values[:20], floor_sd=0.02)
        large = EvidenceStream(10 * values[:20], floor_sd=0.2)
        for value in values[20:]:
            assert small.update(value) == pytest.approx(large.update(10 * value))

    def test_an_enormous_lasting_change_stays_finite(self):
        """Evidence beyond what floats hold is cut, not inf."""
        values = np.concatenate([np.zeros(400), np.full(800, 3.0)])
        found = log_evidence(values, window=1000)
        assert np.isfinite(found).all()
        assert found[-1] > 700
        assert math.isfinite(from_log(found[-1]))

    def test_a_reference_that_repeats_exactly_does_not_alarm_at_the_first_flip(self):
        """One anchor of fifty flips once: 0.02 in the mean, against a budget of one alarm a year."""
        assert math.exp(log_evidence([0.0] * 20 + [0.02], n_reference=20)[0]) < 36

    @pytest.mark.parametrize(
        ("reference", "floor", "message"),
        [([0.0] * 9, 0.02, "at least 10"), ([0.0] * 10, 0.0, "floor_sd"), ([0.0] * 9 + [math.nan], 0.02, "finite")],
    )
    def test_bad_reference_is_refused(self, reference, floor, message):
        """Too short, without floor, or with a hole."""
        with pytest.raises(ValueError, match=message):
            EvidenceStream(reference, floor_sd=floor)

    def test_missing_value_is_refused(self):
        """A run that does not count is left out, not passed as nan."""
        with pytest.raises(ValueError, match="do not count"):
            EvidenceStream([0.0] * 10, floor_sd=0.02).update(math.nan)


class TestAutocorrelation:
    """The guard's estimate."""

    @PROPERTY
    @given(STREAMS)
    def test_agrees_with_plain_loops(self, values):
        """Bias, shrinkage and limits."""
        found = shrunk_autocorrelation(np.array(values), floor_sd=FLOOR)
        assert found == pytest.approx(oracle.lag_one(values, FLOOR))

    def test_recovers_a_known_correlation_from_a_long_series(self):
        """An autoregressive series of 5000 values with coefficient 0.5."""
        rng = np.random.default_rng(3)
        values = np.zeros(5000)
        for index in range(1, 5000):
            values[index] = 0.5 * values[index - 1] + rng.normal(0, 0.1)
        assert shrunk_autocorrelation(values, floor_sd=FLOOR) == pytest.approx(0.5, abs=0.04)

    def test_alternating_values_count_as_independent(self):
        """Negative correlation is never used: it would make the detector bolder."""
        assert shrunk_autocorrelation(np.tile([0.1, -0.1], 20), floor_sd=FLOOR) == 0.0

    @PROPERTY
    @given(STREAMS)
    def test_what_is_guarded_against_agrees_with_plain_loops(self, values):
        """Never less than the correlation of neighbours, never more than the largest one."""
        bare = shrunk_autocorrelation(np.array(values), floor_sd=FLOOR)
        found = guarding_correlation(np.array(values), floor_sd=FLOOR)
        assert found == pytest.approx(oracle.guarded_against(values, FLOOR))
        assert bare <= found <= 0.8

    @pytest.mark.parametrize("flips", [0.0, 0.08, 0.2])
    def test_flips_beside_a_lasting_shock_do_not_hide_its_long_run_variance(self, flips):
        """Shocks of spread 0.1 and correlation 0.5 with flips: freed of it, its averages have the right spread."""
        rng = np.random.default_rng(3)
        shock = lfilter([1.0], [1.0, -0.5], rng.normal(0, 0.1 * math.sqrt(0.75), 20_000))
        values = shock + rng.normal(0, flips, len(shock))
        rho = guarding_correlation(values, floor_sd=FLOOR)
        guarded = (values[1:] - rho * values[:-1]) / (1 - rho)
        assert guarded.var() == pytest.approx(0.1**2 * 1.5 / 0.5 + flips**2, rel=0.12)

    def test_can_be_switched_off(self):
        """A prior spread of zero means independent runs."""
        trend = np.linspace(-1, 1, 30)
        assert shrunk_autocorrelation(trend, floor_sd=FLOOR) > 0.5
        assert shrunk_autocorrelation(trend, floor_sd=FLOOR, settings=DetectorSettings(autocorrelation_sd=0)) == 0.0
