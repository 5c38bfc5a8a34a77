"""Where in a reply's object the score stands: under a key, or at the end of a path such as ``result.scores[0].value``.

Keys are compared without regard to case. A key that is spelled like a path wins over the path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from evaluator.judges.json_scan import CONFLICT

_PATH = re.compile(r"[^.\[\]]+(?:\[\d+\])*(?:\.[^.\[\]]+(?:\[\d+\])*)*")
_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_ABSENT: Final = object()


@dataclass(frozen=True, kw_only=True)
class Found:
    """A value, and the objects around it, the innermost first: a judge's reasons may stand in any of them."""

    value: Any
    holders: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, kw_only=True)
class ScoreField:
    """The place of the score. ``steps`` are keys and positions; ``key`` is the whole text as one key."""

    key: str
    steps: tuple[str | int, ...]

    @classmethod
    def parse(cls, text: str) -> ScoreField:
        """Read a place from its text; what is no path is a key."""
        key = text.strip().casefold()
        if not _PATH.fullmatch(key):
            return cls(key=key, steps=(key,))
        steps = (int(match[1]) if match[1] else match[2].strip() for match in _STEP.finditer(key))
        return cls(key=key, steps=tuple(steps))

    @property
    def last_key(self) -> str:
        """The innermost key."""
        return next(step for step in reversed(self.steps) if isinstance(step, str))

    def find(self, members: Mapping[str, Any]) -> Found | None:
        """Return what stands there in an object, or in the only object inside it; None when nothing does."""
        found = self._find_in(members)
        if found is not None:
            return found
        inner = [value for value in members.values() if isinstance(value, Mapping)]
        return self._find_in(inner[0]) if len(inner) == 1 else None

    def _find_in(self, members: Mapping[str, Any]) -> Found | None:
        value = _member(members, self.key)
        if value is not _ABSENT:
            return Found(value=value, holders=(members,))
        return self._walk(members) if len(self.steps) > 1 else None

    def _walk(self, members: Mapping[str, Any]) -> Found | None:
        value: Any = members
        holders: list[Mapping[str, Any]] = []
        for step in self.steps:
            if value is CONFLICT:
                break
            if isinstance(value, Mapping):
                holders.insert(0, value)
            value = _at(value, step)
            if value is _ABSENT:
                return None
        return Found(value=value, holders=tuple(holders))


def _at(value: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return value[step] if isinstance(value, list | tuple) and step < len(value) else _ABSENT
    return _member(value, step) if isinstance(value, Mapping) else _ABSENT


def _member(members: Mapping[str, Any], key: str) -> Any:
    """The value of a key in any case; objects read from JSON have theirs in lower case already."""
    if key in members:
        return members[key]
    return next((value for name, value in members.items() if str(name).strip().casefold() == key), _ABSENT)
