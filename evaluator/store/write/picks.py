"""Writes picks: the whole plan before the first call, a decision at a time, and that a set was made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evaluator.clock import utc_text
from evaluator.store.db import Store
from evaluator.store.write.base import dump


@dataclass(frozen=True, kw_only=True)
class PickedItem:
    """A candidate: its segment, and what a person has to look at before it becomes an anchor."""

    item_id: str
    stratum: str
    flags: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PickPlan:
    """A pick before its first call. ``run_ids`` are those of the two gradings, in order."""

    pick_id: str
    app: str
    ruler_id: str
    name: str
    run_ids: tuple[str, ...]
    settings: Mapping[str, Any]
    items: tuple[PickedItem, ...]


def begin_pick(store: Store, plan: PickPlan, *, replaces: str | None, now: datetime) -> bool:
    """Write a pick with its candidates, unless another process did so meanwhile.

    Args:
        store: A writable store.
        plan: The pick.
        replaces: Id of the newest pick of that name known to the caller, None for none.
        now: Wall clock.

    Returns:
        Whether it was written; False when the newest pick of that name is another than ``replaces``.
    """
    with store.transaction() as connection:
        newest = connection.execute(
            "SELECT pick_id FROM picks WHERE app = ? AND anchor_set_name = ?"
            " ORDER BY started_utc DESC, pick_id LIMIT 1",
            (plan.app, plan.name),
        ).fetchone()
        if (None if newest is None else newest["pick_id"]) != replaces:
            return False
        connection.execute(
            "INSERT INTO picks (pick_id, app, ruler_id, run_ids_json, settings_json, started_utc, anchor_set_name)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                plan.pick_id, plan.app, plan.ruler_id, dump(list(plan.run_ids)), dump(dict(plan.settings)),
                utc_text(now), plan.name,
            ),
        )  # fmt: skip
        connection.executemany(
            "INSERT INTO pick_items (pick_id, item_id, position, stratum, flags_json) VALUES (?, ?, ?, ?, ?)",
            [
                (plan.pick_id, item.item_id, position, item.stratum, dump(list(item.flags)))
                for position, item in enumerate(plan.items)
            ],
        )
    return True


def decide_picks(
    store: Store, pick_id: str, decisions: Mapping[str, str | None], *, by_whom: str, now: datetime
) -> None:
    """Note "yes" or "no" by item id; None takes a decision back. Items that are not of the pick are passed over."""
    with store.transaction() as connection:
        connection.executemany(
            "UPDATE pick_items SET decision = ?, decided_utc = ?, decided_by = ? WHERE pick_id = ? AND item_id = ?",
            [
                (decision, decision and utc_text(now), decision and by_whom, pick_id, item_id)
                for item_id, decision in decisions.items()
            ],
        )


def note_frozen(store: Store, pick_id: str, *, now: datetime) -> None:
    """Note that a set was written from this pick; the first time counts."""
    with store.transaction() as connection:
        connection.execute(
            "UPDATE picks SET frozen_utc = coalesce(frozen_utc, ?) WHERE pick_id = ?", (utc_text(now), pick_id)
        )
