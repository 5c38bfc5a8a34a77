"""Case A01 and its like: status 200 without a usable answer, over real HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluator.judges.base import Judge
from evaluator.records import Item, StopReason, UnscoredReason
from tests.judges.conftest import MakeJudge, Serve
from tests.judges.fakes import FakeGate, FakeSleep, assert_best, case
from tests.judges.server import Answer, completion, json_answer

RESPONSES = case("A01")["input"]["responses"]


def answer_of(response: dict[str, Any]) -> Answer:
    body = response["body"]
    raw = body if isinstance(body, str) else json.dumps(body)
    return Answer(
        status=response["status"], body=raw.encode("utf-8"), headers={"content-type": response["content_type"]}
    )


@pytest.mark.parametrize("response", [pytest.param(r, id=r["n"]) for r in RESPONSES])
async def test_a01_odd_answers(response: dict[str, Any], serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """Each odd answer gets its own reason, never a score of 0 or 1, and no exception."""
    server = await serve(answer_of(response))
    outcome = await make_judge(server).grade(item, item_id="i1", gate=FakeGate())
    assert_best(outcome.verdict, response)
    assert len(server.requests) == len(outcome.attempts)
    allowed = {"none": 1, "at most one": 2, "none; the run stops with a hint to check the base URL": 1}
    assert len(server.requests) <= allowed.get(response.get("retry", ""), 4)


async def test_a01_a_web_page_stops_the_run_with_a_hint(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """The usual cause is an address without its version path."""
    page = next(r for r in RESPONSES if r["n"] == "html-page")
    server = await serve(answer_of(page))
    outcome = await make_judge(server).grade(item, item_id="i1", gate=FakeGate())
    assert outcome.stop is StopReason.NOT_AN_API
    assert "base_url" in outcome.stop_message
    assert "/v1" in outcome.stop_message
    assert "2 services up" in outcome.stop_message


async def test_a01_the_other_items_are_still_judged(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """One odd answer is one item's affair."""
    filtered = completion("", finish_reason="content_filter")
    server = await serve(filtered, completion())
    judge = make_judge(server)
    outcomes = [await judge.grade(item, item_id=f"i{n}", gate=FakeGate()) for n in range(2)]
    assert [o.verdict and o.verdict.score for o in outcomes] == [None, 4]


@pytest.mark.parametrize(
    ("answer", "reason", "n_calls"),
    [
        (json_answer([]), UnscoredReason.NOT_AN_API_REPLY, 4),
        (json_answer({"message": "hello"}), UnscoredReason.NOT_AN_API_REPLY, 4),
        (json_answer({"choices": None}), UnscoredReason.EMPTY_CHOICES, 4),
        (json_answer({"choices": ["x"]}), UnscoredReason.NOT_AN_API_REPLY, 4),
        (json_answer({"choices": [{"error": {"code": 502, "message": "up"}}]}), UnscoredReason.SERVER_ERROR, 4),
        (Answer(body=b'{"choices": [{"mess'), UnscoredReason.NOT_AN_API_REPLY, 4),
        (Answer(body=b"\xff\xfe{}"), UnscoredReason.NOT_AN_API_REPLY, 4),
        (Answer(body=b"[" * 100_000), UnscoredReason.NOT_AN_API_REPLY, 4),
        (Answer(body=completion().body, promised_bytes=9999), UnscoredReason.CONNECTION, 4),
        (completion(None), UnscoredReason.EMPTY, 2),
        (completion("hm"), UnscoredReason.UNPARSED, 2),
        (completion(None, finish_reason="tool_calls"), UnscoredReason.EMPTY, 2),
        (completion({"score": 4}), UnscoredReason.EMPTY, 2),
        (completion('{"score": 9}'), UnscoredReason.OUT_OF_RANGE, 1),
        (completion('{"score": 4', finish_reason="length"), UnscoredReason.TRUNCATED, 2),
        (json_answer({"error": {"code": 429, "message": "busy"}}), UnscoredReason.RATE_LIMITED, 4),
    ],
)
async def test_odd_answers_are_called_for_as_often_as_helps(
    answer: Answer, reason: UnscoredReason, n_calls: int, serve: Serve, make_judge: MakeJudge, item: Item
) -> None:
    """Odd bodies as often as allowed, unreadable replies once more, lasting ones not at all."""
    server = await serve(answer)
    outcome = await make_judge(server).grade(item, item_id="i1", gate=FakeGate())
    assert outcome.verdict is not None
    assert outcome.verdict.unscored_reason is reason
    assert outcome.stop is None
    assert len(server.requests) == n_calls
    assert {attempt.reason for attempt in outcome.attempts} == {reason.value}


