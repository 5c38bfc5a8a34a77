"""JSON lines: one object a line. Blank lines are counted; every other line is a row or a reject."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from evaluator.importers.base import Limits, Reject, Row, Tally, bad_bytes, open_file, physical_lines


def read_jsonl(path: Path, limits: Limits, tally: Tally, encoding: str) -> Iterator[Row | Reject]:
    """Read JSON lines with flat memory; ``NaN`` and ``Infinity`` are read as null."""
    raw_decode = json.JSONDecoder(parse_constant=lambda _: None).raw_decode
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
                values, end = raw_decode(text)
            except (ValueError, RecursionError) as error:
                yield Reject.of(line_number, json_problem(error, encoding), line)
                continue
            if end != len(text):
                yield Reject.of(line_number, f"more text after the JSON object, from character {end + 1}", line)
            elif type(values) is not dict:
                yield Reject.of(line_number, "not a JSON object", line)
            else:
                yield Row(line_number, values)


def json_problem(error: ValueError | RecursionError, encoding: str) -> str:
    """Return why a text is no JSON, in one line."""
    if isinstance(error, UnicodeDecodeError):
        return bad_bytes(encoding)
    if isinstance(error, json.JSONDecodeError):
        return f"broken JSON at character {error.pos + 1}: {error.msg.removesuffix(' starting at')}"
    if isinstance(error, RecursionError):
        return "broken JSON: nested too deeply"
    return "broken JSON: a number has too many digits"
