"""One run: plan it, grade what is left of the plan, store every outcome, close it. Can be cut off anywhere and started
again; each item ends with one verdict.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from evaluator.clock import Clock, SystemClock, day_of, utc_text
from evaluator.config import TrafficConfig
from evaluator.errors import LeaseHeldError, UsageError
from evaluator.judges.base import Judge
from evaluator.records import Anchor, GradeOutcome, Item, Source, StopReason, UnscoredReason, content_hash
from evaluator.scoring.budget import BudgetGate, Limits
from evaluator.scoring.sampler import TrafficSample, draw_traffic
from evaluator.scoring.writer import OutcomeWriter
from evaluator.store import locks, read, rollup, write
from evaluator.store.db import Store, open_store
from evaluator.store.write import GradedItem, PlannedItem, RunPlan

LOAD_CHUNK = 200
HEARTBEAT_S = 5.0
GRACE_S = 10.0  # how long calls in flight may still take after Ctrl-C
UNREACHABLE_AFTER = 10  # items in a row that failed because nothing answered
MOSTLY_FAILED_BELOW = 0.5
_NOBODY_ANSWERS = frozenset({UnscoredReason.CONNECTION, UnscoredReason.TIMEOUT, UnscoredReason.SERVER_ERROR})


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """All that a run needs to know beside the judge.

    ``kind`` is "all", "anchors" or "traffic"; ``segment_keys`` as in ``rollup.choose_segment_keys``.
    """

    store_path: Path
    app: str
    zone: str | None
    anchor_set_name: str
    anchors: Sequence[Anchor]
    traffic: TrafficConfig
    limits: Limits
    concurrency: int
    slot: datetime
    kind: str = "all"
    since: str | None = None
    segment_keys: Sequence[tuple[str, str]] | None = None


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a run is."""

    n_planned: int
    n_done: int
    n_scored: int
    n_unscored: int
    n_calls: int
    spent_usd: float
    elapsed_s: float


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """What came of a run. ``status`` as stored; ``already_finished`` when there was nothing to do."""

    run_id: str
    slot_utc: str
    status: str
    stop_reason: StopReason | None
    message: str
    n_anchors: int
    n_traffic: int
    n_scored: int
    n_unscored: int
    n_left: int
    n_calls: int
    spent_usd: float
    elapsed_s: float
    already_finished: bool = False
    n_older_answers: int = 0
    reasons: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PlanPreview:
    """What a run would do, before any call."""

    n_anchors: int
    n_traffic: int
    n_days: int
    n_older_answers: int
    most_usd: float | None
    already_finished: bool


def holder_name() -> str:
    """Who this process is, for the lease: machine and process."""
    return f"{socket.gethostname()}:{os.getpid()}"


def preview_run(settings: RunSettings, judge: Judge) -> PlanPreview:
    """Plan a run without writing its plan or calling the judge.

    Raises:
        JudgewatchError: the store cannot be used.
    """
    with open_store(settings.store_path, zone=settings.zone) as store:
        existing = read.run_at(store, settings.app, judge.ruler.ruler_id, utc_text(settings.slot))
        if existing is not None:
            left = [] if existing["status"] == "finished" else _worth_grading(read.run_left(store, existing["run_id"]))
            ids = [row["item_id"] for row in left]
            n_anchors = sum(row["source"] == Source.ANCHOR for row in left)
            sample_days, n_older = 0, 0
            finished = existing["status"] == "finished"
        else:
            sample = _sample(store, settings, judge)
            anchors = settings.anchors if settings.kind != "traffic" else ()
            n_anchors, sample_days, n_older, finished = len(anchors), len(sample.days), sample.n_older, False
            ids = [item.item_id for item in sample.items]
        items: list[Item] = list(read.load_items(store, ids).values())
        if existing is None and settings.kind != "traffic":
            items += [anchor.item for anchor in settings.anchors]
    n_traffic = len(ids) - n_anchors if existing is not None else len(ids)
    return PlanPreview(
        n_anchors=n_anchors,
        n_traffic=n_traffic,
        n_days=sample_days,
        n_older_answers=n_older,
        most_usd=judge.plan_cost(items),
        already_finished=finished,
    )


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
            plan, n_older, finished = _open_run(store, settings, judge, clock)
            if finished:
                return _nothing_to_do(plan)
            run = _Run(settings, judge, plan, clock, on_progress, stop)
            heartbeat = asyncio.create_task(_keep_lease(settings, lease, clock, stop))
            try:
                await run.grade(_worth_grading(read.run_left(store, plan.run_id)))
            finally:
                heartbeat.cancel()
                await asyncio.gather(heartbeat, return_exceptions=True)
            return _close_run(store, run, n_older)
        finally:
            locks.release_lease(store, lease)


