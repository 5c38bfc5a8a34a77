"""Says what the rows of a source lack, and where in them it might be, as a line for judgewatch.toml. Words only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from json import dumps

from evaluator.importers.columns import FIELD_NAMES
from evaluator.importers.fields import RowConverter
from evaluator.importers.suggest import WHAT, suggest
from evaluator.records import Item
from evaluator.sources.base import in_words_of_config

_A = {"input": "a question", "output": "an answer", "answered_at": "a time"}
_COLUMNS_SHOWN = 30
_COLUMN_CHARS = 60


def count_needed(found: Counter[str], item: Item) -> None:
    """Count which of a question, an answer and a time an answer has."""
    found["input"] += bool(item.input.strip())
    found["output"] += bool(item.output.strip())
    found["answered_at"] += item.answered_utc is not None


def unfound_columns(converter: RowConverter) -> str | None:
    """Name the columns and paths of ``traffic.fields`` that no row has; None when there is none."""
    planner = converter.planner
    missing = planner.missing() if planner.columns else []
    if not missing:
        return None
    named = ", ".join(f'{name} = "{planner.named[name]}"' for name in missing)
    why = "".join(f"; {planner.misses[name]}" for name in missing if name in planner.misses)
    return f"no row has the column of traffic.fields = {{{named}}}{why}; columns seen: {_columns(converter)}"


def no_answers(converter: RowConverter, fields: Mapping[str, str]) -> str | None:
    """Say that no row has a field for the answer, and which it may be; None when a row has.

    Args:
        converter: What the rows were read with.
        fields: ``traffic.fields`` as it is.
    """
    planner = converter.planner
    if not planner.columns or planner.found("output"):
        return None
    doubt = in_words_of_config(planner.doubt("output"))
    what = doubt or f"no row has a field for the answer (one of {', '.join(FIELD_NAMES['output'])})"
    fix = f'Name its column: traffic.fields = {{output = "NAME"}}{_places(converter, NEEDED, fields)}'
    return f"{what}; columns seen: {_columns(converter)}. {fix}"


def lacking_fields(converter: RowConverter, found: Mapping[str, int], fields: Mapping[str, str]) -> str | None:
    """Say what no row has of a question, an answer and a time; None when nothing is missing.

    A field that the configuration says there is none of is not missing.

    Args:
        converter: What the rows were read with.
        found: How many rows have each of them.
        fields: ``traffic.fields`` as it is.
    """
    missing = [field for field in NEEDED if not found.get(field) and fields.get(field) != ""]
    if not missing:
        return None
    what = " and ".join(f"no row has {_A[field]}" for field in missing)
    doubts = [f"; {in_words_of_config(doubt)}" for field in missing if (doubt := converter.planner.doubt(field))]
    fix = _places(converter, missing, fields) or "; name its column in traffic.fields"
    return "".join([what, *(doubts or [fix])])


NEEDED = ("input", "output", "answered_at")


def _places(converter: RowConverter, missing: Sequence[str], fields: Mapping[str, str]) -> str:
    """Where fields that were not found might be, and the line under [traffic] that says so."""
    row = converter.locator.first or {}
    lost = [field for field in missing if not converter.planner.found(field) or field in fields]
    places = {field: paths for field in lost if (paths := suggest(row, field))}
    if not places:
        return ""
    told = ", ".join(f"{WHAT[field]} could be {' or '.join(paths)}" for field, paths in places.items())
    line = fields_line({**fields, **{field: paths[0] for field, paths in places.items()}})
    return f"; {told}. Under [traffic]: {line}"


def fields_line(places: Mapping[str, str]) -> str:
    """Return the line of judgewatch.toml, under [traffic], that names places of fields."""
    entries = ", ".join(f"{field} = {dumps(path, ensure_ascii=False)}" for field, path in places.items())
    return f"fields = {{ {entries} }}"


def _columns(converter: RowConverter) -> str:
    return ", ".join(repr(column[:_COLUMN_CHARS]) for column in converter.planner.columns[:_COLUMNS_SHOWN])
