"""The background scorer on a clock of its own: no test waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from evaluator.errors import ConfigError, LeaseHeldError, UsageError
from evaluator.scoring.watch import STEP_S, Missed, SlotResult, Watcher, sleep_or_stop

DAILY = "0 6 * * *"
DONE = SlotResult(message="finished")
NOT_DONE = SlotResult(message="stopped", try_again=True)


def at(day: int, hour: int = 0, minute: int = 0, *, month: int = 3) -> datetime:
    """An instant of 2026, UTC."""
    return datetime(2026, month, day, hour, minute, tzinfo=UTC)


@dataclass
class World:
    """A clock that only sleeping moves, and what the scorer did in it.

    ``jumps`` maps an instant to how far the clock springs when it is reached; ``outcomes`` are what grading a slot
    brings, in turn: a result, or an error to raise.
    """

    now_utc: datetime
    until: datetime
    missed: Missed = "skip"
    cron: str = DAILY
    zone: str = "UTC"
    outcomes: list[SlotResult | Exception] = field(default_factory=list)
    jumps: dict[datetime, timedelta] = field(default_factory=dict)
    takes: list[timedelta] = field(default_factory=list)
    graded: list[datetime] = field(default_factory=list)
    graded_at: list[datetime] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    naps: list[float] = field(default_factory=list)
    on_grade: Callable[[], None] | None = None
    stop: asyncio.Event = field(default_factory=asyncio.Event)

    def now(self) -> datetime:
        """The time it is."""
        return self.now_utc

    async def sleep(self, seconds: float) -> None:
        """Let time pass; the story ends at ``until``, when no jump is left."""
        self.naps.append(seconds)
        self.now_utc += timedelta(seconds=seconds)
        for moment in [moment for moment in self.jumps if moment <= self.now_utc]:
            self.now_utc += self.jumps.pop(moment)
        if self.now_utc >= self.until and not self.jumps:
            self.stop.set()

    async def grade(self, slot: datetime) -> SlotResult:
        """Take note of the slot; take some time over it."""
        self.graded.append(slot)
        self.graded_at.append(self.now_utc)
        if self.on_grade is not None:
            self.on_grade()
        self.now_utc += self.takes.pop(0) if self.takes else timedelta(minutes=3)
        outcome = self.outcomes.pop(0) if self.outcomes else DONE
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def watch(self, *, last_graded: datetime | None = None) -> World:
        """Let the scorer watch until the story ends."""
        watcher = Watcher(
            cron=self.cron,
            zone=ZoneInfo(self.zone),
            missed=self.missed,
            grade=self.grade,
            clock=self,
            sleep=self.sleep,
            stop=self.stop,
            log=self.log.append,
        )
        asyncio.run(watcher.run(last_graded=last_graded))
        return self


def test_each_slot_is_graded_once_when_it_is_due() -> None:
    """Three days, three runs, each within a step of its time."""
    world = World(now_utc=at(1, 5), until=at(4, 5)).watch(last_graded=at(28, 6, month=2))
    assert world.graded == [at(1, 6), at(2, 6), at(3, 6)]
    assert world.graded_at == world.graded


def test_waits_in_short_steps() -> None:
    """No sleep is longer than a step, so a clock that moves is noticed."""
    world = World(now_utc=at(1, 5), until=at(1, 7)).watch(last_graded=at(28, 6, month=2))
    assert max(world.naps) <= STEP_S


def test_next_run_is_told_once_per_slot() -> None:
    """A log that repeats itself every few seconds is not read."""
    world = World(now_utc=at(1, 7), until=at(3, 5)).watch(last_graded=at(1, 6))
    assert [line for line in world.log if line.startswith("next run")] == [
        "next run at 2026-03-02 06:00 UTC",
        "next run at 2026-03-03 06:00 UTC",
    ]


def test_start_grades_the_last_slot_at_once() -> None:
    """Whoever starts the scorer in the afternoon does not wait for tomorrow's first number."""
    world = World(now_utc=at(1, 15), until=at(1, 16)).watch()
    assert world.graded == [at(1, 6)]


def test_start_leaves_a_finished_slot_alone() -> None:
    """A restart after the run of today waits for tomorrow's."""
    assert World(now_utc=at(1, 15), until=at(1, 16)).watch(last_graded=at(1, 6)).graded == []


def test_skip_grades_the_newest_missed_slot_only() -> None:
    """After four days off, today's run is made and the gap is told."""
    world = World(now_utc=at(5, 15), until=at(5, 16)).watch(last_graded=at(1, 6))
    assert world.graded == [at(5, 6)]
    assert any("missed since 2026-03-02 06:00 UTC" in line for line in world.log)


def test_catch_up_grades_every_missed_slot_in_order() -> None:
    """The oldest first, and none twice."""
    world = World(now_utc=at(5, 15), until=at(5, 16), missed="catch_up").watch(last_graded=at(1, 6))
    assert world.graded == [at(2, 6), at(3, 6), at(4, 6), at(5, 6)]


def test_catch_up_goes_back_a_week_at_most() -> None:
    """Runs of months ago would grade nothing that is still in the window."""
    world = World(now_utc=at(28, 15), until=at(28, 16), missed="catch_up").watch(last_graded=at(1, 6))
    assert world.graded == [at(day, 6) for day in range(22, 29)]


def test_catch_up_without_history_starts_with_the_last_slot() -> None:
    """There is nothing to catch up with before the first run."""
    world = World(now_utc=at(5, 15), until=at(5, 16), missed="catch_up").watch()
    assert world.graded == [at(5, 6)]


