"""An item as a row of the table ``items``: its columns, its values, its place in the sampling order."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from evaluator.records import Item

ITEM_COLUMNS = (
    "item_id, external_id, version, content_id, input, output, reference, contexts_json, conversation_id, user_id,"
    " cluster_id, answered_utc, answered_day, answer_model, flags, sample_key"
)
MARKS = ", ".join("?" * 16)
INSERT_ANCHOR_ITEM = (
    f"INSERT INTO items (app, source, {ITEM_COLUMNS}) VALUES (?, 'anchor', {MARKS})"  # noqa: S608 - constants
    " ON CONFLICT (item_id) DO NOTHING"
)
# a copy that is kept to be graded again: version 0, which no import counts among the versions of an answer
INSERT_COPY = (
    f"INSERT INTO items (app, source, {ITEM_COLUMNS}) VALUES (?, 'traffic', {MARKS})"  # noqa: S608 - constants
    # texts that were kept for grading only are needed again
    " ON CONFLICT (item_id) DO UPDATE SET input = excluded.input, output = excluded.output,"
    " reference = excluded.reference, contexts_json = excluded.contexts_json, flags = excluded.flags"
    " WHERE items.deleted_utc IS NULL AND items.output = ''"
)


def sample_key(item_id: str) -> float:
    """Place of an item in the sampling order, uniform on [0, 1): the same for every judge and every rerun."""
    digest = hashlib.sha256(b"sample:" + item_id.encode("ascii")).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def item_row(item_id: str, item: Item, answered_day: str | None) -> tuple[Any, ...]:
    """An item as the values of a row of ``items``, without its app and source."""
    if item.conversation_id:
        cluster_id = "c:" + item.conversation_id
    elif item.user_id:
        cluster_id = "u:" + item.user_id
    else:
        cluster_id = item_id
    contexts = json.dumps(item.contexts, ensure_ascii=False) if item.contexts else "[]"
    flags = ",".join(sorted(item.flags)) if item.flags else ""
    return (
        item_id, item.external_id, 1, item.content_id, item.input, item.output, item.reference, contexts,
        item.conversation_id, item.user_id, cluster_id, item.answered_utc, answered_day, item.model, flags,
        sample_key(item_id),
    )  # fmt: skip
