"""Finds JSON objects in prose and tells thinking from answer. Knows nothing of scores.

Objects are found by the JSON grammar itself, so braces inside strings stay text, and an object that the end of the
reply cuts off is told apart from a brace that never was JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

INVALID: Final = object()
CONFLICT: Final = object()

_OBJECT_START = re.compile(r'\{\s*["}]')
_TAG = re.compile(
    r"(?P<opens>^[ \t]*(?:<(?:think|thinking|thought)>|\[THINK\]))|(?:</(?:think|thinking|thought)>|\[/THINK\])",
    re.IGNORECASE | re.MULTILINE,
)
_CUT_LITERAL = re.compile(r"[\w.+-]{0,8}")
_CUT_ESCAPE_CHARS = 6


@dataclass(frozen=True, kw_only=True)
class FoundObject:
    """One complete JSON object in a text: ``text[start:end]``, keys in lower case."""

    start: int
    end: int
    members: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Scan:
    """All complete top-level objects, and where an object starts that the end of the text cuts off."""

    objects: tuple[FoundObject, ...]
    cut_start: int | None


@dataclass(frozen=True, kw_only=True)
class Thinking:
    """A reply in two parts. ``is_closed`` is False when the thinking never ended, and then there is no answer."""

    text: str
    answer: str
    is_closed: bool


def _lower_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object with lower-case keys; a key given twice with two values holds CONFLICT."""
    members: dict[str, Any] = {}
    for name, value in pairs:
        key = name.strip().casefold()
        members[key] = CONFLICT if key in members and members[key] != value else value
    return members


# parse_int: a literal of thousands of digits becomes inf instead of an error; strict=False: judges write raw line ends
_DECODER = json.JSONDecoder(strict=False, parse_int=float, object_pairs_hook=_lower_keys)


def load_json(text: str) -> Any:
    """Return the value of a text that is JSON as a whole: keys in lower case, numbers as floats. Else INVALID."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return INVALID


def scan_objects(text: str) -> Scan:
    """Find the complete objects of a text from left to right, none inside another."""
    objects: list[FoundObject] = []
    cut_start: int | None = None
    at = _OBJECT_START.search(text)
    while at is not None:
        following = at.start() + 1
        try:
            members, following = _DECODER.raw_decode(text, at.start())
            objects.append(FoundObject(start=at.start(), end=following, members=members))
        except json.JSONDecodeError as error:
            if cut_start is None and _ran_out(error, text):
                cut_start = at.start()
        except (ValueError, RecursionError):
            return Scan(objects=tuple(objects), cut_start=cut_start)  # nested past all sense: nothing after it counts
        at = _OBJECT_START.search(text, following)
    return Scan(objects=tuple(objects), cut_start=cut_start)


def _ran_out(error: json.JSONDecodeError, text: str) -> bool:
    """Whether an object failed because the text ended, not because it is wrong."""
    if error.msg.startswith("Unterminated string"):
        return True
    rest = text[error.pos :].strip()
    if "escape" in error.msg:
        return len(rest) < _CUT_ESCAPE_CHARS
    return _CUT_LITERAL.fullmatch(rest) is not None


def split_thinking(text: str) -> Thinking:
    """Separate what a reasoning judge wrote before its answer.

    Everything up to the last closing tag is thinking, also where the opening tag is missing; a tag inside a JSON
    object is quoted text and counts as none.
    """
    tags = list(_TAG.finditer(text))
    if tags:
        objects = scan_objects(text).objects
        tags = [tag for tag in tags if not _is_inside(tag.start(), objects)]
    if not tags:
        return Thinking(text="", answer=text, is_closed=True)
    if tags[-1].group("opens"):
        return Thinking(text=text, answer="", is_closed=False)
    end = tags[-1].end()
    return Thinking(text=_TAG.sub("", text[:end]).strip(), answer=text[end:], is_closed=True)


def _is_inside(position: int, objects: Sequence[FoundObject]) -> bool:
    return any(found.start < position < found.end for found in objects)
