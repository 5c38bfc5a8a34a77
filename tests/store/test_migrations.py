"""The schema in steps: by steps and from scratch the same, each step from a state with rows in it, all or nothing."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlite_utils import Database, Migrations

from evaluator.store import migrations
from evaluator.store.db import known_migrations, open_store
from evaluator.store.migrations import MIGRATION_SET, MIGRATIONS_TABLE, STEPS
from tests.store.helpers import one, rows


def apply_first(connection: sqlite3.Connection, n_steps: int) -> None:
    """Bring a database to the state after the first steps, the way an older version would have left it."""
    older = Migrations(MIGRATION_SET)
    for step in STEPS[:n_steps]:
        older()(step)
    older.apply(Database(connection))


def schema_of(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    """Every table, index and trigger with its definition; columns of a table by name, since ALTER TABLE appends."""
    found = set()
    objects = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")
    for kind, name, sql in objects.fetchall():
        columns = connection.execute(f"PRAGMA table_xinfo({name})").fetchall() if kind == "table" else []
        definition = repr(sorted(tuple(column)[1:] for column in columns)) if columns else sql
        found.add((kind, name, re.sub(r"\s+", " ", definition)))
    return found


@pytest.fixture
def bare(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a new file, without any step."""
    connection = sqlite3.connect(path, isolation_level=None)
    yield connection
    connection.close()


def test_names_of_steps_count_up() -> None:
    """m001, m002, ...: in order, without a gap, each with a line that says what it does."""
    assert [step.__name__[:5] for step in STEPS] == [f"m{number:03d}_" for number in range(1, len(STEPS) + 1)]
    assert all(step.__doc__ for step in STEPS)
    assert known_migrations() == tuple(step.__name__ for step in STEPS)


def test_table_of_steps_is_the_librarys() -> None:
    """Whether a database is up to date is read without loading the library, so its table's name is ours to know."""
    assert Migrations.migrations_table == MIGRATIONS_TABLE


@pytest.mark.parametrize("n_steps", range(len(STEPS)))
def test_schema_by_steps_equals_the_schema_from_scratch(tmp_path: Path, n_steps: int) -> None:
    """Whichever version made a database, opening it with this one brings it to the same schema."""
    older = tmp_path / "older.db"
    connection = sqlite3.connect(older, isolation_level=None)
    if n_steps:
        apply_first(connection, n_steps)
        connection.execute("INSERT INTO meta VALUES ('zone', 'Europe/Berlin'), ('store_revision', '7')")
    connection.close()
    with open_store(older) as by_steps, open_store(tmp_path / "new.db") as from_scratch:
        assert schema_of(by_steps.connection) == schema_of(from_scratch.connection)
        if n_steps:
            assert (by_steps.zone.key, by_steps.revision) == ("Europe/Berlin", 7)


def test_step_that_fails_leaves_the_state_before_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps are applied in one transaction; half of a step is never left behind."""
    with open_store(path) as store:
        before = schema_of(store.connection)

    def m999_broken(db: Database) -> None:
        db.execute("CREATE TABLE half_done (id INTEGER)")
        raise ValueError("no further")

    monkeypatch.setattr(migrations, "STEPS", (*STEPS, m999_broken))
    with pytest.raises(ValueError, match=r"no further"):
        open_store(path)
    monkeypatch.undo()
    with open_store(path) as store:
        assert schema_of(store.connection) == before


RULER = ("r", "judge", "b", "p", "{}", "text", "")
RUN = "run_id, app, ruler_id, slot_utc, slot_day, kind, status, started_utc, n_anchors, n_traffic"


def test_m002_counts_what_runs_came_to(path: Path, bare: sqlite3.Connection) -> None:
    """Runs of the first schema get their totals from their verdicts and calls."""
    apply_first(bare, 1)
    bare.execute("INSERT INTO rubrics VALUES ('b', 'n', 'c', 1, 5, 5, '{}', '')")
    bare.execute("INSERT INTO rulers VALUES (?, ?, ?, ?, ?, ?, ?)", RULER)
    bare.execute(f"INSERT INTO runs ({RUN}) VALUES ('full', 'a', 'r', 's1', 'd', 'all', 'finished', '', 1, 3)")
    bare.execute(f"INSERT INTO runs ({RUN}) VALUES ('empty', 'a', 'r', 's2', 'd', 'all', 'stopped', '', 1, 0)")
    bare.executemany(
        "INSERT INTO verdicts (app, ruler_id, criterion, item_id, slot_utc, run_id, score, unscored_reason, graded_utc)"
        " VALUES ('a', 'r', 'c', ?, ?, 'full', ?, ?, '')",
        [("i1", "s1", 4, None), ("i2", "", 5, None), ("i3", "", None, "timeout"), ("i4", "", None, "timeout")],
    )
    bare.executemany(
        "INSERT INTO attempts (run_id, item_id, ruler_id, criterion, repeat, started_utc, duration_ms, prompt_tokens,"
        " completion_tokens, cost_usd) VALUES ('full', ?, 'r', 'c', 0, '', 1, ?, ?, 0.25)",
        [("i1", 10, 1), ("i2", 20, 2), ("i3", None, None)],
    )
    with open_store(path) as store:
        full, empty = rows(store, "SELECT * FROM runs ORDER BY run_id DESC")
    names = ("n_scored_anchor", "n_scored_traffic", "n_unscored_anchor", "n_unscored_traffic")
    assert [full[name] for name in names] == [1, 1, 0, 2]
    assert (full["n_calls"], full["cost_usd"], full["prompt_tokens"], full["completion_tokens"]) == (3, 0.75, 30, 3)
    assert json.loads(full["reasons_json"]) == {"timeout": 2}
    assert [empty[name] for name in names] == [0, 0, 0, 0]
    assert json.loads(empty["reasons_json"]) == {}


def test_m002_keeps_every_row(path: Path, bare: sqlite3.Connection) -> None:
    """An upgrade loses no answer."""
    apply_first(bare, 1)
    bare.execute(
        "INSERT INTO items (item_id, app, source, content_id, input, output, cluster_id, sample_key)"
        " VALUES ('i', 'a', 'traffic', 'c', 'in', 'out', 'i', 0.5)"
    )
    with open_store(path) as store:
        assert one(store, "SELECT output FROM items WHERE item_id = 'i'") == "out"
