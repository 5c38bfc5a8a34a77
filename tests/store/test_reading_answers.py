"""Answers one by one: found by what a reader filters for, in order, a page at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evaluator.records import Source, UnscoredReason
from evaluator.store import read, rollup, write
from evaluator.store.db import Store
from evaluator.store.read import AnswerFilter
from tests.builders import ruler
from tests.store.helpers import APP, NOW, anchor, answer, begin, finish, grade, ids_of, import_items, plan_of

ITEMS = [
    answer(1, day="2026-02-26", tags={"topic": "a", "lang": "en"}),
    answer(2, day="2026-02-26", tags={"topic": "b"}, output="100% _sure_"),
    answer(3, day="2026-02-27", tags={"topic": "a", "lang": "de"}),
    answer(4, day="2026-02-27", tags={"topic": "b"}, input="back\\slash"),
]
IDS = ids_of(ITEMS)
SCORES = dict(zip(IDS, (2.0, 5.0, 3.5, UnscoredReason.TIMEOUT), strict=True))


@pytest.fixture
def graded(store: Store) -> Store:
    """Four answers and an anchor, graded in one run; a fifth answer was not drawn."""
    import_items(store, [*ITEMS, answer(5, day="2026-02-27")])
    write.save_anchor_set(store, app=APP, name="s", anchors=[replace(anchor(1), why="clear")], now=NOW)
    anchor_id = write.anchor_item_id(APP, anchor(1))
    plan = plan_of(IDS, anchors=[anchor_id])
    begin(store, plan)
    rollup.choose_segment_keys(store, APP, [("topic", "")])
    grade(store, plan, {anchor_id: 4}, anchors=True)
    grade(store, plan, SCORES)
    finish(store, plan)
    return store


def numbers(store: Store, *, order: str = "oldest", most: int = 50, skip: int = 0, **where: Any) -> list[int]:
    """Numbers of the answers that a filter lets through."""
    found = read.list_answers(
        store,
        app=APP,
        ruler_id=ruler().ruler_id,
        where=AnswerFilter(**where),
        order=order,
        most=most,
        skip=skip,
    )
    return [IDS.index(row["item_id"]) + 1 for row in found]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({}, {1, 2, 3, 4}),
        ({"first_day": "2026-02-27"}, {3, 4}),
        ({"last_day": "2026-02-26"}, {1, 2}),
        ({"segment": ("topic", "a", "", "")}, {1, 3}),
        ({"segment": ("topic", "a", "lang", "de")}, {3}),
        ({"segment": ("topic", "nowhere", "", "")}, set()),
        ({"level": 4.0}, {3}),
        ({"level": 3.0}, set()),
        ({"level": 5.0}, {2}),
        ({"unscored": True}, {4}),
        ({"unscored": False}, {1, 2, 3}),
        ({"reason": "timeout"}, {4}),
        ({"reason": "refusal"}, set()),
        ({"text": "100% _SURE_"}, {2}),
        ({"text": "_"}, {2}),
        ({"text": "%"}, {2}),
        ({"text": "\\"}, {4}),
        ({"text": "It earns 3.5"}, {3}),
        ({"run_id": "none"}, set()),
        ({"source": Source.TRAFFIC, "first_day": "2026-02-27", "unscored": False}, {3}),
    ],
)
def test_filters_let_through_what_they_say(graded: Store, where: dict[str, Any], expected: set[int]) -> None:
    """One by one and together; signs of the search language are plain signs."""
    assert set(numbers(graded, **where)) == expected
    count = read.count_answers(graded, app=APP, ruler_id=ruler().ruler_id, where=AnswerFilter(**where))
    assert count == len(expected)


def test_orders(graded: Store) -> None:
    """Lowest and highest first put unscored answers last; newest is the opposite of oldest."""
    assert numbers(graded, order="lowest") == [1, 3, 2, 4]
    assert numbers(graded, order="highest") == [2, 3, 1, 4]
    assert set(numbers(graded, order="newest")[:2]) == {3, 4}
    assert set(numbers(graded, order="oldest")[:2]) == {1, 2}


def test_unknown_order_is_refused(graded: Store) -> None:
    """An order becomes part of a statement: only known ones do."""
    with pytest.raises(ValueError, match=r"order 'score; DROP' is none of newest"):
        numbers(graded, order="score; DROP")


def test_pages_neither_overlap_nor_leave_out(graded: Store) -> None:
    """Two pages of two are the four."""
    assert numbers(graded, most=2) + numbers(graded, most=2, skip=2) == numbers(graded)


def test_anchors_are_listed_by_the_day_of_their_run(graded: Store) -> None:
    """One row a run."""
    where = AnswerFilter(source=Source.ANCHOR, first_day="2026-02-28", last_day="2026-02-28")
    (found,) = read.list_answers(graded, app=APP, ruler_id=ruler().ruler_id, where=where)
    assert (found["day"], found["score"], found["source"]) == ("2026-02-28", 4.0, "anchor")


def test_newest_day_first_needs_no_sort_of_everything(graded: Store) -> None:
    """The index gives the days in order, so the first page of millions of answers comes at once."""
    statements: list[str] = []
    graded.connection.set_trace_callback(statements.append)
    numbers(graded, order="newest")
    graded.connection.set_trace_callback(None)
    plan = graded.connection.execute("EXPLAIN QUERY PLAN " + statements[-1]).fetchall()
    details = [row["detail"] for row in plan]
    assert any("items_by_day" in detail for detail in details)
    sorts = [detail for detail in details if detail.startswith("USE TEMP B-TREE")]
    assert sorts[0] == "USE TEMP B-TREE FOR RIGHT PART OF ORDER BY"


def test_item_tells_all_that_is_known(graded: Store) -> None:
    """Texts, tags, and what it is as an anchor."""
    found = read.item(graded, IDS[0])
    assert found is not None
    assert (found["input"], found["tags"], found["anchor"]) == ("Question 1?", {"topic": "a", "lang": "en"}, None)
    known = read.item(graded, write.anchor_item_id(APP, anchor(1)))
    assert known is not None
    assert known["anchor"] == {"anchor_id": "a1", "expected_score": 3.0, "why": "clear"}
    assert read.item(graded, "nothing") is None


def test_items_are_found_by_the_start_of_their_id_or_by_their_outside_id(graded: Store) -> None:
    """At most three, so that a reader can be asked which."""
    assert read.find_item_ids(graded, APP, IDS[0][:12]) == [IDS[0]]
    assert read.find_item_ids(graded, APP, str(ITEMS[2].external_id)) == [IDS[2]]
    assert len(read.find_item_ids(graded, APP, "")) == 3
    assert read.find_item_ids(graded, "other", IDS[0]) == []


def test_items_to_grade_come_in_the_order_asked_for(graded: Store) -> None:
    """What was deleted meanwhile is left out; more ids than one statement can hold are no matter."""
    with graded.transaction() as connection:
        connection.execute("DELETE FROM items WHERE item_id = ?", (IDS[1],))
    anchor_id = write.anchor_item_id(APP, anchor(1))
    wanted = [IDS[3], "gone", anchor_id, IDS[1], IDS[0], *(f"none {n}" for n in range(1500)), IDS[2]]
    found = read.load_to_grade(graded, wanted)
    assert [(item_id, source) for item_id, source, _ in found] == [
        (IDS[3], Source.TRAFFIC),
        (anchor_id, Source.ANCHOR),
        (IDS[0], Source.TRAFFIC),
        (IDS[2], Source.TRAFFIC),
    ]
    assert found[0][2].input == "back\\slash"
    assert found[0][2].tags == {}


def test_counts_of_an_app(graded: Store) -> None:
    """What the page says of a database at a glance."""
    assert read.counts(graded, APP) == {
        "n_answers": 5,
        "n_without_time": 0,
        "n_runs": 1,
        "n_verdicts": 5,
        "n_scored": 4,
        "first_day": "2026-02-26",
        "last_day": "2026-02-27",
    }
    assert read.counts(graded, "nobody")["n_verdicts"] == 0


def test_reasons_are_counted_by_day(graded: Store) -> None:
    """Why scores are missing, of answers only."""
    found = read.unscored_reasons(graded, app=APP, ruler_id=ruler().ruler_id, source=Source.TRAFFIC)
    assert found == [{"day": "2026-02-27", "unscored_reason": "timeout", "n": 1}]


def test_period_is_counted_by_the_totals_and_by_the_rows_while_they_change(graded: Store) -> None:
    """The number of pages of a period costs nothing, and is right while a run goes on."""
    where = AnswerFilter(first_day="2026-02-27")
    assert read.count_answers(graded, app=APP, ruler_id=ruler().ruler_id, where=where) == 2
    late = answer(6, day="2026-02-27")
    import_items(graded, [late])
    plan = plan_of(ids_of([late]), slot_day="2026-03-01")
    begin(graded, plan)
    grade(graded, plan, {ids_of([late])[0]: 4})
    assert read.count_answers(graded, app=APP, ruler_id=ruler().ruler_id, where=where) == 3
    finish(graded, plan)
    assert read.count_answers(graded, app=APP, ruler_id=ruler().ruler_id, where=where) == 3
    anchors = AnswerFilter(source=Source.ANCHOR)
    assert read.count_answers(graded, app=APP, ruler_id=ruler().ruler_id, where=anchors) == 1


def test_calls_of_an_item_come_back(graded: Store) -> None:
    """With the reason and the status of each."""
    (found,) = read.attempts_of_item(graded, IDS[3])
    assert (found["reason"], found["http_status"]) == ("timeout", 504)
