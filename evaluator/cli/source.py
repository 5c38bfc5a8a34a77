"""``judgewatch source``: try what answers come from, and see what came of asking it."""

from __future__ import annotations

from pathlib import Path

import click

from evaluator.cli.output import counted, put, put_json, put_table, say
from evaluator.cli.progress import interrupted_by_sigterm
from evaluator.cli.source_texts import HOW_TO_CONFIGURE, put_trial
from evaluator.cli.target import Target, json_option, target_options
from evaluator.errors import JudgewatchError

_TIME_CHARS = len("2026-03-01 06:00")


@click.group("source")
def command() -> None:
    """Try the files and the command that answers come from, and see what came of them."""


@command.command("test")
@click.option(
    "--rows", "n_rows", type=click.IntRange(1, 1000), default=10, show_default=True, help="Rows to show of each source."
)
@target_options
@json_option
@click.pass_context
def test(ctx: click.Context, *, target: Target, n_rows: int, as_json: bool) -> None:
    """Show how the first rows of every source are read; store nothing.

    Runs traffic.command as a scheduled run would. Exits with 1 when a source fails.
    """
    from evaluator.clock import SystemClock
    from evaluator.scoring.schedule import last_slot
    from evaluator.scoring.setup import schedule_zone
    from evaluator.scoring.slot import analysis_settings
    from evaluator.sources import check_reading, has_sources, try_sources

    config = target.needed_config()
    if not has_sources(config):
        raise JudgewatchError(HOW_TO_CONFIGURE)
    check_reading(config)
    slot = last_slot(config.schedule.cron, schedule_zone(config), SystemClock().now())
    settings = analysis_settings(config, slot) if config.traffic.verdicts else None
    with interrupted_by_sigterm():
        trials = try_sources(config, slot=slot, n_rows=n_rows, settings=settings)
    if as_json:
        put_json({"sources": [trial.as_dict() for trial in trials], "stored": False})
    else:
        for trial in trials:
            put_trial(trial)
    for trial in trials:
        if trial.problem is not None:
            say(f"error: {trial.key} ({trial.source}): {trial.problem}")
    if any(trial.problem is not None for trial in trials):
        ctx.exit(1)
    if not as_json:
        put("nothing was stored; the next run takes in what is new")


@command.command("list")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Most rows of each list.")
@target_options
@json_option
def list_sources(*, target: Target, limit: int, as_json: bool) -> None:
    """List pulls and the files that were taken in, newest first."""
    from evaluator.clock import parse_utc
    from evaluator.store import read

    with target.reading() as store:
        app = target.app_in(store)
        zone = store.zone
        pulls = read.pulls(store, app, most=limit)
        files = [
            {"kind": kind, **row}
            for kind in ("traffic", "verdicts")
            for row in read.source_files(store, app, kind=kind, most=limit)
        ]
    if as_json:
        put_json({"app": app, "pulls": pulls, "files": files})
        return
    if not pulls and not files:
        put(f"no source was asked for {app} yet; {HOW_TO_CONFIGURE}" if not _is_configured(target) else _NOT_YET)
        return

    def when(utc: str) -> str:
        return parse_utc(utc).astimezone(zone).isoformat(" ")[:_TIME_CHARS]

    if pulls:
        put_table(
            ("asked", "source", "status", "rows", "new", "refused", "what it said"),
            [
                [when(row["started_utc"]), row["source"], row["status"].replace("_", " "), row["n_rows"], row["n_new"],
                 row["n_rejected"], row["message"] or None]
                for row in pulls
            ],
            numbers=("rows", "new", "refused"),
            long=("source", "what it said"),
            fold=True,
        )  # fmt: skip
    if files:
        put(f"\n{counted(len(files), 'file')} taken in, newest first (times in {zone.key}):")
        put_table(
            ("taken", "file", "holds", "rows", "new"),
            [[when(row["taken_utc"]), _short(row["path"]), row["kind"], row["n_rows"], row["n_new"]] for row in files],
            numbers=("rows", "new"),
            long=("file",),
        )


_NOT_YET = "the sources were not asked yet; `judgewatch source test` tries them, `judgewatch run once` takes them in"


def _is_configured(target: Target) -> bool:
    from evaluator.sources import has_sources

    return target.config is not None and has_sources(target.config)


def _short(path: str) -> str:
    """A path as seen from here, where that is shorter."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except ValueError:
        return path
