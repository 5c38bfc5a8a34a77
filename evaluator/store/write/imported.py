"""Writes scores that somebody else's judge gave: the answers and their verdicts, all of a file or nothing.

Both are staged in the temporary database while the file is read, so memory does not grow with it. A scored verdict is
final: another score for the same answer by the same judge is counted and left out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from evaluator.clock import day_of, parse_utc
from evaluator.identity import versioned_item_id
from evaluator.records import Item, ItemFlag, Ruler
from evaluator.store import rollup
from evaluator.store.db import Store
from evaluator.store.write.answers import ImportCounts, drop_staged, stage_answers, take_staged
from evaluator.store.write.imported_rows import (
    EMPTY_CONTENT,
    PairCounts,
    choose,
    compare,
    find_items,
    refuse_contradictions,
    register_pairs,
    settle_bare,
    write_chosen,
)
from evaluator.store.write.verdicts import bounded

_BATCH = 5_000
_MINUTES_KEPT = 20_000
_TABLES = ("staged_verdicts", "chosen", "staged_runs", "pairs")


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedScore:
    """One score with its answer. ``pair`` is the number of its judge and criterion; ``score`` or ``reason`` is set."""

    item_id: str
    item: Item
    pair: int
    score: float | None
    reason: str | None
    detail: str
    graded_utc: str
    explanation: str


@dataclass(frozen=True, kw_only=True)
class ScoresTaken:
    """What an import did: the answers, and the verdicts by pair. ``n_bare`` answers were stored without any text."""

    answers: ImportCounts
    pairs: tuple[PairCounts, ...]
    n_bare: int


def stage_scores(store: Store, app: str, scores: Iterable[ImportedScore]) -> None:
    """Put scores and their answers into the temporary database; nothing is stored yet.

    Args:
        store: A writable store.
        app: The app the answers belong to.
        scores: Read once, never held in memory as a whole.

    Raises:
        StoreError: the temporary database cannot be written.
    """
    connection = store.connection
    _drop(connection)
    connection.execute(
        "CREATE TEMP TABLE staged_verdicts (row INTEGER PRIMARY KEY, base_id TEXT, version_id TEXT, content_id TEXT,"
        " is_bare INTEGER, item_id TEXT, pair INTEGER, score REAL, reason TEXT, detail TEXT, graded_utc TEXT,"
        " graded_day TEXT, explanation TEXT)"
    )
    stage_answers(store, _Splitter(connection, app, store.zone).answers(scores))


def take_scores(
    store: Store,
    *,
    app: str,
    rulers: Sequence[Ruler | None],
    path: str,
    file_sha256: str,
    n_rejected: int,
    now: datetime,
    dry_run: bool = False,
) -> ScoresTaken:
    """Store what was staged, in one transaction; then bring the totals up to date.

    Args:
        store: The store that was staged in.
        app: The app the answers belong to.
        rulers: The judge setup of each pair; None leaves out a pair that never had a score.
        path: Name of the files, for the record.
        file_sha256: Hash of the files, for the record.
        n_rejected: Rows that were refused before, for the record.
        now: Wall clock.
        dry_run: Only count: everything is taken back at the end.

    Raises:
        DataFileError: an answer has two scores of one judge and one time; nothing is stored.
        StoreError: the database cannot be written; nothing is stored.
    """
    taken: list[ScoresTaken] = []
    with suppress(_TakenBackError), store.transaction() as connection:
        n_bare = settle_bare(connection)
        answers = take_staged(connection, app=app, path=path, file_sha256=file_sha256, n_rejected=n_rejected, now=now)
        find_items(connection)
        register_pairs(connection, app, rulers, now)
        choose(connection)
        refuse_contradictions(connection)
        counts = compare(connection, app, len(rulers))
        write_chosen(connection, store.zone, app, rulers, now)
        taken.append(ScoresTaken(answers=answers, pairs=counts, n_bare=n_bare))
        if dry_run:
            raise _TakenBackError
    return taken[0]


class _TakenBackError(Exception):
    """Ends a transaction that shall leave nothing behind."""


def finish_scores(store: Store, app: str, segment_keys: Sequence[tuple[str, str]] | None) -> None:
    """Bring the totals that pages read up to date with what was taken; doing it twice changes nothing."""
    drop_staged(store)
    _drop(store.connection)
    rollup.choose_segment_keys(store, app, segment_keys)
    with store.transaction() as connection:
        rollup.rebuild_stale(connection, app)


def _drop(connection: sqlite3.Connection) -> None:
    for table in _TABLES:
        connection.execute(f"DROP TABLE IF EXISTS temp.{table}")


# ---------------------------------------------------------------- staging


class _Splitter:
    """Takes scores apart: the answers go on to be staged, the verdicts are staged here."""

    def __init__(self, connection: sqlite3.Connection, app: str, zone: ZoneInfo) -> None:
        self._connection = connection
        self._app = app
        self._zone = zone
        self._rows: list[tuple[Any, ...]] = []
        self._days: dict[str, str] = {}

    def answers(self, scores: Iterable[ImportedScore]) -> Iterator[tuple[str, Item]]:
        """Yield each answer once for the scores of it that follow each other."""
        last: Item | None = None
        for score in scores:
            self._rows.append(self._row(score))
            if len(self._rows) >= _BATCH:
                self._flush()
            if score.item is not last:
                last = score.item
                # traffic that comes later under the same id knows more of the answer, and completes it
                yield score.item_id, replace(last, flags=last.flags | {ItemFlag.FROM_SCORES})
        self._flush()

    def _row(self, score: ImportedScore) -> tuple[Any, ...]:
        item = score.item
        content_id, external_id = item.content_id, item.external_id
        version_id = None if external_id is None else versioned_item_id(self._app, external_id, content_id)
        is_bare = external_id is not None and content_id == EMPTY_CONTENT
        return (
            score.item_id, version_id, content_id, int(is_bare), score.pair, score.score, score.reason, score.detail,
            score.graded_utc, self._day(score.graded_utc), bounded(score.explanation),
        )  # fmt: skip

    def _day(self, graded_utc: str) -> str:
        """Day of grading in the store's zone; whole minutes are looked up, since no zone shifts by less."""
        minute = graded_utc[:16]
        day = self._days.get(minute)
        if day is None:
            if len(self._days) >= _MINUTES_KEPT:
                self._days.clear()
            day = self._days[minute] = day_of(parse_utc(graded_utc), self._zone).isoformat()
        return day

    def _flush(self) -> None:
        connection = self._connection
        connection.execute("BEGIN")  # of the temporary database only: nobody is kept waiting
        try:
            connection.executemany(
                "INSERT INTO temp.staged_verdicts (base_id, version_id, content_id, is_bare, pair, score, reason,"
                " detail, graded_utc, graded_day, explanation) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                self._rows,
            )
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
        self._rows.clear()
