"""Reads: which apps and judge setups there are, how much they hold, what was logged."""

from __future__ import annotations

from evaluator.store.db import Store
from evaluator.store.read.base import FIRST_DAY, LAST_DAY, Row, queries, to_rows


def apps(store: Store) -> list[str]:
    """Names of the apps in this database."""
    return [row["app"] for row in to_rows(queries().apps(store.connection))]


def rulers(store: Store, app: str) -> list[Row]:
    """Judge setups of an app in the order of first use; ``position`` is the number shown (setup v1, v2, ...)."""
    return to_rows(queries().rulers(store.connection, app=app))


def newest_ruler(store: Store, app: str) -> Row | None:
    """The setup of the newest run; None when the app has none."""
    return max(rulers(store, app), key=lambda row: (row["last_slot_utc"] or "", row["position"]), default=None)


def events(store: Store, app: str, *, first_day: str = FIRST_DAY, last_day: str = LAST_DAY) -> list[Row]:
    """What was logged in a period, in order of time."""
    return to_rows(queries().events(store.connection, app=app, first_day=first_day, last_day=last_day))


def counts(store: Store, app: str) -> Row:
    """How many answers, runs and verdicts an app has, and its first and last answered day."""
    row = dict(queries().counts(store.connection, app=app))
    row["n_verdicts"] = row["n_scored"] + row.pop("n_unscored")
    return row
