"""What the tests of stored scores share: files written, read, and told apart."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluator.importers.verdicts import Reject, StoredVerdict, VerdictStream, iter_verdicts

DATA = Path(__file__).parent / "data"


def write_rows(path: Path, *rows: Mapping[str, Any]) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(path: Path, **settings: Any) -> tuple[list[StoredVerdict], list[Reject], VerdictStream]:
    """Read a file to its end: verdicts, rejects, the stream with its counts."""
    stream = iter_verdicts(path, **settings)
    entries = list(stream)
    verdicts = [entry for entry in entries if isinstance(entry, StoredVerdict)]
    return verdicts, [entry for entry in entries if isinstance(entry, Reject)], stream


def scores_of(verdicts: list[StoredVerdict], criterion: str) -> list[float]:
    """The scores of a criterion, those that are missing left out."""
    return [verdict.score for verdict in verdicts if verdict.criterion == criterion and verdict.score is not None]
