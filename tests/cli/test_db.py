"""``judgewatch db``: what state the database is in, and the few things that are done to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from evaluator.maintenance import rebuild
from evaluator.store import locks, read
from evaluator.store.db import known_migrations, open_reader, open_store
from tests.builders import World, answer
from tests.cli.conftest import invoke, ok, ok_json, refused

Database = Callable[[str], Path]


def totals(db: Path) -> list[tuple[Any, ...]]:
    """Every row of the daily totals."""
    with open_reader(db) as store:
        rows = store.connection.execute("SELECT * FROM daily_scores ORDER BY 1, 2, 3, 4, 5, 6, 7").fetchall()
    return [tuple(row) for row in rows]


# ---------------------------------------------------------------- info


def test_info_tells_size_zone_counts_and_health(database: Database) -> None:
    """What to look at before anything else."""
    db = database("one_day")
    payload = ok_json("db", "info", "--db", db)
    assert payload["size_bytes"] == db.stat().st_size
    assert (payload["zone"], payload["integrity"], payload["journal_mode"]) == ("UTC", "ok", "wal")
    assert payload["schema"] == known_migrations()[-1]
    assert (payload["n_stale_days"], payload["leases"]) == (0, [])
    assert payload["apps"]["support-bot"]["n_answers"] == 8
    text = ok("db", "info", "--db", db)
    assert "integrity: ok" in text
    assert "support-bot" in text


def test_info_names_who_works_on_it(database: Database) -> None:
    """Before somebody is ended by mistake."""
    db = database("one_day")
    with open_store(db) as store:
        locks.acquire_lease(store, app="support-bot", holder="host:7", what="run of today", now=datetime.now(UTC))
    assert "in use: run of today by host:7, last sign of life 20" in ok("db", "info", "--db", db)


def test_info_of_an_empty_database(database: Database) -> None:
    """A schema without rows is no fault."""
    assert "no app has anything in it yet" in ok("db", "info", "--db", database("schema_only"))


def test_info_counts_days_that_are_not_up_to_date(database: Database) -> None:
    """They are brought up to date by the next run."""
    db = database("one_day")
    with open_store(db) as store, store.transaction() as connection:
        connection.execute("INSERT INTO stale_days VALUES ('support-bot', 'traffic', '2026-11-29')")
    assert "totals of 1 day are not up to date" in ok("db", "info", "--db", db)


def test_damaged_database_fails(database: Database) -> None:
    """Said loudly, exit 1."""
    db = database("sixty_days")
    with sqlite3.connect(db) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'verdicts_by_item'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    with db.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    result = invoke("db", "info", "--db", db)
    assert result.exit_code == 1
    assert "damaged" in result.output.lower()


# ---------------------------------------------------------------- migrate and backup


def test_migrate_says_that_all_is_up_to_date(database: Database) -> None:
    """Running it once too often does no harm."""
    db = database("one_day")
    assert ok("db", "migrate", "--db", db) == f"{db} is up to date (schema {known_migrations()[-1]})\n"
    assert ok_json("db", "migrate", "--db", db)["schema"] == known_migrations()[-1]


def test_backup_is_a_whole_database(database: Database) -> None:
    """Readable at once, with everything in it."""
    db = database("one_day")
    assert ok_json("db", "backup", "copy.db", "--db", db)["path"] == "copy.db"
    assert totals(Path("copy.db")) == totals(db)
    assert "answers" in ok("db", "info", "--db", "copy.db")


def test_backup_replaces_nothing(database: Database) -> None:
    """Yesterday's backup stays."""
    db = database("one_day")
    Path("copy.db").write_text("yesterday", encoding="utf-8")
    assert "copy.db exists already" in refused("db", "backup", "copy.db", "--db", db, code=64)
    assert Path("copy.db").read_text("utf-8") == "yesterday"


# ---------------------------------------------------------------- rebuild


