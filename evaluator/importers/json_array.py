"""One JSON array of objects, held in memory as a whole, up to a limit. The line number is the element's position."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from evaluator.errors import DataFileError
from evaluator.importers.base import Limits, Reject, Row, Tally, open_file
from evaluator.importers.jsonl import json_problem


def read_json_array(
    path: Path,
    limits: Limits,
    tally: Tally,  # noqa: ARG001 - no blank lines
    encoding: str,
) -> Iterator[Row | Reject]:
    """Read an array of objects.

    Raises:
        DataFileError: too large, broken (there is no telling where a broken array goes on), or no array.
    """
    with open_file(path) as file:
        content = file.read(limits.json_bytes + 1)
    if len(content) > limits.json_bytes:
        raise DataFileError(f"{path}: a JSON array of more than {limits.json_bytes} bytes; save it as JSON lines")
    try:
        rows = json.loads(content.decode(encoding) or "[]", parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise DataFileError(f"{path}: {json_problem(error, encoding)}") from error
    if not isinstance(rows, list):
        raise DataFileError(f"{path}: holds one JSON value; an array of objects or JSON lines is needed")
    for position, values in enumerate(rows, start=1):
        if isinstance(values, dict):
            yield Row(position, values)
        else:
            yield Reject.of(position, "not a JSON object", json.dumps(values))
