"""Reads: whose texts can be deleted, what was blanked, and what pages need to know of the configuration."""

from __future__ import annotations

from collections.abc import Iterable

from evaluator.records import ItemFlag
from evaluator.store.db import Store
from evaluator.store.read.base import Row, queries, to_row, to_rows

_CHUNK = 500


def app_settings(store: Store, app: str) -> dict[str, str]:
    """What the newest run or import noted of an app's configuration, by name."""
    return {row["key"]: row["value"] for row in queries().app_settings(store.connection, app=app)}


def items_of_own_id(store: Store, app: str, own_id: str) -> list[Row]:
    """Traffic under an id in the user's own system, every version and copy: item_id, content_id, ids."""
    return to_rows(queries().items_of_own_id(store.connection, app=app, own_id=own_id))


def items_of_user(store: Store, app: str, user_id: str) -> list[Row]:
    """Traffic of a user: item_id, content_id, ids."""
    return to_rows(queries().items_of_user(store.connection, app=app, user_id=user_id))


def copies_of_content(store: Store, app: str, content_id: str) -> list[Row]:
    """Copies, made to be graded again, of the same texts."""
    return to_rows(queries().copies_of_content(store.connection, app=app, content_id=content_id))


def item_to_delete(store: Store, item_id: str) -> Row | None:
    """What decides whether an item can be deleted; None when there is none."""
    return to_row(queries().item_to_delete(store.connection, item_id=item_id))


def anchors_of_content(store: Store, app: str, content_id: str) -> list[Row]:
    """Anchors with these texts: item_id, anchor_id, set_name."""
    return to_rows(queries().anchors_of_content(store.connection, app=app, content_id=content_id))


def is_anchor_in_use(store: Store, app: str, item_id: str) -> bool:
    """Whether an item stands in the anchor set of the newest run that had one."""
    return bool(queries().is_anchor_in_use(store.connection, app=app, item_id=item_id)["n"])


def tagged_with(store: Store, app: str, value: str) -> list[tuple[str, int]]:
    """Tags with this value of answers that are still there: (key, number of answers)."""
    return [(row["key"], int(row["n"])) for row in queries().tagged_with(store.connection, app=app, value=value)]


def count_deletions(store: Store, app: str) -> int:
    """How often answers of an app were deleted."""
    return int(queries().count_deletions(store.connection, app=app)["n"])


def days_with_blank_texts(store: Store, app: str, *, first_day: str) -> set[str]:
    """Days from one on with answers whose texts are not kept; reads all answers of these days."""
    pattern = f"%{ItemFlag.TEXT_NOT_KEPT}%"
    rows = queries().days_with_blank_texts(store.connection, app=app, first_day=first_day, pattern=pattern)
    return {row["answered_day"] for row in rows}


def stored_contents(store: Store, item_ids: Iterable[str]) -> dict[str, str | None]:
    """Hash of the texts that items came with, by item; None for one that was deleted, which is not brought back."""
    ids = list(item_ids)
    found: dict[str, str | None] = {}
    for start in range(0, len(ids), _CHUNK):
        chunk = ids[start : start + _CHUNK]
        marks = ", ".join("?" * len(chunk))
        rows = store.connection.execute(
            f"SELECT item_id, content_id, deleted_utc FROM items WHERE item_id IN ({marks})",  # noqa: S608 - marks
            chunk,
        )
        found.update((row[0], row[1] if row[2] is None else None) for row in rows)
    return found
