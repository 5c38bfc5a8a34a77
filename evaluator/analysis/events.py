"""What was logged and may explain a change."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from evaluator.analysis.phrases import day_text
from evaluator.findings import EventMark

# what answers can move a judge; a deploy of the assistant cannot change the grades of fixed answers
OF_THE_JUDGE = ("instrument", "setup")
OF_THE_ASSISTANT = ("deploy",)
DAYS_AROUND = 1  # a cause may be logged a day before or after it shows


@dataclass(frozen=True, kw_only=True)
class ChangeDays:
    """When something changed: the likeliest day, and the first and last day of the 95 % set around it."""

    day: str
    first: str
    last: str


def likely_cause(events: Sequence[EventMark], when: ChangeDays, kinds: Collection[str]) -> str | None:
    """The logged event of some kind that fits a change: inside its interval rather than a day off, then the nearest."""
    first, last = shift_day(when.first, -DAYS_AROUND), shift_day(when.last, DAYS_AROUND)
    fitting = [event for event in events if event["kind"] in kinds and first <= event["day"] <= last]
    if not fitting:
        return None
    best = min(fitting, key=lambda event: (not when.first <= event["day"] <= when.last, _apart(event["day"], when.day)))
    return f"{best['text']}, logged on {day_text(best['day'])}"


def shift_day(day: str, n_days: int) -> str:
    """The day so many days later."""
    return (date.fromisoformat(day) + timedelta(days=n_days)).isoformat()


def _apart(day: str, other: str) -> int:
    return abs((date.fromisoformat(day) - date.fromisoformat(other)).days)
