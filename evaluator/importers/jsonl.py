"""JSON lines: one object a line. Blank lines are counted; every other line is a row or a reject."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from evaluator.errors import DataFileError
from evaluator.importers.base import Limits, Reject, Row, Tally, bad_bytes, open_file, physical_lines

_SECOND = 2


def read_jsonl(path: Path, limits: Limits, tally: Tally, encoding: str) -> Iterator[Row | Reject]:
    """Read JSON lines with flat memory; ``NaN`` and ``Infinity`` are read as null.

    Raises:
        DataFileError: it is one JSON document over several lines, of which single lines may look like rows.
    """
    raw_decode = json.JSONDecoder(parse_constant=lambda _: None).raw_decode
    place = 0  # of the line among those that are not blank
    is_open = False  # the first of them opens a document and does not end it
    with open_file(path) as file:
        for line_number, line in physical_lines(file, limits.row_bytes):
            if line is None:
                yield Reject.of(line_number, f"the line is longer than {limits.row_bytes} bytes")
                continue
            try:
                text = line.decode(encoding).strip()
                if not text:
                    tally.n_blank += 1
                    continue
                place += 1
                values, end = raw_decode(text)
            except (ValueError, RecursionError) as error:
                if is_open and place == _SECOND:
                    raise DataFileError(_one_document(path)) from error
                is_open = is_open or (place == 1 and _opens_a_document(text, error))
                yield Reject.of(line_number, json_problem(error, encoding), line)
                continue
            if is_open and place == _SECOND and end != len(text):
                raise DataFileError(_one_document(path))
            if end != len(text):
                yield Reject.of(line_number, f"more text after the JSON object, from character {end + 1}", line)
            elif type(values) is not dict:
                yield Reject.of(line_number, "not a JSON object", line)
            else:
                yield Row(line_number, values)


def _opens_a_document(text: str, error: ValueError | RecursionError) -> bool:
    """Whether a line is right as far as it goes and ends before its JSON does: "[", or '{"data": ['."""
    return text[:1] in ("[", "{") and isinstance(error, json.JSONDecodeError) and error.pos == len(text)


def _one_document(path: Path) -> str:
    return (
        f"{path}: one JSON document over several lines, and JSON lines are one whole object a line; write it so, or"
        " give a list of objects the ending .json"
    )


def json_problem(error: ValueError | RecursionError, encoding: str) -> str:
    """Return why a text is no JSON, in one line."""
    if isinstance(error, UnicodeDecodeError):
        return bad_bytes(encoding)
    if isinstance(error, json.JSONDecodeError):
        return f"broken JSON at character {error.pos + 1}: {error.msg.removesuffix(' starting at')}"
    if isinstance(error, RecursionError):
        return "broken JSON: nested too deeply"
    return "broken JSON: a number has too many digits"
