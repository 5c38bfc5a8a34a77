"""Days as they are typed on the command line."""

from __future__ import annotations

from datetime import date

from evaluator.errors import UsageError


def parse_day(option: str, text: str | None) -> str | None:
    """Return a day given by hand as it is stored, None for none.

    Args:
        option: The option it was given with, for the message.
        text: What was typed.

    Raises:
        UsageError: not a day.
    """
    if text is None:
        return None
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError as error:
        raise UsageError(f"{option} {text!r} is not a day; write it like 2026-03-01") from error
