"""A scorer that is killed with SIGKILL, a real process against a real server: each item ends with one verdict."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest

from evaluator.clock import SystemClock, parse_utc
from evaluator.judges.openai_compatible import OpenAICompatibleJudge
from evaluator.judges.practice.control import PracticeJudge
from evaluator.judges.settings import JudgeSettings
from evaluator.records import StopReason
from evaluator.scoring.budget import Limits
from evaluator.scoring.closing import RunReport
from evaluator.scoring.lease import HEARTBEAT_S
from evaluator.scoring.runner import run_once
from evaluator.scoring.writer import MOST_UNSTORED
from evaluator.store import locks
from tests.builders import rubric
from tests.scoring.helpers import Shop
from tests.store.helpers import REPOSITORY

IN_FLIGHT = 16
N_ANSWERS = 300
SCORER = """
    import asyncio, sys
    from pathlib import Path
    from tests.scoring.helpers import Shop
    from tests.scoring.test_runner_killed import grade

    base_url, model, calls_per_day = sys.argv[2], sys.argv[3], int(sys.argv[4])
    asyncio.run(grade(Shop(path=Path(sys.argv[1])), base_url, model, calls_per_day=calls_per_day))
"""


async def grade(shop: Shop, base_url: str, model: str, *, calls_per_day: int = 100_000) -> RunReport:
    """Grade the slot with the same judge, from whatever process."""
    judge = OpenAICompatibleJudge(
        JudgeSettings(model=model, base_url=base_url, api_key="key", rubric=rubric(), fence_secret="salt")
    )
    settings = shop.settings(concurrency=IN_FLIGHT, limits=Limits(calls_per_day=calls_per_day))
    try:
        return await run_once(settings, judge, clock=SystemClock())
    finally:
        await judge.close()


@pytest.fixture(scope="module")
def practice() -> Iterator[PracticeJudge]:
    """A judge that takes a moment for each call."""
    with PracticeJudge() as judge:
        judge.set(latency_ms=25)
        yield judge


def kill_scorer_after(shop: Shop, practice: PracticeJudge, n_calls: int, *, calls_per_day: int = 100_000) -> None:
    """Start a scorer in a process of its own and kill it as soon as the server has counted so many more calls."""
    until = practice.state()["calls"] + n_calls
    arguments = [str(shop.path), practice.base_url, practice.model, str(calls_per_day)]
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(SCORER), *arguments], cwd=REPOSITORY)
    give_up = time.monotonic() + 60
    while practice.state()["calls"] < until:
        assert process.poll() is None, "the scorer ended before it could be killed"
        assert time.monotonic() < give_up
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(10)


@pytest.mark.parametrize("n_calls", [1, 60, 220])
async def test_killed_scorer_leaves_each_item_one_verdict(shop: Shop, practice: PracticeJudge, n_calls: int) -> None:
    """Calls paid for twice are at most those in flight and what had not been stored yet, which is less than a batch."""
    shop.add_answers(N_ANSWERS)
    before = practice.state()
    kill_scorer_after(shop, practice, n_calls)
    report = await grade(shop, practice.base_url, practice.model)
    assert (report.status, report.n_scored, report.n_left) == ("finished", N_ANSWERS + 4, 0)
    verdicts = shop.query(
        "SELECT count(*) AS n, count(DISTINCT item_id) AS items FROM verdicts WHERE score IS NOT NULL"
    )
    assert verdicts == [{"n": N_ANSWERS + 4, "items": N_ANSWERS + 4}]
    after = practice.state()
    n_repeated = after["calls"] - before["calls"] - (N_ANSWERS + 4)
    assert 0 <= n_repeated <= IN_FLIGHT + MOST_UNSTORED
    counts = {text: n - before["calls_by_text"].get(text, 0) for text, n in after["calls_by_text"].items()}
    assert max(counts.values()) <= 2
    assert shop.query("PRAGMA integrity_check") == [{"integrity_check": "ok"}]


async def test_killed_scorer_is_followed_at_once_on_the_same_machine(shop: Shop, practice: PracticeJudge) -> None:
    """Its claim would hold for half a minute; but its process can be seen to be gone."""
    shop.add_answers(N_ANSWERS)
    kill_scorer_after(shop, practice, 40)
    (lease,) = shop.query("SELECT expires_utc FROM leases")
    assert parse_utc(lease["expires_utc"]) > SystemClock().now()
    report = await grade(shop, practice.base_url, practice.model)
    assert (report.status, report.n_traffic, report.n_left) == ("finished", N_ANSWERS, 0)


async def test_killed_scorer_and_the_next_stay_within_the_days_budget(shop: Shop, practice: PracticeJudge) -> None:
    """The portion in its hands is lost; what both call together is within the limit of the day."""
    shop.add_answers(N_ANSWERS)
    before = practice.state()["calls"]
    kill_scorer_after(shop, practice, 40, calls_per_day=100)
    report = await grade(shop, practice.base_url, practice.model, calls_per_day=100)
    taken = [row["taken_calls"] for row in shop.query("SELECT * FROM budget_days")]
    assert report.stop_reason is StopReason.BUDGET
    assert max(taken) <= 100
    assert 90 <= practice.state()["calls"] - before <= 100 * len(taken)


def test_lease_outlives_several_heartbeats() -> None:
    """A sign of life may be late more than once before anybody takes over."""
    assert timedelta(seconds=HEARTBEAT_S) * 4 < locks.LEASE_TTL
