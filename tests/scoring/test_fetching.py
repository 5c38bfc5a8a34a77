"""Sources are asked before a run, by one scorer at a time; what goes wrong with them ends no run."""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from evaluator.config import Config, parse_config
from evaluator.errors import ConfigError, LeaseHeldError
from evaluator.scoring.fetching import fetch_sources
from evaluator.scoring.slot import SlotReport, check_setup, grade_slot
from evaluator.scoring.slot_preview import preview_slot
from evaluator.store import locks, read
from evaluator.store.db import open_reader, open_store

SLOT = datetime(2026, 3, 5, 6, tzinfo=UTC)
NOW = SLOT + timedelta(minutes=1)


class Clock:
    """A clock that is set by hand."""

    def now(self) -> datetime:
        """The moment it was set to."""
        return NOW


def settings(folder: Path, **traffic: Any) -> Config:
    """A configuration with a judge that is a function, and four anchors."""
    anchors = [{"anchor_id": f"a{n}", "inputs": "q", "outputs": "word " * n} for n in range(1, 5)]
    (folder / "anchors.jsonl").write_text("".join(json.dumps(row) + "\n" for row in anchors), encoding="utf-8")
    values: dict[str, Any] = {
        "app": {"name": "shop"},
        "judge": {"model": "m", "function": "python:tests.cli.graders:by_words"},
        "anchors": {"set": "anchors.jsonl"},
        "traffic": {"answers_per_day": 5, **traffic},
        "store": {"path": "jw.db"},
    }
    return parse_config(values, folder=folder, name="test")


def answers(path: Path, n: int) -> Path:
    """A file with answers of the day before the slot."""
    rows = [{"id": f"t{i}", "output": "word", "answered_at": f"2026-03-04T10:00:0{i}Z"} for i in range(n)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def grade(config: Config, **options: Any) -> SlotReport:
    """Grade the slot."""
    return asyncio.run(grade_slot(config, slot=SLOT, clock=Clock(), **options))


def test_answers_of_the_night_are_in_the_run_that_follows(tmp_path: Path) -> None:
    """Files first, then the plan."""
    config = settings(tmp_path, files="*.night.jsonl")
    answers(tmp_path / "a.night.jsonl", 3)
    report = grade(config)
    assert (report.run.status, report.run.n_anchors, report.run.n_traffic) == ("finished", 4, 3)
    assert [(outcome.key, outcome.n_new) for outcome in report.sources] == [("traffic.files", 3)]
    assert report.n_fetched == 3


def test_failing_source_does_not_keep_the_anchors_from_being_graded(tmp_path: Path) -> None:
    """The judge is watched whatever becomes of the traffic."""
    config = settings(tmp_path, command=[sys.executable, "-c", "raise SystemExit('no token')"])
    report = grade(config)
    assert (report.run.status, report.run.n_anchors) == ("finished", 4)
    assert [outcome.status for outcome in report.sources] == ["failed"]
    assert report.finished


def test_nothing_is_asked_while_another_scorer_works(tmp_path: Path) -> None:
    """Whoever waits for it looks every second; a command is no clock."""
    config = settings(tmp_path, command=[sys.executable, "-c", "open('ran', 'w')"])
    with open_store(config.store_path, zone="UTC") as store:
        lease = locks.acquire_lease(store, app="shop", holder="elsewhere/1/x", what="a run", now=NOW)
        with pytest.raises(LeaseHeldError, match=r"another scorer .*a run"):
            grade(config)
        assert not (tmp_path / "ran").exists()
        locks.release_lease(store, lease)
    grade(config)
    assert (tmp_path / "ran").exists()


def test_lease_is_given_back_also_when_asking_is_cut_off(tmp_path: Path) -> None:
    """A second Ctrl-C ends the command, and the next scorer starts at once."""
    config = settings(tmp_path, command=[sys.executable, "-c", "open('ran', 'w'); import time; time.sleep(60)"])

    async def cut_off() -> None:
        task = asyncio.create_task(fetch_sources(config, slot=SLOT, clock=Clock()))
        async with asyncio.timeout(30):
            while not (tmp_path / "ran").exists():
                await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cut_off())
    with open_reader(config.store_path) as store:
        assert store.connection.execute("SELECT count(*) FROM leases").fetchone()[0] == 0
        (kept,) = read.pulls(store, "shop")
    assert "it was ended because the run was stopped" in kept["message"]


def test_stop_is_heard_while_a_command_runs(tmp_path: Path) -> None:
    """The first Ctrl-C ends the command, then the run."""
    config = settings(tmp_path, command=[sys.executable, "-c", "import time; time.sleep(60)"])

    async def stopped() -> SlotReport:
        stop = asyncio.Event()
        asyncio.get_running_loop().call_later(0.3, stop.set)
        return await grade_slot(config, slot=SLOT, clock=Clock(), stop=stop)

    report = asyncio.run(stopped())
    assert report.run.status == "stopped"
    assert "was ended because the run was stopped" in report.sources[0].message


def test_preview_counts_what_waits_and_runs_nothing(tmp_path: Path) -> None:
    """Files and the words of the command."""
    command = [sys.executable, "-c", "open('ran', 'w')"]
    config = settings(tmp_path, files="*.night.jsonl", command=command)
    answers(tmp_path / "a.night.jsonl", 3)
    found = asyncio.run(preview_slot(config, slot=SLOT, now=NOW))
    assert found.n_source_files == 1
    assert found.source_command is not None
    assert found.source_command.endswith("-c 'open('\"'\"'ran'\"'\"', '\"'\"'w'\"'\"')'")
    assert found.plan.n_traffic == 0
    assert not (tmp_path / "ran").exists()


def test_settings_of_the_source_are_checked_before_the_waiting_begins(tmp_path: Path) -> None:
    """Also by a run, before it asks anyone."""
    config = settings(tmp_path, files="*.jsonl", fields={"reply": "output"})
    with pytest.raises(ConfigError, match=r"traffic\.fields"):
        asyncio.run(check_setup(config, now=NOW))
    with pytest.raises(ConfigError, match=r"traffic\.fields"):
        grade(config)


def test_without_a_source_nothing_is_opened(tmp_path: Path) -> None:
    """Not even the database."""
    config = settings(tmp_path)
    assert asyncio.run(fetch_sources(config, slot=SLOT, clock=Clock())) == ()
    assert not config.store_path.exists()
