"""Faults of a configuration in words: the key, the value, the fix. Values that can hold a secret are never shown."""

from __future__ import annotations

import difflib
from typing import Any, get_args

from pydantic import BaseModel

_HIDDEN = frozenset({"headers", "query", "api_key_env", "api_key_command", "base_url", "command", "proxy", "url"})
_FIXES = {
    "bool_type": "true or false is needed",
    "dict_type": "a table of names and values is needed, like { name = 'value' }",
    "finite_number": "a finite number is needed",
    "float_type": "a number is needed",
    "int_from_float": "a whole number is needed",
    "int_type": "a whole number is needed",
    "string_pattern_mismatch": "a text that is not blank is needed",
    "string_type": "a text in quotes is needed",
    "tuple_type": "a list in brackets is needed",
}


def explain_fault(fault: Any, root: type[BaseModel]) -> str:
    """Return one of pydantic's faults as one line; ``root`` is the model that was filled."""
    place, kind = fault["loc"], fault["type"]
    key = ".".join(str(part) for part in place)
    if kind == "missing":
        return f"{key} is missing; set it"
    if kind == "extra_forbidden":
        known = _known_keys(root, place[:-1])
        close = difflib.get_close_matches(str(place[-1]), known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known here: {', '.join(known)}"
        return f"unknown key {key!r}; {hint}"
    if kind == "model_type":
        return f"{key} has to be a section, written as [{key}]"
    message = _FIXES.get(kind) or fault["msg"].removeprefix("Value error, ").replace("Input should be ", "must be ")
    if message.startswith(f"{key}."):
        return message  # about several keys of one section, each named in full
    value = fault["input"]
    if isinstance(value, dict | BaseModel) or _HIDDEN & set(place):
        return f"{key}: {message}" if key else message
    return f"{key} = {value!r}: {message}"


def _known_keys(root: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    """Keys of the section at a place; sections inside a list or a table share theirs."""
    section = root
    for part in place:
        field = section.model_fields.get(str(part))
        if field is not None:
            section = next((kind for kind in _sections(field.annotation)), section)
    return sorted(name for name in section.model_fields if name != "folder")


def _sections(annotation: Any) -> list[type[BaseModel]]:
    """The sections that a field's type is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for inner in get_args(annotation) for found in _sections(inner)]
