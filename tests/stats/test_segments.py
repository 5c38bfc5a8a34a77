"""Segments before and after, multiplicity, and the shares of a change."""

import csv
import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluator.stats.intervals import SUM_NAMES, means_from_sums
from evaluator.stats.segments import benjamini_hochberg, decompose_change, segment_table, welch
from tests.stats import oracle
from tests.stats.simulate import PROPERTY
from tests.stats.test_intervals import sums_of


def means_of(samples):
    """Columns of the means of several samples of independent scores."""
    rows = [sums_of(sample, [1.0] * len(sample), range(len(sample))) for sample in samples]
    return means_from_sums({name: [row[name] for row in rows] for name in SUM_NAMES}, scale=(1, 5))


@pytest.fixture
def mix_shift(case_inputs):
    """Scores of case S04 by day and segment."""
    scores = defaultdict(lambda: defaultdict(list))
    with (case_inputs / "s04_mix_shift.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            scores[row["day"]][row["segment"]].append(float(row["score"]))
    return scores


class TestBenjaminiHochberg:
    """Multiplicity."""

    def test_published_example_rejects_the_published_four(self):
        """Benjamini and Hochberg, 1995, section 3.2: fifteen hypotheses, four rejected at 0.05."""
        published = [
            *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344),
            *(0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000),
        ]
        assert (benjamini_hochberg(published) <= 0.05).tolist() == [True] * 4 + [False] * 11

    @PROPERTY
    @given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
    def test_agrees_with_plain_loops(self, p_values):
        """The definition: the least of p m / rank over all ranks from one's own up; ties, zeros and ones included."""
        np.testing.assert_allclose(benjamini_hochberg(p_values), oracle.adjusted(p_values), atol=1e-12)

    def test_untested_segments_do_not_count_as_looks(self):
        """nan stays nan and costs the others nothing."""
        found = benjamini_hochberg([0.02, math.nan, 0.04])
        assert found[[0, 2]] == pytest.approx([0.04, 0.04])
        assert np.isnan(found[1])
        assert benjamini_hochberg([]).shape == (0,)

    def test_impossible_p_value_is_refused(self):
        """More than certain."""
        with pytest.raises(ValueError, match=r"\[0, 1\]"):
            benjamini_hochberg([0.5, 1.2])


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


