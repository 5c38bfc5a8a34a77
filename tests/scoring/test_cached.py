"""Replies out of a gateway's cache are told from fresh ones by what shows that they were made anew, by nothing else."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from evaluator.judges.openai_compatible import OpenAICompatibleJudge
from evaluator.judges.settings import JudgeSettings
from evaluator.records import Purpose, StopReason
from evaluator.scoring.budget import Limits
from evaluator.scoring.cached import Call, compare_calls, is_near_zero, same_words, tells_time
from evaluator.scoring.closing import RunReport
from evaluator.scoring.runner import run_once
from tests.builders import rubric
from tests.judges.caching_proxy import CachingProxy
from tests.judges.server import Answer, FakeServer, Request, json_answer
from tests.scoring.helpers import SetClock, Shop
from tests.store.helpers import anchor

DAY_S = 86_400.0
N = 10


def calls(day: int, **fields: Callable[[int], Any]) -> list[Call]:
    """Ten usable calls of a day, one every second; a field is a function of the anchor's number."""
    values: dict[str, Callable[[int], Any]] = {
        "completion_id": lambda i: f"chatcmpl-{uuid.uuid5(uuid.NAMESPACE_URL, f'{day}-{i}').hex}",
        "created": lambda i: int(1e9 + day * DAY_S + i),
        "reply": lambda i: f"score {i % 5 + 1}",
        "n_tokens": lambda _: 300,
        "duration_ms": lambda _: 900.0,
    }
    values |= fields
    return [
        Call(item_id=f"a{i}", started_s=1e9 + day * DAY_S + i, **{name: field(i) for name, field in values.items()})
        for i in range(N)
    ]


def replayed(earlier: list[Call], day: int, **changes: Any) -> list[Call]:
    """The replies of an earlier run, sent again on a later day."""
    return [replace(call, started_s=call.started_s + day * DAY_S, **changes) for call in earlier]


# ---------------------------------------------------------------- the rule


def test_fresh_replies_with_the_same_words_are_no_repeats() -> None:
    """At temperature 0 a judge that stands still writes the same bytes every day."""
    found = compare_calls(calls(1), [calls(0)])
    assert (found.n_repeated, found.n_compared, found.is_cached) == (0, N, False)


def test_replayed_replies_are_repeats_by_their_ids() -> None:
    """Same id, same second, for the same anchor, a day later; also of the run before the last."""
    first = calls(0)
    for earlier in ([first], [calls(1), first], [calls(2), calls(1), first]):
        found = compare_calls(replayed(first, 3), earlier)
        assert (found.n_repeated, found.is_cached, found.sign) == (N, True, "repeated completion ids")


def test_half_of_the_anchors_and_five_are_enough_and_less_is_not() -> None:
    """A cache that is half full makes a run useless; a few repeats do not."""
    first, fresh = calls(0), calls(1)
    old = replayed(first, 1)
    assert compare_calls(old[:5] + fresh[5:], [first]).is_cached
    assert not compare_calls(old[:4] + fresh[4:], [first]).is_cached
    assert not compare_calls(old[:4], [first]).is_cached


def test_new_anchors_do_not_hide_that_the_old_ones_are_cached() -> None:
    """Only anchors that were graded before can be compared."""
    first = calls(0)
    new = [replace(call, item_id=f"new-{call.item_id}") for call in calls(1)]
    found = compare_calls(replayed(first, 1) + new, [first])
    assert (found.n_repeated, found.n_compared, found.is_cached) == (N, N, True)


@pytest.mark.parametrize("created", [lambda _: 0, lambda _: None, lambda _: 1_767_225_600])
def test_short_ids_repeated_by_chance_are_no_repeats(created: Callable[[int], int | None]) -> None:
    """Numbers below a thousand and counters that begin anew with the server come again; the time says nothing."""
    ids = {"completion_id": lambda i: f"chatcmpl-{i + 1}", "created": created}
    assert compare_calls(calls(1, **ids), [calls(0, **ids)]).n_repeated == 0
    padded = {"completion_id": lambda i: f"cmpl-{i:024d}", "created": created}
    assert compare_calls(calls(1, **padded), [calls(0, **padded)]).n_repeated == 0


