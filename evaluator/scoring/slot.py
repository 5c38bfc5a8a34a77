"""One scheduled run from end to end: fetch what sources and applications have, grade, then analyse. Prints nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from evaluator.analysis import AnalysisSettings, analyse_and_store
from evaluator.analysis.settings import Limit
from evaluator.clock import Clock, parse_utc
from evaluator.config import Config
from evaluator.findings import Findings
from evaluator.freshness import newest_analysis
from evaluator.importing.redacting import open_redactor
from evaluator.importing.spooled import SpoolReport, import_spooled
from evaluator.importing.verdicts import refresh_bridged
from evaluator.records import Purpose, StopReason
from evaluator.scoring.closing import Progress, RunReport
from evaluator.scoring.fetching import fetch_sources
from evaluator.scoring.noted import note_settings
from evaluator.scoring.runner import run_once
from evaluator.scoring.schedule import runs_per_year
from evaluator.scoring.setup import build_judge, run_settings, schedule_zone
from evaluator.scoring.waiting import spool_path
from evaluator.sources import PullOutcome, check_reading
from evaluator.store import read
from evaluator.store.db import open_store

_OF_THE_ADDRESS = frozenset({StopReason.NOT_AN_API, StopReason.UNREACHABLE})


@dataclass(frozen=True, kw_only=True)
class SlotReport:
    """What came of a scheduled run. ``spool`` is None without a spool folder, ``sources`` empty without a source."""

    run: RunReport
    ruler_id: str
    criterion: str
    spool: SpoolReport | None
    sources: tuple[PullOutcome, ...] = ()

    @property
    def n_fetched(self) -> int:
        """Answers that came in before the run."""
        n_spooled = 0 if self.spool is None else self.spool.n_new
        return n_spooled + sum(outcome.n_new for outcome in self.sources if outcome.key != "traffic.verdicts")

    @property
    def finished(self) -> bool:
        """Whether all went well, now or before; a day's budget that is used up is as planned."""
        stopped_by_budget = self.run.status == "stopped" and self.run.stop_reason is StopReason.BUDGET
        return self.run.status == "finished" or stopped_by_budget


def analysis_settings(config: Config, now: datetime) -> AnalysisSettings:
    """What the configuration says about alarms."""
    return AnalysisSettings(
        false_alarms_per_year=config.alarms.false_alarms_per_year,
        smallest_change=config.alarms.smallest_change,
        runs_per_year=runs_per_year(config.schedule.cron, schedule_zone(config), now),
        limits=tuple(Limit(**limit) for limit in config.limits.listed()),
    )


async def grade_slot(
    config: Config,
    *,
    slot: datetime,
    clock: Clock,
    kind: str = "all",
    since: str | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    stop: asyncio.Event | None = None,
) -> SlotReport:
    """Fetch answers from their sources and grade what the slot plans; ``refresh_analysis`` comes next.

    Args:
        config: The configuration.
        slot: The scheduled instant.
        clock: Wall clock.
        kind: "all", "anchors" or "traffic".
        since: First answered day to take; None for the configured window.
        on_progress: Called after every item.
        stop: Set from outside to end early.

    Raises:
        LeaseHeldError: another scorer works on this app.
        JudgewatchError: the configuration, a file it names, or the store cannot be used.
    """
    judge, rubric = build_judge(config)
    try:
        settings = run_settings(config, rubric, slot=slot, kind=kind, since=since)
        check_reading(config)
        note_settings(config)
        stopped = (lambda: False) if stop is None else stop.is_set
        alarms = analysis_settings(config, clock.now())
        sources = await fetch_sources(config, slot=slot, clock=clock, settings=alarms, stop=stopped)
        if stop is not None and stop.is_set():
            spool = None  # what applications have recorded waits for the next run
        else:
            spool = await asyncio.to_thread(fetch_spooled, config, clock.now())
        async with _linked(stop) as run_stop:
            run = await run_once(settings, judge, clock=clock, on_progress=on_progress, stop=run_stop)
    finally:
        await judge.close()
    if run.message:
        run = replace(run, message=explain_stop(run, config))
    return SlotReport(run=run, ruler_id=judge.ruler.ruler_id, criterion=rubric.criterion, spool=spool, sources=sources)


