"""``judgewatch event``: deploys and notes that may explain a change; they stand on the page's time axis."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

import click

from evaluator.cli.current import analyse_again
from evaluator.cli.output import put, put_json, put_table
from evaluator.cli.target import Target, json_option, target_options, user_name
from evaluator.errors import UsageError

_MOST_DAYS = 366


@click.group("event")
def command() -> None:
    """Log deploys and notes that may explain a change."""


@command.command("add")
@click.argument("text")
@click.option("--day", help="The day it happened on (default: today).")
@click.option("--at", "at_text", metavar="TIME", help="The time, in the database's zone unless it names its own.")
@click.option(
    "--kind",
    type=click.Choice(["deploy", "note", "ignore"]),
    default="note",
    show_default=True,
    help="ignore: the answers of that day are left out of the statistics and drawn grey.",
)
@click.option("--last-day", help="With --day and --kind ignore: the last of several days, each logged by itself.")
@target_options
@json_option
def add(
    *,
    target: Target,
    text: str,
    day: str | None,
    at_text: str | None,
    kind: str,
    last_day: str | None,
    as_json: bool,
) -> None:
    """Log something that happened."""
    from evaluator.clock import SystemClock, day_of, utc_text
    from evaluator.store import read, write

    if day is not None and at_text is not None:
        raise UsageError("give --day or --at, not both")
    more_days = [] if last_day is None else _days_after(day, last_day, kind)
    with target.writing() as store:
        app = target.app_in(store)
        at = _moment("--day", day) if day is not None else _moment("--at", at_text) if at_text is not None else None
        moment = SystemClock().now() if at is None else at if at.tzinfo is not None else at.replace(tzinfo=store.zone)
        on_day = day_of(moment, store.zone).isoformat()
        event_id = write.add_event(store, app=app, at=moment, kind=kind, text=text, by_whom=user_name())
        for each in more_days:
            at_start = each.replace(tzinfo=store.zone)
            write.add_event(store, app=app, at=at_start, kind=kind, text=text, by_whom=user_name())
        # what may explain a change is part of the analysis: the next `check` and the page must know of it
        ruler = read.newest_ruler(store, app)
        if ruler is not None:
            analyse_again(target, store, app, ruler)
    if as_json:
        put_json({"event_id": event_id, "app": app, "day": on_day, "at_utc": utc_text(moment), "kind": kind})
    else:
        until = f" and on each day until {last_day}" if more_days else ""
        put(f"{kind} logged on {on_day}{until} for {app}")


def _days_after(first: str | None, last: str, kind: str) -> list[datetime]:
    """The days after the first one up to the last, for a stretch of days that do not count."""
    if kind != "ignore" or first is None:
        raise UsageError("--last-day goes with --day and --kind ignore")
    start, stop = _moment("--day", first), _moment("--last-day", last)
    n_days = (stop - start).days
    if not 0 <= n_days <= _MOST_DAYS:
        raise UsageError(f"--last-day {last!r} has to be from --day {first!r} on, at most {_MOST_DAYS} days later")
    return [start + timedelta(days=number) for number in range(1, n_days + 1)]


def _moment(option: str, text: str) -> datetime:
    try:
        return datetime.fromisoformat(text) if option == "--at" else datetime.combine(date.fromisoformat(text), time())
    except ValueError as error:
        example = "2026-03-01" if option != "--at" else "2026-03-01T06:00"
        raise UsageError(f"{option} {text!r} cannot be read; write it like {example}") from error


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
