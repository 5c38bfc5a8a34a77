"""Paths into a row: ``request.prompt``, ``messages[-1].content``. Reads and follows them; knows no meaning of names.

A key that is written with a point is found as it stands before it is taken for a path. Names are compared as names of
columns are. A text that holds an object or a list as JSON is looked into.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evaluator.importers.messages import stored_json
from evaluator.importers.names import normal_name

Step = str | int

MISSING = object()
_PATH = re.compile(r"[^.\[\]]+(?:\[-?\d{1,6}\])*(?:\.[^.\[\]]+(?:\[-?\d{1,6}\])*)*")
_STEP = re.compile(r"\[(-?\d+)\]|([^.\[\]]+)")
_KEYS_SHOWN = 12
_NAME_CHARS = 60


def parse_path(text: str) -> tuple[Step, ...] | None:
    """Return the steps of a path; None when the text is one plain name."""
    text = text.strip()
    if not ("." in text or "[" in text) or _PATH.fullmatch(text) is None:
        return None
    return tuple(int(index) if index else name.strip() for index, name in _STEP.findall(text))


def follow(value: Any, steps: Sequence[Step]) -> Any:
    """Return what stands at the end of a path, ``MISSING`` when it leads nowhere."""
    place = 0
    while place < len(steps):
        value = _opened(value)
        step = steps[place]
        if isinstance(step, int):
            if not isinstance(value, list) or not -len(value) <= step < len(value):
                return MISSING
            value, place = value[step], place + 1
            continue
        key, n_steps = _key_at(value, steps[place:])
        if key is None:
            return MISSING
        value, place = value[key], place + n_steps
    return value


def why_missing(value: Any, steps: Sequence[Step]) -> str:
    """Say where a path that leads nowhere ends, and what is there instead."""
    n_good = next((n for n in range(len(steps), 0, -1) if follow(value, steps[:n]) is not MISSING), 0)
    found = _opened(follow(value, steps[:n_good]))
    where = repr(path_text(steps[:n_good])) if n_good else "the row"
    if isinstance(found, dict):
        return f"{where} has {_listed(found)}"
    if isinstance(found, list):
        return f"{where} is a list of {len(found)}"
    return f"{where} is {'empty' if found is None else 'a plain value'}"


def path_text(steps: Sequence[Step]) -> str:
    """Write a path as it is read."""
    parts = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps]
    return "".join(parts).removeprefix(".")


def _listed(found: Mapping[str, Any]) -> str:
    if not found:
        return "no keys"
    names = ", ".join(repr(str(key)[:_NAME_CHARS]) for key in list(found)[:_KEYS_SHOWN])
    return f"the keys {names}" + (", ..." if len(found) > _KEYS_SHOWN else "")


def _opened(value: Any) -> Any:
    """The object or list that a text holds; anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        return stored_json(value) or value
    return value


def _key_at(value: Any, steps: Sequence[Step]) -> tuple[str | None, int]:
    """The key of an object that the next steps name, and how many they are: the longest name with points first."""
    if not isinstance(value, dict):
        return None, 0
    names = [step for step in steps if isinstance(step, str)]
    n_names = next((n for n, step in enumerate(steps) if isinstance(step, int)), len(names))
    for n_steps in range(n_names, 0, -1):
        name = ".".join(names[:n_steps])
        key = name if name in value else same_name(value, name)
        if key is not None:
            return key, n_steps
    return None, 0


def same_name(keys: Mapping[str, Any], name: str) -> str | None:
    """The first key that is written otherwise and means the same name."""
    wanted = normal_name(name)
    return next((key for key in keys if normal_name(key) == wanted), None)
