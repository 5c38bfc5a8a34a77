"""One answer on the page: the link to the user's trace store, and texts that are not there."""

from __future__ import annotations

from pathlib import Path

import pytest

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
    assert "Text is not kept here; its scores are." in page.plain
    assert own_id in page.commands
    assert "Question" not in page.headings


def test_a_deleted_answer_says_so(day: Path, open_page: OpenPage) -> None:
    """Whoever follows an old link understands it."""
    item_id, own_id = first_item(day)
    with open_store(day) as store:
        write.delete_items(store, app=builders.APP, item_ids=[item_id], by_whom="me", now=NOW)
    page = open_page(day, "answers", item=item_id)
    assert page.errors == []
    assert "The text was deleted; its scores stay." in page.plain
    assert own_id not in page.words


def test_the_list_of_answers_bears_texts_that_are_gone(day: Path, open_page: OpenPage) -> None:
    """No row of it fails."""
    with open_store(day) as store:
        write.blank_texts(store, builders.APP, still_needed=[], from_day="9999-99-99", closed_days=[])
    page = open_page(day, "answers")
    assert page.errors == []
    assert "question" not in page.app.dataframe[0].value
