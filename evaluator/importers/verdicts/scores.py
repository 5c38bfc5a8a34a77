"""Reads one cell that should hold a score: a number, a label of two, or nothing. Nothing here guesses.

An empty cell, nan, or the mark of a failed call is a missing score, never a number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from evaluator.importers.text import excerpt
from evaluator.records import UnscoredReason

FAILED_CALL = "$ERROR$"
_EMPTY = frozenset(("", "nan", "none", "null", "n/a", "na", "<na>", "-", "–", "—"))
_ERRORS = ("error", "$error$", "#error", "failed to", "exception", "traceback")
_LABELS = {"pass": 1.0, "passed": 1.0, "true": 1.0, "yes": 1.0, "fail": 0.0, "failed": 0.0, "false": 0.0, "no": 0.0}
_SHOWN_CHARS = 80


class NoScoreError(ValueError):
    """A cell that holds something else than a score; the message is the reason of its reject."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadScore:
    """A score, or the reason why there is none and what stood there."""

    score: float | None = None
    reason: UnscoredReason | None = None
    is_label: bool = False
    detail: str = ""


def read_score(value: object, *, column: str = "score", explanation: str = "") -> ReadScore:
    """Read a cell.

    Args:
        value: What stands in it.
        column: Its name, for messages.
        explanation: What stands beside it; a failed call of some tools is -1 with the mark ``$ERROR$``.

    Raises:
        NoScoreError: neither a finite number, nor a label, nor empty.
    """
    if explanation.strip() == FAILED_CALL:
        return _missing(f"the call failed: {excerpt(str(value), _SHOWN_CHARS)} with {FAILED_CALL}")
    if isinstance(value, bool):
        return ReadScore(score=float(value), is_label=True)
    if isinstance(value, int | float):
        return _number(value, column)
    if value is None:
        return _missing("no score")
    if not isinstance(value, str):
        raise NoScoreError(f"{column} holds {excerpt(str(value), _SHOWN_CHARS)!r}, not a number")
    return _text(value.strip(), column)


def is_blank(text: str) -> bool:
    """Whether a cell holds nothing, or a mark or label that says no more."""
    lower = text.strip().lower()
    return lower in _EMPTY or lower in _LABELS or lower in ("0", "1")


def _number(value: float, column: str) -> ReadScore:
    try:
        number = float(value)
    except OverflowError:
        raise NoScoreError(f"{column} is no finite number") from None
    if math.isnan(number):
        return _missing("nan")
    if math.isinf(number):
        raise NoScoreError(f"{column} is {number}, no finite number")
    return ReadScore(score=number)


def _text(text: str, column: str) -> ReadScore:
    lower = text.lower()
    if lower in _EMPTY:
        return _missing(text or "no score")
    if lower in _LABELS:
        return ReadScore(score=_LABELS[lower], is_label=True)
    if lower.startswith(_ERRORS):
        return ReadScore(reason=UnscoredReason.WRONG_TYPE, detail=excerpt(text, _SHOWN_CHARS))
    try:
        number = float(text)
    except ValueError:
        raise NoScoreError(
            f"{column} is {excerpt(text, _SHOWN_CHARS)!r}: a number, pass or fail is needed, or nothing"
        ) from None
    return _number(number, column)


def _missing(detail: str) -> ReadScore:
    return ReadScore(reason=UnscoredReason.MISSING, detail=detail)
