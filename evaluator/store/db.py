"""Opens the database: one writer's connection with own transactions, or a read-only one. Creates, migrates, refuses.

sqlite-utils' own transactions start as plain BEGIN and fail at once beside another writer, so the connection runs
without implicit transactions and every write stands in ``Store.transaction`` (BEGIN IMMEDIATE).
"""

from __future__ import annotations

import secrets
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlite_utils import Database

from evaluator.errors import NewerDatabaseError, StoreError, UsageError
from evaluator.store.migrations import migrations

BUSY_TIMEOUT_S = 30.0
LOCK_RETRY_FOR_S = 120.0  # how long a write is tried again before the caller is told; nothing is lost meanwhile


class StoreWarning(UserWarning):
    """The database works, but not as it should."""


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
        """One write: BEGIN IMMEDIATE, COMMIT or ROLLBACK; ``visible`` raises the store revision with it.

        Raises:
            StoreError: the file cannot be written (read-only, disk full, locked for minutes), in words.
        """
        self._begin()
        try:
            yield self.connection
            if visible:
                self.connection.execute(
                    "UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'store_revision'"
                )
            self.connection.execute("COMMIT")
        except BaseException as error:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.OperationalError):
                raise explain(error, self.path) from error
            raise

    def _begin(self) -> None:
        """Start a write transaction; a lock held by another process is waited for, beyond SQLite's own patience."""
        give_up = time.monotonic() + LOCK_RETRY_FOR_S
        while True:
            try:
                self.connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > give_up:
                    raise explain(error, self.path) from error
                time.sleep(0.05)
            else:
                return

    def backup(self, target: Path) -> None:
        """Copy the database to ``target`` in one consistent state, also while a scorer writes.

        Raises:
            UsageError: the target exists.
        """
        if target.exists():
            raise UsageError(f"{target} exists already; name a new file for the backup")
        with sqlite3.connect(target) as copy:
            self.connection.backup(copy)
        copy.close()


def explain(error: sqlite3.Error, path: Path) -> StoreError:
    """Turn SQLite's message into one that names the file and the fix."""
    text = str(error)
    known: tuple[tuple[str, str], ...] = (
        ("locked", f"{path} is locked by another program for too long; end it, then start again (nothing is lost)"),
        ("readonly", f"{path} cannot be written; give this user write permission on the file and on its folder"),
        ("disk is full", f"the disk that holds {path} is full; free some space, then start again (nothing is lost)"),
        ("disk I/O error", f"the disk that holds {path} reports an error (full or unmounted?): {text}"),
        ("unable to open", f"{path} cannot be opened; check that the folder exists and this user may write there"),
        ("not a database", f"{path} is not a judgewatch database; name another file with --db"),
        ("malformed", f"{path} is damaged ({text}); restore the last `judgewatch db backup`"),
    )
    for needle, message in known:
        if needle in text:
            return StoreError(message)
    return StoreError(f"{path}: {text}")


def open_store(path: Path | str, *, zone: str | None = None, create: bool = True) -> Store:
    """Open for writing: create the file if wanted, bring the schema up to date, switch on write-ahead logging.

    Args:
        path: The database file.
        zone: Zone of the days for a new database; for an existing one it must agree with the stored zone.
        create: Whether a missing file may be created.

    Raises:
        StoreError: missing, unreadable or damaged file.
        NewerDatabaseError: written by a newer judgewatch.
        UsageError: an unknown zone, or another zone than the stored one.
    """
    path = Path(path)
    if not path.exists() and not create:
        raise StoreError(
            f"there is no database at {path}; import answers or run the scorer first, or name one with --db"
        )
    check_zone(zone or "UTC")
    connection = _connect(str(path), path, uri=False)
    store = Store(connection, path, read_only=False)
    try:
        _use_write_ahead_log(connection, path)
        _migrate(store, zone or "UTC")
    except sqlite3.DatabaseError as error:
        connection.close()
        raise explain(error, path) from error
    except BaseException:
        connection.close()
        raise
    if zone is not None and store.zone.key != zone:
        stored = store.zone.key
        store.close()
        raise UsageError(
            f"{path} counts its days in zone {stored!r}, the configuration says {zone!r}; set schedule.zone to {stored!r},"
            f" or change the database with `judgewatch db rebuild --zone {zone}`"
        )
    return store


