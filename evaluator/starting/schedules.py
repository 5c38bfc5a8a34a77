"""Reads a schedule as people say it, "daily at 06:00", and returns it as a cron expression; cron stays as it is."""

from __future__ import annotations

import re

from evaluator.errors import UsageError

EXAMPLES = (
    '"daily at 06:00", "weekdays at 7:30", "mondays at 06:00", "every 6 hours", "hourly",'
    ' or five fields of cron like "0 6 * * *"'
)
_DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_GROUPS = {"daily": "*", "every day": "*", "day": "*", "weekdays": "1-5", "weekends": "0,6"}
_AT = re.compile(r"(?P<when>.+?)\s+at\s+(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?")
_EVERY = re.compile(r"every\s+(\d+)\s+hours?")


def parse_schedule(text: str) -> str:
    """Return a schedule as a cron expression.

    Args:
        text: Words as in ``EXAMPLES``, or five fields of cron, which are not checked here.

    Raises:
        UsageError: words that are not understood; the message shows some that are.
    """
    words = " ".join(text.lower().split())
    if len(words.split()) == 5 and re.match(r"[\d*]", words):
        return " ".join(text.split())
    if words == "hourly":
        return "0 * * * *"
    every = _EVERY.fullmatch(words)
    if every is not None:
        return _every(int(every[1]), text)
    at = _AT.fullmatch(words)
    day = None if at is None else _day_field(at["when"])
    if at is None or day is None:
        raise UsageError(f"the schedule {text!r} is not understood; write {EXAMPLES}")
    hour, minute = int(at["hour"]), int(at["minute"] or 0)
    if hour > 23 or minute > 59:
        raise UsageError(f"the schedule {text!r} names no time of day; write it from 00:00 to 23:59, like 06:00")
    return f"{minute} {hour} * * {day}"


def _every(hours: int, text: str) -> str:
    if hours not in (1, 2, 3, 4, 6, 8, 12, 24):
        raise UsageError(f"the schedule {text!r} does not divide the day; write every 1, 2, 3, 4, 6, 8, 12 or 24 hours")
    return "0 0 * * *" if hours == 24 else f"0 */{hours} * * *"


def _day_field(when: str) -> str | None:
    """The field of the weekday; None for words that name no day."""
    if when in _GROUPS:
        return _GROUPS[when]
    name = when.removeprefix("weekly on ").removeprefix("on ").removeprefix("every ").removesuffix("s")
    return next((str(number) for number, day in enumerate(_DAYS) if name in (day, day[:3])), None)
