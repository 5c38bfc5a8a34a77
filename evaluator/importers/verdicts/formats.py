"""Which format a file of scores has, and its rows: one line in ``FORMATS`` each, what is special in a file beside this.

Every format gives plain rows with the columns of ``columns.py``.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.errors import DataFileError, UsageError
from evaluator.importers import READERS, detect_format
from evaluator.importers.base import Limits, Reject, Row, Tally, open_file
from evaluator.importers.jsonl import json_problem
from evaluator.importers.verdicts.deepeval import is_deepeval, read_deepeval
from evaluator.importers.verdicts.mtbench import mtbench_row
from evaluator.importers.verdicts.promptfoo import is_promptfoo, read_promptfoo
from evaluator.importers.verdicts.ragas import is_annotated, read_annotated, score_columns

FORMATS = ("jsonl", "csv", "json", "ragas", "promptfoo", "deepeval")
_ROWS_LOOKED_AT = 200
_LINES_SUFFIXES = (".jsonl", ".ndjson")
_TABLES = ("jsonl", "csv", "json")


@dataclass(frozen=True, kw_only=True)
class RowSource:
    """The rows of a file, how it was read, and the columns that hold scores whatever their name."""

    rows: Iterator[Row | Reject]
    format: str
    metrics: tuple[str, ...] = ()


def detect_verdict_format(path: str | Path) -> str:
    """Return the format of a file of scores.

    Raises:
        DataFileError: the file cannot be read.
    """
    path = Path(path)
    plain = detect_format(path)
    value = _whole_object(path, Limits()) if plain in ("json", "jsonl") else None
    return plain if value is None else _format_of(value) or plain


def _format_of(value: dict[str, Any]) -> str | None:
    if is_promptfoo(value):
        return "promptfoo"
    if is_deepeval(value):
        return "deepeval"
    return "ragas" if is_annotated(value) else None


def read_verdict_rows(
    path: Path,
    *,
    format: str | None,  # noqa: A002 - the word of the option that users type
    limits: Limits,
    tally: Tally,
    encoding: str,
) -> RowSource:
    """Open a file of scores.

    Raises:
        UsageError: an unknown format.
        DataFileError: the file cannot be used, or is not of the format that was named.
    """
    if format is not None and format not in FORMATS:
        raise UsageError(f"format {format!r} is unknown; formats are {', '.join(FORMATS)}")
    plain = detect_format(path)
    value = _whole_object(path, limits, encoding) if plain in ("json", "jsonl") and format not in _TABLES else None
    found = format or (None if value is None else _format_of(value)) or plain
    if found == "promptfoo":
        return RowSource(rows=read_promptfoo(str(path), value), format=found)
    if found == "deepeval":
        return RowSource(rows=read_deepeval(str(path), value), format=found)
    if found == "ragas" and value is not None and is_annotated(value):
        return RowSource(rows=read_annotated(value), format=found)
    if found == "ragas":
        return _ragas_table(path, plain, limits, tally, encoding)
    return RowSource(rows=map(mtbench_row, READERS[found](path, limits, tally, encoding)), format=found)


def _ragas_table(path: Path, plain: str, limits: Limits, tally: Tally, encoding: str) -> RowSource:
    rows = READERS[plain](path, limits, tally, encoding)
    first = list(itertools.islice(rows, _ROWS_LOOKED_AT))
    metrics = score_columns([row.values for row in first if isinstance(row, Row)])
    if not metrics:
        raise DataFileError(f"{path}: no Ragas result table: no column holds scores of a metric")
    return RowSource(rows=itertools.chain(first, rows), format="ragas", metrics=metrics)


def _whole_object(path: Path, limits: Limits, encoding: str = "utf-8") -> dict[str, Any] | None:
    """The one JSON object that a file holds; None when it holds anything else, such as lines of JSON."""
    if path.suffix.lower() in _LINES_SUFFIXES:
        return None
    with open_file(path) as file:
        if not file.read(64).lstrip().startswith(b"{"):
            return None
    with open_file(path) as file:
        content = file.read(limits.json_bytes + 1)
    if len(content) > limits.json_bytes:
        return None
    try:
        text = content.decode(encoding).strip()
        value, end = json.JSONDecoder(parse_constant=lambda _: None).raw_decode(text)
    except (ValueError, RecursionError) as error:
        if path.suffix.lower() == ".json":
            raise DataFileError(f"{path}: {json_problem(error, encoding)}") from error
        return None
    return value if end == len(text) else None
