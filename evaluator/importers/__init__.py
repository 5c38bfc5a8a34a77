"""Reads files of answers: one line here registers a format, one file beside this one reads it.

``iter_items`` reads a file of any size with flat memory; ``load_items`` holds a small one whole. Every row becomes
an item or a reject with its line number, never nothing. What columns mean is in ``columns.py``; which ids items get in
``identity.py``. Nothing here writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from evaluator.errors import UsageError
from evaluator.importers.base import UTF8, ImportedItem, Limits, Reader, Reject, Row, Tally, check_encoding, open_file
from evaluator.importers.csv_table import read_csv
from evaluator.importers.fields import RowConverter
from evaluator.importers.json_array import read_json_array
from evaluator.importers.jsonl import read_jsonl
from evaluator.importers.otel_spans import looks_like_spans, read_otel
from evaluator.importers.stream import ItemStream, LoadedFile, rows_to_items

__all__ = [
    "READERS",
    "ImportedItem",
    "ItemStream",
    "Limits",
    "LoadedFile",
    "Reject",
    "Row",
    "detect_format",
    "iter_items",
    "load_items",
    "read_rows",
    "rows_to_items",
]

READERS: Mapping[str, Reader] = {
    "jsonl": read_jsonl,
    "json": read_json_array,
    "csv": read_csv,
    "otel": read_otel,
}
_SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "csv"}
_SNIFFED_BYTES = 1 << 16


def detect_format(path: str | Path) -> str:
    """Return the format of a file, by its suffix, else by its first character.

    Raises:
        DataFileError: the file cannot be read, or holds no text in UTF-8.
    """
    path = Path(path)
    with open_file(path) as file:
        start = file.read(_SNIFFED_BYTES).lstrip()
    if looks_like_spans(start):
        return "otel"
    by_suffix = _SUFFIXES.get(path.suffix.lower())
    if by_suffix is not None:
        return by_suffix
    first_line, _, rest = start.partition(b"\n")
    if start.startswith(b"{"):
        # An object written over several lines is one value, not lines of JSON.
        return "json" if rest and not first_line.rstrip().endswith(b"}") else "jsonl"
    return "json" if start.startswith(b"[") or path.suffix.lower() == ".json" else "csv"


def read_rows(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - the word of the option that users type
    limits: Limits | None = None,
    tally: Tally | None = None,
    encoding: str = UTF8,
) -> Iterator[Row | Reject]:
    """Yield the rows of a file as they stand there, or a reject in the place of a row that cannot be read.

    Args:
        path: The file.
        format: A key of ``READERS``; found from the file when None.
        limits: Bounds; the defaults when None.
        tally: Receives the number of blank lines.
        encoding: How text is written in the file.
    Raises:
        UsageError: an unknown format or encoding.
        DataFileError: the file as a whole cannot be read.
    """
    path = Path(path)
    detected = detect_format(path)
    reader = READERS.get(format or detected)
    if reader is None:
        raise UsageError(f"format {format!r} is unknown; formats are {', '.join(READERS)}")
    return reader(path, limits or Limits(), tally or Tally(), check_encoding(encoding))


def iter_items(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - the word of the option that users type
    naive_zone: str = "UTC",
    field_map: Mapping[str, str] | None = None,
    time_format: str | None = None,
    default_answered_utc: str | None = None,
    limits: Limits | None = None,
    encoding: str = UTF8,
) -> ItemStream:
    """Read a file of any size: iterate over the result for an ``ImportedItem`` or a ``Reject`` for each row.

    Memory stays flat but for rows without an id, which are told apart by some 80 bytes each.

    Args:
        path: A file of JSON lines, a table, or a JSON array.
        format: "jsonl", "csv", "json" or "otel"; found from the file when None.
        naive_zone: Zone of times that name none; such items are marked.
        field_map: Field to column, as of ``--field output=reply_text``; an empty column means that there is none.
        time_format: As of ``datetime.strptime``, for times that are no ISO times.
        default_answered_utc: The time of rows that have none; None leaves them without a time, marked.
        limits: Bounds; the defaults when None.
        encoding: How text is written in the file.
    Raises:
        UsageError: a setting that cannot be used.
        DataFileError: the file as a whole cannot be used; also raised at the end of the iteration, when no row had a
            field for the answer.
    """
    converter = RowConverter(
        naive_zone=naive_zone,
        field_map=field_map,
        time_format=time_format,
        default_answered_utc=default_answered_utc,
        limits=limits,
    )
    tally = Tally()
    rows = read_rows(path, format=format, limits=limits, tally=tally, encoding=encoding)
    return ItemStream(str(path), rows, converter, tally)


def load_items(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - the word of the option that users type
    naive_zone: str = "UTC",
    field_map: Mapping[str, str] | None = None,
    time_format: str | None = None,
    default_answered_utc: str | None = None,
    limits: Limits | None = None,
    encoding: str = UTF8,
) -> LoadedFile:
    """Read a whole file into memory; arguments and errors are those of ``iter_items``."""
    stream = iter_items(
        path,
        format=format,
        naive_zone=naive_zone,
        field_map=field_map,
        time_format=time_format,
        default_answered_utc=default_answered_utc,
        limits=limits,
        encoding=encoding,
    )
    items: list[ImportedItem] = []
    rejects: list[Reject] = []
    for entry in stream:
        if isinstance(entry, Reject):
            rejects.append(entry)
        else:
            items.append(entry)
    return LoadedFile(
        items=tuple(items),
        rejects=tuple(rejects),
        n_rows=stream.n_rows,
        n_blank=stream.n_blank,
        notes=stream.notes,
    )
