"""Shares of a change from means of segments, and shares as they are printed."""

import csv
import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.stats.segments import segment_table
from evaluator.stats.shares import decompose_change, rounded_to_add_up
from tests.stats.simulate import PROPERTY
from tests.stats.test_segments import means_of


@pytest.fixture
def mix_shift(case_inputs):
    """Scores of case S04 by day and segment."""
    scores = defaultdict(lambda: defaultdict(list))
    with (case_inputs / "s04_mix_shift.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            scores[row["day"]][row["segment"]].append(float(row["score"]))
    return scores


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

    def test_a_worked_example_by_hand(self):
        """Kitagawa's formula with thirds and quarters; the judge gave a fifth of a point more to everything.

        Shares 3/4, 1/4 then 1/4, 3/4; levels 4, 2 then 4.4, 2.2. Assistant: 1/2 * 0.4 + 1/2 * 0.2 = 0.3. Mix:
        4.2 * (-1/2) + 2.1 * 1/2 = -1.05. Together 2.75 - 3.5 = -0.75, and raw 2.95 - 3.5 = -0.55.
        """
        shares = decompose_change(
            n_before=[30, 10],
            n_after=[20, 60],
            mean_before=[4.0, 2.0],
            mean_after=[4.4, 2.2],
            raw_mean_before=[4.0, 2.0],
            raw_mean_after=[4.6, 2.4],
        )
        assert (shares.assistant, shares.mix, shares.judge) == pytest.approx((0.3, -1.05, 0.2))
        assert shares.raw_change == pytest.approx(-0.55)

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


class TestRounding:
    """What is printed adds up."""

    @PROPERTY
    @given(st.lists(st.floats(-4, 4), min_size=1, max_size=6), st.integers(0, 4))
    def test_rounded_parts_add_up_and_stay_within_a_unit(self, parts, digits):
        """In exact arithmetic, for any number of parts and digits."""
        total, shown = rounded_to_add_up(sum(parts), parts, digits=digits)
        unit = Fraction(1, 10**digits)
        assert Fraction(f"{total:.{digits}f}") == sum(Fraction(f"{part:.{digits}f}") for part in shown)
        for part, exact in zip(shown, parts, strict=True):
            assert abs(Fraction(part) - Fraction(exact)) <= unit + Fraction(1, 10**9)

    def test_the_largest_remainder_takes_the_missing_unit(self):
        """0.333 three times is 1.00: the first that was cut by most gets it; here all were cut alike."""
        assert rounded_to_add_up(1.0, (0.334, 0.333, 0.333)) == (1.0, (0.34, 0.33, 0.33))

    def test_parts_that_make_another_total_are_refused(self):
        """Nothing is spread over them that they do not have; nor is anything rounded to negative digits."""
        with pytest.raises(ValueError, match="do not add up"):
            rounded_to_add_up(1.0, (0.3, 0.3))
        with pytest.raises(ValueError, match="at least one part"):
            rounded_to_add_up(1.0, (1.0,), digits=-1)
