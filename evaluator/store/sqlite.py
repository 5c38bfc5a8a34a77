"""What SQLite has to be told on every connection, and its messages in words that name the file and the fix."""

from __future__ import annotations

import sqlite3
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from evaluator.errors import DamagedStoreError, StoreError

BUSY_TIMEOUT_S = 30.0

_T = TypeVar("_T")
_warned: set[Path] = set()


class StoreWarning(UserWarning):
    """The database works, but not as it should."""


def connect(target: str, path: Path, *, uri: bool) -> sqlite3.Connection:
    """Open a connection without implicit transactions: every write stands in a transaction of its own.

    Args:
        target: What SQLite opens: a path, or a ``file:`` address.
        path: The file, for messages.
        uri: Whether ``target`` is an address.

    Raises:
        StoreError: the file cannot be opened.
    """
    try:
        # the scorer writes from a worker thread; whoever has a Store uses it from one thread at a time
        connection = sqlite3.connect(
            target, uri=uri, isolation_level=None, timeout=BUSY_TIMEOUT_S, check_same_thread=False
        )
        connection.execute("PRAGMA foreign_keys = ON")
    except sqlite3.OperationalError as error:
        raise explain(error, path) from error
    connection.row_factory = sqlite3.Row
    return connection


def use_write_ahead_log(connection: sqlite3.Connection, path: Path) -> None:
    """Switch on write-ahead logging, so that readers never wait; where that is not possible, say so once and go on."""
    # SQLite refuses the switch at once, without its own patience, while another process opens the same new file
    mode: str = with_patience(lambda: str(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]))
    if mode.lower() == "wal":
        connection.execute("PRAGMA synchronous = NORMAL")
    elif path not in _warned:
        _warned.add(path)
        warnings.warn(
            f"{path} lies on a file system without write-ahead logging (mode {mode!r}): pages may wait while the scorer"
            " writes. A local disk is better.",
            StoreWarning,
            stacklevel=3,
        )


def with_patience(action: Callable[[], _T], *, for_s: float = BUSY_TIMEOUT_S, pause_s: float = 0.02) -> _T:
    """Do something again for as long as another program holds the lock it needs.

    Raises:
        sqlite3.OperationalError: the lock was still held after ``for_s`` seconds, or it is not about a lock.
    """
    give_up = time.monotonic() + for_s
    while True:
        try:
            return action()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > give_up:
                raise
        time.sleep(pause_s)


def explain(error: sqlite3.Error, path: Path) -> StoreError:
    """Turn SQLite's message into one that names the file and the fix."""
    text = str(error)
    known: tuple[tuple[str, str], ...] = (
        ("locked", f"{path} is locked by another program for too long; end it, then start again (nothing is lost)"),
        ("readonly", f"{path} cannot be written; give this user write permission on the file and on its folder"),
        ("disk is full", f"the disk that holds {path} is full; free some space, then start again (nothing is lost)"),
        ("disk I/O error", f"the disk that holds {path} reports an error (full or unmounted?): {text}"),
        ("unable to open", f"{path} cannot be opened; check that the folder exists and this user may write there"),
    )
    for needle, message in known:
        if needle in text:
            return StoreError(message)
    if "not a database" in text:
        return DamagedStoreError(f"{path} is not a judgewatch database; name another file with --db")
    if "malformed" in text:
        return DamagedStoreError(f"{path} is damaged ({text}); restore the last `judgewatch db backup`")
    return StoreError(f"{path}: {text}")