def open_reader(path: Path | str) -> Store:
    """Open read-only, for pages and read commands: never creates, never migrates, never writes.

    Raises:
        StoreError: no file, an empty file, or no judgewatch database.
        NewerDatabaseError: written by a newer judgewatch.
    """
    path = Path(path)
    if not path.exists():
        raise StoreError(
            f"there is no database at {path}; import answers or run the scorer first, or name one with --db"
        )
    connection = _connect(f"file:{quote(str(path.absolute()))}?mode=ro", path, uri=True)
    store = Store(connection, path, read_only=True)
    try:
        applied = _applied(connection)
    except sqlite3.DatabaseError as error:
        connection.close()
        raise explain(error, path) from error
    try:
        if not applied:
            raise StoreError(f"{path} holds no judgewatch data yet; import answers or run the scorer first")
        _refuse_newer(applied, path)
        if pending := set(known_migrations()) - applied:
            raise StoreError(
                f"{path} is of an older version ({len(pending)} steps behind); run `judgewatch db migrate`"
            )
    except StoreError:
        connection.close()
        raise
    return store


def known_migrations() -> tuple[str, ...]:
    """Names of the migrations that this version knows, in order."""
    return tuple(step.name for step in migrations._migrations)  # noqa: SLF001 - the library has no public list


def check_zone(name: str) -> ZoneInfo:
    """Return the zone of this name.

    Raises:
        UsageError: there is none.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UsageError(f"unknown zone {name!r}; use a name like 'UTC' or 'Europe/Berlin'") from error


def _connect(target: str, path: Path, *, uri: bool) -> sqlite3.Connection:
    try:
        # the scorer writes from a worker thread; Store users hold it one at a time
        connection = sqlite3.connect(
            target, uri=uri, isolation_level=None, timeout=BUSY_TIMEOUT_S, check_same_thread=False
        )
        connection.execute("PRAGMA foreign_keys = ON")
    except sqlite3.OperationalError as error:
        raise explain(error, path) from error
    connection.row_factory = sqlite3.Row
    return connection


def _use_write_ahead_log(connection: sqlite3.Connection, path: Path) -> None:
    """Switch on write-ahead logging; where the file system cannot, say so once and go on."""
    mode = _with_patience(lambda: str(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]))
    if mode.lower() == "wal":
        connection.execute("PRAGMA synchronous = NORMAL")
        return
    warnings.warn(
        f"{path} lies on a file system without write-ahead logging (mode {mode!r}): pages may wait while the scorer"
        " writes. A local disk is better.",
        StoreWarning,
        stacklevel=3,
    )


def _with_patience(action: Callable[[], str]) -> str:
    """Run an action that SQLite refuses at once while another process opens the same new file."""
    give_up = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            return action()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > give_up:
                raise
            time.sleep(0.02)


def _applied(connection: sqlite3.Connection) -> set[str]:
    table = connection.execute(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (migrations.migrations_table,)
    ).fetchone()
    if table is None:
        return set()
    rows = connection.execute(
        f"SELECT name FROM {migrations.migrations_table} WHERE migration_set = ?",  # noqa: S608 - a constant of the library
        (migrations.name,),
    )
    return {str(row[0]) for row in rows}


def _refuse_newer(applied: set[str], path: Path) -> None:
    unknown = sorted(applied - set(known_migrations()))
    if unknown:
        raise NewerDatabaseError(
            f"{path} was written by a newer judgewatch (it knows the step {unknown[-1]!r}, this one does not);"
            " upgrade with `pip install -U judgewatch`"
        )


def _migrate(store: Store, zone: str) -> None:
    """Apply missing steps under the writer's lock, so that two processes cannot both start."""
    applied = _applied(store.connection)
    _refuse_newer(applied, store.path)
    if applied == set(known_migrations()):
        return
    with store.transaction(visible=False) as connection:
        _refuse_newer(_applied(connection), store.path)
        migrations.apply(Database(connection))
        # the salt makes the fence around graded text unguessable for its author; it travels with the database so that
        # the same item is always sent as the same bytes
        defaults = (("zone", zone), ("store_revision", "0"), ("fence_salt", secrets.token_hex(16)))
        connection.executemany("INSERT OR IGNORE INTO meta (key, value) VALUES (?, ?)", defaults)
