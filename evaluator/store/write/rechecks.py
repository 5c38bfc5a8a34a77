"""Writes rechecks: which answers are graded again, before the first call; and what came of it.

The answers are stored as copies of their own (``version`` 0, no time): no day counts them, no scheduled run draws them,
and importing the same file as traffic later finds nothing of its own there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from evaluator.clock import utc_text
from evaluator.records import Item, content_hash
from evaluator.store.db import Store
from evaluator.store.write.base import dump
from evaluator.store.write.item_rows import INSERT_COPY, item_row

_COPY_VERSION = 0
_VERSION_PLACE = 2  # in a row of items


@dataclass(frozen=True, kw_only=True)
class RecheckItem:
    """One answer to grade again, with the score that is stored for it."""

    item: Item
    part: Literal["recent", "old"]
    stored_score: float
    stored_utc: str


@dataclass(frozen=True, kw_only=True)
class RecheckPlan:
    """A recheck before its first call. ``settings_json`` is what makes it the same question when it is asked again,
    ``facts`` what the file told of the scores that cannot be used: kept as the result until there is one.
    ``replaces`` is the newest recheck of that question when this one was planned, None for none.
    """

    recheck_id: str
    app: str
    ruler_id: str
    criterion: str
    run_id: str
    source: str
    file_sha256: str
    stored_judge: str
    n_asked: int
    settings_json: str
    facts: Mapping[str, Any]
    started: datetime
    replaces: str | None = None


def recheck_item_id(app: str, content_id: str) -> str:
    """Identity of an answer's copy: the same texts are one copy, and never the item of the traffic itself."""
    return content_hash(app, "recheck", content_id)


def begin_recheck(store: Store, plan: RecheckPlan, items: Sequence[RecheckItem]) -> bool:
    """Write a recheck with all its answers, before anything is paid for, unless another process did so meanwhile.

    Args:
        store: A writable store.
        plan: The recheck.
        items: Its answers.

    Returns:
        Whether it was written; False when the newest recheck of that question is another than ``plan.replaces``.
    """
    with store.transaction() as connection:
        if _newest_of_question(connection, plan) != plan.replaces:
            return False
        connection.execute(
            "INSERT INTO rechecks (recheck_id, app, ruler_id, criterion, run_id, source, file_sha256, stored_judge,"
            " n_asked, settings_json, started_utc, result_json) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                plan.recheck_id, plan.app, plan.ruler_id, plan.criterion, plan.run_id, plan.source, plan.file_sha256,
                plan.stored_judge, plan.n_asked, plan.settings_json, utc_text(plan.started),
                dump(dict(plan.facts)),
            ),
        )  # fmt: skip
        for item in items:
            item_id = recheck_item_id(plan.app, item.item.content_id)
            row = list(item_row(item_id, item.item, None))
            row[_VERSION_PLACE] = _COPY_VERSION
            connection.execute(INSERT_COPY, (plan.app, *row))
            connection.executemany(
                "INSERT OR IGNORE INTO item_tags VALUES (?, ?, ?)",
                [(item_id, key, value) for key, value in item.item.tags.items()],
            )
            connection.execute(
                "INSERT INTO recheck_items VALUES (?, ?, ?, ?, ?)",
                (plan.recheck_id, item_id, item.part, item.stored_score, item.stored_utc),
            )
    return True


def _newest_of_question(connection: sqlite3.Connection, plan: RecheckPlan) -> str | None:
    row = connection.execute(
        "SELECT recheck_id FROM rechecks WHERE app = ? AND ruler_id = ? AND file_sha256 = ? AND n_asked = ?"
        " AND settings_json = ? ORDER BY started_utc DESC LIMIT 1",
        (plan.app, plan.ruler_id, plan.file_sha256, plan.n_asked, plan.settings_json),
    ).fetchone()
    return None if row is None else str(row["recheck_id"])


def finish_recheck(store: Store, recheck_id: str, result: Mapping[str, Any], *, now: datetime) -> None:
    """Keep the result of a recheck."""
    with store.transaction() as connection:
        connection.execute(
            "UPDATE rechecks SET finished_utc = ?, result_json = ? WHERE recheck_id = ?",
            (utc_text(now), dump(dict(result)), recheck_id),
        )
