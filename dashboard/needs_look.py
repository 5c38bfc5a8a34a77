"""What needs a look, each with where to look: segments that stand out or moved, and runs that failed.

No Streamlit here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.filters import View
from dashboard.queries import Row
from dashboard.wording import bounds, change, count, number, segment
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


def _from_analysis(findings: Findings, view: View) -> list[Look]:
    """The analysis's sentences, each led to the segment it names; flagged segments without one get their own."""
    left = {s["segment_id"]: s for s in findings["segments"] if s["stands_out"] or s["state"] == "changed"}
    found = []
    for sentence in findings["needs_a_look"]:
        # the longest name first: "billing · de" is named by a sentence that "billing" alone would fit too
        candidates = sorted(left.values(), key=lambda s: -len(s["value"] + s["value2"]))
        named = next((s for s in candidates if _is_named(s, sentence)), None)
        if named is None:
            found.append(Look(text=sentence, page="", view=view, label=""))
        else:
            del left[named["segment_id"]]
            found.append(_segment_look(sentence, named, view))
    return found + [_segment_look(segment_sentence(s), s, view) for s in left.values()]


def _is_named(found: SegmentFinding, sentence: str) -> bool:
    return bool(found["value"]) and found["value"] in sentence and found["value2"] in sentence


def _segment_look(text: str, found: SegmentFinding, view: View) -> Look:
    return Look(text=text, page="segments", view=view.but(segment=found["segment_id"]), label="See this segment")


def segment_sentence(found: SegmentFinding) -> str:
    """A flagged segment in one line: score, interval, n, since when."""
    parts = [f"{segment(found['value'], found['value2'])}  {number(found['mean'])}"]
    parts.append(f"{bounds(found['mean_low'], found['mean_high'])}, n {count(found['n'])}".lstrip(", "))
    if found["state"] == "changed" and found["since_day"] is not None:
        parts.append(f"{change(found['estimate'])} since {day_text(found['since_day'])}")
    if found["stands_out"]:
        below = (found["against_rest"] or 0.0) < 0
        parts.append("below the rest" if below else "above the rest")
    return "; ".join(part for part in parts if part)
