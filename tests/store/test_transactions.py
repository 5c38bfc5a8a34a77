"""One write is one transaction: whole or not at all, counted by the revision, patient with locks, explained."""

from __future__ import annotations

import itertools
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import StoreError, UsageError
from evaluator.store import db as store_db
from evaluator.store import rollup, write
from evaluator.store.db import Store, explain, open_reader, open_store
from tests.builders import ruler
from tests.store.helpers import (
    APP,
    DAY,
    NOW,
    anchor,
    answer,
    finish,
    grade,
    ids_of,
    import_items,
    one,
    plan_of,
)


def test_error_inside_takes_everything_back(store: Store) -> None:
    """No half of a write is kept, and the connection is free for the next."""

    def write_half() -> None:
        with store.transaction() as connection:
            connection.execute("INSERT INTO meta VALUES ('half', 'done')")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_half()
    assert store.meta("half") is None
    assert not store.connection.in_transaction
    assert store.revision == 0


def test_revision_rises_once_for_a_visible_write(store: Store) -> None:
    """However many rows a write touches, it is one step."""
    with store.transaction() as connection:
        connection.execute("INSERT INTO meta VALUES ('a', '1'), ('b', '2')")
        connection.execute("UPDATE meta SET value = '3' WHERE key = 'a'")
    assert store.revision == 1


def test_revision_stays_for_what_no_page_shows_or_what_changed_nothing(store: Store) -> None:
    """Leases, budgets, and writes that found everything in place do not make pages read again."""
    with store.transaction(visible=False) as connection:
        connection.execute("INSERT INTO meta VALUES ('a', '1')")
    with store.transaction() as connection:
        connection.execute("DELETE FROM meta WHERE key = 'nothing'")
    assert store.revision == 0


def test_each_kind_of_visible_write_raises_the_revision(store: Store) -> None:
    """Answers, anchors, setups, plans, verdicts, ends, events, analyses: a page sees each at once."""
    ids = ids_of([answer(1)])
    plan = plan_of(ids)
    seen = [store.revision]

    def note() -> None:
        seen.append(store.revision)

    import_items(store, [answer(1)])
    note()
    write.save_anchor_set(store, app=APP, name="s", anchors=[anchor(1)], now=NOW)
    note()
    write.register_ruler(store, app=APP, ruler=ruler(), now=NOW)
    note()
    rollup.choose_segment_keys(store, APP, [("topic", "")])
    note()
    write.begin_run(store, plan, now=NOW)
    note()
    grade(store, plan, {ids[0]: 4})
    note()
    finish(store, plan, status="stopped")
    note()
    write.reopen_run(store, plan.run_id)
    note()
    write.add_event(store, app=APP, at=NOW, kind="note", text="x", by_whom="me")
    note()
    _save_analysis(store)
    note()
    assert all(later > earlier for earlier, later in itertools.pairwise(seen))


def test_repeated_writes_do_not_raise_the_revision(store: Store) -> None:
    """The same anchor set, setup, segment keys, or the end of a sample that has ended already: nothing is new."""
    ids = ids_of([answer(1)])
    import_items(store, [answer(1)])
    plan = plan_of(ids)
    for _ in range(2):
        before = store.revision
        write.save_anchor_set(store, app=APP, name="s", anchors=[anchor(1)], now=NOW)
        write.register_ruler(store, app=APP, ruler=ruler(), now=NOW)
        rollup.choose_segment_keys(store, APP, [("topic", "")])
    assert store.revision == before
    write.begin_run(store, plan, now=NOW)
    finish(store, plan)
    before = store.revision
    write.reopen_run(store, plan.run_id)
    write.give_up_rest(store, plan.run_id)
    write.give_up_rest(store, plan.run_id)
    assert store.revision == before + 1


def _save_analysis(store: Store, **changes: Any) -> None:
    values: dict[str, Any] = {
        "app": APP,
        "ruler_id": "r",
        "criterion": "c",
        "first_day": DAY,
        "last_day": DAY,
        "baseline": "",
        "settings_hash": "h",
        "code_version": "1",
        "schema_version": 1,
        "payload": {"x": 1},
        "revision": store.revision,
        "now": NOW,
    }
    write.save_analysis(store, **(values | changes))


def test_numbers_that_cannot_be_read_back_are_refused(store: Store) -> None:
    """An analysis with NaN in it is a defect, and nothing of it is stored."""
    with pytest.raises(ValueError, match=r"not JSON compliant"):
        _save_analysis(store, payload={"mean": float("nan")})
    assert one(store, "SELECT count(*) FROM analyses") == 0


