"""What every judge has to keep, whoever provides it. A new provider adds one way to build it here."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import UsageError
from evaluator.judges import REGISTRY, open_judge
from evaluator.judges.base import Judge
from evaluator.judges.function import FunctionSettings
from evaluator.judges.local.judge import LocalSettings
from evaluator.judges.settings import JudgeSettings
from evaluator.records import Item, StopReason, UnscoredReason
from tests.judges.conftest import Serve
from tests.judges.fakes import RUBRIC, FakeGate
from tests.judges.server import SILENT, completion

Build = Callable[[str], Awaitable[Judge]]

# what the judge behind the seam does, in the words of each provider
FUNCTIONS = {"good": "with_words", "off scale": "off_scale", "silent": "hanging"}
STEPS = {"good": completion('{"score": "4/5"}'), "off scale": completion('{"score": 900}'), "silent": SILENT}


@dataclass(frozen=True)
class _Served:
    """In place of the process that serves a model: a server that runs already."""

    base_url: str

    def start(self) -> None:
        """It runs."""

    def stop(self) -> None:
        """Whoever started it stops it."""


@pytest.fixture(params=sorted(REGISTRY))
def kind(request: pytest.FixtureRequest) -> str:
    """Each registered provider in turn."""
    return str(request.param)


@pytest.fixture
def build(kind: str, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> Build:
    """Build the provider's judge with a given behaviour behind it."""

    async def openai_compatible(behaviour: str) -> Any:
        server = await serve(STEPS[behaviour])
        return JudgeSettings(
            model="judge-x",
            base_url=server.base_url,
            api_key="k",
            rubric=RUBRIC,
            fence_secret="salt",
            timeout_s=0.1 if behaviour == "silent" else 5.0,
            max_attempts=1,
        )

    async def function(behaviour: str) -> Any:
        target = f"python:tests.judges.graders:{FUNCTIONS[behaviour]}"
        return FunctionSettings(target=target, rubric=RUBRIC, timeout_s=0.1 if behaviour == "silent" else 5.0)

    async def local(behaviour: str) -> Any:
        settings = await openai_compatible(behaviour)
        monkeypatch.setattr(
            "evaluator.judges.local.judge.LocalServer", lambda *_args, **_options: _Served(settings.base_url)
        )
        return LocalSettings(judge=settings, gguf=Path("model.gguf"))

    makers = {"openai-compatible": openai_compatible, "function": function, "local": local}

    async def make(behaviour: str) -> Judge:
        return open_judge(kind, await makers[kind](behaviour))

    return make


async def test_a_good_answer_is_scored(build: Build, item: Item) -> None:
    """A score on the rubric's scale, the call on record, the instrument named, no reason to stop."""
    judge = await build("good")
    outcome = await judge.grade(item, item_id="i1", gate=FakeGate())
    await judge.close()
    assert outcome.verdict is not None
    assert outcome.verdict.score == 4
    assert [attempt.reason for attempt in outcome.attempts] == [None]
    assert outcome.instrument is not None
    assert outcome.instrument.resolved_model
    assert outcome.raw_reply
    assert (outcome.stop, outcome.stop_message) == (None, "")


async def test_a_value_off_the_scale_is_a_reason(build: Build, item: Item) -> None:
    """Never clamped, with the raw reply kept."""
    judge = await build("off scale")
    outcome = await judge.grade(item, item_id="i1", gate=FakeGate())
    await judge.close()
    assert outcome.verdict is not None
    assert outcome.verdict.unscored_reason is UnscoredReason.OUT_OF_RANGE
    assert outcome.attempts[0].reason == "out_of_range"
    assert "00" in outcome.raw_reply


async def test_a_silent_judge_is_a_reason(build: Build, item: Item) -> None:
    """A time-out is a verdict without a score, not an exception."""
    judge = await build("silent")
    outcome = await judge.grade(item, item_id="i1", gate=FakeGate())
    await judge.close()
    assert outcome.verdict is not None
    assert outcome.verdict.unscored_reason is UnscoredReason.TIMEOUT


async def test_no_call_without_permission(build: Build, item: Item) -> None:
    """A used-up budget leaves the item pending and says so."""
    judge = await build("good")
    outcome = await judge.grade(item, item_id="i1", gate=FakeGate(n_calls=0))
    await judge.close()
    assert (outcome.verdict, outcome.attempts, outcome.stop) == (None, (), StopReason.BUDGET)


async def test_every_reservation_is_settled(build: Build, item: Item) -> None:
    """One for each call, also of a call that is cancelled."""
    judge, gate = await build("silent"), FakeGate()
    task = asyncio.ensure_future(judge.grade(item, item_id="i1", gate=gate))
    while not gate.reserved:
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await judge.close()
    assert len(gate.settled) == len(gate.reserved) == 1


async def test_an_item_without_an_answer_is_not_graded(build: Build) -> None:
    """No call, no money, a reason."""
    judge, gate = await build("good"), FakeGate()
    outcome = await judge.grade(Item(input="q", output=""), item_id="i1", gate=gate)
    await judge.close()
    assert outcome.verdict is not None
    assert outcome.verdict.unscored_reason is UnscoredReason.NO_ANSWER_TEXT
    assert (gate.reserved, outcome.attempts) == ([], ())


async def test_many_at_once_stay_apart(build: Build) -> None:
    """One instance grades many items at a time."""
    judge = await build("good")
    items = [Item(input=f"q{n}", output="a") for n in range(20)]
    outcomes = await asyncio.gather(*(judge.grade(i, item_id=i.input, gate=FakeGate()) for i in items))
    await judge.close()
    assert [o.verdict and o.verdict.score for o in outcomes] == [4] * 20


async def test_ruler_and_closing(build: Build, item: Item) -> None:
    """The ruler holds the rubric and is the same for an equal judge; closing can be repeated, and grading go on."""
    judge = await build("good")
    assert judge.ruler.rubric is RUBRIC
    assert judge.plan_cost([item]) in (None, 0.0)
    await judge.close()
    await judge.close()
    outcome = await judge.grade(item, item_id="i1", gate=FakeGate())
    await judge.close()
    assert outcome.verdict is not None
    assert outcome.verdict.score == 4


def test_every_provider_is_in_the_contract(kind: str) -> None:
    """Its class has the methods of the protocol, documented."""
    module_name, _, class_name = REGISTRY[kind].partition(":")
    provider = getattr(__import__(module_name, fromlist=[class_name]), class_name)
    for name in ("grade", "plan_cost", "close", "forget_adjustments"):
        assert inspect.getdoc(getattr(provider, name))


def test_an_unknown_kind_is_refused() -> None:
    """With the known ones."""
    with pytest.raises(UsageError, match="openai-compatible"):
        open_judge("oracle", None)
