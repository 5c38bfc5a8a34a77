"""Tables as CSV that a spreadsheet may open: graded text never runs as a formula, numbers stay numbers.

The exact text is for JSONL; CSV is for people. Nothing here reads the database or a clock.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

_FORMULA_STARTS = ("=", "+", "-", "@")
_CONTROL_STARTS = ("\t", "\r")


def safe_cell(value: object) -> object:
    """Return a cell that no spreadsheet runs: a text that starts like a formula gets an apostrophe in front.

    White space in front of the first character is taken into account, since spreadsheets drop it. Numbers, None and
    other values that are no text come back unchanged, so a score of -0.5 stays a number.
    """
    if not isinstance(value, str):
        return value
    text = value.lstrip()
    blank = value[: len(value) - len(text)]
    if text.startswith(_FORMULA_STARTS) or any(mark in blank for mark in _CONTROL_STARTS):
        return "'" + _one_kind_of_line_end(value)
    return _one_kind_of_line_end(value)


def _one_kind_of_line_end(text: str) -> str:
    """Before Python 3.13 a lone carriage return is not quoted, and what follows it would start a row of its own."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def write_csv(target: TextIO, rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> int:
    """Write rows as CSV with a header; text cells and column names pass ``safe_cell``, a missing value is empty.

    Args:
        target: An open text file; open it with ``newline=""``.
        rows: Cells by column name; other names are left out.
        columns: Names of the columns, in order.

    Returns:
        Number of rows written, the header not counted.
    """
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow([safe_cell(column) for column in columns])
    n_rows = 0
    for row in rows:
        writer.writerow([safe_cell(row.get(column)) for column in columns])
        n_rows += 1
    return n_rows


def csv_bytes(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> bytes:
    """Return rows as a CSV file for a download: UTF-8 with the mark that spreadsheets need to see that it is UTF-8."""
    text = io.StringIO(newline="")
    write_csv(text, rows, columns)
    return text.getvalue().encode("utf-8-sig")