# ---------------------------------------------------------------- plan


def _open_run(store: Store, settings: RunSettings, judge: Judge, clock: Clock) -> tuple[RunPlan, int, bool]:
    """Find the slot's run or plan a new one: (plan, answers before the window, whether it is finished)."""
    now = clock.now()
    ruler = judge.ruler
    slot_utc = utc_text(settings.slot)
    if write.register_ruler(store, app=settings.app, ruler=ruler, now=now):
        _note_new_setup(store, settings, ruler.ruler_id)
    existing = read.run_at(store, settings.app, ruler.ruler_id, slot_utc)
    if existing is not None:
        plan = _plan_of(existing)
        if existing["status"] == "finished":
            return plan, 0, True
        write.reopen_run(store, plan.run_id)
        return plan, 0, False
    _close_older_runs(store, settings, clock)
    rollup.choose_segment_keys(store, settings.app, settings.segment_keys)
    set_id = write.save_anchor_set(
        store, app=settings.app, name=settings.anchor_set_name, anchors=settings.anchors, now=now
    )
    sample = _sample(store, settings, judge)
    anchors = () if settings.kind == "traffic" else settings.anchors
    items = tuple(
        PlannedItem(item_id=write.anchor_item_id(settings.app, anchor), source=Source.ANCHOR, inclusion_probability=1.0)
        for anchor in anchors
    )
    plan = RunPlan(
        run_id=content_hash("run", settings.app, ruler.ruler_id, slot_utc),
        app=settings.app,
        ruler_id=ruler.ruler_id,
        anchor_set_id=set_id if anchors else None,
        slot_utc=slot_utc,
        slot_day=day_of(settings.slot, store.zone).isoformat(),
        kind=settings.kind,
        items=items + sample.items,
        sampled_days=sample.days,
    )
    write.begin_run(store, plan, now=now)
    return plan, sample.n_older, False


def _sample(store: Store, settings: RunSettings, judge: Judge) -> TrafficSample:
    if settings.kind == "anchors":
        return TrafficSample(items=(), days=(), n_older=0, oldest_day=None)
    return draw_traffic(
        store,
        app=settings.app,
        ruler_id=judge.ruler.ruler_id,
        traffic=settings.traffic,
        slot_day=day_of(settings.slot, store.zone).isoformat(),
        since=settings.since,
    )


def _plan_of(row: read.Row) -> RunPlan:
    """The stored run as a plan; its items are read from the store, so none are listed."""
    names = ("run_id", "app", "ruler_id", "anchor_set_id", "slot_utc", "slot_day", "kind")
    return RunPlan(**{name: row[name] for name in names}, items=(), sampled_days=())


def _close_older_runs(store: Store, settings: RunSettings, clock: Clock) -> None:
    """Close runs of earlier slots that were cut off: their sample ends where they ended."""
    for row in read.open_runs(store, settings.app):
        write.give_up_rest(store, row["run_id"])
        reason = None if row["status"] == "stopped" else StopReason.INTERRUPTED
        message = row["message"] or "cut off, and not taken up again before the next scheduled run"
        write.close_abandoned_run(store, row["run_id"], stop_reason=reason, message=message, now=clock.now())


def _note_new_setup(store: Store, settings: RunSettings, ruler_id: str) -> None:
    """Mark the change on purpose from one judge setup to the next."""
    setups = read.rulers(store, settings.app)
    new = next(row for row in setups if row["ruler_id"] == ruler_id)
    if new["position"] == 1:
        return
    old = next(row for row in setups if row["position"] == new["position"] - 1)
    parts = {
        "model": ("model_asked",),
        "rubric": ("rubric_id",),
        "prompt": ("prompt_template",),
        "parameters": ("parameters_json", "output_mode"),
    }
    changed = [name for name, columns in parts.items() if any(old[column] != new[column] for column in columns)]
    write.add_event(
        store,
        app=settings.app,
        at=settings.slot,
        kind="setup",
        text=f"judge setup v{new['position']}: {' and '.join(changed) or 'settings'} changed",
        by_whom="scorer",
        ruler_id=ruler_id,
    )


