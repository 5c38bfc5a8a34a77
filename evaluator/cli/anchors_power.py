"""``judgewatch anchors power``: how many anchors, or answers a day, for which change, in how many days."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evaluator.cli.current import read_current, settings_of, setup_option
from evaluator.cli.output import counted, number, put, put_json, put_table
from evaluator.cli.target import Target, json_option, target_options

if TYPE_CHECKING:
    from evaluator.analysis.power import Power, PowerTable

_MOST_DAYS = 365


@click.command("power")
@click.option(
    "--change",
    type=click.FloatRange(min=0, min_open=True),
    help="The change that matters, in points of your scale (default: three sizes from your smallest change).",
)
@click.option("--days", type=click.IntRange(1, _MOST_DAYS), default=7, show_default=True, help="Seen within so many.")
@setup_option
@target_options
@json_option
def power(*, target: Target, change: float | None, days: int, setup: int | None, as_json: bool) -> None:
    """Say how many anchors, and how many answers a day, it takes to see a change, at your budget of false alarms.

    The noise is that of your own runs where there are ten or more; else what such judges usually have, and that is
    said. Half of all changes of a size are seen sooner than told, half later.
    """
    import numpy as np

    from evaluator.analysis.health import quiet_runs
    from evaluator.analysis.power import planned
    from evaluator.analysis.units import Scale

    with target.reading() as store:
        current = read_current(target, store, setup=setup)
        ruler, findings = current.ruler, current.findings
        since = None if findings is None else findings["judge"]["since_day"]
        quiet = None if ruler is None else quiet_runs(store, app=current.app, setup=ruler, since_day=since)
    scale = Scale(low=1, high=5) if ruler is None else Scale(low=ruler["scale_min"], high=ruler["scale_max"])
    found = planned(
        findings,
        np.empty((0, 0)) if quiet is None else quiet.scores,
        settings=settings_of(target, findings),
        scale=scale,
        change=change,
        days=days,
    )
    if as_json:
        put_json({"app": current.app, **_as_json(found)})
        return
    put(found.basis)
    for table in (found.anchors, found.answers):
        put()
        _put_table(table, found)
    put()
    put(found.budget)


def _put_table(table: PowerTable, found: Power) -> None:
    put(f"{table.what} (noise of a run's mean with {table.n_now} now: {number(table.spread_now, 3)}):")
    columns = [table.noun, *(f"{change:g} in" for change in found.changes)]
    put_table(
        columns,
        [[row.n, *(_days(days) for days in row.days)] for row in table.rows],
        numbers=columns,
    )
    for change, needed in zip(found.changes, table.needed, strict=True):
        many = f"{needed:,} {table.noun}" if needed is not None else f"no number of {table.noun}"
        put(f"  {change:g} within {counted(found.days, 'day')}: {many}")


def _days(days: int | None) -> str:
    return "over a year" if days is None else counted(days, "day")


def _as_json(found: Power) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(found)
