"""The background scorer: waits for each scheduled instant, has it graded once, goes on whatever happens.

It follows the wall clock in short steps, so a laptop that slept, a clock that was set, or a summer time that began is
noticed within a step. What a run does is the caller's; time and sleep are arguments.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from evaluator.clock import Clock
from evaluator.errors import JudgewatchError, LeaseHeldError
from evaluator.scoring.schedule import last_slot, next_slot

STEP_S = 20.0
TRY_AGAIN_AFTER = timedelta(minutes=15)
LEASE_WAIT = timedelta(seconds=30)
CATCH_UP_AT_MOST = timedelta(days=7)  # older answers lie outside the window a run grades
_REMEMBERED = 1000

Missed = Literal["skip", "catch_up"]


@dataclass(frozen=True, kw_only=True)
class SlotResult:
    """What became of a slot. ``try_again``: it did not finish, and a later try may."""

    message: str
    try_again: bool = False


@dataclass(frozen=True, kw_only=True)
class Watcher:
    """All that the loop needs.

    Attributes:
        cron, zone: The schedule.
        missed: What becomes of runs that were due while nothing watched: only the newest is graded, or each in turn.
        grade: Grades one slot; called again for the same slot only when it raised or asked for it.
        clock: Wall clock.
        sleep: Waits so many seconds, less when ``stop`` is set.
        stop: Ends the loop.
        log: Tells a person what happens.
    """

    cron: str
    zone: ZoneInfo
    missed: Missed
    grade: Callable[[datetime], Awaitable[SlotResult]]
    clock: Clock
    sleep: Callable[[float], Awaitable[None]]
    stop: asyncio.Event
    log: Callable[[str], None]

    async def run(self, *, last_graded: datetime | None = None) -> None:
        """Watch until ``stop`` is set.

        Args:
            last_graded: The newest slot that was graded before this process; None when there is none.

        Raises:
            UsageError: the schedule names no instant of the last year.
        """
        done: deque[datetime] = deque([] if last_graded is None else [last_graded], maxlen=_REMEMBERED)
        now = self.clock.now()
        if last_graded is None or last_graded > now:
            after = last_slot(self.cron, self.zone, now) - timedelta(seconds=1)
        else:
            after = last_graded
        while not self.stop.is_set():
            slot = await self._wait_for_slot(after)
            if slot is None:
                return
            if slot not in done:
                await self._grade_until_done(slot)
                done.append(slot)
            after = slot

    async def _wait_for_slot(self, after: datetime) -> datetime | None:
        """Wait until the slot after an instant is due, and return the one to grade; None when stopped."""
        told: datetime | None = None
        while not self.stop.is_set():
            now = self.clock.now()
            # a clock that was set back must not leave the scorer waiting for a day that is far ahead
            after = min(after, now)
            due = next_slot(self.cron, self.zone, after)
            if due <= now:
                return self._choose(due, now)
            if told != due:
                told = due
                self.log(f"next run at {self._when(due)}")
            await self.sleep(min(STEP_S, (due - now).total_seconds()))
        return None

    def _choose(self, due: datetime, now: datetime) -> datetime:
        """Of the slots from ``due`` to now, take the newest, or the oldest that is young enough to catch up with."""
        newest = last_slot(self.cron, self.zone, now)
        if newest <= due:
            return due
        if self.missed == "skip":
            self.log(f"runs were missed since {self._when(due)}; only the newest, {self._when(newest)}, is graded")
            return newest
        oldest = now - CATCH_UP_AT_MOST
        return due if due >= oldest else min(newest, next_slot(self.cron, self.zone, oldest))

    async def _grade_until_done(self, slot: datetime) -> None:
        """Grade a slot; what failed is tried again now and then until the next slot is due."""
        following = next_slot(self.cron, self.zone, max(slot, self.clock.now()))
        while not self.stop.is_set():
            wait = await self._grade(slot)
            if wait is None:
                return
            again = self.clock.now() + wait
            while not self.stop.is_set() and (now := self.clock.now()) < again:
                if now >= following:
                    self.log(f"the run of {self._when(slot)} is given up; the next one is due")
                    return
                await self.sleep(min(STEP_S, (again - now).total_seconds()))

    async def _grade(self, slot: datetime) -> timedelta | None:
        """Grade a slot once; return how long to wait before another try, None when it is done."""
        try:
            result = await self.grade(slot)
        except LeaseHeldError as error:
            self.log(f"waiting: {error}")
            return LEASE_WAIT
        except JudgewatchError as error:
            self.log(f"run of {self._when(slot)} failed: {error}")
        except Exception as error:  # noqa: BLE001 - one broken run must not end the scorer
            self.log(f"run of {self._when(slot)} failed unexpectedly: {type(error).__name__}: {error}")
        else:
            self.log(f"run of {self._when(slot)}: {result.message}")
            if not result.try_again or self.stop.is_set():
                return None
        if not self.stop.is_set():
            self.log(f"it is tried again in {TRY_AGAIN_AFTER.total_seconds() / 60:.0f} minutes")
        return TRY_AGAIN_AFTER

    def _when(self, slot: datetime) -> str:
        return f"{slot.astimezone(self.zone):%Y-%m-%d %H:%M} {self.zone.key}"


async def sleep_or_stop(seconds: float, stop: asyncio.Event) -> None:
    """Wait so many seconds, or until ``stop`` is set."""
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        return