def _worth_grading(rows: Sequence[read.Row]) -> list[read.Row]:
    """Items without a verdict, and those whose verdict failed in a way that may pass."""
    return [
        row for row in rows if row["unscored_reason"] is None or UnscoredReason(row["unscored_reason"]).is_transient
    ]


# ---------------------------------------------------------------- grading


class _Run:
    """The state of one run while it goes on."""

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
        self.stop_reason: StopReason | None = None
        self.stop_message = ""
        self.n_planned = 0
        self.n_scored = 0
        self.n_unscored = 0
        self.n_calls = 0
        self.spent_usd = 0.0
        self.reasons: dict[str, int] = {}
        self.started = time.monotonic()
        self._unanswered_in_a_row = 0

    async def grade(self, left: Sequence[read.Row]) -> None:
        """Grade what is left, a few at once, until done or stopped."""
        self.n_planned = len(left)
        if not left:
            return
        writer = OutcomeWriter(self.settings.store_path, self.plan, self.judge.ruler.rubric.criterion)
        writer.start()
        try:
            with open_store(self.settings.store_path) as gate_store, open_store(self.settings.store_path) as texts:
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
        workers = [
            asyncio.create_task(self._work(feed, gate, writer))
            for _ in range(min(self.settings.concurrency, self.n_planned))
        ]
        ended = asyncio.create_task(self.stop_wanted.wait())
        try:
            done = asyncio.gather(*workers)
            await asyncio.wait([done, ended], return_when=asyncio.FIRST_COMPLETED)
            if not done.done():
                await self._wind_down(workers)
            await done
        except asyncio.CancelledError:
            if not self.stop_wanted.is_set():
                raise
        finally:
            ended.cancel()
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _wind_down(self, workers: Sequence[asyncio.Task[None]]) -> None:
        """Let calls in flight come home; they are paid for."""
        if self.stop_reason is None:
            self.stop_reason = StopReason.INTERRUPTED
            self.stop_message = "stopped from outside; start it again to go on where it stopped"
        await asyncio.wait(workers, timeout=GRACE_S)
        for worker in workers:
            worker.cancel()

    async def _work(self, feed: _Feed, gate: BudgetGate, writer: OutcomeWriter) -> None:
        while not self.ending:
            following = feed.next()
            if following is None:
                return
            await self._grade_one(*following, gate, writer)

    @property
    def ending(self) -> bool:
        """Whether no further item should be taken."""
        return self.stop_reason is not None or self.stop_wanted.is_set()

    async def _grade_one(
        self, item_id: str, source: Source, item: Item, gate: BudgetGate, writer: OutcomeWriter
    ) -> None:
        outcome = await self.judge.grade(item, item_id=item_id, gate=gate)
        if outcome.attempts or outcome.verdict is not None:
            graded = GradedItem(item_id=item_id, source=source, outcome=outcome, graded_utc=utc_text(self.clock.now()))
            while writer.is_full() and writer.failure is None:
                await asyncio.sleep(0.05)
            writer.put(graded)
        self._count(outcome, gate)

    def _count(self, outcome: GradeOutcome, gate: BudgetGate) -> None:
        if outcome.stop is not None and self.stop_reason is None:
            self.stop_reason, self.stop_message = outcome.stop, outcome.stop_message
        verdict = outcome.verdict
        if verdict is not None:
            if verdict.score is not None:
                self.n_scored += 1
            else:
                self.n_unscored += 1
                name = str(verdict.unscored_reason)
                self.reasons[name] = self.reasons.get(name, 0) + 1
            self._watch_for_silence(verdict.unscored_reason, outcome)
        self.n_calls, self.spent_usd = gate.n_calls, gate.spent_usd
        if self.on_progress is not None:
            self.on_progress(self.progress())

    def _watch_for_silence(self, reason: UnscoredReason | None, outcome: GradeOutcome) -> None:
        """End a run against a server that is not there, before it has tried every item in vain."""
        self._unanswered_in_a_row = self._unanswered_in_a_row + 1 if reason in _NOBODY_ANSWERS else 0
        if self._unanswered_in_a_row >= UNREACHABLE_AFTER and self.stop_reason is None:
            last = outcome.attempts[-1].message if outcome.attempts else str(reason)
            self.stop_reason = StopReason.UNREACHABLE
            self.stop_message = (
                f"the judge did not answer {self._unanswered_in_a_row} items in a row ({last}); check judge.base_url"
                " and whether the server is up"
            )

    def progress(self) -> Progress:
        """How far the run is."""
        return Progress(
            n_planned=self.n_planned,
            n_done=self.n_scored + self.n_unscored,
            n_scored=self.n_scored,
            n_unscored=self.n_unscored,
            n_calls=self.n_calls,
            spent_usd=self.spent_usd,
            elapsed_s=time.monotonic() - self.started,
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


# ---------------------------------------------------------------- closing


def _close_run(store: Store, run: _Run, n_older: int) -> RunReport:
    counts = read.run_counts(store, run.plan.run_id)
    status, message = _status(run, counts)
    write.finish_run(
        store, run.plan.run_id, status=status, stop_reason=run.stop_reason, message=message, now=run.clock.now()
    )
    _note_instrument_change(store, run)
    return RunReport(
        run_id=run.plan.run_id,
        slot_utc=run.plan.slot_utc,
        status=status,
        stop_reason=run.stop_reason,
        message=message,
        n_anchors=counts["n_anchors"],
        n_traffic=counts["n_traffic"],
        n_scored=counts["n_scored"],
        n_unscored=counts["n_unscored"],
        n_left=counts["n_anchors"] + counts["n_traffic"] - counts["n_scored"] - counts["n_unscored"],
        n_calls=run.n_calls,
        spent_usd=run.spent_usd,
        elapsed_s=time.monotonic() - run.started,
        n_older_answers=n_older,
        reasons=run.reasons,
    )


def _status(run: _Run, counts: read.Row) -> tuple[str, str]:
    """Finished, stopped (goes on when started again), or failed (mostly without scores: it enters no mean)."""
    tried = counts["n_scored"] + counts["n_unscored"]
    if tried and counts["n_scored"] < MOSTLY_FAILED_BELOW * tried:
        worst = max(run.reasons, key=lambda reason: run.reasons[reason], default="")
        message = run.stop_message or (
            f"{counts['n_unscored']} of {tried} verdicts have no score (mostly {worst}); the run enters no mean"
        )
        return "failed", message
    if run.stop_reason is not None:
        return "stopped", run.stop_message
    return "finished", ""


def _note_instrument_change(store: Store, run: _Run) -> None:
    """Log when something else answered than in the run before: same model asked, another one returned, say."""
    rows = read.instruments_by_run(store, run.plan.app, run.plan.ruler_id)
    ours = [row for row in rows if row["run_id"] == run.plan.run_id]
    earlier = [row for row in rows if row["slot_utc"] < run.plan.slot_utc]
    if not ours or not earlier or any(event["run_id"] == run.plan.run_id for event in read.events(store, run.plan.app)):
        return
    last_slot = earlier[-1]["slot_utc"]
    before = max((row for row in earlier if row["slot_utc"] == last_slot), key=lambda row: row["n"])
    now = max(ours, key=lambda row: row["n"])
    if before["instrument_id"] == now["instrument_id"]:
        return
    names = {
        "resolved_model": "returned model",
        "fingerprint": "fingerprint",
        "output_mode": "output mode",
        "parameters_json": "parameters",
    }
    changes = [f"{names[key]} {before[key]} → {now[key]}" for key in names if before[key] != now[key]]
    write.add_event(
        store,
        app=run.plan.app,
        at=run.settings.slot,
        kind="instrument",
        text="what answers changed: " + "; ".join(changes),
        by_whom="scorer",
        ruler_id=run.plan.ruler_id,
        run_id=run.plan.run_id,
    )


def _nothing_to_do(plan: RunPlan) -> RunReport:
    return RunReport(
        run_id=plan.run_id,
        slot_utc=plan.slot_utc,
        status="finished",
        stop_reason=None,
        message="",
        n_anchors=0,
        n_traffic=0,
        n_scored=0,
        n_unscored=0,
        n_left=0,
        n_calls=0,
        spent_usd=0.0,
        elapsed_s=0.0,
        already_finished=True,
    )


def check_kind(kind: str) -> str:
    """Return a known kind of run.

    Raises:
        UsageError: an unknown one.
    """
    if kind not in ("all", "anchors", "traffic"):
        raise UsageError(f"unknown kind of run {kind!r}; use all, anchors or traffic")
    return kind