async def test_json_under_another_content_type_is_read(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """Some gateways label everything as text."""
    server = await serve(Answer(body=completion().body, headers={"content-type": "text/plain; charset=utf-8"}))
    outcome = await make_judge(server).grade(item, item_id="i1", gate=FakeGate())
    assert outcome.verdict is not None
    assert outcome.verdict.score == 4


async def test_parts_keep_thinking_and_refusal_apart(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """A list of parts may hold text, thinking and a refusal."""
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": 'maybe {"score": 1}'}]},
        {"type": "text", "text": '{"score": 3}'},
        "stray",
    ]
    server = await serve(completion(parts), completion([{"type": "refusal", "refusal": "no"}]))
    judge = make_judge(server)
    graded = await judge.grade(item, item_id="i1", gate=FakeGate())
    assert graded.verdict is not None
    assert (graded.verdict.score, graded.verdict.thinking) == (3, 'maybe {"score": 1}')
    refused = await judge.grade(item, item_id="i2", gate=FakeGate())
    assert refused.verdict is not None
    assert refused.verdict.unscored_reason is UnscoredReason.REFUSAL


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_p04_thinking_in_its_own_field(field: str, serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """It is kept, and never read as the verdict."""
    message: dict[str, Any] = {field: 'I lean to {"score": 5} but must check'}
    server = await serve(completion("", finish_reason="length", **message))
    outcome = await make_judge(server).grade(item, item_id="i1", gate=FakeGate())
    assert outcome.verdict is not None
    assert outcome.verdict.unscored_reason is UnscoredReason.TRUNCATED
    assert outcome.verdict.thinking == message[field]


async def test_p05_a_cut_reply_is_asked_for_once_more_with_double_room(
    serve: Serve, make_judge: MakeJudge, item: Item
) -> None:
    """At most one retry, with a larger output budget; the instrument stays the same."""
    server = await serve(completion('{"score": 4, "reason', finish_reason="length"), completion())
    outcome = await make_judge(server).grade(item, item_id="i1", gate=FakeGate())
    assert outcome.verdict is not None
    assert outcome.verdict.score == 4
    assert [request.body["max_tokens"] for request in server.requests] == [700, 1400]
    assert [attempt.reason for attempt in outcome.attempts] == ["truncated", None]
    assert outcome.instrument is not None
    assert outcome.instrument.parameters["max_tokens"] == 700


async def test_p05_double_room_that_is_refused_leaves_the_cut(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """The item was cut off; that the server has no more room is no fault of the request."""
    cut = completion('{"score": 4, "reason', finish_reason="length")
    too_large = json_answer({"error": {"message": "max_tokens is too large", "param": "max_tokens"}}, status=400)
    server = await serve(cut, too_large)
    outcome = await make_judge(server).grade(item, item_id="i1", gate=FakeGate())
    assert outcome.verdict is not None
    assert outcome.verdict.unscored_reason is UnscoredReason.TRUNCATED
    assert outcome.finish_reason == "length"
    assert outcome.raw_reply == '{"score": 4, "reason'


async def test_p01_the_raw_reply_is_kept(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """Scored or not, what the judge wrote can be read later."""
    raw = 'Happy to help!\n{"score": 9}\nTip: fill in {customer}.'
    server = await serve(completion(raw))
    outcome = await make_judge(server).grade(item, item_id="i1", gate=FakeGate())
    assert outcome.raw_reply == raw
    assert outcome.verdict is not None
    assert outcome.verdict.unscored_reason is UnscoredReason.OUT_OF_RANGE


@pytest.mark.parametrize("output", ["", " \n\t"])
async def test_an_item_without_an_answer_is_not_sent(
    output: str, serve: Serve, make_judge: MakeJudge, sleep: FakeSleep
) -> None:
    """Nothing to grade, nothing to pay."""
    server = await serve(completion())
    gate = FakeGate()
    outcome = await make_judge(server).grade(Item(input="q", output=output), item_id="i1", gate=gate)
    assert outcome.verdict is not None
    assert outcome.verdict.unscored_reason is UnscoredReason.NO_ANSWER_TEXT
    assert (outcome.attempts, server.requests, gate.reserved) == ((), [], [])


async def test_a_cut_prompt_is_recorded(serve: Serve, make_judge: MakeJudge) -> None:
    """A judge that did not see the whole answer must be told apart."""
    server = await serve(completion())
    judge: Judge = make_judge(server, max_prompt_chars=1000, too_long="cut")
    outcome = await judge.grade(Item(input="q", output="x" * 5000), item_id="i1", gate=FakeGate())
    assert outcome.prompt_cut
    assert len(server.requests[0].body["messages"][1]["content"]) < 3000
