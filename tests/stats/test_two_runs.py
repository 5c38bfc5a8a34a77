"""Two runs of the same anchors compared at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evaluator.stats.intervals import Finding
from evaluator.stats.two_runs import compare_two_runs, sign_test

NA = np.nan
BEFORE = np.array([3, 4, 2, 5, 3, 4, 1, 2, 4, 3, 5, NA, 2.0])
AFTER = np.array([4, 4, 3, 5, 4, 4, 2, 2, 5, 3, NA, 3, 2.0])


def test_difference_and_interval_are_those_of_a_paired_t_test() -> None:
    """Over the items that both runs scored; the others are counted, not compared."""
    found = compare_two_runs(BEFORE, AFTER, smallest_change=0.1)
    both = ~np.isnan(BEFORE) & ~np.isnan(AFTER)
    theirs = stats.ttest_rel(AFTER[both], BEFORE[both]).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high))
    assert (found.n, found.n_only_before, found.n_only_after) == (11, 1, 1)
    assert (found.n_up, found.n_down, found.n_same) == (5, 0, 6)
    assert found.finding is Finding.CHANGED_UP


@pytest.mark.parametrize(("up", "down"), [(5, 0), (0, 5), (8, 3), (50, 50), (1, 0)])
def test_sign_test_is_the_exact_binomial_test(up: int, down: int) -> None:
    """Against scipy's."""
    assert sign_test(up, down) == pytest.approx(stats.binomtest(up, up + down).pvalue)


def test_sign_test_of_nothing_says_nothing() -> None:
    """No item moved."""
    assert sign_test(0, 0) is None


def test_swapping_the_runs_changes_the_sign_and_nothing_else() -> None:
    """Estimate, bounds and counts turn round."""
    there = compare_two_runs(BEFORE, AFTER, smallest_change=0.1)
    back = compare_two_runs(AFTER, BEFORE, smallest_change=0.1)
    assert there.estimate is not None
    assert there.low is not None
    assert (back.estimate, back.high) == pytest.approx((-there.estimate, -there.low))
    assert (back.n_up, back.n_down, back.sign_test_p) == (there.n_down, there.n_up, there.sign_test_p)


def test_two_identical_runs_are_no_proof_of_steadiness() -> None:
    """No item moved, so there is no spread to make an interval of: it cannot be told."""
    found = compare_two_runs(np.full(30, 4.0), np.full(30, 4.0), smallest_change=0.1)
    assert (found.estimate, found.low, found.high, found.sign_test_p) == (0.0, None, None, None)
    assert found.finding is Finding.CANNOT_TELL


def test_few_items_give_an_estimate_without_an_interval() -> None:
    """Nine items: under the ten that a run needs to count."""
    found = compare_two_runs(
        np.arange(9.0), np.arange(9.0) + np.array([0, 1, 0, 1, 0, 1, 0, 1, 0]), smallest_change=0.1
    )
    assert found.estimate == pytest.approx(4 / 9)
    assert (found.low, found.finding) == (None, Finding.CANNOT_TELL)


def test_no_item_in_common() -> None:
    """Two sets of anchors cannot be compared."""
    found = compare_two_runs([1, NA], [NA, 1], smallest_change=0.1)
    assert (found.n, found.estimate, found.mean_before, found.finding) == (0, None, None, Finding.CANNOT_TELL)


def test_interval_covers_in_simulation() -> None:
    """Forty anchors, one in five moved by a level in either direction: 95 % within simulation error."""
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(600):
        before = rng.integers(2, 5, 40).astype(float)
        after = before + rng.choice([-1, 0, 0, 0, 0, 1], 40)
        found = compare_two_runs(before, after, smallest_change=0.1)
        hits += found.low is not None and found.high is not None and found.low <= 0 <= found.high
    assert 0.93 <= hits / 600 <= 0.97


def test_runs_of_different_length_are_refused() -> None:
    """The counts stand in the message."""
    with pytest.raises(ValueError, match="2 and 3"):
        compare_two_runs([1, 2], [1, 2, 3], smallest_change=0.1)


def test_two_runs_never_show_that_a_judge_is_steady() -> None:
    """However many anchors: what one day does to all of them is not in the interval."""
    rng = np.random.default_rng(9)
    before = rng.integers(2, 5, 4000).astype(float)
    found = compare_two_runs(before, before + rng.choice([-1, 0, 1], 4000, p=[0.1, 0.8, 0.1]), smallest_change=0.1)
    assert found.low is not None
    assert found.high is not None
    assert -0.1 < found.low < found.high < 0.1
    assert found.finding is Finding.NO_CHANGE_SHOWN


def test_a_run_that_is_mostly_copies_is_marked() -> None:
    """Ninety-six of a hundred the same and four moved; not a judge that repeats all, nor one that repeats most."""
    before = np.tile([2.0, 3.0, 4.0, 5.0], 25)
    for n_moved, marked in ((4, True), (0, False), (10, False)):
        after = before.copy()
        after[:n_moved] -= 1
        assert compare_two_runs(before, after, smallest_change=0.1).may_be_copies is marked


def test_items_that_are_alike_widen_the_interval() -> None:
    """Every item four times over is not four times the evidence; the estimate stays."""
    rng = np.random.default_rng(6)
    before = rng.integers(2, 5, 40).astype(float)
    after = before + rng.choice([0, 1], 40)
    once = compare_two_runs(before, after, smallest_change=0.1)
    clusters = np.repeat(np.arange(40), 4)
    four = compare_two_runs(np.repeat(before, 4), np.repeat(after, 4), smallest_change=0.1, clusters=clusters)
    assert (four.estimate, four.low, four.high) == pytest.approx((once.estimate, once.low, once.high))
    assert four.method != once.method


def test_too_few_questions_give_no_interval() -> None:
    """Forty answers to nine questions."""
    rng = np.random.default_rng(6)
    before = rng.integers(2, 5, 40).astype(float)
    found = compare_two_runs(before, before + rng.choice([0, 1], 40), smallest_change=0.1, clusters=np.arange(40) % 9)
    assert (found.low, found.finding) == (None, Finding.CANNOT_TELL)
