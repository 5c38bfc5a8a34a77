"""Opening a database: made when wanted, refused in words when it cannot be used, and then left as it was."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluator.errors import NewerDatabaseError, StoreError, UsageError
from evaluator.store.db import Store, known_migrations, open_reader, open_store
from evaluator.store.migrations import MIGRATIONS_TABLE
from tests.builders import newer
from tests.store.conftest import NOBODY
from tests.store.helpers import DAY, answer, dump, import_items, one, result_of, start_python

OPEN_EITHER_WAY: list[Callable[[Path], Store]] = [open_store, open_reader]


def test_blank_path_becomes_a_database_of_the_newest_schema(path: Path) -> None:
    """All steps are behind it, and it knows its zone, its revision and its salt."""
    with open_store(path, zone="Europe/Berlin") as store:
        names = {row[0] for row in store.connection.execute(f"SELECT name FROM {MIGRATIONS_TABLE}")}
        assert names == set(known_migrations())
        assert store.zone.key == "Europe/Berlin"
        assert store.revision == 0
        assert len(store.meta("fence_salt") or "") == 32


def test_opening_again_keeps_everything(path: Path) -> None:
    """Zone, salt and answers survive; a zone need not be named again."""
    with open_store(path, zone="Asia/Tokyo") as store:
        salt = store.meta("fence_salt")
        import_items(store, [answer(1)])
    with open_store(path) as store:
        assert (store.meta("fence_salt"), store.zone.key) == (salt, "Asia/Tokyo")
        assert one(store, "SELECT count(*) FROM items") == 1


def test_two_databases_have_two_salts(tmp_path: Path) -> None:
    """The fence around graded text of one database says nothing about another's."""
    with open_store(tmp_path / "a.db") as a, open_store(tmp_path / "b.db") as b:
        assert a.meta("fence_salt") != b.meta("fence_salt")


def test_file_of_zero_bytes_becomes_a_database(path: Path) -> None:
    """A writer takes an empty file for a new one."""
    path.touch()
    with open_store(path) as store:
        assert store.revision == 0


def test_file_of_zero_bytes_holds_nothing_for_a_reader(path: Path) -> None:
    """A reader says what to do, and the file stays empty."""
    path.touch()
    with pytest.raises(StoreError, match=r"holds no judgewatch data yet; import answers or run the scorer first"):
        open_reader(path)
    assert path.stat().st_size == 0


@pytest.mark.parametrize("open_it", [lambda path: open_store(path, create=False), open_reader])
def test_missing_file_is_not_made(path: Path, open_it: Callable[[Path], Store]) -> None:
    """A mistyped path makes no database."""
    with pytest.raises(StoreError, match=r"there is no database at .*judgewatch.db; import answers"):
        open_it(path)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("open_it", OPEN_EITHER_WAY)
def test_folder_is_refused(tmp_path: Path, open_it: Callable[[Path], Store]) -> None:
    """The message says that it is one."""
    with pytest.raises(StoreError, match=r"is a folder; name the database file in it"):
        open_it(tmp_path)


def test_missing_folder_is_named(tmp_path: Path) -> None:
    """A database cannot be made in a folder that is not there."""
    with pytest.raises(StoreError, match=r"cannot be opened; check that the folder exists"):
        open_store(tmp_path / "nowhere" / "judgewatch.db")


@pytest.mark.parametrize("open_it", OPEN_EITHER_WAY)
def test_file_of_another_kind_is_refused_and_left_alone(path: Path, open_it: Callable[[Path], Store]) -> None:
    """A text file is no database, and stays the text it was."""
    path.write_text("day,score\n2026-01-01,4\n" * 100)
    before = dump(path)
    with pytest.raises(StoreError, match=r"is not a judgewatch database; name another file with --db"):
        open_it(path)
    assert dump(path) == before


@pytest.mark.parametrize("open_it", OPEN_EITHER_WAY)
def test_database_of_another_program_is_refused_and_left_alone(path: Path, open_it: Callable[[Path], Store]) -> None:
    """No table of ours is put beside somebody else's, and its journal mode stays."""
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE bookmarks (url TEXT)")
    other.close()
    before = dump(path)
    with pytest.raises(StoreError, match=r"is not a judgewatch database .it has a table 'bookmarks'"):
        open_it(path)
    assert dump(path) == before


@pytest.mark.parametrize("open_it", OPEN_EITHER_WAY)
def test_newer_database_is_refused_and_left_alone(path: Path, open_it: Callable[[Path], Store]) -> None:
    """The message names the step and the fix; not a byte changes, whatever journal mode it is in."""
    newer(path)
    by_hand = sqlite3.connect(path)
    by_hand.execute("PRAGMA journal_mode = DELETE")
    by_hand.close()
    before = dump(path)
    with pytest.raises(NewerDatabaseError, match=r"newer judgewatch .it knows the step 'm999_later'.*pip install -U"):
        open_it(path)
    assert dump(path) == before


