"""Reads: what a run planned, how far it came, what is left of it, what answered."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator

from evaluator.store.db import Store
from evaluator.store.read.base import Row, queries, to_row, to_rows

_LOOK_BACK_RUNS = 50


def runs(store: Store, app: str, *, most: int = 400, aside: bool = True) -> list[Row]:
    """The newest runs, each with counts of its plan: n_scored and n_unscored (by source), calls, cost, ``reasons``.

    n_not_started = n_anchors + n_traffic - scored - unscored. Counts are those of the run's end: an answer that failed
    in it and was graded by a later run still counts as unscored here. Without ``aside``, rechecks and picks are left
    out: they are no measurement of the app.
    """
    found = queries().runs(store.connection, app=app, aside=int(aside), most=most)
    return [_with_totals(store.connection, row) for row in to_rows(found)]


def _with_totals(connection: sqlite3.Connection, row: Row) -> Row:
    row["reasons"] = json.loads(row.pop("reasons_json"))
    if row["status"] == "running":
        row.update(count_run(connection, row["run_id"]))
    row["n_not_started"] = row["n_anchors"] + row["n_traffic"] - n_done(row)
    return row


def n_done(row: Row) -> int:
    """Number of verdicts of a run, from its totals."""
    return sum(int(row[f"n_{state}_{source}"]) for state in ("scored", "unscored") for source in ("anchor", "traffic"))


def count_run(connection: sqlite3.Connection, run_id: str) -> Row:
    """Count what came of one run so far: n_scored and n_unscored by source, ``reasons``, n_calls, tokens, cost_usd."""
    totals: Row = {f"n_{state}_{source}": 0 for state in ("scored", "unscored") for source in ("anchor", "traffic")}
    reasons: dict[str, int] = {}
    for row in queries().run_outcomes(connection, run_id=run_id):
        reason = row["unscored_reason"]
        totals[f"n_{'scored' if reason is None else 'unscored'}_{row['source']}"] += row["n"]
        if reason is not None:
            reasons[reason] = reasons.get(reason, 0) + row["n"]
    return {**totals, "reasons": reasons, **dict(queries().run_calls(connection, run_id=run_id))}


def run_counts(store: Store, run_id: str) -> Row:
    """How far a run's plan is: n_anchors, n_traffic planned; n_scored, n_unscored verdicts; their ``reasons``."""
    totals = count_run(store.connection, run_id)
    return {
        **dict(queries().run_size(store.connection, run_id=run_id)),
        "n_scored": totals["n_scored_anchor"] + totals["n_scored_traffic"],
        "n_unscored": totals["n_unscored_anchor"] + totals["n_unscored_traffic"],
        "reasons": totals["reasons"],
    }


def run_slots(store: Store, app: str) -> list[Row]:
    """The scheduled instant of every run: run_id, slot_utc, slot_day."""
    return to_rows(queries().run_slots(store.connection, app=app))


def run_at(store: Store, app: str, ruler_id: str, slot_utc: str) -> Row | None:
    """The run of one scheduled instant, None when there is none."""
    return to_row(queries().run_at(store.connection, app=app, ruler_id=ruler_id, slot_utc=slot_utc))


def open_runs(store: Store, app: str, *, before_slot_utc: str) -> list[Row]:
    """Runs of earlier slots that did not come to the end of their plan, oldest first."""
    return to_rows(queries().open_runs(store.connection, app=app, before_slot_utc=before_slot_utc))


def run_left(store: Store, run_id: str) -> Iterator[Row]:
    """Yield the planned items of a run that have no score yet, in order, with the reason of a failed try."""
    with queries().run_left_cursor(store.connection, run_id=run_id) as cursor:
        yield from map(dict, cursor)


def instruments_of_run(store: Store, run_id: str) -> list[Row]:
    """What answered in a run, commonest first: returned model, fingerprint, output mode, parameters, n verdicts."""
    return to_rows(queries().instruments_of_run(store.connection, run_id=run_id))


def instrument_before(store: Store, *, app: str, ruler_id: str, slot_utc: str) -> Row | None:
    """What answered most in the last run before a slot in which anything answered; None when there is none."""
    earlier = queries().runs_before(
        store.connection, app=app, ruler_id=ruler_id, slot_utc=slot_utc, most=_LOOK_BACK_RUNS
    )
    for run in to_rows(earlier):
        for found in instruments_of_run(store, run["run_id"]):
            return found
    return None
