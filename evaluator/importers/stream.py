"""Rows to items, one pass with flat memory, with the counts that belong to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evaluator.errors import DataFileError
from evaluator.identity import EqualCounter
from evaluator.importers.base import ImportedItem, Reject, Row, Tally
from evaluator.importers.columns import FIELD_NAMES
from evaluator.importers.fields import RowConverter, RowError
from evaluator.importers.suggest import suggestion_text

_COLUMNS_SHOWN = 30


@dataclass(frozen=True, kw_only=True)
class LoadedFile:
    """A whole file in memory. ``n_rows`` = items + rejects; blank lines are counted apart."""

    items: tuple[ImportedItem, ...]
    rejects: tuple[Reject, ...]
    n_rows: int
    n_blank: int
    notes: tuple[str, ...]


class ItemStream:
    """The items and rejects of one file, in its order; can be read once.

    The counts and notes are complete when the stream has been read to its end.
    """

    def __init__(self, name: str, rows: Iterable[Row | Reject], converter: RowConverter, tally: Tally) -> None:
        self._name = name
        self._converter = converter
        self._tally = tally
        self._iterator = rows_to_items(rows, converter)
        self.n_items = 0
        self.n_rejected = 0

    @property
    def n_rows(self) -> int:
        """Rows so far: items and rejects."""
        return self.n_items + self.n_rejected

    @property
    def n_blank(self) -> int:
        """Blank lines so far."""
        return self._tally.n_blank

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out so far, one sentence each."""
        notes = (*self._converter.notes(), *(self._notes_of_missing() if self.n_items else ()))
        if n_skipped := self._tally.n_skipped:
            spans = "1 span" if n_skipped == 1 else f"{n_skipped} spans"
            notes += (f"{spans} left out: no call of a model, or one that failed without an answer",)
        return notes

    def __iter__(self) -> Iterator[ImportedItem | Reject]:
        """Yield an item or a reject for each row.

        Raises:
            DataFileError: at the end, when no row had a field for the answer, or a column that was named is missing.
        """
        for entry in self._iterator:
            if isinstance(entry, Reject):
                self.n_rejected += 1
            else:
                self.n_items += 1
            yield entry
        self._check_columns()

    def _notes_of_missing(self) -> Iterator[str]:
        planner = self._converter.planner
        if not planner.found("input") and planner.named.get("input") != "" and not planner.doubt("input"):
            known, hint = ", ".join(FIELD_NAMES["input"]), self._hint("input")
            yield f"no row has a field for the question ({known}); say which one it is: --field input=NAME{hint}"
        hint = self._hint("answered_at")
        if hint and not planner.found("answered_at") and "answered_at" not in planner.named:
            yield f"no row has a field for the time{hint}"

    def _hint(self, field: str) -> str:
        """Where the field may be, or which places it may be in, for the end of a sentence."""
        if field in self._converter.planner.ambiguous:
            return ""
        text = suggestion_text(self._converter.locator.first, field)
        return f";{text}" if text else ""

    def _check_columns(self) -> None:
        planner = self._converter.planner
        columns = [repr(column[:60]) for column in planner.columns]
        if not columns:
            return
        shown = ", ".join(columns[:_COLUMNS_SHOWN]) + (", ..." if len(columns) > _COLUMNS_SHOWN else "")
        for field in planner.missing():
            why = f"; {planner.misses[field]}" if field in planner.misses else ""
            raise DataFileError(
                f"{self._name}: no row has the column {planner.named[field]!r}, named by --field {field}{why}; "
                f"columns seen: {shown}"
            )
        if not planner.found("output"):
            doubt = planner.doubt("output")
            what = doubt or f"no row has a field for the answer (one of {', '.join(FIELD_NAMES['output'])})"
            raise DataFileError(
                f"{self._name}: {what}; columns seen: {shown}. Say which one it is: --field"
                f" output=NAME{self._hint('output')}"
            )


def rows_to_items(rows: Iterable[Row | Reject], converter: RowConverter) -> Iterator[ImportedItem | Reject]:
    """Turn every row into an item or a reject; rejects pass through."""
    equals = EqualCounter()
    for row in rows:
        if isinstance(row, Reject):
            yield row
            continue
        try:
            item = converter.convert(row.values)
        except RowError as error:
            yield Reject.of(row.line_number, str(error), _start_of(row.values))
        except RecursionError:
            yield Reject.of(row.line_number, "nested too deeply")
        else:
            yield ImportedItem(row.line_number, item, equals.position(item))


def _start_of(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}: {str(value)[:60]}" for key, value in list(values.items())[:4])
