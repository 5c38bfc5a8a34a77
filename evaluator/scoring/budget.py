"""The gate in front of every call: so many at once, so many a minute, so much a day. Never more, also after a crash.

The day's budget lives in the database. A scorer takes it out in portions before it spends them, and sets aside the
most a call can cost before it is made, so neither many calls in flight nor a killed process can exceed it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from aiolimiter import AsyncLimiter

from evaluator.clock import Clock, day_of
from evaluator.judges.base import BudgetReachedError, Reservation
from evaluator.store import locks
from evaluator.store.db import Store

PORTIONS_PER_DAY = 50


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a scorer may do; None means no limit of that kind."""

    usd_per_day: float | None = None
    calls_per_day: int | None = None
    calls_per_minute: float | None = None


class _Reserved:
    """Money set aside for one call."""

    def __init__(self, gate: BudgetGate, usd: float) -> None:
        self._gate = gate
        self._usd = usd
        self._settled = False

    def settle(self, cost_usd: float) -> None:
        """Give back what the call did not cost."""
        if not self._settled:
            self._settled = True
            self._gate.settled(self._usd, cost_usd)


class BudgetGate:
    """Permission to call, shared by all calls of one run. Use as an asynchronous context manager.

    The store is the gate's own: portions are taken in a worker thread while the run goes on.
    """

    def __init__(self, store: Store, *, app: str, limits: Limits, clock: Clock, monotonic: Callable[[], float]) -> None:
        self._store = store
        self._app = app
        self._limits = limits
        self._clock = clock
        self._monotonic = monotonic
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
        while (wait := self._paused_until - self._monotonic()) > 0:
            await asyncio.sleep(wait)
        if self._limiter is not None:
            await self._limiter.acquire()
        while not self._set_aside(max_cost_usd):
            if not await self._take_portion(max_cost_usd):
                if self._in_flight == 0:
                    raise BudgetReachedError(self.describe())
                self._change.clear()
                await self._change.wait()  # a call in flight may give money back
        return _Reserved(self, max_cost_usd)

    async def pause(self, seconds: float) -> None:
        """Hold back every call for a while, because the server asked for it."""
        self._paused_until = max(self._paused_until, self._monotonic() + seconds)

    def settled(self, reserved_usd: float, cost_usd: float) -> None:
        """Take note of a call's real cost."""
        self._usd_left += max(0.0, reserved_usd - cost_usd)
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

    def _set_aside(self, max_cost_usd: float) -> bool:
        self._drop_yesterday()
        dollars = self._limits.usd_per_day is None or self._usd_left >= max_cost_usd - 1e-12
        calls = self._limits.calls_per_day is None or self._calls_left >= 1
        if not (dollars and calls):
            return False
        self._usd_left -= max_cost_usd
        self._calls_left -= 1
        self._in_flight += 1
        self.n_calls += 1
        return True

    def _today(self) -> str:
        now: datetime = self._clock.now()
        return day_of(now, self._store.zone).isoformat()

    def _drop_yesterday(self) -> None:
        """A portion belongs to the day it was taken from; on a new day a new one is taken."""
        if self._limits.usd_per_day is None and self._limits.calls_per_day is None:
            return
        today = self._today()
        if today != self._day:
            self._day, self._usd_left, self._calls_left = today, 0.0, 0

    async def _take_portion(self, max_cost_usd: float) -> bool:
        """Take another portion of the day's budget; False when nothing is left that helps."""
        async with self._taking:
            before = (self._usd_left, self._calls_left)
            usd = max(max_cost_usd, (self._limits.usd_per_day or 0.0) / PORTIONS_PER_DAY)
            calls = max(1, (self._limits.calls_per_day or 0) // PORTIONS_PER_DAY)
            granted_usd, granted_calls = await asyncio.to_thread(self._take, usd, calls)
            self._usd_left += granted_usd if self._limits.usd_per_day is not None else 0.0
            self._calls_left += granted_calls if self._limits.calls_per_day is not None else 0
            return (self._usd_left, self._calls_left) != before

    def _take(self, usd: float, calls: int) -> tuple[float, int]:
        return locks.take_budget(
            self._store,
            app=self._app,
            day=self._day,
            usd=usd if self._limits.usd_per_day is not None else 0.0,
            calls=calls if self._limits.calls_per_day is not None else 0,
            usd_per_day=self._limits.usd_per_day,
            calls_per_day=self._limits.calls_per_day,
        )

    def _give_back(self) -> None:
        if self._day and (self._usd_left > 0 or self._calls_left > 0):
            usd = self._usd_left if self._limits.usd_per_day is not None else 0.0
            calls = self._calls_left if self._limits.calls_per_day is not None else 0
            locks.return_budget(self._store, app=self._app, day=self._day, usd=max(0.0, usd), calls=max(0, calls))
        self._usd_left, self._calls_left = 0.0, 0


def _limiter(calls_per_minute: float) -> AsyncLimiter:
    """A bucket of one second's worth of calls, so that a minute's calls do not go out in its first second."""
    if calls_per_minute >= 60:
        return AsyncLimiter(calls_per_minute / 60, 1)
    return AsyncLimiter(1, 60 / calls_per_minute)
