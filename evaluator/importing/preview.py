"""Counts what an import would do to the store, by the rule in ``evaluator.identity`` and without writing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from zoneinfo import ZoneInfo

from evaluator.identity import versioned_item_id
from evaluator.importing.file_set import KeptOutError
from evaluator.importing.files import Answer, FilesReader
from evaluator.records import Item
from evaluator.store import read
from evaluator.store.db import open_reader
from evaluator.store.write import ImportCounts

VERSIONS_NAMED = 20
_LOOK_UP = 500

LookUp = Callable[[Sequence[str]], Mapping[str, str | None]]  # hash of the texts; None for what was deleted


def preview(reader: FilesReader, store_path: Path, app: str, zone: ZoneInfo) -> tuple[ImportCounts | None, ZoneInfo]:
    """Count what storing the answers would do.

    Answers that came with scores count as completed by the first row of their id or texts; where the file has several
    texts under one id, or the same texts several times, storing may complete fewer.

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
        overview = _Overview(
            app,
            lambda ids: read.stored_contents(store, ids),
            from_scores=lambda ids: read.known_from_scores(store, ids),
            texts=lambda: read.texts_without_id(store, app),
        )
        return overview.count(reader), store.zone


class _Overview:
    """Follows the store's decision for each answer. Remembers two numbers for each that would be added."""

    def __init__(
        self,
        app: str,
        look_up: LookUp,
        *,
        from_scores: Callable[[Sequence[str]], set[str]] = lambda _: set(),
        texts: Callable[[], read.KnownTexts] = read.KnownTexts,
    ) -> None:
        self._app = app
        self._look_up = look_up
        self._from_scores = from_scores
        self._texts = texts
        self._by_texts: read.KnownTexts | None = None
        self._completed: dict[str, str] = {}
        self._added: dict[int, int] = {}
        self._n_known = 0
        self._n_versions = 0
        self._version_ids: list[str] = []

    def count(self, reader: FilesReader) -> ImportCounts | None:
        """Read all answers; None when rejects would keep them out."""
        try:
            for chunk in _chunks(reader.answers()):
                ids = [item_id for item_id, _ in chunk]
                there, from_scores = self._look_up(ids), self._from_scores(ids)
                for item_id, item in chunk:
                    is_there = item_id in there
                    if self._completes(item_id, item, is_there=is_there, from_scores=from_scores) or (
                        self._is_known_by_texts(item)
                        if not is_there
                        else there[item_id] is None  # deleted, and not brought back
                    ):
                        self._n_known += 1
                    else:
                        self._take(item_id, item, self._completed.get(item_id, there.get(item_id)))
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
            n_completed=len(self._completed),
        )

    def _completes(self, item_id: str, item: Item, *, is_there: bool, from_scores: set[str]) -> bool:
        """Whether a row is the first of an answer that came with scores; what comes after it is compared with it."""
        if item_id in self._completed:
            return False
        found = item_id in from_scores if is_there else self._completes_texts(item)
        if found:
            self._completed[item_id] = item.content_id
        return found

    def _completes_texts(self, item: Item) -> bool:
        """Whether a row without an id is of the one answer with its texts, which it is only once."""
        if item.external_id is not None or item.content_id not in self._without_id().from_scores:
            return False
        self._without_id().from_scores.discard(item.content_id)
        return True

    def _is_known_by_texts(self, item: Item) -> bool:
        return item.external_id is None and (item.content_id, item.answered_utc) in self._without_id().completed

    def _without_id(self) -> read.KnownTexts:
        if self._by_texts is None:
            self._by_texts = self._texts()
        return self._by_texts

    def _take(self, item_id: str, item: Item, there: str | None) -> None:
        content = _short(item.content_id)
        first = self._added.get(_short(item_id)) if there is None else _short(there)
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
