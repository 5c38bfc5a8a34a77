"""Attributes of spans as plain values: the typed form of OTLP, nested objects, and lists that are written as keys.

``llm.input_messages.0.message.role`` and its neighbours become one list of messages again. Which attribute means what
is in ``otel_spans.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

_PLAIN = ("stringValue", "string_value", "boolValue", "bool_value", "doubleValue", "double_value")
_WHOLE = ("intValue", "int_value")
_WRAPPERS = ("message", "message_content", "tool_call")  # OpenInference puts each entry of a list into one of these
_TEXTS = ("input.value", "output.value")  # objects that are values
_MOST_DEPTH = 20
_MOST_ENTRIES = 10_000


class CutAttributeError(ValueError):
    """An attribute that starts as JSON and does not end as such; the message names it."""


def read_attributes(value: object) -> dict[str, Any]:
    """Return attributes by their full, dotted name.

    Args:
        value: A list of ``{"key": ..., "value": {"stringValue": ...}}`` as in OTLP, or an object, nested or not.
    """
    if isinstance(value, list):
        pairs = [part for part in value if isinstance(part, dict) and isinstance(part.get("key"), str)]
        return {part["key"]: _typed(part.get("value"), 0) for part in pairs}
    flat: dict[str, Any] = {}
    if isinstance(value, dict):
        _flatten(value, "", flat, 0)
    return flat


def _typed(value: object, depth: int) -> Any:
    """The plain value of one of OTLP's typed ones; anything else stays as it is."""
    if not isinstance(value, dict) or len(value) != 1 or depth > _MOST_DEPTH:
        return value
    (kind, inner) = next(iter(value.items()))
    if kind in _PLAIN:
        return inner
    if kind in _WHOLE:
        return int(inner) if isinstance(inner, str) and inner.lstrip("-").isdecimal() else inner
    if kind in ("arrayValue", "array_value"):
        return [_typed(part, depth + 1) for part in _values(inner)]
    if kind in ("kvlistValue", "kvlist_value"):
        pairs = [part for part in _values(inner) if isinstance(part, dict)]
        return {str(part.get("key")): _typed(part.get("value"), depth + 1) for part in pairs}
    return value


def _values(inner: object) -> list[Any]:
    values = inner.get("values") if isinstance(inner, dict) else None
    return values if isinstance(values, list) else []


def _flatten(value: Mapping[str, Any], start: str, flat: dict[str, Any], depth: int) -> None:
    for name, inner in value.items():
        full = f"{start}{name}"
        if isinstance(inner, dict) and inner and full not in _TEXTS and depth < _MOST_DEPTH:
            _flatten(inner, f"{full}.", flat, depth + 1)
        else:
            flat[full] = inner


def numbered(attributes: Mapping[str, Any], prefix: str) -> list[Any]:
    """Return the list that is written as ``prefix.0...``, ``prefix.1...``; empty when there is none."""
    tree: dict[str, Any] = {}
    for name, value in attributes.items():
        if name.startswith(prefix + "."):
            _put(tree, name[len(prefix) + 1 :].split("."), value)
    found = _lists(tree)
    return found if isinstance(found, list) else []


def _put(tree: dict[str, Any], path: list[str], value: Any) -> None:
    for step in path[:-1]:
        inner = tree.setdefault(step, {})
        if not isinstance(inner, dict):  # a value and a list of the same name: the value came first
            return
        tree = inner
    tree.setdefault(path[-1], value)


def _lists(tree: Any) -> Any:
    """The same with lists where all names are numbers, and without the wrappers around entries."""
    if not isinstance(tree, dict):
        return tree
    if tree and all(name.isdecimal() for name in tree):
        return [_lists(tree[name]) for name in sorted(tree, key=int)[:_MOST_ENTRIES]]
    entry = {name: _lists(value) for name, value in tree.items()}
    return unwrapped(entry)


def unwrapped(entry: dict[str, Any]) -> Any:
    """An entry of OpenInference without its wrapper, with the names that messages have everywhere else."""
    if len(entry) == 1 and (name := next(iter(entry))) in _WRAPPERS and isinstance(entry[name], dict):
        entry = entry[name]
    if "contents" in entry and "content" not in entry:
        entry = {("content" if name == "contents" else name): value for name, value in entry.items()}
    return entry


def unwrap_all(value: object) -> Any:
    """Entries of a list that was not written as keys, without their wrappers."""
    if isinstance(value, list):
        return [unwrap_all(part) for part in value]
    if isinstance(value, dict):
        return unwrapped({name: unwrap_all(part) for name, part in value.items()})
    return value


def from_json(value: object, name: str) -> Any:
    """Return what an attribute holds as JSON; text that is no JSON stays text.

    Raises:
        CutAttributeError: it starts as a list or an object and does not end as one.
    """
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise CutAttributeError(
            f"the attribute {name} is cut off after {len(value)} characters; raise the exporter's limit of attribute"
            " lengths (OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT)"
        ) from error


def first_of(attributes: Mapping[str, Any], names: Iterable[str]) -> Any:
    """Return the first filled attribute of some names; None when there is none."""
    return next((attributes[name] for name in names if attributes.get(name) not in (None, "")), None)
