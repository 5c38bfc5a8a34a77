"""Every ``--dry-run`` leaves the database as it is, to the byte: of today, of an older version, after a crash."""

from __future__ import annotations

import csv
import hashlib
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from evaluator.store.db import known_migrations
from evaluator.store.migrations import MIGRATIONS_TABLE
from tests.cli.conftest import invoke, ok, write_anchors, write_answers, write_config

DB = Path("data/judgewatch.db")
LOG = Path("data/judgewatch.db-wal")
SCORES = Path("scores.csv")
DRY_RUNS = {
    "run": ("run", "once"),
    "pick": ("anchors", "pick", "--n", "10"),
    "import": ("import", "more.jsonl"),
    "scores": ("import", "--verdicts", str(SCORES), "--scale", "1", "5"),
    "recheck": ("recheck", str(SCORES), "--scale", "1", "5", "--n", "20"),
    "delete": ("items", "delete", "--external-id", "a1"),
}


def answers(first: int, n: int) -> list[dict[str, object]]:
    """Answers of the first days of March."""
    return [
        {
            "id": f"a{number}",
            "input": f"Question number {number} of the shop?",
            "output": " ".join(["word"] * (number % 5 + 1)) + f" {number}",
            "answered_at": f"2026-03-0{number % 9 + 1}T12:00:00Z",
        }
        for number in range(first, first + n)
    ]


@pytest.fixture(autouse=True)
def shop() -> None:
    """A configuration, forty stored answers, ten more and forty scores in files."""
    write_config()
    write_anchors()
    ok("import", write_answers(Path("answers.jsonl"), answers(0, 40)))
    write_answers(Path("more.jsonl"), answers(40, 10))
    rows = [
        {**row, "graded_at": row["answered_at"], "score": len(str(row["output"]).split()) - 1} for row in answers(0, 40)
    ]
    with SCORES.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def make_older() -> None:
    """As the version before would have left it."""
    with closing(sqlite3.connect(DB)) as connection:
        connection.execute("DROP TABLE accepted_baselines")
        connection.execute(f"DELETE FROM {MIGRATIONS_TABLE} WHERE name = ?", (known_migrations()[-1],))
        connection.commit()


def make_crashed() -> None:
    """With writes in the log that a killed process did not bring over."""
    with closing(sqlite3.connect(DB)) as connection:
        connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'store_revision'")
        connection.commit()
        shutil.copy(DB, "copy.db")
        shutil.copy(LOG, "copy.db-wal")
    shutil.move("copy.db", DB)
    shutil.move("copy.db-wal", LOG)
    assert LOG.stat().st_size > 0


def make_without_log() -> None:
    """As a tool leaves it that rewrites the file."""
    with closing(sqlite3.connect(DB)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")


STATES = {"today": lambda: None, "older": make_older, "crashed": make_crashed, "without_log": make_without_log}


def bytes_of_database() -> list[str]:
    """Hashes of the database and of its log; an empty log is none."""
    files = [path for path in (DB, LOG) if path.exists() and path.stat().st_size]
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("command", DRY_RUNS)
def test_dry_run_changes_no_byte_of_the_database(command: str, state: str) -> None:
    """It works on every state, but for what only reads and says which command brings an older database up to date."""
    STATES[state]()
    before = bytes_of_database()
    result = invoke(*DRY_RUNS[command], "--dry-run")
    if (command, state) == ("delete", "older"):
        assert "judgewatch db migrate" in result.stderr
    else:
        assert result.exit_code == 0, result.output
    assert bytes_of_database() == before
