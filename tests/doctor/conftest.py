"""What the tests of the doctor share: a folder with a configuration; a judge in a thread, since the doctor blocks."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evaluator.config import Config, load_config
from evaluator.doctor import Check, examine
from evaluator.doctor.base import Patient
from tests.judges.server import Answer, FakeServer, Request, Script, json_answer

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)

CONFIG = """
[app]
name = "shop"
[judge]
model = "judge-2026-01-05"
base_url = "http://127.0.0.1:9/v1"
api_key_env = ""
[anchors]
set = "anchors.jsonl"
[traffic]
answers_per_day = 10
[budget]
calls_per_day = 500
"""


class WallClock:
    """The machine's clock, some seconds off."""

    def __init__(self, off_s: float = 0.0) -> None:
        self.off_s = off_s

    def now(self) -> datetime:
        """The time, off by so much."""
        return datetime.fromtimestamp(time.time() + self.off_s, UTC)


def write_config(folder: Path, text: str = CONFIG, **changes: str) -> Path:
    """Write a configuration; each change is a line (or more) for the section named: ``judge='base_url = "..."'``."""
    lines = text.strip().splitlines()
    for section, line in ((section, line) for section, text in changes.items() for line in text.splitlines()):
        key = line.partition("=")[0].strip()
        head = f"[{section}]"
        if head not in lines:
            lines += [head]
        start = lines.index(head)
        stop = next((n for n in range(start + 1, len(lines)) if lines[n].startswith("[")), len(lines))
        kept = [old for old in lines[start + 1 : stop] if old.partition("=")[0].strip() != key]
        lines[start + 1 : stop] = [*kept, line]
    path = folder / "judgewatch.toml"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def write_anchors(folder: Path, n: int = 60, *, levels: int = 5) -> Path:
    """Write an anchor set; the answer of an anchor holds as many blips as it is worth points."""
    rows = [
        {
            "anchor_id": f"a{number:03d}",
            "inputs": f"Question {number}?",
            "outputs": f"answer {number} " + "blip " * (number % levels + 1),
            "expected_score": number % levels + 1,
        }
        for number in range(n)
    ]
    path = folder / "anchors.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a configuration and sixty anchors."""
    monkeypatch.chdir(tmp_path)
    write_config(tmp_path)
    write_anchors(tmp_path)
    return tmp_path


def config_of(folder: Path, **changes: str) -> Config:
    """The configuration of a folder, changed."""
    return load_config(write_config(folder, **changes))


def patient(config: Config, **changes: Any) -> Patient:
    """What checks look at, without a database and without anchors unless a test says so."""
    values: dict[str, Any] = {"config": config, "now": NOW, "store": None, "rubric": None, "anchors": ()}
    return Patient(**(values | changes))


def examined(folder: Path, *, off_s: float = 0.0, ask_judge: bool = True) -> dict[str, Check]:
    """All checks of a folder's configuration by name; of several of one name the worst."""
    path = folder / "judgewatch.toml"
    found: dict[str, Check] = {}
    order = ("ok", "skipped", "warn", "fail")
    for check in examine(lambda: load_config(path), path, clock=WallClock(off_s), ask_judge=ask_judge):
        before = found.get(check.name)
        if before is None or order.index(check.status) > order.index(before.status):
            found[check.name] = check
    return found


def good_replies(*, model: str = "judge-2026-01-05", score: Callable[[Request], object] | None = None) -> Script:
    """A judge that works: ids and times of their own, one point a blip of the answer."""
    numbers = itertools.count()

    def by_words(request: Request) -> object:
        return min(5, json.dumps(request.body["messages"]).count("blip "))

    def script(request: Request) -> Answer:
        body = {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "created": int(time.time()),
            "model": model,
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"content": json.dumps({"score": (score or by_words)(request)})},
                }
            ],
            "usage": {"prompt_tokens": 300 + next(numbers), "completion_tokens": 9},
        }
        return json_answer(body)

    return script


class Served:
    """A scripted server with a loop and a thread of its own."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._ready, self._end = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self.server: FakeServer | None = None

    async def _serve(self) -> None:
        async with FakeServer(self._script) as self.server:
            self._ready.set()
            while not self._end.is_set():
                await asyncio.sleep(0.01)

    def __enter__(self) -> FakeServer:
        self._thread.start()
        self._ready.wait(5)
        assert self.server is not None
        return self.server

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()


@pytest.fixture
def serve() -> Iterator[Callable[[Script], FakeServer]]:
    """Start judges; all end with the test."""
    with contextlib.ExitStack() as stack:
        yield lambda script: stack.enter_context(Served(script))
