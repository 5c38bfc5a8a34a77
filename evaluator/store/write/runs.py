"""Writes runs: the whole plan before the first call, the end, and the end of a run that was cut off for good."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime

from evaluator.clock import utc_text
from evaluator.records import Purpose, Source, StopReason
from evaluator.store import rollup
from evaluator.store.db import Store
from evaluator.store.read.runs import count_run
from evaluator.store.write.base import dump


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedItem:
    """One item of a run's plan; ``inclusion_probability`` is 1 for anchors."""

    item_id: str
    source: Source
    inclusion_probability: float


@dataclass(frozen=True, kw_only=True)
class SampledDay:
    """The sample drawn from one day's answers."""

    answered_day: str
    n_answers: int
    n_planned: int


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """A run before its first call: what it will grade, in order."""

    run_id: str
    app: str
    ruler_id: str
    anchor_set_id: str | None
    slot_utc: str
    slot_day: str
    kind: str
    items: tuple[PlannedItem, ...]
    sampled_days: tuple[SampledDay, ...]
    purpose: Purpose = Purpose.SCHEDULED


def begin_run(store: Store, plan: RunPlan, *, now: datetime) -> None:
    """Write a run with its whole plan before its first call, and close the days it samples."""
    n_anchors = sum(item.source is Source.ANCHOR for item in plan.items)
    with store.transaction() as connection:
        connection.execute(
            "INSERT INTO runs (run_id, app, ruler_id, anchor_set_id, slot_utc, slot_day, kind, status, started_utc,"
            " n_anchors, n_traffic, purpose) VALUES (?, ?, ?, ?, ?, ?, ?, 'running', ?, ?, ?, ?)",
            (
                plan.run_id, plan.app, plan.ruler_id, plan.anchor_set_id, plan.slot_utc, plan.slot_day, plan.kind,
                utc_text(now), n_anchors, len(plan.items) - n_anchors, plan.purpose,
            ),
        )  # fmt: skip
        connection.executemany(
            "INSERT INTO planned_items VALUES (?, ?, ?, ?, ?)",
            (
                (plan.run_id, item.item_id, item.source, position, item.inclusion_probability)
                for position, item in enumerate(plan.items)
            ),
        )
        connection.executemany(
            "INSERT INTO sampled_days VALUES (?, ?, ?, ?, ?, ?)",
            [
                (plan.app, plan.ruler_id, day.answered_day, plan.run_id, day.n_answers, day.n_planned)
                for day in plan.sampled_days
            ],
        )


def reopen_run(store: Store, run_id: str) -> None:
    """Take up a run that was interrupted, stopped or failed; finished and closed ones stay as they are."""
    with store.transaction() as connection:
        connection.execute(
            "UPDATE runs SET status = 'running', stop_reason = NULL, message = '', finished_utc = NULL"
            " WHERE run_id = ? AND status NOT IN ('finished', 'closed')",
            (run_id,),
        )


def finish_run(
    store: Store,
    run_id: str,
    *,
    status: str,
    stop_reason: StopReason | None,
    message: str,
    now: datetime,
    not_counted: str = "",
) -> None:
    """Close a run and bring the rollup up to date, in one transaction: no page sees one without the other.

    ``not_counted`` says why its anchors are no measurement although it came to its end.
    """
    with store.transaction() as connection:
        connection.execute(
            "UPDATE runs SET status = ?, stop_reason = ?, message = ?, finished_utc = ?, not_counted = ?"
            " WHERE run_id = ?",
            (status, stop_reason, message, utc_text(now), not_counted, run_id),
        )
        _settle(connection, run_id)


def close_abandoned_run(
    store: Store,
    run_id: str,
    *,
    status: str,
    stop_reason: StopReason | None,
    message: str,
    now: datetime,
    not_counted: str = "",
) -> None:
    """Close a run that was cut off for good, as "closed" or "failed"; a cause and an end noted before are kept."""
    with store.transaction() as connection:
        connection.execute(
            "UPDATE runs SET status = ?, stop_reason = coalesce(stop_reason, ?), message = ?,"
            " finished_utc = coalesce(finished_utc, ?), not_counted = ? WHERE run_id = ?",
            (status, stop_reason, message, utc_text(now), not_counted, run_id),
        )
        _settle(connection, run_id)


