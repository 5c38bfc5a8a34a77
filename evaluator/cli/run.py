"""``judgewatch run``: one pass of the scorer, or the background scorer. What they say is in ``run_texts``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

import click

from evaluator.cli.days import parse_day
from evaluator.cli.money_texts import budget_lines
from evaluator.cli.output import say
from evaluator.cli.progress import lines, shown, stoppable
from evaluator.cli.run_texts import put_preview, put_report, say_missing_spool, say_spool, say_waiting, summary
from evaluator.cli.source_texts import say_sources
from evaluator.cli.target import Target, json_option, target_options
from evaluator.errors import LeaseHeldError, UsageError

if TYPE_CHECKING:
    from evaluator.config import Config
    from evaluator.scoring.slot import SlotReport
    from evaluator.scoring.watch import SlotResult

LOOK_AGAIN_S = 1.0  # how often a waiting scorer looks whether it is its turn

_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True)
class _Choice:
    """The slot to grade, and the command that goes on with it if it is cut off."""

    slot: datetime
    again: str


@click.group("run")
def command() -> None:
    """Grade anchors and new answers."""


@command.command("once")
@click.option("--kind", type=click.Choice(["all", "anchors", "traffic"]), default="all", help="What to grade.")
@click.option("--slot", "slot_text", metavar="TIME", help="The scheduled instant (default: the last one).")
@click.option("--since", metavar="DAY", help="Take answers from this day on (default: traffic.lookback_days).")
@click.option("--dry-run", is_flag=True, help="Show calls and cost; call nothing.")
@click.option("--no-wait", is_flag=True, help="End at once when another scorer is at work (default: wait for it).")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@target_options
@json_option
@click.pass_context
def once(
    ctx: click.Context,
    *,
    target: Target,
    kind: str,
    slot_text: str | None,
    since: str | None,
    dry_run: bool,
    no_wait: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Grade what one scheduled run plans, or go on with one that was cut off.

    A run that is finished already says so and costs nothing. With --since, a finished run is followed by an extra one.
    """
    from evaluator.clock import SystemClock
    from evaluator.scoring.allowance import left_today
    from evaluator.scoring.slot import grade_slot, refresh_analysis
    from evaluator.scoring.slot_preview import preview_slot
    from evaluator.scoring.waiting import missing_spool, waiting_answers

    config = target.needed_config()
    say_missing_spool(missing_spool(config))
    clock = SystemClock()
    first_day = parse_day("--since", since)
    choice = asyncio.run(_choose_slot(config, slot_text, first_day, clock.now()))
    if dry_run:
        preview = asyncio.run(preview_slot(config, slot=choice.slot, kind=kind, since=first_day, now=clock.now()))
        put_preview(preview, config, as_json=as_json)
        return
    if not quiet:
        for line in budget_lines(left_today(config, clock.now()), 0, None):
            say(line)
    with shown(quiet=quiet) as on_progress:

        def grade(stop: asyncio.Event) -> Awaitable[SlotReport]:
            return grade_slot(
                config,
                slot=choice.slot,
                clock=clock,
                kind=kind,
                since=first_day,
                on_progress=on_progress,
                stop=stop,
            )

        report = _run_stoppable(grade if no_wait else lambda stop: _when_free(grade, stop))
    findings = None
    try:
        findings = refresh_analysis(config, report, now=clock.now())
    finally:  # what was graded is told, whatever becomes of the analysis
        put_report(report, findings, config, again=choice.again, as_json=as_json)
    if report.run.already_finished or report.n_fetched:
        waiting = waiting_answers(config, ruler_id=report.ruler_id, slot_utc=report.run.slot_utc, now=clock.now())
        say_waiting(waiting, config)
    if not report.finished:
        ctx.exit(1)


@command.command("watch")
@click.option("--quiet", is_flag=True, help="Show no progress within a run.")
@target_options
def watch(*, target: Target, quiet: bool) -> None:
    """Stay and grade every scheduled run, until stopped by Ctrl-C or SIGTERM."""
    config = target.needed_config()
    _run_stoppable(lambda stop: _watch(config, stop, quiet=quiet))
    say("stopped watching")


async def _watch(config: Config, stop: asyncio.Event, *, quiet: bool) -> None:
    from evaluator.clock import SystemClock
    from evaluator.scoring.setup import schedule_zone
    from evaluator.scoring.slot import check_setup, grade_slot, newest_finished_slot, refresh_analysis
    from evaluator.scoring.waiting import missing_spool
    from evaluator.scoring.watch import SlotResult, Watcher, sleep_or_stop

    clock = SystemClock()
    await check_setup(config, now=clock.now())
    say_missing_spool(missing_spool(config))

    async def grade(slot: datetime) -> SlotResult:
        on_progress = None if quiet else lines()
        report = await grade_slot(config, slot=slot, clock=clock, on_progress=on_progress, stop=stop)
        say_sources(report.sources)
        say_spool(report.spool)
        findings = await asyncio.to_thread(refresh_analysis, config, report, now=clock.now())
        return SlotResult(message=summary(report.run, findings, config), try_again=not report.finished)

    watcher = Watcher(
        cron=config.schedule.cron,
        zone=schedule_zone(config),
        missed=config.schedule.missed,
        grade=grade,
        clock=clock,
        sleep=lambda seconds: sleep_or_stop(seconds, stop),
        stop=stop,
        log=lambda text: say(f"{clock.now():%Y-%m-%d %H:%M:%S}Z {text}"),
    )
    await watcher.run(last_graded=newest_finished_slot(config))


async def _when_free(grade: Callable[[asyncio.Event], Awaitable[_T]], stop: asyncio.Event) -> _T:
    """Grade as soon as no other scorer is at work; the reader is told once that it is waited for."""
    from evaluator.scoring.watch import sleep_or_stop

    told = False
    while True:
        try:
            return await grade(stop)
        except LeaseHeldError as error:
            if stop.is_set():
                raise
            if not told:
                say(f"{error}. Waiting for it; Ctrl-C gives up")
            told = True
            await sleep_or_stop(LOOK_AGAIN_S, stop)


def _run_stoppable(work: Callable[[asyncio.Event], Awaitable[_T]]) -> _T:
    try:
        return asyncio.run(stoppable(work))
    except asyncio.CancelledError as error:
        say("ended at once; start it again to go on, what was graded is kept")
        raise click.exceptions.Exit(1) from error


async def _choose_slot(config: Config, slot_text: str | None, since: str | None, now: datetime) -> _Choice:
    """The slot named by hand, else the last scheduled one, else (with --since, when that is finished) an extra one."""
    from evaluator.scoring.schedule import last_slot, parse_slot
    from evaluator.scoring.setup import schedule_zone
    from evaluator.scoring.slot_preview import preview_slot

    zone = schedule_zone(config)
    if slot_text is not None:
        slot = parse_slot(slot_text, zone)
        if slot > now:
            raise UsageError(f"--slot {slot_text!r} lies in the future; a run belongs to an instant that has come")
        return _Choice(slot=slot, again=f"run once --slot {slot.isoformat()}")
    slot = last_slot(config.schedule.cron, zone, now)
    if since is not None and (await preview_slot(config, slot=slot, since=since, now=now)).plan.already_finished:
        extra = now.replace(second=0, microsecond=0)
        return _Choice(slot=extra, again=f"run once --slot {extra.isoformat()}")
    return _Choice(slot=slot, again="run once")
