"""Means, shares and their intervals against published numbers, other libraries and plain loops."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from evaluator.stats.intervals import (
    SUM_NAMES,
    Finding,
    classify,
    clopper_pearson,
    effective_sample_size,
    mean_from_sums,
    mean_interval,
    means_from_sums,
    wilson,
)
from tests.stats.simulate import PROPERTY

SCORE_LISTS = st.lists(st.integers(1, 5).map(float), min_size=2, max_size=40)


def sums_of(scores, weights, clusters):
    """The stored sums, added up score by score and cluster by cluster."""
    out = dict.fromkeys(SUM_NAMES, 0.0)
    per_cluster = {}
    for y, w, cluster in zip(scores, weights, clusters, strict=True):
        out["n"] += 1
        out["sum_w"] += w
        out["sum_w2"] += w * w
        out["sum_wy"] += w * y
        out["sum_w2y"] += w * w * y
        out["sum_w2y2"] += w * w * y * y
        total, weight = per_cluster.get(cluster, (0.0, 0.0))
        per_cluster[cluster] = (total + w * y, weight + w)
    out["n_clusters"] = len(per_cluster)
    for total, weight in per_cluster.values():
        out["sum_t2"] += total * total
        out["sum_tw"] += total * weight
        out["sum_ww"] += weight * weight
    return out


class TestMeanInterval:
    """Student interval of independent scores."""

    def test_thin_days_give_the_agreed_means_and_intervals(self, cases):
        """Case S01: none, one, two, equal and few scores."""
        case = cases["S01"]
        expected, tolerance = case["expected"], case["expected"]["tolerance"]
        for day, scores in case["input"]["days"].items():
            estimate = mean_interval(scores, scale=(1, 5))
            assert estimate.n == expected["n"][day]
            assert estimate.mean == (pytest.approx(expected["mean"][day]) if scores else None)
            bounds = expected["ci_student_t"][day]
            if isinstance(bounds, list):
                found = (estimate.interval.low, estimate.interval.high)
                assert found == pytest.approx(bounds, abs=tolerance)
                assert 1 <= estimate.drawn_low <= estimate.drawn_high <= 5
            else:
                assert estimate.interval is None
                assert estimate.drawn_low is None
                assert estimate.drawn_high is None
        assert mean_interval(case["input"]["days"]["2026-01-04"]).no_spread

    def test_week_mean_weighs_every_score_once(self, cases):
        """Case S01: 66 points over 16 scores, not the mean of daily means."""
        scores = [score for day in cases["S01"]["input"]["days"].values() for score in day]
        assert mean_interval(scores).mean == cases["S01"]["expected"]["week_mean_of_scores"]["value"]

    def test_published_confidence_limits_are_reproduced(self):
        """NIST/SEMATECH e-Handbook of Statistical Methods 1.3.5.2, data set ZARR13.DAT."""
        n, mean, sd = 195, 9.261460, 0.02278881
        squares = (n - 1) * sd**2 + n * mean**2
        ones = dict.fromkeys(("sum_w", "sum_w2", "sum_ww"), float(n))
        totals = dict.fromkeys(("sum_wy", "sum_w2y", "sum_tw"), n * mean)
        estimate = mean_from_sums(n=n, n_clusters=n, sum_w2y2=squares, sum_t2=squares, **ones, **totals)
        assert estimate.interval.low == pytest.approx(9.258242, abs=2e-6)
        assert estimate.interval.high == pytest.approx(9.264679, abs=2e-6)
        assert estimate.sd == pytest.approx(sd, rel=1e-6)

    @PROPERTY
    @given(SCORE_LISTS, st.sampled_from([0.8, 0.95, 0.99]))
    def test_agrees_with_scipy(self, scores, level):
        """Mean, spread and bounds are those of scipy's t distribution."""
        estimate = mean_interval(scores, level=level)
        assert estimate.sd == pytest.approx(np.std(scores, ddof=1), abs=1e-9)
        if len(set(scores)) == 1:
            assert estimate.interval is None
            assert estimate.no_spread
            return
        low, high = stats.t.interval(level, len(scores) - 1, np.mean(scores), stats.sem(scores))
        assert (estimate.interval.low, estimate.interval.high) == pytest.approx((low, high))

    @PROPERTY
    @given(SCORE_LISTS)
    def test_mirrored_scores_mirror_the_interval(self, scores):
        """Turning the scale round turns the bounds round."""
        there, back = mean_interval(scores), mean_interval([-s for s in scores])
        assert back.mean == pytest.approx(-there.mean)
        if there.interval is not None:
            assert back.interval.low == pytest.approx(-there.interval.high)

    @pytest.mark.parametrize("value", [0.1, 4.7, 1 / 3, 1e6])
    def test_equal_scores_never_get_a_zero_width_interval(self, value):
        """Rounding must not pass for spread, on any scale."""
        estimate = mean_interval([value] * 7)
        assert estimate.no_spread
        assert estimate.interval is None
        assert estimate.se is None

    def test_one_deviating_score_among_many_is_spread(self):
        """A single 4 among ten thousand 5s is not rounding."""
        estimate = mean_interval([5.0] * 9999 + [4.0])
        assert not estimate.no_spread
        assert estimate.interval.high > estimate.interval.low

    def test_unscored_entries_lower_the_count_and_never_the_mean(self):
        """nan is no zero."""
        estimate = mean_interval([4, math.nan, 5, math.nan])
        assert (estimate.n, estimate.n_unscored, estimate.mean) == (2, 2, 4.5)

    def test_daily_interval_covers_as_often_as_it_says(self):
        """95 % of 1500 days of 15 scores, within four standard errors."""
        rng = np.random.default_rng(11)
        days = np.round(rng.normal(3.2, 0.7, (1500, 15)))
        truth = np.round(np.random.default_rng(12).normal(3.2, 0.7, 2_000_000)).mean()
        intervals = [mean_interval(day).interval for day in days]
        hits = sum(i is not None and i.low <= truth <= i.high for i in intervals)
        assert hits / 1500 == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / 1500))

    @pytest.mark.parametrize(
        ("scores", "options", "message"),
        [
            ([1, 2], {"level": 95}, "0.95"),
            ([1, math.inf], {}, "finite"),
            ([1, 2], {"scale": (5, 1)}, "low to high"),
        ],
    )
    def test_bad_input_is_refused(self, scores, options, message):
        """The message names the value or the fix."""
        with pytest.raises(ValueError, match=message):
            mean_interval(scores, **options)


