"""What the tests of the judges share: a rubric, an item, a server, a judge that never really waits."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
import pytest_asyncio

from evaluator.judges.openai_compatible import OpenAICompatibleJudge
from evaluator.judges.settings import JudgeSettings
from evaluator.records import Item, Rubric
from tests.judges.fakes import RUBRIC, FakeSleep
from tests.judges.server import FakeServer, Script, Step, in_turn

NOW = datetime(2026, 1, 2, 10, 0, 0, tzinfo=UTC)

Serve = Callable[..., Awaitable[FakeServer]]
MakeJudge = Callable[..., OpenAICompatibleJudge]


@pytest.fixture
def rubric() -> Rubric:
    """A rubric from 1 to 5 with named levels."""
    return RUBRIC


@pytest.fixture
def item() -> Item:
    """An answer worth grading."""
    return Item(input="How long may I return it?", output="Within 30 days, with the receipt.")


@pytest.fixture
def sleep() -> FakeSleep:
    """Pauses that are noted and not made."""
    return FakeSleep()


@pytest_asyncio.fixture
async def serve() -> AsyncIterator[Serve]:
    """Start servers: steps in turn, or a script."""
    async with contextlib.AsyncExitStack() as stack:

        async def start(*steps: Step, script: Script | None = None) -> FakeServer:
            return await stack.enter_async_context(FakeServer(script or in_turn(*steps)))

        yield start


@pytest_asyncio.fixture
async def make_judge(sleep: FakeSleep, rubric: Rubric) -> AsyncIterator[MakeJudge]:
    """Build judges against a server; all are closed at the end."""
    judges: list[OpenAICompatibleJudge] = []

    def make(server: FakeServer | str, *, now: datetime = NOW, jitter: float = 0.5, **changes: Any) -> Any:
        values: dict[str, Any] = {
            "model": "judge-x",
            "base_url": server if isinstance(server, str) else server.base_url,
            "api_key": "key-of-the-test",
            "rubric": rubric,
            "fence_secret": "salt",
            "timeout_s": 5.0,
            **changes,
        }
        judge = OpenAICompatibleJudge(JudgeSettings(**values), sleep=sleep, now=lambda: now, jitter=lambda: jitter)
        judges.append(judge)
        return judge

    yield make
    for judge in judges:
        await judge.close()
