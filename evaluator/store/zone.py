"""Moves a database to another zone of days: every day that is kept is told anew from its instant."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from zoneinfo import ZoneInfo

from evaluator.clock import day_of, parse_utc
from evaluator.records import Source
from evaluator.store import read, rollup
from evaluator.store.db import Store, check_zone

# table, column of the instant, column of the day
_DAYS = (("items", "answered_utc", "answered_day"), ("runs", "slot_utc", "slot_day"), ("events", "at_utc", "day"))


def change_zone(store: Store, name: str) -> None:
    """Count the days of a database in another zone.

    Totals and stored analyses are dropped, since both speak of days; build the totals anew afterwards. Days that were
    sampled keep the sample they have: at the edges of a day a few answers may be drawn never, or a second time, which
    grades nothing twice.

    Args:
        store: A writable store, to be opened anew afterwards; no scorer may work on it meanwhile.
        name: The new zone.

    Raises:
        UsageError: an unknown zone.
        StoreError: the database cannot be written; nothing is changed.
    """
    zone = check_zone(name)
    with store.transaction() as connection:
        for table, instant, day in _DAYS:
            _tell_days(connection, zone, table, instant, day)
        connection.execute("UPDATE meta SET value = ? WHERE key = 'zone'", (name,))
        for table in ("analyses", "daily_scores", "daily_levels"):
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - constants
        for app in read.apps(store):
            _mark_all_stale(connection, app)


def _tell_days(connection: sqlite3.Connection, zone: ZoneInfo, table: str, instant: str, day: str) -> None:
    """Set the day of each row; whole minutes are looked up, since no zone shifts by less."""
    minutes = connection.execute(
        f"SELECT DISTINCT substr({instant}, 1, 16) FROM {table} WHERE {instant} IS NOT NULL"  # noqa: S608 - constants
    )
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS day_of_minute (minute TEXT PRIMARY KEY, day TEXT)")
    connection.execute("DELETE FROM temp.day_of_minute")
    connection.executemany(
        "INSERT INTO temp.day_of_minute VALUES (?, ?)", _pairs((row[0] for row in minutes.fetchall()), zone)
    )
    connection.execute(
        f"UPDATE {table} SET {day} = (SELECT m.day FROM temp.day_of_minute m"  # noqa: S608 - constants
        f" WHERE m.minute = substr({instant}, 1, 16)) WHERE {instant} IS NOT NULL"
    )


def _pairs(minutes: Iterable[str], zone: ZoneInfo) -> Iterable[tuple[str, str]]:
    return ((minute, day_of(parse_utc(f"{minute}:00Z"), zone).isoformat()) for minute in minutes)


def _mark_all_stale(connection: sqlite3.Connection, app: str) -> None:
    """Mark every day, so that what is cut off before the totals are built is made good by the next run."""
    for source, sql in (
        (Source.TRAFFIC, "SELECT DISTINCT answered_day FROM items WHERE app = ? AND answered_day IS NOT NULL"),
        (Source.ANCHOR, "SELECT DISTINCT slot_day FROM runs WHERE app = ?"),
    ):
        rollup.mark_stale(connection, app, source, [row[0] for row in connection.execute(sql, (app,)).fetchall()])
