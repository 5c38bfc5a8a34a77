"""The gate in front of every call: so many at once, so many a minute, so much a day. Never more, also after a crash.

The day's budget lives in the database. A scorer takes it out in portions before it spends them, and sets aside the
most a call can cost before it is made, so neither many calls in flight nor a killed process can exceed it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from aiolimiter import AsyncLimiter

from evaluator.clock import Clock, day_of
from evaluator.judges.base import BudgetReachedError, Reservation
from evaluator.store import locks
from evaluator.store.db import Store

PORTIONS_PER_DAY = 50
LONGEST_CALL_S = 3700.0  # longer than any time-out of a call: a reservation still out by then will not come back
_ROUNDING_USD = 1e-12


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a scorer may do; None means no limit of that kind."""

    usd_per_day: float | None = None
    calls_per_day: int | None = None
    calls_per_minute: float | None = None

    @property
    def per_day(self) -> bool:
        """Whether a day has a limit."""
        return self.usd_per_day is not None or self.calls_per_day is not None


class _Reserved:
    """Money set aside for one call, out of the budget of one day."""

    def __init__(self, gate: BudgetGate, usd: float, day: str) -> None:
        self._gate = gate
        self._usd = usd
        self._day = day
        self._settled = False

    def settle(self, cost_usd: float) -> None:
        """Give back what the call did not cost."""
        if not self._settled:
            self._settled = True
            self._gate.settled(self._usd, cost_usd, self._day)


