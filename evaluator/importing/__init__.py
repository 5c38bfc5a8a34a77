"""Takes files of answers into the store: all of them whole, or nothing; the same file twice adds nothing.

Rows are read once and staged by the store as they come; a reject anywhere keeps everything out, unless rejects are to
be skipped. Memory does not grow with the files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from evaluator.importing.building import open_or_build
from evaluator.importing.file_set import FileReport, FilesRead, KeptOutError, RejectLog
from evaluator.importing.files import MOST_VALUES, FilesReader, Reading, count_rejects
from evaluator.importing.preview import preview
from evaluator.importing.redacting import redaction_text
from evaluator.store import read, write
from evaluator.store.db import check_zone, open_reader
from evaluator.store.look_ahead import untouched

__all__ = ["MOST_VALUES", "FileReport", "ImportReport", "Reading", "RejectLog", "import_files"]


@dataclass(frozen=True, kw_only=True)
class ImportReport(FilesRead):
    """What came of an import.

    Attributes:
        files: What each file held; empty when one of them could not be read to its end.
        stored: Whether the answers are in the store; False after a dry run, where rejects kept them out, and where
            there are none.
        n_answers: Readable answers of all files.
        n_empty: Of these, answers without any text; they are kept.
        n_ahead: Of these, answers of a time more than a day ahead of the clock.
        created: Whether the database was made for it.
        zone: Zone of the store's days.
        n_new, n_known, n_versions: Added; there already; of the added, those under a known id with another text.
        version_ids: Outside ids of the first of these.
        n_completed: Of those there already, those that had come with a stored score and got the facts of the rows.
        n_without_time: Of the added, those that no day can count.
        first_day, last_day: Days of the answers in the files.
        tags: Number of values by tag, commonest tags first; ``MOST_VALUES`` stands for that many or more.
        same_tags: Tags of stored scores that were taken out, each with the tag of the traffic that says the same.
    """

    stored: bool
    created: bool
    zone: str
    n_answers: int
    n_empty: int
    n_ahead: int
    n_new: int
    n_known: int
    n_versions: int
    version_ids: tuple[str, ...]
    n_without_time: int
    first_day: str | None
    last_day: str | None
    tags: Mapping[str, int]
    n_completed: int = 0
    same_tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def redaction(self) -> str:
        """What was taken out before anything was written, in words; empty when there was nothing."""
        found = sum((Counter(file.redacted) for file in self.files), Counter())
        return redaction_text(found, sum(file.n_redacted for file in self.files))


def import_files(
    store_path: Path,
    paths: Sequence[Path],
    *,
    app: str,
    now: datetime,
    day_zone: str | None = None,
    naive_zone: str = "UTC",
    reading: Reading | None = None,
    rejects: RejectLog | None = None,
    skip_bad: bool = False,
    dry_run: bool = False,
    segment_keys: Sequence[tuple[str, str]] | None = None,
) -> ImportReport:
    """Store the answers of files: all of them, or none.

    Where answers are completed that had come with stored scores, the analyses of their scores are made anew.

    Args:
        store_path: The database; made, with its folder, when it is missing and there is something to store.
        paths: The files.
        app: The app the answers belong to.
        now: Wall clock.
        day_zone: Zone of the days of a new database, UTC when None; an existing database must agree with it.
        naive_zone: Zone of times that name none.
        reading: How the files are read otherwise; its own zone of naive times wins.
        rejects: Receives the rows that cannot be used; without it they are only counted.
        skip_bad: Store what can be read although some rows cannot.
        dry_run: Only look: count what would be added, write nothing.
        segment_keys: The configured ones, as in ``rollup.choose_segment_keys``.

    Raises:
        DataFileError: a file cannot be used as a whole, or changed while it was read; nothing is stored.
        StoreError: the database cannot be used; nothing is stored.
        UsageError: an unknown zone, or another zone than that of the database.
    """
    zone = check_zone(day_zone or "UTC")
    reading = reading or Reading(naive_zone=naive_zone)
    with RejectLog() if rejects is None else nullcontext(rejects) as log:
        reader = FilesReader(paths, app, reading, log, skip_bad=skip_bad, now=now)
        if dry_run:
            with _to_look_at(store_path) as path:
                counts, zone = preview(reader, path, app, zone)
            return _report(reader, counts, zone, created=False, stored=False)
        report = _store(
            reader, store_path, paths, app=app, day_zone=day_zone, now=now, reading=reading, segment_keys=segment_keys
        )
    if report.n_completed:
        analyse_anew(store_path, app, now)
    return report


def _to_look_at(store_path: Path) -> AbstractContextManager[Path]:
    return untouched(store_path) if store_path.exists() else nullcontext(store_path)


def _store(
    reader: FilesReader,
    store_path: Path,
    paths: Sequence[Path],
    *,
    app: str,
    day_zone: str | None,
    now: datetime,
    reading: Reading,
    segment_keys: Sequence[tuple[str, str]] | None,
) -> ImportReport:
    created = not store_path.exists()
    zone, counts = check_zone(day_zone or "UTC"), None
    try:
        with open_or_build(store_path, day_zone) as store:
            zone = store.zone
            counts = write.import_answers(
                store,
                app=app,
                answers=reader.answers(),
                path=", ".join(map(str, paths)),
                file_sha256=reader.file_set.sha256,
                # wanted before the rows are read; only where there may be some is it worth another reading
                n_rejected=count_rejects(paths, reading) if reader.file_set.skip_bad else 0,
                now=now,
                segment_keys=segment_keys,
            )
    except KeptOutError:
        created = False
    return _report(reader, counts, zone, created=created, stored=counts is not None)


def _report(
    reader: FilesReader, counts: write.ImportCounts | None, zone: ZoneInfo, *, created: bool, stored: bool
) -> ImportReport:
    first_day, last_day = reader.days(zone)
    return ImportReport(
        files=tuple(reader.files),
        stored=stored,
        created=created,
        zone=zone.key,
        n_answers=reader.n_answers,
        n_empty=reader.n_empty,
        n_ahead=reader.n_ahead,
        n_new=counts.n_new if counts else 0,
        n_known=counts.n_known if counts else 0,
        n_versions=counts.n_versions if counts else 0,
        version_ids=counts.version_ids if counts else (),
        n_without_time=counts.n_without_time if counts else 0,
        first_day=first_day,
        last_day=last_day,
        tags=reader.tags(),
        n_completed=counts.n_completed if counts else 0,
        same_tags=dict(counts.same_tags) if counts else {},
    )


def analyse_anew(store_path: Path, app: str, now: datetime, *, only_imported: bool = False) -> list[str]:
    """Make the stored analyses of an app again, by their own settings: facts of graded answers have changed.

    Args:
        store_path: The database.
        app: The app.
        now: Wall clock.
        only_imported: Leave out what the configured judges have graded.

    Returns:
        The ids of the judge setups.

    Raises:
        StoreError: the database cannot be used.
    """
    from evaluator.analysis import analyse_and_store
    from evaluator.analysis.settings import settings_from

    with open_reader(store_path) as store:
        newest = {
            ruler["ruler_id"]: read.newest_analysis(
                store, app=app, ruler_id=ruler["ruler_id"], criterion=ruler["criterion"]
            )
            for ruler in read.rulers(store, app)
        }
    known = {
        ruler_id: row["payload"]["settings"]
        for ruler_id, row in newest.items()
        if row is not None and (row["payload"].get("imported") or not only_imported)
    }
    for ruler_id, settings in known.items():
        decided = settings_from(settings)
        analyse_and_store(store_path, app=app, ruler_id=ruler_id, settings=decided, now=now)
    return list(known)
