"""The watched numbers of a run, against plain computations and in simulation."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from evaluator.stats.paired import run_shifts
from evaluator.stats.streams import (
    STREAMS,
    anchor_reference,
    run_statistics,
    statistics_of_history,
    stream_floors,
)
from tests.stats.latent import whole_scores
from tests.stats.simulate import PROPERTY

N_BASELINE = 12


def numbers_of(scores, n_baseline=N_BASELINE):
    """Numbers of a history whose first runs are the baseline; every run counts."""
    inside = np.arange(len(scores)) < n_baseline
    reference = anchor_reference(scores[inside])
    return run_statistics(scores, reference, in_baseline=inside, counted=np.ones(len(scores), dtype=bool))


@pytest.fixture(scope="module")
def scores():
    """Forty runs of fifty anchors with holes; the judge pulls scores together from run 30 on."""
    return whole_scores(3, 40, change_at=30, drift=lambda opinion, _: opinion + 0.3 * (3 - opinion), missing_share=0.1)


class TestAgainstPlainComputation:
    """Each number, run by run."""

    def test_level_is_the_mean_difference_of_the_anchors_present(self, scores):
        """Loops over anchors."""
        means = [np.mean([s for s in column if not math.isnan(s)]) for column in scores[:N_BASELINE].T]
        for run, row in enumerate(scores):
            differences = [s - mean for s, mean in zip(row, means, strict=True) if not math.isnan(s)]
            assert numbers_of(scores).level[run] == pytest.approx(sum(differences) / len(differences))

    def test_slope_is_the_least_squares_slope_on_the_anchors_levels(self, scores):
        """Statsmodels, anchors present only."""
        means = np.nanmean(scores[:N_BASELINE], axis=0)
        found = numbers_of(scores).slope
        for run in (0, 11, 12, 25, 39):
            known = ~np.isnan(scores[run])
            fit = sm.OLS(scores[run, known] - means[known], sm.add_constant(means[known])).fit()
            assert found[run] == pytest.approx(fit.params[1])

    def test_spread_is_the_log_of_the_corrected_mean_square(self, scores):
        """Loops; the offset is 0.01 and half the baseline's average."""
        squares = []
        for run, row in enumerate(scores):
            of_run = []
            for anchor, score in enumerate(row):
                own = [s for s in scores[:N_BASELINE, anchor] if not math.isnan(s)]
                if math.isnan(score):
                    continue
                correction = len(own) / (len(own) - 1) if run < N_BASELINE else len(own) / (len(own) + 1)
                of_run.append(correction * (score - sum(own) / len(own)) ** 2)
            squares.append(sum(of_run) / len(of_run))
        offset = 0.01 + sum(squares[:N_BASELINE]) / N_BASELINE / 2
        np.testing.assert_allclose(numbers_of(scores).spread, [math.log(s + offset) for s in squares])

    def test_floors_follow_from_the_anchors(self):
        """Flips with probability 0.02; levels at least 0.3 apart; anchors without a mean do not count."""
        means = np.array([1.0, 3.0, 5.0, 3.0, np.nan])
        found = stream_floors(means)
        assert found["level"] == pytest.approx(math.sqrt(0.02 / 4))
        assert found["slope"] == pytest.approx(math.sqrt(0.02 / 4) / math.sqrt(2))
        assert found["spread"] == 0.25
        assert stream_floors(np.full(9, 3.0))["slope"] == pytest.approx(math.sqrt(0.02 / 9) / 0.3)
        assert all(floor > 0 for floor in stream_floors([np.nan]).values())


class TestUnbiasedSpread:
    """The mean square, before the logarithm, is the anchor's own variance on average."""

    @pytest.mark.parametrize("inside", [True, False])
    @pytest.mark.parametrize("n_baseline", [2, 3, 12])
    def test_inside_and_outside_the_baseline(self, inside, n_baseline):
        """Twenty thousand anchors with a variance of 0.09, some scores missing, one run looked at."""
        rng = np.random.default_rng(100 + n_baseline)
        scores = 3 + rng.normal(0, 0.3, (n_baseline + 1, 20_000))
        if n_baseline > 3:
            scores[3:n_baseline][rng.random((n_baseline - 3, 20_000)) < 0.3] = np.nan
        reference = anchor_reference(scores[:n_baseline])
        row = scores[:1] if inside else scores[-1:]
        numbers = run_statistics(row, reference, in_baseline=[inside], counted=[True])
        mean_square = math.exp(numbers.spread[0]) - reference.spread_offset
        assert mean_square == pytest.approx(0.09, abs=4 * 0.09 * math.sqrt(2 / 20_000))

    def test_baseline_runs_look_no_calmer_than_later_ones(self):
        """Averages of the stream itself over 400 judges, two standard errors apart at most 2.5."""
        rng = np.random.default_rng(8)
        gaps = []
        for _ in range(400):
            spread = numbers_of(3 + rng.normal(0, 0.3, (24, 40))).spread
            gaps.append(spread[12:].mean() - spread[:12].mean())
        assert abs(np.mean(gaps)) < 2.5 * np.std(gaps) / math.sqrt(400)


