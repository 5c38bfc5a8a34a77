"""Reads: picking anchors from stored traffic, and the anchor set that was used last."""

from __future__ import annotations

import json
from collections.abc import Iterable

from evaluator.records import Anchor
from evaluator.store.db import Store
from evaluator.store.read.anchors import load_anchor_set
from evaluator.store.read.base import FIRST_DAY, LAST_DAY, Row, queries, to_row, to_rows

_CHUNK = 500
_MORE = 1.2
_EVERYTHING = 2.0


def pick_pool(
    store: Store, app: str, *, most: int, first_day: str | None = None, last_day: str | None = None
) -> list[Row]:
    """Answers drawn uniformly, in the order of the hash: item_id, content_id, deleted_utc, n_input, n_output, n_beside.

    The last three are lengths in characters. Answers without a time are drawn from unless a day is named.
    """
    is_bounded = first_day is not None or last_day is not None
    where = {
        "app": app,
        "first_day": first_day or FIRST_DAY,
        "last_day": last_day or LAST_DAY,
        "undated": "" if is_bounded else FIRST_DAY,
    }
    n_answers = queries().pick_pool_size(store.connection, **where)["n"]
    # places are uniform on [0, 1): some more than needed lie under this bound, nearly always
    bound = _MORE * most / n_answers if n_answers else _EVERYTHING
    found = to_rows(queries().pick_pool(store.connection, **where, bound=bound, most=most))
    if len(found) < most and bound < 1:
        found = to_rows(queries().pick_pool(store.connection, **where, bound=_EVERYTHING, most=most))
    return found


def pick_pool_of_recheck(store: Store, app: str, recheck_id: str, *, most: int) -> list[Row]:
    """The answers that a recheck drew at random and graded, as ``pick_pool`` gives them; without their scores."""
    return to_rows(queries().pick_pool_of_recheck(store.connection, app=app, recheck_id=recheck_id, most=most))


def tags_of_items(store: Store, item_ids: Iterable[str]) -> dict[str, dict[str, str]]:
    """The tags of these items; an item without tags is not in it."""
    tags: dict[str, dict[str, str]] = {}
    ids = list(item_ids)
    for start in range(0, len(ids), _CHUNK):
        chunk = ids[start : start + _CHUNK]
        marks = ", ".join("?" * len(chunk))
        rows = store.connection.execute(
            f"SELECT item_id, key, value FROM item_tags WHERE item_id IN ({marks}) ORDER BY item_id, key",  # noqa: S608 - marks
            chunk,
        )
        for row in rows:
            tags.setdefault(row["item_id"], {})[row["key"]] = row["value"]
    return tags


def newest_pick(store: Store, app: str, name: str) -> Row | None:
    """The newest pick for a set of this name, settings and run ids parsed; None when there is none."""
    row = to_row(queries().newest_pick(store.connection, app=app, name=name))
    return None if row is None else _parsed(row)


def list_picks(store: Store, app: str) -> list[Row]:
    """Every pick of an app, newest first, with n_items, n_yes and n_no."""
    return [_parsed(row) for row in to_rows(queries().picks(store.connection, app=app))]


def _parsed(row: Row) -> Row:
    row["settings"] = json.loads(row.pop("settings_json"))
    row["run_ids"] = json.loads(row.pop("run_ids_json"))
    return row


def pick_items(store: Store, pick_id: str) -> list[Row]:
    """The candidates of a pick in their order: item_id, stratum, ``flags``, decision (None while there is none)."""
    rows = to_rows(queries().pick_items(store.connection, pick_id=pick_id))
    for row in rows:
        row["flags"] = json.loads(row.pop("flags_json"))
    return rows


def scores_of_run(store: Store, run_id: str) -> dict[str, Row]:
    """Verdicts of one run by item id: score and unscored_reason, one of them None."""
    return {row["item_id"]: dict(row) for row in queries().scores_of_run(store.connection, run_id=run_id)}


def status_of_run(store: Store, run_id: str) -> Row | None:
    """status, stop_reason and message of a run; None when it has not begun."""
    return to_row(queries().status_of_run(store.connection, run_id=run_id))


def planned_ids(store: Store, run_id: str) -> list[str]:
    """The items that a run planned, in order; none when it has not begun."""
    return [row["item_id"] for row in queries().planned_ids(store.connection, run_id=run_id)]


def anchor_set_in_use(store: Store, app: str, name: str) -> tuple[str, list[Anchor]] | None:
    """Day of the last scheduled run with an anchor set of this name, and that set; None when there was none."""
    row = to_row(queries().anchor_set_in_use(store.connection, app=app, name=name))
    if row is None:
        return None
    return row["slot_day"], [anchor for _, anchor in load_anchor_set(store, row["anchor_set_id"])]
