"""Shifts of runs against the anchors' own baseline."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from evaluator.stats.paired import (
    BETWEEN_ANCHORS,
    BETWEEN_RUNS,
    BETWEEN_RUNS_FLOOR,
    enough_anchors,
    normalise,
    run_shifts,
    today_interval,
    units_per_point,
)
from tests.stats.simulate import FLOOR_50, PROPERTY, Judge, anchor_scores

MATRICES = arrays(float, (6, 12), elements=st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0, math.nan]))


def shifts_by_hand(scores, n_baseline):
    """Mean paired difference per run, one number at a time."""
    n_runs, n_anchors = scores.shape
    out = []
    for run in range(n_runs):
        differences = []
        for anchor in range(n_anchors):
            base = [scores[b, anchor] for b in range(n_baseline) if not math.isnan(scores[b, anchor])]
            if base and not math.isnan(scores[run, anchor]):
                differences.append(scores[run, anchor] - sum(base) / len(base))
        out.append((sum(differences) / len(differences) if differences else math.nan, len(differences)))
    return out


class TestRunShifts:
    """The paired shift."""

    def test_partial_outage_on_hard_anchors_shows_no_drift(self, cases):
        """Case A04: six of ten anchors answer as before."""
        case = cases["A04"]
        baseline = list(case["input"]["baseline_by_anchor"].values())
        today = [s if isinstance(s, int) else math.nan for s in case["input"]["today"].values()]
        result = run_shifts(np.array([baseline, today], dtype=float), slice(0, 1))
        assert result.shift[1] == case["expected"]["drift_on_same_anchors"]
        assert result.n[1] == case["expected"]["n_scored"]
        assert result.n_asked[1] == case["expected"]["n_expected"]
        assert result.counted.tolist() == [True, False]
        assert np.isnan(result.stream[1])

    def test_stricter_judge_shows_as_drift_on_fixed_answers(self, cases):
        """Case J01: minus one on every anchor."""
        days = cases["J01"]["input"]["anchor_scores"]
        result = run_shifts(np.array([day["scores"] for day in days], dtype=float), slice(0, 2))
        assert result.shift.tolist() == [0.0, 0.0, -1.0, -1.0]

    @PROPERTY
    @given(MATRICES)
    def test_agrees_with_a_plain_loop(self, scores):
        """Any pattern of missing scores."""
        result = run_shifts(scores, slice(0, 3), joining_runs=99)
        for run, (shift, n) in enumerate(shifts_by_hand(scores, 3)):
            assert result.shift[run] == pytest.approx(shift, nan_ok=True)
            assert result.n[run] == n

    @PROPERTY
    @given(MATRICES, st.permutations(range(12)))
    def test_relabelling_anchors_changes_nothing(self, scores, order):
        """Anchors have no order."""
        there, back = run_shifts(scores, slice(0, 3)), run_shifts(scores[:, order], slice(0, 3))
        np.testing.assert_allclose(there.shift, back.shift, atol=1e-12)
        assert there.counted.tolist() == back.counted.tolist()

    @PROPERTY
    @given(MATRICES, st.floats(-3, 3))
    def test_mirroring_flips_the_shift_and_moving_the_scale_changes_nothing(self, scores, constant):
        """Differences only."""
        there = run_shifts(scores, slice(0, 3))
        back = run_shifts(constant - scores, slice(0, 3))
        np.testing.assert_allclose(back.shift, -there.shift, atol=1e-12)

    @pytest.mark.parametrize(
        ("n", "asked", "counts"), [(10, 20, True), (9, 18, False), (24, 50, False), (25, 50, True), (0, 0, False)]
    )
    def test_a_run_counts_with_half_of_its_anchors_and_ten(self, n, asked, counts):
        """Both limits, on either side."""
        assert bool(enough_anchors(n, asked)) is counts

    def test_dropped_anchors_blind_nothing_when_they_are_no_longer_asked(self):
        """Thirty of fifty anchors retire; the rest still counts."""
        scores = anchor_scores(Judge(missing_share=0.0), 30, np.random.default_rng(1))
        scores[20:, :30] = np.nan
        asked = ~np.isnan(scores)
        assert not run_shifts(scores, slice(0, 20)).counted[25]
        assert run_shifts(scores, slice(0, 20), asked=asked).counted[25]

    def test_late_anchors_join_on_the_scale_of_the_baseline(self):
        """Added after the judge had moved by 0.5, they neither hide nor dilute the shift."""
        scores = np.full((60, 30), 3.0)
        scores[20:] += 0.5
        scores[:30, 15:] = np.nan
        result = run_shifts(scores, slice(0, 20))
        assert result.joined_at[0] == 0
        assert result.joined_at[20] == 40
        assert result.n.tolist() == [15] * 40 + [30] * 20
        np.testing.assert_allclose(result.shift[20:], 0.5)
        np.testing.assert_allclose(result.anchor_mean, 3.0)

    def test_an_anchor_with_too_few_scores_of_its_own_is_not_compared(self):
        """Nine scores are not ten."""
        scores = np.full((29, 12), 3.0)
        scores[:20, 11] = np.nan
        result = run_shifts(scores, slice(0, 20))
        assert result.joined_at[11] == 29
        assert np.isnan(result.anchor_mean[11])
        assert result.n_asked[28] == 11

    @pytest.mark.parametrize(
        ("scores", "rows", "message"),
        [
            (np.ones(4), slice(0, 1), "shape"),
            (np.ones((4, 3)), slice(4, 9), "no run"),
            (np.ones((4, 3)), [True, False], "mask"),
            (np.ones((4, 3)), np.array([0, 1, 2, 3]), "mask"),
        ],
    )
    def test_bad_input_is_refused(self, scores, rows, message):
        """Wrong shapes and empty baselines."""
        with pytest.raises(ValueError, match=message):
            run_shifts(scores, rows)

    def test_asked_of_another_shape_is_refused(self):
        """One flag per score."""
        with pytest.raises(ValueError, match="asked"):
            run_shifts(np.ones((4, 3)), slice(0, 2), asked=np.ones((4, 2)))


class TestTodayInterval:
    """The interval of one run."""

    def test_spread_between_runs_gives_a_prediction_interval(self):
        """Against scipy's t distribution."""
        scores = anchor_scores(Judge(), 25, np.random.default_rng(3))
        shifts = run_shifts(scores, slice(0, 20))
        interval = today_interval(shifts, 24, reference=np.arange(25) < 20, floor_sd=FLOOR_50)
        known = shifts.shift[:20]
        half_width = stats.t.ppf(0.975, 19) * known.std(ddof=1) * math.sqrt(1 + 1 / 20)
        assert interval.low == pytest.approx(shifts.shift[24] - half_width)
        assert interval.high == pytest.approx(shifts.shift[24] + half_width)
        assert interval.method == BETWEEN_RUNS

    def test_a_run_is_never_its_own_reference(self):
        """The mask may hold it, and runs that do not count; neither widens the interval."""
        scores = anchor_scores(Judge(), 25, np.random.default_rng(3))
        scores[7, :40] = np.nan
        scores[24] += 1
        shifts = run_shifts(scores, slice(0, 20))
        without = np.arange(25) < 24
        without[7] = False
        found, expected = (
            today_interval(shifts, 24, reference=mask, floor_sd=FLOOR_50) for mask in (np.ones(25, dtype=bool), without)
        )
        assert found == expected

    def test_too_short_a_reference_falls_back_to_the_spread_between_anchors(self):
        """Two runs: a paired t interval over anchors, and the method says so."""
        scores = anchor_scores(Judge(missing_share=0.0), 3, np.random.default_rng(3))
        shifts = run_shifts(scores, slice(0, 2))
        interval = today_interval(shifts, 2, reference=[True, True, False], floor_sd=FLOOR_50)
        test = stats.ttest_rel(scores[2], scores[:2].mean(axis=0)).confidence_interval(0.95)
        assert (interval.low, interval.high) == pytest.approx((test.low, test.high))
        assert interval.method == BETWEEN_ANCHORS

    def test_reference_that_repeats_exactly_uses_the_floor(self):
        """A spread of zero was seen, but is not believed."""
        shifts = run_shifts(np.full((12, 20), 3.1), slice(0, 11))
        interval = today_interval(shifts, 11, reference=np.arange(12) < 11, floor_sd=0.02)
        assert interval.method == BETWEEN_RUNS_FLOOR
        assert interval.high - interval.low > 0.04

    def test_no_interval_without_anything_to_base_it_on(self):
        """A run without anchors, and anchors that all moved by the same."""
        scores = np.array([[3.0] * 5, [3.0] * 5, [2.0] * 5, [math.nan] * 5])
        shifts = run_shifts(scores, slice(0, 2))
        for run in (2, 3):
            assert today_interval(shifts, run, reference=[True, True, False, False], floor_sd=0.02) is None

    def test_covers_as_often_as_it_says(self):
        """95 % of 500 judges' next quiet run, within four standard errors."""
        rng = np.random.default_rng(8)
        hits = 0
        for _ in range(500):
            shifts = run_shifts(anchor_scores(Judge(bad_run_share=0.0), 21, rng), slice(0, 20))
            interval = today_interval(shifts, 20, reference=np.arange(21) < 20, floor_sd=FLOOR_50)
            hits += interval.low <= 0 <= interval.high
        assert hits / 500 == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / 500))

    def test_floor_must_be_positive(self):
        """A floor of zero would bring back certainty from nothing."""
        shifts = run_shifts(np.ones((4, 12)), slice(0, 3))
        with pytest.raises(ValueError, match="floor_sd"):
            today_interval(shifts, 3, reference=[True] * 4, floor_sd=0.0)


