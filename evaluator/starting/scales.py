"""Reads off a prompt which scale its scores are on: "from 0 to 10", "1-5", "0 points: ... 10 points: ...". Pure.

A guess, to be proposed or told, never to be taken in silence: several answers mean that nobody knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

Scale = tuple[float, float]

_FLAGS = re.IGNORECASE | re.MULTILINE
_NUMBER = r"-?\d+(?:\.\d+)?"
_BEFORE = r"(?<![\w.,/$€-])"
_AFTER = r"(?![\w%€$]|[.,]\d|\s*[-/\u2013]\s*\d)"
_RANGES = (
    re.compile(
        rf"{_BEFORE}({_NUMBER})\s*(?:-|\u2013|\u2014|\.\.\.?|\bto\b|\bbis\b|\bthrough\b)\s*({_NUMBER}){_AFTER}", _FLAGS
    ),
    re.compile(rf"{_BEFORE}(0)\s+(?:or|oder)\s+(1){_AFTER}", _FLAGS),
    re.compile(rf'"minimum"\s*:\s*({_NUMBER})\s*,\s*"maximum"\s*:\s*({_NUMBER})', _FLAGS),
    re.compile(rf"\b(?:between|zwischen)\s+({_NUMBER})\s+(?:and|und)\s+({_NUMBER}){_AFTER}", _FLAGS),
    re.compile(
        rf"{_BEFORE}({_NUMBER})\s*\([^()\n]{{1,40}}\)\s*(?:-|\u2013|\bto\b|\bbis\b)\s*({_NUMBER}){_AFTER}", _FLAGS
    ),
)
_OF_SCORES = re.compile(
    r"\b(?:scor\w+|scales?|rat(?:e|ing)s?|grad(?:e|ing)s?|points?|stars?|marks?|number|integer|punkt\w*|skala"
    r"|bewert\w*|note)\b",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\s*(?:short\s+|kurze\s+)?(?:sentences?|words?|lines?|paragraphs?|bullets?|minutes?|hours?|days?|weeks?|months?"
    r"|years?|seconds?|items?|examples?|steps?|characters?|tokens?|people|percent|euros?|dollars?|sätzen?|wörter\w*"
    r"|minuten|stunden|tagen?)\b",
    re.IGNORECASE,
)
_LEVELS = (
    re.compile(rf"{_BEFORE}({_NUMBER})\s*(?:points?|stars?|punkte?)\s*(?:[:=\u2013\u2014]|\s-\s)", _FLAGS),
    re.compile(
        rf"^[ \t]*(?:[-*\u2022][ \t]+)?\**(?:(?:score|level|rating|grade)[ \t]+)?({_NUMBER})\**"
        rf"[ \t]*(?:[:=\u2013\u2014]|-[ \t])",
        _FLAGS,
    ),
)
_IN_AN_OBJECT = re.compile(r"\"\s*:\s*(?:[\"<\[(]?\s*|\{[^{}]*)$")
_NEAR_BEFORE, _NEAR_AFTER = 100, 50  # characters in which a range is said to be one of scores
_LOW_ENDS = (0.0, 1.0)
_HIGHEST_LOW_END = 10.0  # from 2019 to 2024 is no scale


def find_scales(text: str) -> tuple[Scale, ...]:
    """Return the scales that a prompt names, in order; exactly one means that it is clear.

    Levels that are described one by one ("0 points: ...") make a scale too, from the lowest to the highest, where no
    range holds them already.
    """
    named = _distinct(scale for scale in _ranges(text) if scale[0] < scale[1] and scale[0] <= _HIGHEST_LOW_END)
    described = [scale for scale in _described(text) if not any(_holds(other, scale) for other in named)]
    return tuple(_distinct([*named, *described]))


def _ranges(text: str) -> Iterable[Scale]:
    matches = sorted(
        (match for pattern in _RANGES for match in pattern.finditer(text)), key=lambda match: match.start()
    )
    for match in matches:
        before = text[max(0, match.start() - _NEAR_BEFORE) : match.start()]
        near = f"{before} {text[match.end() :][:_NEAR_AFTER]}"
        is_of_scores = _OF_SCORES.search(near) is not None or _IN_AN_OBJECT.search(before) is not None
        if is_of_scores and not _COUNTED.match(text, match.end()):
            yield float(match[1]), float(match[2])


def _described(text: str) -> Iterable[Scale]:
    """The ends of lists of levels; one that begins in the middle is a list of something else."""
    for pattern in _LEVELS:
        levels = sorted({float(match[1]) for match in pattern.finditer(text)})
        if len(levels) > 1 and levels[0] in _LOW_ENDS:
            yield levels[0], levels[-1]


def _holds(outer: Scale, inner: Scale) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _distinct(scales: Iterable[Scale]) -> list[Scale]:
    return list(dict.fromkeys(scales))
