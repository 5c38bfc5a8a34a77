"""Finds a score in plain prose: ``Rating: [[4]]``, ``Overall score: 4 out of 5``, ``I would give this a 4``.

The last resort of the parser, for replies without a verdict object. Two different numbers are AMBIGUOUS; a quoted
text is not the judge's own word and is left out. No JSON is read here.
"""

from __future__ import annotations

import re

from evaluator.judges.scores import ScoreOrReason, read_score_text
from evaluator.records import Rubric, UnscoredReason

_FLAGS = re.ASCII | re.IGNORECASE
_OVER = r"\s*\(?\s*(?:/|out\s+of)\s*\d+(?:\.\d+)?"
_VALUE = rf"(?P<value>[-+]?\d+(?:[.,]\d+)*(?:{_OVER})?(?:\s*%)?)(?![\w%]|[.,]\d)"
_AIM = r"(?:(?:this|it|that|the|an?|answer|response|reply|assistant|as|at|with|score|rating|of)\s+)+"
_STOP = r"(?=\s*(?:[.,;:!?)\]]|$|\n|stars?\b|points?\b|because\b|since\b|on\b|overall\b))"

# a form that can only be meant as the verdict outranks one that may grade a single aspect
_FINAL_FORMS = (
    re.compile(rf"\[\[\s*{_VALUE}\s*\]\]", _FLAGS),
    re.compile(rf"<(?P<tag>score|rating)>\s*{_VALUE}\s*</(?P=tag)>", _FLAGS),
    re.compile(
        rf"\b(?:overall|final|total)\s+(?:score|rating|grade|verdict)\s*(?:is|of|[:=])\s*\[*\s*{_VALUE}", _FLAGS
    ),
)
_PLAIN_FORMS = (
    re.compile(
        rf"\b(?:score|rating|grade|verdict)\s*(?:\([^()\n]{{0,40}}\)\s*)?(?:is|of|[:=])\s*\[*\s*{_VALUE}", _FLAGS
    ),
    re.compile(
        rf"\bI(?:'d|\u2019d|'ll|\s+would|\s+will)?\s+(?:give|rate|score|grade|assign)d?\s+{_AIM}{_VALUE}{_STOP}", _FLAGS
    ),
)
_RANGE_GOES_ON = re.compile(r"\s*(?:-|\u2013|\u2014|to\b|or\b|and\b)\s*\d", _FLAGS)
_QUOTED = re.compile(r'"[^"\n]*"|\u201c[^\u201d\n]*\u201d|`[^`\n]*`|^[ \t]*>.*$', re.MULTILINE)
_DECLINES = re.compile(
    r"^\W*(?:(?:I(?:'m|\u2019m| am)|we(?:'re| are))\s+(?:\w+\s+)?(?:sorry|unable|afraid|not able)"
    r"|sorry|(?:I|we)\s+(?:can(?:'t|\u2019t|not)|won(?:'t|\u2019t)|will not|must decline|decline))\b",
    re.IGNORECASE,
)
_TASK = re.compile(
    r"\b(?:help|assist|grad|rat(?:e|ing)|scor|evaluat|judg|comply|provid|fulfil|continu|process)", re.IGNORECASE
)
_DECLINE_CHARS = 300


def find_text_score(text: str, *, rubric: Rubric) -> ScoreOrReason | None:
    """Return the one score that a prose reply states.

    Args:
        text: The reply without thinking and without verdict objects.
        rubric: The scale, and the names of its levels.
    Returns:
        A score; a reason when a number is stated that is no score, or when several different ones are; None when no
        known form occurs.
    """
    alone = read_score_text(text.rstrip(". \n"), rubric=rubric) if len(text) <= 40 else UnscoredReason.NOT_A_NUMBER
    if alone not in (UnscoredReason.NOT_A_NUMBER, UnscoredReason.MISSING):
        return alone
    plain = _QUOTED.sub(" ", text.replace("*", ""))
    stated = _stated(plain, _FINAL_FORMS, rubric) or _stated(plain, _PLAIN_FORMS, rubric)
    if not stated:
        return None
    return stated.pop() if len(stated) == 1 else UnscoredReason.AMBIGUOUS


def _stated(text: str, forms: tuple[re.Pattern[str], ...], rubric: Rubric) -> set[ScoreOrReason]:
    """Return the different readings of all matches of some forms."""
    readings: set[ScoreOrReason] = set()
    for form in forms:
        for match in form.finditer(text):
            if _RANGE_GOES_ON.match(text, match.end("value")):
                readings.add(UnscoredReason.AMBIGUOUS)
            else:
                readings.add(read_score_text(match.group("value"), rubric=rubric))
    return readings


def declines(text: str) -> bool:
    """Whether a reply opens by refusing to grade, in words instead of in the refusal field."""
    return _DECLINES.search(text) is not None and _TASK.search(text, 0, _DECLINE_CHARS) is not None
