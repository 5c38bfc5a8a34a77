"""Reads: rechecks of stored scores, and both scores of each of their answers."""

from __future__ import annotations

import json
from collections.abc import Iterable

from evaluator.store.db import Store
from evaluator.store.read.base import Row, queries, to_row, to_rows

_CHUNK = 500


def recheck(store: Store, recheck_id: str) -> Row | None:
    """One recheck with its ``settings`` and its ``result`` (until it is finished, what was known before)."""
    return _parsed(to_row(queries().recheck(store.connection, recheck_id=recheck_id)))


def rechecks(store: Store, app: str, *, most: int = 50) -> list[Row]:
    """The rechecks of an app, newest first, as of ``recheck``."""
    rows = to_rows(queries().rechecks(store.connection, app=app, most=most))
    return [row for row in map(_parsed, rows) if row is not None]


def find_recheck_ids(store: Store, app: str, start: str) -> list[str]:
    """Ids of rechecks (at most three) that begin with ``start``."""
    return [row["recheck_id"] for row in queries().recheck_ids(store.connection, app=app, start=start)]


def same_recheck(
    store: Store, *, app: str, ruler_id: str, file_sha256: str, n_asked: int, settings_json: str
) -> Row | None:
    """The newest recheck that asked the same of the same file and judge setup; None when there is none."""
    found = queries().same_recheck(
        store.connection,
        app=app,
        ruler_id=ruler_id,
        file_sha256=file_sha256,
        n_asked=n_asked,
        settings_json=settings_json,
    )
    return _parsed(to_row(found))


def recheck_scores(store: Store, recheck_id: str) -> list[Row]:
    """Each answer of a recheck in the order of the hash: item_id, part, cluster_id, stored_score, stored_utc, score.

    ``score`` and ``unscored_reason`` are both None while the answer was not graded again.
    """
    return to_rows(queries().recheck_scores(store.connection, recheck_id=recheck_id))


def recheck_anchor_candidates(store: Store, recheck_id: str) -> list[str]:
    """Ids of the regraded answers that may become anchors, in the order of the hash: any first k are a random sample.

    They were taken at random and not by score, and what the judge gave them now plays no part either: answers chosen
    for a high score would sink in the next run without any drift. Left out is only what could not be graded.
    """
    return [row["item_id"] for row in recheck_scores(store, recheck_id) if row["score"] is not None]


def with_reasons(store: Store, recheck_id: str, furthest: Iterable[Row]) -> list[Row]:
    """The answers that a result names, each with ``external_id`` and the judge's ``explanation`` as they stand now.

    A result keeps neither: an answer that is deleted later must leave nothing behind in it.
    """
    known = {row["item_id"]: row for row in recheck_scores(store, recheck_id)}
    return [
        {**row, **{name: known.get(row["item_id"], {}).get(name) or "" for name in ("external_id", "explanation")}}
        for row in furthest
    ]


def deleted_among(store: Store, item_ids: Iterable[str]) -> set[str]:
    """Which of some items were deleted on a person's wish; they are not brought back."""
    ids = list(item_ids)
    found: set[str] = set()
    for start in range(0, len(ids), _CHUNK):
        chunk = ids[start : start + _CHUNK]
        marks = ", ".join("?" * len(chunk))
        rows = store.connection.execute(
            f"SELECT item_id FROM items WHERE deleted_utc IS NOT NULL AND item_id IN ({marks})",  # noqa: S608 - marks
            chunk,
        )
        found.update(row[0] for row in rows)
    return found


def _parsed(row: Row | None) -> Row | None:
    if row is None:
        return None
    row["settings"] = json.loads(row.pop("settings_json"))
    result = row.pop("result_json")
    row["result"] = None if result is None else json.loads(result)
    return row