def test_short_ids_with_the_same_second_are_repeats() -> None:
    """A counter and a clock that both stand where they stood a day ago."""
    first = calls(0, completion_id=lambda i: f"chatcmpl-{i + 1}")
    assert compare_calls(replayed(first, 1), [first]).is_cached
    assert not compare_calls(calls(1, completion_id=lambda i: f"chatcmpl-{i + 1}"), [first]).n_repeated


@pytest.mark.parametrize("constant", ["chatcmpl-0", "", None, "0123456789abcdef0123456789abcdef"])
def test_one_id_for_all_calls_says_nothing(constant: str | None) -> None:
    """Some servers have only one; then the second in which the reply was made decides."""
    first = calls(0, completion_id=lambda _: constant)
    assert compare_calls(calls(1, completion_id=lambda _: constant), [first]).n_repeated == 0
    found = compare_calls(replayed(first, 1), [first])
    assert (found.is_cached, found.sign) == (True, "replies made in the very second of an earlier run")


def test_id_computed_from_the_request_is_no_repeat_when_the_reply_is_new() -> None:
    """The same id every day, made at another time each."""
    ids = {"completion_id": lambda i: f"{i:02d}{'ab12' * 6}"[::-1]}
    assert compare_calls(calls(1, **ids), [calls(0, **ids)]).n_repeated == 0


def test_same_second_of_calls_made_together_is_no_repeat() -> None:
    """Two runs right after one another, on a server without ids, may be answered in one second."""
    first = calls(0, completion_id=lambda _: None)
    again = [replace(call, started_s=call.started_s + 0.5) for call in first]
    assert compare_calls(again, [first]).n_repeated == 0


def test_reply_with_a_new_id_and_no_tokens_is_a_repeat() -> None:
    """A gateway that gives cached replies ids of their own does not charge for them."""
    first = calls(0)
    free = calls(1, n_tokens=lambda _: 0)
    assert compare_calls(free, [first]).sign == "the same words for no tokens"
    assert compare_calls(free, [calls(0, n_tokens=lambda _: 0)]).n_repeated == 0  # a server that never counts
    assert compare_calls([replace(call, reply="") for call in free], [first]).n_repeated == 0  # words were not kept


def test_same_words_in_next_to_no_time_are_repeats_when_nearly_all_calls_are_as_fast() -> None:
    """And neither fast calls alone, nor the same words alone."""
    unmarked = {"completion_id": lambda _: None, "created": lambda _: None}
    first = calls(0, **unmarked)

    def later(n_fast: int, **fields: Callable[[int], Any]) -> int:
        fast = {"duration_ms": lambda i: 3.0 if i < n_fast else 850.0}
        return compare_calls(calls(1, **unmarked, **fast, **fields), [first]).n_repeated

    assert later(N) == N
    assert later(8) == 8
    assert later(7) == 0
    assert later(N, reply=lambda i: f"other words {i}") == 0


def test_ids_shared_by_different_anchors_are_repeats_when_ids_are_otherwise_their_own() -> None:
    """A gateway that takes similar requests for the same one."""
    own = calls(0)
    shared = [replace(call, completion_id=own[0].completion_id) for call in own[:3]] + own[3:]
    assert compare_calls(shared, []).n_repeated == 3
    assert compare_calls(own, []).n_repeated == 0


def test_nothing_to_compare_is_no_verdict() -> None:
    """The first run of a setup, and a run without usable calls."""
    assert not compare_calls(calls(0), []).is_cached
    assert not compare_calls([], [calls(0)]).is_cached


@pytest.mark.parametrize(
    ("created", "expected"),
    [
        (lambda i: int(1e9 + i), True),
        (lambda i: int(1e9 + i + 500), True),
        (lambda i: int(1e9 + i + 4000), False),
        (lambda _: int(1e9), False),
        (lambda _: 0, False),
        (lambda _: None, False),
    ],
)
def test_server_tells_time_when_it_follows_the_clock(created: Callable[[int], int | None], expected: bool) -> None:
    """Ten minutes off at most, and moving on within a run of ten seconds."""
    assert tells_time(calls(0, created=created)) is expected


def test_time_that_stands_still_over_one_second_is_a_time() -> None:
    """A fast run may lie within one second."""
    assert tells_time([replace(call, started_s=1e9, created=int(1e9)) for call in calls(0)])


