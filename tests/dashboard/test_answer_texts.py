"""One answer on the page: the link to the user's trace store, and texts that are not there."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from evaluator.cli import cli
from evaluator.clock import parse_utc
from evaluator.store import write
from evaluator.store.db import open_reader, open_store
from tests import builders
from tests.dashboard.conftest import OpenPage

NOW = parse_utc("2026-11-30T12:00:00Z")


@pytest.fixture
def day(tmp_path: Path) -> Path:
    """A database with one graded day."""
    path = tmp_path / "one_day.db"
    builders.one_day(path)
    return path


def first_item(path: Path) -> tuple[str, str]:
    """Id and outside id of an answer."""
    with open_reader(path) as store:
        row = store.connection.execute(
            "SELECT item_id, external_id FROM items WHERE source = 'traffic' LIMIT 1"
        ).fetchone()
    return row[0], row[1]


def test_an_answer_links_to_the_trace_store(day: Path, open_page: OpenPage) -> None:
    """By the template of the configuration, with the id encoded."""
    item_id, own_id = first_item(day)
    with open_store(day) as store:
        write.save_app_settings(store, builders.APP, {"item_url": "https://traces.example/t/{external_id}"})
    page = open_page(day, "answers", item=item_id)
    assert page.errors == []
    (link,) = page.app.get("link_button")
    assert link.proto.url == "https://traces.example/t/" + own_id.replace(":", "%3A")


def test_without_a_template_there_is_no_link(day: Path, open_page: OpenPage) -> None:
    """Nothing in the data makes one."""
    page = open_page(day, "answers", item=first_item(day)[0])
    assert list(page.app.get("link_button")) == []


def test_a_text_that_is_not_kept_is_told_from_an_empty_one(day: Path, open_page: OpenPage) -> None:
    """The score and the ids are there."""
    item_id, own_id = first_item(day)
    with open_store(day) as store:
        write.blank_texts(store, builders.APP, still_needed=[], from_day="9999-99-99", closed_days=[])
    page = open_page(day, "answers", item=item_id)
    assert page.errors == []
    assert "Question and answer: text not stored (traffic.store_text is false). Scores stay." in page.plain
    assert own_id in page.commands
    assert "Question" not in page.headings


def test_a_deleted_answer_says_so(day: Path, open_page: OpenPage) -> None:
    """Whoever follows an old link understands it."""
    item_id, own_id = first_item(day)
    with open_store(day) as store:
        write.delete_items(store, app=builders.APP, item_ids=[item_id], by_whom="me", now=NOW)
    page = open_page(day, "answers", item=item_id)
    assert page.errors == []
    told = next(text for text in page.plain if text.startswith("Question, answer and the judge's words: "))
    assert "deleted on 30 Nov 2026 by judgewatch items delete" in told
    assert "judgewatch items delete" in page.typed
    assert own_id not in page.words


def test_the_list_of_answers_bears_texts_that_are_gone(day: Path, open_page: OpenPage) -> None:
    """Every row says that the text is not stored; the judge's reason stays."""
    with open_store(day) as store:
        write.blank_texts(store, builders.APP, still_needed=[], from_day="9999-99-99", closed_days=[])
    page = open_page(day, "answers")
    assert page.errors == []
    table = page.app.dataframe[0].value
    assert set(table["question"]) == {"text not stored"}
    assert all(text.startswith("It earns ") for text in table["judge's reason"])


def test_the_list_of_answers_says_what_was_deleted(day: Path, open_page: OpenPage) -> None:
    """In place of the question and of the judge's words, with the day; the others are as before."""
    item_id, _ = first_item(day)
    with open_store(day) as store:
        write.delete_items(store, app=builders.APP, item_ids=[item_id], by_whom="me", now=NOW)
    table = open_page(day, "answers").app.dataframe[0].value
    gone = table[table["question"] == "deleted on 30 Nov 2026"]
    assert len(gone) == 1
    assert list(gone["judge's reason"]) == ["deleted on 30 Nov 2026"]
    assert table["score"].notna().all()
    assert not table["question"].isin(["", None]).any()


def test_answers_whose_scores_came_without_texts_say_so(tmp_path: Path, open_page: OpenPage) -> None:
    """Two empty boxes would look like an empty answer."""
    path = tmp_path / "scores.csv"
    path.write_text("id,graded_at,judge,score\n" + "".join(f"a{n},2026-11-0{n}T08:00:00Z,house,{n}\n" for n in (1, 2)))
    db = tmp_path / "scores.db"
    run = CliRunner().invoke(cli, ["import", "--verdicts", str(path), "--scale", "1", "5", "--db", str(db)])
    assert run.exit_code == 0, run.output
    assert set(open_page(db, "answers").app.dataframe[0].value["question"]) == {"text not stored"}
    page = open_page(db, "answers", item=first_item(db)[0])
    assert "Question and answer: text not stored; the imported scores came without them." in page.plain
    assert "Question" not in page.headings
