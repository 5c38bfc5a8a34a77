"""The judge that is a function of one's own."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from evaluator.errors import ConfigError
from evaluator.judges.function import FunctionJudge, FunctionSettings, load_function
from evaluator.records import Item, StopReason, UnscoredReason
from tests.judges import graders
from tests.judges.fakes import RUBRIC, FakeGate


def judge_of(name: str, **changes: Any) -> FunctionJudge:
    values: dict[str, Any] = {"target": f"python:tests.judges.graders:{name}", "rubric": RUBRIC, **changes}
    return FunctionJudge(FunctionSettings(**values))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("by_length", 4.3),
        ("with_words", 4.0),
        ("deferred", 4.0),
        ("in_prose", 3.0),
        ("a_fraction", 3.5),
        ("nothing", UnscoredReason.MISSING),
        ("yes", UnscoredReason.WRONG_TYPE),
        ("off_scale", UnscoredReason.OUT_OF_RANGE),
        ("not_a_number", UnscoredReason.NOT_FINITE),
        ("broken", UnscoredReason.PROVIDER_ERROR),
        ("unprintable", UnscoredReason.PROVIDER_ERROR),
    ],
)
async def test_what_a_function_returns(name: str, expected: object, item: Item) -> None:
    """Numbers, dicts and texts are read as strictly as a model's reply; an exception is a reason."""
    outcome = await judge_of(name).grade(item, item_id="i1", gate=FakeGate())
    assert outcome.verdict is not None
    found = outcome.verdict.score if outcome.verdict.score is not None else outcome.verdict.unscored_reason
    assert found == (pytest.approx(expected) if isinstance(expected, float) else expected)
    assert len(outcome.attempts) == 1


async def test_words_are_kept(item: Item) -> None:
    """Explanation, strengths and the raw return value."""
    outcome = await judge_of("with_words").grade(item, item_id="i1", gate=FakeGate())
    assert outcome.verdict is not None
    assert outcome.verdict.explanation == f"about {item.input}"
    assert outcome.verdict.strengths == ("short",)
    assert "4/5" in outcome.raw_reply


async def test_the_exception_is_named_and_storable(item: Item) -> None:
    """People must find the line that broke."""
    outcome = await judge_of("broken").grade(item, item_id="i1", gate=FakeGate())
    assert outcome.attempts[0].message == "RuntimeError: no such \ufffd model"


async def test_plain_functions_run_in_a_thread(item: Item) -> None:
    """A slow one must not hold the loop."""
    graders.threads.clear()
    await judge_of("by_length").grade(item, item_id="i1", gate=FakeGate())
    assert graders.threads
    assert graders.threads[0] != threading.current_thread().name


async def test_a_function_that_hangs_times_out(item: Item) -> None:
    """With a reason, and the money settled."""
    gate = FakeGate()
    outcome = await judge_of("hanging", timeout_s=0.02).grade(item, item_id="i1", gate=gate)
    assert outcome.verdict is not None
    assert outcome.verdict.unscored_reason is UnscoredReason.TIMEOUT
    assert gate.settled == [0.0]


async def test_cancelling_passes_through(item: Item) -> None:
    """An interrupted run ends."""
    task = asyncio.ensure_future(judge_of("hanging").grade(item, item_id="i1", gate=FakeGate()))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_budget_and_empty_answers(item: Item) -> None:
    """No permission, no call; no answer, no call."""
    judge = judge_of("by_length")
    pending = await judge.grade(item, item_id="i1", gate=FakeGate(n_calls=0))
    assert (pending.verdict, pending.stop) == (None, StopReason.BUDGET)
    empty = await judge.grade(Item(input="q", output=" "), item_id="i1", gate=FakeGate())
    assert empty.verdict is not None
    assert empty.verdict.unscored_reason is UnscoredReason.NO_ANSWER_TEXT
    assert empty.attempts == ()


def test_version_is_part_of_the_ruler() -> None:
    """A function that grades in another way is another ruler."""
    first, second = judge_of("by_length"), judge_of("by_length", version="2")
    assert first.ruler.model_asked == "python:tests.judges.graders:by_length"
    assert first.ruler.ruler_id != second.ruler.ruler_id
    assert first.plan_cost([]) == 0.0


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("python:tests.judges.graders", "package.module:function"),
        (":f", "package.module:function"),
        ("python:tests.judges.no_such_module:f", "cannot be imported"),
        ("python:tests.judges.graders:no_such_function", "cannot be imported"),
        ("tests.judges.graders:NOT_A_FUNCTION", "cannot be called"),
    ],
)
def test_a_place_that_holds_no_function_is_refused(place: str, said: str) -> None:
    """At once, with the name and the fix."""
    with pytest.raises(ConfigError, match=said):
        load_function(place)
