"""Segments before and after."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluator.stats.intervals import SUM_NAMES, means_from_sums
from evaluator.stats.segments import segment_table, welch
from tests.stats.simulate import PROPERTY
from tests.stats.test_intervals import sums_of


def means_of(samples):
    """Columns of the means of several samples of independent scores."""
    rows = [sums_of(sample, [1.0] * len(sample), range(len(sample))) for sample in samples]
    return means_from_sums({name: [row[name] for row in rows] for name in SUM_NAMES}, scale=(1, 5))


class TestSegmentTable:
    """Before against after."""

    @PROPERTY
    @given(st.integers(0, 10**6), st.integers(3, 40), st.integers(3, 40))
    def test_change_agrees_with_scipys_welch_test(self, seed, n_before, n_after):
        """Bounds and p-value of one segment."""
        rng = np.random.default_rng(seed)
        before, after = rng.normal(3, 0.5, n_before), rng.normal(3.4, 0.9, n_after)
        (row,) = segment_table(["all"], means_of([before]), means_of([after]))
        test = stats.ttest_ind(after, before, equal_var=False)
        bounds = test.confidence_interval(0.95)
        assert row.change == pytest.approx(after.mean() - before.mean())
        assert (row.change_low, row.change_high) == pytest.approx((bounds.low, bounds.high))
        assert row.p_value == pytest.approx(test.pvalue)

    def test_swapping_periods_flips_the_sign(self):
        """And nothing else."""
        rng = np.random.default_rng(1)
        before, after = means_of(rng.normal(3, 1, (2, 20))), means_of(rng.normal(3.5, 1, (2, 30)))
        for there, back in zip(segment_table("ab", before, after), segment_table("ab", after, before), strict=True):
            assert back.change == pytest.approx(-there.change)
            assert (back.change_low, back.change_high) == pytest.approx((-there.change_high, -there.change_low))
            assert back.p_adjusted == pytest.approx(there.p_adjusted)

    def test_segment_with_one_score_shows_it_and_cannot_alert(self):
        """Case S04: its value and n, no interval."""
        rng = np.random.default_rng(2)
        common = rng.normal(3, 0.3, 50)
        rows = segment_table(["common", "rare"], means_of([common, [5.0]]), means_of([common, [1.0]]))
        rare = rows[1]
        assert (rare.after.n, rare.after.mean, rare.change) == (1, 1.0, -4.0)
        assert rare.after.low is None
        assert rare.change_low is None
        assert rare.p_adjusted is None
        assert not rare.flagged

    def test_absent_segment_has_neither_mean_nor_change(self):
        """New after, or gone after."""
        new, gone = segment_table(["new", "gone"], means_of([[], [3, 4]]), means_of([[3, 4], []]))
        assert new.before.mean is None
        assert new.change is None
        assert gone.after.n == 0
        assert gone.change is None

    def test_side_without_spread_borrows_the_other_sides(self):
        """All passed before, half pass now: that stands out, although 'before' has no spread of its own."""
        before, after = means_of([[5.0] * 30]), means_of([[5.0] * 15 + [1.0] * 15])
        (row,) = segment_table(["refunds"], before, after)
        assert row.before.low is None
        assert row.flagged
        assert row.change_high < 0
        (still,) = segment_table(["refunds"], before, before)
        assert (still.change, still.change_low, still.flagged) == (0.0, None, False)

    def test_quiet_segments_are_rarely_flagged_and_changed_ones_are(self):
        """Forty quiet segments and four that fell, fifty times; share of false finds within 5 %."""
        rng = np.random.default_rng(3)
        names = [str(i) for i in range(44)]
        false_shares, found = [], 0
        for _ in range(50):
            before, after = rng.normal(3, 0.8, (44, 60)), rng.normal(3, 0.8, (44, 60))
            after[40:] -= 0.8
            flagged = [int(r.segment) for r in segment_table(names, means_of(before), means_of(after)) if r.flagged]
            false_shares.append(sum(i < 40 for i in flagged) / max(len(flagged), 1))
            found += sum(i >= 40 for i in flagged)
        assert np.mean(false_shares) < 0.05 + 3 * np.std(false_shares) / math.sqrt(50)
        assert found / 200 > 0.9

    @pytest.mark.parametrize(
        ("names", "options", "message"),
        [(["a", "a"], {}, "repeat"), (["a"], {}, "per segment"), (["a", "b"], {"false_share": 5}, "inside")],
    )
    def test_bad_input_is_refused(self, names, options, message):
        """Duplicate names, wrong lengths, a share in percent."""
        table = means_of([[1, 2], [2, 3]])
        with pytest.raises(ValueError, match=message):
            segment_table(names, table, table, **options)

    def test_welch_degrees_of_freedom_lie_between_the_bounds(self):
        """Between the smaller of the two and their sum."""
        _, df = welch([0.1, 0.2], [5, 9], [0.1, 0.01], [8, 30])
        assert 5 <= df[0] <= 13
        assert df[1] == pytest.approx(9.05, abs=0.1)