@pytest.mark.parametrize(("missed", "expected"), [("skip", [at(4, 6)]), ("catch_up", [at(2, 6), at(3, 6), at(4, 6)])])
def test_sleep_of_the_machine_is_noticed(missed: Missed, expected: list[datetime]) -> None:
    """A laptop closed for three days wakes up with runs due."""
    world = World(now_utc=at(1, 7), until=at(4, 12), missed=missed, jumps={at(1, 20): timedelta(days=2, hours=13)})
    assert world.watch(last_graded=at(1, 6)).graded == expected


def test_clock_set_back_grades_no_slot_twice() -> None:
    """The hour that comes twice holds one run."""
    world = World(now_utc=at(1, 5), until=at(2, 7), jumps={at(1, 6, 30): timedelta(hours=-1)})
    assert world.watch(last_graded=at(28, 6, month=2)).graded == [at(1, 6), at(2, 6)]


def test_clock_far_ahead_and_set_back_does_not_stop_the_scorer() -> None:
    """A clock that stood in the next month for a moment must not silence the scorer for a month."""
    jumps = {at(1, 8): timedelta(days=31), at(1, 9, month=4): timedelta(days=-31)}
    world = World(now_utc=at(1, 7), until=at(3, 7), jumps=jumps).watch(last_graded=at(1, 6))
    assert world.graded == [at(1, 6, month=4), at(2, 6), at(3, 6)]


def test_summer_time_keeps_the_hour_of_the_day() -> None:
    """Six o'clock in Berlin is five UTC in winter and four in summer."""
    world = World(now_utc=at(28, 0), until=at(30, 0), zone="Europe/Berlin").watch(last_graded=at(27, 5))
    assert world.graded == [at(28, 5), at(29, 4)]


def test_failure_is_told_and_tried_again() -> None:
    """A server that is down at six may be up at a quarter past."""
    world = World(now_utc=at(1, 5), until=at(1, 9), outcomes=[ConfigError("no key"), DONE])
    world.watch(last_graded=at(28, 6, month=2))
    assert world.graded == [at(1, 6), at(1, 6)]
    assert world.graded_at[1] - world.graded_at[0] >= timedelta(minutes=15)
    assert any("failed: no key" in line for line in world.log)


def test_unexpected_error_does_not_end_the_scorer() -> None:
    """One broken run costs one day, not all that follow."""
    world = World(now_utc=at(1, 5), until=at(2, 7), outcomes=[KeyError("column")] * 200)
    world.watch(last_graded=at(28, 6, month=2))
    assert world.graded[-1] == at(2, 6)
    assert any("failed unexpectedly: KeyError: 'column'" in line for line in world.log)


def test_unfinished_run_is_given_up_when_the_next_is_due() -> None:
    """Yesterday's run must not be going on when today's begins."""
    world = World(now_utc=at(1, 5), until=at(2, 6, 10), outcomes=[NOT_DONE] * 96)
    world.watch(last_graded=at(28, 6, month=2))
    assert set(world.graded) == {at(1, 6), at(2, 6)}
    assert any("2026-03-01 06:00 UTC is given up" in line for line in world.log)


def test_other_scorer_is_waited_for_and_named() -> None:
    """Two scorers on one database take turns by themselves."""
    busy = LeaseHeldError("another scorer (host:7) works")
    world = World(now_utc=at(1, 5), until=at(1, 9), takes=[timedelta(0)] * 3, outcomes=[busy, busy, DONE])
    world.watch(last_graded=at(28, 6, month=2))
    assert world.graded == [at(1, 6)] * 3
    assert world.graded_at[2] - world.graded_at[0] == timedelta(minutes=1)
    assert sum("waiting: another scorer (host:7)" in line for line in world.log) == 2


def test_stop_ends_between_runs() -> None:
    """SIGTERM while waiting leaves nothing behind."""
    world = World(now_utc=at(1, 7), until=at(1, 7, 1)).watch(last_graded=at(1, 6))
    assert world.graded == []


def test_stop_during_a_run_ends_after_it_without_another_try() -> None:
    """What the run could not finish is for the next start."""
    world = World(now_utc=at(1, 15), until=at(9), outcomes=[NOT_DONE])
    world.on_grade = world.stop.set
    world.watch()
    assert world.graded == [at(1, 6)]
    assert not any("tried again" in line for line in world.log)


def test_long_run_that_passes_the_next_slot_is_followed_by_it() -> None:
    """A run of 25 hours delays the next one and drops none."""
    world = World(now_utc=at(1, 5), until=at(3, 5), takes=[timedelta(hours=25)]).watch(last_graded=at(28, 6, month=2))
    assert world.graded == [at(1, 6), at(2, 6)]


def test_schedule_that_never_comes_is_refused() -> None:
    """A run every 29 February is a mistake, not a long wait."""
    with pytest.raises(UsageError, match="names no instant"):
        World(now_utc=at(1), until=at(2), cron="0 0 29 2 *").watch()


async def test_real_sleep_ends_early_when_stopped() -> None:
    """SIGTERM need not wait for the end of a step."""
    stop = asyncio.Event()
    asyncio.get_running_loop().call_later(0.01, stop.set)
    async with asyncio.timeout(5):
        await sleep_or_stop(60, stop)


async def test_real_sleep_ends_by_itself() -> None:
    """Without a stop it lasts as long as asked."""
    loop = asyncio.get_running_loop()
    started = loop.time()
    await sleep_or_stop(0.02, asyncio.Event())
    assert loop.time() - started >= 0.02
