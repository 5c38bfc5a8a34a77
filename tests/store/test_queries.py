"""The named queries: each says what it is for, and each prepares and runs on an empty database."""

from __future__ import annotations

import re
from pathlib import Path

import aiosql
import pytest

import evaluator.store
from evaluator.store.db import Store
from evaluator.store.read.base import queries

FOLDER = Path(evaluator.store.__file__).parent / "queries"
NAMED = re.compile(r"^-- name: (\w+)\(([^)]*)\)[\^$!]?\n(--.*\n)?", re.MULTILINE)


def named_queries() -> list[tuple[str, tuple[str, ...], str | None]]:
    """Name, parameters and comment of every query of the read folder."""
    texts = [path.read_text("utf-8") for path in sorted((FOLDER / "read").glob("*.sql"))]
    return [
        (found[1], tuple(part.strip() for part in found[2].split(",") if part.strip()), found[3])
        for text in texts
        for found in NAMED.finditer(text)
    ]


@pytest.mark.parametrize(("name", "parameters", "comment"), named_queries(), ids=lambda value: str(value)[:30])
def test_query_runs_on_an_empty_database(
    store: Store, name: str, parameters: tuple[str, ...], comment: str | None
) -> None:
    """Every table and column it names is there, and a comment says what it answers."""
    assert comment, f"{name} has no comment"
    values = {parameter: 1 if parameter.startswith("most") else "x" for parameter in parameters}
    found = getattr(queries(), name)(store.connection, **values)
    if found is not None and not isinstance(found, int):
        list(found)


def test_all_queries_are_found() -> None:
    """A test over no queries would hold for ever; no name is given twice."""
    names = [name for name, _, _ in named_queries()]
    assert len(names) > 30
    assert len(names) == len(set(names))
    assert set(names) <= set(aiosql.from_path(FOLDER / "read", "sqlite3").available_queries)
