"""The walk-through of ``docs/first-hour.md``: every command on it, in order, on a company's own exports and judge."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from tests.first_hour.company import Exports, write_exports
from tests.first_hour.house_judge import HouseJudge
from tests.source_tree import REPOSITORY

PAGE = REPOSITORY / "docs" / "first-hour.md"
KEY_NAME, KEY = "MUSEUM_JUDGE_KEY", "museum-key-for-tests"
PINNED = "kurator-judge-2026-08-14"
_BLOCK = re.compile(r"^```(console|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Step:
    """One line of the page: a command, or a piece of configuration to add."""

    kind: str
    text: str


def read_steps() -> list[Step]:
    """The commands and pieces of configuration of the page, in order."""
    steps: list[Step] = []
    for block in _BLOCK.finditer(PAGE.read_text("utf-8")):
        if block[1] == "toml":
            steps.append(Step("toml", block[2]))
        else:
            steps += [Step("command", line) for line in block[2].splitlines() if line.startswith("judgewatch ")]
    return steps


@dataclass
class Walk:
    """What each command of the page came to, by its words."""

    folder: Path
    exports: Exports
    judge: HouseJudge
    done: dict[str, subprocess.CompletedProcess[str]] = field(default_factory=dict)
    n_calls: dict[str, int] = field(default_factory=dict)

    def said(self, start: str) -> str:
        """What the first command that starts like this printed."""
        return next(done.stdout for command, done in self.done.items() if command.startswith(f"judgewatch {start}"))

    def run(self, command: str) -> None:
        """Run a line of the page with the test's judge in place of the company's."""
        words = shlex.split(command.replace("https://judge.example/v1", self.judge.base_url))[1:]
        words = [name for word in words for name in self._spread(word)]
        before = self.judge.calls
        self.done[command] = subprocess.run(
            [sys.executable, "-m", "evaluator.cli", *words],
            cwd=self.folder,
            env={**os.environ, KEY_NAME: KEY, "COLUMNS": "200"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        self.n_calls[command] = self.judge.calls - before

    def _spread(self, word: str) -> list[str]:
        """What a shell makes of a pattern that is not in quotes."""
        is_quoted = word == "exports/*.jsonl" and not self.done  # only `init` gets the pattern itself
        if "*" not in word or is_quoted:
            return [word]
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.glob(word))


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    """Walk through the whole page once."""
    folder = tmp_path_factory.mktemp("first hour")
    yesterday: date = (datetime.now(UTC) - timedelta(days=1)).date()
    exports = write_exports(folder, last_day=yesterday)
    with HouseJudge(KEY) as judge:
        walk = Walk(folder=folder, exports=exports, judge=judge)
        for step in read_steps():
            if step.kind == "toml":
                with (folder / "judgewatch.toml").open("a", encoding="utf-8") as file:
                    file.write(f"\n{step.text}")
            elif step.text != "judgewatch dashboard":
                walk.run(step.text)
        yield walk


def test_page_has_the_whole_way() -> None:
    """The commands that a first hour is made of, in their order."""
    verbs = [" ".join(step.text.split()[1:3]) for step in read_steps() if step.kind == "command"]
    needed = ["init --model", "doctor", "import --verdicts", "recheck scores/judge_scores.csv", "anchors pick"]
    needed += ["anchors freeze", "run once", "check", "dashboard"]
    places = [len(verbs) - 1 - verbs[::-1].index(verb) for verb in needed]
    assert places == sorted(places), verbs


def test_every_command_does_what_it_says(walk: Walk) -> None:
    """Each of them ends with 0, and no one of them shows where it happened in the code."""
    for command, done in walk.done.items():
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr


def test_only_what_grades_calls_the_judge(walk: Walk) -> None:
    """Six calls for the doctor, 200 for the recheck, and none for what is only looked at or taken in."""
    calls = walk.n_calls
    for command, n_calls in calls.items():
        verb = command.split()[1]
        if "--dry-run" in command or verb in ("init", "import", "history", "check"):
            assert n_calls == 0, command
    assert calls["judgewatch doctor"] == 6
    assert next(n for command, n in calls.items() if "recheck" in command and "--yes" in command) == 200


def test_stored_scores_are_there_at_once(walk: Walk) -> None:
    """The history has days before any call was made, and the missing scores are missing."""
    assert "kurator-judge" in walk.said("import --verdicts")
    assert re.search(r"\d{4}-\d\d-\d\d|\d+ (Oct|Nov|Dec)", walk.said("history"))


def test_recheck_finds_what_the_company_does_not_know(walk: Walk) -> None:
    """The judge gives some 0.9 of 10 points more than before, for the same answers; recent scores are reproduced."""
    done = subprocess.run(
        [sys.executable, "-m", "evaluator.cli", "recheck", "--json"],
        cwd=walk.folder,
        env={**os.environ, KEY_NAME: KEY},
        capture_output=True,
        text=True,
        check=True,
    )
    text = walk.done[next(command for command in walk.done if "recheck" in command and "--yes" in command)].stdout
    assert "Your judge changed: +0." in " ".join(text.split())
    assert json.loads(done.stdout)
    checks = [done.stdout for command, done in walk.done.items() if command == "judgewatch check"]
    assert "by the recheck of" in checks[-1]
    assert "Your judge changed: +0." in checks[-1]


def test_anchors_come_from_own_traffic_and_carry_no_score(walk: Walk) -> None:
    """The frozen set holds what was asked for, and the run graded it."""
    lines = (walk.folder / "anchors-own.jsonl").read_text("utf-8").splitlines()
    anchors = [json.loads(line) for line in lines]
    assert 40 <= len(anchors) <= 60
    assert {anchor["expected_score"] for anchor in anchors} == {None}


def test_page_opens(walk: Walk, free_port: int) -> None:
    """The last command of the walk serves the page of this folder."""
    server = subprocess.Popen(
        [sys.executable, "-m", "evaluator.cli", "dashboard", "--port", str(free_port), "--no-browser"],
        cwd=walk.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        assert wait_for_health(free_port)
    finally:
        server.terminate()
        server.wait(20)


def wait_for_health(port: int) -> bool:
    """Whether the page's server says within half a minute that it is well."""
    give_up_at = time.monotonic() + 30
    while time.monotonic() < give_up_at:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2) as reply:
                return bool(reply.status == 200)
        except OSError:
            time.sleep(0.2)
    return False
