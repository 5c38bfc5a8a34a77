"""Several processes on one database (case D01): nobody fails, nobody loses a row, readers go on reading."""

from __future__ import annotations

import sqlite3
import threading
import warnings
from pathlib import Path

import pytest

from evaluator.store import sqlite as store_sqlite
from evaluator.store.db import Store, StoreWarning, open_reader, open_store
from tests.store.helpers import answer, import_items, one, result_of, rows, start_python

# A lock of 8 s outlasts SQLite's own patience of 5 s; here both are shorter, in the same order.
PATIENCE_S = 0.3
LOCK_S = 1.5
INSERTS = 200
TEXT_BYTES = 5_000

WRITER = """
    import sys
    from evaluator.store import sqlite
    sqlite.BUSY_TIMEOUT_S = float(sys.argv[3])
    from evaluator.records import Item
    from evaluator.store.db import open_store
    from evaluator.store.write import begin_run, save_outcomes, GradedItem
    from tests.builders import CRITERION, scored
    from tests.store.helpers import plan_of
    from evaluator.records import Source

    name, n = sys.argv[2], int(sys.argv[4])
    plan = plan_of()
    with open_store(sys.argv[1]) as store:
        for number in range(n):
            outcome = scored(4, explanation="x" * int(sys.argv[5]))
            item = GradedItem(item_id=f"{name}{number}", source=Source.TRAFFIC, outcome=outcome, graded_utc="t")
            save_outcomes(store, plan, CRITERION, [item])
"""
LOCKER = """
    import sqlite3, sys, time
    connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
    while connection.execute("SELECT count(*) FROM verdicts").fetchone()[0] < 20:
        time.sleep(0.005)
    connection.execute("BEGIN IMMEDIATE")
    time.sleep(float(sys.argv[2]))
    connection.execute("ROLLBACK")
"""


def test_d01_two_writers_a_reader_and_a_long_lock(path: Path) -> None:
    """Case D01: 400 verdicts of 5 kB, no error, no duplicate, a sound file, and a reader that is always answered."""
    open_store(path).close()
    locker = start_python(LOCKER, path, LOCK_S)
    writers = [start_python(WRITER, path, name, PATIENCE_S, INSERTS, TEXT_BYTES) for name in "ab"]
    seen = []
    with open_reader(path) as reader:
        while any(writer.poll() is None for writer in writers):
            seen.append(one(reader, "SELECT count(*) FROM verdicts"))
    for process in (*writers, locker):
        result_of(process)
    assert seen == sorted(seen)
    with open_store(path) as store:
        assert one(store, "SELECT count(DISTINCT item_id) FROM verdicts") == 2 * INSERTS
        assert one(store, "SELECT count(*) FROM verdicts") == 2 * INSERTS
        assert one(store, "SELECT min(length(explanation)) FROM verdicts") == TEXT_BYTES
        assert rows(store, "PRAGMA integrity_check") == [{"integrity_check": "ok"}]


def test_d01_lock_outlasts_the_patience_of_sqlite(path: Path) -> None:
    """The test above means something: without our own retries its writers would fail."""
    open_store(path).close()
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    plain = sqlite3.connect(path, timeout=PATIENCE_S / 10)
    with pytest.raises(sqlite3.OperationalError, match=r"locked"):
        plain.execute("DELETE FROM meta WHERE key = 'x'")
    holder.close()
    plain.close()


def test_d01_read_then_write_beside_another_writer(path: Path) -> None:
    """The three steps of case D01: a read, another's commit, a write; a stale snapshot would fail at once."""
    with open_store(path) as first, open_store(path) as second:
        other = threading.Thread(target=import_items, args=(second, [answer(1)]))
        with first.transaction() as connection:
            before = connection.execute("SELECT count(*) FROM items").fetchone()[0]
            other.start()
            connection.execute("INSERT INTO meta VALUES ('answers_seen', ?)", (before,))
        other.join()
        assert first.meta("answers_seen") == "0"
        assert one(first, "SELECT count(*) FROM items") == 1


def test_reader_keeps_its_state_while_a_writer_writes(path: Path) -> None:
    """An open transaction of the writer is invisible, and does not make the reader wait."""
    with open_store(path) as writer, open_reader(path) as reader:
        import_items(writer, [answer(1)])
        with writer.transaction() as connection:
            connection.execute("DELETE FROM items")
            assert one(reader, "SELECT count(*) FROM items") == 1
        assert one(reader, "SELECT count(*) FROM items") == 0


class _WithoutLog(sqlite3.Connection):
    """A connection to a file system that cannot share memory between processes."""

    def execute(self, sql: str, *values: object) -> sqlite3.Cursor:  # type: ignore[override]  # one more than needed
        return super().execute("SELECT 'delete'" if sql.startswith("PRAGMA journal_mode =") else sql, *values)


@pytest.fixture
def without_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make write-ahead logging unavailable."""
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *place, **options: connect(*place, factory=_WithoutLog, **options))
    monkeypatch.setattr(store_sqlite, "_warned", set())


def _open_often(path: Path) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for number in range(3):
            with open_store(path) as store:
                import_items(store, [answer(number)])
    return caught


@pytest.mark.usefixtures("without_log")
def test_d01_without_write_ahead_log_there_is_one_warning_and_all_works(path: Path) -> None:
    """Case D01, no_wal: the mode there is, said once however often the database is opened; nothing else changes."""
    caught = _open_often(path)
    assert [warning.category for warning in caught] == [StoreWarning]
    assert "file system without write-ahead logging (mode 'delete')" in str(caught[0].message)
    with open_reader(path) as reader:
        assert one(reader, "SELECT count(*) FROM items") == 3
        assert one(reader, "PRAGMA journal_mode") == "delete"


def test_write_ahead_log_is_on_and_says_nothing(store: Store) -> None:
    """On an ordinary disk there is no warning (warnings are errors here), and readers do not wait."""
    assert one(store, "PRAGMA journal_mode") == "wal"
    assert one(store, "PRAGMA synchronous") == 1
