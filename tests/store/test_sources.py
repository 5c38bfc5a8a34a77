"""What is remembered of sources: files as they were, pulls in their order, and how far the answers reach."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from evaluator.errors import StoreError
from evaluator.identity import base_item_id
from evaluator.records import Item
from evaluator.store import read, write
from evaluator.store.db import Store, open_reader

NOW = datetime(2026, 3, 5, 6, 1, tzinfo=UTC)


def save(store: Store, path: str = "a.jsonl", **changes: Any) -> None:
    """Remember a file."""
    fields: dict[str, Any] = {
        "app": "shop", "kind": "traffic", "path": path, "size_bytes": 10, "mtime_ns": 1_772_690_460_123_456_789,
        "file_sha256": "x", "n_rows": 3, "n_new": 2, "now": NOW,
    }  # fmt: skip
    write.save_source_file(store, **{**fields, **changes})


def add(store: Store, **changes: Any) -> int:
    """Keep a pull."""
    fields: dict[str, Any] = {
        "app": "shop", "kind": "command", "source": "pull", "slot": NOW, "status": "ok", "message": "", "n_rows": 3,
        "n_new": 2, "n_rejected": 1, "started": NOW, "finished": NOW + timedelta(seconds=3),
    }  # fmt: skip
    return write.add_pull(store, **{**fields, **changes})


def import_times(store: Store, *times: str | None) -> None:
    """Store answers of some times."""
    items = [Item(input="q", output="a", external_id=str(n), answered_utc=at) for n, at in enumerate(times)]
    answers = [(base_item_id("shop", item, 0), item) for item in items]
    write.import_answers(store, app="shop", answers=answers, path="x", file_sha256="x", n_rejected=0, now=NOW)


def test_file_is_remembered_by_app_kind_and_path(store: Store) -> None:
    """A later state takes the place of the earlier one; times are kept to the nanosecond."""
    save(store)
    save(store, kind="verdicts")
    save(store, app="other")
    save(store, size_bytes=20, file_sha256="y", now=NOW + timedelta(days=1))
    found = read.source_file(store, "shop", "a.jsonl")
    assert found is not None
    assert (found["size_bytes"], found["file_sha256"], found["mtime_ns"]) == (20, "y", 1_772_690_460_123_456_789)
    assert found["taken_utc"] == "2026-03-06T06:01:00.000Z"
    assert read.source_file(store, "shop", "b.jsonl") is None
    assert [row["path"] for row in read.source_files(store, "shop", kind="verdicts")] == ["a.jsonl"]


def test_files_are_listed_newest_first_up_to_a_limit(store: Store) -> None:
    """Those of one moment by name."""
    for number, name in enumerate(("b", "a", "c")):
        save(store, name, now=NOW + timedelta(days=number // 2))
    assert [row["path"] for row in read.source_files(store, "shop")] == ["c", "a", "b"]
    assert len(read.source_files(store, "shop", most=2)) == 2


def test_pulls_are_listed_newest_first(store: Store) -> None:
    """With all that was kept of them; of one app."""
    first = add(store)
    second = add(store, status="failed", message="no token", started=NOW + timedelta(days=1))
    add(store, app="other")
    rows = read.pulls(store, "shop")
    assert [row["pull_id"] for row in rows] == [second, first]
    assert (rows[0]["status"], rows[0]["message"], rows[0]["slot_utc"]) == (
        "failed",
        "no token",
        "2026-03-05T06:01:00.000Z",
    )
    assert (rows[1]["n_rows"], rows[1]["n_new"], rows[1]["n_rejected"]) == (3, 2, 1)
    assert rows[1]["finished_utc"] == "2026-03-05T06:01:03.000Z"


def test_pull_can_be_shown_and_a_file_cannot(store: Store) -> None:
    """The revision tells pages when to look again."""
    before = store.revision
    save(store)
    assert store.revision == before
    add(store)
    assert store.revision == before + 1


def test_pull_of_an_unknown_status_is_refused_by_the_database(store: Store) -> None:
    """A misspelled word would be a source that is never warned of."""
    with pytest.raises(Exception, match="CHECK constraint"):
        add(store, status="fine")
    assert read.pulls(store, "shop") == []


def test_reader_writes_nothing(store: Store) -> None:
    """Neither files nor pulls."""
    with open_reader(store.path) as reader, pytest.raises(StoreError):
        add(reader)


@pytest.mark.parametrize(
    ("times", "newest"),
    [
        ((), None),
        ((None,), None),
        (("2026-03-05T05:00:00Z",), "2026-03-05T05:00:00Z"),
        (("2026-03-03T05:00:00Z", "2026-03-04T05:00:00Z", "2026-03-09T05:00:00Z"), "2026-03-04T05:00:00Z"),
        (("2026-03-03T05:00:00Z", "2026-03-05T07:00:00Z"), "2026-03-03T05:00:00Z"),
        (("2026-03-09T05:00:00Z",), None),
    ],
)
def test_newest_answer_is_never_ahead_of_the_instant(
    store: Store, times: tuple[str | None, ...], newest: str | None
) -> None:
    """A clock that was wrong once must not end the asking for new answers."""
    import_times(store, *times)
    assert read.newest_answered(store, "shop", until=NOW) == newest
    assert read.newest_answered(store, "other", until=NOW) is None


def test_newest_answer_is_found_by_the_index(store: Store) -> None:
    """However many answers there are."""
    from tests.store.test_query_plans import assert_by_index, plan_of, sql_of

    steps = plan_of(store, sql_of("newest_answered"))
    assert_by_index(steps)
    assert any("items_by_day (app=? AND source=? AND answered_day>?)" in step for step in steps)
