"""Queries that a page or the end of a run makes find their rows by an index, however many verdicts there are.

The plans are those of an empty database, without statistics: what SQLite chooses there it chooses everywhere.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import evaluator.store
from evaluator.store.db import Store
from evaluator.store.write import answers as write_answers
from evaluator.store.write import runs as write_runs

FOLDER = Path(evaluator.store.__file__).parent / "queries"
WHOLE_KEY = r"app=\? AND ruler_id=\? AND criterion=\? AND item_id=\?"
LARGE = "verdicts|attempts|items|planned_items|item_tags|v|i|t|p"


def sql_of(name: str) -> str:
    """The text of a named read query."""
    for path in (FOLDER / "read").glob("*.sql"):
        found = re.search(rf"^-- name: {name}\(.*\n((?:(?!-- name:).*\n)*)", path.read_text("utf-8"), re.MULTILINE)
        if found:
            return found[1]
    raise KeyError(name)


def rollup_sql(*names: str) -> str:
    """Parts of the rollup, put together."""
    return "".join((FOLDER / "rollup" / f"{name}.sql").read_text("utf-8") for name in names)


def plan_of(store: Store, sql: str) -> list[str]:
    """The steps of a query."""
    values = dict.fromkeys(re.findall(r":(\w+)", sql), "x")
    return [str(row["detail"]) for row in store.connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]


def assert_by_index(steps: list[str]) -> None:
    """Hold a plan to it that verdicts, calls and items are never read from end to end."""
    for step in steps:
        assert not re.match(r"SCAN (verdicts|attempts|items|planned_items|item_tags|v|i|t|p|u)\b(?! *USING)", step), (
            steps
        )
        assert not re.search(rf"sqlite_autoindex_verdicts_1 \((?!{WHOLE_KEY})", step), steps
        assert not re.search(r"items_by_day \(app=\?\)", step), steps


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("anchor_scores", "verdicts_of_anchors (app=? AND ruler_id=? AND criterion=?"),
        ("to_grade_again", "verdicts_unscored (app=? AND ruler_id=?"),
        ("unscored_reasons", "verdicts_unscored (app=? AND ruler_id=?"),
        ("items_by_id_start", "items_by_external_id (app=? AND external_id=?)"),
        ("attempts_of_item", "attempts_by_run (run_id=? AND item_id=?)"),
        ("verdicts_of_item", "verdicts_by_item (item_id=?)"),
        ("run_left", "verdicts_by_item (item_id=?"),
        ("instruments_of_run", "verdicts_by_run (run_id=?)"),
        ("times_planned", "(run_id=? AND item_id=?)"),
        ("sampling_order", "items_by_day (app=? AND source=? AND answered_day=?)"),
        ("segment_size", "items_by_day (app=? AND source=? AND answered_day=?)"),
        ("answer_days", "items_by_day (app=? AND source=?"),
        ("count_in_totals", "(app=? AND ruler_id=?)"),
        ("run_outcomes", "verdicts_by_run (run_id=?)"),
        ("run_calls", "attempts_by_run (run_id=?)"),
        ("anchor_calls", "attempts_by_run (run_id=?)"),
    ],
)
def test_query_uses_its_index(store: Store, name: str, index: str) -> None:
    """And reads no large table from end to end."""
    steps = plan_of(store, sql_of(name))
    assert any(index in step for step in steps), steps
    assert_by_index(steps)


@pytest.mark.parametrize("name", ["runs", "rulers", "counts", "segments", "open_runs"])
def test_query_reads_no_large_table(store: Store, name: str) -> None:
    """What every page asks for costs the same after years."""
    assert_by_index(plan_of(store, sql_of(name)))


@pytest.mark.parametrize("graded", ["traffic", "anchors"])
@pytest.mark.parametrize("totals", ["totals", "levels"])
def test_day_is_totalled_from_its_own_rows(store: Store, graded: str, totals: str) -> None:
    """From the day's items to their verdicts: the other order took seconds a day at a million verdicts."""
    steps = plan_of(store, rollup_sql(graded, "members", totals))
    first = next(step for step in steps if step.startswith("SEARCH i "))
    assert first == "SEARCH i USING INDEX items_by_day (app=? AND source=?" + (
        " AND answered_day=?)" if graded == "traffic" else ")"
    )
    v = next(step for step in steps if step.startswith("SEARCH v "))
    assert ("verdicts_by_item (item_id=?)" in v) or ("item_id=? AND repeat=? AND slot_utc=?" in v)
    assert_by_index(steps)


@pytest.mark.parametrize("name", ["new_segments", "new_crossed_segments"])
def test_new_segments_are_looked_for_in_stale_days_only(store: Store, name: str) -> None:
    """From the days to their items to these items' tags."""
    steps = plan_of(store, rollup_sql(name))
    assert any("items_by_day (app=? AND source=? AND answered_day=?)" in step for step in steps), steps
    assert_by_index(steps)


@pytest.mark.parametrize("statement", [write_answers._KEEP_NEW_ONLY, write_answers._CONFLICTS])
def test_import_looks_up_its_own_rows(store: Store, statement: str) -> None:
    """However many answers there are: the items of the staged ids, one by one."""
    for prepare in write_answers._STAGING:
        store.connection.execute(prepare)
    steps = plan_of(store, statement.replace("?", ":import_id"))
    assert any("SEARCH i USING INDEX sqlite_autoindex_items_1 (item_id=?)" in step for step in steps), steps


@pytest.mark.parametrize("statement", [write_runs._STRATA, write_runs._DROP_UNTRIED, write_runs._SHRINK])
def test_end_of_a_sample_reads_its_own_rows(store: Store, statement: str) -> None:
    """The plan of the run and the verdicts of its items."""
    place = iter("abcdefgh")
    steps = plan_of(store, re.sub(r"\?", lambda _: f":{next(place)}", statement))
    assert_by_index(steps)
    assert not any("verdicts_unscored" in step or "verdicts_of_anchors" in step for step in steps), steps