@pytest.mark.parametrize(
    ("duration_ms", "usual_ms", "expected"),
    [(3, 900, True), (19, 900, True), (21, 900, False), (19, 200, True), (3, 199, False), (0, 0, False)],
)
def test_near_zero_is_below_both_bounds(duration_ms: float, usual_ms: float, expected: bool) -> None:
    """Under 20 ms, and under a tenth of what calls take: a fast judge is no cache, nor is a machine that was busy."""
    assert is_near_zero(duration_ms, usual_ms) is expected


def test_words_that_were_not_kept_are_not_the_same() -> None:
    """Nothing equals nothing, and proves nothing."""
    call = calls(0)[0]
    assert same_words(call, call)
    assert not same_words(replace(call, reply=""), replace(call, reply=""))


# ---------------------------------------------------------------- runs over HTTP


Connect = Callable[..., OpenAICompatibleJudge]


@pytest_asyncio.fixture
async def connect() -> AsyncIterator[Connect]:
    """Judges against an address, closed at the end."""
    judges: list[OpenAICompatibleJudge] = []

    def to(base_url: str, **changes: Any) -> OpenAICompatibleJudge:
        values: dict[str, Any] = {"model": "judge", "base_url": base_url, "api_key": "key", "rubric": rubric()}
        judges.append(OpenAICompatibleJudge(JudgeSettings(**(values | {"fence_secret": "salt"} | changes))))
        return judges[-1]

    yield to
    for judge in judges:
        await judge.close()


class Upstream:
    """A judge whose ids and times are as a test wants them; it always finds the same score for the same text."""

    def __init__(self, ids: Callable[[int], str | None], created: Callable[[], int | None]) -> None:
        self.n_calls = 0
        self._ids, self._created = ids, created

    def __call__(self, request: Request) -> Answer:
        """Answer a request."""
        self.n_calls += 1
        score = 1 + len(json.dumps(request.body["messages"])) % 5
        body: dict[str, Any] = {
            "object": "chat.completion",
            "model": "judge-2026",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"content": json.dumps({"score": score})}}],
            "usage": {"prompt_tokens": 300, "completion_tokens": 9},
        }
        facts = {"id": self._ids(self.n_calls), "created": self._created()}
        return json_answer(body | {name: value for name, value in facts.items() if value is not None})


def now() -> int:
    """Seconds as most servers tell them."""
    return int(time.time())


KINDS: dict[str, Callable[[], Upstream]] = {
    "random ids": lambda: Upstream(lambda _: f"chatcmpl-{uuid.uuid4().hex}", now),
    "practice ids": lambda: Upstream(lambda n: f"chatcmpl-practice-1a2b3c4d-{n}", now),
    "counter that begins anew": lambda: Upstream(lambda n: f"chatcmpl-{(n - 1) % 12 + 1}", lambda: None),
    "time is always 0": lambda: Upstream(lambda _: f"chatcmpl-{uuid.uuid4().hex}", lambda: 0),
    "no ids": lambda: Upstream(lambda _: None, now),
    "one id, one time": lambda: Upstream(lambda _: "chatcmpl-0", lambda: 1_767_225_600),
}
SEEN_THROUGH_IDS = ("random ids", "practice ids", "time is always 0")


@pytest.fixture
def shop_of_twelve(shop: Shop) -> Shop:
    """An app with twelve anchors."""
    shop.anchors = [anchor(number) for number in range(12)]
    return shop


async def run(shop: Shop, judge: OpenAICompatibleJudge, *, days: int, **changes: Any) -> RunReport:
    """Grade one slot over HTTP."""
    settings = shop.settings(days=days, **changes)
    return await run_once(settings, judge, clock=SetClock(settings.slot))


@pytest.mark.parametrize("kind", KINDS)
async def test_server_that_answers_anew_is_never_taken_for_a_cache(
    shop_of_twelve: Shop, connect: Connect, kind: str
) -> None:
    """Whatever its ids and times are like."""
    async with FakeServer(KINDS[kind]()) as server:
        judge = connect(server.base_url)
        reports = [await run(shop_of_twelve, judge, days=days) for days in range(4)]
    assert [report.not_counted for report in reports] == [""] * 4
    assert [run["not_counted"] for run in shop_of_twelve.runs()] == [""] * 4


