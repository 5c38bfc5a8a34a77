"""The gate in front of every call: never more than the day allows, never stuck, and what was not spent comes back."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from evaluator.judges.base import BudgetReachedError
from evaluator.scoring.budget import PORTIONS_PER_DAY, BudgetGate, Limits
from evaluator.store import locks
from evaluator.store.db import Store, open_store
from tests.scoring.helpers import APP, ONE_DAY, SetClock
from tests.store.helpers import rows

MakeGate = Callable[..., BudgetGate]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A database for budgets."""
    with open_store(tmp_path / "judgewatch.db") as opened:
        yield opened


@pytest.fixture
def clock() -> SetClock:
    """A clock that the test sets."""
    return SetClock()


@pytest.fixture
def make_gate(store: Store, clock: SetClock) -> Iterator[MakeGate]:
    """Gates of one app, each with its own connection; two of them stand for two processes."""
    with contextlib.ExitStack() as stores:

        def make(
            *, longest_call_s: float = 60, monotonic: Callable[[], float] = time.monotonic, **limits: Any
        ) -> BudgetGate:
            return BudgetGate(
                stores.enter_context(open_store(store.path)),
                app=APP,
                limits=Limits(**limits),
                clock=clock,
                monotonic=monotonic,
                longest_call_s=longest_call_s,
            )

        yield make


def taken(store: Store) -> dict[str, tuple[float, int]]:
    """What is out of each day's budget."""
    return {row["day"]: (row["taken_usd"], row["taken_calls"]) for row in rows(store, "SELECT * FROM budget_days")}


async def call(gate: BudgetGate, most: float, cost: float, *, takes_s: float = 0.0) -> bool:
    """Make one call, if it may be made."""
    try:
        reservation = await gate.reserve(most)
    except BudgetReachedError:
        return False
    await asyncio.sleep(takes_s)
    reservation.settle(cost)
    return True


async def all_at_once(calls: list[Awaitable[bool]]) -> int:
    """How many of some calls could be made."""
    return sum(await asyncio.wait_for(asyncio.gather(*calls), 30))


# ---------------------------------------------------------------- never exceeded


async def test_calls_of_a_day_are_never_exceeded_with_64_in_flight(make_gate: MakeGate, store: Store) -> None:
    """And all of them can be made."""
    async with make_gate(calls_per_day=100) as gate:
        assert await all_at_once([call(gate, 0.0, 0.0, takes_s=0.001) for _ in range(164)]) == 100
    assert taken(store) == {"2026-02-28": (0.0, 100)}


@pytest.mark.parametrize("seed", range(4))
async def test_dollars_of_a_day_are_never_exceeded_with_64_in_flight(
    make_gate: MakeGate, store: Store, seed: int
) -> None:
    """Calls that cost anything up to what was set aside; nearly all of the money can be spent."""
    dice, spent, out = random.Random(seed), 0.0, 0.0
    async with make_gate(usd_per_day=1.0, calls_per_day=10_000) as gate:

        async def one_call() -> None:
            nonlocal spent, out
            most = dice.uniform(0.001, 0.02)
            reservation = await gate.reserve(most)
            out += most
            assert spent + out <= 1.0 + 1e-9
            await asyncio.sleep(dice.uniform(0, 0.002))
            cost = most * dice.random()
            out, spent = out - most, spent + cost
            reservation.settle(cost)

        async def work() -> None:
            try:
                while True:
                    await one_call()
            except BudgetReachedError:
                return

        await asyncio.wait_for(asyncio.gather(*(work() for _ in range(64))), 30)
        assert spent <= 1.0
        assert spent > 0.97
        assert gate.spent_usd == pytest.approx(spent)
    assert taken(store)["2026-02-28"][0] == pytest.approx(spent)


async def test_two_scorers_share_one_day(make_gate: MakeGate, store: Store) -> None:
    """What one has taken the other cannot."""
    async with make_gate(calls_per_day=50) as first, make_gate(calls_per_day=50) as second:
        made = await asyncio.gather(
            *(all_at_once([call(gate, 0, 0, takes_s=0.001) for _ in range(40)]) for gate in (first, second))
        )
    assert sum(made) == 50
    assert taken(store) == {"2026-02-28": (0.0, 50)}


