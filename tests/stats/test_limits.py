"""A series against a limit: evidence, crossing, coming back, and the interval of the level."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.signal import lfilter

from evaluator.stats.evidence import DEFAULT_SETTINGS
from evaluator.stats.limits import MIN_VALUES, RECENT_VALUES, _log_factors, watch_limit
from tests.stats.simulate import PROPERTY

FLOOR = 0.014
NEEDED = 365 / 0.10


def watch(values, **changes):
    """A mean that must not fall under 3.5."""
    options = {"limit": 3.5, "side": "under", "threshold": NEEDED, "floor_sd": FLOOR} | changes
    return watch_limit(values, **options)


def noise(n, seed=1, spread=0.08):
    """Day to day."""
    return np.random.default_rng(seed).normal(0, spread, n)


class TestEvidence:
    """The Bayes factor behind it."""

    def test_agrees_with_the_integral_it_is_the_closed_form_of(self):
        """Five values before, four after: spread and effect integrated numerically, effects beyond the limit only."""
        before, after = np.array([-0.2, 0.1, -0.3, 0.0, -0.1]), np.array([0.2, 0.5, 0.1, 0.4])
        prior, floor = DEFAULT_SETTINGS.prior_runs, 0.1
        fixed = ((before - before.mean()) ** 2).sum() + prior * floor**2
        n = len(before) - 1 + len(after) + prior

        def likelihood(sd, effect):
            squares = fixed + ((after - effect * sd) ** 2).sum()
            return sd ** (-n - 1) * math.exp(-squares / (2 * sd**2))

        at_limit, _ = integrate.quad(lambda sd: likelihood(sd, 0.0), 1e-3, 20)
        factors = []
        for g in DEFAULT_SETTINGS.effect_variances:
            density = 2 / math.sqrt(2 * math.pi * g)
            beyond, _ = integrate.dblquad(
                lambda effect, sd, g=g, density=density: (
                    likelihood(sd, effect) * density * math.exp(-(effect**2) / (2 * g))
                ),
                1e-3, 5, 0, 25, epsrel=1e-6,
            )  # fmt: skip
            factors.append(beyond / at_limit)
        found = _log_factors(np.concatenate([before, after]), np.array([5]), floor)
        assert math.exp(found[0]) == pytest.approx(np.mean(factors), rel=1e-4)

    @PROPERTY
    @given(st.integers(0, 10**6), st.floats(0.1, 10), st.floats(-5, 5))
    def test_units_do_not_matter(self, seed, unit, shift):
        """Another unit and another zero give the same evidence."""
        values = 3.45 + noise(30, seed)
        there = watch(values)
        back = watch(shift + unit * values, limit=shift + unit * 3.5, floor_sd=unit * FLOOR)
        np.testing.assert_allclose(back.evidence, there.evidence, rtol=1e-6)

    def test_sides_mirror_each_other(self):
        """A mean under is a share over, upside down."""
        values = 3.5 + np.concatenate([noise(30), noise(20, 2) - 0.2])
        under, over = watch(values), watch(-values, limit=-3.5, side="over")
        np.testing.assert_allclose(under.evidence, over.evidence)
        assert under.crossings == over.crossings
        assert (under.low, under.high) == pytest.approx((-over.high, -over.low))


class TestCrossing:
    """Told, dated, and taken back."""

    def test_a_fall_under_the_limit_is_told_within_days(self):
        """From 3.7 to 3.3 after sixty days."""
        found = watch(np.concatenate([3.7 + noise(60), 3.3 + noise(30, 2)]))
        (crossing,) = found.crossings
        assert found.is_crossed
        assert crossing.row == 60
        assert 60 < crossing.alarm_row < 70
        assert found.first_row == 60
        assert found.estimate == pytest.approx(3.3, abs=0.05)
        assert found.low < 3.3 < found.high < 3.5

    def test_a_level_that_comes_back_is_told_too(self):
        """And a second fall is another crossing."""
        levels = np.repeat([3.7, 3.3, 3.7, 3.3], 40)
        found = watch(levels + noise(160))
        first, second = found.crossings
        assert first.row == 40
        assert 118 <= second.row <= 122
        assert 80 <= first.back_row < 90
        assert second.back_row is None

    def test_one_freak_day_tells_nothing(self):
        """Two points under, once; the same for three days is told."""
        values = 3.7 + noise(60)
        values[40] -= 2.0
        assert not watch(values).crossings
        values[40:43] = 1.7
        (crossing,) = watch(values).crossings
        assert crossing.row in (40, 41), "the first such day enters clipped"

    def test_beyond_from_the_beginning_needs_no_quiet_time(self):
        """A mean of 3.2 from day one, though nothing ever changed."""
        found = watch(3.2 + noise(20))
        assert found.is_crossed
        assert found.crossings[0].alarm_row < 10

    def test_a_level_inside_keeps_the_limit(self):
        """The interval of the last two weeks lies on the good side."""
        found = watch(3.8 + noise(100))
        assert not found.crossings
        assert found.first_row == 100 - RECENT_VALUES
        assert found.low > 3.5

    def test_few_values_tell_nothing(self):
        """However low."""
        found = watch([1.0, 1.1, 0.9, 1.0])
        assert np.isnan(found.evidence).all()
        assert found.newest_evidence is None
        assert watch([]).estimate is None
        assert np.isfinite(watch([1.0] * MIN_VALUES).evidence[-1])

    def test_missing_days_are_passed_over(self):
        """Rows count the series as given."""
        values = np.concatenate([3.7 + noise(60), 3.3 + noise(30, 2)])
        gaps = np.insert(values, [10, 20, 61], math.nan)
        there, back = watch(values), watch(gaps)
        assert back.crossings[0].row == there.crossings[0].row + 2
        np.testing.assert_allclose(back.evidence[~np.isnan(gaps)], there.evidence)

    @pytest.mark.parametrize("change", [{"threshold": 0.0}, {"floor_sd": 0.0}, {"limit": math.inf}, {"level": 95}])
    def test_bad_input_is_refused(self, change):
        """Each named."""
        with pytest.raises(ValueError, match="must"):
            watch([3.5] * 10, **change)


class TestOverAYear:
    """Seeded years at the limits' share of the budget: one false alarm in ten years, so 9.5 % of years with one."""

    @pytest.mark.parametrize(
        ("name", "n_years"),
        [("mean at the limit", 25), ("mean a little inside", 10), ("share at the limit", 25), ("days alike", 25)],
    )
    def test_false_alarms_stay_within_the_budget(self, name, n_years):
        """The level at the limit is the worst case, also where each day resembles the one before (correlation 0.3)."""
        rng = np.random.default_rng(21)
        told = 0
        for _ in range(n_years):
            if name == "days alike":
                shocks = rng.normal(0, 0.08, 365)
                found = watch(3.5 + lfilter([math.sqrt(1 - 0.3**2)], [1, -0.3], shocks))
            elif name == "share at the limit":
                found = watch(rng.binomial(60, 0.1, 365) / 60, limit=0.1, side="over", floor_sd=(0.09 / 60) ** 0.5)
            else:
                found = watch(rng.normal(3.5 if "at" in name else 3.52, 0.08, 365))
            told += bool(found.crossings)
        assert told <= stats.binom.ppf(0.95, n_years, 1 - math.exp(-0.1))

    def test_the_interval_of_the_level_holds_the_truth_at_every_look(self):
        """Thirty streams looked at again and again from the crossing on: at most 5 % ever miss."""
        rng = np.random.default_rng(22)
        missed = 0
        for _ in range(30):
            values = np.concatenate([rng.normal(3.7, 0.08, 20), rng.normal(3.3, 0.08, 40)])
            looks = [watch(values[:n]) for n in range(30, 61, 6)]
            missed += any(each.is_crossed and not each.low < 3.3 < each.high for each in looks)
        assert missed <= stats.binom.ppf(0.99, 30, 0.05)