class TestMeansFromSums:
    """Weighted means of clustered scores."""

    @PROPERTY
    @given(SCORE_LISTS)
    def test_equals_the_student_interval_without_weights_and_clusters(self, scores):
        """Weights of 1 and clusters of one score are the ordinary case."""
        from_sums = mean_from_sums(**sums_of(scores, [1.0] * len(scores), range(len(scores))))
        ordinary = mean_interval(scores)
        assert from_sums.mean == pytest.approx(ordinary.mean)
        assert (from_sums.interval is None) == (ordinary.interval is None)
        if ordinary.interval is not None:
            assert from_sums.interval.low == pytest.approx(ordinary.interval.low)
            assert from_sums.sd == pytest.approx(ordinary.sd)

    def test_agrees_with_clustered_weighted_least_squares(self):
        """A regression on the constant with cluster covariance has the same mean and standard error."""
        rng = np.random.default_rng(5)
        clusters = rng.integers(0, 30, 120)
        scores = rng.integers(1, 6, 120) + rng.normal(0, 0.5, 30)[clusters]
        weights = rng.choice([1.0, 2.5, 10.0], 120)
        fit = sm.WLS(scores, np.ones(120), weights=weights).fit(
            cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": True}
        )
        estimate = mean_from_sums(**sums_of(scores, weights, clusters))
        assert estimate.mean == pytest.approx(fit.params[0])
        assert estimate.se == pytest.approx(fit.bse[0])
        half_width = stats.t.ppf(0.975, 29) * fit.bse[0]
        assert estimate.interval.high == pytest.approx(fit.params[0] + half_width)

    def test_many_rows_equal_one_row_at_a_time(self):
        """Vectors hold the same numbers, with nan where a row has no interval."""
        days = [([4, 5, 3], [1, 1, 2], [0, 0, 1]), ([4], [3], [0]), ([], [], []), ([2, 2], [1, 1], [0, 1])]
        rows = [sums_of(*day) for day in days]
        table = means_from_sums({name: [row[name] for row in rows] for name in SUM_NAMES}, scale=(1, 5))
        singles = [mean_from_sums(**row, scale=(1, 5)) for row in rows]
        for index, single in enumerate(singles):
            for name, value in (("mean", single.mean), ("se", single.se), ("drawn_low", single.drawn_low)):
                expected = math.nan if value is None else value
                assert table[name][index] == pytest.approx(expected, nan_ok=True)
        assert table["no_spread"].tolist() == [False, False, False, True]
        assert np.isnan(table["low"]).tolist() == [False, True, True, True]

    def test_one_conversation_with_many_answers_has_no_interval(self):
        """One cluster says nothing about other conversations."""
        estimate = mean_from_sums(**sums_of([1, 3, 5, 4], [1] * 4, [7] * 4))
        assert estimate.mean == 3.25
        assert estimate.interval is None
        assert not estimate.no_spread

    def test_clustered_interval_covers_where_the_plain_one_does_not(self):
        """Answers of one conversation resemble each other; 40 conversations of 5, 600 samples."""
        rng = np.random.default_rng(21)
        clusters = np.repeat(np.arange(40), 5)
        hits_clustered = hits_plain = 0
        for _ in range(600):
            scores = 3 + rng.normal(0, 0.6, 40)[clusters] + rng.normal(0, 0.5, 200)
            clustered = mean_from_sums(**sums_of(scores, np.ones(200), clusters)).interval
            plain = mean_interval(scores).interval
            hits_clustered += clustered.low <= 3 <= clustered.high
            hits_plain += plain.low <= 3 <= plain.high
        assert hits_clustered / 600 == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / 600))
        assert hits_plain / 600 < 0.85

    def test_missing_column_is_named(self):
        """A forgotten sum is an error, not a nan."""
        with pytest.raises(ValueError, match="sum_tw"):
            means_from_sums({name: [1.0] for name in SUM_NAMES if name != "sum_tw"})


