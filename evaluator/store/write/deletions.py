"""Takes texts out of the database for good: those of a person who asks for it, those that were kept for grading only.

Ids, scores, days and tags stay, so no mean changes and reading a file again brings nothing back. ``scrub`` then makes
the bytes go: SQLite leaves copies in the free space of pages and in its log, where any tool finds them.
"""

from __future__ import annotations

import re
import secrets
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime

from evaluator.clock import utc_text
from evaluator.records import ItemFlag, Source
from evaluator.store import rollup
from evaluator.store.db import Store
from evaluator.store.sqlite import explain
from evaluator.store.write.base import dump

_QUOTED_REPLY = re.compile(r"; the last one begins .*?\)(?=; check judge)", re.DOTALL)
_NO_TEXT = "input = '', output = '', reference = NULL, contexts_json = '[]'"
_NO_REASONS = (
    "explanation = '', strengths_json = '[]', weaknesses_json = '[]', thinking = '', raw_reply = '', detail = ''"
)
_HAS_REASONS = (
    "(explanation <> '' OR strengths_json <> '[]' OR weaknesses_json <> '[]' OR thinking <> '' OR raw_reply <> ''"
    " OR detail <> '')"
)
_NO_TEXT_FLAG = f"ltrim(flags || ',{ItemFlag.TEXT_NOT_KEPT}', ',')"
_TEXT_GONE = f"flags LIKE '%{ItemFlag.TEXT_NOT_KEPT}%'"
# answers that were never graded enter no mean: without a day no run draws them either
_DELETE_ITEMS = f"""
UPDATE items SET {_NO_TEXT}, content_id = lower(hex(randomblob(16))), external_id = NULL, conversation_id = NULL,
    user_id = NULL, deleted_utc = ?, flags = CASE WHEN {_TEXT_GONE} THEN flags ELSE {_NO_TEXT_FLAG} END,
    answered_utc = CASE WHEN EXISTS (SELECT 1 FROM verdicts v WHERE v.item_id = items.item_id) THEN answered_utc END,
    answered_day = CASE WHEN EXISTS (SELECT 1 FROM verdicts v WHERE v.item_id = items.item_id) THEN answered_day END
WHERE item_id IN (SELECT item_id FROM temp.doomed)
"""  # noqa: S608 - constants

_WAIT_FOR_READERS_MS = 3_000


def delete_items(
    store: Store, *, app: str, item_ids: Sequence[str], by_whom: str, now: datetime, note: str = ""
) -> int:
    """Take the texts of items, what names their persons, and what the judge wrote about them out of every table.

    Args:
        store: A writable store; nothing else may grade on it meanwhile.
        app: The app of the items.
        item_ids: The items; those deleted before are left as they are.
        by_whom: Who does it, for the record.
        now: Wall clock.
        note: For the record; no id belongs into it.

    Returns:
        How many items were deleted. ``scrub`` comes next.

    Raises:
        StoreError: the database cannot be written; nothing is deleted.
    """
    with store.transaction() as connection:
        _gather(connection, app, item_ids)
        n_items = int(connection.execute("SELECT count(*) FROM temp.doomed").fetchone()[0])
        if n_items:
            _hide_names(connection, app)
            _hide_clusters(connection)
            _clear_reasons(connection, "SELECT item_id FROM temp.doomed")
            _clear_messages(connection)
            connection.execute(_DELETE_ITEMS, (utc_text(now),))
            connection.execute(
                "INSERT INTO deletions (app, at_utc, by_whom, n_items, note) VALUES (?, ?, ?, ?, ?)",
                (app, utc_text(now), by_whom, n_items, note),
            )
        connection.execute("DROP TABLE temp.doomed")
    return n_items


def _gather(connection: sqlite3.Connection, app: str, item_ids: Iterable[str]) -> None:
    connection.execute("CREATE TEMP TABLE doomed (item_id TEXT PRIMARY KEY)")
    connection.executemany(
        "INSERT OR IGNORE INTO temp.doomed SELECT item_id FROM items"
        " WHERE item_id = ? AND app = ? AND deleted_utc IS NULL",
        [(item_id, app) for item_id in item_ids],
    )


