"""What a run will grade, decided and written down before its first call; and what a cut-off run left over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from evaluator.clock import Clock, day_of, utc_text
from evaluator.config import TrafficConfig
from evaluator.errors import UsageError
from evaluator.golden_sets import check_same_answers
from evaluator.judges.base import Judge
from evaluator.records import Anchor, Purpose, Ruler, Source, StopReason, UnscoredReason, content_hash
from evaluator.scoring.budget import Limits
from evaluator.scoring.cached import why_not_counted
from evaluator.scoring.closing import mostly_failed
from evaluator.scoring.sampler import TrafficSample, draw_traffic
from evaluator.store import read, rollup, write
from evaluator.store.db import Store, open_store
from evaluator.store.write import PlannedItem, RunPlan


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """All that a run needs to know beside the judge.

    ``kind`` is "all", "anchors" or "traffic"; ``segment_keys`` as in ``rollup.choose_segment_keys``. A run that stands
    aside (``purpose``) grades the stored answers ``item_ids`` and nothing else.
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
    purpose: Purpose = Purpose.SCHEDULED
    item_ids: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class PlanPreview:
    """What a run would do, before any call."""

    n_anchors: int
    n_traffic: int
    n_days: int
    n_older_answers: int
    most_usd: float | None
    already_finished: bool


def check_kind(kind: str) -> str:
    """Return a known kind of run.

    Raises:
        UsageError: an unknown one.
    """
    if kind not in ("all", "anchors", "traffic"):
        raise UsageError(f"unknown kind of run {kind!r}; use all, anchors or traffic")
    return kind


def preview_run(settings: RunSettings, judge: Judge) -> PlanPreview:
    """Plan a run without writing its plan or calling the judge.

    Raises:
        JudgewatchError: the store cannot be used.
    """
    check_kind(settings.kind)
    with open_store(settings.store_path, zone=settings.zone) as store:
        existing = read.run_at(store, settings.app, judge.ruler.ruler_id, utc_text(settings.slot))
        if existing is not None:
            return _preview_rest(store, existing, judge)
        sample = _sample(store, settings, judge)
        anchors = () if settings.kind == "traffic" else settings.anchors
        check_same_answers(store, app=settings.app, name=settings.anchor_set_name, anchors=anchors)
        answers = read.load_items(store, (item.item_id for item in sample.items)).values()
        return PlanPreview(
            n_anchors=len(anchors),
            n_traffic=len(sample.items),
            n_days=len(sample.days),
            n_older_answers=sample.n_older,
            most_usd=judge.plan_cost([*(anchor.item for anchor in anchors), *answers]),
            already_finished=False,
        )


def _preview_rest(store: Store, run: read.Row, judge: Judge) -> PlanPreview:
    """What a run that was cut off would still do."""
    is_over = run["status"] in ("finished", "closed")
    left = [] if is_over else list(worth_grading(read.run_left(store, run["run_id"])))
    n_anchors = sum(row["source"] == Source.ANCHOR for row in left)
    return PlanPreview(
        n_anchors=n_anchors,
        n_traffic=len(left) - n_anchors,
        n_days=0,
        n_older_answers=0,
        most_usd=judge.plan_cost(list(read.load_items(store, (row["item_id"] for row in left)).values())),
        already_finished=is_over,
    )


def open_run(store: Store, settings: RunSettings, judge: Judge, clock: Clock) -> tuple[RunPlan, int, str | None]:
    """Find the slot's run or plan a new one.

    Returns:
        (plan, number of answers before the window, status of a run that is over and None of one that is open now).
    """
    check_kind(settings.kind)
    now = clock.now()
    ruler = judge.ruler
    slot_utc = utc_text(settings.slot)
    register_setup(store, settings, ruler, now)
    existing = read.run_at(store, settings.app, ruler.ruler_id, slot_utc)
    if existing is not None:
        plan = _plan_of(existing)
        if existing["status"] in ("finished", "closed"):
            return plan, 0, existing["status"]
        write.reopen_run(store, plan.run_id)
        return plan, 0, None
    if settings.purpose.is_aside:
        plan = _plan_aside(store, settings, judge)
        write.begin_run(store, plan, now=now)
        return replace(plan, items=()), 0, None
    _close_older_runs(store, settings, clock)
    rollup.choose_segment_keys(store, settings.app, settings.segment_keys)
    plan, n_older = _new_plan(store, settings, judge, now)
    write.begin_run(store, plan, now=now)
    return replace(plan, items=()), n_older, None  # from here on the items are read from the store