class TestShares:
    """Judge, assistant and mix."""

    def test_mix_shift_is_not_a_quality_drop(self, cases, mix_shift):
        """Case S04: every segment rose by 0.1 while the overall mean fell by 0.5."""
        expected, names = cases["S04"]["expected"], cases["S04"]["input"]["segments"]
        before, after = (means_of([mix_shift[week][name] for name in names]) for week in ("week1", "week2"))
        shares = decompose_change(
            n_before=before["n"], n_after=after["n"], mean_before=before["mean"], mean_after=after["mean"]
        )
        tolerance = expected["tolerance"]
        assert before["mean"].tolist() == pytest.approx([expected["mean"]["week1"][name] for name in names])
        assert shares.raw_change == pytest.approx(expected["change_all"], abs=tolerance)
        assert shares.within_at_before_mix == pytest.approx(
            expected["change_within_segments_at_week1_mix"], abs=tolerance
        )
        assert shares.mix_at_after_levels == pytest.approx(expected["change_due_to_mix"], abs=tolerance)
        assert shares.adjusted_mean_after == pytest.approx(expected["mix_adjusted_mean_week2"], abs=tolerance)
        assert shares.assistant == pytest.approx(0.1)
        assert shares.mix == pytest.approx(-0.6)
        assert shares.judge == 0.0
        assert not any(row.flagged and row.change < 0 for row in segment_table(names, before, after))

    @PROPERTY
    @given(
        st.lists(
            st.tuples(st.integers(0, 90), st.integers(1, 90), *[st.floats(1, 5)] * 4), min_size=1, max_size=8
        ).filter(lambda rows: sum(row[0] for row in rows) > 0)
    )
    def test_shares_add_up_to_the_raw_change_and_flip_with_the_periods(self, rows):
        """Any mixes and levels; a segment may be new."""
        n0, n1, m0, m1, r0, r1 = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
        keys = ("n", "mean", "raw_mean")
        first, second = dict(zip(keys, (n0, m0, r0), strict=True)), dict(zip(keys, (n1, m1, r1), strict=True))

        def shares_of(before, after):
            named = {f"{k}_before": v for k, v in before.items()} | {f"{k}_after": v for k, v in after.items()}
            return decompose_change(**named)

        there, back = shares_of(first, second), shares_of(second, first)
        overall = n1 @ r1 / n1.sum() - n0 @ r0 / n0.sum()
        assert there.judge + there.assistant + there.mix == pytest.approx(there.raw_change, abs=1e-12)
        assert there.raw_change == pytest.approx(overall, abs=1e-9)
        for name in ("raw_change", "judge", "assistant", "mix"):
            assert getattr(back, name) == pytest.approx(-getattr(there, name), abs=1e-9)

    def test_judges_share_is_what_the_correction_took_away(self):
        """Raw rose by 0.4, corrected by 0.1, same mix."""
        shares = decompose_change(
            n_before=[60, 40],
            n_after=[60, 40],
            mean_before=[4.0, 3.0],
            mean_after=[4.1, 3.1],
            raw_mean_before=[4.0, 3.0],
            raw_mean_after=[4.4, 3.4],
        )
        assert (shares.judge, shares.assistant, shares.mix) == pytest.approx((0.3, 0.1, 0.0))

    def test_segment_seen_in_one_period_only_is_mix(self):
        """A new hard segment drags the mean down; nothing is known about its past."""
        shares = decompose_change(
            n_before=[50, 0], n_after=[50, 50], mean_before=[4.0, math.nan], mean_after=[4.0, 2.0]
        )
        assert (shares.assistant, shares.mix) == pytest.approx((0.0, -1.0))

    def test_standard_errors_match_the_spread_over_repetitions(self):
        """600 draws of two periods whose mix and levels both move."""
        rng = np.random.default_rng(9)
        found = [self.drawn_shares(rng) for _ in range(600)]
        for name in ("assistant", "mix"):
            spread = np.std([getattr(shares, name) for shares in found])
            claimed = np.mean([getattr(shares, f"{name}_se") for shares in found])
            assert claimed == pytest.approx(spread, rel=0.1)

    @staticmethod
    def drawn_shares(rng):
        """Shares from 300 answers before and 200 after, three segments."""
        levels = ((0.6, 0.3, 0.1), (4.2, 3.0, 2.0)), ((0.3, 0.3, 0.4), (4.6, 1.2, 3.5))
        columns = []
        for n, (mix, means) in zip((300, 200), levels, strict=True):
            segment = rng.choice(3, n, p=mix)
            scores = np.array(means)[segment] + rng.normal(0, 0.7, n)
            columns.append(means_of([scores[segment == g] for g in range(3)]))
        before, after = columns
        return decompose_change(
            n_before=before["n"],
            n_after=after["n"],
            mean_before=before["mean"],
            mean_after=after["mean"],
            se_before=before["se"],
            se_after=after["se"],
        )

    def test_unknown_error_of_one_segment_leaves_the_shares_without_error(self):
        """A segment with a single score has no standard error."""
        shares = decompose_change(
            n_before=[50, 1],
            n_after=[50, 5],
            mean_before=[4.0, 2.0],
            mean_after=[4.0, 2.0],
            se_before=[0.1, math.nan],
            se_after=[0.1, 0.2],
        )
        assert shares.assistant_se is None
        assert shares.mix_se is None

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"n_before": [0, 0]}, "needs scores"),
            ({"n_after": [3, -1]}, "not negative"),
            ({"mean_after": [4.0, math.nan]}, "no mean"),
            ({"mean_after": [4.0]}, "per segment"),
        ],
    )
    def test_bad_input_is_refused(self, changes, message):
        """Empty periods, negative counts, missing means, wrong lengths."""
        given_values = {"n_before": [5, 5], "n_after": [5, 5], "mean_before": [4.0, 3.0], "mean_after": [4.0, 3.0]}
        with pytest.raises(ValueError, match=message):
            decompose_change(**(given_values | changes))
