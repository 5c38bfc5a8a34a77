"""The time, as an argument: code that needs it takes a ``Clock``, so that tests and the demo decide what day it is."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Protocol
from zoneinfo import ZoneInfo


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Return the current instant, in UTC."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the current instant, in UTC."""
        return datetime.now(UTC)


def utc_text(instant: datetime) -> str:
    """Return an instant as the text it is stored as: UTC, ISO-8601, milliseconds, trailing Z.

    Raises:
        ValueError: a time without a zone.
    """
    if instant.tzinfo is None:
        raise ValueError(f"{instant} has no zone")
    text = instant.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def parse_utc(text: str) -> datetime:
    """Return the instant of a stored text.

    Raises:
        ValueError: no time, or one without a zone: the machine's own zone is never a guess.
    """
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        raise ValueError(f"{text!r} has no zone")
    return instant.astimezone(UTC)


def day_of(instant: datetime, zone: ZoneInfo) -> date:
    """Return the calendar day of an instant in a zone."""
    return instant.astimezone(zone).date()
