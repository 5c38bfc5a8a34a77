"""The likely cause: which of the logged events fits a change."""

from __future__ import annotations

import pytest

from evaluator.analysis.events import OF_THE_ASSISTANT, OF_THE_JUDGE, ChangeDays, likely_cause, shift_day
from evaluator.findings import EventMark

WHEN = ChangeDays(day="2026-10-12", first="2026-10-10", last="2026-10-13")


def event(day: str, text: str, kind: str = "instrument") -> EventMark:
    """Something logged."""
    return EventMark(day=day, kind=kind, text=text)


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        ([], None),
        (["2026-10-08"], None),
        (["2026-10-15"], None),
        (["2026-10-09"], "2026-10-09"),
        (["2026-10-14"], "2026-10-14"),
        (["2026-10-09", "2026-10-10"], "2026-10-10"),
        (["2026-10-10", "2026-10-12", "2026-10-13"], "2026-10-12"),
        (["2026-10-14", "2026-10-10"], "2026-10-10"),
    ],
)
def test_the_event_in_the_interval_is_taken_and_of_several_the_nearest(days, expected):
    """A day off counts where nothing lies inside."""
    found = likely_cause([event(day, f"text of {day}") for day in days], WHEN, OF_THE_JUDGE)
    assert (found or "").split(",")[0] == ("" if expected is None else f"text of {expected}")


def test_a_deploy_cannot_move_the_grades_of_fixed_answers():
    """It is no cause of the judge's change, and what answers is none of the assistant's; notes are neither."""
    events = [
        event("2026-10-12", "release 4.1", "deploy"),
        event("2026-10-11", "another model answers"),
        event("2026-10-12", "a remark", "note"),
    ]
    assert likely_cause(events, WHEN, OF_THE_JUDGE) == "another model answers, logged on 11 Oct"
    assert likely_cause(events, WHEN, OF_THE_ASSISTANT) == "release 4.1, logged on 12 Oct"
    assert likely_cause(events[:1], WHEN, OF_THE_JUDGE) is None


def test_days_are_counted_over_months_and_years():
    """Calendar days."""
    assert shift_day("2025-12-31", 1) == "2026-01-01"
    assert shift_day("2026-03-01", -1) == "2026-02-28"
