"""Ctrl-C, SIGTERM and a second one, on real processes: nothing that was paid for is lost or paid for twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evaluator.errors import StoreError
from evaluator.store import read
from evaluator.store.db import open_reader
from tests.cli.conftest import ok, ok_json, some_answers, write_anchors, write_answers, write_config

DB = Path("data/judgewatch.db")
SLOT = "2026-03-05T06:00"
ROOT = Path(__file__).parents[2]
PATIENCE_S = 60.0


@pytest.fixture(autouse=True)
def shop() -> None:
    """A judge that takes a tenth of a second, two calls at once, for forty-two items."""
    write_config(**{"by_words": "slowly", "[anchors]": "concurrency = 2\n[anchors]"})
    write_anchors()
    rows = [row for day in range(1, 5) for row in some_answers(12, f"2026-03-0{day}")]
    ok("import", write_answers(Path("answers.jsonl"), rows))


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a command; whatever still runs at the end is ended."""
    started: list[subprocess.Popen[str]] = []

    def run(*args: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "evaluator.cli", *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def wait_until(happened: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    give_up = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < give_up, "it did not happen"
        time.sleep(0.05)


def n_graded() -> int:
    """Verdicts in the database."""
    try:
        with open_reader(DB) as store:
            return int(read.counts(store, "shop")["n_verdicts"])
    except StoreError:
        return 0


def n_attempts() -> int:
    """Calls in the database."""
    with open_reader(DB) as store:
        return int(store.connection.execute("SELECT count(*) FROM attempts").fetchone()[0])


def status(slot_utc: str = "2026-03-05T06:00:00.000Z") -> str | None:
    """Status of the run of a slot."""
    with open_reader(DB) as store:
        return next((run["status"] for run in read.runs(store, "shop") if run["slot_utc"] == slot_utc), None)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_first_signal_stops_and_the_next_start_goes_on(
    start: Callable[..., subprocess.Popen[str]], number: signal.Signals
) -> None:
    """Calls in flight come home, the message says how to go on, and each item is called once in all."""
    process = start("run", "once", "--slot", SLOT)
    wait_until(lambda: n_graded() > 0)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert "stopping: calls in flight are waited for" in err
    assert "error" not in err
    assert "the run was stopped; " in err
    assert f"`judgewatch run once --slot {SLOT}:00+00:00` goes on" in err
    assert "not tried" in out
    assert status() == "stopped"
    assert ok_json("run", "once", "--slot", SLOT, "--quiet")["status"] == "finished"
    assert n_attempts() == n_graded() == 42


def test_second_signal_ends_at_once_and_keeps_what_was_graded(start: Callable[..., subprocess.Popen[str]]) -> None:
    """Whoever presses twice does not wait ten seconds."""
    write_config(**{"by_words": "very_slowly", "[anchors]": "concurrency = 2\n[anchors]"})
    process = start("run", "once", "--slot", SLOT)
    wait_until(lambda: status() == "running" and n_graded() > 0)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    while "stopping" not in process.stderr.readline():
        continue
    pressed = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.wait(timeout=PATIENCE_S)
    assert time.monotonic() - pressed < 8
    assert process.returncode == 1
    rest = process.stderr.read()
    assert "ended at once; start it again to go on" in rest
    assert "error" not in rest
    assert n_graded() > 0


def test_killed_process_is_taken_up_again(start: Callable[..., subprocess.Popen[str]]) -> None:
    """After kill -9 the plan stands; at most what was in flight or in one batch is called again."""
    process = start("run", "once", "--slot", SLOT)
    wait_until(lambda: n_graded() >= 5)
    process.kill()
    process.wait(timeout=PATIENCE_S)
    with open_reader(DB) as store:
        planned = store.connection.execute("SELECT count(*) FROM planned_items").fetchone()[0]
    assert planned == 42
    assert ok_json("run", "once", "--slot", SLOT, "--quiet")["status"] == "finished"
    assert n_graded() == 42
    assert n_attempts() <= 42 + 2 + 100


def test_watch_grades_the_last_slot_and_ends_cleanly(start: Callable[..., subprocess.Popen[str]]) -> None:
    """The background scorer starts with what is due, waits, and leaves on SIGTERM with 0."""
    write_config()
    process = start("run", "watch")
    assert process.stderr is not None
    told: list[str] = []
    while not told or "next run at" not in told[-1]:
        line = process.stderr.readline()
        assert line, told
        told.append(line)
    process.send_signal(signal.SIGTERM)
    _, rest = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    assert any("finished, 12 anchors" in line for line in told)
    assert rest.splitlines()[-1] == "stopped watching"


def test_watch_refuses_at_once_what_cannot_work(start: Callable[..., subprocess.Popen[str]]) -> None:
    """A missing anchor set is told when the scorer starts, not at six in the morning."""
    Path("anchors.jsonl").unlink()
    process = start("run", "watch")
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 64
    assert err == "error: there is no file anchors.jsonl\n"


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or only waits to be noticed by its parent."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_a_trial_of_the_sources_with_the_command_it_started(
    start: Callable[..., subprocess.Popen[str]], number: signal.Signals
) -> None:
    """Nothing goes on in the background."""
    Path("pull.py").write_text(
        "import os, time\nopen('pid', 'w').write(str(os.getpid()))\nos.rename('pid', 'pid.whole')\ntime.sleep(300)\n",
        encoding="utf-8",
    )
    command = f"command = {[sys.executable, 'pull.py']!r}".replace("'", '"')
    write_config(**{"[traffic]": f"[traffic]\n{command}"})
    process = start("source", "test")
    wait_until(Path("pid.whole").exists)
    pull = int(Path("pid.whole").read_text(encoding="utf-8"))
    process.send_signal(number)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode != 0
    wait_until(lambda: has_ended(pull))
