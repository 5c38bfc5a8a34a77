"""``judgewatch segments``: the breakdown, with what moved and what lies below the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from evaluator.cli.current import next_step, read_current, setup_option
from evaluator.cli.output import bounds, counted, number, put, put_json, put_table, signed
from evaluator.cli.segment_names import segment_text
from evaluator.cli.target import Target, json_option, target_options
from evaluator.errors import UsageError

if TYPE_CHECKING:
    from evaluator.findings import Findings, SegmentFinding

_COLUMNS = ("segment", "n", "unscored", "mean", "interval", "corrected", "change", "its interval", "finding")
_NUMBERS = ("n", "unscored", "mean", "corrected", "change")


@click.command("segments")
@click.option("--key", help="Only this key, or two crossed as 'topic * language'.")
@setup_option
@target_options
@json_option
def command(*, target: Target, setup: int | None, key: str | None, as_json: bool) -> None:
    """Show each segment's recent mean, its change with the judge taken out, and whether it lies below the rest."""
    with target.reading() as store:
        current = read_current(target, store, setup=setup)
        findings = current.findings
        step = next_step(store, current.app) if findings is None else ""
    if findings is None:
        if as_json:
            put_json({"app": current.app, "segments": [], "headline": step})
        else:
            put(step)
        return
    rows = [row for row in findings["segments"] if key is None or _keys(row) == _parts(key)]
    if key is not None and not rows:
        known = ", ".join(dict.fromkeys(_key(row) for row in findings["segments"]))
        raise UsageError(
            f"--key {key!r} is none of the keys answers are broken down by: {known or 'there are none'}"
            " (`judgewatch segments` lists them); to have it, name it in traffic.segments of judgewatch.toml, like"
            f' segments = ["{key}"]'
        )
    if as_json:
        put_json({"app": current.app, "last_days": findings["last_days"], "segments": rows})
    elif rows:
        _put(rows, findings)
    else:
        put("The answers have no tags to break scores down by; every column of an imported file can be one.")


def _put(rows: Sequence[SegmentFinding], findings: Findings) -> None:
    put_table(_COLUMNS, [_cells(row) for row in rows], numbers=_NUMBERS, long=("segment", "finding"), fold=True)
    put()
    below = sum(row["stands_out"] for row in rows)
    put(
        f"{counted(len(rows), 'segment')}, {below} below the rest after correcting for so many looks; means of the last"
        f" {findings['last_days']} days, changes with the judge taken out, {findings['settings']['level']:.0%}"
        " intervals"
    )


def _cells(row: SegmentFinding) -> list[object]:
    said = row["state"] if row["direction"] is None else f"{row['direction']} since {row['since_day']}"
    return [
        segment_text(row),
        row["n"],
        row["n_unscored"],
        number(row["mean"]),
        bounds(row["mean_low"], row["mean_high"]),
        number(row["corrected"]),
        signed(row["estimate"]),
        bounds(row["low"], row["high"]),
        said.replace("_", " ") + (", below the rest" if row["stands_out"] else ""),
    ]


def _key(row: SegmentFinding) -> str:
    return f"{row['key']} * {row['key2']}" if row["key2"] else row["key"]


def _keys(row: SegmentFinding) -> set[str]:
    return {row["key"], row["key2"]} - {""}


def _parts(key: str) -> set[str]:
    return {part.strip() for part in key.split("*")}
