"""Case A02: what is tried again, how long is waited, and what ends a run. Calls are counted at the server."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime
from typing import Any

import pytest

from evaluator.records import Item, StopReason, UnscoredReason
from tests.judges.conftest import NOW, MakeJudge, Serve
from tests.judges.fakes import FakeGate, FakeSleep, case
from tests.judges.server import DRIPPING, RESET, SILENT, Answer, Step, completion, failure

CASES = {c["n"]: c for c in case("A02")["input"]["cases"]}


def failure_of(name: str) -> Answer:
    reply = CASES[name]["reply"]
    error = reply.get("body", {}).get("error", {})
    return failure(reply["status"], headers=reply.get("headers"), **error)


@pytest.mark.parametrize("name", ["429-retry-after", "429-retry-after-date"])
async def test_a02_the_servers_wait_is_kept(
    name: str, serve: Serve, make_judge: MakeJudge, sleep: FakeSleep, item: Item
) -> None:
    """In seconds or as a date; the gate holds back everybody else for as long."""
    wanted = CASES[name]["best"]["wait_at_least_s"]
    now = datetime.fromisoformat(CASES[name]["reply"].get("now", NOW.isoformat()))
    server = await serve(failure_of(name), completion())
    gate = FakeGate()
    outcome = await make_judge(server, now=now).grade(item, item_id="i1", gate=gate)
    assert outcome.verdict is not None
    assert outcome.verdict.score == 4
    assert len(server.requests) == 2
    assert gate.pauses == [wanted]
    assert len(sleep.seconds) == 1
    assert wanted <= sleep.seconds[0] <= wanted + 1


async def test_a02_without_a_header_waits_grow_with_jitter_up_to_a_cap(
    serve: Serve, make_judge: MakeJudge, sleep: FakeSleep, item: Item
) -> None:
    """Full jitter under a ceiling that doubles."""
    server = await serve(failure_of("429-no-header"))
    judge = make_judge(server, jitter=0.999, max_attempts=8)
    outcome = await judge.grade(item, item_id="i1", gate=FakeGate())
    assert outcome.verdict is not None
    assert outcome.verdict.unscored_reason is UnscoredReason.RATE_LIMITED
    assert sleep.seconds == pytest.approx([0.999 * s for s in (1, 2, 4, 8, 16, 30, 30)])
    sleep.seconds.clear()
    await make_judge(server, jitter=0.0).grade(item, item_id="i1", gate=FakeGate())
    assert sleep.seconds == [0.0, 0.0, 0.0]


async def test_a02_an_hours_wait_is_not_waited(
    serve: Serve, make_judge: MakeJudge, sleep: FakeSleep, item: Item
) -> None:
    """The item stays pending, the run ends, nobody sleeps, and the gate is not held shut for an hour."""
    server = await serve(failure_of("429-retry-after-3600"))
    gate = FakeGate()
    outcome = await make_judge(server).grade(item, item_id="i1", gate=gate)
    assert (outcome.verdict, outcome.stop) == (None, StopReason.RATE_LIMITED)
    assert "3600 s" in outcome.stop_message
    assert (sleep.seconds, gate.pauses, len(server.requests)) == ([], [], 1)


@pytest.mark.parametrize(
    ("name", "stop"),
    [
        ("429-quota", StopReason.QUOTA),
        ("401", StopReason.AUTH),
        ("404-model", StopReason.MODEL_NOT_FOUND),
    ],
)
async def test_a02_what_never_heals_stops_at_once(
    name: str, stop: StopReason, serve: Serve, make_judge: MakeJudge, sleep: FakeSleep, item: Item
) -> None:
    """One call, one clear message, the item pending."""
    server = await serve(failure_of(name))
    outcome = await make_judge(server).grade(item, item_id="i1", gate=FakeGate())
    assert (outcome.verdict, outcome.stop) == (None, stop)
    assert len(server.requests) == CASES[name]["best"]["attempts"] == len(outcome.attempts)
    assert outcome.attempts[0].reason == stop.value
    assert sleep.seconds == []
    if stop is StopReason.MODEL_NOT_FOUND:
        assert "'judge-x'" in outcome.stop_message


async def test_a02_a_wrong_key_costs_one_call_for_200_items(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """The first call goes ahead; who waits behind it learns that no call can succeed."""
    server = await serve(failure_of("401"))
    judge = make_judge(server)
    outcomes = await asyncio.gather(*(judge.grade(item, item_id=f"i{n}", gate=FakeGate()) for n in range(200)))
    assert len(server.requests) == 1
    assert {outcome.stop for outcome in outcomes} == {StopReason.AUTH}
    assert {outcome.verdict for outcome in outcomes} == {None}
    assert sum(len(outcome.attempts) for outcome in outcomes) == 1


async def test_a02_an_overlong_prompt_is_one_items_affair(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """Unscored with its own reason; the run goes on."""
    server = await serve(failure_of("400-context"), completion())
    judge = make_judge(server)
    outcome = await judge.grade(item, item_id="i1", gate=FakeGate())
    assert outcome.verdict is not None
    assert (outcome.verdict.unscored_reason, outcome.stop) == (UnscoredReason.TOO_LONG, None)
    following = await judge.grade(item, item_id="i2", gate=FakeGate())
    assert following.verdict is not None
    assert following.verdict.score == 4
    assert len(server.requests) == 2


async def test_a02_500_then_ok(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """One fault, one retry, one score, both calls on record."""
    server = await serve(failure(500), completion())
    outcome = await make_judge(server).grade(item, item_id="i1", gate=FakeGate())
    assert outcome.verdict is not None
    assert outcome.verdict.score == 4
    assert [attempt.http_status for attempt in outcome.attempts] == [500, 200]
    assert [attempt.reason for attempt in outcome.attempts] == ["server_error", None]
    assert len(server.requests) == 2


async def test_a02_reset_before_any_byte(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """A lost connection is tried again."""
    server = await serve(RESET, completion())
    outcome = await make_judge(server).grade(item, item_id="i1", gate=FakeGate())
    assert outcome.verdict is not None
    assert outcome.verdict.score == 4
    assert [attempt.reason for attempt in outcome.attempts] == ["connection", None]


@pytest.mark.parametrize("step", [SILENT, DRIPPING])
async def test_a02_a_silent_server_costs_a_stated_time(
    step: Step, serve: Serve, make_judge: MakeJudge, sleep: FakeSleep, item: Item
) -> None:
    """Also one that sends a byte now and then: the time-out holds for the whole call."""
    server = await serve(step)
    judge = make_judge(server, timeout_s=0.08, max_attempts=3)
    started = time.perf_counter()
    outcome = await judge.grade(item, item_id="i1", gate=FakeGate())
    waited = time.perf_counter() - started + sum(sleep.seconds)
    assert outcome.verdict is not None
    assert outcome.verdict.unscored_reason is UnscoredReason.TIMEOUT
    assert len(server.requests) == 3
    assert waited <= judge.settings.max_seconds_per_item


def test_a02_the_bound_per_item_is_arithmetic(make_judge: MakeJudge) -> None:
    """Every call at its time-out, every pause at its longest."""
    judge = make_judge("http://127.0.0.1:1/v1", timeout_s=30.0, max_attempts=3, max_wait_s=60.0)
    assert judge.settings.max_seconds_per_item == 2 + (3 + 6) * 30 + 2 * 61


async def test_a02_the_client_library_retries_nothing(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """Calls at the server are our attempts and no more, where nested retries would make 12."""
    server = await serve(failure(503))
    outcome = await make_judge(server).grade(item, item_id="i1", gate=FakeGate())
    assert len(server.requests) == len(outcome.attempts) == 4


async def test_nobody_listening_is_a_connection_fault(make_judge: MakeJudge, item: Item) -> None:
    """Refused connections are retried, named, and cost nothing."""
    gate = FakeGate()
    outcome = await make_judge("http://127.0.0.1:9/v1").grade(item, item_id="i1", gate=gate)
    assert outcome.verdict is not None
    assert outcome.verdict.unscored_reason is UnscoredReason.CONNECTION
    assert len(outcome.attempts) == 4
    assert outcome.attempts[0].message


async def test_a_server_in_maintenance_may_ask_for_a_wait_too(
    serve: Serve, make_judge: MakeJudge, sleep: FakeSleep, item: Item
) -> None:
    """503 with a wait is kept like 429; too long a one ends the run."""
    server = await serve(failure(503, headers={"Retry-After": "5"}), completion())
    gate = FakeGate()
    await make_judge(server).grade(item, item_id="i1", gate=gate)
    assert gate.pauses == [5.0]
    away = await serve(failure(503, headers={"Retry-After": "7200"}))
    outcome = await make_judge(away).grade(item, item_id="i1", gate=gate)
    assert outcome.stop is StopReason.UNREACHABLE


async def test_different_faults_share_one_allowance(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """Faults and unreadable replies together never exceed the calls allowed for an item."""
    server = await serve(failure(500), completion("hm"), failure(500), completion("hm"), completion())
    outcome = await make_judge(server).grade(item, item_id="i1", gate=FakeGate())
    assert outcome.verdict is not None
    assert outcome.verdict.unscored_reason is UnscoredReason.UNPARSED
    assert len(server.requests) == 4


async def test_cancelling_passes_through_and_settles(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """An interrupted call may be paid for: all that was set aside stays spent, and the judge can go on."""
    server = await serve(SILENT, completion())
    judge = make_judge(server, price=PRICE)
    gate = FakeGate()
    task = asyncio.ensure_future(judge.grade(item, item_id="i1", gate=gate))
    while not server.requests:
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert gate.settled == gate.reserved
    outcome = await judge.grade(item, item_id="i1", gate=gate)
    assert outcome.verdict is not None
    assert outcome.verdict.score == 4


def _price() -> Any:
    from evaluator.judges.settings import Price

    return Price(input_usd_per_mtok=2.0, output_usd_per_mtok=8.0)


PRICE = _price()


async def test_money_is_set_aside_before_and_settled_after(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """The true cost by the tokens the server counted, never more than was set aside."""
    server = await serve(completion(usage=(300, 40)))
    gate = FakeGate()
    outcome = await make_judge(server, price=PRICE).grade(item, item_id="i1", gate=gate)
    assert gate.settled == pytest.approx([(300 * 2 + 40 * 8) / 1e6])
    assert gate.reserved[0] >= gate.settled[0]
    assert outcome.attempts[0].cost_usd == gate.settled[0]
    assert (outcome.attempts[0].prompt_tokens, outcome.attempts[0].completion_tokens) == (300, 40)


@pytest.mark.parametrize(("step", "is_free"), [(SILENT, False), (RESET, False), (failure(500), True)])
async def test_unknown_costs_count_as_spent(
    step: Step, is_free: bool, serve: Serve, make_judge: MakeJudge, item: Item
) -> None:
    """A call that was lost on the way may be paid for; a refused one is not."""
    server = await serve(step, completion(usage=None))
    gate = FakeGate()
    outcome = await make_judge(server, price=PRICE, timeout_s=0.3).grade(item, item_id="i1", gate=gate)
    assert gate.settled == [0.0 if is_free else gate.reserved[0], gate.reserved[1]]
    assert [attempt.cost_usd for attempt in outcome.attempts] == gate.settled


async def test_double_room_is_set_aside_in_full(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """The second call may write twice as much."""
    server = await serve(completion('{"score', finish_reason="length"), completion())
    gate = FakeGate()
    await make_judge(server, price=PRICE).grade(item, item_id="i1", gate=gate)
    assert gate.reserved[1] - gate.reserved[0] == pytest.approx(700 * 8 / 1e6)


async def test_a_used_up_budget_leaves_the_item_pending(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """Also in the middle of an item, whose calls so far stay on record."""
    server = await serve(failure(500))
    judge = make_judge(server)
    none = await judge.grade(item, item_id="i1", gate=FakeGate(n_calls=0))
    assert (none.verdict, none.stop, none.attempts) == (None, StopReason.BUDGET, ())
    assert "budget" in none.stop_message
    one = await judge.grade(item, item_id="i1", gate=FakeGate(n_calls=1))
    assert (one.verdict, one.stop, len(one.attempts)) == (None, StopReason.BUDGET, 1)
    assert len(server.requests) == 1


def test_planned_cost_covers_what_is_sent(make_judge: MakeJudge, item: Item) -> None:
    """The most that one call for each could cost; items without an answer cost nothing; no price, no number."""
    judge = make_judge("http://127.0.0.1:1/v1", price=PRICE)
    one = judge.plan_cost([item])
    assert one is not None
    assert one > 700 * 8 / 1e6
    assert judge.plan_cost([item, item, Item(input="q", output="")]) == pytest.approx(2 * one)
    assert make_judge("http://127.0.0.1:1/v1").plan_cost([item]) is None


async def test_no_record_holds_the_key(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """Servers repeat what they refuse."""
    server = await serve(failure(401, message="Incorrect API key: key-of-the-test or sk-abc***xyz, Bearer abc.def"))
    outcome = await make_judge(server).grade(item, item_id="i1", gate=FakeGate())
    for text in (outcome.stop_message, outcome.attempts[0].message):
        assert "***" in text
        for secret in ("key-of-the-test", "sk-abc", "abc.def"):
            assert secret not in text
    assert server.requests[0].headers["authorization"] == "Bearer key-of-the-test"
