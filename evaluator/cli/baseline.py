"""``judgewatch baseline``: which runs are the judge's normal; accept a new one, take that back."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import click

from evaluator.cli.current import Current, analyse_again, read_current, setup_option
from evaluator.cli.output import counted, put, put_json, put_table
from evaluator.cli.target import Target, json_option, target_options, user_name
from evaluator.errors import UsageError

if TYPE_CHECKING:
    from evaluator.findings import Findings
    from evaluator.store.db import Store

_NOTE_HELP = "Why: kept with your name, and shown wherever the new normal is."


@click.group("baseline")
def command() -> None:
    """Show which runs are the judge's normal, accept a new normal, take that back.

    The normal is the judge's first twenty counted runs until a person accepts another. Accepting moves what the alarm
    compares with; it never moves the scale of the corrected line.
    """


@command.command("list")
@setup_option
@target_options
@json_option
def list_baselines(*, target: Target, setup: int | None, as_json: bool) -> None:
    """List what was accepted, by whom and why, and what holds now."""
    from evaluator.store import read

    with target.reading() as store:
        current = _known(read_current(target, store, setup=setup))
        rows = read.accepted_baselines(store, current.app, _ruler_id(current))
    findings = current.findings
    first = None if findings is None else (findings["baseline_first_day"], findings["baseline_last_day"])
    if as_json:
        put_json({"app": current.app, "setup": _setup(current), "first_runs": first, "accepted": rows})
        return
    put(_first_runs_text(first))
    if not rows:
        put("No other normal was accepted; the alarm compares with these.")
        return
    put_table(
        ("from", "accepted", "by", "why", "taken back"),
        [
            [row["from_day"], row["accepted_utc"][:10], row["by_whom"], row["note"], _taken_back(row)]
            for row in rows
        ],
        long=("why", "taken back"),
        fold=True,
    )  # fmt: skip


@command.command("accept")
@click.argument("day", required=False)
@click.option("--note", required=True, help=_NOTE_HELP)
@setup_option
@target_options
@json_option
def accept(*, target: Target, day: str | None, note: str, setup: int | None, as_json: bool) -> None:
    """Take the runs from DAY on as the judge's new normal (default: the day the judge changed).

    The alarm starts anew with them and has no say before the eleventh. `judgewatch baseline undo` takes it back.
    """
    from evaluator.clock import SystemClock
    from evaluator.store import write

    with target.writing() as store:
        current = _known(read_current(target, store, setup=setup))
        from_day = _change_day(current) if day is None else _as_day(day)
        n_runs = _check_day(store, current, from_day)
        write.accept_baseline(
            store,
            app=current.app,
            ruler_id=_ruler_id(current),
            from_day=from_day,
            by_whom=user_name(),
            note=note,
            now=SystemClock().now(),
        )
        findings = analyse_again(target, store, current.app, current.ruler or {})
    runs = counted(n_runs, "run")
    said = f"The runs from {from_day} on ({runs} so far) are the normal of judge setup v{_setup(current)} now."
    _put_done(current, findings, said, as_json=as_json, more={"from_day": from_day, "n_runs": n_runs})


@command.command("undo")
@click.option("--note", default="", help="Why; kept with your name.")
@setup_option
@target_options
@json_option
def undo(*, target: Target, note: str, setup: int | None, as_json: bool) -> None:
    """Take back the newest acceptance; what held before it holds again."""
    from evaluator.clock import SystemClock
    from evaluator.store import write

    with target.writing() as store:
        current = _known(read_current(target, store, setup=setup))
        from_day = write.undo_baseline(
            store,
            app=current.app,
            ruler_id=_ruler_id(current),
            by_whom=user_name(),
            note=note,
            now=SystemClock().now(),
        )
        findings = analyse_again(target, store, current.app, current.ruler or {})
    said = f"The runs from {from_day} on are the normal no more."
    _put_done(current, findings, said, as_json=as_json, more={"from_day": from_day})


# ---------------------------------------------------------------- parts


def _known(current: Current) -> Current:
    if current.ruler is None:
        raise UsageError(f"{current.app} has no graded run yet: there is no normal to show or to change")
    return current


def _ruler_id(current: Current) -> str:
    return str((current.ruler or {})["ruler_id"])


def _setup(current: Current) -> int:
    return int((current.ruler or {})["position"])


def _as_day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError as error:
        raise UsageError(f"{text!r} is not a day; write it like 2026-03-01") from error


def _change_day(current: Current) -> str:
    judge = None if current.findings is None else current.findings["judge"]
    if judge is None or judge["since_day"] is None:
        raise UsageError("the judge shows no change, so the day has to be named: judgewatch baseline accept DAY")
    return judge["since_day"]


def _check_day(store: Store, current: Current, from_day: str) -> int:
    """How many runs with anchors the new normal would begin with.

    Raises:
        UsageError: it would be every run, or none.
    """
    from evaluator.store import read

    days = [run["slot_day"] for run in read.anchor_runs(store, app=current.app, ruler_id=_ruler_id(current))]
    if not days:
        raise UsageError(f"judge setup v{_setup(current)} has graded no anchors: there is nothing to compare with")
    after = sum(day >= from_day for day in days)
    if after == 0 or after == len(days):
        which = "after the last" if after == 0 else "not after the first"
        raise UsageError(f"{from_day} is {which} run with anchors ({days[0]} to {days[-1]}); name a day between them")
    return int(after)


def _first_runs_text(first: tuple[str | None, str | None] | None) -> str:
    if first is None or first[0] is None:
        return "No run has counted yet."
    return f"The scale of the corrected line: the first counted runs, {first[0]} to {first[1]}."


def _taken_back(row: dict[str, Any]) -> str:
    if row["undone_utc"] is None:
        return ""
    why = f": {row['undone_note']}" if row["undone_note"] else ""
    return f"{row['undone_utc'][:10]} by {row['undone_by']}{why}"


def _put_done(
    current: Current, findings: Findings, said: str, *, as_json: bool, more: dict[str, object]
) -> None:  # fmt: skip
    if as_json:
        put_json({"app": current.app, "setup": _setup(current), **more, "headline": findings["headline"]})
        return
    put(said)
    put(findings["headline"])
