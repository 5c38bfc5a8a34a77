"""Reads files of answers one after the other for the store, notes their rejects, and counts what they hold.

What a row means is the importers' business; what becomes of it is ``evaluator.importing``'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from evaluator.clock import day_of, parse_utc, utc_text
from evaluator.identity import base_item_id
from evaluator.importers import Reject, iter_items
from evaluator.importing.file_set import FileReport, FileSet, KeptOutError, RejectLog, Stop, never, refuse_flood
from evaluator.importing.redacting import RedactedStream
from evaluator.records import Item, ItemFlag
from evaluator.redaction import Redactor

MOST_VALUES = 200  # values of a tag that are told apart, as in the store's choice of segments
_AHEAD = timedelta(days=1)  # clocks and zones may differ by less
_SECONDS = len("2026-03-01T09:00:00")

Answer = tuple[str, Item]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How files are read, see ``evaluator.importers.iter_items``, and what is taken out of them on the way.

    ``stop`` tells whether to give up; then nothing of the files is taken in.
    """

    format: str | None = None
    field_map: Mapping[str, str] = field(default_factory=dict)
    naive_zone: str = "UTC"
    time_format: str | None = None
    default_answered_utc: str | None = None
    encoding: str = "utf-8"
    redactor: Redactor | None = None
    stop: Stop = never

    def stream(self, path: Path) -> RedactedStream:
        """Return the rows of a file as items and rejects.

        Raises:
            UsageError: a setting that cannot be used.
            DataFileError: the file as a whole cannot be read.
        """
        stream = iter_items(
            path,
            format=self.format,
            naive_zone=self.naive_zone,
            field_map=self.field_map,
            time_format=self.time_format,
            default_answered_utc=self.default_answered_utc,
            encoding=self.encoding,
        )
        return RedactedStream(stream, self.redactor)


class FilesReader:
    """Reads files as answers, and counts what it sees.

    Args:
        paths: The files.
        app: The app the answers belong to.
        reading: How the files are read.
        rejects: Receives the rows that cannot be used.
        skip_bad: Whether readable rows count although there are rejects.
        now: Wall clock, to notice times that lie ahead of it.

    Raises:
        DataFileError: a file cannot be read.
    """

    def __init__(
        self, paths: Sequence[Path], app: str, reading: Reading, rejects: RejectLog, *, skip_bad: bool, now: datetime
    ) -> None:
        self.file_set = FileSet(paths, rejects, skip_bad=skip_bad, stop=reading.stop)
        self._app = app
        self._reading = reading
        self.files: list[FileReport] = []
        self.n_answers = 0
        self.n_empty = 0
        self.n_ahead = 0
        self.n_without_time = 0
        self._ahead_of = utc_text(now + _AHEAD)[:_SECONDS]
        self._first: str | None = None
        self._last: str | None = None
        self._tag_rows: dict[str, int] = {}
        self._tag_values: dict[str, set[str]] = {}

    def answers(self) -> Iterator[Answer]:
        """Yield (item id, item) for each readable row; after a reject that keeps everything out, nothing more.

        Raises:
            DataFileError: a file cannot be used, or changed since this reader was made.
            KeptOutError: at the end, when a reject keeps everything out, or there is nothing to store.
        """
        for path in self.file_set.paths:
            yield from self._answers_of(path)
        if self.file_set.keeps_out or not self.n_answers:
            raise KeptOutError

    def _answers_of(self, path: Path) -> Iterator[Answer]:
        stream = self._reading.stream(path)
        for entry in self.file_set.watched(path, stream):
            if isinstance(entry, Reject):
                self.file_set.reject(path, entry, n_usable=self.n_answers)
                continue
            self._count(entry.item)
            if not self.file_set.keeps_out:
                yield base_item_id(self._app, entry.item, entry.ordinal), entry.item
        self.file_set.check_unchanged(path)
        self.files.append(
            FileReport(
                path=str(path),
                n_rows=stream.n_rows,
                n_blank=stream.n_blank,
                n_rejected=stream.n_rejected,
                notes=stream.notes,
                n_redacted=stream.n_redacted,
                redacted=dict(stream.found),
            )
        )

    def _count(self, item: Item) -> None:
        self.n_answers += 1
        self.n_empty += ItemFlag.EMPTY_OUTPUT in item.flags
        answered = item.answered_utc
        if answered is None:
            self.n_without_time += 1
        else:
            self.n_ahead += answered[:_SECONDS] > self._ahead_of
            if self._first is None or answered < self._first:
                self._first = answered
            if self._last is None or answered > self._last:
                self._last = answered
        for key, value in item.tags.items():
            self._tag_rows[key] = self._tag_rows.get(key, 0) + 1
            values = self._tag_values.setdefault(key, set())
            if len(values) < MOST_VALUES:
                values.add(value)

    def days(self, zone: ZoneInfo) -> tuple[str | None, str | None]:
        """First and last day of the answers read so far."""
        return _day(self._first, zone), _day(self._last, zone)

    def tags(self) -> dict[str, int]:
        """Number of values by tag, commonest tags first; ``MOST_VALUES`` stands for that many or more."""
        names = sorted(self._tag_rows, key=lambda name: (-self._tag_rows[name], name))
        return {name: len(self._tag_values[name]) for name in names}


def count_rejects(paths: Sequence[Path], reading: Reading) -> int:
    """Return how many rows of the files cannot be used.

    Raises:
        DataFileError: a file as a whole cannot be used.
    """
    n_bad = n_usable = 0
    for path in paths:
        for entry in reading.stream(path):
            if isinstance(entry, Reject):
                n_bad += 1
                refuse_flood(path, n_bad=n_bad, n_usable=n_usable)
            else:
                n_usable += 1
    return n_bad


def _day(moment: str | None, zone: ZoneInfo) -> str | None:
    return None if moment is None else day_of(parse_utc(moment), zone).isoformat()
