"""What needs a look, each with where to look: segments that stand out or moved, and runs that failed.

No Streamlit here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.filters import View
from dashboard.queries import Row
from dashboard.wording import day as day_text
from dashboard.wording import segment
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


def _from_analysis(findings: Findings, view: View) -> list[Look]:
    """The analysis's sentences, each led to the segment it begins with."""
    return [_led(sentence, _named(findings["segments"], sentence), view) for sentence in findings["needs_a_look"]]


def _led(sentence: str, found: SegmentFinding | None, view: View) -> Look:
    if found is None:
        return Look(text=sentence, page="", view=view, label="")
    return Look(text=sentence, page="segments", view=view.but(segment=found["segment_id"]), label="See this segment")


def _named(segments: Sequence[SegmentFinding], sentence: str) -> SegmentFinding | None:
    """The segment whose name a sentence begins with; of two with one name the one that is flagged."""
    named = [s for s in segments if sentence.startswith(segment(s["value"], s["value2"]) + ":")]
    return next((s for s in named if s["stands_out"] or s["state"] == "changed"), named[0] if named else None)
