"""The scorer as a process: killed, stopped and doubled while it grades over real HTTP. Nothing lost, nothing twice."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluator.judges.practice.control import PracticeJudge

CONCURRENCY = 8
BATCH = 100  # outcomes the writer may hold back, at most half a second's worth
DEADLINE_S = 60.0
SLOT = "2026-03-02T06:00"


@pytest.fixture
def practice() -> Iterator[PracticeJudge]:
    """A practice judge that takes 20 ms a call, so that a run can be met half way."""
    with PracticeJudge() as judge:
        judge.set(latency_ms=20)
        yield judge


@pytest.fixture
def project(tmp_path: Path, practice: PracticeJudge) -> Path:
    """A folder with a configuration and 150 imported answers of one day."""
    (tmp_path / "judgewatch.toml").write_text(
        f"""
[judge]
model = "{practice.model}"
base_url = "{practice.base_url}"
api_key_env = ""
concurrency = {CONCURRENCY}
[store]
path = "scores.db"
[budget]
calls_per_day = 5000
""",
        encoding="utf-8",
    )
    rows = [
        {
            "item_id": f"a{n}",
            "inputs": f"Question {n}?",
            "outputs": f"Answer {n}.",
            "answered_at": "2026-03-01T12:00:00Z",
        }
        for n in range(150)
    ]
    (tmp_path / "march.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    finished = _judgewatch(tmp_path, "import", "march.jsonl")
    assert finished.returncode == 0, finished.stderr
    return tmp_path


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "evaluator.cli", *arguments]


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}


def _judgewatch(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _command(*arguments),
        cwd=folder,
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )


def _start_run(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        _command("run", "once", "--slot", SLOT),
        cwd=folder,
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _wait_for_calls(practice: PracticeJudge, n_calls: int) -> None:
    give_up = time.monotonic() + DEADLINE_S
    while practice.state()["calls"] < n_calls:
        assert time.monotonic() < give_up, "the scorer made too few calls"
        time.sleep(0.01)


def _rows(folder: Path, sql: str) -> list[tuple[int, ...]]:
    connection = sqlite3.connect(folder / "scores.db")
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def _assert_each_planned_item_has_one_score(folder: Path) -> None:
    planned, verdicts, scored, items = _rows(
        folder,
        "SELECT (SELECT count(*) FROM planned_items), count(*), count(score), count(DISTINCT item_id) FROM verdicts",
    )[0]
    assert planned == verdicts == scored == items
    assert planned > 200


def test_killed_scorer_goes_on_and_repeats_at_most_what_was_under_way(project: Path, practice: PracticeJudge) -> None:
    """kill -9 half way: one verdict an item, and the calls paid twice are those in flight and one batch at most."""
    scorer = _start_run(project)
    _wait_for_calls(practice, 120)
    os.kill(scorer.pid, signal.SIGKILL)
    scorer.communicate(timeout=DEADLINE_S)
    finished = _judgewatch(project, "run", "once", "--slot", SLOT)
    assert finished.returncode == 0, finished.stderr
    _assert_each_planned_item_has_one_score(project)
    state = practice.state()
    n_planned = _rows(project, "SELECT count(*) FROM planned_items")[0][0]
    assert state["calls"] - n_planned <= CONCURRENCY + BATCH
    assert max(state["calls_by_text"].values()) <= 2


def test_stopped_scorer_waits_for_calls_in_flight_and_loses_none(project: Path, practice: PracticeJudge) -> None:
    """SIGTERM half way: what was called is stored, and no answer is paid for twice."""
    scorer = _start_run(project)
    _wait_for_calls(practice, 60)
    scorer.send_signal(signal.SIGTERM)
    _, errors = scorer.communicate(timeout=DEADLINE_S)
    assert scorer.returncode == 1
    assert "Traceback" not in errors
    assert practice.state()["calls"] == _rows(project, "SELECT count(*) FROM verdicts")[0][0]
    finished = _judgewatch(project, "run", "once", "--slot", SLOT)
    assert finished.returncode == 0, finished.stderr
    _assert_each_planned_item_has_one_score(project)
    assert set(practice.state()["calls_by_text"].values()) == {1}


def test_second_scorer_says_so_and_waits(project: Path, practice: PracticeJudge) -> None:
    """Two scorers on one database: one works; the other waits, finds nothing left to do, and makes no call."""
    practice.set(latency_ms=250)  # the first one has to be at work for as long as two others need to start
    first = _start_run(project)
    _wait_for_calls(practice, 20)
    at_once = _judgewatch(project, "run", "once", "--slot", SLOT, "--no-wait")
    assert at_once.returncode == 1
    assert "another scorer" in at_once.stderr
    second = _judgewatch(project, "run", "once", "--slot", SLOT)
    assert second.returncode == 0, second.stderr
    assert second.stderr.count("another scorer") == 1
    assert "Waiting for it" in second.stderr
    first.communicate(timeout=DEADLINE_S)
    assert first.returncode == 0
    _assert_each_planned_item_has_one_score(project)
    assert set(practice.state()["calls_by_text"].values()) == {1}


def test_finished_slot_is_not_graded_again(project: Path, practice: PracticeJudge) -> None:
    """The same slot twice: the second call says so, exits 0 and costs nothing."""
    assert _judgewatch(project, "run", "once", "--slot", SLOT).returncode == 0
    n_calls = practice.state()["calls"]
    again = _judgewatch(project, "run", "once", "--slot", SLOT)
    assert again.returncode == 0
    assert practice.state()["calls"] == n_calls


def test_pages_read_on_while_the_scorer_writes(project: Path, practice: PracticeJudge) -> None:
    """A reader sees committed states only, each with at least as many verdicts as the one before, and no error."""
    scorer = _start_run(project)
    _wait_for_calls(practice, 10)
    seen = []
    while scorer.poll() is None:
        seen.append(_rows(project, "SELECT count(*) FROM verdicts")[0][0])
        time.sleep(0.02)
    scorer.communicate(timeout=DEADLINE_S)
    assert seen == sorted(seen)
    assert len(set(seen)) > 2
    assert _rows(project, "PRAGMA integrity_check") == [("ok",)]
