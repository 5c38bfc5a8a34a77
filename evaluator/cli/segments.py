"""``judgewatch segments``: the breakdown, with what moved and what lies below the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

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
_NAMED = 3  # segments that stand out and are named
_SMALLEST_P = 0.001

PKey = Literal["against_rest_p_adjusted", "recent_change_p_adjusted"]


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
        looks = findings.get("segment_looks")
        put_json({"app": current.app, "last_days": findings["last_days"], "segments": rows, "segment_looks": looks})
    elif rows:
        _put(rows, findings)
    else:
        put("The answers have no tags to break scores down by; every column of an imported file can be one.")


def _put(rows: Sequence[SegmentFinding], findings: Findings) -> None:
    put_table(_COLUMNS, [_cells(row) for row in rows], numbers=_NUMBERS, long=("segment", "finding"), fold=True)
    put()
    for line in _looks(findings):
        put(line)
    below = sum(row["stands_out"] for row in rows)
    put(
        f"{counted(len(rows), 'segment')}, {below} below the rest after correcting for so many looks; means of the last"
        f" {findings['last_days']} days, changes with the judge taken out, {findings['settings']['level']:.0%}"
        " intervals"
    )


def _looks(findings: Findings) -> list[str]:
    """The lowest and the most moved of all segments, and how much stands out after correcting for so many looks."""
    looks = findings.get("segment_looks")
    if looks is None:
        return []
    rows = {row["segment_id"]: row for row in findings["segments"]}
    last = _days(looks["last_days_first_day"], looks["last_days_last_day"])
    first = _days(looks["first_days_first_day"], looks["first_days_last_day"])
    lines = []
    lowest, moved = (rows.get(looks[name] or 0) for name in ("lowest", "most_moved"))
    if lowest is not None:
        size = _between(number(lowest["mean"]), bounds(lowest["mean_low"], lowest["mean_high"]))
        lines.append(f"Lowest: {segment_text(lowest)}, {size} ({last}, n {lowest['n']:,}).")
    if moved is not None:
        size = _between(signed(moved.get("recent_change")), _recent_bounds(moved))
        counts = f"{first}, n {moved.get('n_first_days', 0):,}; {last}, n {moved['n']:,}"
        lines.append(f"Moved most: {segment_text(moved)}, {size} with the judge taken out ({counts}).")
    rest = [row for row in rows.values() if _is_sure(row.get("against_rest_p_adjusted"), looks["false_share"])]
    lines.append(f"Against all other answers: {_stand_out(looks['n_against_rest'], rest, 'against_rest_p_adjusted')}.")
    recent = [row for row in rows.values() if row.get("recent_change_stands_out")]
    lines.append(f"Against the first days: {_stand_out(looks['n_recent_change'], recent, 'recent_change_p_adjusted')}.")
    beside = [segment_text(row) for row in rows.values() if row.get("suspect")]
    if beside:
        lines.append(f"Worth a look beside those that changed, not sure enough for an alert: {'; '.join(beside)}.")
    judged = [row for row in rows.values() if row.get("judge_in_segment_used")]
    lines += [f"{segment_text(row)}: {row.get('judge_in_segment_note')}" for row in judged]
    return lines


def _stand_out(n_looked_at: int, found: Sequence[SegmentFinding], p_key: PKey) -> str:
    """How many were looked at, and which of them are left: 50 segments looked at; 1 stands out after that."""
    looked = f"{counted(n_looked_at, 'segment')} looked at"
    if not found:
        return f"{looked}; none stands out after that"
    ordered = sorted(found, key=lambda row: row.get(p_key) or 0.0)
    named = [f"{segment_text(row)}, adjusted p {_p_text(row.get(p_key) or 0.0)}" for row in ordered[:_NAMED]]
    more = "; ..." if len(ordered) > _NAMED else ""
    return f"{looked}; {len(found)} stand{'s' if len(found) == 1 else ''} out after that ({'; '.join(named)}{more})"


def _days(first: str | None, last: str | None) -> str:
    return "no days" if first is None or last is None else f"{first} to {last}"


def _p_text(p_value: float) -> str:
    return "under 0.001" if p_value < _SMALLEST_P else f"{p_value:.3f}"


def _is_sure(p_adjusted: float | None, false_share: float) -> bool:
    return p_adjusted is not None and p_adjusted <= false_share


def _recent_bounds(row: SegmentFinding) -> str | None:
    return bounds(row.get("recent_change_low"), row.get("recent_change_high"))


def _between(value: str | None, interval: str | None) -> str:
    return f"{value} {interval}" if interval else str(value)


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
