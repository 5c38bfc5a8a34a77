"""One row turned into one item: texts, time, ids, and every other short plain value as a tag.

Where a row fills several columns of one meaning, the first counts and the others are left out, with a note. Which
column means what is in ``columns.py``; this file knows rows, not files.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from evaluator.errors import UsageError
from evaluator.importers.base import Limits
from evaluator.importers.columns import FIELD_NAMES, ColumnPlanner, Plan
from evaluator.importers.locating import RowError, RowLocator
from evaluator.importers.messages import input_text, json_text, output_text, plain_text, split_answer, stored_json
from evaluator.importers.names import normal_name
from evaluator.importers.nesting import NESTED_TAGS, is_tag_holder
from evaluator.importers.text import repair_text
from evaluator.importers.times import UnreadableTimeError, check_time_format, load_zone, parse_time
from evaluator.records import Item, ItemFlag

__all__ = ["RowConverter", "RowError"]

_NO_FLAGS: frozenset[ItemFlag] = frozenset()
_MOST_NUMBERS = 1000
_WEAK_ID_CHARS = 128


class RowConverter:
    """Turns rows of one file into items and counts what it left out.

    Args:
        naive_zone: Zone of times that name none.
        field_map: Field to column name, for columns that are named otherwise.
        time_format: How to read times that are no ISO times.
        default_answered_utc: The time of rows that have none.
        limits: Bounds of ids and tags.
    Raises:
        UsageError: a setting that cannot be used.
    """

    def __init__(
        self,
        *,
        naive_zone: str = "UTC",
        field_map: Mapping[str, str] | None = None,
        time_format: str | None = None,
        default_answered_utc: str | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.planner = ColumnPlanner(field_map)
        self.locator = RowLocator(self.planner)
        self._zone = load_zone(naive_zone)
        self._time_format = None if time_format is None else check_time_format(time_format)
        self._limits = limits or Limits()
        self._default_time = self._read_default_time(default_answered_utc)
        self._numbers: dict[str, None] = {}
        self._left_out: Counter[tuple[str, str]] = Counter()

    def _read_default_time(self, value: str | None) -> str | None:
        try:
            return parse_time(value, naive_zone=self._zone).utc
        except UnreadableTimeError as error:
            raise UsageError(f"time for rows without one: {error}") from error

    def notes(self) -> tuple[str, ...]:
        """Return what was read where names alone do not say so, and what was left out, one sentence each."""
        read = ", ".join(
            f"{_listed(columns)} {'is' if len(columns) == 1 else 'are'} read as {field}"
            for field, columns in self.planner.readings.items()
        )
        doubtful = map(self.planner.doubt, self.planner.ambiguous)
        left_out = [
            f"column {column!r} was left out in {n_rows} {'row' if n_rows == 1 else 'rows'}: {reason}"
            for (column, reason), n_rows in self._left_out.items()
        ]
        if self._numbers:
            left_out.append(f"numbers in objects are no tags and were left out: {_listed(self._numbers, ', ')}")
        return (*([read] if read else ()), *doubtful, *left_out)

    def convert(self, values: Mapping[str, Any]) -> Item:
        """Return the item of one row.

        Raises:
            RowError: the row has no field for the answer, a time that cannot be read, or an id that is too long.
        """
        values, plan = self.locate(values)
        if not plan.output:
            raise RowError("no field for the answer")
        flags: set[ItemFlag] = set()
        return Item(
            input=self._input(values, plan, flags),
            output=self._output(values, plan, flags),
            reference=self._reference(values, plan, flags) if plan.reference else None,
            contexts=self._contexts(values, plan, flags) if plan.contexts else (),
            external_id=self._id(values, plan, "id", flags) if plan.id else None,
            conversation_id=self._id(values, plan, "conversation_id", flags) if plan.conversation_id else None,
            user_id=self._id(values, plan, "user_id", flags) if plan.user_id else None,
            answered_utc=self._answered(values, plan, flags),
            model=self._id(values, plan, "model", flags) if plan.model else None,
            tags=self._tags(values, plan, flags),
            flags=frozenset(flags) if flags else _NO_FLAGS,
        )

    def locate(self, values: Mapping[str, Any]) -> tuple[Mapping[str, Any], Plan]:
        """Return a row with a column for each field, and what its columns hold.

        Where no column is the answer and the conversation ends with one, that one is taken out of it.

        Raises:
            RowError: the path that was named for the answer leads nowhere.
        """
        values, plan = self.locator.locate(values)
        if plan.output or not plan.input or "output" in self.planner.named:
            return values, plan
        for column in plan.input:
            parts = split_answer(values[column])
            if parts is not None:
                answer = f"{column}[-1]"
                self.planner.met("output")
                self.planner.readings.setdefault("output", {})[answer] = None
                return {**values, column: parts[0], answer: parts[1]}, replace(plan, output=(answer,))
        return values, plan

    def _pick(self, values: Mapping[str, Any], keys: tuple[str, ...], field: str) -> Any:
        """The first filled value; the other filled ones are noted."""
        if len(keys) == 1:
            return values[keys[0]]
        filled = [key for key in keys if values[key] is not None and values[key] != ""]
        for key in filled[1:]:
            self._left_out[key, f"{filled[0]!r} is the {field}; choose with --field {field}={key}"] += 1
        return values[filled[0]] if filled else None

    def _clean(self, text: str, flags: set[ItemFlag]) -> str:
        if text.isascii() and "\0" not in text:  # what nearly every text is; spares a call for each field of each row
            return text
        repaired, altered = repair_text(text)
        if altered:
            flags.add(ItemFlag.ALTERED_TEXT)
        return repaired

    def _input(self, values: Mapping[str, Any], plan: Plan, flags: set[ItemFlag]) -> str:
        text = input_text(self._pick(values, plan.input, "input"))
        if not text or text.isspace():
            flags.add(ItemFlag.EMPTY_INPUT)
        return self._clean(text, flags)

    def _output(self, values: Mapping[str, Any], plan: Plan, flags: set[ItemFlag]) -> str:
        text = self._pick(values, plan.output, "output")
        if not isinstance(text, str):
            text, is_tool_call = output_text(text, FIELD_NAMES["output"])
            if is_tool_call:
                flags.add(ItemFlag.TOOL_CALL)
        if not text or text.isspace():
            flags.add(ItemFlag.EMPTY_OUTPUT)
        return self._clean(text, flags)

    def _reference(self, values: Mapping[str, Any], plan: Plan, flags: set[ItemFlag]) -> str | None:
        value = self._pick(values, plan.reference, "reference")
        if value is None or value == "":
            return None
        text = value if isinstance(value, str) else output_text(value, FIELD_NAMES["reference"])[0]
        return self._clean(text, flags)

    def _contexts(self, values: Mapping[str, Any], plan: Plan, flags: set[ItemFlag]) -> tuple[str, ...]:
        value = self._pick(values, plan.contexts, "contexts")
        if value is None or value == "":
            return ()
        if isinstance(value, str) and value.lstrip()[:1] == "[":
            value = stored_json(value) or value
        parts = value if isinstance(value, list) else [value]
        return tuple(self._clean(text, flags) for text in map(plain_text, parts) if text)

    def _id(self, values: Mapping[str, Any], plan: Plan, field: str, flags: set[ItemFlag]) -> str | None:
        keys: tuple[str, ...] = getattr(plan, field)
        value = self._pick(values, keys, field)
        if value is None:
            return None
        if plan.weak and not plan.weak.isdisjoint(keys) and not _looks_like_id(value):
            self._left_out[keys[0], "a text, a list or an object is no id"] += 1
            return None
        text = (value if isinstance(value, str) else json_text(value)).strip()
        if len(text) > self._limits.id_chars:
            raise RowError(f"{field} is longer than {self._limits.id_chars} characters")
        return self._clean(text, flags) or None

    def _answered(self, values: Mapping[str, Any], plan: Plan, flags: set[ItemFlag]) -> str | None:
        value = self._pick(values, plan.answered_at, "answered_at")
        try:
            parsed = parse_time(value, naive_zone=self._zone, time_format=self._time_format)
        except UnreadableTimeError as error:
            raise RowError(str(error)) from error
        if parsed.naive:
            flags.add(ItemFlag.NAIVE_TIME)
        if parsed.utc is None:
            flags.add(ItemFlag.NO_TIME if self._default_time is None else ItemFlag.GIVEN_TIME)
        return parsed.utc or self._default_time

    def _tags(self, values: Mapping[str, Any], plan: Plan, flags: set[ItemFlag]) -> dict[str, str]:
        tags: dict[str, str] = {}
        for key, name in plan.tags:
            self._add_tag(tags, name, values[key], flags)
        for key in plan.nested:
            value = values[key]
            if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
                value = stored_json(value) or value
            if isinstance(value, dict):
                self._add_inner_tags(tags, key, value, plan, flags)
            elif isinstance(value, list) and all(isinstance(part, str) for part in value):
                self._add_tag(tags, key.strip(), ", ".join(value), flags)
            else:
                self._add_tag(tags, key.strip(), value, flags)
        return tags

    def _add_inner_tags(
        self, tags: dict[str, str], key: str, value: Mapping[str, Any], plan: Plan, flags: set[ItemFlag]
    ) -> None:
        """Tags of an object: by their own names where it holds tags only, with the object's name before them else."""
        holder, is_plain = key.strip(), is_tag_holder(key)
        keeps_numbers = normal_name(key) in NESTED_TAGS
        for inner, entry in value.items():
            if (key, inner) in plan.used:
                continue
            name = self._clean(str(inner).strip(), flags)
            full = f"{holder}.{name}"
            if isinstance(entry, int | float) and not isinstance(entry, bool) and not keeps_numbers:
                if len(self._numbers) < _MOST_NUMBERS:
                    self._numbers[full[: self._limits.tag_chars]] = None
            elif is_plain and (keeps_numbers or name not in tags):
                self._add_tag(tags, name, entry, flags)
            else:
                self._add_tag(tags, full if name else "", entry, flags)

    def _add_tag(self, tags: dict[str, str], name: str, value: object, flags: set[ItemFlag]) -> None:
        text = _tag_text(value)
        if text == "" or name in tags or not name:
            return
        if text is None:
            self._left_out[name[: self._limits.tag_chars], "a list or an object is no tag"] += 1
        elif len(text) > self._limits.tag_chars or len(name) > self._limits.tag_chars:
            reason = f"longer than {self._limits.tag_chars} characters"
            self._left_out[name[: self._limits.tag_chars], reason] += 1
        elif len(tags) >= self._limits.n_tags:
            self._left_out[name, f"more than {self._limits.n_tags} tags"] += 1
        else:
            tags[name] = self._clean(text, flags)


def _listed(columns: Iterable[str], between: str = " and ") -> str:
    return between.join(map(repr, sorted(columns)))


def _looks_like_id(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= _WEAK_ID_CHARS and len(value.split()) <= 1
    return isinstance(value, int) and not isinstance(value, bool)


def _tag_text(value: object) -> str | None:
    """Text of a plain value; empty when there is none, None when the value is not plain."""
    if isinstance(value, str):
        return value.strip()
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int | float) else None