class TestSymmetries:
    """What must not matter."""

    @PROPERTY
    @given(st.integers(0, 10**6))
    def test_order_of_the_anchors_does_not_matter(self, seed):
        """Columns shuffled."""
        scores = whole_scores(seed, 20, n_anchors=15, missing_share=0.1)
        order = np.random.default_rng(seed).permutation(15)
        plain, shuffled = numbers_of(scores), numbers_of(scores[:, order])
        for name in STREAMS:
            np.testing.assert_allclose(shuffled.stream(name), plain.stream(name), atol=1e-12)

    @PROPERTY
    @given(st.integers(0, 10**6))
    def test_mirrored_scale_mirrors_the_level_and_nothing_else(self, seed):
        """6 - score: pulled together stays pulled together, restless stays restless."""
        scores = whole_scores(seed, 20, n_anchors=15, missing_share=0.1)
        there, back = numbers_of(scores), numbers_of(6 - scores)
        np.testing.assert_allclose(back.level, -there.level, atol=1e-12)
        np.testing.assert_allclose(back.slope, there.slope, atol=1e-12)
        np.testing.assert_allclose(back.spread, there.spread, atol=1e-12)

    @PROPERTY
    @given(st.integers(0, 10**6), st.floats(-3, 3))
    def test_moving_all_scores_changes_nothing(self, seed, constant):
        """Only differences count."""
        scores = whole_scores(seed, 20, n_anchors=15)
        plain, moved = numbers_of(scores), numbers_of(scores + constant)
        for name in STREAMS:
            np.testing.assert_allclose(moved.stream(name), plain.stream(name), atol=1e-9)

    def test_fractional_scores_are_scores(self):
        """Unevenly spaced values, by hand."""
        scores = np.array([[1.25, 3.5, 4.0], [1.75, 3.5, 4.5], [2.0, 3.0, 4.75]])
        numbers = numbers_of(scores, n_baseline=2)
        assert numbers.level[2] == pytest.approx((0.5 - 0.5 + 0.5) / 3)
        squares = (2 / 3) * (0.25 + 0.25 + 0.25) / 3
        offset = 0.01 + 0.5 * 2 * (0.0625 + 0 + 0.0625) / 3
        assert numbers.spread[2] == pytest.approx(math.log(squares + offset))


class TestHoles:
    """Anchors and runs that are not there."""

    def test_missing_anchors_do_no_harm(self):
        """Only the easy half was graded by a judge that repeats itself: no shift, no slope, no more noise."""
        exact = np.tile(np.tile([1.0, 2.0, 3.0, 4.0, 5.0], 8), (20, 1))
        exact[15:, exact[0] < 4] = np.nan
        numbers = numbers_of(exact)
        for name in STREAMS:
            np.testing.assert_allclose(numbers.stream(name)[15:], numbers.stream(name)[0], atol=1e-12)

    def test_runs_that_do_not_count_have_no_numbers(self, scores):
        """And change none of the others'."""
        counted = np.arange(40) != 20
        inside = np.arange(40) < N_BASELINE
        found = run_statistics(scores, anchor_reference(scores[inside]), in_baseline=inside, counted=counted)
        for name in STREAMS:
            assert np.isnan(found.stream(name)[20])
            np.testing.assert_array_equal(found.stream(name)[counted], numbers_of(scores).stream(name)[counted])
        assert len(found) == 40

    def test_anchors_of_one_level_have_no_slope(self):
        """Zero, not a division by zero."""
        same = np.full((20, 12), 3.0)
        same[15, :6] = 4.0
        assert numbers_of(same).slope[15] == 0.0

    def test_a_late_anchor_counts_only_once_it_is_compared(self):
        """It has no score in the baseline; its own norm is made of its first ten."""
        scores = whole_scores(4, 40, n_anchors=20, missing_share=0.0)
        late = scores.copy()
        late[:15, 0] = np.nan
        baseline = np.arange(40) < N_BASELINE
        shifts = run_shifts(late, baseline)
        found = statistics_of_history(late, baseline, shifts)
        assert shifts.joined_at[0] == 25
        without = numbers_of(scores[:, 1:])
        np.testing.assert_allclose(found.level[:25], without.level[:25])
        np.testing.assert_allclose(found.slope[:25], without.slope[:25])
        np.testing.assert_allclose(found.level, shifts.shift)
        assert not np.allclose(found.spread[25:], without.spread[25:])
        assert anchor_reference(late[baseline], shifts.anchor_mean).n_anchors == 20
