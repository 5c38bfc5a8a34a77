"""The command that prints answers: its limits, its ends, and that half a pull is never taken for a whole one."""

from __future__ import annotations

import os
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from evaluator.config import Config
from evaluator.sources import asking, pull_sources, waiting_sources
from evaluator.sources.command import ends_in_a_line, run_command
from evaluator.store import read
from evaluator.store.db import open_reader
from tests.sources.conftest import (
    NOW,
    SLOT,
    Clock,
    command_line,
    lines,
    printing,
    pull,
    row,
    script,
    settings,
    stored,
    told,
)

GOOD = "print(json.dumps({'id': 'a', 'output': 'x'}), flush=True); "


def config_of(folder: Path, words: list[str], **traffic: Any) -> Config:
    """A configuration with a command."""
    return settings(folder, command=words, **{"command_timeout_s": 20.0, **traffic})


# ---------------------------------------------------------------- good ends


def test_printed_answers_are_taken(tmp_path: Path) -> None:
    """Counted, and kept under the words of the command."""
    words = printing(tmp_path, row("a1"), row("a2"))
    config = config_of(tmp_path, words)
    outcome = pull(config)
    assert (outcome.status, outcome.n_rows, outcome.n_new, outcome.message) == ("ok", 2, 2, "")
    assert stored(config) == {"a1", "a2"}
    with open_reader(config.store_path) as store:
        (kept,) = read.pulls(store, "shop")
    assert (kept["kind"], kept["source"], kept["status"]) == ("command", command_line(words), "ok")
    assert kept["slot_utc"] == "2026-03-05T06:00:00.000Z"


def test_source_that_repeats_yesterday_says_so_and_is_warned_of(tmp_path: Path) -> None:
    """Three scheduled runs in a row."""
    config = config_of(tmp_path, printing(tmp_path, *(row(f"a{n}") for n in range(120))))
    pull(config)
    for number in range(1, 4):
        after = timedelta(days=number)
        outcome = pull(config, SLOT + after, Clock(NOW + after))
        assert outcome.status == "nothing_new"
        assert outcome.message == "the source repeated what is stored: 120 rows, 0 new"
        assert (outcome.n_quiet, outcome.is_quiet) == (number, number >= 3)


def test_span_of_time_is_in_the_environment(tmp_path: Path) -> None:
    """First nothing; then the newest stored answer that is not ahead of the run; and the rest of the environment."""
    code = (
        "print(json.dumps({'id': os.environ['PATH'][:1] and os.environ['JUDGEWATCH_SINCE'] + '|'"
        " + os.environ['JUDGEWATCH_UNTIL'], 'output': 'x', 'answered_at': '2026-03-04T12:00:00Z'}))\n"
        "print(json.dumps({'id': 'ahead', 'output': 'x', 'answered_at': '2026-03-09T12:00:00Z'}))"
    )
    config = config_of(tmp_path, script(tmp_path, code))
    pull(config)
    pull(config)
    until = "2026-03-05T06:00:00.000Z"
    assert stored(config) == {f"|{until}", f"2026-03-04T12:00:00Z|{until}", "ahead"}


def test_command_runs_in_the_folder_of_the_configuration_without_a_shell(tmp_path: Path) -> None:
    """Words are arguments, whatever is in them."""
    (tmp_path / "here.py").write_text(
        "import json, os, sys\nprint(json.dumps({'id': sys.argv[1], 'output': os.getcwd()}))", encoding="utf-8"
    )
    config = config_of(tmp_path, [sys.executable, "here.py", "$(touch x); *"])
    pull(config)
    assert stored(config) == {"$(touch x); *"}
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("code", ["", "print(); print()"])
def test_command_that_prints_no_answer_has_nothing_new(tmp_path: Path, code: str) -> None:
    """A source without news is no failure."""
    outcome = pull(config_of(tmp_path, script(tmp_path, code)))
    assert outcome.status == "nothing_new"
    assert "printed n" in outcome.message


def test_bad_line_among_good_ones_is_left_out_and_told(tmp_path: Path) -> None:
    """As in a file."""
    code = GOOD + "print('Loading...'); print(json.dumps({'id': 'b', 'output': 'y'}))"
    outcome = pull(config_of(tmp_path, script(tmp_path, code)))
    assert (outcome.status, outcome.n_new, outcome.n_rejected) == ("ok", 2, 1)
    assert "its output: 1 row cannot be used and is left out; line 2: broken JSON" in told(outcome)


