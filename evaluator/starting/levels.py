"""Reads off a prompt that it asks for a word and not for a number: pass or fail, yes or no. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from evaluator.errors import UsageError

Levels = dict[str, float]

# the better one first
_PAIRS = (("pass", "fail"), ("yes", "no"), ("correct", "incorrect"), ("true", "false"), ("good", "bad"))
_QUOTES = "\"'`“”"


def find_levels(text: str) -> Levels | None:
    """The two words that a prompt asks for, with their scores; None when it names no such pair, or more than one.

    Both words must stand in quotation marks, as the word of a reply does: "passes if ..." is no level.
    """
    found = [pair for pair in _PAIRS if all(_is_quoted(word, text) for word in pair)]
    if len(found) != 1:
        return None
    better, worse = found[0]
    return {_as_written(worse, text): 0.0, _as_written(better, text): 1.0}


def field_of_levels(text: str, levels: Mapping[str, float]) -> str | None:
    """The key of the reply under which the word stands; None when the prompt shows none, or several."""
    words = "|".join(re.escape(word) for word in levels)
    keys = set(re.findall(rf'"([\w.-]+)"\s*:\s*"(?:{words})\b', text, re.IGNORECASE))
    return keys.pop() if len(keys) == 1 else None


def parse_levels(text: str) -> Levels:
    """Read levels as they are given on the command line: ``pass=1,fail=0``.

    Raises:
        UsageError: what is no list of names with a number each, or fewer than two.
    """
    levels: Levels = {}
    for part in text.split(","):
        name, _, score = part.partition("=")
        try:
            levels[name.strip()] = float(score)
        except ValueError as error:
            raise UsageError(f"--levels {text!r}: write a name and a number each, like pass=1,fail=0") from error
    if len(levels) < 2 or not all(levels):
        raise UsageError(f"--levels {text!r}: two levels or more are needed, like pass=1,fail=0")
    return levels


def _is_quoted(word: str, text: str) -> bool:
    return re.search(rf"[{_QUOTES}]{word}[{_QUOTES}]", text, re.IGNORECASE) is not None


def _as_written(word: str, text: str) -> str:
    found = re.search(rf"[{_QUOTES}]({word})[{_QUOTES}]", text, re.IGNORECASE)
    return word if found is None else found.group(1)