class BudgetGate:
    """Permission to call, shared by all calls of one run. Use as an asynchronous context manager.

    The store is the gate's own: portions are taken in a worker thread while the run goes on.

    Args:
        store: A writable store.
        app: The app whose budget is spent.
        limits: What may be spent.
        clock: Decides what day it is.
        monotonic: Seconds that never jump, for pauses.
        longest_call_s: After this long without news from any call in flight, no money is expected back.
    """

    def __init__(
        self,
        store: Store,
        *,
        app: str,
        limits: Limits,
        clock: Clock,
        monotonic: Callable[[], float],
        longest_call_s: float = LONGEST_CALL_S,
    ) -> None:
        self._store = store
        self._app = app
        self._limits = limits
        self._clock = clock
        self._monotonic = monotonic
        self._longest_call_s = longest_call_s
        self._limiter = None if limits.calls_per_minute is None else _limiter(limits.calls_per_minute)
        self._paused_until = 0.0
        self._day = ""
        self._usd_left = 0.0
        self._calls_left = 0
        self._in_flight = 0
        self._taking = asyncio.Lock()
        self._change = asyncio.Event()
        self.n_calls = 0
        self.spent_usd = 0.0

    async def __aenter__(self) -> BudgetGate:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self._give_back)

    async def reserve(self, max_cost_usd: float) -> Reservation:
        """Wait for the rate limit and set the most this call can cost aside.

        Raises:
            BudgetReachedError: the day's budget does not cover this call.
        """
        await self._wait_for_turn()
        while not self._set_aside(max_cost_usd):
            if await self._take_portion(max_cost_usd):
                continue
            if self._in_flight == 0:
                raise BudgetReachedError(self.describe())
            await self._wait_for_money()
        return _Reserved(self, max_cost_usd, self._day)

    async def pause(self, seconds: float) -> None:
        """Hold back every call for a while, because the server asked for it."""
        self._paused_until = max(self._paused_until, self._monotonic() + seconds)

    def settled(self, reserved_usd: float, cost_usd: float, day: str) -> None:
        """Take note of a call's real cost; what it did not cost belongs to the day it was set aside from."""
        if day == self._day:
            self._usd_left += reserved_usd - cost_usd
        self.spent_usd += cost_usd
        self._in_flight -= 1
        self._change.set()

    def describe(self) -> str:
        """The limits in words."""
        parts = []
        if self._limits.usd_per_day is not None:
            parts.append(f"${self._limits.usd_per_day:.2f}")
        if self._limits.calls_per_day is not None:
            parts.append(f"{self._limits.calls_per_day} calls")
        return f"the day's budget of {' and '.join(parts)} is used up"

    async def _wait_for_turn(self) -> None:
        """Wait out pauses and the rate limit; a pause asked for while waiting for the limit holds as well."""
        await self._wait_out_pause()
        if self._limiter is not None:
            await self._limiter.acquire()
            await self._wait_out_pause()

    async def _wait_out_pause(self) -> None:
        while (wait := self._paused_until - self._monotonic()) > 0:
            await asyncio.sleep(wait)

    async def _wait_for_money(self) -> None:
        """Wait until a call in flight may have given something back.

        Raises:
            BudgetReachedError: none has for longer than any call takes.
        """
        self._change.clear()
        try:
            await asyncio.wait_for(self._change.wait(), self._longest_call_s)
        except TimeoutError as error:
            raise BudgetReachedError(self.describe()) from error

    def _set_aside(self, max_cost_usd: float) -> bool:
        self._start_day()
        usd_missing, calls_missing = self._missing(max_cost_usd)
        if usd_missing or calls_missing:
            return False
        self._usd_left -= max_cost_usd
        self._calls_left -= 1
        self._in_flight += 1
        self.n_calls += 1
        return True

    def _missing(self, max_cost_usd: float) -> tuple[bool, bool]:
        """Whether the portion in hand lacks (money, calls) for one more call."""
        usd = self._limits.usd_per_day is not None and self._usd_left < max_cost_usd - _ROUNDING_USD
        return usd, self._limits.calls_per_day is not None and self._calls_left < 1

    def _start_day(self) -> None:
        """A portion belongs to the day it was taken from; on another day another one is taken."""
        if self._limits.per_day:
            today = day_of(self._clock.now(), self._store.zone).isoformat()
            if today != self._day:
                self._day, self._usd_left, self._calls_left = today, 0.0, 0

    async def _take_portion(self, max_cost_usd: float) -> bool:
        """Take what is missing out of the day's budget; False when nothing was left to take and nothing came back."""
        async with self._taking:
            usd_missing, calls_missing = self._missing(max_cost_usd)
            if not (usd_missing or calls_missing):
                return True  # another call took a portion, or gave something back
            day = self._day
            usd, calls = await asyncio.to_thread(self._take, day, max_cost_usd, usd_missing, calls_missing)
            if day != self._day:
                return True
            self._usd_left += usd
            self._calls_left += calls
            return usd > _ROUNDING_USD or calls > 0 or self._missing(max_cost_usd) == (False, False)

    def _take(self, day: str, max_cost_usd: float, usd_missing: bool, calls_missing: bool) -> tuple[float, int]:
        usd_limit, calls_limit = self._limits.usd_per_day, self._limits.calls_per_day
        usd = max(max_cost_usd - self._usd_left, (usd_limit or 0.0) / PORTIONS_PER_DAY) if usd_missing else 0.0
        calls = max(1, (calls_limit or 0) // PORTIONS_PER_DAY) if calls_missing else 0
        return locks.take_budget(
            self._store,
            app=self._app,
            day=day,
            usd=usd,
            calls=calls,
            usd_per_day=usd_limit,
            calls_per_day=calls_limit,
        )

    def _give_back(self) -> None:
        usd = self._usd_left if self._limits.usd_per_day is not None else 0.0
        calls = self._calls_left if self._limits.calls_per_day is not None else 0
        if self._day and (usd or calls):
            locks.return_budget(self._store, app=self._app, day=self._day, usd=usd, calls=calls)
        self._usd_left, self._calls_left = 0.0, 0


def _limiter(calls_per_minute: float) -> AsyncLimiter:
    """A bucket of one second's worth of calls, so that a minute's calls do not go out in its first second."""
    if calls_per_minute >= 60:
        return AsyncLimiter(calls_per_minute / 60, 1)
    return AsyncLimiter(1, 60 / calls_per_minute)