def _plan_aside(store: Store, settings: RunSettings, judge: Judge) -> RunPlan:
    """Plan a run of answers named one by one, whose verdicts enter no mean."""
    slot_utc = utc_text(settings.slot)
    return RunPlan(
        run_id=content_hash("run", settings.app, judge.ruler.ruler_id, slot_utc),
        app=settings.app,
        ruler_id=judge.ruler.ruler_id,
        anchor_set_id=None,
        slot_utc=slot_utc,
        slot_day=day_of(settings.slot, store.zone).isoformat(),
        kind="traffic",
        items=tuple(
            PlannedItem(item_id=item_id, source=Source.TRAFFIC, inclusion_probability=1.0)
            for item_id in settings.item_ids
        ),
        sampled_days=(),
        purpose=settings.purpose,
    )


def _new_plan(store: Store, settings: RunSettings, judge: Judge, now: datetime) -> tuple[RunPlan, int]:
    anchors = () if settings.kind == "traffic" else settings.anchors
    set_id = None
    if anchors:
        check_same_answers(store, app=settings.app, name=settings.anchor_set_name, anchors=anchors)
        set_id = write.save_anchor_set(store, app=settings.app, name=settings.anchor_set_name, anchors=anchors, now=now)
    sample = _sample(store, settings, judge)
    items = tuple(
        PlannedItem(item_id=write.anchor_item_id(settings.app, anchor), source=Source.ANCHOR, inclusion_probability=1.0)
        for anchor in anchors
    )
    slot_utc = utc_text(settings.slot)
    plan = RunPlan(
        run_id=content_hash("run", settings.app, judge.ruler.ruler_id, slot_utc),
        app=settings.app,
        ruler_id=judge.ruler.ruler_id,
        anchor_set_id=set_id,
        slot_utc=slot_utc,
        slot_day=day_of(settings.slot, store.zone).isoformat(),
        kind=settings.kind,
        items=items + sample.items,
        sampled_days=sample.days,
    )
    return plan, sample.n_older


def _sample(store: Store, settings: RunSettings, judge: Judge) -> TrafficSample:
    if settings.kind == "anchors" or not settings.traffic.grade:
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
    return RunPlan(**{name: row[name] for name in names}, items=(), sampled_days=(), purpose=Purpose(row["purpose"]))


def _close_older_runs(store: Store, settings: RunSettings, clock: Clock) -> None:
    """Close runs of earlier slots that were cut off: their sample ends where they ended."""
    for row in read.open_runs(store, settings.app, before_slot_utc=utc_text(settings.slot)):
        write.give_up_rest(store, row["run_id"])
        if row["status"] == "failed":
            continue  # closed already; only its sample was still open
        counts = read.run_counts(store, row["run_id"])
        write.close_abandoned_run(
            store,
            row["run_id"],
            status="failed" if not counts["n_scored"] or mostly_failed(counts) else "closed",
            stop_reason=None if row["status"] == "stopped" else StopReason.INTERRUPTED,
            message=row["message"] or "cut off, and not taken up again before the next scheduled run",
            now=clock.now(),
            not_counted=why_not_counted(store, row["run_id"]),
        )


def register_setup(store: Store, settings: RunSettings, ruler: Ruler, now: datetime) -> None:
    """Store a judge setup; that scheduled runs use another than before is noted as a change made on purpose."""
    write.register_ruler(store, app=settings.app, ruler=ruler, now=now)
    if not settings.purpose.is_aside:
        _note_new_setup(store, settings, ruler.ruler_id)


def _note_new_setup(store: Store, settings: RunSettings, ruler_id: str) -> None:
    """Mark the change on purpose from one judge setup to the next, before its first run that counts."""
    setups = read.rulers(store, settings.app)
    new = next(row for row in setups if row["ruler_id"] == ruler_id)
    graded = [row for row in setups if row["n_runs"] and row["output_mode"] != "imported"]
    old = max(graded, key=lambda row: row["last_slot_utc"], default=None)
    if new["n_runs"] or old is None:
        return
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


def worth_grading(rows: Iterable[read.Row]) -> Iterator[read.Row]:
    """Items without a verdict, and those whose verdict failed in a way that may pass."""
    return (
        row for row in rows if row["unscored_reason"] is None or UnscoredReason(row["unscored_reason"]).is_transient
    )


def ids_left(store: Store, run_id: str) -> list[str]:
    """Ids of the items of a run that are still to be graded, in order."""
    return [row["item_id"] for row in worth_grading(read.run_left(store, run_id))]
