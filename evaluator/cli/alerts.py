"""``judgewatch alerts``: what the alarm says of this history, also with other settings than the ones in use."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from evaluator.cli.current import next_step, read_current, settings_of, setup_option
from evaluator.cli.output import bounds, counted, put, put_json, put_table, signed
from evaluator.cli.target import Target, json_option, target_options

if TYPE_CHECKING:
    from evaluator.analysis import AnalysisSettings
    from evaluator.findings import Findings

_COLUMNS = ("fired", "what", "change", "interval", "since", "evidence", "likely cause")


@click.group("alerts")
def command() -> None:
    """Show what the alarm says of this history."""


@command.command("preview")
@click.option(
    "--false-alarms", type=click.FloatRange(min=0, min_open=True), help="Try another number of false alarms a year."
)
@click.option(
    "--smallest-change", type=click.FloatRange(min=0, min_open=True), help="Try another smallest change, in points."
)
@setup_option
@target_options
@json_option
def preview(
    *,
    target: Target,
    false_alarms: float | None,
    smallest_change: float | None,
    setup: int | None,
    as_json: bool,
) -> None:
    """Show what would have fired on this history, and when. Nothing is sent, and nothing is kept."""
    from evaluator.analysis import analyse

    with target.reading() as store:
        current = read_current(target, store, setup=setup)
        if current.ruler is None or current.findings is None:
            step = next_step(store, current.app)
            put_json({"app": current.app, "alerts": [], "next": step}) if as_json else put(step)
            return
        settings = _changed(settings_of(target, current.findings), false_alarms, smallest_change)
        findings = analyse(store, app=current.app, ruler_id=str(current.ruler["ruler_id"]), settings=settings)
    rows = fired(findings)
    if as_json:
        put_json({"app": current.app, "settings": findings["settings"], "alerts": rows})
        return
    _put_preview(findings, rows)


def _changed(
    settings: AnalysisSettings, false_alarms: float | None, smallest_change: float | None
) -> AnalysisSettings:  # fmt: skip
    if false_alarms is not None:
        settings = replace(settings, false_alarms_per_year=false_alarms)
    return settings if smallest_change is None else replace(settings, smallest_change=smallest_change)


def fired(findings: Findings) -> list[dict[str, Any]]:
    """What fired, oldest first. A change of the judge and what it does to segments is one row, as it is one cause."""
    judge, assistant = findings["judge"], findings["assistant"]
    rows = []
    if judge["state"] == "changed":
        kind = str(judge.get("kind") or "level").replace("_", " ")
        rows.append(_row(f"judge {judge['direction'] or 'changed'} ({kind})", judge))
        rows += [_earlier(day) for day in judge["earlier_days"]]
    if assistant["state"] == "changed":
        rows.append(_row(f"answers {assistant['direction']}", assistant))
    rows += [
        _row(f"answers {segment['direction']} in {_name(segment)}", segment)
        for segment in findings["segments"]
        if segment["state"] == "changed"
    ]
    return sorted(rows, key=lambda row: row["fired_day"] or row["since_day"] or "")


def _row(what: str, finding: Any) -> dict[str, Any]:
    return {
        "what": what,
        "fired_day": finding["alarm_day"],
        "since_day": finding["since_day"],
        "estimate": finding["estimate"],
        "low": finding["low"],
        "high": finding["high"],
        "evidence": finding["evidence"],
        "threshold": finding["threshold"],
        "likely_cause": finding["likely_cause"],
    }


def _earlier(day: str) -> dict[str, Any]:
    nothing = dict.fromkeys(("fired_day", "estimate", "low", "high", "evidence", "threshold", "likely_cause"))
    return {**nothing, "what": "judge changed, an earlier time", "since_day": day}


def _name(segment: Any) -> str:
    crossed = f", {segment['key2']} {segment['value2']}" if segment["key2"] else ""
    return f"{segment['key']} {segment['value']}{crossed}"


def _put_preview(findings: Findings, rows: list[dict[str, Any]]) -> None:
    used = findings["settings"]
    put(
        f"At {used['false_alarms_per_year']:g} false alarms a year and a smallest change of"
        f" {used['smallest_change']:g}, {findings['first_day']} to {findings['last_day']}:"
        f" {counted(len(rows), 'alert')} would have fired. Nothing was sent."
    )
    if not rows:
        return
    put()
    put_table(
        _COLUMNS,
        [
            [
                row["fired_day"],
                row["what"],
                signed(row["estimate"]),
                bounds(row["low"], row["high"]),
                row["since_day"],
                _evidence(row),
                row["likely_cause"],
            ]
            for row in rows
        ],
        numbers=("change",),
        long=("what", "likely cause"),
        fold=True,
    )


def _evidence(row: dict[str, Any]) -> str | None:
    if row["evidence"] is None or row["threshold"] is None:
        return None
    return f"{row['evidence']:.3g} of {row['threshold']:.0f} needed"