class TestShares:
    """Intervals of pass rates."""

    @pytest.mark.parametrize(("method", "function"), [("wilson", wilson), ("clopper_pearson", clopper_pearson)])
    def test_extreme_counts_give_the_agreed_bounds(self, cases, method, function):
        """Case S02: 0 %, 100 %, one trial and none."""
        expected = cases["S02"]["expected"]
        for name, bounds in expected[method].items():
            successes, n = map(int, name.split("/"))
            interval = function(successes, n)
            if bounds is None:
                assert interval is None
            else:
                assert (interval.low, interval.high) == pytest.approx(bounds, abs=expected["tolerance"])
                assert 0 <= interval.low < interval.high <= 1

    @PROPERTY
    @given(st.integers(1, 400), st.floats(0, 1), st.sampled_from([0.8, 0.95, 0.99]))
    def test_agrees_with_statsmodels(self, n, share, level):
        """Both methods, any count."""
        successes = round(share * n)
        for function, method in ((wilson, "wilson"), (clopper_pearson, "beta")):
            interval = function(successes, n, level=level)
            low, high = proportion_confint(successes, n, alpha=1 - level, method=method)
            assert interval.low == pytest.approx(low, abs=1e-9)
            assert interval.high == pytest.approx(high, abs=1e-9)

    @pytest.mark.parametrize(("successes", "n"), [(-1, 3), (4, 3)])
    def test_impossible_counts_are_refused(self, successes, n):
        """More passes than answers is a fault of the caller."""
        with pytest.raises(ValueError, match="between 0 and n"):
            wilson(successes, n)


class TestEffectiveSampleSize:
    """Kish's effective sample size."""

    def test_equal_weights_count_fully_and_unequal_ones_less(self):
        """Three weights of 2 are three scores; one weight of 9 beside nine of 1 leave 3.6."""
        assert effective_sample_size([2, 2, 2]) == pytest.approx(3)
        assert effective_sample_size([9] + [1] * 9) == pytest.approx(18**2 / 90)
        assert effective_sample_size([]) == 0

    def test_negative_weight_is_refused(self):
        """A weight is the inverse of a probability."""
        with pytest.raises(ValueError, match="not negative"):
            effective_sample_size([1, -1])


class TestClassify:
    """What an interval for a change says."""

    @pytest.mark.parametrize(
        ("low", "high", "finding"),
        [
            (0.22, 0.40, Finding.CHANGED_UP),
            (-0.40, -0.22, Finding.CHANGED_DOWN),
            (-0.04, 0.18, Finding.NO_CHANGE_SHOWN),
            (-0.06, 0.09, Finding.STEADY),
            (0.02, 0.06, Finding.STEADY),
            (0.05, 0.15, Finding.CHANGED_UP),
            (-0.1, 0.1, Finding.STEADY),
            (None, None, Finding.CANNOT_TELL),
            (-math.inf, math.inf, Finding.CANNOT_TELL),
            (math.nan, 0.1, Finding.CANNOT_TELL),
        ],
    )
    def test_interval_and_tolerance_decide(self, low, high, finding):
        """Steady needs the whole interval within the tolerance of 0.10."""
        assert classify(low, high, 0.10) is finding

    @pytest.mark.parametrize(("low", "high", "tolerance"), [(0.2, 0.1, 0.1), (0.0, 0.1, 0.0)])
    def test_bad_bounds_are_refused(self, low, high, tolerance):
        """Bounds the wrong way round, or no tolerance."""
        with pytest.raises(ValueError, match=r"low|tolerance"):
            classify(low, high, tolerance)
