"""The steps of a pick as commands take them, from a configuration: what it would cost, grading, its review."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from evaluator.clock import Clock
from evaluator.config import Config
from evaluator.errors import UsageError
from evaluator.judges.base import Judge
from evaluator.picking.candidates import draw_candidates
from evaluator.picking.freezing import FrozenSet, freeze_pick, tag_keys
from evaluator.picking.grading import GradingPreview, grade_pick, preview_new, preview_rest
from evaluator.picking.pick import (
    Pick,
    PickRequest,
    find_pick,
    open_pick,
    pick_to_go_on_with,
    with_whole_id,
)
from evaluator.picking.review import PickSummary, ReviewItem, accept_all, is_graded, load_review, summarise
from evaluator.picking.table import Marks, load_marks
from evaluator.records import Rubric
from evaluator.scoring.allowance import Allowance, left_today
from evaluator.scoring.closing import Progress, RunReport
from evaluator.scoring.pace import Pace, usual_pace
from evaluator.scoring.plan import RunSettings
from evaluator.scoring.setup import build_judge, configured_rubric, settings_aside, without_secrets
from evaluator.scoring.untouched import leaving_no_database
from evaluator.store import read, write
from evaluator.store.db import Store, open_store


@dataclass(frozen=True, kw_only=True)
class PickPreview:
    """What a pick would do. ``is_new`` is False when one that was begun is gone on with."""

    is_new: bool
    n_candidates: int
    n_flagged: int
    n_looked_at: int
    left_out: Mapping[str, int]
    segment_key: str | None
    grading: GradingPreview
    minutes: float
    pace: Pace
    left_today: Allowance


@dataclass(frozen=True, kw_only=True)
class PickRun:
    """What came of grading; ``is_complete`` when both gradings have come to their end."""

    pick: Pick
    rubric: Rubric
    report: RunReport
    is_complete: bool


@dataclass(frozen=True, kw_only=True)
class Review:
    """A graded pick with what there is to decide."""

    pick: Pick
    rubric: Rubric
    items: tuple[ReviewItem, ...]
    summary: PickSummary


async def preview_pick(config: Config, request: PickRequest, *, restart: bool, now: datetime) -> PickPreview:
    """Draw or look up candidates and their cost, without a call, the judge's key, or anything written.

    Raises:
        JudgewatchError: the configuration or the store cannot be used, or there is nothing to pick from.
    """
    with leaving_no_database(config) as looked_at:
        return await _preview_pick(looked_at, request, restart=restart, now=now)


async def _preview_pick(config: Config, request: PickRequest, *, restart: bool, now: datetime) -> PickPreview:
    judge, _ = build_judge(without_secrets(config))
    try:
        with open_store(config.store_path, zone=config.schedule.zone) as store:
            request = with_whole_id(store, config.app.name, request)
            found = pick_to_go_on_with(
                store, request, app=config.app.name, ruler_id=judge.ruler.ruler_id, restart=restart
            )
            if found is None:
                return _preview_new(store, config, request, judge, now)
            grading, pace = preview_rest(store, found, judge), usual_pace(store, config.app.name, judge.ruler.ruler_id)
            return PickPreview(
                is_new=False,
                n_candidates=len(found.items),
                n_flagged=sum(bool(item.flags) for item in found.items),
                n_looked_at=found.n_looked_at,
                left_out=found.left_out,
                segment_key=found.segment_key,
                grading=grading,
                minutes=pace.minutes(grading.n_calls, config.judge),
                pace=pace,
                left_today=left_today(config, now),
            )
    finally:
        await judge.close()


def _preview_new(store: Store, config: Config, request: PickRequest, judge: Judge, now: datetime) -> PickPreview:
    settings = _settings(config, now)
    drawn = draw_candidates(store, request.draw(settings, most_chars=config.judge.max_prompt_chars))
    grading = preview_new(drawn.texts, request.n, judge)
    pace = usual_pace(store, config.app.name, judge.ruler.ruler_id)
    return PickPreview(
        is_new=True,
        n_candidates=len(drawn.items),
        n_flagged=sum(bool(item.flags) for item in drawn.items),
        n_looked_at=drawn.n_looked_at,
        left_out=drawn.left_out,
        segment_key=drawn.segment_key,
        grading=grading,
        minutes=pace.minutes(grading.n_calls, config.judge),
        pace=pace,
        left_today=left_today(config, now),
    )


def _settings(config: Config, now: datetime) -> RunSettings:
    """Settings of a run without anchors; the budget of the day is that of every run."""
    return replace(settings_aside(config, slot=now), kind="traffic")


async def run_pick(
    config: Config,
    request: PickRequest,
    *,
    restart: bool,
    clock: Clock,
    on_start: Callable[[GradingPreview], None],
    on_progress: Callable[[Progress], None] | None = None,
    stop: asyncio.Event | None = None,
    without_flagged: bool = False,
) -> PickRun:
    """Begin or go on with a pick, and grade what is left of it.

    Args:
        config: The configuration.
        request: What is asked for.
        restart: Begin a new pick, whatever there is.
        clock: Wall clock.
        on_start: Called before the first call with what is left and its cost; not when nothing is left.
        on_progress: Called after every item.
        stop: Set from outside to end early.
        without_flagged: Choose none that may hold personal data, if nothing is chosen yet.

    Raises:
        LeaseHeldError: another scorer works on this app.
        JudgewatchError: something cannot be used, or there is nothing to pick from.
    """
    judge, rubric = build_judge(config)
    settings = _settings(config, clock.now())
    try:
        with open_store(config.store_path, zone=config.schedule.zone) as store:
            pick = open_pick(
                store,
                with_whole_id(store, config.app.name, request),
                settings,
                judge,
                most_chars=config.judge.max_prompt_chars,
                now=clock.now(),
                restart=restart,
            )
            left = preview_rest(store, pick, judge)
        if left.n_calls:
            on_start(left)
        report = await grade_pick(
            pick,
            settings,
            judge,
            clock=clock,
            on_progress=on_progress,
            stop=stop,
            without_flagged=without_flagged,
        )
    finally:
        await judge.close()
    with open_store(config.store_path, create=False) as store:
        return PickRun(pick=pick, rubric=rubric, report=report, is_complete=is_graded(store, pick))


def open_review(store: Store, pick: Pick, rubric: Rubric) -> Review:
    """Load what there is to decide.

    Raises:
        UsageError: the pick is not graded yet.
    """
    items = load_review(store, pick, rubric)
    return Review(pick=pick, rubric=rubric, items=tuple(items), summary=summarise(store, pick, rubric, items))


def accept_unflagged(
    store: Store, review: Review, *, flagged_too: bool, by_whom: str, now: datetime
) -> tuple[Review, int]:
    """Say yes to all that is undecided; returns the review as it is then, and how many flagged ones were left out."""
    _, n_left_out = accept_all(store, review.pick, review.items, flagged_too=flagged_too, by_whom=by_whom, now=now)
    return open_review(store, review.pick, review.rubric), n_left_out


def pick_of_name(config: Config, store: Store, name: str) -> tuple[Pick, Rubric]:
    """Return the newest pick of a name with the rubric it is graded by.

    Raises:
        UsageError: there is none of that name.
    """
    app = config.app.name
    pick = find_pick(store, app, name)
    if pick is None:
        names = sorted({row["anchor_set_name"] for row in read.list_picks(store, app)})
        known = f"; there are {', '.join(names)}" if names else ""
        raise UsageError(f"app {app!r} has no pick {name!r}{known}; `judgewatch anchors pick --name {name}` begins one")
    return pick, configured_rubric(config)


def freeze(
    config: Config, name: str, *, marks_file: Path | None, by_whom: str, now: datetime, force: bool = False
) -> tuple[FrozenSet, Review, Marks | None]:
    """Take in the marks of a table, if one is named, and write the accepted answers as an anchor set.

    Raises:
        UsageError: no such pick, not graded yet, too few accepted, or another set under that name.
        DataFileError: the table cannot be used; nothing of it is taken in.
    """
    with open_store(config.store_path, zone=config.schedule.zone, create=False) as store:
        pick, rubric = pick_of_name(config, store, name)
        review = open_review(store, pick, rubric)
        marks = None
        if marks_file is not None:
            marks = load_marks(marks_file, [item.item_id for item in review.items])
            write.decide_picks(store, pick.pick_id, marks.decisions, by_whom=by_whom, now=now)
            review = open_review(store, pick, rubric)
        frozen = freeze_pick(
            store,
            pick,
            review.items,
            folder=config.folder,
            rubric=rubric,
            keys=tag_keys(store, config.app.name, config.traffic.segment_keys()),
            now=now,
            force=force,
        )
    return frozen, review, marks
