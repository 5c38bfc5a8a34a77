"""Finds the score with a pattern of one's own, within a limit of time.

Python's own ``re`` cannot be stopped: a pattern like ``(a|aa)+$`` takes years for a line of a reply, and nothing else
of the program runs meanwhile. ``regex`` reads the same patterns and takes a limit.
"""

from __future__ import annotations

LONGEST_S = 1.0


class SlowPatternError(Exception):
    """A pattern came to no end on a text within the limit."""


def last_group(pattern: str, text: str, *, limit_s: float = LONGEST_S) -> tuple[int, int] | None:
    """Return where the group of a pattern's last match stands in a text.

    Args:
        pattern: A regular expression with one group.
        text: What is searched.
        limit_s: The longest that it may take.
    Returns:
        Start and end; None when nothing matches, (-1, -1) when the last match leaves its group out.
    Raises:
        SlowPatternError: it took longer.
    """
    import regex

    span = None
    try:
        for match in regex.compile(pattern).finditer(text, timeout=limit_s):
            span = match.span(1)
    except TimeoutError as error:
        raise SlowPatternError(f"score_pattern came to no end in {limit_s:g} s on this reply") from error
    return span
