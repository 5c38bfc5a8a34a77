"""Traffic that comes after its scores: answers are completed in place, once, and their totals stay right."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evaluator.analysis import AnalysisSettings
from evaluator.importing import ImportReport, import_files
from evaluator.importing.verdicts import VerdictReading, VerdictReport, import_verdicts
from evaluator.store import read, rollup, write
from evaluator.store.db import open_reader, open_store
from tests.importers.verdicts.helpers import write_rows

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
APP = "shop"


class Shop:
    """A database that scores and traffic are imported into."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.db = folder, folder / "scores.db"

    def scores(self, *rows: Mapping[str, Any], **more: Any) -> VerdictReport:
        """Import stored scores."""
        path = write_rows(self.folder / "scores.jsonl", *rows)
        settings = AnalysisSettings(smallest_change=0.3)
        reading = VerdictReading(**more)
        return import_verdicts(self.db, [path], app=APP, now=NOW, reading=reading, settings=settings)

    def traffic(self, *rows: Mapping[str, Any], **more: Any) -> ImportReport:
        """Import answers; a dry run before has to say the same."""
        path = write_rows(self.folder / "traffic.jsonl", *rows)
        looked = import_files(self.db, [path], app=APP, now=NOW, dry_run=True, **more)
        report = import_files(self.db, [path], app=APP, now=NOW, **more)
        names = ("n_new", "n_known", "n_versions", "n_completed")
        assert [getattr(looked, name) for name in names] == [getattr(report, name) for name in names]
        return report

    def table(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows as they stand in the database."""
        with sqlite3.connect(self.db) as connection:
            return connection.execute(sql).fetchall()

    def totals(self) -> list[tuple[Any, ...]]:
        """Everything that pages read of days."""
        return self.table("SELECT * FROM daily_scores ORDER BY 1, 2, 3, 4, 5, 6, 7")


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """An empty one."""
    return Shop(tmp_path)


def score(number: int, value: float | None = 3, **more: Any) -> dict[str, Any]:
    """A stored score, given a minute past midnight for an answer of the evening before."""
    return {
        "id": f"a{number}",
        "question": f"Visitor: Question {number}?",
        "answer": f"Answer {number}.",
        "score": value,
        "graded_at": f"2026-03-02T00:01:{number % 60:02d}Z",
        "topic": ("refund", "billing")[number % 2],
    } | more


def answer(number: int, **more: Any) -> dict[str, Any]:
    """The traffic of that score, which words the question in another way."""
    return {
        "id": f"a{number}",
        "question": f"Question {number}?",
        "answer": f"Answer {number}.",
        "answered_at": f"2026-03-01T23:59:{number % 60:02d}Z",
        "user_id": f"u{number // 2}",
        "conversation_id": f"c{number}",
        "model": "bot-1",
        "channel": ("web", "kiosk", "app")[number % 3],
    } | more


def without_id(row: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """The row as an export without ids has it."""
    return {name: value for name, value in row.items() if name != "id"} | more


def test_answers_get_the_facts_of_their_traffic_and_keep_their_scores(shop: Shop) -> None:
    """Texts, time, day, user, conversation, cluster and model are the traffic's; ids and verdicts stay."""
    shop.scores(*(score(n, 1 + n % 5) for n in range(6)))
    ids = shop.table("SELECT item_id, external_id FROM items ORDER BY 2")
    verdicts = shop.table("SELECT * FROM verdicts ORDER BY 1")
    report = shop.traffic(*(answer(n) for n in range(7)))
    assert (report.n_new, report.n_known, report.n_completed, report.n_versions) == (1, 6, 6, 0)
    assert shop.table("SELECT item_id, external_id FROM items WHERE external_id <> 'a6' ORDER BY 2") == ids
    assert shop.table("SELECT * FROM verdicts ORDER BY 1") == verdicts
    assert shop.table(
        "SELECT input, answered_utc, answered_day, user_id, conversation_id, cluster_id, answer_model, flags, version"
        " FROM items WHERE external_id = 'a3'"
    ) == [("Question 3?", "2026-03-01T23:59:03Z", "2026-03-01", "u1", "c3", "c:c3", "bot-1", "completed", 1)]
    tags = shop.table("SELECT t.key, value FROM item_tags t JOIN items USING (item_id) WHERE external_id = 'a3'")
    assert sorted(tags) == [("channel", "web"), ("topic", "billing")]


def test_days_are_right_at_once(shop: Shop) -> None:
    """The day that all answers left is empty, the other has them, as a rebuild from zero says; nothing is stale."""
    shop.scores(*(score(n, 1 + n % 5) for n in range(6)))
    assert {row[5] for row in shop.totals()} == {"2026-03-02"}
    shop.traffic(*(answer(n) for n in range(6)))
    totals = shop.totals()
    assert {row[5] for row in totals} == {"2026-03-01"}
    assert shop.table("SELECT * FROM stale_days") == []
    assert shop.table("SELECT answered_day, n_answers, n_planned FROM sampled_days") == [("2026-03-01", 6, 6)]
    with open_store(shop.db) as store:
        rollup.rebuild_everything(store, APP)
    assert shop.totals() == totals


def test_analyses_are_made_again_by_their_own_settings(shop: Shop) -> None:
    """The page shows the new days without a run, and what the user decided stays."""
    setup = shop.scores(*(score(n) for n in range(6))).judges[0].ruler_id
    shop.traffic(*(answer(n) for n in range(6)))
    with open_reader(shop.db) as store:
        row = read.newest_analysis(store, app=APP, ruler_id=str(setup), criterion="score")
    assert row is not None
    assert [day["day"] for day in row["payload"]["days"]] == ["2026-03-01"]
    assert row["payload"]["settings"]["smallest_change"] == 0.3


def test_tags_of_the_traffic_join_what_days_are_broken_down_by(shop: Shop) -> None:
    """What was chosen stays in its place; a configured choice is left alone."""
    shop.scores(*(score(n) for n in range(6)))
    shop.traffic(answer(0), answer(1), segment_keys=[("topic", "")])
    assert shop.table("SELECT key, position FROM segment_keys") == [("topic", 0)]
    shop.traffic(*(answer(n) for n in range(6)))
    assert shop.table("SELECT key, position FROM segment_keys ORDER BY 2") == [("topic", 0), ("channel", 1)]


def test_reading_everything_again_in_any_order_adds_nothing(shop: Shop) -> None:
    """The scores' file goes on wording the questions in its own way, and its new rows come in."""
    shop.scores(*(score(n) for n in range(4)))
    shop.traffic(*(answer(n) for n in range(4)))
    items, totals = shop.table("SELECT * FROM items ORDER BY 1"), shop.totals()
    assert shop.traffic(*(answer(n) for n in range(4))).n_completed == 0
    again = shop.scores(*(score(n) for n in range(4)))
    assert (again.n_new_answers, again.judges[0].n_new, again.judges[0].n_known) == (0, 0, 4)
    assert shop.table("SELECT * FROM items ORDER BY 1") == items
    assert shop.totals() == totals
    more = shop.scores(*(score(n) for n in range(5)))
    assert (more.n_new_answers, more.judges[0].n_new) == (1, 1)
    assert shop.traffic(*(answer(n) for n in range(5))).n_completed == 1
    assert shop.table("SELECT count(*), max(version) FROM items") == [(5, 1)]


def test_a_second_judge_of_completed_answers_adds_scores_only(shop: Shop) -> None:
    """Its verdicts belong to the answers that are there, whatever its file words them like."""
    shop.scores(*(score(n) for n in range(4)), judge="first")
    shop.traffic(*(answer(n) for n in range(4)))
    report = shop.scores(*(score(n, 4) for n in range(4)), judge="second")
    assert (report.n_new_answers, report.judges[0].n_new) == (0, 4)
    assert shop.table("SELECT item_id, count(*) FROM verdicts GROUP BY 1 HAVING count(*) <> 2") == []


def test_traffic_that_came_first_stays_as_it_is(shop: Shop) -> None:
    """Scores of stored answers with the same texts change nothing about them, and other texts are a version."""
    shop.traffic(answer(0), answer(1))
    before = shop.table("SELECT * FROM items ORDER BY external_id")
    shop.scores(score(0, question="Question 0?"), score(1))
    after = shop.table("SELECT * FROM items WHERE version = 1 ORDER BY external_id")
    assert after == before
    assert shop.table("SELECT external_id FROM items WHERE version = 2") == [("a1",)]


def test_rows_of_which_only_the_id_was_known_get_their_texts(shop: Shop) -> None:
    """And their flags are those of the traffic."""
    bare = {"id": "a0", "score": 4, "graded_at": "2026-03-02T00:01:00Z"}
    shop.scores(bare, score(1))
    assert shop.traffic(answer(0)).n_completed == 1
    assert shop.table("SELECT input, output, flags FROM items WHERE external_id = 'a0'") == [
        ("Question 0?", "Answer 0.", "completed")
    ]


def test_turns_of_a_chat_under_one_id_are_not_taken_for_each_other(shop: Shop) -> None:
    """Where several texts have the id, only equal texts belong together."""
    shop.scores(score(0, answer="First."), score(0, answer="Second.", graded_at="2026-03-02T00:02:00Z"))
    turns = write_rows(shop.folder / "turns.jsonl", answer(0, answer="First."), answer(0, answer="Second."))
    report = import_files(shop.db, [turns], app=APP, now=NOW)
    assert (report.n_completed, report.n_versions) == (0, 2)
    same = [score(1, answer=text, graded_at=f"2026-03-02T00:0{n}:00Z") for n, text in enumerate(("First.", "Second."))]
    shop.scores(*same)
    question = {"question": "Visitor: Question 1?"}
    path = [answer(1, answer=text, **question) for text in ("Second.", "First.")]
    import_files(shop.db, [write_rows(shop.folder / "t.jsonl", *path)], app=APP, now=NOW)
    assert shop.table("SELECT output, answered_day, flags FROM items WHERE external_id = 'a1' ORDER BY version") == [
        ("First.", "2026-03-01", "completed"),
        ("Second.", "2026-03-01", "completed"),
    ]


def test_a_row_without_a_time_leaves_the_time_of_grading(shop: Shop) -> None:
    """It is still a given one, and says so."""
    shop.scores(score(0))
    shop.traffic({name: value for name, value in answer(0).items() if name != "answered_at"})
    assert shop.table("SELECT input, answered_day, flags FROM items") == [
        ("Question 0?", "2026-03-02", "given_time,completed")
    ]


def test_answers_without_an_id_are_known_by_their_texts_where_there_is_one(shop: Shop) -> None:
    """Read again they are known; equal texts twice are left alone."""
    question = {"question": "Question 0?"}
    shop.scores(*(without_id(score(n, **question)) for n in range(2)), without_id(score(2, answer="Yes.")))
    shop.scores(without_id(score(3, answer="Yes.", graded_at="2026-03-02T00:05:00Z")), without_id(score(4)))
    rows = [without_id(answer(n, **question)) for n in range(2)]
    rows.append(without_id(answer(5, question="Visitor: Question 2?", answer="Yes.")))
    report = shop.traffic(*rows)
    assert (report.n_completed, report.n_new) == (3, 0)
    assert (shop.traffic(*rows).n_completed, shop.traffic(*rows).n_known) == (0, 3)
    assert shop.table("SELECT count(*) FROM items") == [(5,)]
    twice = [without_id(answer(4, question="Visitor: Question 4?", user_id=name)) for name in ("x", "y")]
    for number, row in enumerate(twice):
        row["answered_at"] = f"2026-03-01T10:00:0{number}Z"
    path = write_rows(shop.folder / "twice.jsonl", *twice)
    report = import_files(shop.db, [path], app=APP, now=NOW)
    assert (report.n_completed, report.n_new) == (0, 2)


def test_what_was_deleted_stays_deleted(shop: Shop) -> None:
    """Its traffic brings no text back."""
    shop.scores(score(0), score(1))
    with open_store(shop.db) as store:
        ids = [row[0] for row in store.connection.execute("SELECT item_id FROM items WHERE external_id = 'a0'")]
        write.delete_items(store, app=APP, item_ids=ids, by_whom="test", now=NOW)
    report = shop.traffic(answer(0), answer(1))
    assert (report.n_completed, report.n_known) == (1, 2)
    assert shop.table("SELECT output, user_id FROM items WHERE deleted_utc IS NOT NULL") == [("", None)]


def test_texts_that_were_not_kept_do_not_come_back(shop: Shop) -> None:
    """Time and tags do; the row is known when it is read again."""
    shop.scores(score(0), score(1))
    with open_store(shop.db) as store, store.transaction() as connection:
        connection.execute(
            "UPDATE items SET input = '', output = '', flags = flags || ',text_not_kept' WHERE external_id = 'a0'"
        )
    shop.traffic(answer(0))
    row = shop.table("SELECT output, user_id, flags FROM items WHERE external_id = 'a0'")
    assert row == [("", "u0", "completed,text_not_kept")]
    assert shop.traffic(answer(0)).n_known == 1


def test_a_reject_keeps_everything_as_it_was(shop: Shop) -> None:
    """Completing is part of the import: all of it or nothing."""
    shop.scores(score(0), score(1))
    before = shop.table("SELECT * FROM items ORDER BY 1")
    report = shop.traffic(answer(0), answer(1, answered_at="yesterday-ish"))
    assert not report.stored
    assert shop.table("SELECT * FROM items ORDER BY 1") == before


def test_other_apps_are_not_touched(shop: Shop) -> None:
    """The same outside id in another app is another answer."""
    shop.scores(score(0), score(1))
    path = write_rows(shop.folder / "other.jsonl", answer(0))
    assert import_files(shop.db, [path], app="other", now=NOW).n_completed == 0
    with open_reader(shop.db) as store:
        assert len(read.rulers(store, "other")) == 0
    assert shop.table("SELECT flags FROM items WHERE external_id = 'a0' AND app = 'shop'") == [
        ("from_scores,given_time",)
    ]
