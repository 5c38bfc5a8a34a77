"""What the tests of commands share: a runner, a configuration with a judge that is a function, filled databases."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from evaluator.cli import cli
from tests import builders

CONFIG = """
[app]
name = "shop"
[judge]
model = "by-words"
function = "python:tests.cli.graders:by_words"
[anchors]
set = "anchors.jsonl"
[traffic]
answers_per_day = 10
lookback_days = 3
spool = "spool"
[schedule]
cron = "0 6 * * *"
"""


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, as a user would in theirs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*args: str | Path) -> Result:
    """Run a command line in this process."""
    return CliRunner().invoke(cli, [str(arg) for arg in args])


def ok(*args: str | Path) -> str:
    """Run a command line that must succeed; return what it prints."""
    result = invoke(*args)
    assert result.exit_code == 0, result.output
    return result.stdout


def ok_json(*args: str | Path) -> Any:
    """Run a command line with --json that must succeed; return the object it prints."""
    payload = json.loads(ok(*args, "--json"))
    assert isinstance(payload["schema_version"], int)
    return payload


def refused(*args: str | Path, code: int) -> str:
    """Run a command line that must fail with a code; return its one line of error."""
    result = invoke(*args)
    assert result.exit_code == code, (result.exit_code, result.output)
    lines = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, result.stderr
    assert "Traceback" not in result.output
    return lines[0].removeprefix("error: ")


def write_config(text: str = CONFIG, *, path: Path = Path("judgewatch.toml"), **changes: str) -> Path:
    """Write a configuration; each change replaces a text by another."""
    for old, new in changes.items():
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return path


def write_anchors(path: Path = Path("anchors.jsonl"), n: int = 12) -> Path:
    """Write an anchor set with one to five words an answer."""
    rows = [
        {
            "anchor_id": f"a{number:02d}",
            "inputs": f"Anchor question {number}?",
            "outputs": "word " * (number % 5 + 1),
            "expected_score": number % 5 + 1,
            "tags": {"topic": "billing"},
        }
        for number in range(n)
    ]
    return write_answers(path, rows)


def write_answers(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write answers as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def some_answers(n: int, day: str = "2026-03-01", **fields: Any) -> list[dict[str, Any]]:
    """Answers of one day, alternately about billing and returns."""
    return [
        {
            "id": f"{day}-{number}",
            "input": f"Question {number}?",
            "output": "word " * (number % 5 + 1),
            "answered_at": f"{day}T12:00:{number % 60:02d}Z",
            "topic": ("billing", "returns")[number % 2],
            **fields,
        }
        for number in range(n)
    ]


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Build each state of ``builders`` once."""
    folder = tmp_path_factory.mktemp("templates")
    made: dict[str, Path] = {}

    def template(name: str) -> Path:
        if name not in made:
            made[name] = getattr(builders, name)(folder / f"{name}.db")
        return made[name]

    return template


@pytest.fixture
def database(templates: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that copies a database in a state of ``builders`` into the test's folder."""

    def copy(name: str) -> Path:
        source = templates(name)
        for suffix in ("", "-wal"):
            file = source.with_name(source.name + suffix)
            if file.exists():
                shutil.copy(file, tmp_path / file.name)
        return tmp_path / source.name

    return copy
