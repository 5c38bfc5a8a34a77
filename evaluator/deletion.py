"""Deletes a person's answers from the database, and tells what other files still hold.

One use case of ``store.write.deletions``: it finds the rows, keeps scorers away, deletes, makes the bytes go, and looks
where copies may be. Files that judgewatch did not write, or wrote where it was told to, are named, not changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from evaluator.errors import UsageError
from evaluator.identity import base_item_id
from evaluator.records import Item, Source
from evaluator.scoring.holder import holder_name, is_dead
from evaluator.store import locks, read, write
from evaluator.store.db import Store, open_reader, open_store

_OTHER_SUFFIXES = (".db", ".sqlite", ".sqlite3", ".bak", ".backup")
_SQLITE_START = b"SQLite format 3\x00"
_SPOOL_PATTERN = "*.jsonl"


@dataclass(frozen=True, kw_only=True)
class Whose:
    """Whose answers: exactly one of the start of an item's id, an id in the user's own system, a user's id."""

    item_id: str | None = None
    external_id: str | None = None
    user_id: str | None = None

    def __post_init__(self) -> None:
        if [bool(part) for part in (self.item_id, self.external_id, self.user_id)].count(True) != 1:
            raise UsageError("name one of --id, --external-id and --user")

    @property
    def ids(self) -> frozenset[str]:
        """The ids of the user's own system that were named."""
        return frozenset(part for part in (self.external_id, self.user_id) if part)


@dataclass(frozen=True, kw_only=True)
class KeptAnchor:
    """An anchor with the texts of a deleted answer: they stay in the database and in the file of its set."""

    item_id: str
    anchor_id: str
    set_name: str


@dataclass(frozen=True, kw_only=True)
class DeletionReport:
    """What was deleted, or would be.

    Attributes:
        n_items: Answers deleted, copies and versions included.
        was_deleted: Whether nothing is left because it was deleted before.
        is_clean: Whether the database and its log hold none of the bytes; None after a dry run.
        anchors: Anchors that keep the texts.
        n_waiting: Recorded answers of that person that wait in the spool folder.
        databases: Other databases beside this one, copies maybe, that were not touched.
        tagged: Tags whose value is the named id, with the number of answers that carry them: these came in without the
            word that the column is a person's, and are not deleted by it.
    """

    n_items: int
    was_deleted: bool
    is_clean: bool | None
    anchors: tuple[KeptAnchor, ...] = ()
    n_waiting: int = 0
    databases: tuple[str, ...] = field(default=())
    tagged: tuple[tuple[str, int], ...] = ()


def plan_deletion(path: Path, app: str, whose: Whose, *, spool: Path | None) -> DeletionReport:
    """Tell what would be deleted; writes nothing.

    Raises:
        UsageError: nothing fits, several fit, or it is an anchor in use.
        StoreError: the database cannot be used.
    """
    with open_reader(path) as store:
        found = _find(store, app, whose)
        report = _report(store, app, found, path=path, spool=spool, is_clean=None)
        return replace(report, tagged=_tagged(store, app, whose))


def delete_answers(
    path: Path, app: str, whose: Whose, *, by_whom: str, now: datetime, spool: Path | None
) -> DeletionReport:
    """Delete answers for good, and make the bytes go from database and log.

    What was deleted before is only made to go once more, for when a page was in the way of that.

    Raises:
        LeaseHeldError: a scorer works on the database; it holds texts in memory and would write them again.
        UsageError: nothing fits, several fit, or it is an anchor in use.
        StoreError: the database cannot be written.
    """
    with open_store(path, create=False) as store, _alone(store, app, now):
        found = _find(store, app, whose)
        before = _report(store, app, found, path=path, spool=spool, is_clean=None)
        write.delete_items(store, app=app, item_ids=found.item_ids, by_whom=by_whom, now=now)
        tagged = _tagged(store, app, whose)
        is_clean = write.scrub(store)
    return DeletionReport(
        n_items=before.n_items,
        was_deleted=before.was_deleted,
        is_clean=is_clean,
        anchors=before.anchors,
        n_waiting=before.n_waiting,
        databases=before.databases,
        tagged=tagged,
    )


@dataclass(frozen=True, kw_only=True)
class _Found:
    """Items to delete, the hashes of their texts, and the ids that stand for their persons in files."""

    item_ids: tuple[str, ...]
    content_ids: frozenset[str]
    names: frozenset[str]


def _find(store: Store, app: str, whose: Whose) -> _Found:
    if whose.item_id is not None:
        rows = _rows_of_item(store, app, whose.item_id)
    elif whose.external_id is not None:
        rows = read.items_of_own_id(store, app, whose.external_id)
    else:
        rows = read.items_of_user(store, app, whose.user_id or "")
    if not rows and not _was_deleted(store, app, whose):
        tagged = _tagged(store, app, whose)
        where = f"; {tagged_text(tagged)}" if tagged else " (`judgewatch items list` shows ids)"
        raise UsageError(f"app {app!r} has no such answer; nothing was deleted{where}")
    copies = [copy for row in rows for copy in read.copies_of_content(store, app, row["content_id"])]
    return _Found(
        item_ids=tuple(dict.fromkeys(row["item_id"] for row in (*rows, *copies))),
        content_ids=frozenset(row["content_id"] for row in rows),
        names=whose.ids | {row["external_id"] for row in rows if row["external_id"]},
    )


