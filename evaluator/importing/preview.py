"""Counts what an import would do to the store, by the rule in ``evaluator.identity`` and without writing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from zoneinfo import ZoneInfo

from evaluator.identity import versioned_item_id
from evaluator.importing.files import Answer, FilesReader, KeptOutError
from evaluator.records import Item
from evaluator.store import read
from evaluator.store.db import open_reader
from evaluator.store.write import ImportCounts

VERSIONS_NAMED = 20
_LOOK_UP = 500

LookUp = Callable[[Sequence[str]], Mapping[str, Item]]


def preview(reader: FilesReader, store_path: Path, app: str, zone: ZoneInfo) -> tuple[ImportCounts | None, ZoneInfo]:
    """Count what storing the answers would do.

    Args:
        reader: The files.
        store_path: The database, which may be missing.
        app: The app the answers belong to.
        zone: Zone of the days if the database is missing.

    Returns:
        The counts, None when rejects would keep everything out; and the zone of the store's days.

    Raises:
        DataFileError: a file cannot be used.
        StoreError: the database cannot be used.
    """
    if not store_path.exists():
        return _Overview(app, lambda _: {}).count(reader), zone
    with open_reader(store_path) as store:
        return _Overview(app, lambda ids: read.load_items(store, ids)).count(reader), store.zone


class _Overview:
    """Follows the store's decision for each answer. Remembers two numbers for each that would be added."""

    def __init__(self, app: str, look_up: LookUp) -> None:
        self._app = app
        self._look_up = look_up
        self._added: dict[int, int] = {}
        self._n_known = 0
        self._n_versions = 0
        self._version_ids: list[str] = []

    def count(self, reader: FilesReader) -> ImportCounts | None:
        """Read all answers; None when rejects would keep them out."""
        try:
            for chunk in _chunks(reader.answers()):
                there = self._look_up([item_id for item_id, _ in chunk])
                for item_id, item in chunk:
                    self._take(item_id, item, there.get(item_id))
        except KeptOutError:
            return None
        return ImportCounts(
            n_new=len(self._added),
            n_known=self._n_known,
            n_versions=self._n_versions,
            version_ids=tuple(self._version_ids[:VERSIONS_NAMED]),
            first_day=None,
            last_day=None,
            n_without_time=reader.n_without_time,
        )

    def _take(self, item_id: str, item: Item, there: Item | None) -> None:
        content = _short(item.content_id)
        first = self._added.get(_short(item_id)) if there is None else _short(there.content_id)
        if first is None:
            self._added[_short(item_id)] = content
        elif first == content:
            self._n_known += 1
        else:
            self._take_version(versioned_item_id(self._app, item.external_id or "", item.content_id), item, content)

    def _take_version(self, version_id: str, item: Item, content: int) -> None:
        if _short(version_id) in self._added or self._look_up([version_id]):
            self._n_known += 1
            return
        self._added[_short(version_id)] = content
        self._n_versions += 1
        if len(self._version_ids) < VERSIONS_NAMED:
            self._version_ids.append(str(item.external_id))


def _short(digits: str) -> int:
    """The first half of a hash, as a number: a million of them must not fill the memory."""
    return int(digits[:16], 16)


def _chunks(answers: Iterable[Answer]) -> Iterator[list[Answer]]:
    chunk: list[Answer] = []
    for answer in answers:
        chunk.append(answer)
        if len(chunk) == _LOOK_UP:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
