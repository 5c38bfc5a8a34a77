"""Tables of the page: no empty columns, columns as wide as their texts, downloads with everything."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from dashboard import components
from tests import builders
from tests.dashboard.conftest import Database, OpenPage
from tests.dashboard.pages import Page


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the download buttons of a page hold, in order."""
    held: list[str] = []
    write = components.csv_bytes

    def keep(*arguments: object) -> bytes:
        content = write(*arguments)  # type: ignore[arg-type]  # whatever the page hands over
        held.append(content.decode("utf-8-sig"))
        return content

    monkeypatch.setattr(components, "csv_bytes", keep)
    return held


def widths(page: Page) -> dict[str, int]:
    """Width that the first table gives its columns, in pixels."""
    columns = json.loads(page.app.dataframe[0].proto.columns)
    return {name: column["width"] for name, column in columns.items() if column.get("width")}


def test_columns_without_anything_take_no_room(database: Database, open_page: OpenPage, files: list[str]) -> None:
    """Nothing failed, so there is no cause and no reason to show; the download has the columns all the same."""
    page = open_page(database("one_day"), "runs")
    shown = list(page.app.dataframe[0].value.columns)
    assert not {"cause", "reasons"} & set(shown)
    assert {"time", "kind", "status", "planned", "not scored"} <= set(shown)
    header = next(csv.reader(io.StringIO(files[0])))
    assert {"cause", "reasons", "status"} <= set(header)


def test_zero_is_something(database: Database, open_page: OpenPage) -> None:
    """A column of zeros says that none is missing, and stays."""
    table = open_page(database("one_day"), "runs").app.dataframe[0].value
    assert list(table["not scored"]) == [0]


def test_reasons_are_read_whole(database: Database, open_page: OpenPage) -> None:
    """A cell of text has the room that its longest text needs."""
    page = open_page(database("all_unscored"), "runs")
    (text,) = page.app.dataframe[0].value["reasons"]
    assert text == "8 timeout, 2 refusal"
    assert len(text) * 6 < widths(page)["reasons"] <= components.MOST_WIDTH


def test_a_long_text_does_not_push_the_others_out(tmp_path: Path, open_page: OpenPage) -> None:
    """A provider's message can be a page long."""
    path = tmp_path / "j.db"
    with builders.World(path=path) as world:
        anchors = world.add_anchors([3.0])
        world.run("2026-11-30", anchors={anchors[0][0]: 3.0}, status="failed", message="The server said no. " * 40)
    assert widths(open_page(path, "runs"))["cause"] == components.MOST_WIDTH


def test_before_an_analysis_segments_show_no_empty_changes(database: Database, open_page: OpenPage) -> None:
    """Means only: what is not known yet has no column of dashes."""
    table = open_page(database("one_day"), "segments").app.dataframe[0].value
    assert not {"corrected", "change", "change compares"} & set(table.columns)
