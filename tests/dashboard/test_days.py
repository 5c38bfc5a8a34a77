"""Case U02: a day is a label of the store's zone, the same on every server, in chart, table and filter."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests import builders
from tests.dashboard.conftest import OpenPage
from tests.dashboard.pages import Page

CASES = Path(__file__).parents[1] / "cases" / "cases.jsonl"
SERVER_ZONES = ("UTC", "America/Los_Angeles", "Asia/Tokyo")
EXPECTED = {
    "UTC": {"2026-06-27": (1, 3.0), "2026-06-28": (2, 4.5)},
    "America/Los_Angeles": {"2026-06-27": (2, 4.0), "2026-06-28": (1, 4.0)},
}


def case_scores() -> list[tuple[str, float]]:
    """The three scores of the case."""
    rows = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    case = next(row for row in rows if row["id"] == "U02")
    return [(row["created_at"], float(row["score"])) for row in case["input"]["scores"]]


def drawn(page: Page) -> dict[str, tuple[int, float]]:
    """(n, mean) by day as the chart has them."""
    raw: dict[str, Any] = page.trace("raw score")
    points = zip(raw["x"], raw["y"], raw["hovertext"], strict=True)
    return {day: (int(text.rpartition("<br>n ")[2]), mean) for day, mean, text in points if mean is not None}


@pytest.fixture(params=SERVER_ZONES)
def server_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the server in a zone."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    return str(request.param)


@pytest.mark.parametrize("zone", EXPECTED)
def test_bucket_is_the_stores_day_on_every_server(
    zone: str, server_zone: str, tmp_path: Path, open_page: OpenPage
) -> None:
    """n and mean of each day; x are the day strings; the zone is named on the page."""
    path = builders.timed(tmp_path / "timed.db", case_scores(), zone=zone)
    page = open_page(path, first_day="2026-06-27", last_day="2026-06-28")
    assert page.errors == []
    assert drawn(page) == EXPECTED[zone]
    assert page.trace("raw score")["x"] == ["2026-06-27", "2026-06-28"]
    assert f"days in {zone}" in page.words


@pytest.mark.parametrize("zone", EXPECTED)
def test_table_agrees_with_the_chart(zone: str, server_zone: str, tmp_path: Path, open_page: OpenPage) -> None:
    """The list of answers counts and averages to the same days."""
    path = builders.timed(tmp_path / "timed.db", case_scores(), zone=zone)
    table = open_page(path, "answers").app.dataframe[0].value
    by_day = {day: (len(rows), rows["score"].mean()) for day, rows in table.groupby("day")}
    assert by_day == EXPECTED[zone]


@pytest.mark.parametrize("page", ["now", "answers"])
def test_end_day_is_included_as_a_whole(page: str, server_zone: str, tmp_path: Path, open_page: OpenPage) -> None:
    """A bound at 00:00 of the last day would drop that day."""
    path = builders.timed(tmp_path / "timed.db", case_scores())
    found = open_page(path, page, first_day="2026-06-28", last_day="2026-06-28")
    if page == "now":
        assert drawn(found) == {"2026-06-28": (2, 4.5)}
    else:
        assert "2 answers · 28 Jun 2026" in found.words


def test_instants_are_shown_in_the_stores_zone(server_zone: str, tmp_path: Path, open_page: OpenPage) -> None:
    """The time of an answer, on a server elsewhere."""
    path = builders.timed(tmp_path / "timed.db", case_scores(), zone="America/Los_Angeles")
    page = open_page(path, "answers", item="timed-0")
    assert "answered 27 Jun 2026, 16:30 (America/Los_Angeles)" in page.words
