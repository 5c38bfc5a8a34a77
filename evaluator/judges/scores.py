"""Turns one value of a reply into a score of the rubric, or says why it is none.

Nothing is clamped, rounded or rescaled: a monitor compares means over months, so a plausible wrong number is worse
than a gap. Where in a reply the value stands is the business of ``parse`` and ``text_forms``.
"""

from __future__ import annotations

import math
import re
from numbers import Real

from evaluator.records import Rubric, UnscoredReason

ScoreOrReason = float | UnscoredReason

# ASCII digits only: float() would also read digits of other scripts, which no judge was asked for
_NUMBER = re.compile(
    r"([-+]?\d+(?:\.\d+)?)(?:\s*\(?\s*(?:/|out\s+of)\s*(\d+(?:\.\d+)?)\s*\)?)?", re.ASCII | re.IGNORECASE
)
_PERCENT = re.compile(r"[-+]?\d+(?:[.,]\d+)?\s*(?:%|percent)", re.ASCII | re.IGNORECASE)
_NOT_FINITE = re.compile(r"[-+]?(?:nan|inf|infinity)", re.ASCII | re.IGNORECASE)
_DECORATION = " \t\r\n[]`\"'"


def read_score(value: object, *, rubric: Rubric) -> ScoreOrReason:
    """Return the score a value stands for, or the reason why it is not one.

    Args:
        value: What a reply holds under the score's key: any JSON value, or a number of Python or NumPy. True and false
            are scores only where levels are called so.
        rubric: The scale, and the names of its levels.
    Returns:
        A finite float inside the scale, or MISSING, WRONG_TYPE, NOT_FINITE, NOT_A_NUMBER, FOREIGN_SCALE, OUT_OF_RANGE.
    """
    if value is None:
        return UnscoredReason.MISSING
    if isinstance(value, bool):
        named = _named(str(value), rubric)
        return UnscoredReason.WRONG_TYPE if named is None else named
    if isinstance(value, Real):
        return _on_scale(value, rubric)
    if isinstance(value, str):
        return read_score_text(value, rubric=rubric)
    return UnscoredReason.WRONG_TYPE


def read_score_text(text: str, *, rubric: Rubric) -> ScoreOrReason:
    """Return the score a short text stands for: ``4``, ``**4**``, ``4/5``, ``4 out of 5`` or the name of a level.

    The name stands alone, in any case, perhaps with a full stop: ``not pass`` and ``pass or fail`` name no level.

    Returns:
        As ``read_score``. A denominator other than the scale's top is FOREIGN_SCALE, a decimal comma NOT_A_NUMBER.
    """
    bare = text.replace("*", "").strip(_DECORATION)
    if not bare:
        return UnscoredReason.MISSING
    named = _named(bare, rubric)
    if named is not None:
        return named
    if _NOT_FINITE.fullmatch(bare):
        return UnscoredReason.NOT_FINITE
    number = _NUMBER.fullmatch(bare)
    if number is None:
        return UnscoredReason.FOREIGN_SCALE if _PERCENT.fullmatch(bare) else UnscoredReason.NOT_A_NUMBER
    denominator = number.group(2)
    if denominator is not None and float(denominator) != rubric.scale_max:
        return UnscoredReason.FOREIGN_SCALE
    return _on_scale(float(number.group(1)), rubric)


def _named(text: str, rubric: Rubric) -> ScoreOrReason | None:
    """Return the score of the level a text is the name of, None when it is none's."""
    name = text.casefold()
    for level in rubric.levels:
        if level.name.casefold() in (name, name.rstrip(".! ")):
            return _on_scale(level.score, rubric)
    return None


def _on_scale(value: Real | float, rubric: Rubric) -> ScoreOrReason:
    try:
        score = float(value)
    except OverflowError:
        return UnscoredReason.OUT_OF_RANGE
    if not math.isfinite(score):
        return UnscoredReason.NOT_FINITE
    if not rubric.scale_min <= score <= rubric.scale_max:
        return UnscoredReason.OUT_OF_RANGE
    return score + 0.0  # turns a negative zero into zero