def test_event_without_text_is_refused(store: Store) -> None:
    """An empty note explains nothing."""
    with pytest.raises(UsageError, match=r"an event needs a text"):
        write.add_event(store, app=APP, at=NOW, kind="note", text="  ", by_whom="me")


def test_lock_longer_than_our_patience_is_said_in_words(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever cannot write learns which file is locked, and that nothing is lost."""
    monkeypatch.setattr(store_db, "LOCK_RETRY_FOR_S", 0.2)
    with open_store(path) as store:
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        store.connection.execute("PRAGMA busy_timeout = 10")
        with pytest.raises(StoreError, match=r"judgewatch.db is locked by another program.*nothing is lost"):
            import_items(store, [answer(1)])
        holder.execute("ROLLBACK")
        holder.close()
        assert import_items(store, [answer(1)]).n_new == 1


def test_commit_waits_for_readers_where_there_is_no_write_ahead_log(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There a reader blocks the commit; what was written stays in the transaction until it can be committed."""
    with open_store(path) as store:
        store.connection.execute("PRAGMA journal_mode = DELETE")
        store.connection.execute("PRAGMA busy_timeout = 10")
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM meta").fetchone()
        monkeypatch.setattr(store_db, "LOCK_RETRY_FOR_S", 0.2)
        with pytest.raises(StoreError, match=r"is locked"):
            import_items(store, [answer(1)])
        monkeypatch.setattr("evaluator.store.sqlite.time.sleep", lambda _: reader.in_transaction and reader.rollback())
        monkeypatch.setattr(store_db, "LOCK_RETRY_FOR_S", 60)
        assert import_items(store, [answer(1)]).n_new == 1
        reader.close()


def test_full_disk_is_said_in_words_and_nothing_is_kept(store: Store) -> None:
    """A transaction that does not fit is taken back whole."""
    pages = one(store, "PRAGMA page_count")
    store.connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StoreError, match=r"the disk that holds .* is full; free some space"):
        import_items(store, [answer(number, output="x" * 5000) for number in range(20)])
    assert one(store, "SELECT count(*) FROM items") == 0
    store.connection.execute("PRAGMA max_page_count = 1000000")
    assert import_items(store, [answer(1)]).n_new == 1


@pytest.mark.parametrize("page", [1, 45])
def test_damaged_file_is_said_in_words(path: Path, page: int) -> None:
    """A file with a hole in it names the way back, whether the hole is met on opening or while writing."""
    with open_store(path) as store:
        import_items(store, [answer(number, output="x" * 500) for number in range(200)])
    with path.open("r+b") as file:
        file.seek(page * 4096)
        file.write(b"\0" * (path.stat().st_size - page * 4096))
    with pytest.raises(StoreError, match=r"is damaged .* restore the last `judgewatch db"), open_store(path) as store:
        import_items(store, [answer(number, output="y") for number in range(500)])


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("database is locked", "is locked by another program"),
        ("attempt to write a readonly database", "cannot be written"),
        ("database or disk is full", "is full; free some space"),
        ("disk I/O error", "reports an error"),
        ("unable to open database file", "cannot be opened"),
        ("file is not a database", "is not a judgewatch database"),
        ("database disk image is malformed", "is damaged"),
        ("no such table: x", "x.db: no such table: x"),
    ],
)
def test_messages_of_sqlite_name_file_and_fix(said: str, expected: str) -> None:
    """Every message begins with, or names, the file."""
    message = str(explain(sqlite3.OperationalError(said), Path("x.db")))
    assert expected in message
    assert "x.db" in message


def test_backup_is_one_state_of_the_database(store: Store, tmp_path: Path) -> None:
    """The copy opens like the original and holds what it held."""
    import_items(store, [answer(1), answer(2)])
    store.backup(tmp_path / "copy.db")
    with open_reader(tmp_path / "copy.db") as copy:
        assert one(copy, "SELECT count(*) FROM items") == 2
        assert copy.meta("fence_salt") == store.meta("fence_salt")


def test_backup_never_overwrites(store: Store, tmp_path: Path) -> None:
    """A file that is there stays."""
    target = tmp_path / "copy.db"
    target.write_text("precious")
    with pytest.raises(UsageError, match=r"exists already; name a new file"):
        store.backup(target)
    assert target.read_text() == "precious"


def test_backup_that_fails_leaves_no_half_of_a_copy(store: Store, tmp_path: Path) -> None:
    """A folder that is not there is named."""
    with pytest.raises(StoreError, match=r"cannot be opened"):
        store.backup(tmp_path / "nowhere" / "copy.db")
