"""Runs against a real judge over HTTP: outages, keys, identities (cases A02, A04, J01), and what a server sees."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from evaluator.config import TrafficConfig
from evaluator.judges.openai_compatible import OpenAICompatibleJudge
from evaluator.judges.practice.control import PracticeJudge
from evaluator.judges.settings import JudgeSettings, Price
from evaluator.records import Anchor, Item, StopReason
from evaluator.scoring.budget import Limits
from evaluator.scoring.closing import RunReport
from evaluator.scoring.runner import run_once
from tests.builders import rubric
from tests.judges.fakes import case
from tests.judges.server import Answer, FakeServer, Request, completion
from tests.scoring.helpers import SLOT, SetClock, Shop, assert_adds_up

Connect = Callable[..., OpenAICompatibleJudge]


async def no_pause(_seconds: float) -> None:
    """Retries without waiting."""


@pytest_asyncio.fixture
async def connect() -> AsyncIterator[Connect]:
    """Judges against an address, closed at the end."""
    judges: list[OpenAICompatibleJudge] = []

    def to(base_url: str, **changes: Any) -> OpenAICompatibleJudge:
        values: dict[str, Any] = {
            "model": "judge-latest",
            "base_url": base_url,
            "api_key": "key",
            "rubric": rubric(),
            "fence_secret": "salt",
            "timeout_s": 5.0,
            **changes,
        }
        judges.append(OpenAICompatibleJudge(JudgeSettings(**values), sleep=no_pause))
        return judges[-1]

    yield to
    for judge in judges:
        await judge.close()


@pytest.fixture(scope="module")
def practice() -> Iterator[PracticeJudge]:
    """The practice judge in a process of its own."""
    with PracticeJudge() as judge:
        yield judge


async def run(shop: Shop, judge: OpenAICompatibleJudge, *, days: int = 0, **changes: Any) -> RunReport:
    """Grade one slot over HTTP."""
    settings = shop.settings(days=days, **changes)
    return await run_once(settings, judge, clock=SetClock(settings.slot))


def error(status: int, **body: Any) -> Answer:
    """An answer that is an error."""
    return Answer(status=status, body=json.dumps({"error": body}).encode())


def reply(score: float, **changes: Any) -> Answer:
    """A verdict."""
    return completion(json.dumps({"reasoning": "r", "strengths": [], "weaknesses": [], "score": score}), **changes)


def prompt_of(request: Request) -> str:
    """The text that a request sends."""
    return json.dumps(request.body["messages"])


# ---------------------------------------------------------------- the practice judge


async def test_run_over_http_grades_each_text_once(shop: Shop, connect: Connect, practice: PracticeJudge) -> None:
    """What the server counts is what the run reports; a second start of the slot makes no call."""
    shop.add_answers(30)
    before = practice.state()["calls"]
    judge = connect(practice.base_url, model=practice.model)
    report = await run(shop, judge)
    assert (report.status, report.n_scored, report.n_calls) == ("finished", 34, 34)
    assert practice.state()["calls"] - before == 34
    again = await run(shop, judge)
    assert again.already_finished
    assert practice.state()["calls"] - before == 34


async def test_stopped_over_http_and_started_again_calls_once_for_each(
    shop: Shop, connect: Connect, practice: PracticeJudge
) -> None:
    """Ctrl-C in the middle of a run of sixty answers."""
    shop.add_answers(60)
    before = practice.state()["calls"]
    stop = asyncio.Event()
    judge = connect(practice.base_url, model=practice.model)
    first = await run_once(
        shop.settings(), judge, clock=SetClock(), stop=stop, on_progress=lambda p: p.n_done == 30 and stop.set()
    )
    second = await run(shop, judge)
    assert first.stop_reason is StopReason.INTERRUPTED
    assert (second.status, second.n_scored) == ("finished", 64)
    assert practice.state()["calls"] - before == 64


async def test_wrong_key_makes_one_call_of_two_hundred(shop: Shop, connect: Connect) -> None:
    """Case A02: the run stops with a message, and the answers wait."""
    shop.add_answers(200)
    with PracticeJudge(api_key="right") as practice:
        judges = {key: connect(practice.base_url, api_key=key, model=practice.model) for key in ("wrong", "right")}
        report = await run(shop, judges["wrong"], concurrency=32)
        assert practice.state()["calls"] == 1
        assert (report.status, report.stop_reason, report.n_left) == ("stopped", StopReason.AUTH, 204)
        assert "refuses the judge's key" in report.message
        assert "wrong" not in report.message
        fixed = await run(shop, judges["right"], concurrency=32)
        assert (fixed.status, fixed.n_scored) == ("finished", 204)


async def test_key_revoked_in_the_middle_costs_no_more_than_the_calls_in_flight(shop: Shop, connect: Connect) -> None:
    """Those that come back 401 are the last."""
    shop.add_answers(200)
    n_calls = 0

    def script(_request: Request) -> Answer:
        nonlocal n_calls
        n_calls += 1
        return reply(4) if n_calls <= 50 else error(401, message="no", code="invalid_api_key")

    async with FakeServer(script) as server:
        report = await run(shop, connect(server.base_url), concurrency=8)
    assert (report.stop_reason, report.n_scored) == (StopReason.AUTH, 50)
    assert n_calls <= 58


async def test_judge_that_is_not_there_ends_the_run(shop: Shop, connect: Connect, free_port: int) -> None:
    """After a bounded number of calls, with the address to look at; nothing is scored, nothing is lost."""
    shop.add_answers(200)
    report = await run(shop, connect(f"http://127.0.0.1:{free_port}/v1", max_attempts=2), concurrency=4)
    assert (report.status, report.stop_reason, report.n_scored) == ("failed", StopReason.UNREACHABLE, 0)
    assert "did not answer 10 items in a row" in report.message
    assert report.n_calls <= (10 + 4) * 2
    assert_adds_up(report, shop.runs()[0])


async def test_web_page_instead_of_a_judge_ends_the_run(shop: Shop, connect: Connect) -> None:
    """A base URL without its version path: one call, and the hint."""
    shop.add_answers(50)
    page = Answer(body=b"<!doctype html><title>Gateway</title>", headers={"content-type": "text/html"})
    async with FakeServer(lambda _: page) as server:
        report = await run(shop, connect(server.base_url), concurrency=16)
        assert len(server.requests) == 1
    assert report.stop_reason is StopReason.NOT_AN_API
    assert "it often ends in /v1" in report.message
    assert report.n_scored == 0


async def test_half_of_all_calls_fail_and_all_items_are_graded(
    shop: Shop, connect: Connect, practice: PracticeJudge
) -> None:
    """Retries within the run make good what a struggling server refuses."""
    shop.add_answers(40)
    practice.set(fail_rate=0.5)
    try:
        report = await run(shop, connect(practice.base_url, model=practice.model, max_attempts=6), concurrency=4)
    finally:
        practice.set(fail_rate=0.0)
    assert (report.status, report.n_unscored + report.n_scored) == ("finished", 44)
    assert report.n_scored > 30
    assert report.n_calls > report.n_scored * 1.5


async def test_budget_in_dollars_holds_over_http(shop: Shop, connect: Connect, practice: PracticeJudge) -> None:
    """The most a call can cost is set aside, what it did cost is paid."""
    shop.add_answers(60)
    price = Price(input_usd_per_mtok=10.0, output_usd_per_mtok=30.0)
    judge = connect(practice.base_url, model=practice.model, price=price)
    report = await run(shop, judge, limits=Limits(usd_per_day=0.2), concurrency=16)
    assert report.stop_reason is StopReason.BUDGET
    assert 0.1 < report.spent_usd <= 0.2
    assert shop.query("SELECT sum(cost_usd) AS usd FROM attempts") == [{"usd": pytest.approx(report.spent_usd)}]


async def test_refused_parameters_are_asked_for_again_by_the_next_run(shop: Shop, connect: Connect) -> None:
    """A server that learned to take a seed gets it: fall-backs last for a run."""
    seeds: list[Any] = []

    def script(request: Request) -> Answer:
        seeds.append(request.body.get("seed"))
        if request.body.get("seed") is not None and len(seeds) < 5:
            return error(400, message="Unsupported parameter: 'seed'", param="seed", code="unsupported_parameter")
        return reply(4)

    async with FakeServer(script) as server:
        judge = connect(server.base_url)
        await run(shop, judge, concurrency=1)
        assert seeds == [7, None, None, None, None]
        await run(shop, judge, days=1, concurrency=1)
    assert seeds[5:] == [7, 7, 7, 7]


# ---------------------------------------------------------------- case A04


def anchors_of_a04() -> list[Anchor]:
    """The ten anchors of case A04; their texts carry their names."""
    scores = case("A04")["input"]["baseline_by_anchor"]
    return [
        Anchor(
            anchor_id=name, item=Item(input=f"question of {name}.", output=f"answer of {name}."), expected_score=None
        )
        for name in scores
    ]


def server_of_a04(replies: dict[str, Any]) -> Callable[[Request], Answer]:
    """A server that gives each anchor its reply: a score, or one of the failures of the case."""

    def script(request: Request) -> Answer:
        text = prompt_of(request)
        (value,) = (value for name, value in replies.items() if f"answer of {name}." in text)
        if isinstance(value, int | float):
            return reply(value)
        return {
            "timeout": error(504, message="late"),
            "500": error(500, message="broken"),
            "unparsed": completion("hm"),
        }[value]

    return script


async def test_a04_failures_are_no_scores_and_are_tried_again(shop: Shop, connect: Connect) -> None:
    """Case A04: a mean of six, coverage 0.6, a change on the same anchors of exactly 0; the rest is tried again."""
    known, expected = case("A04")["input"], case("A04")["expected"]
    shop.anchors = anchors_of_a04()
    async with FakeServer(server_of_a04(known["baseline_by_anchor"])) as server:
        await run(shop, connect(server.base_url), kind="anchors")
    async with FakeServer(server_of_a04(known["today"])) as server:
        report = await run(shop, connect(server.base_url, max_attempts=2), days=1, kind="anchors")
    assert (report.status, report.n_scored) == ("finished", expected["n_scored"])
    assert report.n_scored + report.n_unscored == expected["n_expected"]
    scores = by_day_and_anchor(shop)
    today = {name: score for name, score in scores["2026-03-01"].items() if score is not None}
    assert sum(today.values()) / len(today) == pytest.approx(expected["mean_today"], abs=1e-6)
    base = scores["2026-02-28"]
    drift = sum(score - (base[name] or 0) for name, score in today.items()) / len(today)
    assert drift == expected["drift_on_same_anchors"]
    (totals,) = shop.query("SELECT n, n_unscored, sum_wy / sum_w AS mean FROM daily_scores WHERE day = '2026-03-01'")
    assert (totals["n"], totals["n_unscored"]) == (6, 4)
    assert totals["mean"] == pytest.approx(expected["mean_today"], abs=1e-6)
    assert all(abs(totals["mean"] - wrong) > 0.1 for wrong in expected["never_mean"])

    async with FakeServer(server_of_a04(known["baseline_by_anchor"])) as server:
        await run(shop, connect(server.base_url), days=2, kind="anchors")
        assert len(server.requests) == 10
    assert by_day_and_anchor(shop)["2026-03-02"] == known["baseline_by_anchor"]


async def test_a04_day_on_which_everything_failed_has_no_mean(shop: Shop, connect: Connect) -> None:
    """Case A04: the run failed; its anchors enter nothing, and starting it again tries them all."""
    shop.anchors = anchors_of_a04()
    names = case("A04")["input"]["baseline_by_anchor"]
    async with FakeServer(server_of_a04(dict.fromkeys(names, "500"))) as server:
        failed = await run(shop, connect(server.base_url, max_attempts=1), kind="anchors", concurrency=1)
    assert (failed.status, failed.n_scored, failed.reasons) == ("failed", 0, {"server_error": 10})
    assert shop.query("SELECT n, n_unscored, sum_w FROM daily_scores") == [{"n": 0, "n_unscored": 10, "sum_w": 0.0}]
    async with FakeServer(server_of_a04(names)) as server:
        again = await run(shop, connect(server.base_url), kind="anchors")
    assert (again.status, again.n_scored) == ("finished", 10)
    assert by_day_and_anchor(shop)["2026-02-28"] == names


def by_day_and_anchor(shop: Shop) -> dict[str, dict[str, float | None]]:
    """Score by slot day and anchor name."""
    rows = shop.query(
        "SELECT substr(slot_utc, 1, 10) AS day, anchor_id, score FROM verdicts JOIN anchors USING (item_id)"
    )
    found: dict[str, dict[str, float | None]] = {}
    for row in rows:
        found.setdefault(row["day"], {})[row["anchor_id"]] = row["score"]
    return found


# ---------------------------------------------------------------- case J01


async def test_j01_other_model_is_an_event_and_other_prompt_another_setup(shop: Shop, connect: Connect) -> None:
    """Case J01: four days; the third is answered by another model, the fourth is asked with another prompt."""
    days = case("J01")["input"]["anchor_scores"]
    expected = case("J01")["expected"]
    shop.anchors = [
        Anchor(anchor_id=f"j{n}", item=Item(input="q", output=f"answer of j{n}."), expected_score=None)
        for n in range(5)
    ]
    first_slot = SLOT.replace(month=2, day=1)
    for place, day in enumerate(days):
        replies = {f"j{n}": score for n, score in enumerate(day["scores"])}
        server = FakeServer(_answered_by(replies, day["judge"]["model_answered"]))
        async with server:
            judge = connect(server.base_url, prompt_template=_template(day["judge"]["prompt_sha"]))
            settings = replace(shop.settings(), slot=first_slot.replace(day=1 + place), traffic=TrafficConfig())
            await run_once(settings, judge, clock=SetClock(settings.slot))
    means = {
        (row["day"], row["ruler_id"]): row["mean"]
        for row in shop.query("SELECT day, ruler_id, sum_wy / sum_w AS mean FROM daily_scores WHERE source = 'anchor'")
    }
    assert {day: mean for (day, _), mean in means.items()} == expected["anchor_means"]
    assert len({ruler_id for (day, ruler_id) in means if day < "2026-02-04"}) == 1
    assert len({ruler_id for (_, ruler_id) in means}) == 2
    events = shop.events()
    assert [(kind, day) for kind, day, _ in events] == [("instrument", "2026-02-03"), ("setup", "2026-02-04")]
    assert events[0][2] == "what answers changed: returned model judge-2025-11 → judge-2026-02"
    assert events[1][2] == "judge setup v2: prompt changed"


def _template(name: str) -> str:
    return f"Prompt {name}. {{{{levels}}}} Answer: {{{{output}}}}"


def _answered_by(replies: dict[str, float], model: str) -> Callable[[Request], Answer]:
    def script(request: Request) -> Answer:
        text = prompt_of(request)
        (score,) = (score for name, score in replies.items() if f"answer of {name}." in text)
        return reply(score, model=model)

    return script
