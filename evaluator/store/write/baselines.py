"""Writes from which day a judge setup's scores are taken as the norm: a person's word, and taking it back."""

from __future__ import annotations

from datetime import datetime

from evaluator.clock import utc_text
from evaluator.errors import UsageError
from evaluator.store.db import Store


def accept_baseline(
    store: Store, *, app: str, ruler_id: str, from_day: str, by_whom: str, note: str, now: datetime
) -> int:
    """Take the runs from a day on as the judge's new normal. Returns the id of the acceptance.

    Only the reference of the alarm moves. What the anchors' first runs gave stays the scale of the corrected line.

    Args:
        store: A writer's store.
        app: The app.
        ruler_id: Its judge setup.
        from_day: First day of the new normal, in the store's zone.
        by_whom: Who says so.
        note: Why.
        now: When.

    Raises:
        UsageError: no reason is given, or the same day holds already.
        StoreError: the database cannot be written.
    """
    if not note.strip():
        raise UsageError("accepting a new normal needs a reason: what changed, and why that is all right")
    with store.transaction() as connection:
        holding = connection.execute(
            "SELECT from_day FROM accepted_baselines WHERE app = ? AND ruler_id = ? AND undone_utc IS NULL"
            " ORDER BY accepted_id DESC LIMIT 1",
            (app, ruler_id),
        ).fetchone()
        if holding is not None and holding[0] == from_day:
            raise UsageError(f"the runs from {from_day} on are the normal already; nothing is changed")
        cursor = connection.execute(
            "INSERT INTO accepted_baselines (app, ruler_id, from_day, accepted_utc, by_whom, note)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (app, ruler_id, from_day, utc_text(now), by_whom, note.strip()),
        )
    return int(cursor.lastrowid or 0)


def undo_baseline(store: Store, *, app: str, ruler_id: str, by_whom: str, note: str, now: datetime) -> str:
    """Take back the acceptance that holds; the one before it, or the first runs, hold again. Returns its day.

    Raises:
        UsageError: nothing was accepted.
        StoreError: the database cannot be written.
    """
    with store.transaction() as connection:
        holding = connection.execute(
            "SELECT accepted_id, from_day FROM accepted_baselines"
            " WHERE app = ? AND ruler_id = ? AND undone_utc IS NULL ORDER BY accepted_id DESC LIMIT 1",
            (app, ruler_id),
        ).fetchone()
        if holding is None:
            raise UsageError("no new normal was accepted for this judge setup: its first runs are the normal")
        connection.execute(
            "UPDATE accepted_baselines SET undone_utc = ?, undone_by = ?, undone_note = ? WHERE accepted_id = ?",
            (utc_text(now), by_whom, note.strip(), holding[0]),
        )
    return str(holding[1])
