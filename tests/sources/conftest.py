"""What the tests of sources share: a configuration in a folder, a clock that is set by hand, files and scripts."""

from __future__ import annotations

import json
import os
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evaluator.config import Config, parse_config
from evaluator.sources import PullOutcome, pull_sources
from evaluator.store import read
from evaluator.store.db import open_reader

SLOT = datetime(2026, 3, 5, 6, tzinfo=UTC)
NOW = datetime(2026, 3, 5, 6, 1, tzinfo=UTC)
AN_HOUR_AGO = NOW.timestamp() - 3600


class Clock:
    """A clock that is set by hand."""

    def __init__(self, moment: datetime = NOW) -> None:
        self.moment = moment

    def now(self) -> datetime:
        """The moment it was set to."""
        return self.moment


def settings(folder: Path, **traffic: Any) -> Config:
    """A configuration with these keys under ``[traffic]``."""
    values = {
        "app": {"name": "shop"},
        "judge": {"model": "m", "function": "python:tests.cli.graders:by_words"},
        "traffic": traffic,
        "store": {"path": "jw.db"},
    }
    return parse_config(values, folder=folder, name="test")


def row(name: str, day: str = "2026-03-04", **fields: Any) -> dict[str, Any]:
    """One answer."""
    return {"id": name, "input": f"{name}?", "output": f"{name}.", "answered_at": f"{day}T10:00:00Z", **fields}


def lines(*rows: dict[str, Any]) -> bytes:
    """Answers as JSON lines."""
    return b"".join(json.dumps(values).encode() + b"\n" for values in rows)


def put(path: Path, content: bytes, *, at: float = AN_HOUR_AGO) -> Path:
    """Write a file that was last changed at some time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (at, at))
    return path


def script(folder: Path, code: str) -> list[str]:
    """A command that runs some Python."""
    path = folder / "pull.py"
    path.write_text(f"import json, os, sys, time\n{code}\n", encoding="utf-8")
    return [sys.executable, str(path)]


def printing(folder: Path, *rows: dict[str, Any]) -> list[str]:
    """A command that prints some answers."""
    (folder / "rows.jsonl.txt").write_bytes(lines(*rows))
    return script(folder, f"sys.stdout.write(open({str(folder / 'rows.jsonl.txt')!r}).read())")


def pull(config: Config, slot: datetime = SLOT, clock: Clock | None = None, **options: Any) -> PullOutcome:
    """Ask the only source."""
    (outcome,) = pull_sources(config, slot=slot, clock=clock or Clock(), pause=lambda _: None, **options)
    return outcome


def stored(config: Config) -> set[str | None]:
    """Ids of all stored answers."""
    with open_reader(config.store_path) as store:
        ids = [found["item_id"] for found in store.connection.execute("SELECT item_id FROM items")]
        return {item.external_id for item in read.load_items(store, ids).values()}


def told(outcome: PullOutcome) -> str:
    """All that is said of an outcome."""
    return "\n".join([outcome.message, *outcome.notes])


def command_line(words: list[str]) -> str:
    """A command as it is shown."""
    return shlex.join(words)
