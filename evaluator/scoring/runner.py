"""One run: grade what is left of its plan, store every outcome, close it. Can be cut off anywhere and started again;
each item ends with one verdict.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from evaluator.clock import Clock, SystemClock, utc_text
from evaluator.errors import StoreError
from evaluator.judges.base import Judge
from evaluator.records import GradeOutcome, Item, Source, StopReason, UnscoredReason
from evaluator.scoring.budget import BudgetGate
from evaluator.scoring.closing import Progress, RunReport, RunTally, close_run, nothing_to_do
from evaluator.scoring.holder import holder_name, is_dead
from evaluator.scoring.lease import LeaseKeeper
from evaluator.scoring.plan import RunSettings, ids_left, open_run
from evaluator.scoring.texts import blank_texts
from evaluator.scoring.writer import OutcomeWriter
from evaluator.store import locks, read
from evaluator.store.db import Store, open_reader, open_store
from evaluator.store.write import GradedItem, RunPlan

LOAD_CHUNK = 200
GRACE_S = 10.0  # how long calls in flight may still take after Ctrl-C
UNREACHABLE_AFTER = 10  # items in a row that failed because nothing answered
UNREADABLE_AFTER = 10  # items without any score before them whose replies could not be used
MANY_ITEMS = 30  # a shorter run is tried to its end: it may be what is left of one that went well
_NO_USABLE_SCORE = frozenset(
    {
        UnscoredReason.EMPTY,
        UnscoredReason.MISSING,
        UnscoredReason.WRONG_TYPE,
        UnscoredReason.NOT_FINITE,
        UnscoredReason.NOT_A_NUMBER,
        UnscoredReason.OUT_OF_RANGE,
        UnscoredReason.FOREIGN_SCALE,
        UnscoredReason.AMBIGUOUS,
        UnscoredReason.UNPARSED,
        UnscoredReason.TRUNCATED,
    }
)
_NOBODY_ANSWERS = frozenset(
    {UnscoredReason.CONNECTION, UnscoredReason.TIMEOUT, UnscoredReason.SERVER_ERROR, UnscoredReason.RATE_LIMITED}
)

_T = TypeVar("_T")


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
        LeaseHeldError: another scorer works on this app, or took over while this one was silent.
        StoreError: the database cannot be used, or was removed under the run.
    """
    clock = clock or SystemClock()
    path = settings.store_path
    with open_store(path, zone=settings.zone) as store:
        lease = locks.acquire_lease(
            store,
            app=settings.app,
            holder=holder_name(),
            what=f"run of {utc_text(settings.slot)}",
            now=clock.now(),
            is_dead=is_dead,
        )
        try:
            async with LeaseKeeper(path, lease, clock) as keeper:
                # in threads, so that the lease is kept while a large plan is written or many days are totalled
                plan, n_older, finished = await _to_its_end(lambda: open_run(store, settings, judge, clock))
                if finished is not None:
                    return nothing_to_do(plan, finished)
                judge.forget_adjustments()
                grading = _Grading(settings, judge, plan, clock, on_progress, (stop or asyncio.Event(), keeper.lost))
                try:
                    await grading.grade(ids_left(store, plan.run_id))
                finally:
                    keeper.check()  # a run that lost its ground is not closed here; this says more than what followed
                report = await _to_its_end(
                    lambda: close_run(store, plan, grading.tally, clock, n_older_answers=n_older)
                )
                await _to_its_end(lambda: blank_texts(store, settings, plan.ruler_id))
                return report
        finally:
            with contextlib.suppress(StoreError):  # what cannot be given back ends by itself
                locks.release_lease(store, lease)


async def _to_its_end(action: Callable[[], _T]) -> _T:
    """Do something in a thread; whoever is cancelled meanwhile waits for it, since it uses the database."""
    task = asyncio.ensure_future(asyncio.to_thread(action))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise


class _Grading:
    """A run while it goes on. ``signals`` are the events that end it from outside."""

    def __init__(
        self,
        settings: RunSettings,
        judge: Judge,
        plan: RunPlan,
        clock: Clock,
        on_progress: Callable[[Progress], None] | None,
        signals: tuple[asyncio.Event, ...],
    ) -> None:
        self.settings = settings
        self.judge = judge
        self.plan = plan
        self.clock = clock
        self.on_progress = on_progress
        self.signals = signals
        self.tally = RunTally(started=time.monotonic())
        self._unanswered_in_a_row = 0

    async def grade(self, item_ids: Sequence[str]) -> None:
        """Grade these items, a few at once, until done or stopped."""
        self.tally.n_planned = len(item_ids)
        if not item_ids:
            return
        path = self.settings.store_path
        traffic, criterion = self.settings.traffic, self.judge.ruler.rubric.criterion
        writer = OutcomeWriter(path, self.plan, criterion, keep_reasons=traffic.store_reasons)
        writer.start()
        try:
            with open_store(path, create=False) as gate_store, open_reader(path) as texts:
                async with BudgetGate(
                    gate_store,
                    app=self.settings.app,
                    limits=self.settings.limits,
                    clock=self.clock,
                    monotonic=time.monotonic,
                ) as gate:
                    await self._grade_all(_Feed(texts, item_ids), gate, writer)
        finally:
            await _to_its_end(writer.close)

    async def _grade_all(self, feed: _Feed, gate: BudgetGate, writer: OutcomeWriter) -> None:
        # the first item alone: a wrong key costs one call, and refused parameters are learned once
        await self._work_until_signal([self._work(feed, gate, writer, most=1)])
        if not self._must_end():
            n_workers = min(self.settings.concurrency, self.tally.n_planned)
            await self._work_until_signal([self._work(feed, gate, writer) for _ in range(n_workers)])
        if self._must_end():
            self.tally.stop(StopReason.INTERRUPTED, "stopped from outside; start it again to go on where it stopped")

    def _must_end(self) -> bool:
        return self.tally.stop_reason is not None or any(signal.is_set() for signal in self.signals)

    async def _work_until_signal(self, work: Sequence[Coroutine[Any, Any, None]]) -> None:
        """Let workers work to their end; after a signal, until calls in flight have come home: they are paid for."""
        workers = {asyncio.create_task(each) for each in work}
        signal = asyncio.create_task(_first_of(self.signals))
        try:
            working = set(workers)
            while working and not signal.done():
                await asyncio.wait({*working, signal}, return_when=asyncio.FIRST_COMPLETED)
                working = _still_working(working)
            if working:
                await asyncio.wait(working, timeout=GRACE_S)
                _still_working(working)
        finally:
            for task in (*workers, signal):
                task.cancel()
            await asyncio.gather(*workers, signal, return_exceptions=True)

    async def _work(self, feed: _Feed, gate: BudgetGate, writer: OutcomeWriter, *, most: int | None = None) -> None:
        n_done = 0
        while n_done != most and not self._must_end():
            following = feed.next()
            if following is None:
                return
            await self._grade_one(*following, gate, writer)
            n_done += 1

    async def _grade_one(
        self, item_id: str, source: Source, item: Item, gate: BudgetGate, writer: OutcomeWriter
    ) -> None:
        outcome = await self.judge.grade(item, item_id=item_id, gate=gate)
        if outcome.attempts or outcome.verdict is not None:
            while writer.is_full() and writer.failure is None:
                await asyncio.sleep(0.02)  # the database is blocked: grade no faster than it can be stored
            graded_utc = utc_text(self.clock.now())
            writer.put(GradedItem(item_id=item_id, source=source, outcome=outcome, graded_utc=graded_utc))
        if outcome.stop is not None:
            self.tally.stop(outcome.stop, outcome.stop_message)
        if outcome.verdict is not None:
            self.tally.count(outcome.verdict)
            self._watch_for_silence(outcome.verdict.unscored_reason, outcome)
            self._watch_for_nonsense(outcome)
        self.tally.n_calls, self.tally.spent_usd = gate.n_calls, gate.spent_usd
        if self.on_progress is not None:
            self.on_progress(self.tally.progress(time.monotonic()))

    def _watch_for_silence(self, reason: UnscoredReason | None, outcome: GradeOutcome) -> None:
        """End a run against a server that is not there, before it has tried every item in vain."""
        self._unanswered_in_a_row = self._unanswered_in_a_row + 1 if reason in _NOBODY_ANSWERS else 0
        if self._unanswered_in_a_row < UNREACHABLE_AFTER:
            return
        last = outcome.attempts[-1].message if outcome.attempts else str(reason)
        said = f"the judge did not answer {self._unanswered_in_a_row} items in a row ({last})"
        if reason is UnscoredReason.RATE_LIMITED:
            self.tally.stop(StopReason.RATE_LIMITED, f"{said}; set judge.calls_per_minute to what the server allows")
        else:
            self.tally.stop(StopReason.UNREACHABLE, f"{said}; check judge.base_url and whether the server is up")

    def _watch_for_nonsense(self, outcome: GradeOutcome) -> None:
        """End a run whose first replies hold no usable score, before it has paid for all of them."""
        reasons = self.tally.reasons
        n_unreadable = sum(reasons.get(str(reason), 0) for reason in _NO_USABLE_SCORE)
        if self.tally.n_scored or n_unreadable < UNREADABLE_AFTER or self.tally.n_planned < MANY_ITEMS:
            return
        worst = max(reasons, key=lambda reason: reasons[reason])
        start = " ".join(outcome.raw_reply.split())[:80] if self.settings.traffic.store_reasons else "(not kept)"
        self.tally.stop(
            StopReason.UNREADABLE,
            f"none of the first {n_unreadable} replies holds a score on the judge's scale (mostly {worst}; the last"
            f" one begins {start!r}); check judge.model, judge.rubric and judge.output_mode, and with a prompt of your"
            " own judge.score_field or judge.score_pattern, which say where its score stands"
            + ("; judge.max_tokens leaves no room for a whole reply" if worst == UnscoredReason.TRUNCATED else ""),
        )


async def _first_of(events: Sequence[asyncio.Event]) -> None:
    """Wait until one of some events is set."""
    waiting = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()


def _still_working(tasks: set[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
    """Return tasks that have not ended; a defect in one that has ends the run, with everything stored so far."""
    for task in tasks:
        if task.done():
            task.result()
    return {task for task in tasks if not task.done()}


class _Feed:
    """Hands out the items left, reading their texts a chunk at a time, so that memory does not grow with the run."""

    def __init__(self, store: Store, item_ids: Sequence[str]) -> None:
        self._store = store
        self._item_ids = item_ids
        self._position = 0
        self._loaded: deque[tuple[str, Source, Item]] = deque()

    def next(self) -> tuple[str, Source, Item] | None:
        """Return the next item, None at the end; items that were deleted meanwhile are passed over."""
        while not self._loaded and self._position < len(self._item_ids):
            chunk = self._item_ids[self._position : self._position + LOAD_CHUNK]
            self._position += len(chunk)
            self._loaded.extend(read.load_to_grade(self._store, chunk))
        return self._loaded.popleft() if self._loaded else None