def _hide_names(connection: sqlite3.Connection, app: str) -> None:
    """Give tags whose value is one of the ids another value, one for all of them, so that segments keep their size."""
    rows = connection.execute(
        "SELECT DISTINCT t.key, t.value FROM temp.doomed d JOIN items i ON i.item_id = d.item_id"
        " JOIN item_tags t ON t.item_id = i.item_id"
        " WHERE t.value IN (i.external_id, i.conversation_id, i.user_id)"
    ).fetchall()
    for key, value in rows:
        hidden = f"deleted {secrets.token_hex(4)}"
        connection.execute(
            "UPDATE item_tags SET value = ? WHERE key = ? AND value = ?"
            " AND item_id IN (SELECT item_id FROM temp.doomed)",
            (hidden, key, value),
        )
        still = connection.execute(
            "SELECT 1 FROM item_tags t JOIN items i ON i.item_id = t.item_id"
            " WHERE i.app = ? AND t.key = ? AND t.value = ? LIMIT 1",
            (app, key, value),
        ).fetchone()
        if still is None:
            _rename_segments(connection, app, key, value, hidden)
        else:
            _mark_days_stale(connection, app)


def _rename_segments(connection: sqlite3.Connection, app: str, key: str, value: str, hidden: str) -> None:
    n_renamed = connection.execute(
        "UPDATE segments SET value = ? WHERE app = ? AND key = ? AND value = ?", (hidden, app, key, value)
    ).rowcount
    n_renamed += connection.execute(
        "UPDATE segments SET value2 = ? WHERE app = ? AND key2 = ? AND value2 = ?", (hidden, app, key, value)
    ).rowcount
    if n_renamed:  # an analysis names segments; the next run makes another
        connection.execute(
            "DELETE FROM analyses WHERE app = ? AND instr(payload_json, ?) > 0", (app, dump(value)[1:-1])
        )


def _mark_days_stale(connection: sqlite3.Connection, app: str) -> None:
    """Answers have left a segment that goes on without them: its totals are built anew by the next run."""
    days = connection.execute(
        "SELECT DISTINCT i.answered_day FROM temp.doomed d JOIN items i ON i.item_id = d.item_id"
        " WHERE i.answered_day IS NOT NULL"
    )
    rollup.mark_stale(connection, app, Source.TRAFFIC, [row[0] for row in days.fetchall()])


def _hide_clusters(connection: sqlite3.Connection) -> None:
    """Keep who belongs together, which intervals need, without the name of the person or conversation."""
    rows = connection.execute(
        "SELECT DISTINCT i.cluster_id FROM temp.doomed d JOIN items i ON i.item_id = d.item_id"
        " WHERE i.cluster_id <> i.item_id"
    ).fetchall()
    connection.executemany(
        "UPDATE items SET cluster_id = ? WHERE cluster_id = ? AND item_id IN (SELECT item_id FROM temp.doomed)",
        [(f"d:{secrets.token_hex(8)}", row[0]) for row in rows],
    )


def _clear_reasons(connection: sqlite3.Connection, of_items: str) -> None:
    connection.execute(
        f"UPDATE verdicts SET {_NO_REASONS} WHERE {_HAS_REASONS} AND item_id IN ({of_items})"  # noqa: S608 - constants
    )


def _clear_messages(connection: sqlite3.Connection) -> None:
    """Servers quote what they were sent, and a run that was stopped quotes a reply."""
    connection.execute(
        "UPDATE attempts SET message = '' WHERE message <> '' AND item_id IN (SELECT item_id FROM temp.doomed)"
    )
    rows = connection.execute(
        "SELECT DISTINCT r.run_id, r.message FROM temp.doomed d JOIN verdicts v ON v.item_id = d.item_id"
        " JOIN runs r ON r.run_id = v.run_id WHERE r.message <> ''"
    ).fetchall()
    connection.executemany(
        "UPDATE runs SET message = ? WHERE run_id = ?",
        [(_QUOTED_REPLY.sub(")", message), run_id) for run_id, message in rows],
    )


# ---------------------------------------------------------------- texts that are kept for grading only


