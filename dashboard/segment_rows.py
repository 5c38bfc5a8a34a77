"""Segments as rows: from the analysis where there is one, else raw means of the period. No Streamlit here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.charts.segments import SegmentRow
from dashboard.queries import Row
from dashboard.wording import change, counted, full_segment, key_name, number, segment
from dashboard.wording import day as day_text
from evaluator.findings import Findings, SegmentFinding

COLUMNS = {
    "segment": "segment",
    "note": "note",
    "n": "n",
    "n_unscored": "not scored",
    "mean": "mean",
    "low": "low",
    "high": "high",
    "corrected": "corrected",
    "change": "change",
    "change_low": "change, low",
    "change_high": "change, high",
    "compares": "change compares",
}
NUMBERS = ("mean", "low", "high", "corrected")
CHANGES = ("change", "change_low", "change_high")
_ACROSS = "across the judge's change"  # how the analysis names the method of a comparison over a change of the judge
_NOT_KNOWN = {
    "learning": "no change known yet: still learning",
    "cannot_tell": "no change shown: too unsure to tell",
    "no_data": "no change known: too few answers",
}


@dataclass(frozen=True, kw_only=True)
class SegmentTable:
    """The segments of one key: what is drawn and what the table says, in one order (lowest mean first)."""

    drawn: list[SegmentRow]
    rows: list[dict[str, Any]]


def from_findings(
    segments: Sequence[SegmentFinding], key: tuple[str, str], *, judge_day: str | None = None
) -> SegmentTable:
    """Segments of a key (or crossed pair) as the analysis has them.

    Thin segments are compared over other answers than the whole that they are parts of, so every change says what it
    compares, and one that the analysis is not sure of is not shown as a number.
    """
    chosen = [s for s in segments if (s["key"], s["key2"]) == key]
    chosen.sort(key=lambda s: (s["mean"] is None, s["mean"] or 0.0))
    drawn = [
        SegmentRow(
            segment_id=s["segment_id"],
            name=segment(s["value"], s["value2"], crossed=bool(s["key2"])),
            n=s["n"],
            mean=s["mean"],
            low=s["mean_low"],
            high=s["mean_high"],
            note=note(s),
        )
        for s in chosen
    ]
    rows = [
        {
            "segment": row.name,
            "n": s["n"],
            "n_unscored": s["n_unscored"],
            "mean": s["mean"],
            "low": s["mean_low"],
            "high": s["mean_high"],
            "corrected": s["corrected"],
            "note": "; ".join(part for part in (row.note, _why_no_change(s)) if part),
            **_change_cells(s, judge_day),
        }
        for row, s in zip(drawn, chosen, strict=True)
    ]
    return SegmentTable(drawn=drawn, rows=rows)


def shown_change(found: SegmentFinding) -> float | None:
    """The change of a segment, None where the analysis is not sure enough for a number to be read as one."""
    return None if _why_no_change(found) else found["estimate"]


def _why_no_change(found: SegmentFinding) -> str:
    """Why no change is shown; empty when one is."""
    unknown = _NOT_KNOWN.get(found["state"])
    if unknown is not None:
        return unknown
    has_interval = found["estimate"] is not None and found["low"] is not None and found["high"] is not None
    return "" if has_interval else "no change shown: no interval yet"


def _change_cells(found: SegmentFinding, judge_day: str | None) -> dict[str, Any]:
    """The cells of the change and of what it compares; all empty where none is shown."""
    if _why_no_change(found):
        return dict.fromkeys((*CHANGES, "compares"))
    return {
        "change": found["estimate"],
        "change_low": found["low"],
        "change_high": found["high"],
        "compares": _compares(found, judge_day),
    }


def _compares(found: SegmentFinding, judge_day: str | None) -> str:
    """Which answers a change compares, with their numbers; the analysis keeps no days of the two sides."""
    before, after = f"n {found['n_before']:,}", f"{found['n_after']:,}"
    across = _ACROSS in found["method"]
    day = found["since_day"] or (judge_day if across else None)
    if across:  # the first days after it only: what comes later is watched by itself
        return f"{before} before, {after} after the judge's change" + (f" on {day_text(day)}" if day else "")
    if day is not None:
        return f"{before} before, {after} since {day_text(day)}"
    return f"{before} early, {after} late" + (", same judge" if judge_day is not None else "")


def from_means(means: pd.DataFrame, known: Sequence[Row], key: tuple[str, str]) -> SegmentTable:
    """Segments of a key from raw means, before there is an analysis."""
    names = {s["segment_id"]: s for s in known if (s["key"], s["key2"]) == key}
    drawn = []
    for mean in means.to_dict("records"):
        found = names.get(mean["segment_id"])
        if found is not None:
            drawn.append(
                SegmentRow(
                    segment_id=int(mean["segment_id"]),
                    name=segment(found["value"], found["value2"], crossed=bool(found["key2"])),
                    n=int(mean["n"]),
                    mean=_number(mean["mean"]),
                    low=_number(mean["low"]),
                    high=_number(mean["high"]),
                )
            )
    drawn.sort(key=lambda row: (row.mean is None, row.mean or 0.0))
    unscored = {int(mean["segment_id"]): int(mean["n_unscored"]) for mean in means.to_dict("records")}
    rows = [
        {
            "segment": row.name,
            "n": row.n,
            "n_unscored": unscored[row.segment_id],
            "mean": row.mean,
            "low": row.low,
            "high": row.high,
        }
        for row in drawn
    ]
    return SegmentTable(drawn=drawn, rows=rows)


def note(found: SegmentFinding) -> str:
    """Why a segment needs a look; empty when it does not."""
    parts = []
    if found["stands_out"]:
        parts.append("below the rest" if (found["against_rest"] or 0.0) < 0 else "above the rest")
    if found["state"] == "changed":
        since = f" since {day_text(found['since_day'])}" if found["since_day"] is not None else ""
        parts.append(f"{found['direction'] or 'moved'} ({change(shown_change(found))}{since})")
    return ", ".join(parts)


def finding_in_words(findings: Findings) -> str:
    """All segments in one sentence: how many were looked at, which are below the rest, which moved."""
    segments = findings["segments"]
    n = len(segments)
    low = [s for s in segments if s["stands_out"] and (s["against_rest"] or 0.0) < 0]
    moved = [s for s in segments if s["state"] == "changed"]
    if not low:
        line = f"Of {counted(n, 'segment')}, none is below the rest after correcting for {counted(n, 'look')}."
    else:
        verb = "is" if len(low) == 1 else "are"
        line = (
            f"Of {counted(n, 'segment')}, {len(low)} {verb} below the rest after correcting for {counted(n, 'look')}:"
            f" {_names(low)}."
        )
    if moved:
        line += f" {len(moved)} moved: " + ", ".join(f"{full_segment(s)} {change(shown_change(s))}" for s in moved)
        line += "."
    return line


def means_in_words(table: SegmentTable, key: tuple[str, str]) -> str:
    """Raw means of a key in one line, before there is an analysis: the lowest and the highest, each with its n."""
    known = [row for row in table.drawn if row.mean is not None]
    if not known:
        return f"No scores by {key_name(*key)} yet"
    ends = [known[0]] if len(known) == 1 else [known[0], known[-1]]
    return f"Raw scores by {key_name(*key)}: " + " to ".join(
        f"{number(row.mean)} ({row.name}, n {row.n:,})" for row in ends
    )


def _names(segments: Sequence[SegmentFinding]) -> str:
    return ", ".join(full_segment(s) for s in segments)


def _number(value: object) -> float | None:
    return None if pd.isna(value) else float(value)  # type: ignore[call-overload,arg-type]  # a cell of a float column