def _tagged(store: Store, app: str, whose: Whose) -> tuple[tuple[str, int], ...]:
    return tuple(each for name in sorted(whose.ids) for each in read.tagged_with(store, app, name))


def tagged_text(tagged: Sequence[tuple[str, int]]) -> str:
    """That answers carry the named id as a tag, and what to do about it."""
    parts = " and ".join(f"{n:,} as {key}" for key, n in tagged)
    return (
        f"answers carry it as a tag ({parts}): they were imported without the word that this column names a person or"
        " an answer (--field user_id=COLUMN, or id=COLUMN); delete each with --id"
    )


def _rows_of_item(store: Store, app: str, start: str) -> list[read.Row]:
    """The one item whose id begins so, with the other versions of its outside id; none when it was deleted before."""
    ids = [item_id for item_id in read.find_item_ids(store, app, start) if item_id.startswith(start)]
    if len(ids) > 1:
        raise UsageError(f"{start!r} fits several items: {', '.join(ids)}; give more of the id")
    row = read.item_to_delete(store, ids[0]) if ids else None
    if row is None or row["deleted_utc"] is not None:
        return []
    if row["source"] == Source.ANCHOR and read.is_anchor_in_use(store, app, row["item_id"]):
        raise UsageError(
            f"{start!r} is an anchor that every run grades; take it out of its anchor set, run once, then delete it"
        )
    own_id = row["external_id"]
    versions = [] if own_id is None or row["source"] == Source.ANCHOR else read.items_of_own_id(store, app, own_id)
    return [row, *(version for version in versions if version["item_id"] != row["item_id"])]


def _was_deleted(store: Store, app: str, whose: Whose) -> bool:
    """Whether this was deleted before; of a user nothing is left that could tell, so any deletion will do."""
    if whose.user_id is not None:
        return read.count_deletions(store, app) > 0
    if whose.external_id is not None:
        ids = [base_item_id(app, Item(input="", output="", external_id=whose.external_id))]
    else:
        ids = read.find_item_ids(store, app, whose.item_id or "")
    rows = [read.item_to_delete(store, item_id) for item_id in ids]
    return any(row is not None and row["deleted_utc"] is not None for row in rows)


def _report(
    store: Store, app: str, found: _Found, *, path: Path, spool: Path | None, is_clean: bool | None
) -> DeletionReport:
    anchors = {
        row["item_id"]: KeptAnchor(item_id=row["item_id"], anchor_id=row["anchor_id"], set_name=row["set_name"])
        for content_id in sorted(found.content_ids)
        for row in read.anchors_of_content(store, app, content_id)
        if row["item_id"] not in found.item_ids
    }
    return DeletionReport(
        n_items=len(found.item_ids),
        was_deleted=not found.item_ids,
        is_clean=is_clean,
        anchors=tuple(anchors.values()),
        n_waiting=0 if spool is None else count_recorded(spool, found.names),
        databases=tuple(other_databases(path)),
    )


def count_recorded(folder: Path, names: Iterable[str]) -> int:
    """How many recorded answers that wait in a spool folder name one of these ids; files set aside count too."""
    wanted = set(names)
    n = 0
    for path in sorted(folder.glob(_SPOOL_PATTERN)) if wanted and folder.is_dir() else ():
        try:
            with path.open(encoding="utf-8", errors="replace") as lines:
                n += sum(_names_one(line, wanted) for line in lines)
        except FileNotFoundError:  # taken over meanwhile
            continue
    return n


def _names_one(line: str, wanted: set[str]) -> bool:
    try:
        row = json.loads(line)
    except ValueError:
        return any(name in line for name in wanted)
    return isinstance(row, dict) and any(isinstance(value, str) and value in wanted for value in row.values())


def other_databases(path: Path) -> Sequence[str]:
    """SQLite files that lie beside a database, by name: copies of it may be among them."""
    return sorted(str(other) for other in path.absolute().parent.iterdir() if _is_other_database(other, path))


def _is_other_database(other: Path, path: Path) -> bool:
    if other.suffix.lower() not in _OTHER_SUFFIXES or not other.is_file() or other.samefile(path):
        return False
    try:
        with other.open("rb") as file:
            return file.read(len(_SQLITE_START)) == _SQLITE_START
    except OSError:
        return False


@contextmanager
def _alone(store: Store, app: str, now: datetime) -> Iterator[None]:
    """Hold the scorer's lease of the app."""
    lease = locks.acquire_lease(
        store, app=app, holder=f"{holder_name()}:delete", what="items delete", now=now, is_dead=is_dead
    )
    try:
        yield
    finally:
        locks.release_lease(store, lease)
