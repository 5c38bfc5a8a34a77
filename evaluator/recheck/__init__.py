"""Grades stored scores of one's own judge again, and says whether the judge moved. No waiting, no labels.

Some of the scores are recent: the configured judge must reproduce them, or the prompt, the model or the scale is not
theirs. Some are old: what these differ by beyond that is the judge's own move. The answers are graded by the runner of
scheduled runs, under the same budget and lease; their verdicts stand aside and enter no mean.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from evaluator.clock import Clock, parse_utc
from evaluator.config import Config
from evaluator.importing import analyse_anew
from evaluator.judges.base import Judge
from evaluator.recheck.asking import FEW, Prepared, Question, begin, prepare
from evaluator.recheck.result import LEVEL, make_result, smallest_of
from evaluator.recheck.since_last import since_last
from evaluator.recheck.stored import Reading
from evaluator.recheck.unread import why_unread
from evaluator.records import Purpose, Rubric
from evaluator.scoring.allowance import Allowance, left_today
from evaluator.scoring.closing import Progress, RunReport
from evaluator.scoring.pace import Pace, usual_pace
from evaluator.scoring.plan import RunSettings, ids_left
from evaluator.scoring.runner import run_once
from evaluator.scoring.setup import build_judge, settings_aside, without_secrets
from evaluator.scoring.slot import explain_stop
from evaluator.scoring.untouched import leaving_no_database
from evaluator.store import read, write
from evaluator.store.db import Store, open_store
from evaluator.store.write import recheck_item_id

__all__ = ["FEW", "Question", "Reading", "RecheckPreview", "RecheckReport", "preview_recheck", "run_recheck"]


@dataclass(frozen=True, kw_only=True)
class RecheckPreview:
    """What a recheck would do and cost. ``most_usd`` is None when no price is known; ``facts`` as in the result.

    ``prepared`` saves ``run_recheck`` from reading the file once more.
    """

    prepared: Prepared
    n_calls: int
    most_usd: float | None
    minutes: float
    pace: Pace
    is_finished: bool
    is_begun: bool
    facts: dict[str, Any]
    left_today: Allowance


@dataclass(frozen=True, kw_only=True)
class RecheckReport:
    """What came of a recheck. ``result`` speaks of what was graded so far; ``run`` is None when no call was due."""

    recheck_id: str
    result: dict[str, Any]
    is_complete: bool
    run: RunReport | None


def preview_recheck(config: Config, question: Question, *, clock: Clock) -> RecheckPreview:
    """Read the file, choose answers and tell the cost; no call, no key, and nothing of the answers is written.

    Raises:
        JudgewatchError: the configuration, the file or the store cannot be used.
    """
    now = clock.now()
    with leaving_no_database(config) as looked_at:
        judge, _ = build_judge(without_secrets(looked_at))
        with open_store(looked_at.store_path, zone=config.schedule.zone) as store:
            prepared = prepare(store, question, judge, config=config, now=now)
            return _preview(store, prepared, judge, looked_at, now)


async def run_recheck(
    config: Config,
    question: Question,
    *,
    clock: Clock,
    prepared: Prepared | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    stop: asyncio.Event | None = None,
) -> RecheckReport:
    """Grade what a recheck chose, or what one that was cut off left over; keep and return the result.

    Args:
        config: The configuration.
        question: What is asked.
        clock: Wall clock.
        prepared: What ``preview_recheck`` prepared for this question; prepared here when None.
        on_progress: Called after every answer.
        stop: Set from outside to end early.

    Raises:
        LeaseHeldError: another scorer works on this app.
        JudgewatchError: the configuration, the file or the store cannot be used.
    """
    judge, rubric = build_judge(config)
    try:
        prepared = await asyncio.to_thread(_begin, config, question, judge, clock, prepared)
        if prepared.is_finished:
            return _finished(config, prepared)
        settings = _run_settings(config, prepared)
        run = await run_once(settings, judge, clock=clock, on_progress=on_progress, stop=stop)
    finally:
        await judge.close()
    return await asyncio.to_thread(_end, config, prepared, rubric, run, clock)


def _begin(config: Config, question: Question, judge: Judge, clock: Clock, prepared: Prepared | None) -> Prepared:
    config.store_path.parent.mkdir(parents=True, exist_ok=True)
    with open_store(config.store_path, zone=config.schedule.zone) as store:
        if prepared is None:
            prepared = prepare(store, question, judge, config=config, now=clock.now())
        return begin(store, prepared, question, judge, config=config, now=clock.now())


def _end(config: Config, prepared: Prepared, rubric: Rubric, run: RunReport, clock: Clock) -> RecheckReport:
    """Work out the result; it is kept when the run came to its end."""
    is_complete = run.status == "finished"
    with open_store(config.store_path, create=False) as store:
        rows = read.recheck_scores(store, prepared.recheck_id)
        smallest = smallest_of(rubric, config.alarms.smallest_change)
        own = read.recheck(store, prepared.recheck_id)
        last = None
        if own is not None:
            last = since_last(store, recheck=own, rows=rows, smallest_change=smallest, level=LEVEL)
        result = make_result(
            rows,
            prepared.facts,
            rubric,
            smallest_change=config.alarms.smallest_change,
            zone=store.zone,
            last=last,
        )
        if is_complete:
            write.finish_recheck(store, prepared.recheck_id, result, now=clock.now())
        result = _named(store, prepared.recheck_id, result)
        unread = _why_unread(store, prepared, run, config)
    if is_complete:  # what is said of imported scores tells what their recheck found
        analyse_anew(config.store_path, config.app.name, clock.now(), only_imported=True)
    if run.message:
        run = replace(run, message="; ".join(filter(None, (explain_stop(run, config), unread))))
    return RecheckReport(recheck_id=prepared.recheck_id, result=result, is_complete=is_complete, run=run)


def _why_unread(store: Store, prepared: Prepared, run: RunReport, config: Config) -> str:
    if run.status != "failed" or run.stop_reason is not None:
        return ""
    return why_unread(store, prepared.recheck_id, config.judge, show_reply=config.traffic.store_reasons)


def _finished(config: Config, prepared: Prepared) -> RecheckReport:
    with open_store(config.store_path, create=False) as store:
        result = _named(store, prepared.recheck_id, prepared.facts)
    return RecheckReport(recheck_id=prepared.recheck_id, result=result, is_complete=True, run=None)


def _named(store: Store, recheck_id: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """A result as it is shown: its furthest answers with the judge's reasons, which it does not keep itself."""
    return {**result, "furthest": read.with_reasons(store, recheck_id, result["furthest"])}