class TestNormalise:
    """1..5 equivalents."""

    def test_five_point_scale_is_untouched_and_others_are_mapped(self):
        """Pass or fail becomes 5 or 1; a 0-10 rubric's middle becomes 3."""
        assert normalise([1.0, 2.7, 5.0], (1, 5)).tolist() == [1.0, 2.7, 5.0]
        assert normalise([0, 1], (0, 1)).tolist() == [1.0, 5.0]
        assert normalise([5], (0, 10)).tolist() == [3.0]
        assert units_per_point((0, 10)) == 2.5

    def test_scale_upside_down_is_refused(self):
        """Low first."""
        with pytest.raises(ValueError, match="low to high"):
            normalise([1], (5, 1))


def test_a_moved_judge_that_is_restless_has_wider_days_and_they_hold():
    """Twenty calm runs, then a level twice as restless: the spread of the baseline alone misses far too often."""
    rng = np.random.default_rng(4)
    narrow = wide = n = 0
    for _ in range(120):
        level = np.concatenate([rng.normal(0, 0.03, 20), rng.normal(0.2, 0.06, 40)])
        shifts = run_shifts(3 + level[:, None] + np.zeros((60, 12)), slice(0, 20))
        baseline, moved = np.arange(60) < 20, np.arange(60) >= 20
        truth = 0.2 - level[:20].mean()
        for row in (30, 45, 59):
            options = {"reference": baseline, "floor_sd": 0.01}
            plain = today_interval(shifts, row, **options)
            own = today_interval(shifts, row, **options, beside=moved & (np.arange(60) <= row))
            narrow += plain.low <= truth <= plain.high
            wide += own.low <= truth <= own.high
            n += 1
    assert narrow / n < 0.85
    assert 0.92 <= wide / n <= 0.99


def test_few_runs_beside_change_nothing():
    """Four of them tell no spread."""
    rng = np.random.default_rng(5)
    shifts = run_shifts(3 + rng.normal(0, 0.05, (25, 1)) + np.zeros((25, 12)), slice(0, 20))
    options = {"reference": np.arange(25) < 20, "floor_sd": 0.01}
    assert today_interval(shifts, 24, **options) == today_interval(shifts, 24, **options, beside=np.arange(25) >= 20)
