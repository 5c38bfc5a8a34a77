"""``judgewatch db``: state, schema, backup and totals of the database."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evaluator.cli.output import counted, put, put_json, put_table
from evaluator.cli.target import Target, json_option, target_options

if TYPE_CHECKING:
    from evaluator.store.inspection import StoreFacts


@click.group("db")
def command() -> None:
    """Look after the database."""


@command.command("info")
@target_options
@json_option
@click.pass_context
def info(ctx: click.Context, *, target: Target, as_json: bool) -> None:
    """Show size, zone, counts, who works on it, and whether the file is sound."""
    from evaluator.store.inspection import inspect

    with target.reading() as store:
        facts = inspect(store)
    if as_json:
        put_json(asdict(facts))
    else:
        _put_facts(facts)
    if facts.integrity != "ok":
        ctx.exit(1)


def _put_facts(facts: StoreFacts) -> None:
    put(f"{facts.path}: {_size(facts.size_bytes)}, log {_size(facts.log_bytes)} (mode {facts.journal_mode})")
    put(f"days in zone {facts.zone}; revision {facts.revision}; schema {facts.schema}")
    put("integrity: ok" if facts.integrity == "ok" else f"integrity: DAMAGED: {facts.integrity}")
    if facts.n_stale_days:
        put(f"totals of {counted(facts.n_stale_days, 'day')} are not up to date; the next run brings them up to date")
    for lease in facts.leases:
        put(f"in use: {lease['what']} by {lease['holder']}, last sign of life {lease['heartbeat_utc']}")
    if facts.apps:
        put_table(
            ("app", "answers", "without time", "runs", "verdicts", "scored", "first day", "last day"),
            [
                [app, n["n_answers"], n["n_without_time"], n["n_runs"], n["n_verdicts"], n["n_scored"], *_days(n)]
                for app, n in facts.apps.items()
            ],
            numbers=("answers", "without time", "runs", "verdicts", "scored"),
        )
    else:
        put("no app has anything in it yet")


def _days(counts: dict[str, object]) -> tuple[object, object]:
    return counts["first_day"], counts["last_day"]


def _size(n_bytes: int) -> str:
    if n_bytes < 1_000_000:
        return f"{n_bytes / 1_000:.0f} kB"
    return f"{n_bytes / 1_000_000:,.1f} MB"


@command.command("migrate")
@target_options
@json_option
def migrate(*, target: Target, as_json: bool) -> None:
    """Bring the schema up to date with this version."""
    from evaluator.store.db import known_migrations

    with target.writing() as store:
        path = store.path
    schema = known_migrations()[-1]
    if as_json:
        put_json({"path": str(path), "schema": schema})
    else:
        put(f"{path} is up to date (schema {schema})")


@command.command("backup")
@click.argument("copy", metavar="TARGET", type=click.Path(path_type=Path))
@target_options
@json_option
def backup(*, target: Target, copy: Path, as_json: bool) -> None:
    """Copy the database to TARGET in one consistent state, also while a scorer writes."""
    with target.reading() as store:
        store.backup(copy)
    size = copy.stat().st_size
    if as_json:
        put_json({"path": str(copy), "size_bytes": size})
    else:
        put(f"copied to {copy} ({_size(size)})")


@command.command("rebuild")
@click.option("--zone", help="Count days in this zone from now on.")
@target_options
@json_option
def rebuild(*, target: Target, zone: str | None, as_json: bool) -> None:
    """Build the daily totals anew from the verdicts; with --zone, in another zone of days."""
    from evaluator.clock import SystemClock
    from evaluator.maintenance import rebuild as rebuild_store

    path = target.use_db()
    report = rebuild_store(path, zone=zone, now=SystemClock().now())
    if as_json:
        put_json({"path": str(path), **asdict(report)})
        return
    for app, n_days in report.n_days.items():
        put(f"{app}: totals of {counted(n_days, 'day')} built anew")
    put(f"{path} counts its days in zone {report.zone}")
