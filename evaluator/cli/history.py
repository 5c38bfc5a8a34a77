"""``judgewatch history``: the scores of the answers, day by day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from evaluator.cli.current import Current, next_step, read_current, setup_option
from evaluator.cli.output import bounds, number, put, put_json, put_table
from evaluator.cli.segment_names import Pair, find_segment, segment_option, segment_text
from evaluator.cli.target import Target, json_option, target_options
from evaluator.records import Source
from evaluator.store import read
from evaluator.store.db import Store

_COLUMNS = ("day", "n", "unscored", "mean", "interval", "corrected", "its interval", "note")
_NUMBERS = ("n", "unscored", "mean", "corrected")


@click.command("history")
@click.option("--days", "n_days", type=click.IntRange(min=1), help="Only the last so many days.")
@segment_option
@setup_option
@target_options
@json_option
def command(*, target: Target, setup: int | None, n_days: int | None, pairs: tuple[Pair, ...], as_json: bool) -> None:
    """Show one row a day: n, mean, interval, unscored, and the mean as the first judge would have scored it."""
    with target.reading() as store:
        current = read_current(target, store, setup=setup)
        if current.findings is None or current.ruler is None:
            step = next_step(store, current.app)
            if as_json:
                put_json({"app": current.app, "days": [], "headline": step})
            else:
                put(step)
            return
        segment = find_segment(store, current.app, pairs) if pairs else None
        rows = _segment_days(store, current, segment) if segment is not None else list(current.findings["days"])
    rows = rows[-n_days:] if n_days is not None else rows
    if as_json:
        put_json({**_about(current), "segment": None if segment is None else segment_text(segment), "days": rows})
        return
    put_table(_COLUMNS, [_cells(row) for row in rows], numbers=_NUMBERS, long=("note",), fold=True)
    about = _about(current)
    put()
    put(
        f"{current.app}, judge setup v{about['setup']}, days in zone {about['zone']}; {about['level']:.0%} intervals,"
        f" {about['method']}"
    )
    if segment is not None:
        put(f"only {segment_text(segment)}; corrected means are kept for all answers together")


def _segment_days(store: Store, current: Current, segment: Mapping[str, Any]) -> list[Any]:
    from evaluator.day_means import day_means

    ruler = current.ruler or {}
    totals = read.day_totals(
        store,
        app=current.app,
        ruler_id=ruler["ruler_id"],
        criterion=ruler["criterion"],
        source=Source.TRAFFIC,
        segment_id=segment["segment_id"],
    )
    rows = day_means(totals, scale=(ruler["scale_min"], ruler["scale_max"]))
    names = ("day", "n", "n_unscored", "mean", "low", "high")
    return [{name: row[name] for name in names} | dict.fromkeys(_CORRECTED) for row in rows]


_CORRECTED = ("corrected", "corrected_low", "corrected_high", "note")


def _about(current: Current) -> dict[str, Any]:
    findings = current.findings
    if findings is None:
        return {"app": current.app}
    return {
        "app": current.app,
        "setup": findings["setup"],
        "model_asked": findings["model_asked"],
        "zone": findings["zone"],
        "level": findings["settings"]["level"],
        "method": "Student t between clusters, linearised",
    }


def _cells(row: Mapping[str, Any]) -> Sequence[object]:
    unfinished = None if row.get("finished", True) else "not finished"
    return [
        row["day"],
        row["n"],
        row["n_unscored"],
        number(row["mean"]),
        bounds(row["low"], row["high"]),
        number(row["corrected"]),
        bounds(row["corrected_low"], row["corrected_high"]),
        row["note"] or unfinished or "",
    ]
