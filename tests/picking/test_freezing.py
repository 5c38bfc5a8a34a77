"""Freezing: accepted answers become a file of anchors, whole or not at all, with no score and no one's id in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.anchor_sets import load_anchors, save_anchors
from evaluator.errors import JudgewatchError, UsageError
from evaluator.picking.freezing import FrozenSet, freeze_pick, tag_keys
from evaluator.picking.pick import Pick, find_pick
from evaluator.picking.review import accept_all
from evaluator.records import Anchor, Item
from evaluator.store import rollup, write
from tests.picking.helpers import APP, RUBRIC, Desk, by_number, varied
from tests.scoring.helpers import ScriptedJudge, SetClock


def decide(desk: Desk, pick: Pick, *, yes: int, no: int = 0) -> None:
    """Say yes to the first answers and no to the next."""
    ids = [item.item_id for item in desk.review(pick)]
    decisions: dict[str, str | None] = dict.fromkeys(ids[:yes], "yes") | dict.fromkeys(ids[yes : yes + no], "no")
    with desk.store() as store:
        write.decide_picks(store, pick.pick_id, decisions, by_whom="ann", now=desk.now)


def freeze(desk: Desk, pick: Pick, folder: Path, *, keys: Any = None, force: bool = False) -> FrozenSet:
    """Write the accepted answers."""
    items = desk.review(pick)
    with desk.store() as store:
        return freeze_pick(store, pick, items, folder=folder, rubric=RUBRIC, keys=keys, now=desk.now, force=force)


async def test_accepted_answers_come_back_as_anchors(desk: Desk, tmp_path: Path) -> None:
    """A round trip: texts as they were, no score, what it was picked from, in order."""
    pick, items = await desk.picked(n=15)
    decide(desk, pick, yes=12, no=3)
    frozen = freeze(desk, pick, tmp_path)
    assert (frozen.path.name, frozen.n_anchors, frozen.is_new) == ("anchors-own.jsonl", 12, True)
    anchors = load_anchors("anchors-own.jsonl", RUBRIC, folder=tmp_path)
    assert [anchor.item.content_id for anchor in anchors] == [item.item.content_id for item in items[:12]]
    assert {anchor.expected_score for anchor in anchors} == {None}
    assert {anchor.why for anchor in anchors} == {"picked from traffic of 2026-02-27"}
    with desk.store() as store:
        found = find_pick(store, APP, "own")
    assert found is not None
    assert found.frozen_utc is not None


async def test_anchors_carry_no_score_and_no_id_of_anyone(tmp_path: Path) -> None:
    """Scores of the pick, users, conversations, records, tags that nothing is broken down by: none is in the file."""
    desk = Desk(tmp_path / "shop.db")
    secrets = {"external_id": "record-77", "user_id": "user-77", "conversation_id": "talk-77"}
    desk.add(
        [
            varied(n, **(secrets | {"external_id": f"record-77-{n}"}), tags={"topic": "a", "session": "session-77"})
            for n in range(20)
        ]
    )
    desk.judge.script = by_number([1.25, 2.25])
    pick, _ = await desk.picked()
    decide(desk, pick, yes=10)
    text = freeze(desk, pick, tmp_path, keys={"topic"}).path.read_text("utf-8")
    for secret in ("record-77", "user-77", "talk-77", "session-77", "1.25", "2.25"):
        assert secret not in text
    assert all(json.loads(line)["tags"] == {"topic": "a"} for line in text.splitlines())


async def test_ids_of_anchors_are_stable(desk: Desk, tmp_path: Path) -> None:
    """The same texts have the same id in another app and another pick."""
    ids = []
    for each in (desk, Desk(tmp_path / "second.db")):
        if each is not desk:
            each.add([varied(number) for number in range(100)])
        pick, _ = await each.picked()
        decide(each, pick, yes=10)
        folder = tmp_path / each.path.stem
        folder.mkdir()
        freeze(each, pick, folder)
        ids.append([anchor.anchor_id for anchor in load_anchors("anchors-own.jsonl", RUBRIC, folder=folder)])
    assert ids[0] == ids[1]


async def test_frozen_set_is_graded_like_any_other(desk: Desk, tmp_path: Path) -> None:
    """The next scheduled run takes it; its baseline holds no score of the pick."""
    desk.judge.script = lambda _: 2.0
    pick, _ = await desk.picked()
    decide(desk, pick, yes=10)
    freeze(desk, pick, tmp_path)
    shop = desk.shop
    shop.anchors = load_anchors("anchors-own.jsonl", RUBRIC, folder=tmp_path)
    report = await shop.run(ScriptedJudge(lambda _: 5.0), days=1, clock=SetClock(desk.now))
    assert report.n_anchors == 10
    assert set(shop.scores(source="anchor").values()) == {5.0}


async def test_fewer_than_ten_are_refused(desk: Desk, tmp_path: Path) -> None:
    """With how many are undecided."""
    pick, _ = await desk.picked(n=12)
    decide(desk, pick, yes=9, no=1)
    with pytest.raises(UsageError, match=r"9 of 12 picked answers are accepted \(2 undecided\); .* at least 10"):
        freeze(desk, pick, tmp_path)
    assert list(tmp_path.glob("*.jsonl")) == []


async def test_other_anchors_are_not_written_over(desk: Desk, tmp_path: Path) -> None:
    """The same file again is fine; another one needs to be forced."""
    pick, _ = await desk.picked(n=12)
    decide(desk, pick, yes=10)
    freeze(desk, pick, tmp_path)
    assert not freeze(desk, pick, tmp_path).is_new
    decide(desk, pick, yes=11)
    before = (tmp_path / "anchors-own.jsonl").read_bytes()
    with pytest.raises(UsageError, match=r"holds other anchors; take another name, or replace it with --force"):
        freeze(desk, pick, tmp_path)
    assert (tmp_path / "anchors-own.jsonl").read_bytes() == before
    assert freeze(desk, pick, tmp_path, force=True).n_anchors == 11


async def test_answers_deleted_since_become_no_anchors(desk: Desk, tmp_path: Path) -> None:
    """Texts that are gone are gone from the review too."""
    pick, items = await desk.picked(n=12)
    decide(desk, pick, yes=12)
    with desk.store() as store, store.transaction() as connection:
        connection.execute(
            "UPDATE items SET input = '', output = '', deleted_utc = 't' WHERE item_id = ?", (items[0].item_id,)
        )
    assert freeze(desk, pick, tmp_path).n_anchors == 11


async def test_flagged_answers_wait_for_a_person(tmp_path: Path) -> None:
    """Accepting all leaves them out and counts them, unless they are asked for."""
    desk = Desk(tmp_path / "shop.db")
    desk.add([varied(n, input=f"{n} ann@example.com?" if n < 4 else f"Q {n}?") for n in range(20)])
    pick, items = await desk.picked(n=20)
    with desk.store() as store:
        assert accept_all(store, pick, items, flagged_too=False, by_whom="ann", now=desk.now) == (16, 4)
        again = desk.review(pick)
        assert accept_all(store, pick, again, flagged_too=True, by_whom="ann", now=desk.now) == (4, 0)
    assert freeze(desk, pick, tmp_path).n_flagged == 4


def test_decision_can_be_taken_back(desk: Desk) -> None:
    """With who and when."""
    pick = desk.begin()
    item_id = pick.items[0].item_id
    asked = "SELECT decision, decided_by, decided_utc IS NULL AS undated FROM pick_items WHERE item_id = ?"
    with desk.store() as store:
        write.decide_picks(store, pick.pick_id, {item_id: "no", "unknown": "yes"}, by_whom="ann", now=desk.now)
        assert desk.query(asked, item_id) == [{"decision": "no", "decided_by": "ann", "undated": 0}]
        write.decide_picks(store, pick.pick_id, {item_id: None}, by_whom="bob", now=desk.now)
    assert desk.query(asked, item_id) == [{"decision": None, "decided_by": None, "undated": 1}]


def test_tags_that_stay_are_those_answers_are_broken_down_by(desk: Desk) -> None:
    """The configured ones, else the store's, else all."""
    with desk.store() as store:
        assert tag_keys(store, APP, None) is None
        assert tag_keys(store, APP, []) == frozenset()
        assert tag_keys(store, APP, [("topic", "language")]) == {"topic", "language"}
        rollup.choose_segment_keys(store, APP, None)
        assert tag_keys(store, APP, None) == {"topic"}


HOSTILE = (
    "line\nbreak \u2028 and \u0085 and \t tab",
    '"quoted" \\ and {"score": 5}',
    "\x1b[31m\x00 control",
    "😀 ä 注文",
    "=1+1",
)


def test_every_text_survives_the_file(tmp_path: Path) -> None:
    """Line marks, quotes, control characters, other scripts."""
    anchors = [
        Anchor(
            anchor_id=f"a{place}",
            item=Item(input=text, output=text, reference=text, contexts=(text,), tags={text: text}),
            expected_score=None,
            why=text,
        )
        for place, text in enumerate(HOSTILE)
    ]
    assert save_anchors(anchors, tmp_path / "set.jsonl")
    assert load_anchors("set.jsonl", RUBRIC, folder=tmp_path) == anchors


def test_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    """A folder that is not there, or one in the way."""
    with pytest.raises(JudgewatchError, match=r"set\.jsonl cannot be written: No such file"):
        save_anchors([], tmp_path / "none" / "set.jsonl")
    (tmp_path / "set.jsonl").mkdir()
    with pytest.raises(JudgewatchError, match="cannot be written: Is a directory"):
        save_anchors([], tmp_path / "set.jsonl", force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["set.jsonl"]
