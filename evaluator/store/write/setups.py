"""Writes anchor sets and judge setups: each is stored once, however often it is used."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from evaluator.clock import utc_text
from evaluator.records import Anchor, Ruler, content_hash
from evaluator.store.db import Store
from evaluator.store.write.base import dump
from evaluator.store.write.item_rows import INSERT_ANCHOR_ITEM, item_row


def anchor_item_id(app: str, anchor: Anchor) -> str:
    """Identity of an anchor's item: the same text under the same anchor id stays the same item."""
    return content_hash(app, "anchor", anchor.anchor_id, anchor.item.content_id)


def save_anchor_set(store: Store, *, app: str, name: str, anchors: Sequence[Anchor], now: datetime) -> str:
    """Store an anchor set and its items; the same set twice changes nothing. Returns the set's id."""
    anchor_set_id = content_hash("anchors", app, name, [_anchor_key(anchor) for anchor in anchors])
    with store.transaction() as connection:
        known = connection.execute("SELECT 1 FROM anchor_sets WHERE anchor_set_id = ?", (anchor_set_id,)).fetchone()
        if known:
            return anchor_set_id
        connection.execute(
            "INSERT INTO anchor_sets VALUES (?, ?, ?, ?)", (anchor_set_id, name, len(anchors), utc_text(now))
        )
        for position, anchor in enumerate(anchors):
            _save_anchor(connection, app, anchor_set_id, anchor, position)
    return anchor_set_id


def _anchor_key(anchor: Anchor) -> list[Any]:
    return [anchor.anchor_id, anchor.item.content_id, anchor.expected_score, dict(anchor.item.tags)]


def _save_anchor(connection: sqlite3.Connection, app: str, set_id: str, anchor: Anchor, position: int) -> None:
    item_id = anchor_item_id(app, anchor)
    connection.execute(
        INSERT_ANCHOR_ITEM,
        (app, *item_row(item_id, anchor.item, None)),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO item_tags VALUES (?, ?, ?)",
        [(item_id, key, value) for key, value in anchor.item.tags.items()],
    )
    connection.execute(
        "INSERT INTO anchors VALUES (?, ?, ?, ?, ?, ?)",
        (set_id, anchor.anchor_id, item_id, anchor.expected_score, anchor.why, position),
    )


def register_ruler(store: Store, *, app: str, ruler: Ruler, now: datetime) -> bool:
    """Store a ruler and give it the app's next number. Returns True when the app had not used it before."""
    with store.transaction() as connection:
        return put_ruler(connection, app=app, ruler=ruler, now=now)


def put_ruler(connection: sqlite3.Connection, *, app: str, ruler: Ruler, now: datetime) -> bool:
    """``register_ruler`` in the caller's transaction."""
    rubric = ruler.rubric
    connection.execute(
        "INSERT OR IGNORE INTO rubrics VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            rubric.rubric_id, rubric.name, rubric.criterion, rubric.scale_min, rubric.scale_max,
            len(rubric.levels), dump(rubric.as_dict()), utc_text(now),
        ),
    )  # fmt: skip
    connection.execute(
        "INSERT OR IGNORE INTO rulers VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            ruler.ruler_id, ruler.model_asked, rubric.rubric_id, ruler.prompt_template,
            dump(dict(ruler.parameters)), ruler.output_mode, utc_text(now),
        ),
    )  # fmt: skip
    if connection.execute("SELECT 1 FROM app_rulers WHERE app = ? AND ruler_id = ?", (app, ruler.ruler_id)).fetchone():
        return False
    position = connection.execute("SELECT count(*) + 1 FROM app_rulers WHERE app = ?", (app,)).fetchone()[0]
    connection.execute("INSERT INTO app_rulers VALUES (?, ?, ?)", (app, ruler.ruler_id, position))
    return True
