"""What state a database is in: size, zone, integrity, who works on it. Reads only."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.store import read
from evaluator.store.db import Store, known_migrations


@dataclass(frozen=True, kw_only=True)
class StoreFacts:
    """State of a database.

    Attributes:
        size_bytes, log_bytes: Size of the file, and of its write-ahead log.
        integrity: "ok", or what SQLite found wrong.
        schema: Name of the newest step of the schema.
        n_stale_days: Days whose totals are not up to date; the end of the next run brings them up to date.
        leases: Who works on it: name, holder, what, heartbeat_utc, expires_utc.
        apps: Counts by app, as in ``read.counts``.
    """

    path: str
    size_bytes: int
    log_bytes: int
    zone: str
    revision: int
    journal_mode: str
    integrity: str
    schema: str
    n_stale_days: int
    leases: list[dict[str, Any]]
    apps: dict[str, dict[str, Any]]


def inspect(store: Store) -> StoreFacts:
    """Return the state of a database; the integrity check reads all of it."""
    connection = store.connection
    log = store.path.with_name(store.path.name + "-wal")
    return StoreFacts(
        path=str(store.path),
        size_bytes=_size(store.path),
        log_bytes=_size(log),
        zone=store.zone.key,
        revision=store.revision,
        journal_mode=str(connection.execute("PRAGMA journal_mode").fetchone()[0]),
        integrity=_integrity(connection),
        schema=known_migrations()[-1],
        n_stale_days=int(connection.execute("SELECT count(*) FROM stale_days").fetchone()[0]),
        leases=[dict(row) for row in connection.execute("SELECT * FROM leases ORDER BY name")],
        apps={app: read.counts(store, app) for app in read.apps(store)},
    )


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _integrity(connection: sqlite3.Connection) -> str:
    """SQLite's quick check: structure, not the agreement of indexes with their tables."""
    try:
        return "; ".join(str(row[0]) for row in connection.execute("PRAGMA quick_check(5)"))
    except sqlite3.DatabaseError as error:
        return str(error)


def journal_mode(store: Store) -> str:
    """How the database keeps its log: "wal" where the file system allows a write-ahead log."""
    return str(store.connection.execute("PRAGMA journal_mode").fetchone()[0]).lower()
