"""``judgewatch event``: deploys and notes that may explain a change; they stand on the page's time axis."""

from __future__ import annotations

import getpass
from datetime import date, datetime, time

import click

from evaluator.cli.output import put, put_json, put_table
from evaluator.cli.target import Target, json_option, target_options
from evaluator.errors import UsageError


@click.group("event")
def command() -> None:
    """Log deploys and notes that may explain a change."""


@command.command("add")
@click.argument("text")
@click.option("--day", help="The day it happened on (default: today).")
@click.option("--at", "at_text", metavar="TIME", help="The time, in the database's zone unless it names its own.")
@click.option("--kind", type=click.Choice(["deploy", "note"]), default="note", show_default=True)
@target_options
@json_option
def add(*, target: Target, text: str, day: str | None, at_text: str | None, kind: str, as_json: bool) -> None:
    """Log something that happened."""
    from evaluator.clock import SystemClock, day_of, utc_text
    from evaluator.store import write

    if day is not None and at_text is not None:
        raise UsageError("give --day or --at, not both")
    with target.writing() as store:
        app = target.app_in(store)
        at = _moment("--day", day) if day is not None else _moment("--at", at_text) if at_text is not None else None
        moment = SystemClock().now() if at is None else at if at.tzinfo is not None else at.replace(tzinfo=store.zone)
        on_day = day_of(moment, store.zone).isoformat()
        event_id = write.add_event(store, app=app, at=moment, kind=kind, text=text, by_whom=_who())
    if as_json:
        put_json({"event_id": event_id, "app": app, "day": on_day, "at_utc": utc_text(moment), "kind": kind})
    else:
        put(f"{kind} logged on {on_day} for {app}")


def _moment(option: str, text: str) -> datetime:
    try:
        return datetime.combine(date.fromisoformat(text), time()) if option == "--day" else datetime.fromisoformat(text)
    except ValueError as error:
        example = "2026-03-01" if option == "--day" else "2026-03-01T06:00"
        raise UsageError(f"{option} {text!r} cannot be read; write it like {example}") from error


def _who() -> str:
    """The user's name, for the record; some containers have none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


@command.command("list")
@target_options
@json_option
def list_events(*, target: Target, as_json: bool) -> None:
    """List what was logged: deploys, notes, and what the scorer noticed."""
    from evaluator.store import read

    with target.reading() as store:
        app = target.app_in(store)
        rows = read.events(store, app)
    if as_json:
        put_json({"app": app, "events": rows})
    elif rows:
        put_table(
            ("day", "kind", "text", "by"),
            [[row["day"], row["kind"], row["text"], row["by_whom"]] for row in rows],
            long=("text",),
            fold=True,
        )
    else:
        put(f"nothing is logged for {app}; `judgewatch event add TEXT --kind deploy` logs a deploy")
