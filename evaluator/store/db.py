"""Opens the database: one writer's connection with own transactions, or a read-only one. Creates, migrates, refuses.

sqlite-utils' own transactions start as plain BEGIN and fail at once beside another writer, so the connection runs
without implicit transactions and every write stands in ``Store.transaction`` (BEGIN IMMEDIATE).
"""

from __future__ import annotations

import contextlib
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from evaluator.errors import NewerDatabaseError, StoreError, UsageError
from evaluator.store.migrations import (
    MIGRATIONS_TABLE,
    applied_migrations,
    apply_migrations,
    known_migrations,
)
from evaluator.store.sqlite import StoreWarning, connect, explain, use_write_ahead_log, with_patience

__all__ = ["Store", "StoreWarning", "check_zone", "explain", "known_migrations", "open_reader", "open_store"]

LOCK_RETRY_FOR_S = 120.0  # how long a write is tried again before the caller is told; nothing is lost meanwhile
_RETRY_PAUSE_S = 0.05


class Store:
    """An open database. ``read_only`` stores refuse writes in SQLite itself."""

    def __init__(self, connection: sqlite3.Connection, path: Path, *, read_only: bool) -> None:
        self.connection = connection
        self.path = path
        self.read_only = read_only
        self._zone: ZoneInfo | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    @property
    def zone(self) -> ZoneInfo:
        """The zone in which this store's days are calendar days."""
        if self._zone is None:
            self._zone = ZoneInfo(self.meta("zone") or "UTC")
        return self._zone

    def meta(self, key: str) -> str | None:
        """Return one fact about the database, None when it is not there."""
        row = self.connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    @property
    def revision(self) -> int:
        """A counter raised by every committed write that a page can show."""
        return int(self.meta("store_revision") or 0)

    @contextmanager
    def transaction(self, *, visible: bool = True) -> Iterator[sqlite3.Connection]:
        """One write: BEGIN IMMEDIATE, COMMIT or ROLLBACK. A ``visible`` one that changed a row raises the revision.

        Raises:
            StoreError: the file cannot be written (read-only, disk full, locked for minutes), in words.
        """
        self._execute_patiently("BEGIN IMMEDIATE")
        try:
            before = self.connection.total_changes
            yield self.connection
            if visible and self.connection.total_changes > before:
                self.connection.execute(
                    "UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'store_revision'"
                )
            # without write-ahead logging it is the commit that waits, for readers; what was written stays in place
            self._execute_patiently("COMMIT")
        except BaseException as error:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, _FAULTS_OF_THE_CALLER):
                raise explain(error, self.path) from error
            raise

    def _execute_patiently(self, statement: str) -> None:
        """Begin or commit; a lock held by another process is waited for, beyond SQLite's own patience."""
        try:
            with_patience(lambda: self.connection.execute(statement), for_s=LOCK_RETRY_FOR_S, pause_s=_RETRY_PAUSE_S)
        except sqlite3.DatabaseError as error:
            raise explain(error, self.path) from error

    def backup(self, target: Path) -> None:
        """Copy the database to ``target`` in one consistent state, also while a scorer writes.

        Raises:
            UsageError: the target exists.
            StoreError: it cannot be written; no half of a copy is left.
        """
        if target.exists():
            raise UsageError(f"{target} exists already; name a new file for the backup")
        try:
            with contextlib.closing(sqlite3.connect(target)) as copy:
                self.connection.backup(copy)
        except sqlite3.Error as error:
            target.unlink(missing_ok=True)
            raise explain(error, target) from error


_FAULTS_OF_THE_CALLER = (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError, sqlite3.DataError)


def open_store(path: Path | str, *, zone: str | None = None, create: bool = True) -> Store:
    """Open for writing: create the file if wanted, bring the schema up to date, switch on write-ahead logging.

    Args:
        path: The database file.
        zone: Zone of the days for a new database; for an existing one it must agree with the stored zone.
        create: Whether a missing file may be created.

    Raises:
        StoreError: missing, unreadable or damaged file, or another program's database; it is left as it was.
        NewerDatabaseError: written by a newer judgewatch; it is left as it was.
        UsageError: an unknown zone, or another zone than the stored one.
    """
    path = Path(path)
    _check_place(path, may_be_missing=create)
    check_zone("UTC" if zone is None else zone)
    connection = connect(str(path), path, uri=False)
    store = Store(connection, path, read_only=False)
    try:
        _check_contents(connection, path)
        use_write_ahead_log(connection, path)
        # what is written over is gone: a row that grows leaves no copy of its texts behind
        connection.execute("PRAGMA main.secure_delete = ON")
        _migrate(store, zone or "UTC")
        _check_stored_zone(store, zone)
    except sqlite3.DatabaseError as error:
        connection.close()
        raise explain(error, path) from error
    except BaseException:
        connection.close()
        raise
    return store


