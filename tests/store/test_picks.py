"""Reads and writes of picks: the pool is the same however it is found, a pick is written once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import evaluator.store.read.picks as read_picks
from evaluator.store import read, write
from evaluator.store.db import Store
from tests.store.helpers import APP, NOW, answer, begin, ids_of, import_items, one, plan_of, ruler

ANSWERS = [answer(number, day=f"2026-02-2{number % 5}") for number in range(200)]


def in_order() -> list[str]:
    """Ids of all answers in the order of the hash."""
    return sorted(ids_of(ANSWERS), key=write.sample_key)


def pool_ids(store: Store, most: int, **days: str) -> list[str]:
    """Ids of the pool."""
    return [row["item_id"] for row in read.pick_pool(store, APP, most=most, **days)]


@pytest.mark.parametrize("most", [1, 7, 50, 200, 500])
@pytest.mark.parametrize("more", [0.01, 1.2, 9.0])
def test_pool_is_the_first_of_the_order_however_it_is_bounded(
    store: Store, monkeypatch: pytest.MonkeyPatch, most: int, more: float
) -> None:
    """A bound that was too low is found out; one that is too high changes nothing."""
    monkeypatch.setattr(read_picks, "_MORE", more)
    import_items(store, ANSWERS)
    assert pool_ids(store, most) == in_order()[:most]


def test_pool_of_some_days_leaves_undated_answers_out(store: Store) -> None:
    """Without a day named they are in."""
    import_items(store, [*ANSWERS, answer(900, answered_utc=None)])
    assert len(pool_ids(store, 500)) == 201
    assert len(pool_ids(store, 500, first_day="2026-02-20", last_day="2026-02-21")) == 80
    assert len(pool_ids(store, 500, first_day="2000-01-01")) == 200
    assert read.pick_pool(store, "nobody", most=5) == []


def test_pool_tells_lengths_and_content_but_no_text(store: Store) -> None:
    """What decides whether an answer can be an anchor."""
    item = answer(1, reference="abc", contexts=("de",))
    import_items(store, [item])
    (row,) = read.pick_pool(store, APP, most=5)
    assert row == {
        "item_id": ids_of([item])[0],
        "content_id": item.content_id,
        "deleted_utc": None,
        "n_input": len(item.input),
        "n_output": len(item.output),
        "n_beside": len('abc["de"]'),
    }


def test_tags_of_many_items_are_read_in_portions(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite takes so many values at once and no more."""
    monkeypatch.setattr(read_picks, "_CHUNK", 3)
    items = [replace(item, tags={"n": str(place)} if place % 2 else {}) for place, item in enumerate(ANSWERS[:10])]
    import_items(store, items)
    ids = ids_of(items)
    assert read.tags_of_items(store, ids) == {ids[place]: {"n": str(place)} for place in range(1, 10, 2)}


def plan(pick_id: str, **changes: Any) -> write.PickPlan:
    """A pick of two answers."""
    ids = ids_of(ANSWERS[:2])
    fields: dict[str, Any] = {
        "pick_id": pick_id,
        "app": APP,
        "ruler_id": ruler().ruler_id,
        "name": "own",
        "run_ids": ("r1", "r2"),
        "settings": {"n": 2},
        "items": tuple(write.PickedItem(item_id=item_id, stratum="s", flags=("email",)) for item_id in ids),
    }
    return write.PickPlan(**(fields | changes))


def test_pick_is_written_once_for_what_its_writer_knew(store: Store) -> None:
    """Whoever did not know of the newest one writes nothing."""
    begin(store, plan_of())
    assert write.begin_pick(store, plan("p1"), replaces=None, now=NOW)
    assert not write.begin_pick(store, plan("p2"), replaces=None, now=NOW)
    assert one(store, "SELECT count(*) FROM pick_items") == 2
    assert write.begin_pick(store, plan("p3"), replaces="p1", now=NOW.replace(hour=9))
    newest = read.newest_pick(store, APP, "own")
    assert newest is not None
    assert (newest["pick_id"], newest["run_ids"], newest["settings"]) == ("p3", ["r1", "r2"], {"n": 2})
    assert [row["flags"] for row in read.pick_items(store, "p3")] == [["email"], ["email"]]


def test_first_time_a_set_was_frozen_counts(store: Store) -> None:
    """Writing it again is no second birth."""
    begin(store, plan_of())
    write.begin_pick(store, plan("p1"), replaces=None, now=NOW)
    for hour in (7, 8):
        write.note_frozen(store, "p1", now=NOW.replace(hour=hour))
    assert [row["frozen_utc"] for row in read.list_picks(store, APP)] == ["2026-03-01T07:00:00.000Z"]