def blank_texts(
    store: Store, app: str, *, still_needed: Iterable[str], from_day: str, closed_days: Iterable[str]
) -> int:
    """Blank the texts of traffic that no run will read any more.

    Kept are the texts of ``still_needed``, of plans that are still open, of candidates for anchors that wait for a
    person, and of days from ``from_day`` on that are not among ``closed_days``.

    Args:
        store: A writable store.
        app: The app.
        still_needed: Items that will be graded again.
        from_day: First day that a later run may still draw from.
        closed_days: Days whose sample is drawn and done.

    Returns:
        How many items were blanked. ``scrub_log`` comes next.
    """
    with store.transaction() as connection:
        connection.execute("CREATE TEMP TABLE needed (item_id TEXT PRIMARY KEY)")
        connection.execute("CREATE TEMP TABLE closed (day TEXT PRIMARY KEY)")
        connection.executemany("INSERT OR IGNORE INTO temp.needed VALUES (?)", [(item_id,) for item_id in still_needed])
        connection.executemany("INSERT OR IGNORE INTO temp.closed VALUES (?)", [(day,) for day in closed_days])
        connection.execute(_NEEDED_BY_OPEN_RUNS, (app,))
        connection.execute(_NEEDED_BY_PICKS, (app,))
        connection.execute(_NEEDED_BY_RECHECKS, (app,))
        n_items = connection.execute(_BLANK, (app, from_day)).rowcount
        connection.execute("DROP TABLE temp.needed")
        connection.execute("DROP TABLE temp.closed")
    return n_items


_NEEDED_BY_OPEN_RUNS = """
INSERT OR IGNORE INTO temp.needed SELECT p.item_id FROM runs r JOIN planned_items p ON p.run_id = r.run_id
WHERE r.app = ? AND r.status IN ('running', 'stopped', 'failed') AND NOT EXISTS (
    SELECT 1 FROM verdicts v WHERE v.run_id = r.run_id AND v.item_id = p.item_id AND v.score IS NOT NULL)
    AND NOT (r.purpose = 'scheduled' AND EXISTS (SELECT 1 FROM runs later
        WHERE later.app = r.app AND later.slot_utc > r.slot_utc AND later.purpose = 'scheduled'))
"""
_NEEDED_BY_PICKS = """
INSERT OR IGNORE INTO temp.needed SELECT i.item_id FROM picks p JOIN pick_items i ON i.pick_id = p.pick_id
WHERE p.app = ? AND p.frozen_utc IS NULL AND coalesce(i.decision, 'yes') = 'yes'
"""
_NEEDED_BY_RECHECKS = """
INSERT OR IGNORE INTO temp.needed SELECT k.item_id FROM rechecks c JOIN recheck_items k ON k.recheck_id = c.recheck_id
WHERE c.app = ? AND c.finished_utc IS NULL AND NOT EXISTS (
    SELECT 1 FROM verdicts v WHERE v.run_id = c.run_id AND v.item_id = k.item_id AND v.score IS NOT NULL)
"""
_BLANK = f"""
UPDATE items SET {_NO_TEXT}, flags = {_NO_TEXT_FLAG}
WHERE app = ? AND source = 'traffic' AND NOT {_TEXT_GONE} AND item_id NOT IN (SELECT item_id FROM temp.needed)
    AND (answered_day IS NULL OR answered_day < ? OR answered_day IN (SELECT day FROM temp.closed))
"""  # noqa: S608 - constants


# ---------------------------------------------------------------- the bytes


def scrub(store: Store) -> bool:
    """Write the whole database anew, so that no free space of it holds what was there, and empty its log.

    Returns:
        Whether all is gone; False while another program reads an older state, which the log must keep for it.

    Raises:
        StoreError: there is no room for the copy, or another program holds the lock.
    """
    try:
        store.connection.execute("VACUUM")
    except sqlite3.DatabaseError as error:
        raise explain(error, store.path) from error
    return scrub_log(store)


def scrub_log(store: Store) -> bool:
    """Move the log into the database and empty it; False while another program reads an older state."""
    usual_ms = int(store.connection.execute("PRAGMA busy_timeout").fetchone()[0])
    try:
        # a page reads for moments; what reads for longer is not waited for, it is told
        store.connection.execute(f"PRAGMA busy_timeout = {_WAIT_FOR_READERS_MS}")
        busy, _, _ = store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.DatabaseError as error:
        raise explain(error, store.path) from error
    finally:
        store.connection.execute(f"PRAGMA busy_timeout = {usual_ms}")
    return not busy