def open_reader(path: Path | str) -> Store:
    """Open read-only, for pages and read commands: never creates, never migrates, never writes.

    Raises:
        StoreError: no file, an empty file, or no judgewatch database.
        NewerDatabaseError: written by a newer judgewatch.
    """
    store, behind = open_as_it_is(path)
    if behind:
        store.close()
        steps = "1 step" if behind == 1 else f"{behind} steps"
        raise StoreError(f"{path} is of an older version ({steps} behind); run `judgewatch db migrate`")
    return store


def open_as_it_is(path: Path | str) -> tuple[Store, int]:
    """Open read-only, whatever version wrote it; tells, too, how many steps its schema is behind.

    Raises:
        StoreError: no file, an empty file, or no judgewatch database.
        NewerDatabaseError: written by a newer judgewatch.
    """
    path = Path(path)
    _check_place(path, may_be_missing=False)
    connection = _connect_reader(path)
    try:
        applied = _check_contents(connection, path)
        if not applied:
            raise StoreError(f"{path} holds no judgewatch data yet; import answers or run the scorer first")
    except sqlite3.DatabaseError as error:
        connection.close()
        raise explain(error, path) from error
    except BaseException:
        connection.close()
        raise
    return Store(connection, path, read_only=True), len(set(known_migrations()) - applied)


def check_zone(name: str) -> ZoneInfo:
    """Return the zone of this name.

    Raises:
        UsageError: there is none.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UsageError(f"unknown zone {name!r}; use a name like 'UTC' or 'Europe/Berlin'") from error


def _check_place(path: Path, *, may_be_missing: bool) -> None:
    if path.is_dir():
        raise StoreError(f"{path} is a folder; name the database file in it")
    if not may_be_missing and not path.exists():
        raise StoreError(
            f"there is no database at {path}; import answers or run the scorer first, or name one with --db"
        )


def _connect_reader(path: Path) -> sqlite3.Connection:
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    connection = connect(address, path, uri=True)
    try:
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError as error:
        connection.close()
        if not _is_only_unwritable(error, path):
            raise explain(error, path) from error
        return connect(address + "&immutable=1", path, uri=True)
    return connection


def _is_only_unwritable(error: sqlite3.DatabaseError, path: Path) -> bool:
    """Whether reading failed only because this user may not write to the folder.

    SQLite wants to make the index of the write-ahead log there. Where there is no log, or an empty one, the file can be
    read as it stands.
    """
    log = path.with_name(path.name + "-wal")
    is_about_writing = any(part in str(error) for part in ("readonly", "unable to open"))
    return is_about_writing and not (log.exists() and log.stat().st_size)


def _check_contents(connection: sqlite3.Connection, path: Path) -> set[str]:
    """Return the names of the steps applied; refuse what a newer version or another program wrote."""
    names = {str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    applied = applied_migrations(connection) if MIGRATIONS_TABLE in names else set()
    unknown = sorted(applied - set(known_migrations()))
    if unknown:
        raise NewerDatabaseError(
            f"{path} was written by a newer judgewatch (it knows the step {unknown[-1]!r}, this one does not);"
            " upgrade with `pip install -U judgewatch`"
        )
    if names and not applied:
        raise StoreError(f"{path} is not a judgewatch database (it has a table {min(names)!r}); name another file")
    return applied


def _migrate(store: Store, zone: str) -> None:
    """Apply missing steps under the writer's lock, so that two processes cannot both start."""
    if _check_contents(store.connection, store.path) == set(known_migrations()):
        return
    with store.transaction(visible=False) as connection:
        _check_contents(connection, store.path)
        apply_migrations(connection)
        # the salt makes the fence around graded text unguessable for its author; it travels with the database so that
        # the same item is always sent as the same bytes
        defaults = (("zone", zone), ("store_revision", "0"), ("fence_salt", secrets.token_hex(16)))
        connection.executemany("INSERT OR IGNORE INTO meta (key, value) VALUES (?, ?)", defaults)


def _check_stored_zone(store: Store, zone: str | None) -> None:
    if zone is not None and store.zone.key != zone:
        stored = store.zone.key
        raise UsageError(
            f"{store.path} counts its days in zone {stored!r}, the configuration says {zone!r}; set schedule.zone to"
            f" {stored!r}, or change the database with `judgewatch db rebuild --zone {zone}`"
        )
