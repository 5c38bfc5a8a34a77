"""Candidates: drawn at random, each text once, spread over segments; what is left out is counted."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from evaluator.errors import UsageError
from evaluator.picking.candidates import NONE, OTHER, Candidates, Draw, draw_candidates
from evaluator.records import Purpose, UnscoredReason
from evaluator.store.write import sample_key
from tests.picking.helpers import APP, MOST_CHARS, Desk, by_number, varied, words
from tests.scoring.helpers import ScriptedJudge
from tests.store.helpers import NOW


def draw(desk: Desk, n: int = 10, **changes: Any) -> Candidates:
    """Candidates of the desk's app."""
    with desk.store() as store:
        return draw_candidates(store, Draw(**({"app": APP, "n": n, "most_chars": MOST_CHARS} | changes)))


def test_three_candidates_an_anchor_are_drawn_in_the_order_of_the_hash(desk: Desk) -> None:
    """The order of every sample here: it knows nothing of scores."""
    found = draw(desk)
    ids = [item.item_id for item in found.items]
    assert len(ids) == 30
    keys = sorted(sample_key(row["item_id"]) for row in desk.query("SELECT item_id FROM items"))
    assert [sample_key(item_id) for item_id in ids] == keys[:30]
    assert (found.n_looked_at, found.left_out, found.segment_key) == (100, {}, None)


def test_fewer_answers_than_wanted_are_all_taken(desk: Desk) -> None:
    """A hundred for two hundred anchors."""
    assert len(draw(desk, 200).items) == 100


def test_texts_that_cannot_be_anchors_are_left_out_and_counted(desk: Desk) -> None:
    """Too long, empty, blank, deleted, equal, nearly equal: by reason."""
    text = words(7, 60)
    desk.add(
        [
            varied(200, output="word " * MOST_CHARS),
            varied(201, output=""),
            varied(202, input=" \n ", output="  "),
            varied(203, input="The same?", output=text),
            varied(204, input="The same?", output=text),
            varied(205, input="The same?", output=f"{text} so"),
        ]
    )
    with desk.store() as store, store.transaction() as connection:
        connection.execute("UPDATE items SET deleted_utc = ? WHERE external_id LIKE '%:0'", (NOW.isoformat(),))
    found = draw(desk, 100)
    assert dict(found.left_out) == {
        "too long": 1, "empty": 2, "deleted": 1, "the same text again": 1, "nearly the same text": 1,
    }  # fmt: skip
    assert len(found.items) == 100


def test_named_key_gets_equal_shares_as_far_as_they_reach(desk: Desk) -> None:
    """A rare value is taken whole, the others share the rest."""
    desk.add([varied(number, tags={"topic": "rare"}) for number in range(300, 304)])
    found = draw(desk, per_segment="topic")
    assert Counter(item.stratum for item in found.items) == {"account": 9, "billing": 9, "rare": 4, "returns": 8}
    assert found.segment_key == "topic"


def test_key_without_a_name_is_the_configured_or_the_commonest_one(desk: Desk) -> None:
    """First what the configuration names, as far as it occurs."""
    desk.add([varied(number, tags={"language": "de"}) for number in range(300, 310)])
    assert draw(desk, per_segment="").segment_key == "topic"
    assert draw(desk, per_segment="", segment_keys=("plan", "language")).segment_key == "language"


def test_answers_without_the_key_have_a_place_of_their_own(desk: Desk) -> None:
    """They are answers too."""
    desk.add([varied(number, tags={}) for number in range(300, 340)])
    assert Counter(item.stratum for item in draw(desk, per_segment="topic").items)[NONE] == 8


def test_key_of_many_values_pools_the_rare_ones(desk: Desk) -> None:
    """A tag that is nearly an id must not decide what is drawn."""
    desk.add([varied(number, tags={"order": str(number)}) for number in range(300, 360)])
    strata = Counter(item.stratum for item in draw(desk, 40, per_segment="order").items)
    assert len(strata) <= 31
    assert strata[OTHER] >= 1


