"""Says where in a row a field might be, when no known name says so: for messages only, nothing is read by a guess.

Looks at the first row of a file, names and values, some levels deep.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC
from shlex import quote
from typing import Any, NamedTuple

from evaluator.importers.names import normal_name
from evaluator.importers.paths import Step, path_text
from evaluator.importers.times import UnreadableTimeError, parse_time

WHAT = {"input": "the question", "output": "the answer", "answered_at": "the time"}
_WORDS: Mapping[str, frozenset[str]] = {
    "input": frozenset(("question", "query", "prompt", "request", "input", "user", "ask", "asked", "instruction")),
    "output": frozenset(("answer", "response", "reply", "output", "completion", "assistant", "bot", "result")),
    "answered_at": frozenset(("time", "date", "at", "on", "created", "when", "timestamp", "ts", "start", "end")),
}
_TEXT_WORDS = frozenset(("text", "message", "messages", "content", "body", "utterance"))
_NO_TEXTS = frozenset(("id", "time", "at", "kind", "type", "name", "reason", "code", "status", "model", "version"))
_MAX_DEPTH = 5
_MAX_PLACES = 400
_MOST = 2
_SENTENCE_CHARS = 12


class Place(NamedTuple):
    """Where a value stands, and how much speaks for it."""

    path: str
    points: float


def suggest(row: Mapping[str, Any], field: str) -> tuple[str, ...]:
    """Return the paths that are most likely to hold a field, best first; none when nothing speaks for any.

    Args:
        row: The first row of a file.
        field: "input", "output" or "answered_at".
    """
    places = []
    for steps, value in _places(row, ()):
        points = _time_points(steps, value) if field == "answered_at" else _text_points(field, steps, value)
        if points > 0:
            places.append(Place(path_text(steps), points))
        if len(places) >= _MAX_PLACES:
            break
    best = sorted(places, key=lambda place: -place.points)[:_MOST]
    return tuple(place.path for place in best if place.points >= best[0].points / 2)


def suggestion_text(row: Mapping[str, Any] | None, field: str) -> str:
    """Return the suggestion in words, with the option that takes it, and a space before it; empty without one."""
    paths = suggest(row, field) if row is not None else ()
    if not paths:
        return ""
    named = " or ".join(map(repr, paths))
    return f" {WHAT[field]} could be {named}: --field {field}={quote(paths[0])}"


def _places(value: Any, steps: tuple[Step, ...]) -> Iterator[tuple[tuple[Step, ...], Any]]:
    """Every value with its path; of a list the last entry, and lists of messages as a whole as well."""
    if steps:
        yield steps, value
    if len(steps) >= _MAX_DEPTH:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(key, str) and key.strip():
                yield from _places(inner, (*steps, key))
    elif isinstance(value, list) and value and isinstance(value[-1], dict):
        yield from _places(value[-1], (*steps, -1))


def _words(steps: Sequence[Step]) -> tuple[frozenset[str], frozenset[str]]:
    """Words of the last name of a path, and of all names."""
    names = [re.split(r"[_.]", normal_name(step)) for step in steps if isinstance(step, str)]
    return frozenset(names[-1]), frozenset(word for words in names for word in words)


def _text_points(field: str, steps: Sequence[Step], value: Any) -> float:
    last, every = _words(steps)
    other = _WORDS["output" if field == "input" else "input"]
    if isinstance(value, list):
        is_chat = bool(value) and isinstance(value[-1], dict) and "messages" in last
        return 4.0 if is_chat and field == "input" else 0.0
    if not isinstance(value, str) or not value.strip() or not _NO_TEXTS.isdisjoint(last) or _is_time(value):
        return 0.0
    points = 3.0 * (not _WORDS[field].isdisjoint(last)) + 2.0 * (not _WORDS[field].isdisjoint(every))
    points += 1.0 * (not _TEXT_WORDS.isdisjoint(last))
    if not other.isdisjoint(every):
        points -= 3.0
    if not points and len(value) > _SENTENCE_CHARS and " " in value.strip():
        points = 0.5
    return points


def _time_points(steps: Sequence[Step], value: Any) -> float:
    last, _ = _words(steps)
    if not isinstance(value, str | int | float) or isinstance(value, bool) or not _is_time(value):
        return 0.0
    return (2.0 if not _WORDS["answered_at"].isdisjoint(last) else 1.0) - 0.1 * len(steps)


def _is_time(value: object) -> bool:
    try:
        return parse_time(value, naive_zone=UTC).utc is not None
    except UnreadableTimeError:
        return False
