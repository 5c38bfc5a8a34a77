"""Reads: answers that are known from stored scores only, which traffic that comes later completes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from evaluator.records import ItemFlag
from evaluator.store.db import Store

_CHUNK = 500
_PATTERN = f"%{ItemFlag.FROM_SCORES}%"


def known_from_scores(store: Store, item_ids: Iterable[str]) -> set[str]:
    """Which of some items are known from a stored score only."""
    ids = list(item_ids)
    found: set[str] = set()
    for start in range(0, len(ids), _CHUNK):
        chunk = ids[start : start + _CHUNK]
        marks = ", ".join("?" * len(chunk))
        rows = store.connection.execute(
            f"SELECT item_id FROM items WHERE deleted_utc IS NULL AND flags LIKE ? AND item_id IN ({marks})",  # noqa: S608 - marks
            [_PATTERN, *chunk],
        )
        found.update(row[0] for row in rows)
    return found


@dataclass(frozen=True, kw_only=True)
class KnownTexts:
    """Answers without an id of their own, by the hash of their texts.

    Attributes:
        from_scores: Texts of one answer only, which is known from a stored score.
        completed: (texts, time) of those that were completed by traffic before.
    """

    from_scores: set[str] = field(default_factory=set)
    completed: set[tuple[str, str | None]] = field(default_factory=set)


def texts_without_id(store: Store, app: str) -> KnownTexts:
    """What is known by its texts; reads every answer of the app, for the preview of an import without ids."""
    rows = store.connection.execute(
        "SELECT content_id, answered_utc, flags FROM items WHERE app = ? AND source = 'traffic'"
        " AND external_id IS NULL AND version > 0 AND deleted_utc IS NULL",
        (app,),
    ).fetchall()
    n_of = Counter(row["content_id"] for row in rows)
    return KnownTexts(
        from_scores={
            row["content_id"] for row in rows if ItemFlag.FROM_SCORES in row["flags"] and n_of[row["content_id"]] == 1
        },
        completed={(row["content_id"], row["answered_utc"]) for row in rows if ItemFlag.COMPLETED in row["flags"]},
    )