async def test_call_that_cost_more_than_was_set_aside_is_made_good(make_gate: MakeGate, store: Store) -> None:
    """The next calls have so much less, and what is out at the end is what was spent."""
    async with make_gate(usd_per_day=1.0) as gate:
        assert await call(gate, 0.1, 0.5)
        assert await call(gate, 0.1, 0.3)
        assert await call(gate, 0.1, 0.1)
        assert await call(gate, 0.1, 0.1)
        assert not await call(gate, 0.1, 0.1)
    assert taken(store)["2026-02-28"][0] == pytest.approx(1.0)


async def test_call_larger_than_the_day_is_never_made(make_gate: MakeGate) -> None:
    """However empty the day is; smaller ones still are."""
    async with make_gate(usd_per_day=1.0) as gate:
        assert not await call(gate, 1.01, 0.0)
        assert await call(gate, 1.0, 0.0)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"usd_per_day": 0.5}, r"the day's budget of \$0.50 is used up"),
        ({"calls_per_day": 3}, "the day's budget of 3 calls is used up"),
        ({"usd_per_day": 0.5, "calls_per_day": 3}, r"the day's budget of \$0.50 and 3 calls is used up"),
    ],
)
async def test_used_up_budget_is_said_in_its_own_terms(make_gate: MakeGate, limits: dict[str, Any], said: str) -> None:
    """The message names the limits."""
    async with make_gate(**limits) as gate:
        for _ in range(3):
            await call(gate, 0.25, 0.25)
        with pytest.raises(BudgetReachedError, match=said):
            await gate.reserve(0.25)


async def test_no_limit_lets_everything_pass_and_takes_nothing(make_gate: MakeGate, store: Store) -> None:
    """And still counts calls and money."""
    async with make_gate() as gate:
        assert await all_at_once([call(gate, 9.0, 1.0) for _ in range(100)]) == 100
        assert (gate.n_calls, gate.spent_usd) == (100, 100.0)
    assert taken(store) == {}


# ---------------------------------------------------------------- portions


async def test_money_is_taken_in_small_portions(make_gate: MakeGate, store: Store) -> None:
    """A killed scorer loses a portion, not the day: 64 calls that ask at once take no more than they need."""
    gate = make_gate(usd_per_day=1.0, calls_per_day=1000)
    reservations = await asyncio.gather(*(gate.reserve(0.001) for _ in range(64)))
    usd, calls = taken(store)["2026-02-28"]
    assert 0.064 <= usd <= 0.064 + 1 / PORTIONS_PER_DAY
    assert 64 <= calls <= 64 + 1000 // PORTIONS_PER_DAY
    assert len(reservations) == 64


async def test_exhausted_calls_do_not_hoard_the_money(make_gate: MakeGate, store: Store) -> None:
    """Only what is missing is taken: a limit on calls that is reached leaves the dollars where they are."""
    gate = make_gate(usd_per_day=1.0, calls_per_day=2)
    for _ in range(5):
        await call(gate, 0.01, 0.01)
    usd, calls = taken(store)["2026-02-28"]
    assert usd <= 0.02 + 1 / PORTIONS_PER_DAY + 1e-9
    assert calls == 2


async def test_portion_that_was_not_spent_is_given_back(make_gate: MakeGate, store: Store) -> None:
    """At the end of a run only what was spent is out."""
    async with make_gate(usd_per_day=5.0, calls_per_day=500) as gate:
        await call(gate, 0.05, 0.01)
    assert taken(store) == {"2026-02-28": (pytest.approx(0.01), 1)}


async def test_killed_scorer_loses_its_portion_and_the_day_is_not_exceeded(make_gate: MakeGate, store: Store) -> None:
    """The next one has what is left, which is less than it could be and never more."""
    killed = make_gate(calls_per_day=100)
    await call(killed, 0, 0)
    del killed
    async with make_gate(calls_per_day=100) as gate:
        made = await all_at_once([call(gate, 0, 0) for _ in range(200)])
    assert made == 98
    assert taken(store) == {"2026-02-28": (0.0, 100)}


