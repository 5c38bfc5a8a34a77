"""Case U01: every page on every thin or broken database says what is missing and what to do, and raises nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import builders
from tests.dashboard.conftest import Database, OpenPage
from tests.dashboard.pages import PAGES

# what each page must say in each state: the next step, or the facts that there are
STORE_STATES = {
    "missing": ("There is no database here", "judgewatch demo"),
    "zero_bytes": ("empty file", "judgewatch import"),
    "schema_only": ("No answers yet", "judgewatch run once"),
    "answers_only": ("10 answers are imported and none is graded", "judgewatch run once"),
    "older": ("of an older judgewatch", "judgewatch db migrate"),
    "newer": ("of a newer judgewatch", "pip install -U judgewatch"),
}


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("state", STORE_STATES)
def test_page_without_scores_says_the_next_step(state: str, page: str, database: Database, open_page: OpenPage) -> None:
    """No exception, a sentence that names what is missing, a command to copy."""
    found = open_page(database(state), page)
    assert found.errors == []
    for words in STORE_STATES[state]:
        assert words in found.words


def test_missing_database_is_not_created(database: Database, open_page: OpenPage) -> None:
    """A mistyped path must not become an empty database; the message names the path."""
    path = database("missing")
    found = open_page(path)
    assert str(path) in found.words
    assert "Nothing was created" in found.words
    assert not path.exists()


@pytest.mark.parametrize("content", [b"this is no database", b"SQLite format 3\x00" + b"\xff" * 200])
def test_file_that_is_no_database_is_said(content: bytes, tmp_path: Path, open_page: OpenPage) -> None:
    """Another file under that name, or a damaged one."""
    path = tmp_path / "other.db"
    path.write_bytes(content)
    found = open_page(path)
    assert found.errors == []
    assert "cannot be read" in found.words


def test_folder_instead_of_a_file_is_said(tmp_path: Path, open_page: OpenPage) -> None:
    """The path of the folder instead of the file in it."""
    found = open_page(tmp_path)
    assert found.errors == []
    assert "cannot be read" in found.words


@pytest.mark.parametrize("page", PAGES)
def test_anchor_without_a_score(page: str, database: Database, open_page: OpenPage) -> None:
    """A judge setup is known and nothing was graded."""
    found = open_page(database("anchor_only"), page)
    assert found.errors == []
    assert "No scores yet" in found.words
    assert "judgewatch run once" in found.words


@pytest.mark.parametrize("page", PAGES)
def test_one_single_day(page: str, database: Database, open_page: OpenPage) -> None:
    """Date controls with equal ends, one point, one run."""
    found = open_page(database("one_day"), page)
    assert found.errors == []
    assert found.app.date_input[0].value is not None


def test_one_day_is_one_point_with_its_n(database: Database, open_page: OpenPage) -> None:
    """One point, its n, its interval; the day after has no answers and no point."""
    raw = open_page(database("one_day")).trace("raw score")
    assert [(day, y) for day, y in zip(raw["x"], raw["y"], strict=True) if y is not None] == [(builders.LAST_DAY, 3.75)]
    assert "n 8" in raw["hovertext"][0]


@pytest.mark.parametrize("page", PAGES)
def test_all_unscored(page: str, database: Database, open_page: OpenPage) -> None:
    """Ten verdicts, no score: coverage 0 %, the reasons, no score line, the next step."""
    found = open_page(database("all_unscored"), page)
    assert found.errors == []
    if page == "now":
        assert "0% of 10 graded answers have a score" in found.words
        assert "8 timeout, 2 refusal" in found.words
        assert "judgewatch run once" in found.words
        assert found.trace("raw score")["y"] == [None]
    if page == "runs":
        assert found.trace("not scored")["y"] == [10]


@pytest.mark.parametrize("page", ["now", "segments", "answers"])
def test_month_without_rows(page: str, database: Database, open_page: OpenPage) -> None:
    """A period beside the data says where the data is, and a button leads there."""
    found = open_page(database("analysed"), page, first_day="2020-01-01", last_day="2020-01-31")
    assert found.errors == []
    assert "No graded answers in 1–31 Jan 2020. There are some in 1 Oct – 30 Nov 2026." in found.words
    assert "Show the newest days" in [button.label for button in found.app.button]
    found.press("Show the newest days")
    assert found.errors == []
    assert "first_day" not in found.app.query_params


@pytest.mark.parametrize("params", [{"first_day": "2027-01-01"}, {"last_day": "2019-01-01"}])
def test_open_period_without_rows(params: dict[str, str], database: Database, open_page: OpenPage) -> None:
    """A link with one bound only."""
    found = open_page(database("analysed"), "now", **params)
    assert found.errors == []
    assert "Nothing in this period" in found.words


def test_runs_are_shown_whatever_the_period(database: Database, open_page: OpenPage) -> None:
    """Whoever looks for a failed run must not be turned away by dates."""
    found = open_page(database("analysed"), "runs", first_day="2020-01-01", last_day="2020-01-31")
    assert found.errors == []
    assert "57 of 59 runs finished" in found.words


@pytest.mark.parametrize(
    "params",
    [
        {"segment": "11", "text": "no answer says this"},
        {"segment": "11", "first_day": "2026-10-13", "last_day": "2026-10-13"},
        {"level": "4", "reason": "timeout"},
        {"day": "2026-12-24"},
    ],
)
def test_filter_that_matches_nothing(params: dict[str, str], database: Database, open_page: OpenPage) -> None:
    """The filter is said, and one button clears it."""
    found = open_page(database("analysed"), "answers", **params)
    assert found.errors == []
    assert "No answer passes this filter" in found.words
    found.press("Clear the filter")
    assert found.errors == []
    assert "No answer passes this filter" not in found.words


def test_day_without_a_run_says_so(database: Database, open_page: OpenPage) -> None:
    """Nothing to clear: the days are empty, so other days are offered."""
    found = open_page(database("analysed"), "answers", first_day="2026-10-13", last_day="2026-10-13")
    assert "Nothing graded on these days" in found.words
    found.press("Show the newest days")
    assert "2,772 answers" in found.words


@pytest.mark.parametrize(
    "params",
    [
        {"app": "no such app"},
        {"setup": "99"},
        {"segment": "4711"},
        {"item": "no-such-item"},
        {"level": "17"},
        {"page": "900"},
        {"setup": "<script>", "segment": "x", "day": "tomorrow"},
    ],
)
@pytest.mark.parametrize("page", PAGES)
def test_stale_link_falls_back(page: str, params: dict[str, str], database: Database, open_page: OpenPage) -> None:
    """A link to something that is gone shows what there is."""
    assert open_page(database("analysed"), page, **params).errors == []


def test_page_beyond_the_last_shows_the_last(database: Database, open_page: OpenPage) -> None:
    """A shared link to page 900 of a list that has become short."""
    found = open_page(database("analysed"), "answers", page="900")
    assert "page 56 of 56" in found.words


@pytest.mark.parametrize("page", PAGES)
def test_read_only_file_can_be_read(page: str, tmp_path: Path, open_page: OpenPage) -> None:
    """A copy on a read-only disk shows the same pages."""
    path = builders.one_day(tmp_path / "copy.db")
    path.chmod(0o444)
    found = open_page(path, page)
    assert found.errors == []
    assert "judge setup v1" in found.words


def test_page_leaves_the_database_as_it_is(tmp_path: Path, open_page: OpenPage) -> None:
    """Reading changes neither content nor time of the file."""
    path = builders.one_day(tmp_path / "copy.db")
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    for page in PAGES:
        open_page(path, page)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_first_run_under_way_is_said(tmp_path: Path, open_page: OpenPage) -> None:
    """Between the first call and the first verdict the page waits, and says so."""
    path = tmp_path / "first.db"
    with builders.World(path=path, keys=[]) as world:
        ids = world.add_answers([builders.answer(n, builders.LAST_DAY) for n in range(3)])
        world.run(builders.plus_days(builders.LAST_DAY, 1), untried=ids, status="running")
    found = open_page(path)
    assert found.errors == []
    assert "The first run is under way" in found.words


def test_first_run_that_failed_says_why(tmp_path: Path, open_page: OpenPage) -> None:
    """Wrong key on day one: the cause stands on the first screen, not only on the page of the runs."""
    path = tmp_path / "first.db"
    with builders.World(path=path, keys=[]) as world:
        ids = world.add_answers([builders.answer(n, builders.LAST_DAY) for n in range(3)])
        world.run(
            builders.plus_days(builders.LAST_DAY, 1), untried=ids, status="failed",
            stop=builders.StopReason.AUTH, message="the judge refused the key (401)",
        )  # fmt: skip
    found = open_page(path)
    assert "the judge refused the key (401)" in found.words
    assert "judgewatch run once" in found.words
    found = open_page(path, "runs")
    assert "The judge refused the key. Check the key and its variable, then run again." in found.words
