"""What all reads share: the named queries, rows as plain dictionaries, and the bounds of "all days"."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import aiosql

Row = dict[str, Any]
FIRST_DAY, LAST_DAY = "0000-00-00", "9999-99-99"  # days compare as text


@cache
def queries() -> Any:
    """The queries of ``queries/read`` as functions of a connection, by name."""
    return aiosql.from_path(Path(__file__).parent.parent / "queries" / "read", "sqlite3")


def to_rows(found: Iterable[sqlite3.Row]) -> list[Row]:
    """Rows of a query as dictionaries."""
    return [dict(row) for row in found]


def to_row(found: sqlite3.Row | None) -> Row | None:
    """One row as a dictionary, None when there is none."""
    return None if found is None else dict(found)
