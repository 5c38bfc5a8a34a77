"""Writes answers: an import goes in whole or not at all, and what is there already is left alone.

Rows are staged in the temporary database as they come, so memory does not grow with the file and the real database is
locked only while the finished rows are moved over.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from evaluator.clock import day_of, parse_utc, utc_text
from evaluator.identity import versioned_item_id
from evaluator.records import Item, ItemFlag
from evaluator.store.db import Store
from evaluator.store.write.completing import Completed, complete_staged, retotal_completed
from evaluator.store.write.item_rows import ITEM_COLUMNS, MARKS, item_row, sample_key

INSERT_BATCH = 5_000
_VERSIONS_NAMED = 20
_MINUTES_KEPT = 20_000

_STAGING = (
    "DROP TABLE IF EXISTS temp.staged",
    "DROP TABLE IF EXISTS temp.staged_tags",
    f"CREATE TEMP TABLE staged (row INTEGER PRIMARY KEY, {ITEM_COLUMNS})",
    "CREATE TEMP TABLE staged_tags (row INTEGER, key TEXT, value TEXT)",
)


@dataclass(frozen=True, kw_only=True)
class ImportCounts:
    """What an import did: ``n_new`` answers added, ``n_known`` were there already, ``n_versions`` of the new ones
    came under a known id with another text, ``n_completed`` of the known ones had come with a score and got the facts
    of the traffic. The days and ``n_without_time`` are those of the new answers. ``same_tags``: as in ``Completed``."""

    n_new: int
    n_known: int
    n_versions: int
    version_ids: tuple[str, ...]
    first_day: str | None
    last_day: str | None
    n_without_time: int
    n_completed: int = 0
    same_tags: Mapping[str, str] = field(default_factory=dict)


def import_answers(
    store: Store,
    *,
    app: str,
    answers: Iterable[tuple[str, Item]],
    path: str,
    file_sha256: str,
    n_rejected: int,
    now: datetime,
    segment_keys: Sequence[tuple[str, str]] | None = None,
) -> ImportCounts:
    """Add answers; all of them or, on any error, none. Answers that are there already are left alone, tags included.

    But for those that are known from a stored score only: they get texts, time and tags of the row, and keep their id
    and their scores; the totals of the days they leave and enter are built anew.

    Args:
        store: A writable store.
        app: The app the answers belong to.
        answers: (item id, item) pairs; read once, never held in memory as a whole.
        path: Name of the file, for the record.
        file_sha256: Hash of the file, for the record.
        n_rejected: Lines that were refused before, for the record.
        now: Wall clock.
        segment_keys: The configured ones; None lets the tags of completed answers join those that were chosen.

    Raises:
        StoreError: the database cannot be written; nothing is stored.
    """
    stage_answers(store, answers)
    with store.transaction() as connection:
        named = {name for pair in segment_keys or () for name in pair}
        completed = complete_staged(connection, app, kept_tags=named)
        counts = take_staged(
            connection,
            app=app,
            path=path,
            file_sha256=file_sha256,
            n_rejected=n_rejected,
            now=now,
            completed=completed,
        )
        if completed.n_completed:
            retotal_completed(connection, app, completed, widen=segment_keys is None)
    drop_staged(store)
    return counts


def stage_answers(store: Store, answers: Iterable[tuple[str, Item]]) -> None:
    """Put answers into the temporary database, numbered from 1 in the order in which they come."""
    for statement in _STAGING:
        store.connection.execute(statement)
    _stage(store.connection, answers, store.zone)


def take_staged(
    connection: sqlite3.Connection,
    *,
    app: str,
    path: str,
    file_sha256: str,
    n_rejected: int,
    now: datetime,
    completed: Completed | None = None,
) -> ImportCounts:
    """Move the staged answers over and note the import, in the caller's transaction.

    ``completed`` is what ``complete_staged`` has taken out of them before.
    """
    import_id = secrets.token_hex(16)
    counts = _merge_staged(connection, app, import_id, completed or Completed())
    connection.execute(
        "INSERT INTO imports VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            import_id, app, path, file_sha256, counts.n_new + counts.n_known + n_rejected, counts.n_new,
            counts.n_known, counts.n_versions, n_rejected, utc_text(now),
        ),
    )  # fmt: skip
    return counts


def drop_staged(store: Store) -> None:
    """Empty the temporary database."""
    store.connection.execute("DROP TABLE IF EXISTS temp.staged")
    store.connection.execute("DROP TABLE IF EXISTS temp.staged_tags")
    store.connection.execute("DROP TABLE IF EXISTS temp.completed")


# ---------------------------------------------------------------- staging


def _stage(connection: sqlite3.Connection, answers: Iterable[tuple[str, Item]], zone: ZoneInfo) -> None:
    rows: list[tuple[Any, ...]] = []
    tags: list[tuple[int, str, str]] = []
    days: dict[str, str] = {}
    for number, (item_id, item) in enumerate(answers, start=1):
        rows.append((number, *item_row(item_id, item, _answered_day(item.answered_utc, zone, days))))
        tags.extend((number, key, value) for key, value in item.tags.items())
        if len(rows) >= INSERT_BATCH:
            _insert_staged(connection, rows, tags)
            rows.clear()
            tags.clear()
    _insert_staged(connection, rows, tags)


def _insert_staged(
    connection: sqlite3.Connection, rows: list[tuple[Any, ...]], tags: list[tuple[int, str, str]]
) -> None:
    connection.execute("BEGIN")  # of the temporary database only: nobody is kept waiting
    try:
        connection.executemany(f"INSERT INTO temp.staged VALUES (?, {MARKS})", rows)  # noqa: S608 - constants
        connection.executemany("INSERT INTO temp.staged_tags VALUES (?, ?, ?)", tags)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _answered_day(answered_utc: str | None, zone: ZoneInfo, known: dict[str, str]) -> str | None:
    """Day of an answer in the store's zone; whole minutes are looked up, since no zone shifts by less."""
    if answered_utc is None:
        return None
    minute = answered_utc[:16]
    day = known.get(minute)
    if day is None:
        if len(known) >= _MINUTES_KEPT:
            known.clear()
        day = known[minute] = day_of(parse_utc(answered_utc), zone).isoformat()
    return day


