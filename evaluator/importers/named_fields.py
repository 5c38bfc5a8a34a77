"""Fields whose columns were named, in the configuration and by hand: which of both counts, and what a file has of them.

Knows rows, no meaning of columns.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from evaluator.importers.base import Reject, Row
from evaluator.importers.columns import field_of
from evaluator.importers.paths import MISSING, follow, parse_path, same_name
from evaluator.importers.verdicts.columns import VERDICT_FIELDS, verdict_field

_ROWS_LOOKED_AT = 200


def same_field(name: str) -> str:
    """Return the one name of a field that has several; an unknown one as it is."""
    return verdict_field(name) or field_of(name) or name


def of_answers(fields: Mapping[str, str]) -> dict[str, str]:
    """Return those fields that an answer has; those that only scores have are left out."""
    return {name: column for name, column in fields.items() if same_field(name) not in VERDICT_FIELDS}


def fields_over(given: Mapping[str, str], configured: Mapping[str, str]) -> dict[str, str]:
    """Return the fields that were given by hand, and beside them the configured ones that these leave open."""
    named = {same_field(name) for name in given}
    left = {name: column for name, column in configured.items() if same_field(name) not in named}
    return {**left, **given}


def fields_there(fields: Mapping[str, str], rows: Iterable[Row | Reject]) -> dict[str, str]:
    """Return those fields whose column, or one of several, the first rows have; and those that are said not to be.

    A configuration speaks of the files of its sources; another file may be written otherwise.
    """
    seen = [row.values for row in itertools.islice(rows, _ROWS_LOOKED_AT) if isinstance(row, Row)]
    return {name: column for name, column in fields.items() if not column.strip() or _is_there(column, seen)}


def _is_there(column: str, seen: Iterable[Mapping[str, Any]]) -> bool:
    parts = {column, *column.split(",")}
    return any(_has(values, part) for values in seen for part in parts if part.strip())


def _has(values: Mapping[str, Any], part: str) -> bool:
    steps = parse_path(part)
    return same_name(values, part) is not None or (steps is not None and follow(values, steps) is not MISSING)
