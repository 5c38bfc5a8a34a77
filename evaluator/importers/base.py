"""Shared words of all importers: rows, rejects, limits, the protocol of a format, and lines read with flat memory.

What a row means is said in ``fields.py``; this file knows bytes and lines only.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

from evaluator.errors import DataFileError, UsageError
from evaluator.importers.text import excerpt
from evaluator.records import Item

UTF8 = "utf-8"
BOM = b"\xef\xbb\xbf"
_REJECT_EXCERPT = 80
_FOREIGN_STARTS = (
    (b"\xff\xfe", "is UTF-16; save it as UTF-8"),
    (b"\xfe\xff", "is UTF-16; save it as UTF-8"),
    (b"\x1f\x8b", "is compressed (gzip); unpack it first"),
    (b"PK\x03\x04", "is a zip archive or a spreadsheet; unpack it, or save the sheet as CSV (UTF-8)"),
    (b"PAR1", "is Parquet; export it as JSON lines or CSV"),
    (b"SQLite format 3\x00", "is a database; export the table as JSON lines or CSV"),
)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds that keep one bad file from filling the memory.

    Attributes:
        row_bytes: The longest row; a longer one is rejected, the rest of the file is read.
        json_bytes: The largest file that is one JSON array, which has to be held whole.
        tag_chars: The longest value of a tag; longer text is no segment and is left out.
        n_tags: The most tags of a row.
        id_chars: The longest external, conversation or user id.
    """

    row_bytes: int = 32 * 1024 * 1024
    json_bytes: int = 256 * 1024 * 1024
    tag_chars: int = 200
    n_tags: int = 100
    id_chars: int = 500


# Row and ImportedItem are tuples: one of each is made for every row, at half the cost of a frozen dataclass.
class Row(NamedTuple):
    """One row as the file has it. ``line_number`` counts from 1; in a JSON array it is the position of the element."""

    line_number: int
    values: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reject:
    """A row that cannot be used, why, and how it starts."""

    line_number: int
    reason: str
    text_start: str = ""

    @classmethod
    def of(cls, line_number: int, reason: str, text: str | bytes = "") -> Reject:
        """Return a reject with the start of its text on one line."""
        if isinstance(text, bytes):
            text = text[: 4 * _REJECT_EXCERPT].decode("utf-8", "replace")
        return cls(line_number=line_number, reason=reason, text_start=excerpt(text, _REJECT_EXCERPT))


class ImportedItem(NamedTuple):
    """An item, the line on which its row starts, and its position among equal rows without an external id."""

    line_number: int
    item: Item
    ordinal: int = 0


@dataclass(kw_only=True)
class Tally:
    """What a reader counts while it reads. ``n_skipped`` are spans that are no calls of a model."""

    n_blank: int = 0
    n_skipped: int = 0


class Reader(Protocol):
    """Reads one format: yields every row, or a reject in its place, in the order of the file."""

    def __call__(self, path: Path, limits: Limits, tally: Tally, encoding: str) -> Iterator[Row | Reject]:
        """Read the file; a row that cannot be read is a ``Reject``. ``encoding`` is one of ``check_encoding``.

        Raises:
            DataFileError: the file as a whole cannot be read.
        """


def open_file(path: Path) -> BinaryIO:
    """Open a file of text for reading, past its byte-order mark.

    Raises:
        DataFileError: it cannot be opened, or is known to be no text that is read line by line.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise DataFileError(f"{path}: cannot be read: {error.strerror or error}") from error
    start = file.read(16)
    for mark, problem in _FOREIGN_STARTS:
        if start.startswith(mark):
            file.close()
            raise DataFileError(f"{path}: the file {problem}")
    file.seek(len(BOM) if start.startswith(BOM) else 0)
    return file


def physical_lines(file: BinaryIO, max_bytes: int) -> Iterator[tuple[int, bytes | None]]:
    """Yield (line number from 1, line with its end); None in place of a line longer than ``max_bytes``."""
    line_number = 0
    while line := file.readline(max_bytes + 1):
        line_number += 1
        if len(line) > max_bytes and not line.endswith(b"\n"):
            _skip_line(file)
            yield line_number, None
        else:
            yield line_number, line


def _skip_line(file: BinaryIO) -> None:
    while chunk := file.readline(1 << 20):
        if chunk.endswith(b"\n"):
            return


def check_encoding(name: str) -> str:
    """Return the name of an encoding that a file can be read in line by line.

    Raises:
        UsageError: unknown, or one whose line ends are not single bytes.
    """
    try:
        known = codecs.lookup(name).name
        if known == "utf-8-sig":  # a byte-order mark is skipped anyway
            return UTF8
        if "\n".encode(known) != b"\n":
            raise UsageError(f"encoding {name!r} cannot be read line by line; save the file as UTF-8")
    except (LookupError, ValueError) as error:
        raise UsageError(f"encoding {name!r} is unknown; use a name such as utf-8, cp1252 or latin-1") from error
    return known


def bad_bytes(encoding: str) -> str:
    """Return the reason of a reject for bytes that are no text in that encoding; the same for every row."""
    if encoding == UTF8:
        return "not UTF-8; name the file's encoding, like --encoding cp1252, or save the file as UTF-8"
    return f"no text in the encoding {encoding}"
