"""Segments as rows: from the analysis where there is one, else raw means of the period. No Streamlit here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.charts.segments import SegmentRow
from dashboard.queries import Row
from dashboard.wording import change, counted, segment
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
}
NUMBERS = ("mean", "low", "high", "corrected", "change", "change_low", "change_high")


@dataclass(frozen=True, kw_only=True)
class SegmentTable:
    """The segments of one key: what is drawn and what the table says, in one order (lowest mean first)."""

    drawn: list[SegmentRow]
    rows: list[dict[str, Any]]


def from_findings(segments: Sequence[SegmentFinding], key: tuple[str, str]) -> SegmentTable:
    """Segments of a key (or crossed pair) as the analysis has them."""
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
            "change": s["estimate"],
            "change_low": s["low"],
            "change_high": s["high"],
            "note": row.note,
        }
        for row, s in zip(drawn, chosen, strict=True)
    ]
    return SegmentTable(drawn=drawn, rows=rows)


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
        parts.append(f"{found['direction'] or 'moved'} ({change(found['estimate'])}{since})")
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
        line += f" {len(moved)} moved: " + ", ".join(
            f"{segment(s['value'], s['value2'])} {change(s['estimate'])}" for s in moved
        )
        line += "."
    return line


def _names(segments: Sequence[SegmentFinding]) -> str:
    return ", ".join(segment(s["value"], s["value2"]) for s in segments)


def _number(value: object) -> float | None:
    return None if pd.isna(value) else float(value)  # type: ignore[call-overload,arg-type]  # a cell of a float column
