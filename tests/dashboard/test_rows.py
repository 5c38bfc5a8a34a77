"""Segments as rows and in words, the default period, next steps: the parts of the page that need no page."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pandas as pd
import pytest

from dashboard.app_pages import __path__ as pages_path
from dashboard.scope import default_period
from dashboard.segment_rows import finding_in_words, from_findings, from_means, means_in_words, note
from evaluator.analysis import quality
from evaluator.findings import Findings, SegmentFinding
from evaluator.records import StopReason


def a_segment(value: str, mean: float | None = 4.0, **changes: Any) -> SegmentFinding:
    """One quiet segment of the key "topic"."""
    fields: dict[str, Any] = {
        "segment_id": sum(map(ord, value)), "key": "topic", "value": value, "key2": "", "value2": "", "n": 40,
        "n_unscored": 1, "mean": mean, "mean_low": None if mean is None else mean - 0.2,
        "mean_high": None if mean is None else mean + 0.2, "corrected": None, "estimate": 0.01, "low": -0.1,
        "high": 0.1, "against_rest": 0.0, "stands_out": False, "state": "no_change_shown", "direction": None,
        "since_day": None, "method": "time-uniform 95 % interval", "n_before": 1_340, "n_after": 476,
    }  # fmt: skip
    return cast("SegmentFinding", fields | changes)


def worse(value: str) -> SegmentFinding:
    """One that fell."""
    return a_segment(
        value, state="changed", direction="worse", estimate=-0.62, low=-0.8, high=-0.4, since_day="2026-11-03"
    )


def low(value: str, **changes: Any) -> SegmentFinding:
    """One that is below the rest."""
    return a_segment(value, 3.1, stands_out=True, against_rest=-0.8, **changes)


def words(*segments: SegmentFinding) -> str:
    """The sentence above the chart."""
    return finding_in_words(cast("Findings", {"segments": list(segments)}))


def test_nothing_below_the_rest_is_said_with_the_number_of_looks() -> None:
    """Without that number "none" would say little."""
    assert (
        words(a_segment("a"), a_segment("b")) == "Of 2 segments, none is below the rest after correcting for 2 looks."
    )


def test_segments_below_the_rest_are_named() -> None:
    """Singular and plural, crossed ones with both values."""
    one = words(low("billing", key2="language", value2="de"), a_segment("b"))
    assert one == "Of 2 segments, 1 is below the rest after correcting for 2 looks: billing · de."
    two = words(low("billing"), low("refunds"), a_segment("b"))
    assert two == "Of 3 segments, 2 are below the rest after correcting for 3 looks: billing (topic), refunds (topic)."


def test_segment_above_the_rest_is_not_called_low() -> None:
    """It stands out, too, and needs no look in this sentence."""
    above = a_segment("vip", 4.8, stands_out=True, against_rest=0.7)
    assert "none is below the rest" in words(above, a_segment("b"))
    assert note(above) == "above the rest"


def test_segments_that_moved_are_named_with_their_change() -> None:
    """A fall from high to average is news although it is not low."""
    assert words(worse("refunds")).endswith("1 moved: refunds (topic) −0.62.")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (a_segment("a"), ""),
        (low("a"), "below the rest"),
        (worse("a"), "worse (−0.62 since 3 Nov)"),
        ({**worse("a"), "since_day": None}, "worse (−0.62)"),
        ({**worse("a"), "stands_out": True, "against_rest": -0.3}, "below the rest, worse (−0.62 since 3 Nov)"),
    ],
)
def test_note_says_why_a_segment_is_marked(found: SegmentFinding, expected: str) -> None:
    """An empty note is an unmarked segment."""
    assert note(found) == expected


def test_rows_are_of_one_key_lowest_first_unscored_last() -> None:
    """Chart and table share one order."""
    segments = [a_segment("b", 4.5), a_segment("c", None), a_segment("a", 3.0), a_segment("x", 1.0, key="language")]
    table = from_findings(segments, ("topic", ""))
    assert [row.name for row in table.drawn] == ["a", "b", "c"]
    assert [row["segment"] for row in table.rows] == ["a", "b", "c"]
    assert table.drawn[2].mean is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"state": "cannot_tell"}, "no change shown: too unsure to tell"),
        ({"state": "learning", "estimate": None}, "no change known yet: still learning"),
        ({"state": "no_data", "estimate": None}, "no change known: too few answers"),
        ({"low": None, "high": None}, "no change shown: no interval yet"),
        ({"estimate": None}, "no change shown: no interval yet"),
    ],
)
def test_change_that_is_not_known_is_no_number(changes: dict[str, Any], reason: str) -> None:
    """A part of delivery at −0.51 beside the whole at −0.82 reads as a contradiction; it was only unsure."""
    found = a_segment("delivery", estimate=-0.51) | cast("SegmentFinding", changes)
    table = from_findings([found], ("topic", ""), judge_day="2026-11-06")
    row = table.rows[0]
    assert [row[name] for name in ("change", "change_low", "change_high", "compares")] == [None] * 4
    assert row["note"] == reason
    assert table.drawn[0].note == ""  # no reason to mark it in the chart


def test_reason_stands_behind_what_needs_a_look() -> None:
    """Below the rest, and its change not known."""
    table = from_findings([low("a", state="cannot_tell")], ("topic", ""))
    assert table.rows[0]["note"] == "below the rest; no change shown: too unsure to tell"
    assert table.drawn[0].note == "below the rest"


ACROSS = "Student t between days, across the judge's change, with the error of the anchors"


@pytest.mark.parametrize(
    ("found", "judge_day", "expected"),
    [
        (a_segment("a"), None, "n 1,340 early, 476 late"),
        (a_segment("a"), "2026-11-06", "n 1,340 early, 476 late, same judge"),
        (worse("a"), "2026-11-06", "n 1,340 before, 476 since 3 Nov"),
        (a_segment("a", method=ACROSS), "2026-11-06", "n 1,340 before, 476 after the judge's change on 6 Nov"),
        (a_segment("a", method=ACROSS), None, "n 1,340 before, 476 after the judge's change"),
    ],
)
def test_every_change_says_what_it_compares(found: SegmentFinding, judge_day: str | None, expected: str) -> None:
    """A whole and its parts may be compared over other answers."""
    row = from_findings([found], ("topic", ""), judge_day=judge_day).rows[0]
    assert row["compares"] == expected
    assert row["change"] == found["estimate"]


def test_method_across_the_judges_change_is_the_analysis_s_own() -> None:
    """Renamed there, it would be read here as a comparison under one judge."""
    assert quality.ACROSS == ACROSS


def test_rows_without_an_analysis_come_from_raw_means() -> None:
    """nan of a frame is None of a row; segments of other keys are left out."""
    means = pd.DataFrame(
        [
            {"segment_id": 2, "n": 9, "n_unscored": 1, "mean": 4.0, "low": float("nan"), "high": float("nan")},
            {"segment_id": 3, "n": 0, "n_unscored": 5, "mean": float("nan"), "low": float("nan"), "high": float("nan")},
            {"segment_id": 4, "n": 9, "n_unscored": 0, "mean": 3.0, "low": 2.5, "high": 3.5},
        ]
    )
    names = {"key": "topic", "key2": "", "value2": ""}
    known = [{**names, "segment_id": 2, "value": "a"}, {**names, "segment_id": 3, "value": ""},
             {**names, "segment_id": 4, "value": "z", "key": "language"}]  # fmt: skip
    table = from_means(means, known, ("topic", ""))
    assert [(row.name, row.mean, row.low) for row in table.drawn] == [("a", 4.0, None), ("(empty)", None, None)]
    assert [row["n_unscored"] for row in table.rows] == [1, 5]


@pytest.mark.parametrize(
    ("days", "n_days", "expected"),
    [
        (("2026-01-01", "2026-11-30"), 90, ("2026-09-02", "2026-11-30")),
        (("2026-11-25", "2026-11-30"), 90, ("2026-11-25", "2026-11-30")),
        (("2026-11-30", "2026-11-30"), 14, ("2026-11-30", "2026-11-30")),
        (("2026-02-01", "2026-03-01"), 2, ("2026-02-28", "2026-03-01")),
    ],
)
def test_default_period_is_the_newest_days_there_are(
    days: tuple[str, str], n_days: int, expected: tuple[str, str]
) -> None:
    """Never a day before the first one; both ends count."""
    assert default_period(days, n_days) == expected


@pytest.mark.parametrize("reason", list(StopReason))
def test_every_reason_to_stop_has_a_next_step(reason: StopReason) -> None:
    """The page of the runs never leaves a reader with a code alone."""
    source = (Path(pages_path[0]) / "runs.py").read_text("utf-8")
    assert f"StopReason.{reason.name}:" in source


@pytest.mark.parametrize(
    ("means", "words"),
    [
        ({}, "No scores by topic yet"),
        ({7: 3.0}, "Raw scores by topic: 3.00 (a, n 12)"),
        ({7: 4.25, 8: 3.0}, "Raw scores by topic: 3.00 (b, n 12) to 4.25 (a, n 12)"),
        ({7: 4.25, 8: None}, "Raw scores by topic: 4.25 (a, n 12)"),
    ],
)
def test_raw_means_are_titled_with_their_ends(means: dict[int, float | None], words: str) -> None:
    """Before there is an analysis the title tells what the chart shows, with n."""
    known = [
        {"segment_id": number, "key": "topic", "value": name, "key2": "", "value2": ""}
        for number, name in ((7, "a"), (8, "b"))
    ]
    frame = pd.DataFrame(
        [{"segment_id": key, "n": 12, "n_unscored": 0, "mean": mean, "low": None, "high": None}
         for key, mean in means.items()],
        columns=["segment_id", "n", "n_unscored", "mean", "low", "high"],
    )  # fmt: skip
    assert means_in_words(from_means(frame, known, ("topic", "")), ("topic", "")) == words


def test_segments_of_several_keys_are_named_with_their_key() -> None:
    """A bare "400" or "de" says nothing where its key does not stand beside it."""
    segments = [low("400", key="duration"), low("delivery", key2="language", value2="de")]
    line = finding_in_words(cast("Findings", {"segments": segments}))
    assert line.endswith("400 (duration), delivery · de.")
