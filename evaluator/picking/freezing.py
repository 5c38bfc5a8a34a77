"""Turns accepted answers into an anchor set: a file beside the configuration, without a score in it.

An anchor carries its texts and the tags that answers are broken down by; no id of a user, a conversation or a record.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from evaluator.anchor_sets import load_anchors, save_anchors
from evaluator.clock import day_of, parse_utc
from evaluator.errors import UsageError
from evaluator.picking.candidates import LEAST_ANCHORS
from evaluator.picking.pick import Pick
from evaluator.picking.review import ReviewItem
from evaluator.records import Anchor, Item, Rubric
from evaluator.store import read, write
from evaluator.store.db import Store


@dataclass(frozen=True, kw_only=True)
class FrozenSet:
    """A set that was written. ``is_new`` is False when the same file was there already."""

    path: Path
    n_anchors: int
    n_flagged: int
    n_flips: int
    is_new: bool


def set_file_name(name: str) -> str:
    """The file of a picked set, and what ``[anchors] set`` is to say."""
    return f"anchors-{name}.jsonl"


def tag_keys(store: Store, app: str, configured: Sequence[tuple[str, str]] | None) -> frozenset[str] | None:
    """The tag keys that answers are broken down by; None (all of them) while that is not known."""
    keys = read.segment_keys(store, app) if configured is None else configured
    return None if configured is None and not keys else frozenset(key for pair in keys for key in pair if key)


def make_anchors(store: Store, items: Sequence[ReviewItem], keys: Collection[str] | None) -> list[Anchor]:
    """Accepted answers as anchors, in order. Their ids are hashes of the texts; no score is taken along."""
    return [
        Anchor(
            anchor_id=f"own-{item.item.content_id[:12]}",
            item=Item(
                input=item.item.input,
                output=item.item.output,
                reference=item.item.reference,
                contexts=item.item.contexts,
                tags={key: value for key, value in item.tags.items() if keys is None or key in keys},
            ),
            expected_score=None,
            why=_why(store, item.item),
        )
        for item in items
        if item.decision == "yes"
    ]


def _why(store: Store, item: Item) -> str:
    if item.answered_utc is None:
        return "picked from traffic"
    return f"picked from traffic of {day_of(parse_utc(item.answered_utc), store.zone).isoformat()}"


def freeze_pick(
    store: Store,
    pick: Pick,
    items: Sequence[ReviewItem],
    *,
    folder: Path,
    rubric: Rubric,
    keys: Collection[str] | None,
    now: datetime,
    force: bool = False,
) -> FrozenSet:
    """Write the accepted answers of a pick as an anchor set, whole or not at all, and note that it was done.

    Args:
        store: A writable store.
        pick: The pick.
        items: Its review.
        folder: Where the set belongs: beside the configuration.
        rubric: The rubric it will be graded by.
        keys: Tag keys that anchors keep; None for all.
        now: Wall clock.
        force: Whether a file of that name with other anchors may be replaced.

    Raises:
        UsageError: too few are accepted, or a file with other anchors is there.
        JudgewatchError: the file cannot be written.
    """
    anchors = make_anchors(store, items, keys)
    if len(anchors) < LEAST_ANCHORS:
        n_open = sum(item.decision is None for item in items)
        raise UsageError(
            f"{len(anchors)} of {len(items)} picked answers are accepted ({n_open} undecided); an anchor set needs at"
            f" least {LEAST_ANCHORS}: a mean of fewer jumps more than a judge drifts"
        )
    path = folder / set_file_name(pick.request.name)
    is_new = save_anchors(anchors, path, force=force)
    load_anchors(path.name, rubric, folder=folder)  # what was written is what a run will read
    write.note_frozen(store, pick.pick_id, now=now)
    accepted = [item for item in items if item.decision == "yes"]
    return FrozenSet(
        path=path,
        n_anchors=len(anchors),
        n_flagged=sum(bool(item.flags) for item in accepted),
        n_flips=sum(item.flipped for item in accepted),
        is_new=is_new,
    )