# ---------------------------------------------------------------- money in flight


async def test_call_waits_for_money_in_flight_and_goes_on(make_gate: MakeGate) -> None:
    """All is set aside; a call comes home cheaper, and the one that waited is made."""
    async with make_gate(usd_per_day=1.0) as gate:
        first = await gate.reserve(1.0)
        waiting = asyncio.create_task(call(gate, 0.5, 0.5))
        await asyncio.sleep(0.02)
        assert not waiting.done()
        first.settle(0.3)
        assert await asyncio.wait_for(waiting, 5)


async def test_call_waits_for_money_in_flight_and_stops(make_gate: MakeGate) -> None:
    """All is set aside and all is spent: who waited learns it."""
    async with make_gate(usd_per_day=1.0) as gate:
        first = await gate.reserve(1.0)
        waiting = [asyncio.create_task(call(gate, 0.5, 0.5)) for _ in range(5)]
        await asyncio.sleep(0.02)
        first.settle(1.0)
        assert await all_at_once(list(waiting)) == 0


async def test_money_that_comes_back_while_a_portion_is_asked_for_is_used(
    make_gate: MakeGate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last call in flight settles between the look into the purse and the answer of the database."""
    take = locks.take_budget
    async with make_gate(usd_per_day=1.0) as gate:
        first = await gate.reserve(1.0)
        loop = asyncio.get_running_loop()

        def slow_take(*args: Any, **values: Any) -> tuple[float, int]:
            loop.call_soon_threadsafe(first.settle, 0.0)
            time.sleep(0.05)
            return take(*args, **values)

        monkeypatch.setattr(locks, "take_budget", slow_take)
        assert await asyncio.wait_for(call(gate, 0.5, 0.5), 5)


async def test_reservation_that_is_never_settled_does_not_hang_the_others(make_gate: MakeGate) -> None:
    """After longer than any call takes, its money is taken for spent."""
    async with make_gate(usd_per_day=1.0, longest_call_s=0.05) as gate:
        lost = await gate.reserve(1.0)
        started = time.monotonic()
        assert await all_at_once([call(gate, 0.5, 0.5) for _ in range(10)]) == 0
        assert time.monotonic() - started < 5
        del lost


async def test_settling_twice_counts_once(make_gate: MakeGate, store: Store) -> None:
    """A judge may settle in more than one place to be sure."""
    async with make_gate(usd_per_day=1.0) as gate:
        reservation = await gate.reserve(0.5)
        reservation.settle(0.2)
        reservation.settle(0.0)
        assert gate.spent_usd == 0.2
    assert taken(store)["2026-02-28"][0] == pytest.approx(0.2)


# ---------------------------------------------------------------- days


async def test_new_day_brings_a_new_budget(make_gate: MakeGate, store: Store, clock: SetClock) -> None:
    """In the store's zone; what was left of yesterday stays yesterday's."""
    async with make_gate(calls_per_day=3) as gate:
        assert await all_at_once([call(gate, 0, 0) for _ in range(9)]) == 3
        clock.instant += ONE_DAY
        assert await all_at_once([call(gate, 0, 0) for _ in range(9)]) == 3
    assert taken(store) == {"2026-02-28": (0.0, 3), "2026-03-01": (0.0, 3)}


async def test_midnight_is_that_of_the_stores_zone(tmp_path: Path) -> None:
    """06:00 UTC is 15:00 in Tokyo: nine hours later another day has begun there."""
    clock = SetClock()
    with open_store(tmp_path / "tokyo.db", zone="Asia/Tokyo") as store:
        gate = BudgetGate(store, app=APP, limits=Limits(calls_per_day=1), clock=clock, monotonic=time.monotonic)
        assert await call(gate, 0, 0)
        clock.instant += timedelta(hours=8, minutes=59)
        assert not await call(gate, 0, 0)
        clock.instant += timedelta(minutes=2)
        assert await call(gate, 0, 0)
        assert set(taken(store)) == {"2026-02-28", "2026-03-01"}


async def test_money_set_aside_yesterday_does_not_come_back_today(
    make_gate: MakeGate, store: Store, clock: SetClock
) -> None:
    """Calls in flight at midnight that come home cheap must not make today's budget larger."""
    async with make_gate(usd_per_day=1.0) as gate:
        in_flight = await asyncio.gather(*(gate.reserve(0.25) for _ in range(4)))
        clock.instant += ONE_DAY
        assert await call(gate, 0.5, 0.5)
        for reservation in in_flight:
            reservation.settle(0.01)
        assert await call(gate, 0.5, 0.5)
        assert not await call(gate, 0.1, 0.1)
    assert taken(store)["2026-03-01"][0] == pytest.approx(1.0)


async def test_portion_granted_across_midnight_is_not_spent_on_the_new_day(
    make_gate: MakeGate, store: Store, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database answers for yesterday while the clock strikes and another call already asks for today."""
    take = locks.take_budget
    gate = make_gate(calls_per_day=1)
    asked_today: list[asyncio.Task[bool]] = []

    def strike(*args: Any, **values: Any) -> tuple[float, int]:
        granted = take(*args, **values)
        if clock.instant.day == 28:
            clock.instant += ONE_DAY
            time.sleep(0.1)
        return granted

    monkeypatch.setattr(locks, "take_budget", strike)
    asyncio.get_running_loop().call_later(0.05, lambda: asked_today.append(asyncio.create_task(call(gate, 0, 0))))
    made = await call(gate, 0, 0)
    made_today = await asyncio.wait_for(asked_today[0], 5)
    assert made + made_today == 1
    assert taken(store)["2026-03-01"] == (0.0, 1)


# ---------------------------------------------------------------- pauses and rates


class Stopwatch:
    """Seconds that pass only when somebody sleeps; notes who slept how long."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.naps: list[float] = []
        monkeypatch.setattr(asyncio, "sleep", self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.now += seconds

    def __call__(self) -> float:
        return self.now


async def test_pause_holds_back_every_call(make_gate: MakeGate, monkeypatch: pytest.MonkeyPatch) -> None:
    """The longest of several pauses counts; afterwards calls go out as before."""
    watch = Stopwatch(monkeypatch)
    async with make_gate(monotonic=watch) as gate:
        await gate.pause(7)
        await gate.pause(3)
        await gate.reserve(0)
        assert watch.naps == [7]
        await gate.reserve(0)
        assert watch.naps == [7]


async def test_pause_asked_for_while_waiting_for_the_rate_holds_as_well(
    make_gate: MakeGate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that already stood in line does not slip through."""
    watch = Stopwatch(monkeypatch)
    gate = make_gate(monotonic=watch, calls_per_minute=6000)

    class Line:
        async def acquire(self) -> None:
            await gate.pause(5)

    monkeypatch.setattr(gate, "_limiter", Line())
    await gate.reserve(0)
    assert watch.naps == [5]


@pytest.mark.parametrize(("calls_per_minute", "number", "at_least_s"), [(3000, 65, 0.25), (1200, 25, 0.2)])
async def test_calls_of_a_minute_do_not_go_out_in_its_first_second(
    make_gate: MakeGate, calls_per_minute: float, number: int, at_least_s: float
) -> None:
    """One second's worth at once, then at the rate."""
    async with make_gate(calls_per_minute=calls_per_minute) as gate:
        started = time.monotonic()
        assert await all_at_once([call(gate, 0, 0) for _ in range(number)]) == number
        assert at_least_s <= time.monotonic() - started < 10


async def test_slow_rate_lets_one_call_through_at_a_time(make_gate: MakeGate) -> None:
    """Six a minute is one every ten seconds, not six and then a long wait."""
    async with make_gate(calls_per_minute=6) as gate:
        await gate.reserve(0)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(gate.reserve(0), 0.1)
