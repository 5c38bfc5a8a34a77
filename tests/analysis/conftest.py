"""Fixtures of the analysis tests: the shared cases, and worlds in databases of their own."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.builders import World

CASES = Path(__file__).resolve().parents[1] / "cases"


@pytest.fixture(scope="session")
def cases() -> dict[str, dict[str, Any]]:
    """Shared cases by id."""
    lines = (CASES / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return {case["id"]: case for case in map(json.loads, lines)}


@pytest.fixture(scope="session")
def mix_shift_counts() -> dict[str, Counter[tuple[str, float]]]:
    """Case S04: how often each (segment, score) stands in the file, by week."""
    found: dict[str, Counter[tuple[str, float]]] = {}
    with (CASES / "inputs" / "s04_mix_shift.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["day"], Counter())[row["segment"], float(row["score"])] += 1
    return found


@pytest.fixture
def make_world(tmp_path: Path) -> Iterator[Callable[..., World]]:
    """Open worlds in new databases; they are closed at the end."""
    opened: list[World] = []

    def make(**options: Any) -> World:
        opened.append(World(path=tmp_path / f"world-{len(opened)}.db", **options))
        return opened[-1]

    yield make
    for world in opened:
        world.store.close()