# ---------------------------------------------------------------- moving over


def _merge_staged(connection: sqlite3.Connection, app: str, import_id: str, completed: Completed) -> ImportCounts:
    n_staged = connection.execute("SELECT count(*) FROM temp.staged").fetchone()[0]
    connection.execute(_DROP_DELETED)
    version_ids = _separate_versions(connection, app)
    n_new = connection.execute(
        f"INSERT INTO items (app, source, import_id, {ITEM_COLUMNS})"  # noqa: S608 - constants
        f" SELECT ?, 'traffic', ?, {ITEM_COLUMNS} FROM temp.staged WHERE true ORDER BY row"
        " ON CONFLICT (item_id) DO NOTHING",
        (app, import_id),
    ).rowcount
    if n_new < n_staged:
        _give_missing_times(connection)
        _keep_new_only(connection, import_id)
    connection.execute(
        "INSERT INTO item_tags SELECT s.item_id, t.key, t.value FROM temp.staged_tags t"
        " JOIN temp.staged s ON s.row = t.row"
    )
    first_day, last_day, n_without_time = connection.execute(
        "SELECT min(answered_day), max(answered_day), coalesce(sum(answered_utc IS NULL), 0) FROM temp.staged"
    ).fetchone()
    return ImportCounts(
        n_new=n_new,
        n_known=n_staged - n_new + completed.n_rows,
        n_versions=len(version_ids),
        version_ids=tuple(version_ids[:_VERSIONS_NAMED]),
        first_day=first_day,
        last_day=last_day,
        n_without_time=n_without_time,
        n_completed=completed.n_completed,
        same_tags=completed.same_tags,
    )