def test_list_over_several_lines_is_not_taken_for_its_last_answer(tmp_path: Path) -> None:
    """``json.dumps(rows, indent=1)`` with an object a line: nothing of it is taken in."""
    code = "print('['); print('{\"output\": \"x\"},'); print('{\"output\": \"y\"}'); print(']')"
    config = config_of(tmp_path, script(tmp_path, code))
    outcome = pull(config)
    assert (outcome.status, outcome.n_new) == ("failed", 0)
    assert "its output: one JSON document over several lines" in outcome.message
    assert stored(config) == set()


def test_rows_that_cannot_be_used_are_not_counted_as_repeated(tmp_path: Path) -> None:
    """One known row and one that is none."""
    code = GOOD + "print('Loading...')"
    config = config_of(tmp_path, script(tmp_path, code))
    pull(config)
    assert pull(config).message == "the source repeated what is stored: 1 row, 0 new"


def test_whole_last_line_without_an_end_is_taken(tmp_path: Path) -> None:
    """``sys.stdout.write`` of a joined text."""
    outcome = pull(config_of(tmp_path, script(tmp_path, "sys.stdout.write(json.dumps({'id': 'a', 'output': 'x'}))")))
    assert (outcome.status, outcome.n_new) == ("ok", 1)


def test_spans_are_known_as_such(tmp_path: Path) -> None:
    """A script may print what a tracing tool gave it."""
    span = {
        "span_id": "s",
        "start_time": "2026-03-04T10:00:00Z",
        "attributes": {"input.value": "a", "output.value": "b"},
    }
    config = config_of(tmp_path, printing(tmp_path, span))
    assert pull(config).n_new == 1
    assert stored(config) == {"s"}


# ---------------------------------------------------------------- bad ends


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (GOOD + "sys.exit('no token\\nset TOKEN')", "it ended with status 1. It said: no token | set TOKEN"),
        (GOOD + "sys.exit(3)", "it ended with status 3. It said nothing on stderr"),
        (GOOD + "os.kill(os.getpid(), 9)", "it was ended by the signal SIGKILL"),
        (GOOD + 'sys.stdout.write(\'{"id": "b", "out\')', "its output ends in the middle of a line"),
        ("print('<html><body>Sign in</body></html>')", "its output cannot be read as JSON lines; line 1: broken JSON"),
        ("print('id,output'); print('1,x')", "its output cannot be read as JSON lines"),
        ("print(json.dumps({'id': 1, 'text': 'x'}))", "its output: no row has a field for the answer"),
        ("sys.stdout.buffer.write(bytes(range(1, 256)))", "its output cannot be read as JSON lines"),
        ("print(json.dumps([{'id': 'a', 'output': 'x'}]))", "its output cannot be read as JSON lines"),
    ],
)
def test_bad_end_takes_nothing_in_and_says_why(tmp_path: Path, code: str, said: str) -> None:
    """The way it ended, what it said, and how to look at it; kept with the pull."""
    config = config_of(tmp_path, script(tmp_path, code))
    outcome = pull(config)
    assert (outcome.status, outcome.n_new) == ("failed", 0)
    assert said in outcome.message
    assert "Nothing of it was taken in; `judgewatch source test`" in outcome.message
    assert stored(config) == set()
    with open_reader(config.store_path) as store:
        (kept,) = read.pulls(store, "shop")
    assert (kept["status"], said in kept["message"]) == ("failed", True)


def test_program_that_is_missing_or_not_executable_is_named(tmp_path: Path) -> None:
    """With the fix."""
    assert "there is no program 'no-such-program'" in pull(config_of(tmp_path, ["no-such-program"])).message
    (tmp_path / "pull.sh").write_text("echo", encoding="utf-8")
    assert "chmod +x" in pull(config_of(tmp_path, [str(tmp_path / "pull.sh")])).message
    assert "cannot be started" in pull(config_of(tmp_path, ["a\0b"])).message


