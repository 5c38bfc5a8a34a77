"""The scorer's lease while a run goes on: one scorer an app, a dead one is followed, a lost one stops."""

from __future__ import annotations

import asyncio
import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from evaluator.errors import LeaseHeldError, StoreError
from evaluator.scoring import lease as lease_module
from evaluator.scoring.lease import LeaseKeeper
from evaluator.store import locks
from evaluator.store.db import open_store
from tests.scoring.helpers import APP, SLOT, ScriptedJudge, SetClock, Shop


def take_over(path: Path, clock: SetClock) -> None:
    """Take the lease as another scorer, a minute later."""
    with open_store(path) as store:
        locks.acquire_lease(store, app=APP, holder="other", what="x", now=clock.now() + timedelta(minutes=1))


@pytest.fixture(autouse=True)
def quick_heartbeat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Signs of life every few milliseconds."""
    monkeypatch.setattr(lease_module, "HEARTBEAT_S", 0.01)


async def test_second_scorer_at_once_is_refused_and_the_first_goes_on(shop: Shop) -> None:
    """Two processes started together: one grades everything, the other says who does; it may share the settings."""
    shop.add_answers(20)
    judge = ScriptedJudge(delay_s=0.01)
    settings_shared = [shop.run(judge, concurrency=2) for _ in range(2)]
    first, second = await asyncio.gather(*settings_shared, return_exceptions=True)
    assert isinstance(second, LeaseHeldError)
    assert "another scorer" in str(second)
    assert "run of 2026-02-28T06:00:00.000Z" in str(second)
    assert not isinstance(first, BaseException)
    assert (first.status, first.n_scored) == ("finished", 24)
    assert set(judge.calls.values()) == {1}


async def test_lease_is_given_back_at_the_end_of_every_run(shop: Shop) -> None:
    """Also of one that failed, so that the next need not wait."""
    with pytest.raises(ZeroDivisionError):
        await shop.run(ScriptedJudge(lambda _: ZeroDivisionError()))
    assert shop.query("SELECT * FROM leases") == []


async def test_lease_of_a_dead_scorer_is_taken_over_when_it_ends(shop: Shop) -> None:
    """Not before."""
    with open_store(shop.path) as store:
        locks.acquire_lease(store, app=APP, holder="dead", what="x", now=SLOT)
    with pytest.raises(LeaseHeldError):
        await shop.run(ScriptedJudge(), clock=SetClock(SLOT + timedelta(seconds=29)))
    assert (await shop.run(ScriptedJudge(), clock=SetClock(SLOT + locks.LEASE_TTL))).n_scored == 4


async def test_long_run_gives_signs_of_life(shop: Shop) -> None:
    """The clock goes on by hours, and the lease with it."""
    clock = SetClock()
    judge = ScriptedJudge(delay_s=0.03)
    await shop.run(judge, clock=clock, concurrency=1, on_progress=lambda _: _advance(clock))
    assert judge.calls.total() == 4


def _advance(clock: SetClock) -> None:
    clock.instant += timedelta(seconds=20)


async def test_scorer_that_lost_its_lease_stops_and_leaves_the_run_to_the_other(shop: Shop) -> None:
    """It keeps what it graded, says why it ends, and sets no status on a run that is now another's."""
    shop.add_answers(50)
    clock, stop = SetClock(), asyncio.Event()
    judge = ScriptedJudge(delay_s=0.02)
    task = asyncio.create_task(shop.run(judge, clock=clock, concurrency=2, stop=stop))
    while judge.calls.total() < 6:
        await asyncio.sleep(0.005)
    take_over(shop.path, clock)
    with pytest.raises(LeaseHeldError, match=r"silent too long and another one took over"):
        await asyncio.wait_for(task, 20)
    assert judge.calls.total() < 54
    assert not stop.is_set()
    assert shop.runs()[0]["status"] == "running"
    assert len(shop.query("SELECT 1 FROM verdicts")) >= 5
    assert [row["holder"] for row in shop.query("SELECT holder FROM leases")] == ["other"]


async def test_locked_database_is_no_lost_lease(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else can write either: the keeper tries again."""
    monkeypatch.setattr("evaluator.store.db.LOCK_RETRY_FOR_S", 0.0)
    monkeypatch.setattr("evaluator.store.sqlite.BUSY_TIMEOUT_S", 0.0)
    clock = SetClock()
    with open_store(shop.path) as store:
        held = locks.acquire_lease(store, app=APP, holder="me", what="x", now=clock.now())
    async with LeaseKeeper(shop.path, held, clock) as keeper:
        blocker = sqlite3.connect(shop.path, isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        await asyncio.sleep(0.1)
        keeper.check()
        clock.instant += timedelta(seconds=10)
        blocker.execute("ROLLBACK")
        blocker.close()
        await asyncio.sleep(0.1)
        keeper.check()
    assert shop.query("SELECT heartbeat_utc FROM leases") == [{"heartbeat_utc": "2026-02-28T06:00:10.000Z"}]


@pytest.mark.parametrize("what_happens", ["removed", "replaced"])
async def test_database_that_is_gone_ends_the_run(shop: Shop, what_happens: str) -> None:
    """Verdicts would go into a file that nobody can open; the message says what to do, and no empty one is made."""
    shop.add_answers(200)
    judge = ScriptedJudge(delay_s=0.02)
    task = asyncio.create_task(shop.run(judge, concurrency=2))
    while judge.calls.total() < 4:
        await asyncio.sleep(0.005)
    shop.path.unlink()
    if what_happens == "replaced":
        open_store(shop.path).close()
    with pytest.raises(StoreError, match=r"was removed or replaced while the scorer worked on it"):
        await asyncio.wait_for(task, 20)
    assert judge.calls.total() < 204
    assert shop.path.exists() == (what_happens == "replaced")


async def test_keeper_notices_within_a_heartbeat(shop: Shop) -> None:
    """And not before anything happened."""
    clock = SetClock()
    with open_store(shop.path) as store:
        held = locks.acquire_lease(store, app=APP, holder="me", what="x", now=clock.now())
    async with LeaseKeeper(shop.path, held, clock) as keeper:
        await asyncio.sleep(0.05)
        assert not keeper.lost.is_set()
        take_over(shop.path, clock)
        await asyncio.wait_for(keeper.lost.wait(), 5)
    with pytest.raises(LeaseHeldError):
        keeper.check()