def test_rebuild_gives_the_same_totals(database: Database) -> None:
    """From the verdicts alone, whatever stood there before."""
    db = database("sixty_days")
    before = totals(db)
    with open_store(db) as store, store.transaction() as connection:
        connection.execute("UPDATE daily_scores SET sum_wy = 0")
    payload = ok_json("db", "rebuild", "--db", db)
    assert totals(db) == before
    assert payload["n_days"]["support-bot"] > 100
    assert payload["zone"] == "UTC"


def test_rebuild_in_another_zone_moves_answers_runs_and_events(tmp_path: Path) -> None:
    """An answer of 23:30 in London is one of the next day in Tokyo."""
    db = tmp_path / "x.db"
    with World(path=db, keys=[]) as world:
        anchors = world.add_anchors([1, 5])
        ids = world.add_answers(
            [
                answer(1, "2026-11-01", answered_utc="2026-11-01T23:30:00Z"),
                answer(2, "2026-11-01", answered_utc="2026-11-01T10:00:00Z"),
                answer(3, "2026-11-01", answered_utc=None),
            ]
        )
        world.run("2026-11-02", anchors={i: 3 for i, _ in anchors}, answers={ids[0]: 2.0, ids[1]: 4.0})
    ok("event", "add", "x", "--at", "2026-11-01T20:00Z", "--db", db)
    ok("check", "--db", db)
    text = ok("db", "rebuild", "--zone", "Asia/Tokyo", "--db", db)
    assert "counts its days in zone Asia/Tokyo" in text
    with open_reader(db) as store:
        assert store.zone.key == "Asia/Tokyo"
        assert read.answer_days(store, "support-bot") == {"2026-11-01": 1, "2026-11-02": 1}
        assert [event["day"] for event in read.events(store, "support-bot")] == ["2026-11-02"]
        assert store.connection.execute("SELECT count(*) FROM analyses").fetchone()[0] == 0
        means = store.connection.execute("SELECT day, sum_wy / sum_w FROM daily_scores WHERE source = 'traffic'")
        assert dict(means.fetchall()) == {"2026-11-01": 4.0, "2026-11-02": 2.0}
    assert invoke("check", "--db", db).exit_code == 0


def test_rebuild_in_another_zone_and_back_changes_nothing(database: Database) -> None:
    """Days are told from instants; nothing is worn off on the way."""
    db = database("sixty_days")
    before = totals(db)
    ok("db", "rebuild", "--zone", "America/Los_Angeles", "--db", db)
    assert totals(db) != before
    ok("db", "rebuild", "--zone", "UTC", "--db", db)
    assert totals(db) == before


def test_rebuild_waits_for_nobody(database: Database) -> None:
    """While a scorer works it is refused, and its claim stays."""
    db = database("one_day")
    now = datetime.now(UTC)
    with open_store(db) as store:
        locks.acquire_lease(store, app="support-bot", holder="host:7", what="run of today", now=now)
    assert "another scorer (host:7" in refused("db", "rebuild", "--db", db, code=1)
    assert [lease["holder"] for lease in ok_json("db", "info", "--db", db)["leases"]] == ["host:7"]
    assert rebuild(db, zone=None, now=now + timedelta(minutes=1)).zone == "UTC"
    assert ok_json("db", "info", "--db", db)["leases"] == []


def test_unknown_zone_changes_nothing(database: Database) -> None:
    """64, and the totals stay."""
    db = database("one_day")
    before = totals(db)
    assert "unknown zone 'Mars/Base'" in refused("db", "rebuild", "--zone", "Mars/Base", "--db", db, code=64)
    assert totals(db) == before


@pytest.mark.parametrize("verb", [["info"], ["migrate"], ["backup", "copy.db"], ["rebuild"]])
def test_missing_database_is_not_made(verb: list[str]) -> None:
    """A mistyped path must not become an empty database."""
    line = refused("db", *verb, "--db", "typo.db", code=1)
    assert "there is no database at typo.db" in line
    assert not Path("typo.db").exists()
    assert not Path("copy.db").exists()
