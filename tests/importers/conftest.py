"""Helpers of the importer tests: rows written to a file and read back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from evaluator.importers import LoadedFile, load_items

SAMPLES = Path(__file__).parent / "samples"
CASES = Path(__file__).parent.parent / "cases"

Load = Callable[..., LoadedFile]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Write rows as JSON lines, or bytes as they are, and read the file."""

    def load_content(*rows: Mapping[str, Any] | bytes, name: str = "rows.jsonl", **settings: Any) -> LoadedFile:
        lines = [row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n" for row in rows]
        path = tmp_path / name
        path.write_bytes(b"".join(lines))
        return load_items(path, **settings)

    return load_content
