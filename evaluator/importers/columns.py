"""Names of columns: which of a row's keys hold what. Knows names only, no values and no files.

Names are compared without case, with ``actualOutput``, ``Actual Output`` and ``actual-output`` alike. Where a row has
several columns of one meaning, they count in the order of ``FIELD_NAMES``. Every other column may be a tag.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from evaluator.errors import UsageError
from evaluator.importers.text import repair_text

FIELD_NAMES: Mapping[str, tuple[str, ...]] = {
    "input": ("inputs", "input", "question", "query", "user_input", "prompt", "instruction", "messages"),
    "output": ("outputs", "output", "response", "answer", "actual_output", "completion"),
    "reference": ("expected_output", "reference", "reference_output", "reference_outputs", "ground_truth", "target"),
    "contexts": ("retrieved_contexts", "contexts", "context", "retrieval_context", "documents"),
    # A trace may hold several answers, a span holds one: the span is the better name of an answer.
    "id": ("item_id", "id", "example_id", "span_id", "trace_id"),
    "conversation_id": ("conversation_id", "session_id", "thread_id"),
    "user_id": ("user_id",),
    "answered_at": ("answered_at", "timestamp", "created_at", "time", "answered_utc"),
    "model": ("model",),
}
# the first name of a field is the one that documents use: it may stand for the field as well
_FIELD_OF = {names[0]: field for field, names in FIELD_NAMES.items()} | {field: field for field in FIELD_NAMES}
NESTED_TAGS = ("tags", "metadata")
_MAX_COLUMNS = 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The keys of rows of one shape, by what they hold; keys of one meaning in the order in which they count.

    Attributes:
        nested: Keys of objects whose entries are tags.
        tags: (key, name of the tag) of every other column.
    """

    input: tuple[str, ...]
    output: tuple[str, ...]
    reference: tuple[str, ...]
    contexts: tuple[str, ...]
    id: tuple[str, ...]
    conversation_id: tuple[str, ...]
    user_id: tuple[str, ...]
    answered_at: tuple[str, ...]
    model: tuple[str, ...]
    nested: tuple[str, ...]
    tags: tuple[tuple[str, str], ...]


def normal_name(column: str) -> str:
    """Return a column name as it is compared: lower case, words joined by underscores."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column.strip())
    return re.sub(r"[\s\-]+", "_", words).lower()


class ColumnPlanner:
    """Makes the plan for each shape of row, and remembers which columns the file had.

    Args:
        field_map: Field (or the first of its names) to column, for columns that are named otherwise; an empty column
            means that there is none.
    Raises:
        UsageError: a field that does not exist, or one that was named twice.
    """

    def __init__(self, field_map: Mapping[str, str] | None = None) -> None:
        self.named: dict[str, str] = {}
        for name, column in (field_map or {}).items():
            field = _FIELD_OF.get(name)
            if field is None:
                raise UsageError(f"there is no field {name!r}; fields are {', '.join(FIELD_NAMES)}")
            if field in self.named:
                raise UsageError(f"the field {field!r} is named twice, for {self.named[field]!r} and {column!r}")
            self.named[field] = column
        self._wanted = {field: (normal_name(column),) for field, column in self.named.items()}
        self._columns: dict[str, None] = {}
        self._found: set[str] = set()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns seen, in order, up to a thousand."""
        return tuple(self._columns)

    def found(self, field: str) -> bool:
        """Whether any row had a column for the field."""
        return field in self._found

    def missing(self) -> list[str]:
        """Return the fields whose column was named but never seen."""
        return [field for field, column in self.named.items() if column and not self.found(field)]

    def plan(self, keys: tuple[str, ...]) -> Plan:
        """Return what the keys of a row hold. A column that was named for one field serves no other."""
        names = {key: normal_name(key) for key in keys}
        for key in keys[: _MAX_COLUMNS - len(self._columns)]:
            self._columns.setdefault(key.strip())
        fields = {field: self._keys_of(field, names) for field in FIELD_NAMES}
        self._found.update(field for field, found in fields.items() if found)
        used = {key for found in fields.values() for key in found}
        nested = tuple(key for key in keys if key not in used and names[key] in NESTED_TAGS)
        rest = [key for key in keys if key not in used and key not in nested]
        return Plan(**fields, nested=nested, tags=tuple((key, repair_text(key.strip())[0]) for key in rest))

    def _keys_of(self, field: str, names: Mapping[str, str]) -> tuple[str, ...]:
        wanted = self._wanted.get(field, FIELD_NAMES[field])
        taken = {name for other, columns in self._wanted.items() if other != field for name in columns}
        found = [key for key in names if names[key] in wanted and names[key] not in taken]
        return tuple(sorted(found, key=lambda key: wanted.index(names[key])))