def _preview(store: Store, prepared: Prepared, judge: Judge, config: Config, now: datetime) -> RecheckPreview:
    if prepared.is_finished:
        items = []
    elif prepared.row is None:
        items = [item.item for item in prepared.items]
    else:
        items = list(read.load_items(store, _ids_to_grade(store, prepared)).values())
    pace = usual_pace(store, config.app.name, judge.ruler.ruler_id)
    return RecheckPreview(
        prepared=prepared,
        n_calls=len(items),
        most_usd=judge.plan_cost(items),
        minutes=pace.minutes(len(items), config.judge),
        pace=pace,
        is_finished=prepared.is_finished,
        is_begun=prepared.row is not None,
        facts=dict(prepared.facts),
        left_today=left_today(config, now),
    )


def _ids_to_grade(store: Store, prepared: Prepared) -> list[str]:
    """Answers of a recheck that was begun before and have no verdict worth keeping."""
    row = prepared.row
    if row is None:
        return []
    if read.run_at(store, row["app"], row["ruler_id"], row["started_utc"]) is not None:
        return ids_left(store, row["run_id"])
    return [found["item_id"] for found in read.recheck_scores(store, prepared.recheck_id)]


def _run_settings(config: Config, prepared: Prepared) -> RunSettings:
    """A run of the chosen answers and of nothing else, at the instant the recheck began."""
    app = config.app.name
    if prepared.row is None:
        ids = [recheck_item_id(app, item.item.content_id) for item in prepared.items]
    else:
        with open_store(config.store_path, create=False) as store:
            ids = [row["item_id"] for row in read.recheck_scores(store, prepared.recheck_id)]
    settings = settings_aside(config, slot=parse_utc(prepared.started_utc))
    return replace(settings, purpose=Purpose.RECHECK, item_ids=ids)
