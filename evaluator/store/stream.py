"""Reads everything there is, row by row, for exports: nothing is held whole, the rows are of one consistent state.

Close a generator that is not read to its end before the store, since it holds a cursor.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import Any

import aiosql

from evaluator.store.db import Store
from evaluator.store.read import FIRST_DAY, LAST_DAY

Row = dict[str, Any]
_BATCH = 500


@cache
def _queries() -> Any:
    return aiosql.from_path(Path(__file__).parent / "queries" / "export", "sqlite3")


def verdicts(
    store: Store, app: str, *, first_day: str = FIRST_DAY, last_day: str = LAST_DAY
) -> Generator[Row, None, None]:
    """Yield every verdict of a period in the order of grading, strengths and weaknesses as lists."""
    with _queries().verdicts_cursor(store.connection, app=app, first_day=first_day, last_day=last_day) as cursor:
        for found in cursor:
            row = dict(found)
            row["strengths"], row["weaknesses"] = json.loads(row["strengths"]), json.loads(row["weaknesses"])
            row["prompt_cut"] = bool(row["prompt_cut"])
            yield row


def items(
    store: Store, app: str, *, first_day: str = FIRST_DAY, last_day: str = LAST_DAY
) -> Generator[Row, None, None]:
    """Yield every answer and anchor of a period with its texts and tags; contexts as a list, tags as a mapping."""
    with _queries().items_cursor(store.connection, app=app, first_day=first_day, last_day=last_day) as cursor:
        while batch := cursor.fetchmany(_BATCH):
            tags = _tags(store, [found["item_id"] for found in batch])
            for found in batch:
                row = dict(found)
                row["contexts"] = json.loads(row["contexts"])
                row["tags"] = tags.get(row["item_id"], {})
                yield row


def _tags(store: Store, item_ids: list[str]) -> dict[str, dict[str, str]]:
    marks = ", ".join("?" * len(item_ids))
    rows = store.connection.execute(
        f"SELECT item_id, key, value FROM item_tags WHERE item_id IN ({marks}) ORDER BY item_id, key",  # noqa: S608 - marks
        item_ids,
    )
    found: dict[str, dict[str, str]] = {}
    for item_id, key, value in rows:
        found.setdefault(item_id, {})[key] = value
    return found
