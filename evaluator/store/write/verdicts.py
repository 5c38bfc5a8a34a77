"""Writes what came of grading: every call, and a verdict for each item that is not left pending.

A score is a fact: a verdict without one may be replaced, a scored one never; a second score for it is dropped, while
its calls are kept.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from evaluator.records import GradeOutcome, Instrument, Source
from evaluator.store import rollup
from evaluator.store.db import Store
from evaluator.store.write.base import dump
from evaluator.store.write.runs import RunPlan


@dataclass(frozen=True, kw_only=True)
class GradedItem:
    """One outcome, ready to be stored."""

    item_id: str
    source: Source
    outcome: GradeOutcome
    graded_utc: str


def save_outcomes(store: Store, plan: RunPlan, criterion: str, graded: Sequence[GradedItem]) -> None:
    """Store a batch of outcomes: every call, and a verdict for each item that is not left pending."""
    with store.transaction() as connection:
        for item in graded:
            instrument_id = _save_instrument(connection, item.outcome.instrument)
            _save_attempts(connection, plan, criterion, item, instrument_id)
            if item.outcome.verdict is not None:
                _save_verdict(connection, plan, criterion, item, instrument_id)
        _mark_stale(connection, plan, graded)


def _save_instrument(connection: sqlite3.Connection, instrument: Instrument | None) -> str | None:
    if instrument is None:
        return None
    connection.execute(
        "INSERT OR IGNORE INTO instruments VALUES (?, ?, ?, ?, ?)",
        (
            instrument.instrument_id, instrument.resolved_model, instrument.fingerprint, instrument.output_mode,
            dump(dict(instrument.parameters)),
        ),
    )  # fmt: skip
    return instrument.instrument_id


def _save_attempts(
    connection: sqlite3.Connection, plan: RunPlan, criterion: str, item: GradedItem, instrument_id: str | None
) -> None:
    connection.executemany(
        "INSERT INTO attempts (run_id, item_id, ruler_id, criterion, repeat, started_utc, duration_ms, http_status,"
        " reason, message, prompt_tokens, completion_tokens, cost_usd, completion_id, completion_created,"
        " instrument_id) VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                plan.run_id, item.item_id, plan.ruler_id, criterion, attempt.started_utc, attempt.duration_ms,
                attempt.http_status, attempt.reason, attempt.message, attempt.prompt_tokens, attempt.completion_tokens,
                attempt.cost_usd, attempt.completion_id, attempt.completion_created, instrument_id,
            )
            for attempt in item.outcome.attempts
        ],
    )  # fmt: skip


MOST_CHARS = 20_000  # of each text of a verdict; the score is read from the whole reply before
MOST_POINTS, MOST_POINT_CHARS = 30, 2_000

_SAVE_VERDICT = """
INSERT INTO verdicts (app, ruler_id, criterion, item_id, repeat, slot_utc, run_id, score, unscored_reason, explanation,
    strengths_json, weaknesses_json, thinking, raw_reply, detail, finish_reason, prompt_cut, logprob_score,
    instrument_id, latency_ms, prompt_tokens, completion_tokens, cost_usd, graded_utc)
VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (app, ruler_id, criterion, item_id, repeat, slot_utc) DO UPDATE SET
    run_id = excluded.run_id, score = excluded.score, unscored_reason = excluded.unscored_reason,
    explanation = excluded.explanation, strengths_json = excluded.strengths_json,
    weaknesses_json = excluded.weaknesses_json, thinking = excluded.thinking, raw_reply = excluded.raw_reply,
    detail = excluded.detail, finish_reason = excluded.finish_reason, prompt_cut = excluded.prompt_cut,
    logprob_score = excluded.logprob_score,
    instrument_id = excluded.instrument_id, latency_ms = excluded.latency_ms, prompt_tokens = excluded.prompt_tokens,
    completion_tokens = excluded.completion_tokens, cost_usd = excluded.cost_usd, graded_utc = excluded.graded_utc
WHERE verdicts.score IS NULL
"""


def _save_verdict(
    connection: sqlite3.Connection, plan: RunPlan, criterion: str, item: GradedItem, instrument_id: str | None
) -> None:
    outcome, verdict = item.outcome, item.outcome.verdict
    if verdict is None:
        raise ValueError(f"item {item.item_id} has no verdict to store")
    last = outcome.attempts[-1] if outcome.attempts else None
    connection.execute(
        _SAVE_VERDICT,
        (
            plan.app, plan.ruler_id, criterion, item.item_id,
            plan.slot_utc if item.source is Source.ANCHOR or plan.purpose.is_aside else "", plan.run_id,
            verdict.score, verdict.unscored_reason, bounded(verdict.explanation), dump(_points(verdict.strengths)),
            dump(_points(verdict.weaknesses)), bounded(verdict.thinking), bounded(outcome.raw_reply),
            bounded(verdict.detail), outcome.finish_reason, int(outcome.prompt_cut), outcome.logprob_score,
            instrument_id, last.duration_ms if last else None, last.prompt_tokens if last else None,
            last.completion_tokens if last else None, sum(attempt.cost_usd for attempt in outcome.attempts),
            item.graded_utc,
        ),
    )  # fmt: skip


def bounded(text: str, most: int = MOST_CHARS) -> str:
    """Cut a judge's text to what is worth keeping, and say what was left out: a reply can have megabytes."""
    left_out = len(text) - most
    return text if left_out <= 0 else f"{text[:most]}… [{left_out} more characters were not kept]"


def _points(texts: Sequence[str]) -> list[str]:
    return [bounded(text, MOST_POINT_CHARS) for text in texts[:MOST_POINTS]]


def _mark_stale(connection: sqlite3.Connection, plan: RunPlan, graded: Sequence[GradedItem]) -> None:
    """Note, in the transaction of the verdicts, which days of the rollup no longer agree with them."""
    if any(item.source is Source.ANCHOR for item in graded):
        rollup.mark_stale(connection, plan.app, Source.ANCHOR, [plan.slot_day])
    ids = [item.item_id for item in graded if item.source is Source.TRAFFIC]
    marks = ", ".join("?" * len(ids))
    rows = connection.execute(f"SELECT DISTINCT answered_day FROM items WHERE item_id IN ({marks})", ids)  # noqa: S608
    rollup.mark_stale(connection, plan.app, Source.TRAFFIC, [row[0] for row in rows.fetchall() if row[0]])
