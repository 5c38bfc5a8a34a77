"""Ids of traffic: stable, apart for equal answers of two users, and safe to read in any order."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from evaluator.identity import EqualCounter, base_item_id, versioned_item_id
from evaluator.records import Item, content_hash


def item(
    output: str = "Yes.",
    external_id: str | None = None,
    answered_utc: str | None = None,
    user_id: str | None = None,
) -> Item:
    return Item(input="Open?", output=output, external_id=external_id, answered_utc=answered_utc, user_id=user_id)


@given(st.text(), st.text())
def test_an_id_is_the_content_hash_of_app_traffic_and_external_id(app: str, external_id: str) -> None:
    """The quick hash gives what the shared one gives, for every string there is."""
    assert base_item_id(app, item(external_id=external_id)) == content_hash(app, "traffic", external_id)


def test_an_external_id_counts_alone() -> None:
    """The texts, the time and the position do not change the id of an item that has its own."""
    first = base_item_id("shop", item(external_id="r1"))
    assert base_item_id("shop", item("No.", external_id="r1", answered_utc="2026-01-05T09:00:00Z"), 3) == first
    assert base_item_id("bank", item(external_id="r1")) != first
    assert base_item_id("shop", item(external_id="r2")) != first


def test_without_an_id_texts_time_and_position_tell_items_apart() -> None:
    """Two users who both got Yes are two items."""
    at = "2026-01-05T09:00:00Z"
    ids = {
        base_item_id("shop", item()),
        base_item_id("shop", item(answered_utc=at)),
        base_item_id("shop", item(answered_utc=at), 1),
        base_item_id("shop", item("No.", answered_utc=at)),
        base_item_id("bank", item(answered_utc=at)),
    }
    assert len(ids) == 5
    assert base_item_id("shop", item(answered_utc=at, user_id="u1")) in ids


def test_an_external_id_cannot_pass_for_a_missing_one() -> None:
    """An empty external id and none at all differ, whatever the texts are."""
    assert base_item_id("shop", item(external_id="")) != base_item_id("shop", item())


def test_positions_count_equal_rows_without_an_id_only() -> None:
    """Rows that differ in text or time start at 0; rows with an id are not counted."""
    counter = EqualCounter()
    assert [counter.position(item()) for _ in range(3)] == [0, 1, 2]
    assert counter.position(item(answered_utc="2026-01-05T09:00:00Z")) == 0
    assert [counter.position(item(external_id="r1")) for _ in range(3)] == [0, 0, 0]
    assert counter.position(item()) == 3


def test_versions_have_the_same_ids_in_every_order_of_reading() -> None:
    """The rule of the module, played by a dictionary: three texts under one id, read in all orders, twice."""
    texts = ("A", "B", "C")
    versions = {text: versioned_item_id("shop", "r3", item(text).content_id) for text in texts}
    assert len(set(versions.values())) == 3
    for order in permutations(texts):
        held: dict[str, str] = {}
        for text in (*order, *order):
            row = item(text, external_id="r3")
            item_id = base_item_id("shop", row)
            if held.setdefault(item_id, row.content_id) != row.content_id:
                held.setdefault(versions[text], row.content_id)
        assert sorted(held.values()) == sorted(item(text).content_id for text in texts)