def _give_missing_times(connection: sqlite3.Connection) -> None:
    """Let an answer that came without a time have the one of a later import; a time that is there is never changed."""
    connection.execute(
        f"""UPDATE items SET answered_utc = s.answered_utc, answered_day = s.answered_day,
           flags = ltrim(replace(',' || s.flags, ',{ItemFlag.FROM_SCORES}', ''), ',')
           FROM (SELECT item_id, answered_utc, answered_day, flags, min(row) FROM temp.staged
                 WHERE answered_utc IS NOT NULL GROUP BY item_id) AS s
           WHERE s.item_id = items.item_id AND items.answered_utc IS NULL"""  # noqa: S608 - constants
    )


# what a person had deleted is known, and stays as it is, whatever text comes under its id
_DROP_DELETED = """
DELETE FROM temp.staged WHERE item_id IN (
    SELECT s.item_id FROM temp.staged s CROSS JOIN items i ON i.item_id = s.item_id WHERE i.deleted_utc IS NOT NULL)
"""
# CROSS JOIN keeps the order: from the staged rows to the items of their ids, never through all items
_KEEP_NEW_ONLY = """
DELETE FROM temp.staged WHERE row NOT IN (
    SELECT min(s.row) FROM temp.staged s CROSS JOIN items i ON i.item_id = s.item_id
    WHERE i.import_id = ? GROUP BY s.item_id)
"""
_CONFLICTS = """
SELECT s.row, s.item_id, s.content_id, s.external_id FROM temp.staged s
WHERE s.item_id IN (SELECT i.item_id FROM temp.staged t CROSS JOIN items i ON i.item_id = t.item_id
                    WHERE i.content_id <> t.content_id)
   OR s.item_id IN (SELECT item_id FROM temp.staged GROUP BY item_id HAVING count(DISTINCT content_id) > 1)
ORDER BY s.row
"""


def _keep_new_only(connection: sqlite3.Connection, import_id: str) -> None:
    """Leave those staged rows that became items: not what was there before, and of equal rows the first."""
    connection.execute(_KEEP_NEW_ONLY, (import_id,))


def _separate_versions(connection: sqlite3.Connection, app: str) -> list[str]:
    """Give rows that bring another text under a known id an item id of their own; return the outside ids."""
    conflicts = connection.execute(_CONFLICTS).fetchall()
    known: dict[str, dict[str, int]] = {}
    new_ids: list[str] = []
    for conflict in conflicts:
        base_id, content_id = conflict["item_id"], conflict["content_id"]
        if base_id not in known:
            known[base_id] = _versions_of(connection, app, conflict["external_id"])
        versions = known[base_id]
        if content_id not in versions:
            versions[content_id] = max(versions.values(), default=0) + 1
            if versions[content_id] > 1:
                new_ids.append(str(conflict["external_id"]))
        if versions[content_id] > 1:
            item_id = versioned_item_id(app, conflict["external_id"], content_id)
            _rename_staged(connection, conflict["row"], base_id, item_id, versions[content_id])
    return new_ids


def _versions_of(connection: sqlite3.Connection, app: str, external_id: str) -> dict[str, int]:
    rows = connection.execute(
        "SELECT content_id, version FROM items WHERE app = ? AND external_id = ? AND source = 'traffic'"
        " AND version > 0",
        (app, external_id),
    )
    return {row[0]: row[1] for row in rows}


def _rename_staged(connection: sqlite3.Connection, row: int, base_id: str, item_id: str, version: int) -> None:
    connection.execute(
        "UPDATE temp.staged SET item_id = ?, version = ?, sample_key = ?,"
        " cluster_id = CASE WHEN cluster_id = ? THEN ? ELSE cluster_id END WHERE row = ?",
        (item_id, version, sample_key(item_id), base_id, item_id, row),
    )
