"""Finds replies, or examples of replies, in a text: objects that are JSON, or nearly, as prompts show them. Pure.

A prompt writes ``{"points": <0-10>, ...}`` or ``{"points": N} // whole points``; that is read too, what is to be filled
in becomes a ``Blank``. A JSON schema becomes the object that it asks for. How a judge's reply is scored is not decided
here: see ``judges.parse``, which is strict.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_START = re.compile(r'\{\s*"')
_SPACE = re.compile(r"(?:\s|//[^\n]*)*")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_BARE = re.compile(r"<[^>\n]*>|[^,}\]\n]+")
_ELLIPSIS = re.compile(r"(?:\.\.\.|\u2026)")
_REST = re.compile(r"[^,}\]\n]*")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
_MOST_DEEP = 40
_BLANK_CHARS = 60

# what a blank has to look like to be filled in with a number, and what it then does not speak of
_OF_NUMBERS = re.compile(
    r"\d|\b(?:number|integer|int|float|score|rating|points?|grade|zahl|punkte?|n|x)\b", re.IGNORECASE
)
_OF_OTHERS = re.compile(
    r"\b(?:str|strings?|texts?|bool\w*|true|false|null|none|lists?|arrays?|sentences?|words?|reasons?|why|quotes?"
    r"|explanations?|comments?|sätze?|wörter)\b",
    re.IGNORECASE,
)
_NUMBER_IN_QUOTES = re.compile(r"\s*([-+]?\d+(?:\.\d+)?)\s*(?:(?:/|out\s+of)\s*\d+(?:\.\d+)?\s*)?", re.IGNORECASE)
_BLANK_IN_QUOTES = re.compile(
    r"\s*[<\[{(]?[^\"]*?(?:\b(?:number|integer|int|float)\b|\d\s*(?:-|\u2013|\.\.\.?|to|bis)\s*\d)[^\"]*", re.IGNORECASE
)


@dataclass(frozen=True, kw_only=True)
class Blank:
    """What a prompt wants to be filled in, in its words."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Example:
    """One object of a text, ``text[start:end]``: keys as they are spelled, numbers as floats."""

    start: int
    end: int
    members: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a number stands in an object: the path as ``judge.score_field`` names it; None where it is a blank."""

    path: str
    number: float | None


def find_examples(text: str) -> tuple[Example, ...]:
    """Return the objects of a text from left to right, none inside another."""
    found: list[Example] = []
    start = _START.search(text)
    while start is not None:
        reader, following = _Reader(text, start.start()), start.start() + 1
        try:
            members = reader.read_object(0)
        except _NoExampleError:
            pass  # a brace that opens no object: the next one may
        else:
            following = reader.at
            found.append(Example(start=start.start(), end=following, members=_asked_for(members)))
        start = _START.search(text, following)
    return tuple(found)


def number_places(value: Any, path: str = "") -> Iterator[Place]:
    """Yield where numbers stand, or are to be filled in."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from number_places(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from number_places(inner, f"{path}[{position}]")
    elif isinstance(value, float):
        yield Place(path=path, number=value)
    elif isinstance(value, str):
        number = _NUMBER_IN_QUOTES.fullmatch(value)
        if number is not None:
            yield Place(path=path, number=float(number[1]))
        elif len(value) <= _BLANK_CHARS and _BLANK_IN_QUOTES.fullmatch(value) and not _OF_OTHERS.search(value):
            yield Place(path=path, number=None)
    elif isinstance(value, Blank) and not _OF_OTHERS.search(value.text):
        yield Place(path=path, number=None)


def is_blank_of_number(text: str) -> bool:
    """Whether what stands between brackets, in a prompt, is to be filled in with a number."""
    return _OF_NUMBERS.search(text) is not None and _OF_OTHERS.search(text) is None


def _asked_for(members: dict[str, Any]) -> Mapping[str, Any]:
    """An object as it is, or the one that a schema describes, perhaps inside a wrapper with a name."""
    schema = members.get("schema", members)
    filled = _filled(schema) if isinstance(schema, Mapping) and "properties" in schema else None
    return filled if isinstance(filled, Mapping) else members


def _filled(schema: object) -> Any:
    """What a part of a schema asks for: a blank for a number, nothing for a text."""
    if not isinstance(schema, Mapping):
        return None
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        return {key: _filled(inner) for key, inner in properties.items()}
    if schema.get("type") == "array":
        return [_filled(schema.get("items"))]
    return Blank(text="number") if schema.get("type") in ("number", "integer") else None


class _NoExampleError(ValueError):
    """What looked like an object is none."""


class _Reader:
    """Reads one object, from ``at`` on; afterwards ``at`` is behind it."""

    def __init__(self, text: str, at: int) -> None:
        self._text = text
        self.at = at

    def read_object(self, depth: int) -> dict[str, Any]:
        """Read an object, its opening brace included."""
        self._expect("{", depth)
        members: dict[str, Any] = {}
        while not self._took("}"):
            if self._skipped(_ELLIPSIS) or self._took(","):
                continue
            key = self._read_string()
            if not self._took(":"):
                raise _NoExampleError
            members[key] = self._read_value(depth)
            self._end_of_value()
        return members

    def _read_list(self, depth: int) -> Any:
        self._expect("[", depth)
        values: list[Any] = []
        while not self._took("]"):
            if self._skipped(_ELLIPSIS) or self._took(","):
                continue
            values.append(self._read_value(depth))
            self._end_of_value()
        # [1-5] is a blank in brackets
        return values[0] if len(values) == 1 and isinstance(values[0], Blank) else values

    def _read_value(self, depth: int) -> Any:
        next_char = self._peek()
        if next_char == "{":
            return self.read_object(depth + 1)
        if next_char == "[":
            return self._read_list(depth + 1)
        if next_char == '"':
            return self._read_string()
        bare = self._match(_BARE)[0].strip()
        if _NUMBER.fullmatch(bare):
            return float(bare)
        return {"true": True, "false": False, "null": None}.get(bare, Blank(text=bare))

    def _read_string(self) -> str:
        self._peek()
        raw = self._match(_STRING)[1]
        try:
            return str(json.loads(f'"{raw}"', strict=False))
        except ValueError:  # a backslash that means itself, as people write
            return raw

    def _end_of_value(self) -> None:
        """Leave out what follows a value on its line, such as the other choices in ``"yes" | "no"``."""
        if self._peek() not in (",", "}", "]"):
            self._match(_REST)
            if not self._peek():
                raise _NoExampleError

    def _expect(self, char: str, depth: int) -> None:
        if depth > _MOST_DEEP or not self._took(char):
            raise _NoExampleError

    def _took(self, char: str) -> bool:
        if self._peek() != char:
            return False
        self.at += 1
        return True

    def _skipped(self, pattern: re.Pattern[str]) -> bool:
        self._peek()
        match = pattern.match(self._text, self.at)
        self.at = self.at if match is None else match.end()
        return match is not None

    def _peek(self) -> str:
        """The next character that is no blank and of no remark; "" at the end."""
        space = _SPACE.match(self._text, self.at)
        self.at = self.at if space is None else space.end()
        return self._text[self.at : self.at + 1]

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str]:
        match = pattern.match(self._text, self.at)
        if match is None:
            raise _NoExampleError
        self.at = match.end()
        return match