def test_reader_does_not_migrate(path: Path) -> None:
    """An older database is for a writer to bring up to date."""
    open_store(path).close()
    by_hand = sqlite3.connect(path)
    by_hand.execute(f"DELETE FROM {MIGRATIONS_TABLE} WHERE name = ?", (known_migrations()[-1],))
    by_hand.commit()
    by_hand.close()
    with pytest.raises(StoreError, match=r"older version .1 step behind.; run `judgewatch db migrate`"):
        open_reader(path)


def test_other_zone_than_the_stored_one_is_refused(path: Path) -> None:
    """Days of two zones are not mixed; the message names both zones and both ways out."""
    open_store(path, zone="UTC").close()
    with pytest.raises(
        UsageError, match=r"zone 'UTC', the configuration says 'Europe/Rome'; set schedule.zone"
    ) as caught:
        open_store(path, zone="Europe/Rome")
    assert "db rebuild --zone Europe/Rome" in str(caught.value)


@pytest.mark.parametrize("zone", ["Mars/Base", "../etc/passwd", "", "Europe"])
def test_unknown_zone_is_refused_before_anything_is_made(path: Path, zone: str) -> None:
    """No database is made for a zone that is none."""
    with pytest.raises(UsageError, match=r"unknown zone"):
        open_store(path, zone=zone)
    assert not path.exists()


def test_reader_refuses_to_write(path: Path) -> None:
    """SQLite itself holds a reader to reading, and the message says so."""
    open_store(path).close()
    with open_reader(path) as reader:
        with pytest.raises(StoreError, match=r"cannot be written"), reader.transaction() as connection:
            connection.execute("DELETE FROM items")
        assert not reader.connection.in_transaction


def test_read_only_file_can_be_read_and_says_why_it_cannot_be_written(
    guarded_folder: Path, request: pytest.FixtureRequest
) -> None:
    """Pages work on a file that this user may only read."""
    path = _database_in(guarded_folder)
    path.chmod(0o444)
    request.getfixturevalue("as_ordinary_user")
    with open_reader(path) as reader:
        assert one(reader, "SELECT count(*) FROM items") == 1
    with pytest.raises(StoreError, match=r"cannot be written; give this user write permission on the file"):
        open_store(path)


def test_read_only_folder_can_be_read(guarded_folder: Path, request: pytest.FixtureRequest) -> None:
    """Where not even the log's index can be made, the file is read as it stands."""
    path = _database_in(guarded_folder)
    guarded_folder.chmod(0o555)
    assert sorted(guarded_folder.iterdir()) == [path]
    request.getfixturevalue("as_ordinary_user")
    with open_reader(path) as reader:
        assert one(reader, "SELECT count(*) FROM items") == 1


def test_reader_without_write_permission_sees_what_a_scorer_writes(guarded_folder: Path) -> None:
    """While a scorer has the database open, another user's page reads its newest state."""
    path = _database_in(guarded_folder)
    guarded_folder.chmod(0o755)
    with open_store(path) as writer:
        import_items(writer, [answer(2)], sha="second")
        for file in guarded_folder.iterdir():
            file.chmod(0o644)
        code = """
            import os, sys
            from evaluator.store.db import open_reader
            if os.geteuid() == 0:
                os.seteuid(int(sys.argv[2]))
            with open_reader(sys.argv[1]) as reader:
                print(reader.connection.execute("SELECT count(*) FROM items").fetchone()[0])
        """
        assert result_of(start_python(code, path, NOBODY)).strip() == "2"


def _database_in(folder: Path) -> Path:
    path = folder / "judgewatch.db"
    with open_store(path) as store:
        import_items(store, [answer(1)])
    path.chmod(0o644)
    if os.geteuid() == 0:
        os.chown(path, 0, 0)
    return path


def test_path_with_odd_characters_works_both_ways(tmp_path: Path) -> None:
    """Spaces, question marks, percent signs and umlauts are parts of a name, not of an address."""
    path = tmp_path / "ü ?mode=rw#100%.db"
    with open_store(path) as store:
        import_items(store, [answer(1, day=DAY)])
    with open_reader(path) as reader:
        assert one(reader, "SELECT count(*) FROM items") == 1
    assert {file.name.removesuffix("-wal").removesuffix("-shm") for file in tmp_path.iterdir()} == {path.name}


def test_processes_that_open_a_new_file_at_once_make_one_database(path: Path) -> None:
    """Each finds the same salt: the schema was made once."""
    code = """
        import sys
        from evaluator.store.db import open_store
        with open_store(sys.argv[1]) as store:
            print(store.meta("fence_salt"))
    """
    processes = [start_python(code, path) for _ in range(4)]
    assert len({result_of(process) for process in processes}) == 1
