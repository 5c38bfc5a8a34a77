"""Numbers, days and names as people write them; the bricks of every sentence."""

from __future__ import annotations

from datetime import date

from evaluator.findings import SegmentFinding

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def day_text(day: str | None) -> str:
    """A day as people write it: 12 Oct."""
    if day is None:
        return "an unknown day"
    found = date.fromisoformat(day)
    return f"{found.day} {MONTHS[found.month - 1]}"


def days_text(first: str | None, last: str | None) -> str:
    """A span of days: 10–13 Oct, or 29 Sep–2 Oct."""
    if first is None or last is None or first == last:
        return day_text(first or last)
    if first[:7] == last[:7]:
        return f"{date.fromisoformat(first).day}–{day_text(last)}"
    return f"{day_text(first)}–{day_text(last)}"


def since_text(day: str | None, first: str | None, last: str | None) -> str:
    """When something changed: since 12 Oct (10–13 Oct), or since 12 Oct when that day is certain."""
    span = days_text(first, last)
    return f"since {day_text(day)}" + ("" if span == day_text(day) else f" ({span})")


def number(value: float) -> str:
    """Two digits, a real minus."""
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", "−")


def signed(value: float) -> str:
    """A change with its sign, two digits, a real minus; zero has no sign."""
    text = f"{value:+.2f}"
    return "0.00" if text in ("+0.00", "-0.00") else text.replace("-", "−")


def size_text(value: float, low: float | None, high: float | None) -> str:
    """A change with its bounds: +0.31, between 0.22 and 0.40."""
    if low is None or high is None:
        return f"{signed(value)} (no interval yet)"
    return f"{signed(value)}, between {number(low)} and {number(high)}"


def counted(n: int, what: str) -> str:
    """A count with its noun: 1 run, 1,204 answers."""
    return f"{n:,} {what}" + ("" if n == 1 else "s")


def segment_name(row: SegmentFinding) -> str:
    """A segment as people call it: refunds, or billing · German."""
    return f"{row['value']} · {row['value2']}" if row["key2"] else str(row["value"])