def test_key_without_tags_is_refused_with_those_there_are(desk: Desk) -> None:
    """The name of a key is easily mistyped."""
    with pytest.raises(UsageError, match=r"--per-segment 'topc': no answer has a tag of that key; there are topic"):
        draw(desk, per_segment="topc")


def test_days_bound_the_draw(desk: Desk) -> None:
    """Answers without a time are of no day."""
    desk.add([*(varied(number, day="2026-02-20") for number in range(300, 310)), varied(310, answered_utc=None)])
    assert len(draw(desk, since="2026-02-19", until="2026-02-21").items) == 10
    assert len(draw(desk, since="2026-02-21").items) == 30
    assert draw(desk, 100).n_looked_at == 111


def test_no_traffic_is_told_with_the_way_out(tmp_path: Any) -> None:
    """A new database, days without answers, a recheck that is not there."""
    empty = Desk(tmp_path / "empty.db")
    with pytest.raises(UsageError, match=r"has no stored answers to pick anchors from; take some in with `judge"):
        draw(empty)
    with pytest.raises(UsageError, match="has no stored answers in those days"):
        draw(empty, since="2026-01-01")
    with pytest.raises(UsageError, match="--from-recheck 'r1': app 'shop' has no recheck of that id"):
        draw(empty, from_recheck="r1")
    empty.add([varied(1, output=" ")])
    with pytest.raises(
        UsageError, match=r"none of the 1 answers of app 'shop' can be an anchor \(1 empty\); with traffic.store_te"
    ):
        draw(empty)


def test_too_few_for_a_set_are_refused_before_any_call(tmp_path: Any) -> None:
    """Nine of ten, one of them the same again; with the tenth it goes."""
    desk = Desk(tmp_path / "few.db")
    desk.add([varied(number) for number in range(9)] + [varied(9, input=varied(1).input, output=varied(1).output)])
    with pytest.raises(
        UsageError, match=r"only 9 of .* \(left out: 1 the same text again\).* at least 10; take in more"
    ):
        draw(desk)
    desk.add([varied(10)])
    assert len(draw(desk).items) == 10


def test_personal_data_is_flagged_not_dropped(desk: Desk) -> None:
    """In question, answer, reference, contexts and tags; by kind."""
    desk.add(
        [
            varied(300, input="Write to ann@example.com please", tags={"topic": "mail"}),
            varied(301, contexts=("Call +49 30 901820 now",), tags={"topic": "mail"}),
            varied(302, tags={"topic": "mail", "sender": "bob@example.com"}),
        ]
    )
    flags = [item.flags for item in draw(desk, 100, per_segment="topic").items if item.stratum == "mail"]
    assert sorted(flags) == [("email",), ("email",), ("phone",)]


async def test_answers_of_a_recheck_are_drawn_without_their_stored_scores(desk: Desk) -> None:
    """Those that it could grade, in the order of the hash, whatever they were scored."""
    ids = [row["item_id"] for row in desk.query("SELECT item_id FROM items ORDER BY external_id LIMIT 40")]
    slot = desk.now
    report = await desk.shop.run(
        ScriptedJudge(by_number([1, 5, UnscoredReason.REFUSAL])), slot=slot, purpose=Purpose.RECHECK, item_ids=ids
    )
    with desk.store() as store, store.transaction() as connection:
        connection.execute(
            "INSERT INTO rechecks (recheck_id, app, ruler_id, criterion, run_id, source, file_sha256, stored_judge,"
            " n_asked, settings_json, started_utc)"
            " SELECT 'r1', app, ruler_id, 'overall', run_id, 'f', 's', 'j', 40, '{}', slot_utc FROM runs",
        )
        connection.executemany(
            "INSERT INTO recheck_items VALUES ('r1', ?, 'old', ?, 't')", [(item_id, 5.0) for item_id in ids]
        )
    drawn = [item.item_id for item in draw(desk, 100, from_recheck="r1").items]
    assert len(drawn) == report.n_scored
    assert 20 < len(drawn) < 40
    assert set(drawn) < set(ids)
    assert drawn == sorted(drawn, key=sample_key)
