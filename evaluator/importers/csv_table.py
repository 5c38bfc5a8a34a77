"""Tables: comma, semicolon or tab, one header row, quoted cells that may hold line breaks.

A record that cannot be read as written is rejected, never repaired by guess. Line numbers are physical lines of the
file: the one on which the record starts.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from evaluator.errors import DataFileError
from evaluator.importers.base import Limits, Reject, Row, Tally, bad_bytes, open_file, physical_lines

DELIMITERS = (",", ";", "\t")


class _Lines:
    """Feeds decoded lines to the csv module and remembers what was wrong with those of the current record."""

    def __init__(self, lines: Iterator[tuple[int, bytes | None]], limits: Limits, encoding: str) -> None:
        self._lines = lines
        self._encoding = encoding
        self._limits = limits
        self.line_number = 0
        self.problem = ""
        self.start = ""

    def begin(self) -> None:
        """Forget the record before."""
        self.problem = self.start = ""

    def __iter__(self) -> Iterator[str]:
        for line_number, line in self._lines:
            self.line_number = line_number
            text = self._decode(line)
            self.start = self.start or text
            yield text

    def _decode(self, line: bytes | None) -> str:
        if line is None:
            self.problem = f"the line is longer than {self._limits.row_bytes} bytes"
            return "\n"
        try:
            return line.decode(self._encoding)
        except UnicodeDecodeError:
            self.problem = self.problem or bad_bytes(self._encoding)
            return line.decode(self._encoding, "replace")


def read_csv(path: Path, limits: Limits, tally: Tally, encoding: str) -> Iterator[Row | Reject]:
    """Read a table with flat memory.

    Raises:
        DataFileError: the header is missing its names, names a column twice, or cannot be read.
    """
    # The limit belongs to the whole process: it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), limits.row_bytes))
    with open_file(path) as file:
        position = file.tell()
        first = file.readline(limits.row_bytes).decode(encoding, "replace")
        file.seek(position)
        lines = _Lines(physical_lines(file, limits.row_bytes), limits, encoding)
        records = csv.reader(iter(lines), delimiter=sniff_delimiter(first), strict=True)
        header = _read_header(path, records, lines, tally)
        if header is not None:
            yield from _read_records(records, lines, header, tally)


def sniff_delimiter(header_line: str) -> str:
    """Return the delimiter that occurs most outside quotes; a comma when there is none."""
    unquoted = re.sub(r'"[^"]*"', "", header_line)
    return max(DELIMITERS, key=unquoted.count)


def _read_header(path: Path, records: Iterator[list[str]], lines: _Lines, tally: Tally) -> Sequence[str] | None:
    """Return the names of the columns; None for a file without any record."""
    try:
        for cells in records:
            if cells:
                break
            tally.n_blank += 1
        else:
            return None
    except csv.Error as error:
        raise DataFileError(f"{path}: line {lines.line_number}: the header cannot be read: {error}") from error
    if lines.problem:
        raise DataFileError(f"{path}: line {lines.line_number}: {lines.problem}")
    names = [name.strip() for name in cells]
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        raise DataFileError(f"{path}: column {twice[0]!r} occurs twice; rename one of them")
    return names


def _read_records(
    records: Iterator[list[str]], lines: _Lines, header: Sequence[str], tally: Tally
) -> Iterator[Row | Reject]:
    while True:
        lines.begin()
        line_number = lines.line_number + 1
        try:
            cells = next(records)
        except StopIteration:
            return
        except csv.Error as error:
            yield Reject.of(line_number, lines.problem or f"broken row: {error}", lines.start)
            continue
        if lines.problem:
            yield Reject.of(line_number, lines.problem, lines.start)
        elif not cells:
            tally.n_blank += 1
        elif len(cells) != len(header):
            yield Reject.of(line_number, f"{len(cells)} cells, but the header names {len(header)} columns", lines.start)
        else:
            yield Row(line_number, dict(zip(header, cells, strict=True)))
