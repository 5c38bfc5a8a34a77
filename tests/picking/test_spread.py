"""Sharing out: never more than there is, all that was asked for, as equally as possible; and levels of a scale."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.picking.spread import Placed, choose, level_of, levels_of, share_out
from tests.builders import rubric

SIZES = st.dictionaries(st.text(max_size=3), st.integers(0, 40), max_size=8)


@given(SIZES, st.integers(0, 200))
def test_shares_never_exceed_what_there_is_and_add_up(sizes: dict[str, int], total: int) -> None:
    """All that was asked for, or all there is."""
    shares = share_out(sizes, total)
    assert shares.keys() == sizes.keys()
    assert all(0 <= shares[group] <= sizes[group] for group in sizes)
    assert sum(shares.values()) == min(total, sum(sizes.values()))


@given(SIZES, st.integers(0, 200))
def test_shares_are_as_equal_as_possible(sizes: dict[str, int], total: int) -> None:
    """Whoever has two fewer than another has nothing left to give."""
    shares = share_out(sizes, total)
    largest = max(shares.values(), default=0)
    assert all(share >= largest - 1 or share == sizes[group] for group, share in shares.items())


@given(SIZES, st.integers(0, 100))
def test_more_anchors_only_add(sizes: dict[str, int], total: int) -> None:
    """One more takes from nobody."""
    fewer, more = share_out(sizes, total), share_out(sizes, total + 1)
    assert all(more[group] >= fewer[group] for group in sizes)


def test_what_is_over_goes_to_the_first() -> None:
    """In a fixed order, so that the same pick is made twice."""
    assert share_out({"a": 9, "b": 9, "c": 9}, 5) == {"a": 2, "b": 2, "c": 1}


@pytest.mark.parametrize(("sizes", "total"), [({"a": -1}, 1), ({"a": 1}, -1)])
def test_negative_numbers_are_refused(sizes: dict[str, int], total: int) -> None:
    """They have no meaning here."""
    with pytest.raises(ValueError, match="negative"):
        share_out(sizes, total)


def test_choice_is_equal_over_levels_then_over_segments() -> None:
    """A rare level is taken whole; within a level the segments share."""
    placed = [Placed(item_id=f"{n}", level=5.0, stratum="ab"[n % 4 == 0]) for n in range(40)]
    placed += [Placed(item_id=f"low{n}", level=1.0, stratum="a") for n in range(3)]
    chosen = choose(placed, 13)
    assert Counter(one.level for one in chosen) == {1.0: 3, 5.0: 10}
    assert Counter(one.stratum for one in chosen if one.level == 5) == {"a": 5, "b": 5}


def test_choice_keeps_the_order_and_takes_the_first() -> None:
    """Which of a level are taken is not for their scores to say."""
    placed = [Placed(item_id=str(n), level=3.0, stratum="") for n in range(9)]
    assert [one.item_id for one in choose(placed, 4)] == ["0", "1", "2", "3"]


def test_choice_of_nothing_is_nothing() -> None:
    """No candidates, no choice."""
    assert choose([], 10) == []


@pytest.mark.parametrize(("score", "level"), [(1, 1), (1.4, 1), (1.5, 1), (1.6, 2), (4.75, 5), (5, 5)])
def test_score_belongs_to_the_nearest_level(score: float, level: float) -> None:
    """Fractions too; half way is the lower one."""
    assert level_of(score, levels_of(rubric())) == level


def test_levels_are_those_of_the_rubric_or_equal_steps() -> None:
    """A scale without named levels is cut into five."""
    assert [score for score, _ in levels_of(rubric(scale=(0, 1)))] == [0, 0.25, 0.5, 0.75, 1]
    bare = replace(rubric(scale=(0, 100)), levels=())
    assert levels_of(bare) == [(0, "0"), (25, "25"), (50, "50"), (75, "75"), (100, "100")]
