"""The database for a look ahead: a dry run reads it, and writes to it where it must; the real one stays as it is.

Opening a database for writing brings its schema up to date. A dry run may not do that, and it must also work on a file
that this user may only read. In these cases it is given a copy, which is thrown away.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evaluator.store.db import Store, open_as_it_is, open_store


@contextmanager
def untouched(path: Path) -> Iterator[Path]:
    """Give a database file that may be opened for a look ahead.

    Args:
        path: The database, which exists.

    Yields:
        The database itself where opening it changes nothing, else a copy with today's schema.

    Raises:
        StoreError: it cannot be read, or belongs to another program; no room for the copy.
        NewerDatabaseError: written by a newer judgewatch.
    """
    if not path.stat().st_size:  # a file that was only touched is filled like a missing one
        with tempfile.TemporaryDirectory(prefix="judgewatch-") as folder:
            yield Path(folder) / path.name
        return
    store, behind = open_as_it_is(path)
    with store, tempfile.TemporaryDirectory(prefix="judgewatch-") as folder:
        # while this reader is there, closing a writer brings nothing of a log over either
        if not behind and _is_writable(path) and _has_log(store):
            yield path
            return
        copy = Path(folder) / path.name
        store.backup(copy)
        open_store(copy, create=False).close()
        yield copy


def _has_log(store: Store) -> bool:
    """Whether the database uses a write-ahead log already; else opening it for writing would switch it on."""
    return str(store.connection.execute("PRAGMA journal_mode").fetchone()[0]).lower() == "wal"


def _is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)
