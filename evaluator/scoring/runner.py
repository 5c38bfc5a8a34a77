"""One run: grade what is left of its plan, store every outcome, close it. Can be cut off anywhere and started again;
each item ends with one verdict.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable, Sequence

from evaluator.clock import Clock, SystemClock, utc_text
from evaluator.errors import LeaseHeldError
from evaluator.judges.base import Judge
from evaluator.records import GradeOutcome, Item, Source, StopReason, UnscoredReason
from evaluator.scoring.budget import BudgetGate
from evaluator.scoring.closing import Progress, RunReport, RunTally, close_run, nothing_to_do
from evaluator.scoring.plan import RunSettings, open_run, worth_grading
from evaluator.scoring.writer import OutcomeWriter
from evaluator.store import locks, read
from evaluator.store.db import Store, open_store
from evaluator.store.write import GradedItem, RunPlan

LOAD_CHUNK = 200
HEARTBEAT_S = 5.0
GRACE_S = 10.0  # how long calls in flight may still take after Ctrl-C
UNREACHABLE_AFTER = 10  # items in a row that failed because nothing answered
_NOBODY_ANSWERS = frozenset({UnscoredReason.CONNECTION, UnscoredReason.TIMEOUT, UnscoredReason.SERVER_ERROR})


def holder_name() -> str:
    """Who this process is, for the lease: machine and process."""
    return f"{socket.gethostname()}:{os.getpid()}"


async def run_once(
    settings: RunSettings,
    judge: Judge,
    *,
    clock: Clock | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    stop: asyncio.Event | None = None,
) -> RunReport:
    """Grade everything a run plans, or what a cut-off run left over.

    Args:
        settings: What to grade, where, with which limits.
        judge: Who grades.
        clock: Wall clock; the machine's by default.
        on_progress: Called after every item.
        stop: Set from outside (Ctrl-C) to end early: calls in flight are waited for, nothing is lost.

    Raises:
        LeaseHeldError: another scorer works on this app.
        StoreError: the database cannot be used.
    """
    clock = clock or SystemClock()
    stop = stop or asyncio.Event()
    with open_store(settings.store_path, zone=settings.zone) as store:
        holder = f"{holder_name()}:{id(settings):x}"
        lease = locks.acquire_lease(
            store, app=settings.app, holder=holder, what=f"run of {utc_text(settings.slot)}", now=clock.now()
        )
        try:
            plan, n_older, finished = open_run(store, settings, judge, clock)
            if finished:
                return nothing_to_do(plan)
            judge.forget_adjustments()
            grading = _Grading(settings, judge, plan, clock, on_progress, stop)
            heartbeat = asyncio.create_task(_keep_lease(settings, lease, clock, stop))
            try:
                await grading.grade(worth_grading(read.run_left(store, plan.run_id)))
            finally:
                heartbeat.cancel()
                await asyncio.gather(heartbeat, return_exceptions=True)
            tally = grading.tally
            elapsed_s = time.monotonic() - tally.started
            return close_run(store, plan, tally, now=clock.now(), elapsed_s=elapsed_s, n_older_answers=n_older)
        finally:
            locks.release_lease(store, lease)


class _Grading:
    """A run while it goes on."""

    def __init__(
        self,
        settings: RunSettings,
        judge: Judge,
        plan: RunPlan,
        clock: Clock,
        on_progress: Callable[[Progress], None] | None,
        stop: asyncio.Event,
    ) -> None:
        self.settings = settings
        self.judge = judge
        self.plan = plan
        self.clock = clock
        self.on_progress = on_progress
        self.stop_wanted = stop
        self.tally = RunTally(started=time.monotonic())
        self._unanswered_in_a_row = 0

    async def grade(self, left: Sequence[read.Row]) -> None:
        """Grade what is left, a few at once, until done or stopped."""
        self.tally.n_planned = len(left)
        if not left:
            return
        path = self.settings.store_path
        writer = OutcomeWriter(path, self.plan, self.judge.ruler.rubric.criterion)
        writer.start()
        try:
            with open_store(path) as gate_store, open_store(path) as texts:
                gate = BudgetGate(
                    gate_store,
                    app=self.settings.app,
                    limits=self.settings.limits,
                    clock=self.clock,
                    monotonic=time.monotonic,
                )
                async with gate:
                    await self._grade_all(_Feed(texts, left), gate, writer)
        finally:
            await asyncio.to_thread(writer.close)

    async def _grade_all(self, feed: _Feed, gate: BudgetGate, writer: OutcomeWriter) -> None:
        # the first item alone: a wrong key costs one call, and refused parameters are learned once
        first = feed.next()
        if first is not None:
            await self._grade_one(*first, gate, writer)
        n_workers = min(self.settings.concurrency, self.tally.n_planned)
        workers = [asyncio.create_task(self._work(feed, gate, writer)) for _ in range(n_workers)]
        asked_to_stop = asyncio.create_task(self.stop_wanted.wait())
        try:
            working: set[asyncio.Task[None]] = set(workers)
            while working and not asked_to_stop.done():
                done, _ = await asyncio.wait({*working, asked_to_stop}, return_when=asyncio.FIRST_COMPLETED)
                working -= {task for task in workers if task in done}
                for task in done & set(workers):
                    task.result()  # a defect in one worker ends the run, with everything stored so far
            if working:
                await self._wind_down(working)
        finally:
            for task in (*workers, asked_to_stop):
                task.cancel()
            await asyncio.gather(*workers, asked_to_stop, return_exceptions=True)

    async def _wind_down(self, working: set[asyncio.Task[None]]) -> None:
        """Let calls in flight come home; they are paid for."""
        self.tally.stop(StopReason.INTERRUPTED, "stopped from outside; start it again to go on where it stopped")
        await asyncio.wait(working, timeout=GRACE_S)

    async def _work(self, feed: _Feed, gate: BudgetGate, writer: OutcomeWriter) -> None:
        while self.tally.stop_reason is None and not self.stop_wanted.is_set():
            following = feed.next()
            if following is None:
                return
            await self._grade_one(*following, gate, writer)

    async def _grade_one(
        self, item_id: str, source: Source, item: Item, gate: BudgetGate, writer: OutcomeWriter
    ) -> None:
        outcome = await self.judge.grade(item, item_id=item_id, gate=gate)
        if outcome.attempts or outcome.verdict is not None:
            while writer.is_full() and writer.failure is None:
                await asyncio.sleep(0.05)  # the database is blocked: grade no faster than it can be stored
            graded_utc = utc_text(self.clock.now())
            writer.put(GradedItem(item_id=item_id, source=source, outcome=outcome, graded_utc=graded_utc))
        if outcome.stop is not None:
            self.tally.stop(outcome.stop, outcome.stop_message)
        if outcome.verdict is not None:
            self.tally.count(outcome.verdict)
            self._watch_for_silence(outcome.verdict.unscored_reason, outcome)
        self.tally.n_calls, self.tally.spent_usd = gate.n_calls, gate.spent_usd
        if self.on_progress is not None:
            self.on_progress(self.tally.progress(time.monotonic()))

    def _watch_for_silence(self, reason: UnscoredReason | None, outcome: GradeOutcome) -> None:
        """End a run against a server that is not there, before it has tried every item in vain."""
        self._unanswered_in_a_row = self._unanswered_in_a_row + 1 if reason in _NOBODY_ANSWERS else 0
        if self._unanswered_in_a_row >= UNREACHABLE_AFTER:
            last = outcome.attempts[-1].message if outcome.attempts else str(reason)
            self.tally.stop(
                StopReason.UNREACHABLE,
                f"the judge did not answer {self._unanswered_in_a_row} items in a row ({last}); check judge.base_url"
                " and whether the server is up",
            )


class _Feed:
    """Hands out the items left, reading their texts a chunk at a time, so that memory does not grow with the run."""

    def __init__(self, store: Store, left: Sequence[read.Row]) -> None:
        self._store = store
        self._left = left
        self._position = 0
        self._texts: dict[str, Item] = {}

    def next(self) -> tuple[str, Source, Item] | None:
        """Return the next item, None at the end."""
        if self._position >= len(self._left):
            return None
        if self._position % LOAD_CHUNK == 0:
            chunk = self._left[self._position : self._position + LOAD_CHUNK]
            self._texts = read.load_items(self._store, [row["item_id"] for row in chunk])
        row = self._left[self._position]
        self._position += 1
        return row["item_id"], Source(row["source"]), self._texts[row["item_id"]]


async def _keep_lease(settings: RunSettings, lease: locks.Lease, clock: Clock, stop: asyncio.Event) -> None:
    """Give signs of life; a scorer that lost its lease stops, since another one goes on with its work."""

    def renew() -> None:
        with open_store(settings.store_path) as store:
            locks.renew_lease(store, lease, now=clock.now())

    while True:
        await asyncio.sleep(HEARTBEAT_S)
        try:
            await asyncio.to_thread(renew)
        except LeaseHeldError:
            stop.set()
            return
