"""Near-duplicates: found in every script, exactly, the first of a cluster kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.picking import near
from evaluator.picking.near import find_near_duplicates
from tests.picking.helpers import words


def jaccard(one: str, other: str) -> float:
    """The share of common groups of three words, in plain Python."""
    groups = [{tuple(text.split()[i : i + 3]) for i in range(len(text.split()) - 2)} for text in (one, other)]
    return len(groups[0] & groups[1]) / len(groups[0] | groups[1])


def test_answer_with_one_word_more_is_a_near_duplicate() -> None:
    """The first stays."""
    text = words(1, 40)
    assert find_near_duplicates([text, f"{text} indeed", words(2, 40)]) == [False, True, False]


def test_case_punctuation_and_space_make_no_difference() -> None:
    """ "Yes." and "yes" are the same answer."""
    assert find_near_duplicates(["Yes, of course.", " yes of   COURSE", "Yes.", "yes. ", "No."]) == [
        False, True, False, True, False,
    ]  # fmt: skip


def test_scripts_without_spaces_are_compared_by_characters() -> None:
    """A Japanese answer is not one long word."""
    text = "注文した商品がまだ届いていません。配送状況を確認する方法を教えてください。"
    assert find_near_duplicates([text, text[:-1], "返品の手続きはアカウントの画面で。"]) == [
        False,
        True,
        False,
    ]


def test_middle_of_a_chain_is_dropped_and_its_end_kept() -> None:
    """What is near only to something that was dropped stands for itself."""
    tokens = words(3, 60).split()
    first, middle, last = " ".join(tokens[:50]), " ".join(tokens[5:55]), " ".join(tokens[10:60])
    assert jaccard(first, middle) >= 0.8 > jaccard(first, last)
    assert find_near_duplicates([first, middle, last]) == [False, True, False]


def test_blocks_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of texts are compared a block at a time."""
    texts = [words(n % 7, 20) + " x" * (n // 7 % 2) for n in range(40)]
    whole = find_near_duplicates(texts)
    monkeypatch.setattr(near, "_ROWS_AT_ONCE", 3)
    assert find_near_duplicates(texts) == whole
    assert sum(not dropped for dropped in whole) == 7


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.floats(0.05, 1))
def test_what_is_kept_is_apart_and_what_is_dropped_is_near_to_something_kept(
    seeds: list[int], alike_from: float
) -> None:
    """Held against a plain count of common words groups."""
    texts = [words(seed, 30).rsplit(" ", place % 4)[0] for place, seed in enumerate(seeds)]
    dropped = find_near_duplicates(texts, alike_from=alike_from)
    kept = [place for place, is_near in enumerate(dropped) if not is_near]
    for place, is_near in enumerate(dropped):
        earlier = any(jaccard(texts[place], texts[other]) >= alike_from - 1e-9 for other in kept if other < place)
        assert earlier == is_near


def test_odd_texts_are_texts() -> None:
    """Nothing, marks only, and emoji."""
    assert find_near_duplicates([]) == []
    assert find_near_duplicates(["?!", "...", "👍", "👍 "]) == [False, False, False, True]


@pytest.mark.parametrize("alike_from", [0, -1, 1.1])
def test_share_outside_its_range_is_refused(alike_from: float) -> None:
    """It is a share."""
    with pytest.raises(ValueError, match="outside"):
        find_near_duplicates(["a"], alike_from=alike_from)
