"""The newest recheck on the page: its sentences, the chart of both parts, the answers that differ most."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from dashboard import queries, recheck_queries
from dashboard.charts.recheck import plot_recheck
from evaluator.recheck import Question, RecheckReport, run_recheck
from evaluator.store.db import open_store
from tests import builders
from tests.dashboard.conftest import OpenPage
from tests.recheck_world import SetClock, config, moved_world

APP = builders.APP


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge looks its scores up beside the file."""
    monkeypatch.chdir(tmp_path)


def rechecked(path: Path, **sections: Any) -> RecheckReport:
    """Recheck a judge that moved, into a database."""
    using = config(path.parent, app={"name": APP}, store={"path": path.name}, **sections)
    return asyncio.run(run_recheck(using, Question(path=moved_world(), n=120), clock=SetClock()))


def test_page_of_a_first_hour_shows_the_recheck(tmp_path: Path, open_page: OpenPage) -> None:
    """No run yet: what is missing is said, and the recheck stands below."""
    path = tmp_path / "j.db"
    result = rechecked(path).result
    page = open_page(path)
    assert page.errors == []
    assert "No scores yet" in page.words
    for sentence in result["sentences"]:
        assert sentence in page.plain
    assert "Recheck of stored scores" in page.headings
    assert any("None of these grades enters a mean of this page" in text for text in page.headings)


def test_card_stands_below_the_verdict_of_a_watched_app(tmp_path: Path, open_page: OpenPage) -> None:
    """And changes nothing of it."""
    path = builders.one_day(tmp_path / "j.db")
    before = open_page(path)
    result = rechecked(path).result
    after = open_page(path)
    assert after.errors == []
    assert result["sentences"][-1] in after.plain
    assert "Recheck of stored scores" not in before.headings
    assert before.headings[:2] == after.headings[:2]
    assert [trace["name"] for trace in before.figure()["data"]] == [trace["name"] for trace in after.figure()["data"]]


def test_app_without_a_recheck_has_no_card(tmp_path: Path, open_page: OpenPage) -> None:
    """Nothing to show, nothing to say."""
    page = open_page(builders.one_day(tmp_path / "j.db"))
    assert page.errors == []
    assert "Recheck of stored scores" not in page.headings


def test_recheck_that_is_not_finished_is_not_shown(tmp_path: Path, open_page: OpenPage) -> None:
    """Half a recheck is no result."""
    path = builders.one_day(tmp_path / "j.db")
    assert not rechecked(path, judge={"function": "python:tests.recheck_world:broken"}).is_complete
    page = open_page(path)
    assert page.errors == []
    assert "Recheck of stored scores" not in page.headings


def test_chart_shows_the_numbers_of_the_result(tmp_path: Path, open_page: OpenPage) -> None:
    """What each part shifted by, then the judge's own move, each with the interval's upper half as a whisker."""
    path = tmp_path / "j.db"
    result = rechecked(path).result
    page = open_page(path)
    shown = {
        "old answers": result["old"]["shift"],
        "recent answers": result["recent"]["shift"],
        "judge's own move": result["drift"],
    }
    for name, found in shown.items():
        row = page.trace(name)
        assert row["x"] == [found["value"]]
        assert row["error_x"]["array"] == [pytest.approx(found["high"] - found["value"])]
    title = next(text for text in page.headings if text.startswith("Against the stored scores"))
    assert f"{result['old']['shift']['value']:+.2f} for old answers" in title


def test_furthest_answers_are_linked(tmp_path: Path, open_page: OpenPage) -> None:
    """Each to all of its verdicts."""
    path = tmp_path / "j.db"
    result = rechecked(path).result
    page = open_page(path)
    opened = [query for label, _, query in page.links if label == "Open this answer"]
    assert len(opened) == 3
    for row, link in zip(result["furthest"], opened, strict=True):
        assert f"item={row['item_id']}" in link


@pytest.mark.parametrize("state", ["one_day", "schema_only"])
def test_linked_answer_opens(state: str, tmp_path: Path, open_page: OpenPage) -> None:
    """Beside the answers of a watched app, and before any run; the verdict is named as one of a recheck."""
    path = getattr(builders, state)(tmp_path / "j.db")
    result = rechecked(path).result
    page = open_page(path, "answers", item=result["furthest"][0]["item_id"])
    assert page.errors == []
    assert "looked up: " in page.words
    assert "recheck, in no mean" in page.words


def test_one_part_alone_is_drawn() -> None:
    """Parity only: no old part, no holes."""
    part = {
        "n": 3, "first_day": "2026-11-01", "last_day": "2026-11-02",
        "shift": {"value": 0.5, "low": None, "high": None},
    }  # fmt: skip
    chart = plot_recheck([("recent", part)], drift=None, smallest_change=0.1, level=0.95)
    spec = json.loads(chart.figure.to_json())
    assert [trace["x"] for trace in spec["data"]] == [[0.5]]
    assert chart.title == "Against the stored scores the judge gives +0.50 for recent answers"
    assert "recent answers +0.50." in chart.alt
    assert "3 recent answers: +0.50; each graded again" in chart.caption
    assert "NaN" not in chart.figure.to_json()


def test_result_of_a_later_version_is_not_read(tmp_path: Path) -> None:
    """What this page does not know it does not show."""
    path = tmp_path / "j.db"
    rechecked(path)
    with open_store(path) as store, store.transaction() as connection:
        connection.execute("UPDATE rechecks SET result_json = '{\"schema_version\": 99}'")
    assert recheck_queries.newest_recheck(queries.store_key(path), APP) is None


def test_hostile_names_are_shown_letter_by_letter(tmp_path: Path, open_page: OpenPage) -> None:
    """A judge called like markup is a name."""
    path = tmp_path / "j.db"
    rechecked(path)
    with open_store(path) as store, store.transaction() as connection:
        connection.execute("UPDATE rechecks SET result_json = replace(result_json, '\"gpt\"', '\"<b>$x$</b>\"')")
    page = open_page(path)
    assert page.errors == []
    assert any("<b>$x$</b>" in text for text in page.headings)


def test_runs_of_the_page_are_the_scheduled_ones(tmp_path: Path) -> None:
    """Freshness, cost and what needs a look speak of these; a recheck is none of them."""
    path = builders.one_day(tmp_path / "j.db")
    before = queries.runs(queries.store_key(path), APP)
    rechecked(path)
    key = queries.store_key(path)
    assert queries.runs(key, APP) == before
    assert queries.counts(key, APP)["n_runs"] == 1
    assert queries.newest_setup(key, APP) == 1
