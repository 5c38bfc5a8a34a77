"""Writes what became of the sources of answers: files that were taken in, and every time that a source was asked."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from evaluator.clock import utc_text
from evaluator.store.db import Store

FileKind = Literal["traffic", "verdicts"]
PullKind = Literal["files", "command"]
PullStatus = Literal["ok", "nothing_new", "failed"]

_SAVE_FILE = (
    "INSERT INTO source_files (app, kind, path, size_bytes, mtime_ns, file_sha256, n_rows, n_new, taken_utc,"
    " reading) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (app, kind, path) DO UPDATE SET size_bytes = excluded.size_bytes, mtime_ns = excluded.mtime_ns,"
    " file_sha256 = excluded.file_sha256, n_rows = excluded.n_rows, n_new = excluded.n_new,"
    " taken_utc = excluded.taken_utc, reading = excluded.reading"
)


def save_source_file(
    store: Store,
    *,
    app: str,
    kind: FileKind,
    path: str,
    size_bytes: int,
    mtime_ns: int,
    file_sha256: str,
    n_rows: int,
    n_new: int,
    now: datetime,
    reading: str = "",
) -> None:
    """Remember a file as it is now, so that it is read again only when it has changed.

    Args:
        store: A writable store.
        app: The app that its rows belong to.
        kind: What the file holds.
        path: Where it lies; the key under which it is remembered.
        size_bytes, mtime_ns, file_sha256: What it looked like.
        n_rows, n_new: How many rows it holds, and how many of them were new.
        now: Wall clock.
        reading: By which settings it was read; empty when that is not known.

    Raises:
        StoreError: the database cannot be written.
    """
    with store.transaction(visible=False) as connection:
        connection.execute(
            _SAVE_FILE,
            (app, kind, path, size_bytes, mtime_ns, file_sha256, n_rows, n_new, utc_text(now), reading),
        )


def add_pull(
    store: Store,
    *,
    app: str,
    kind: PullKind,
    source: str,
    slot: datetime,
    status: PullStatus,
    message: str,
    n_rows: int,
    n_new: int,
    n_rejected: int,
    started: datetime,
    finished: datetime,
) -> int:
    """Keep what came of asking a source for a scheduled run, good or bad. Returns the number of the pull.

    Args:
        store: A writable store.
        app: The app that was asked for.
        kind: Whether files were looked for or a command was run.
        source: Its name: the patterns of the files, or the words of the command.
        slot: The scheduled instant that it was asked for.
        status: What came of it.
        message: Why it failed, or what was odd; empty when there is nothing to say.
        n_rows, n_new, n_rejected: Rows read, answers that are new, rows that cannot be used.
        started, finished: Wall clock.

    Raises:
        StoreError: the database cannot be written.
    """
    with store.transaction() as connection:
        cursor = connection.execute(
            "INSERT INTO pulls (app, kind, source, slot_utc, status, message, n_rows, n_new, n_rejected, started_utc,"
            " finished_utc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                app, kind, source, utc_text(slot), status, message, n_rows, n_new, n_rejected, utc_text(started),
                utc_text(finished),
            ),
        )  # fmt: skip
    return int(cursor.lastrowid or 0)
