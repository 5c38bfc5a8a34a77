"""Writes what stands beside the scores: events that may explain a change, and the results of analyses."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from evaluator.clock import day_of, utc_text
from evaluator.errors import UsageError
from evaluator.store.db import Store
from evaluator.store.write.base import dump


def add_event(
    store: Store,
    *,
    app: str,
    at: datetime,
    kind: str,
    text: str,
    by_whom: str,
    ruler_id: str | None = None,
    run_id: str | None = None,
    detail: Mapping[str, Any] | None = None,
) -> int:
    """Log something that may explain a change: a deploy, another instrument, a note. Returns its id."""
    if not text.strip():
        raise UsageError("an event needs a text")
    with store.transaction() as connection:
        cursor = connection.execute(
            "INSERT INTO events (app, at_utc, day, kind, ruler_id, run_id, text, detail_json, by_whom)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                app, utc_text(at), day_of(at, store.zone).isoformat(), kind, ruler_id, run_id, text,
                dump(dict(detail or {})), by_whom,
            ),
        )  # fmt: skip
    return int(cursor.lastrowid or 0)


def save_analysis(
    store: Store,
    *,
    app: str,
    ruler_id: str,
    criterion: str,
    first_day: str | None,
    last_day: str | None,
    baseline: str,
    settings_hash: str,
    code_version: str,
    schema_version: int,
    payload: Mapping[str, Any],
    revision: int,
    now: datetime,
) -> None:
    """Keep the result of an analysis for the pages and commands that show it."""
    with store.transaction() as connection:
        connection.execute(
            "INSERT OR REPLACE INTO analyses (store_revision, app, ruler_id, criterion, first_day, last_day, baseline,"
            " settings_hash, code_version, schema_version, computed_utc, payload_json)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                revision, app, ruler_id, criterion, first_day, last_day, baseline, settings_hash, code_version,
                schema_version, utc_text(now), dump(payload),
            ),
        )  # fmt: skip