@asynccontextmanager
async def _linked(stop: asyncio.Event | None) -> AsyncIterator[asyncio.Event]:
    """An event for one run, set with the outer one: a run that lost its lease must not end what comes after it."""
    inner = asyncio.Event()

    async def forward(outer: asyncio.Event) -> None:
        await outer.wait()
        inner.set()

    link = None if stop is None else asyncio.create_task(forward(stop))
    try:
        yield inner
    finally:
        if link is not None:
            link.cancel()
            await asyncio.gather(link, return_exceptions=True)


def refresh_analysis(config: Config, report: SlotReport, *, now: datetime) -> Findings | None:
    """Analyse what was graded so far, if runs have ended since that was last done.

    Returns:
        The new analysis; None when none is due.

    Raises:
        StoreError: the database cannot be used.
    """
    app = config.app.name
    with open_store(config.store_path, create=False) as store:
        _, is_due = newest_analysis(store, app=app, ruler_id=report.ruler_id, criterion=report.criterion)
    if not is_due:
        return None
    settings = analysis_settings(config, now)
    findings = analyse_and_store(config.store_path, app=app, ruler_id=report.ruler_id, settings=settings, now=now)
    refresh_bridged(config.store_path, app, report.ruler_id, settings, now)
    return findings


def fetch_spooled(config: Config, now: datetime) -> SpoolReport | None:
    """Store what applications have recorded in ``spool_path``; None when there is none.

    Raises:
        JudgewatchError: the folder or the store cannot be used.
    """
    folder = spool_path(config)
    if folder is None:
        return None
    return import_spooled(
        folder,
        store_path=config.store_path,
        app=config.app.name,
        day_zone=config.schedule.zone,
        naive_zone=config.traffic.naive_zone,
        now=now,
        redactor=open_redactor(config.traffic),
    )


async def check_setup(config: Config, *, now: datetime) -> None:
    """Make everything that a run needs once, so that what cannot work is refused before the waiting begins.

    Raises:
        JudgewatchError: the configuration, a file it names, or the store cannot be used.
    """
    judge, rubric = build_judge(config)
    await judge.close()
    run_settings(config, rubric, slot=now)
    check_reading(config)


def newest_finished_slot(config: Config) -> datetime | None:
    """Return the newest slot whose run is finished; None when there is none.

    Raises:
        StoreError: the database cannot be used.
    """
    with open_store(config.store_path, zone=config.schedule.zone) as store:
        runs = read.runs(store, config.app.name)
    finished = [row["slot_utc"] for row in runs if row["status"] == "finished" and row["purpose"] == Purpose.SCHEDULED]
    return parse_utc(max(finished)) if finished else None


def explain_stop(run: RunReport, config: Config) -> str:
    """Say which setting stands behind the end of a run, where the message does not name it."""
    judge = config.judge
    if run.stop_reason is StopReason.AUTH:
        if judge.api_key_command is not None:
            named = "" if "judge.api_key_command" in run.message else " (the key comes from judge.api_key_command)"
            return run.message + named
        return f"{run.message} (the key comes from {judge.api_key_env or 'nowhere'}: judge.api_key_env)"
    if run.stop_reason is StopReason.MODEL_NOT_FOUND and judge.azure_deployment is not None:
        return f"judge.azure_deployment = {judge.azure_deployment!r}: {run.message}"
    if run.stop_reason is StopReason.MODEL_NOT_FOUND and judge.model not in run.message:
        return f"judge.model = {judge.model!r}: {run.message}"
    if run.stop_reason in _OF_THE_ADDRESS and judge.base_url not in run.message:
        return f"judge.base_url = {judge.base_url!r}: {run.message}"
    return run.message