def keep_totals(connection: sqlite3.Connection, run_id: str) -> None:
    """Keep what came of a run with it, in the caller's transaction."""
    totals = count_run(connection, run_id)
    totals["reasons_json"] = dump(totals.pop("reasons"))
    columns = ", ".join(f"{name} = :{name}" for name in totals)
    connection.execute(f"UPDATE runs SET {columns} WHERE run_id = :run_id", {**totals, "run_id": run_id})  # noqa: S608


def _settle(connection: sqlite3.Connection, run_id: str) -> None:
    """Keep what came of a run with it, and rebuild the days it touched."""
    keep_totals(connection, run_id)
    app, slot_day = connection.execute("SELECT app, slot_day FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    rollup.mark_stale(connection, app, Source.ANCHOR, [slot_day])
    rollup.rebuild_stale(connection, app)


# ---------------------------------------------------------------- the sample of a run that will not be taken up again


def give_up_rest(store: Store, run_id: str) -> None:
    """End the sample of a run that will not be taken up again; doing it twice changes nothing.

    Answers are taken in the order of the hash, so those that were tried are the sample of a lower rate, and are stored
    as that: the rest leaves the plan, and each answer's inclusion probability shrinks by the share of its stratum that
    was tried. Of a day without a single score the sample is undone: it can be drawn anew.
    """
    with store.transaction() as connection:
        app, ruler_id = connection.execute("SELECT app, ruler_id FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        strata = connection.execute(_STRATA, (run_id,)).fetchall()
        connection.execute(_DROP_UNTRIED, (run_id, ruler_id))
        for day in sorted({row["day"] for row in strata if row["n_tried"] < row["n_planned"]}):
            of_day = [row for row in strata if row["day"] == day]
            if any(row["n_scored"] for row in of_day):
                _lower_rate(connection, app, run_id, of_day)
                n_tried = sum(row["n_tried"] for row in of_day)
                _note_sample(connection, app, ruler_id, run_id, day, n_tried)
            else:
                connection.execute(
                    "DELETE FROM sampled_days WHERE app = ? AND ruler_id = ? AND answered_day = ? AND run_id = ?",
                    (app, ruler_id, day, run_id),
                )
            rollup.mark_stale(connection, app, Source.TRAFFIC, [day])


# an answer that failed in an earlier run and was to be tried again counts as tried: its verdict stands
_STRATA = """
SELECT i.answered_day AS day, p.inclusion_probability AS probability, count(*) AS n_planned,
    count(v.verdict_id) AS n_tried, count(v.score) AS n_scored
FROM planned_items p JOIN items i ON i.item_id = p.item_id JOIN runs r ON r.run_id = p.run_id
LEFT JOIN verdicts v ON v.item_id = p.item_id AND v.ruler_id = r.ruler_id AND v.slot_utc = '' AND v.repeat = 0
WHERE p.run_id = ? AND p.source = 'traffic' GROUP BY i.answered_day, p.inclusion_probability
"""
_DROP_UNTRIED = """
DELETE FROM planned_items WHERE run_id = ? AND source = 'traffic' AND NOT EXISTS (
    SELECT 1 FROM verdicts v WHERE v.item_id = planned_items.item_id AND v.ruler_id = ? AND v.slot_utc = '')
"""
_SHRINK = """
UPDATE planned_items SET inclusion_probability = inclusion_probability * ?
WHERE run_id = ? AND inclusion_probability = ? AND source = 'traffic' AND item_id IN (
    SELECT item_id FROM items WHERE app = ? AND source = 'traffic' AND answered_day = ?)
"""


def _lower_rate(connection: sqlite3.Connection, app: str, run_id: str, strata: list[sqlite3.Row]) -> None:
    # from the smallest up: a stratum that has shrunk must not be met again at its new probability
    for row in sorted(strata, key=lambda row: float(row["probability"])):
        if 0 < row["n_tried"] < row["n_planned"]:
            share = row["n_tried"] / row["n_planned"]
            connection.execute(_SHRINK, (share, run_id, row["probability"], app, row["day"]))


def _note_sample(
    connection: sqlite3.Connection, app: str, ruler_id: str, run_id: str, day: str, n_planned: int
) -> None:
    connection.execute(
        "UPDATE sampled_days SET n_planned = ? WHERE app = ? AND ruler_id = ? AND answered_day = ? AND run_id = ?",
        (n_planned, app, ruler_id, day, run_id),
    )
