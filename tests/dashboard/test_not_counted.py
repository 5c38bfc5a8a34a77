"""The page on a run that came to its end and does not count, and on runs that stand aside."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from evaluator.store import write
from evaluator.store.db import open_store
from tests import builders
from tests.builders import LAST_DAY, World, plus_days
from tests.dashboard.conftest import OpenPage

WHY = "a gateway answered 12 of 12 anchors from its cache (repeated completion ids)"


def leave_out_newest(path: Path) -> None:
    """Close the newest run as one that does not count."""
    with open_store(path) as store:
        run_id = store.connection.execute("SELECT run_id FROM runs ORDER BY slot_utc DESC").fetchone()[0]
        now = datetime(2026, 12, 1, 7, tzinfo=UTC)
        write.finish_run(store, run_id, status="finished", stop_reason=None, message="", now=now, not_counted=WHY)


def test_run_that_does_not_count_stands_open_with_the_next_step(tmp_path: Path, open_page: OpenPage) -> None:
    """What a gateway did, in the scorer's words, and the command that says more."""
    path = builders.one_day(tmp_path / "a.db")
    leave_out_newest(path)
    found = open_page(path, "runs")
    assert found.errors == []
    assert any(text.startswith("The run of") and text.endswith("does not count") for text in found.headings)
    assert WHY in found.plain
    assert any("Switch the cache off" in text for text in found.plain)
    assert "judgewatch doctor" in found.commands
    table = found.app.dataframe[0].value
    assert table["cause"].iloc[0] == f"does not count: {WHY}"


def test_run_that_counts_again_ends_the_card(tmp_path: Path, open_page: OpenPage) -> None:
    """The table remembers."""
    path = builders.one_day(tmp_path / "a.db")
    leave_out_newest(path)
    with World(path=path, keys=[("topic", "")]) as world:
        ids = world.add_answers([builders.answer(n, plus_days(LAST_DAY, 1)) for n in range(2)])
        world.run(plus_days(LAST_DAY, 2), answers=dict.fromkeys(ids, 4.0))
    found = open_page(path, "runs")
    assert found.errors == []
    assert not any(text.startswith("The run of") for text in found.headings)
    assert any("1 does not count" in text for text in found.headings)
    assert list(found.app.dataframe[0].value["cause"]) == ["", f"does not count: {WHY}"]
