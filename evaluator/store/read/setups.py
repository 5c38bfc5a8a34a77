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
    """The setup that is shown unless another is chosen; None when the app has none.

    That is the setup of the newest run. One that has graded nothing but anchors yields to imported scores, where there
    are any: it is there to measure their judge. Of several imported ones the one with most scores is meant.
    """
    setups = rulers(store, app)
    newest = max(setups, key=_newness, default=None)
    if newest is None or newest["n_scored_traffic"]:
        return newest
    imported = [row for row in setups if row["output_mode"] == "imported" and row["n_scored_traffic"]]
    return max(imported, key=_newness, default=newest)


def _newness(row: Row) -> tuple[str, int, int]:
    is_imported = row["output_mode"] == "imported"
    # the criteria of one import are equally new; the first of those with most scores stands for them
    return (
        row["last_slot_utc"] or "",
        int(row["n_scored_traffic"]) if is_imported else 0,
        -int(row["position"]) if is_imported else int(row["position"]),
    )


def events(store: Store, app: str, *, first_day: str = FIRST_DAY, last_day: str = LAST_DAY) -> list[Row]:
    """What was logged in a period, in order of time."""
    return to_rows(queries().events(store.connection, app=app, first_day=first_day, last_day=last_day))


def counts(store: Store, app: str) -> Row:
    """How many answers, runs and verdicts an app has, and its first and last answered day."""
    row = dict(queries().counts(store.connection, app=app))
    row["n_verdicts"] = row["n_scored"] + row.pop("n_unscored")
    return row