@pytest.mark.parametrize("kind", SEEN_THROUGH_IDS)
async def test_cache_before_the_judge_is_found_and_the_run_does_not_count(
    shop_of_twelve: Shop, connect: Connect, kind: str
) -> None:
    """The run says so, once for the log, and again for as long as the cache answers."""
    async with FakeServer(KINDS[kind]()) as server:
        with CachingProxy(server.base_url) as proxy:
            judge = connect(proxy.base_url)
            reports = [await run(shop_of_twelve, judge, days=days) for days in range(5)]
            assert proxy.n_passed == 12
            proxy.is_on = False
            fresh = await run(shop_of_twelve, judge, days=5)
    why = "a gateway answered 12 of 12 anchors from its cache (repeated completion ids)"
    assert [report.not_counted.partition(";")[0] for report in reports] == ["", why, why, why, why]
    assert "judgewatch doctor" in reports[1].not_counted
    assert [report.status for report in reports] == ["finished"] * 5
    assert [run["not_counted"] for run in shop_of_twelve.runs()] == ["", why, why, why, why, ""]
    assert fresh.not_counted == ""
    notes = [event for event in shop_of_twelve.events() if event[0] == "note"]
    assert notes == [("note", "2026-03-01", f"anchors do not count from this run on: {why}")]


async def test_daily_totals_hold_no_score_of_a_run_that_does_not_count(shop_of_twelve: Shop, connect: Connect) -> None:
    """Its anchors are missing, not dropped: they stand as unscored in the totals of the day."""
    async with FakeServer(KINDS["random ids"]()) as server:
        with CachingProxy(server.base_url) as proxy:
            judge = connect(proxy.base_url)
            for days in range(2):
                await run(shop_of_twelve, judge, days=days)
    totals = shop_of_twelve.query("SELECT day, n, n_unscored FROM daily_scores WHERE source = 'anchor' ORDER BY day")
    assert [(row["n"], row["n_unscored"]) for row in totals] == [(12, 0), (0, 12)]


async def test_run_cut_off_behind_a_cache_does_not_count_when_it_is_closed_later(
    shop_of_twelve: Shop, connect: Connect
) -> None:
    """The next slot closes it; what it graded is looked at all the same."""
    async with FakeServer(KINDS["random ids"]()) as server:
        with CachingProxy(server.base_url) as proxy:
            judge = connect(proxy.base_url)
            await run(shop_of_twelve, judge, days=0)
            cut = await run(shop_of_twelve, judge, days=1, limits=Limits(calls_per_day=8))
            assert (cut.status, cut.stop_reason) == ("stopped", StopReason.BUDGET)
            await run(shop_of_twelve, judge, days=2)
    newest, closed, first = shop_of_twelve.runs()
    assert (closed["status"], first["not_counted"]) == ("closed", "")
    assert closed["not_counted"].startswith("a gateway answered 8 of 8 anchors")
    assert newest["not_counted"].startswith("a gateway answered 12 of 12 anchors")


async def test_run_that_stands_aside_is_not_looked_at(shop_of_twelve: Shop, connect: Connect) -> None:
    """It grades each answer once and enters no mean."""
    ids = shop_of_twelve.add_answers(6)
    async with FakeServer(KINDS["random ids"]()) as server:
        with CachingProxy(server.base_url) as proxy:
            judge = connect(proxy.base_url)
            settings = {"purpose": Purpose.RECHECK, "item_ids": ids}
            reports = [await run(shop_of_twelve, judge, days=days, **settings) for days in range(2)]
    assert [report.not_counted for report in reports] == ["", ""]


async def test_time_of_a_reply_is_kept_with_its_call(shop_of_twelve: Shop, connect: Connect) -> None:
    """As the server says it; a fraction is cut off, and what is no time is none."""
    times: list[Any] = [1_767_225_600, 1_767_225_601.9, True, "soon", -1]

    def script(request: Request) -> Answer:
        answer = KINDS["random ids"]()(request)
        return json_answer(json.loads(answer.body) | {"created": times.pop(0) if times else None})

    async with FakeServer(script) as server:
        await run(shop_of_twelve, connect(server.base_url), days=0, concurrency=1)
    rows = shop_of_twelve.query("SELECT completion_created FROM attempts ORDER BY attempt_id LIMIT 6")
    assert [row["completion_created"] for row in rows] == [1_767_225_600, 1_767_225_601, None, None, None, None]
