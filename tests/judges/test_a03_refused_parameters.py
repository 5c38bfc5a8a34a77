"""Case A03: a server refuses a part of the request. It is learned once, recorded, and tried again later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from evaluator.records import Item, UnscoredReason
from tests.judges.conftest import MakeJudge, Serve
from tests.judges.fakes import FakeGate, case
from tests.judges.server import Answer, Request, Step, completion, failure, json_answer

REFUSALS = {r["n"]: r for r in case("A03")["input"]["refusals"]}


def refusal(name: str) -> Answer:
    return failure(REFUSALS[name]["status"], **REFUSALS[name]["error"])


def picky(*names: str) -> Callable[[Request], Step]:
    """A server that refuses, in this order, what the named refusals of the case refuse."""
    return picky_by(names)


def picky_by(names: Sequence[str]) -> Callable[[Request], Step]:
    """The same by a list that may change while the server runs."""

    def script(request: Request) -> Step:
        kind = request.body.get("response_format", {}).get("type")
        offends = {
            "temperature": "temperature" in request.body,
            "max-tokens": "max_tokens" in request.body,
            "json-schema": kind == "json_schema",
            "json-object": kind == "json_object",
            "seed": "seed" in request.body,
        }
        for name in names:
            if offends[name]:
                return refusal(name) if name in REFUSALS else failure(400, message="Unknown parameter", param="seed")
        return completion()

    return script


async def test_a03_temperature_is_left_out(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """And everything else is kept."""
    server = await serve(script=picky("temperature"))
    outcome = await make_judge(server).grade(item, item_id="i1", gate=FakeGate())
    assert outcome.verdict is not None
    assert outcome.verdict.score == 4
    first, second = (request.body for request in server.requests)
    assert first["temperature"] == 0
    assert "temperature" not in second
    assert {k: v for k, v in first.items() if k != "temperature"} == second


async def test_a03_max_tokens_takes_its_new_name(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """With the same number, and the double of it for a reply that is cut off."""
    script = picky("max-tokens")
    cut = completion('{"score', finish_reason="length")
    server = await serve(script=lambda r: cut if r.body.get("max_completion_tokens") == 700 else script(r))
    outcome = await make_judge(server).grade(item, item_id="i1", gate=FakeGate())
    assert outcome.verdict is not None
    assert outcome.verdict.score == 4
    assert [r.body.get("max_completion_tokens") for r in server.requests] == [None, 700, 1400]
    assert "max_tokens" not in server.requests[1].body


@pytest.mark.parametrize(
    ("names", "modes"),
    [
        (("json-schema",), ["json_schema", "json_object"]),
        (("json-schema", "json-object"), ["json_schema", "json_object", None]),
    ],
)
async def test_a03_schema_falls_to_json_and_to_text(
    names: tuple[str, ...], modes: list[str | None], serve: Serve, make_judge: MakeJudge, item: Item
) -> None:
    """The reply format stands in the prompt, so plain text works as well."""
    server = await serve(script=picky(*names))
    outcome = await make_judge(server).grade(item, item_id="i1", gate=FakeGate())
    assert outcome.verdict is not None
    assert outcome.verdict.score == 4
    assert [r.body.get("response_format", {}).get("type") for r in server.requests] == modes
    assert "JSON object" in server.requests[-1].body["messages"][1]["content"]


async def test_a03_all_in_turn_cost_at_most_five_calls(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """And are not counted as failed attempts."""
    server = await serve(script=picky("temperature", "max-tokens", "json-schema", "json-object"))
    outcome = await make_judge(server, max_attempts=1).grade(item, item_id="i1", gate=FakeGate())
    assert outcome.verdict is not None
    assert outcome.verdict.score == 4
    assert len(server.requests) == 5
    assert [a.reason for a in outcome.attempts] == ["refused_parameter"] * 4 + [None]


async def test_a03_an_unrelated_400_is_not_sent_again(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """The item is unscored, the request stays as it was."""
    server = await serve(refusal("unrelated-400"), completion())
    judge = make_judge(server)
    outcome = await judge.grade(item, item_id="i1", gate=FakeGate())
    assert outcome.verdict is not None
    assert outcome.verdict.unscored_reason is UnscoredReason.INVALID_REQUEST
    assert outcome.stop is None
    assert len(server.requests) == 1
    await judge.grade(item, item_id="i1", gate=FakeGate())
    assert server.requests[0].body == server.requests[1].body


async def test_a03_what_was_learned_holds_for_all_items(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """Also for items in flight at the same time: the first call goes ahead and pays for all."""
    server = await serve(script=picky("temperature", "seed", "max-tokens", "json-schema", "json-object"))
    judge = make_judge(server)
    outcomes = await asyncio.gather(*(judge.grade(item, item_id=f"i{n}", gate=FakeGate()) for n in range(50)))
    assert {o.verdict and o.verdict.score for o in outcomes} == {4}
    assert len(server.requests) == 50 + 5


async def test_a03_a_change_in_the_middle_of_a_run_is_survived(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """Calls in flight may each meet the refusal once; all of them end with a score."""
    strict: list[str] = []
    server = await serve(script=picky_by(strict))
    judge = make_judge(server)
    await judge.grade(item, item_id="i0", gate=FakeGate())
    strict += ["temperature", "json-schema"]
    outcomes = await asyncio.gather(*(judge.grade(item, item_id=f"i{n}", gate=FakeGate()) for n in range(20)))
    assert {o.verdict and o.verdict.score for o in outcomes} == {4}
    assert len(server.requests) <= 1 + 20 * 3
    calls_before = len(server.requests)
    await judge.grade(item, item_id="i1", gate=FakeGate())
    assert len(server.requests) == calls_before + 1


async def test_a03_a_late_refusal_takes_nothing_learned_back(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """A call that comes back late knows less than the judge by then."""
    strict: list[str] = []
    late_calls: list[Request] = []

    def script(request: Request) -> Step:
        answer = picky_by(strict)(request)
        if "a late answer" in request.body["messages"][1]["content"]:
            late_calls.append(request)
            if len(late_calls) == 1 and isinstance(answer, Answer):
                return replace(answer, delay_s=0.2)
        return answer

    server = await serve(script=script)
    judge = make_judge(server)
    await judge.grade(item, item_id="i0", gate=FakeGate())
    strict += ["temperature", "json-schema"]
    late_item = Item(input="q", output="a late answer")
    quick, late = await asyncio.gather(
        judge.grade(item, item_id="quick", gate=FakeGate()), judge.grade(late_item, item_id="late", gate=FakeGate())
    )
    assert len(quick.attempts) == 3
    assert [attempt.reason for attempt in late.attempts] == ["refused_parameter", None]


async def test_a03_the_instrument_shows_what_was_sent(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """Another instrument, the same ruler: a mark on the chart and no new line."""
    easy, hard = await serve(completion()), await serve(script=picky("temperature", "max-tokens", "json-schema"))
    plain, adjusted = make_judge(easy), make_judge(hard)
    before = (await plain.grade(item, item_id="i1", gate=FakeGate())).instrument
    after = (await adjusted.grade(item, item_id="i1", gate=FakeGate())).instrument
    assert before is not None
    assert after is not None
    assert (before.output_mode, dict(before.parameters)) == (
        "schema",
        {"temperature": 0.0, "seed": 7, "max_tokens": 700},
    )
    assert (after.output_mode, dict(after.parameters)) == ("json", {"seed": 7, "max_completion_tokens": 700})
    assert before.instrument_id != after.instrument_id
    assert plain.ruler.ruler_id == adjusted.ruler.ruler_id


async def test_a03_fall_backs_are_tried_again_in_the_next_run(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """A server may take today what it refused yesterday."""
    refused = ["temperature"]
    server = await serve(script=picky_by(refused))
    judge = make_judge(server)
    await judge.grade(item, item_id="i1", gate=FakeGate())
    refused.clear()
    await judge.grade(item, item_id="i1", gate=FakeGate())
    assert "temperature" not in server.requests[-1].body
    judge.forget_adjustments()
    outcome = await judge.grade(item, item_id="i1", gate=FakeGate())
    assert server.requests[-1].body["temperature"] == 0
    assert outcome.instrument is not None
    assert outcome.instrument.parameters["temperature"] == 0


async def test_a03_a_new_run_has_a_first_call_of_its_own(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """What is asked for again is refused once again, and not once for each call in flight."""
    server = await serve(script=picky("temperature"))
    judge = make_judge(server)
    for n_calls in (11, 22):
        judge.forget_adjustments()
        await asyncio.gather(*(judge.grade(item, item_id=f"i{n}", gate=FakeGate()) for n in range(10)))
        assert len(server.requests) == n_calls


async def test_a_server_that_refuses_everything_ends(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """However it words it, an item costs a bounded number of calls."""
    names = iter(["temperature", "seed", "max_tokens", "response_format", "response_format"] * 9)

    def script(_request: Request) -> Step:
        return json_answer({"error": {"message": "unsupported", "param": next(names)}}, status=400)

    server = await serve(script=script)
    outcome = await make_judge(server).grade(item, item_id="i1", gate=FakeGate())
    assert outcome.verdict is not None
    assert outcome.verdict.unscored_reason is UnscoredReason.INVALID_REQUEST
    assert len(server.requests) == 6


async def test_a_named_output_mode_is_kept(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """Refused is refused; the user asked for exactly this."""
    server = await serve(script=picky("json-schema"))
    outcome = await make_judge(server, output_mode="schema").grade(item, item_id="i1", gate=FakeGate())
    assert outcome.verdict is not None
    assert outcome.verdict.unscored_reason is UnscoredReason.INVALID_REQUEST
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "changes", [{}, {"default_headers": {"x-team": "support"}, "default_query": {"api-version": "1"}}]
)
async def test_headers_and_query_are_sent(
    changes: dict[str, Any], serve: Serve, make_judge: MakeJudge, item: Item
) -> None:
    """Gateways and some hosts need them."""
    server = await serve(completion())
    await make_judge(server, **changes).grade(item, item_id="i1", gate=FakeGate())
    request = server.requests[0]
    assert request.path == "/v1/chat/completions" + ("?api-version=1" if changes else "")
    assert request.headers.get("x-team") == ("support" if changes else None)


async def test_a_key_can_be_fetched_for_each_call(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """For keys that expire."""
    keys = iter(["first", "second"])

    async def key() -> str:
        return next(keys)

    server = await serve(completion())
    judge = make_judge(server, api_key=key)
    for n in range(2):
        await judge.grade(item, item_id=f"i{n}", gate=FakeGate())
    assert [request.headers["authorization"] for request in server.requests] == ["Bearer first", "Bearer second"]
