"""Writes bridges: a person's word that imported scores are of the judge whose anchors another setup grades."""

from __future__ import annotations

from datetime import datetime

from evaluator.clock import utc_text
from evaluator.errors import UsageError
from evaluator.records import Ruler
from evaluator.store.db import Store
from evaluator.store.write.setups import put_ruler


def check_bridge(imported: Ruler, anchors: Ruler) -> None:
    """Refuse a bridge between two scales: a correction from one to the other would be nonsense.

    Raises:
        UsageError: the scales differ, or both setups are one.
    """
    ours, theirs = imported.rubric, anchors.rubric
    if (ours.scale_min, ours.scale_max) != (theirs.scale_min, theirs.scale_max):
        raise UsageError(
            f"the imported scores of {imported.model_asked!r} are on {ours.scale_min:g} to {ours.scale_max:g}, the"
            f" configured judge grades on {theirs.scale_min:g} to {theirs.scale_max:g}: they cannot be the same judge;"
            " leave out --same-judge, or give the configured judge the prompt and scale of your pipeline"
        )
    if imported.ruler_id == anchors.ruler_id:
        raise UsageError("a judge setup needs no bridge to itself")


def save_bridge(
    store: Store, *, app: str, imported: Ruler, anchors: Ruler, by_whom: str, now: datetime, note: str = ""
) -> None:
    """Note that the anchors of one setup speak for the imported scores of another; a new word replaces an older one.

    Raises:
        UsageError: the scales differ.
        StoreError: the database cannot be written.
    """
    check_bridge(imported, anchors)
    with store.transaction() as connection:
        put_ruler(connection, app=app, ruler=anchors, now=now)
        connection.execute(
            "INSERT INTO bridges (app, ruler_id, anchor_ruler_id, created_utc, by_whom, note) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (app, ruler_id) DO UPDATE SET anchor_ruler_id = excluded.anchor_ruler_id,"
            " created_utc = excluded.created_utc, by_whom = excluded.by_whom, note = excluded.note"
            " WHERE bridges.anchor_ruler_id <> excluded.anchor_ruler_id",
            (app, imported.ruler_id, anchors.ruler_id, utc_text(now), by_whom, note),
        )
