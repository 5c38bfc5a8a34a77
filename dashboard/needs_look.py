"""What needs a look, each with where to look: segments that stand out or moved, and runs that failed.

No Streamlit here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.filters import View
from dashboard.queries import Row
from dashboard.segment_rows import shown_change
from dashboard.wording import bounds, change, counted, full_segment
from dashboard.wording import day as day_text
from evaluator.findings import Findings, SegmentFinding

MOST_LOOKS = 6


@dataclass(frozen=True, kw_only=True)
class Look:
    """One thing to look at: what, and the page and view where it is seen."""

    text: str
    page: str
    view: View
    label: str


def looks(findings: Findings | None, runs: Sequence[Row], view: View) -> list[Look]:
    """What needs a look, the most urgent first: the newest run when it failed, then the analysis's list."""
    found: list[Look] = []
    if runs and runs[0]["status"] in ("failed", "stopped"):
        ending = "failed" if runs[0]["status"] == "failed" else "stopped before its end"
        text = f"The last run ({day_text(runs[0]['slot_day'])}) {ending}."
        found.append(Look(text=text, page="runs", view=view, label="See why"))
    if findings is not None:
        found += _from_analysis(findings, view)
    return found[:MOST_LOOKS]


def nothing_to_look_at(findings: Findings | None) -> str:
    """What the list says when it is empty: no more than is known."""
    if findings is None:
        return "Nothing yet."
    if findings["tone"] == "look":
        return "Nothing else stands out."
    return "Nothing stands out." if findings["tone"] == "quiet" else "Nothing stands out so far."


def _from_analysis(findings: Findings, view: View) -> list[Look]:
    """The analysis's list, in short and each led to its segment; whole sentences are in the verdict and there."""
    by_id = {found["segment_id"]: found for found in findings["segments"]}
    found = []
    for sentence, segment_id in zip(findings["needs_a_look"], findings["look_segments"], strict=True):
        if segment_id is None:
            found.append(Look(text=sentence, page="", view=view, label=""))
        else:
            text = _in_short(by_id[segment_id], findings["last_days"])
            led = view.but(segment=segment_id)
            found.append(Look(text=text, page="segments", view=led, label="See this segment"))
    return found


def look_sentence(findings: Findings, segment_id: int) -> str | None:
    """The whole sentence of the analysis about a segment that needs a look; None when it needs none."""
    sentences = zip(findings["look_segments"], findings["needs_a_look"], strict=True)
    return next((sentence for named, sentence in sentences if named == segment_id), None)


def _in_short(found: SegmentFinding, last_days: int) -> str:
    """Segment, size, since when and of how many: what decides at night whether to open it."""
    name = full_segment(found)
    if found["state"] == "changed":
        since = "" if found["since_day"] is None else f" since {day_text(found['since_day'])}"
        size = f"{change(shown_change(found))} {bounds(found['low'], found['high'])}".rstrip()
        return f"{name}: {found['direction'] or 'moved'}{since}, {size}, n {found['n_after']:,}."
    size = f"{change(found['against_rest'])} {bounds(found['against_rest_low'], found['against_rest_high'])}".rstrip()
    return f"{name}: below the rest in the last {counted(last_days, 'day')}, {size}, n {found['n']:,}."
