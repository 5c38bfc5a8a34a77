"""A look ahead changes not a byte of the database, whatever its version and whoever may write it."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluator.errors import StoreError
from evaluator.store.db import known_migrations, open_store
from evaluator.store.look_ahead import untouched
from evaluator.store.migrations import MIGRATIONS_TABLE
from tests import builders


def bytes_of(path: Path) -> str:
    """Hash of the database; its log, which a reader may make, must hold nothing."""
    log = path.with_name(path.name + "-wal")
    assert not log.exists() or log.stat().st_size == 0
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A database as the version before would have left it."""
    path = builders.one_day(tmp_path / "older.db")
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE accepted_baselines")
        connection.execute(f"DELETE FROM {MIGRATIONS_TABLE} WHERE name = ?", (known_migrations()[-1],))
    connection.close()
    return path


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A database in a folder that this user may not write to."""
    folder = tmp_path / "kept"
    folder.mkdir()
    path = builders.one_day(folder / "kept.db")
    path.chmod(0o444)
    folder.chmod(0o555)
    yield path
    folder.chmod(0o755)


def look_and_write(path: Path) -> str:
    """Do what a dry run may do: open for writing, write, close; returns the newest step of what was looked at."""
    with untouched(path) as found, open_store(found, create=True) as store:
        if found != path:
            with store.transaction() as connection:
                connection.execute("DELETE FROM verdicts")
        step = store.connection.execute(f"SELECT max(name) FROM {MIGRATIONS_TABLE}").fetchone()[0]
    return str(step)


def test_an_older_database_is_looked_at_in_a_copy_of_today(older: Path) -> None:
    """The copy has today's schema; the file is what it was, to the byte."""
    before = bytes_of(older)
    assert look_and_write(older) == known_migrations()[-1]
    assert bytes_of(older) == before


def test_a_database_that_may_only_be_read_is_looked_at_in_a_copy(
    read_only: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may write everything, so what this user may do is said by hand."""
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    before = bytes_of(read_only)
    assert look_and_write(read_only) == known_migrations()[-1]
    assert bytes_of(read_only) == before


def test_the_copy_is_thrown_away(older: Path) -> None:
    """Also when what is done with it fails."""
    seen: list[Path] = []

    def fail() -> None:
        with untouched(older) as found:
            seen.append(found)
            assert found.exists()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not seen[0].exists()


def test_a_database_of_today_is_looked_at_in_place(tmp_path: Path) -> None:
    """Without copying a large file."""
    path = builders.one_day(tmp_path / "today.db")
    with untouched(path) as found:
        assert found == path


def test_an_empty_file_is_looked_at_like_a_missing_one(tmp_path: Path) -> None:
    """It stays empty."""
    path = builders.zero_bytes(tmp_path / "empty.db")
    look_and_write(path)
    assert path.stat().st_size == 0


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    """With its name."""
    path = tmp_path / "notes.db"
    path.write_text("not a database at all, but long enough to be read as one", encoding="utf-8")
    with pytest.raises(StoreError, match=r"notes\.db"), untouched(path):
        pass