def test_command_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    """The child of the child as well; what it printed before is not taken."""
    code = (
        "import subprocess\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "open('child.pid', 'w').write(str(child.pid))\n" + GOOD + "time.sleep(60)"
    )
    config = config_of(tmp_path, script(tmp_path, code), command_timeout_s=1.5)
    started = time.monotonic()
    outcome = pull(config)
    assert time.monotonic() - started < 20
    assert outcome.status == "failed"
    assert "it was not done after 1.5 seconds and was ended; make it faster, or raise traffic.command_timeout_s" in (
        outcome.message
    )
    assert stored(config) == set()
    assert is_gone(int((tmp_path / "child.pid").read_text("utf-8")))


def is_gone(pid: int) -> bool:
    """Whether a process has ended, within a few seconds; a dead one that nobody waited for counts as ended."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_command_that_prints_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is not for it alone."""
    monkeypatch.setattr(asking, "MOST_BYTES", 10_000)
    outcome = pull(config_of(tmp_path, script(tmp_path, "while True: print('x' * 1000)")))
    assert outcome.status == "failed"
    assert "it printed more than 10,000 bytes; let it ask for new answers only (JUDGEWATCH_SINCE)" in outcome.message


def test_stop_ends_a_command_that_runs(tmp_path: Path) -> None:
    """Ctrl-C does not wait for minutes."""
    asked: list[None] = []

    def stop() -> bool:
        asked.append(None)
        return len(asked) > 2

    config = config_of(tmp_path, script(tmp_path, "time.sleep(60)"))
    (outcome,) = pull_sources(config, slot=SLOT, clock=Clock(), stop=stop)
    assert "it was ended because the run was stopped" in outcome.message


def test_only_the_last_lines_of_stderr_are_kept(tmp_path: Path) -> None:
    """A log of a million lines is no message."""
    words = script(tmp_path, "[print(f'step {n}', file=sys.stderr) for n in range(100_000)]; sys.exit(1)")
    end = run_command(words, folder=tmp_path, environment=os.environ, output=tmp_path / "out", timeout_s=20)
    assert end.stderr == "step 99995 | step 99996 | step 99997 | step 99998 | step 99999"


def test_personal_data_in_what_is_kept_is_taken_out(tmp_path: Path) -> None:
    """A program's last words may hold anything."""
    config = config_of(tmp_path, script(tmp_path, "sys.exit('bad row of jo@example.com')"), redact=["email"])
    pull(config)
    with open_reader(config.store_path) as store:
        assert "bad row of [email]" in read.pulls(store, "shop")[0]["message"]


def test_failure_does_not_keep_the_files_from_being_read(tmp_path: Path) -> None:
    """Each source on its own."""
    (tmp_path / "a.jsonl").write_bytes(lines(row("a1")))
    config = config_of(tmp_path, script(tmp_path, "sys.exit(1)"), files="a.jsonl")
    outcomes = pull_sources(config, slot=SLOT, clock=Clock(), pause=lambda _: None)
    assert [(outcome.kind, outcome.status) for outcome in outcomes] == [("files", "ok"), ("command", "failed")]


# ---------------------------------------------------------------- parts


@pytest.mark.parametrize(
    ("content", "in_a_line"),
    [
        (b"", False),
        (b'{"a": 1}\n', False),
        (b'{"a": 1}', False),
        (b'{"a": 1}\n{"a"', True),
        (b'{"a"', True),
        (b'{"a": 1}\n{"a": "' + b"x" * 3_000_000, True),
        (b'{"a": 1}\n{"a": "' + b"x" * 3_000_000 + b'"}', False),
        (b"done", False),
    ],
)
def test_half_a_line_is_known(tmp_path: Path, content: bytes, in_a_line: bool) -> None:
    """Also one that is longer than what is read at once."""
    path = tmp_path / "out"
    path.write_bytes(content)
    assert ends_in_a_line(path) is in_a_line


def test_dry_run_names_the_command_and_runs_nothing(tmp_path: Path) -> None:
    """The words as one would type them; a very long one is cut."""
    config = config_of(tmp_path, script(tmp_path, "open('ran', 'w')"))
    assert waiting_sources(config).command == command_line(list(config.traffic.command or ()))
    assert not (tmp_path / "ran").exists()
    long = waiting_sources(config_of(tmp_path, ["x" * 1000])).command
    assert long is not None
    assert len(long) == 300
