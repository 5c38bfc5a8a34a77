"""Files into the store: whole or not at all, once, with flat memory; and what applications recorded."""

from __future__ import annotations

import errno
import json
import os
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evaluator import spool
from evaluator.errors import DataFileError, JudgewatchError, StoreError, UsageError
from evaluator.importers import ItemStream
from evaluator.importing import MOST_VALUES, ImportReport, Reading, RejectLog, file_set, import_files
from evaluator.importing.files import Answer, FilesReader
from evaluator.importing.spooled import count_waiting, import_spooled
from evaluator.store import read
from evaluator.store.db import open_reader, open_store

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
APP = "shop"


def row(number: int, **fields: Any) -> dict[str, Any]:
    """One answer with an id."""
    return {
        "id": f"a{number}",
        "input": "Is it open?",
        "output": f"Yes, until {number}.",
        "answered_at": f"2026-03-0{number % 9 + 1}T10:00:00Z",
        **fields,
    }


def write_rows(path: Path, rows: list[Any]) -> Path:
    """JSON lines; a text stands as it is."""
    lines = [line if isinstance(line, str) else json.dumps(line) for line in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def take(db: Path, *paths: Path, **options: Any) -> ImportReport:
    """Import files with the usual options."""
    return import_files(db, paths, app=APP, now=NOW, **options)


def n_items(db: Path) -> int:
    """Items in a database."""
    with open_reader(db) as store:
        return int(read.counts(store, APP)["n_answers"])


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Where the database will be."""
    return tmp_path / "data" / "jw.db"


@pytest.mark.parametrize("with_ids", [True, False])
def test_time_can_be_given_later(db: Path, tmp_path: Path, *, with_ids: bool) -> None:
    """Answers imported without a time get one from a second import of the file, and are not doubled by it."""
    rows = [row(1), row(2), row(3, answered_at="2026-03-04T10:00:00Z")]
    for each in rows[:2]:
        del each["answered_at"]
    if not with_ids:
        for each in rows:
            del each["id"]
    path = write_rows(tmp_path / "a.jsonl", rows)
    assert take(db, path).n_without_time == 2
    again = take(db, path, reading=Reading(default_answered_utc="2026-03-02T08:00:00Z"))
    assert (again.n_new, again.n_known) == (0, 3)
    with open_reader(db) as store:
        assert read.answer_days(store, APP) == {"2026-03-02": 2, "2026-03-04": 1}
        assert read.counts(store, APP)["n_without_time"] == 0
    third = take(db, path, reading=Reading(default_answered_utc="2026-03-09T08:00:00Z"))
    assert third.n_new == 0
    with open_reader(db) as store:
        assert read.answer_days(store, APP) == {"2026-03-02": 2, "2026-03-04": 1}


# ---------------------------------------------------------------- whole or not at all


def test_report_tells_what_was_stored(db: Path, tmp_path: Path) -> None:
    """Counts, days and tags of two files together."""
    first = write_rows(tmp_path / "a.jsonl", [row(1, topic="x"), "", row(2, topic="y", language="en")])
    second = write_rows(tmp_path / "b.jsonl", [row(3, topic="x")])
    report = take(db, first, second)
    assert [(file.n_rows, file.n_blank, file.n_rejected) for file in report.files] == [(2, 1, 0), (1, 0, 0)]
    assert (report.stored, report.created, report.n_new, report.n_known) == (True, True, 3, 0)
    assert (report.first_day, report.last_day, report.zone) == ("2026-03-02", "2026-03-04", "UTC")
    assert dict(report.tags) == {"topic": 2, "language": 1}
    assert list(report.tags) == ["topic", "language"]
    assert n_items(db) == 3


def test_reject_in_the_last_file_keeps_out_all(db: Path, tmp_path: Path) -> None:
    """Nothing is stored, every file is read to its end, and no database appears."""
    good = write_rows(tmp_path / "a.jsonl", [row(1)])
    bad = write_rows(tmp_path / "b.jsonl", ["no json", row(2), "no json either"])
    with RejectLog() as rejects:
        report = take(db, good, bad, rejects=rejects)
        assert [(r["file"], r["line"]) for r in rejects.rows()] == [(str(bad), 1), (str(bad), 3)]
    assert (report.stored, report.created, report.n_new, report.n_rejected) == (False, False, 0, 2)
    assert not db.parent.exists()


def test_reject_leaves_an_existing_database_as_it_was(db: Path, tmp_path: Path) -> None:
    """The revision does not move: no page reads anew."""
    take(db, write_rows(tmp_path / "a.jsonl", [row(1)]))
    with open_reader(db) as store:
        revision = store.revision
    report = take(db, write_rows(tmp_path / "b.jsonl", [row(2), "no json"]))
    assert not report.stored
    with open_reader(db) as store:
        assert (store.revision, read.counts(store, APP)["n_answers"]) == (revision, 1)


def test_skip_bad_stores_the_rest_and_records_how_many_were_left(db: Path, tmp_path: Path) -> None:
    """The record of the import counts the rows that could not be used."""
    report = take(db, write_rows(tmp_path / "a.jsonl", [row(1), "no json", row(2)]), skip_bad=True)
    assert (report.stored, report.n_new, report.n_rejected) == (True, 2, 1)
    with open_reader(db) as store:
        found = store.connection.execute("SELECT n_rows, n_new, n_rejected FROM imports").fetchone()
    assert tuple(found) == (3, 2, 1)


def test_what_is_no_file_of_rows_is_given_up(db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that came in the place of answers is not read to its end; a file with many good rows is."""
    monkeypatch.setattr(file_set, "FLOOD", 50)
    flood = write_rows(tmp_path / "a.jsonl", [row(1), *["12:00 started"] * 1000, row(2)])
    for skip_bad in (True, False):
        with pytest.raises(DataFileError, match=r"a\.jsonl: 50 rows cannot be used and 1 can"):
            take(db, flood, skip_bad=skip_bad)
    assert not db.exists()
    mixed = write_rows(tmp_path / "b.jsonl", [entry for n in range(100) for entry in (row(n), "no json", "no json")])
    assert take(db, mixed, skip_bad=True).n_new == 100


def test_file_without_answers_stores_nothing_of_the_others(db: Path, tmp_path: Path) -> None:
    """A fault of a whole file is an error, not a list of rejects."""
    good = write_rows(tmp_path / "a.jsonl", [row(1)])
    with pytest.raises(DataFileError, match="no row has a field for the answer"):
        take(db, good, write_rows(tmp_path / "b.jsonl", [{"note": "x"}]))
    assert not db.parent.exists()


def test_file_that_changes_while_it_is_read_is_refused(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the old and half of the new file is neither."""
    path = write_rows(tmp_path / "a.jsonl", [row(1), row(2)])
    original = ItemStream.__iter__

    def appending(self: ItemStream) -> Iterator[Any]:
        yield from original(self)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row(3)) + "\n")

    monkeypatch.setattr(ItemStream, "__iter__", appending)
    with pytest.raises(DataFileError, match="changed while it was read"):
        take(db, path)
    assert not db.exists()


def test_same_size_and_time_do_not_hide_a_change(db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contents are compared, not the clock of the file system."""
    path = write_rows(tmp_path / "a.jsonl", [row(1)])
    stat = path.stat()
    original = ItemStream.__iter__

    def replacing(self: ItemStream) -> Iterator[Any]:
        yield from original(self)
        path.write_text(path.read_text("utf-8").replace("Yes", "Noo"), encoding="utf-8")
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    monkeypatch.setattr(ItemStream, "__iter__", replacing)
    with pytest.raises(DataFileError, match="changed"):
        take(db, path)


def test_disk_that_fills_up_leaves_nothing(db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The half-built database is removed."""
    from evaluator import importing

    def full(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(importing.write, "import_answers", full)
    with pytest.raises(StoreError, match="full"):
        take(db, write_rows(tmp_path / "a.jsonl", [row(1)]))
    assert not db.parent.exists()


def test_database_made_by_another_program_meanwhile_is_kept(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two first imports at once: one wins, the other says so, nothing is overwritten."""
    path = write_rows(tmp_path / "a.jsonl", [row(1)])
    original = FilesReader.answers

    def while_another_works(self: FilesReader) -> Iterator[Answer]:
        yield from original(self)
        open_store(db).close()

    monkeypatch.setattr(FilesReader, "answers", while_another_works)
    with pytest.raises(StoreError, match="meanwhile"):
        take(db, path)
    assert n_items(db) == 0
    monkeypatch.undo()
    assert take(db, path).n_new == 1


def test_file_system_without_links_is_served(db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rename does where hard links are unknown."""

    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    assert take(db, write_rows(tmp_path / "a.jsonl", [row(1)])).created
    assert n_items(db) == 1


def test_something_that_can_be_read_once_only_is_refused(db: Path, tmp_path: Path) -> None:
    """A pipe could not be checked afterwards."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(DataFileError, match="no ordinary file"):
        take(db, pipe)


def test_unknown_zone_is_refused_before_anything_is_read(db: Path, tmp_path: Path) -> None:
    """A mistyped zone makes no database."""
    with pytest.raises(UsageError, match="unknown zone"):
        take(db, tmp_path / "missing.jsonl", day_zone="Mars/Base")


# ---------------------------------------------------------------- once


def test_same_file_again_adds_nothing(db: Path, tmp_path: Path) -> None:
    """Also under another name, and where rows have no ids."""
    rows = [{"input": "q", "output": "Yes."}, {"input": "q", "output": "Yes."}, row(1)]
    assert take(db, write_rows(tmp_path / "a.jsonl", rows)).n_new == 3
    again = take(db, write_rows(tmp_path / "b.jsonl", rows))
    assert (again.n_new, again.n_known, again.created) == (0, 3, False)


def test_several_files_have_one_record_with_all_their_names(db: Path, tmp_path: Path) -> None:
    """One import, one row, a hash of all."""
    paths = [write_rows(tmp_path / f"{name}.jsonl", [row(place)]) for place, name in enumerate("ab")]
    take(db, *paths)
    with open_reader(db) as store:
        (found,) = store.connection.execute("SELECT path, n_new FROM imports").fetchall()
    assert tuple(found) == (f"{paths[0]}, {paths[1]}", 2)


# ---------------------------------------------------------------- dry run


def test_dry_run_counts_as_the_import_does(db: Path, tmp_path: Path) -> None:
    """New, known, versions, duplicates within the file, versions that are there already: the same numbers."""
    take(db, write_rows(tmp_path / "a.jsonl", [row(1), row(2), row(1, output="other")]))
    rows = [row(1), row(1, output="other"), row(2, output="corrected"), row(3), row(3), row(3, output="again")]
    path = write_rows(tmp_path / "b.jsonl", rows)
    looked = take(db, path, dry_run=True)
    assert (looked.stored, n_items(db)) == (False, 3)
    stored = take(db, path)
    names = ("n_new", "n_known", "n_versions", "version_ids", "first_day", "last_day", "tags", "files")
    assert {name: getattr(looked, name) for name in names} == {name: getattr(stored, name) for name in names}
    assert (stored.n_new, stored.n_known, stored.n_versions, stored.version_ids) == (3, 3, 2, ("a2", "a3"))


def test_dry_run_without_a_database_makes_none(db: Path, tmp_path: Path) -> None:
    """Not even the folder."""
    report = take(db, write_rows(tmp_path / "a.jsonl", [row(1), row(1)]), dry_run=True)
    assert (report.n_new, report.n_known) == (1, 1)
    assert not db.parent.exists()


def test_dry_run_with_rejects_counts_nothing(db: Path, tmp_path: Path) -> None:
    """What would be kept out is not announced."""
    report = take(db, write_rows(tmp_path / "a.jsonl", [row(1), "no json"]), dry_run=True)
    assert (report.n_new, report.n_rejected) == (0, 1)


# ---------------------------------------------------------------- memory


def test_memory_stays_flat(db: Path, tmp_path: Path) -> None:
    """Forty thousand rows of half a kilobyte, half of them bad, need no more than a few megabytes at any moment."""
    path = tmp_path / "a.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(20_000):
            file.write(json.dumps(row(number, answered_at="2026-03-01T10:00:00Z", output=f"{number} " * 60)) + "\n")
            file.write("no json " * 20 + "\n")
    assert path.stat().st_size > 9_000_000
    take(tmp_path / "warm.db", write_rows(tmp_path / "b.jsonl", [row(0)]))  # what is loaded once is not counted
    tracemalloc.start()
    with RejectLog() as rejects:
        take(db, path, rejects=rejects, skip_bad=True)
        assert rejects.n == 20_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n_items(db) == 20_000
    assert peak < 9_000_000


def test_values_of_a_tag_are_counted_up_to_a_bound(db: Path, tmp_path: Path) -> None:
    """A tag that is an identity must not fill the memory."""
    report = take(db, write_rows(tmp_path / "a.jsonl", [row(n, session=f"s{n}") for n in range(300)]))
    assert report.tags["session"] == MOST_VALUES


# ---------------------------------------------------------------- the log of rejects


def test_reject_log_can_be_read_while_it_grows(tmp_path: Path) -> None:
    """Reading from the start does not lose what is added later."""
    with RejectLog() as log:
        for number in (1, 2):
            log.add("f", file_set.Reject.of(number, "bad", "text"))
        assert [found["line"] for found in log.rows(most=1)] == [1]
        log.add("f", file_set.Reject.of(3, "bad", "text"))
        assert [found["line"] for found in log.rows()] == [1, 2, 3]
        log.write_to(tmp_path / "out.jsonl")
    assert len((tmp_path / "out.jsonl").read_text("utf-8").splitlines()) == 3


# ---------------------------------------------------------------- what applications recorded


def fetch(folder: Path, db: Path) -> Any:
    """Fetch a spool folder."""
    return import_spooled(folder, store_path=db, app=APP, day_zone="UTC", naive_zone="UTC", now=NOW)


def test_recorded_answers_are_stored_and_their_files_removed(db: Path, tmp_path: Path) -> None:
    """What ``record`` wrote is in the store after one pass, and the folder is empty."""
    folder = tmp_path / "spool"
    for number in range(3):
        assert spool.record(output=f"answer {number}", input="q", path=folder, topic="x")
    assert count_waiting(folder) == 1
    report = fetch(folder, db)
    assert (report.n_files, report.n_new, report.n_rejected, report.set_aside) == (1, 3, 0, ())
    assert list(folder.iterdir()) == []
    assert n_items(db) == 3


def test_missing_spool_folder_is_no_error(db: Path, tmp_path: Path) -> None:
    """Nothing was recorded yet."""
    assert fetch(tmp_path / "nowhere", db).n_files == 0
    assert not db.exists()


def test_line_cut_off_is_kept_aside_and_the_rest_is_stored(db: Path, tmp_path: Path) -> None:
    """A killed application costs one line, and a person can look at it."""
    folder = tmp_path / "spool"
    spool.record(output="whole", path=folder)
    (file,) = folder.iterdir()
    file.write_text(file.read_text("utf-8") + '{"output": "cut o', encoding="utf-8")
    report = fetch(folder, db)
    assert (report.n_new, report.n_rejected) == (1, 1)
    assert report.problems[0].startswith("line 2: ")
    (kept,) = folder.iterdir()
    assert [str(kept)] == list(report.set_aside)
    assert kept.name.endswith(".rejected.jsonl")
    assert fetch(folder, db).n_files == 0


def test_file_without_any_answer_holds_up_nothing(db: Path, tmp_path: Path) -> None:
    """A file of something else is put aside, the next one is stored."""
    folder = tmp_path / "spool"
    folder.mkdir()
    write_rows(folder / "00.open.jsonl", [{"note": "x"}])
    spool.record(output="whole", path=folder)
    report = fetch(folder, db)
    assert (report.n_files, report.n_new, len(report.set_aside)) == (2, 1, 1)
    assert "no row has a field for the answer" in report.problems[0]


def test_database_that_cannot_be_used_leaves_the_spool_as_it_is(db: Path, tmp_path: Path) -> None:
    """Nothing recorded is lost because the disk was full."""
    folder = tmp_path / "spool"
    spool.record(output="whole", path=folder)
    db.parent.mkdir()
    db.write_text("this is no database" * 100, encoding="utf-8")
    with pytest.raises(JudgewatchError):
        fetch(folder, db)
    db.unlink()
    assert fetch(folder, db).n_new == 1


def test_reading_settings_reach_the_reader(tmp_path: Path) -> None:
    """Format, columns, zone, time format and default time are handed on as they are."""
    path = tmp_path / "a.txt"
    path.write_text("antwort;wann\nJa;01.03.2026 00:30\nNein;\n", encoding="utf-8")
    reading = Reading(
        format="csv",
        field_map={"output": "antwort", "answered_at": "wann"},
        naive_zone="Europe/Berlin",
        time_format="%d.%m.%Y %H:%M",
        default_answered_utc="2026-03-05T00:00:00Z",
    )
    found = [entry.item for entry in reading.stream(path) if not isinstance(entry, file_set.Reject)]
    assert [(item.output, item.answered_utc) for item in found] == [
        ("Ja", "2026-02-28T23:30:00Z"),
        ("Nein", "2026-03-05T00:00:00Z"),
    ]
