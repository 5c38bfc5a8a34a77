"""Daily totals that every page reads instead of rows. A write marks the days it touches; the marked days are rebuilt.

Totals are weighted sums (weight = 1 / inclusion probability) with the cluster sums that the variance of a clustered
mean needs, so a mean and its interval over any days and any segment come from adding rows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from evaluator.records import Source
from evaluator.store.db import Store

DEFAULT_SEGMENT_KEYS = 6
MAX_VALUES_PER_KEY = 200  # a key with more values is an identity, not a segment
_QUERIES = Path(__file__).parent / "queries" / "rollup"


def mark_stale(connection: sqlite3.Connection, app: str, source: Source, days: Iterable[str]) -> None:
    """Note that these days have to be rebuilt; belongs into the transaction that changed them."""
    connection.executemany("INSERT OR IGNORE INTO stale_days VALUES (?, ?, ?)", [(app, source, day) for day in days])


def rebuild_stale(connection: sqlite3.Connection, app: str) -> int:
    """Rebuild the marked days of an app inside the caller's transaction; returns how many there were."""
    days = connection.execute("SELECT source, day FROM stale_days WHERE app = ?", (app,)).fetchall()
    _add_segments(connection, app)
    for row in days:
        _rebuild_day(connection, app, Source(row["source"]), row["day"])
    connection.execute("DELETE FROM stale_days WHERE app = ?", (app,))
    return len(days)


def rebuild_everything(store: Store, app: str) -> int:
    """Build the rollup of an app anew from the verdicts; returns the number of days."""
    with store.transaction() as connection:
        return _rebuild_all(connection, app)


def _rebuild_all(connection: sqlite3.Connection, app: str) -> int:
    for table in ("daily_scores", "daily_levels"):
        connection.execute(f"DELETE FROM {table} WHERE app = ?", (app,))  # noqa: S608 - constants
    traffic = connection.execute(
        "SELECT DISTINCT i.answered_day FROM verdicts v JOIN items i ON i.item_id = v.item_id"
        " WHERE v.app = ? AND i.source = 'traffic' AND i.answered_day IS NOT NULL",
        (app,),
    )
    mark_stale(connection, app, Source.TRAFFIC, [row[0] for row in traffic.fetchall()])
    anchors = connection.execute("SELECT DISTINCT slot_day FROM runs WHERE app = ? AND n_anchors > 0", (app,))
    mark_stale(connection, app, Source.ANCHOR, [row[0] for row in anchors.fetchall()])
    return rebuild_stale(connection, app)


def choose_segment_keys(store: Store, app: str, configured: Sequence[tuple[str, str]] | None) -> list[tuple[str, str]]:
    """Fix the keys an app is broken down by: the configured ones, else the commonest of its traffic.

    The choice is kept, so that the breakdown does not change under the reader; another configuration replaces it, and
    every day is rebuilt with it.

    Args:
        store: A writable store.
        app: The app.
        configured: (key, "") for one key, (key, key2) for two crossed; None for the default.

    Returns:
        The keys in force, in order.
    """
    current = [(row[0], row[1]) for row in _segment_keys(store.connection, app)]
    wanted = list(dict.fromkeys(configured)) if configured is not None else None
    if wanted is None:
        wanted = current or _commonest_keys(store.connection, app)
    if wanted == current:
        return current
    with store.transaction() as connection:
        connection.execute("DELETE FROM segment_keys WHERE app = ?", (app,))
        connection.executemany(
            "INSERT INTO segment_keys VALUES (?, ?, ?, ?)",
            [(app, key, key2, position) for position, (key, key2) in enumerate(wanted)],
        )
        _rebuild_all(connection, app)
    return wanted


def widen_segment_keys(connection: sqlite3.Connection, app: str) -> None:
    """Let the commonest tags join keys that were chosen by default, where answers have got tags; inside a transaction.

    Those in force stay, in their order, so nothing disappears from the page.
    """
    current = [(row[0], row[1]) for row in _segment_keys(connection, app)]
    new = [key for key in _commonest_keys(connection, app) if key not in current]
    added = new[: max(0, DEFAULT_SEGMENT_KEYS - len(current))]
    if not added:
        return
    connection.executemany(
        "INSERT INTO segment_keys VALUES (?, ?, ?, ?)",
        [(app, key, key2, len(current) + place) for place, (key, key2) in enumerate(added)],
    )
    _rebuild_all(connection, app)


def _segment_keys(connection: sqlite3.Connection, app: str) -> list[sqlite3.Row]:
    rows = connection.execute("SELECT key, key2 FROM segment_keys WHERE app = ? ORDER BY position", (app,))
    return rows.fetchall()


def _commonest_keys(connection: sqlite3.Connection, app: str) -> list[tuple[str, str]]:
    rows = connection.execute(
        """SELECT t.key FROM item_tags t JOIN items i ON i.item_id = t.item_id
           WHERE i.app = ? AND i.source = 'traffic'
           GROUP BY t.key HAVING count(DISTINCT t.value) BETWEEN 2 AND ?
           ORDER BY count(*) DESC, t.key LIMIT ?""",
        (app, MAX_VALUES_PER_KEY, DEFAULT_SEGMENT_KEYS),
    )
    return [(row[0], "") for row in rows.fetchall()]


def _add_segments(connection: sqlite3.Connection, app: str) -> None:
    """Number the segments that the chosen keys have by now; numbers never change."""
    connection.execute("INSERT OR IGNORE INTO segments (app, key, value) VALUES (?, '', '')", (app,))
    connection.execute(_sql("new_segments"), {"app": app})
    connection.execute(_sql("new_crossed_segments"), {"app": app})


def _rebuild_day(connection: sqlite3.Connection, app: str, source: Source, day: str) -> None:
    graded = _sql("traffic" if source is Source.TRAFFIC else "anchors")
    parameters = {"app": app, "source": str(source), "day": day}
    for table, totals in (("daily_scores", "totals"), ("daily_levels", "levels")):
        connection.execute(
            f"DELETE FROM {table} WHERE app = :app AND source = :source AND day = :day",  # noqa: S608 - constants
            parameters,
        )
        connection.execute(graded + _sql("members") + _sql(totals), parameters)


@cache
def _sql(name: str) -> str:
    return (_QUERIES / f"{name}.sql").read_text("utf-8")
