"""Fixtures of the statistics tests: the shared cases."""

import json
from pathlib import Path
from typing import Any

import pytest

CASES = Path(__file__).resolve().parents[1] / "cases"


@pytest.fixture(scope="session")
def cases() -> dict[str, dict[str, Any]]:
    """Shared cases by id."""
    lines = (CASES / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return {case["id"]: case for case in map(json.loads, lines)}


@pytest.fixture(scope="session")
def case_inputs() -> Path:
    """Folder of the shared cases' input files."""
    return CASES / "inputs"
