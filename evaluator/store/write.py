"""Writes answers, anchors, rulers, runs, verdicts, events, analyses: one transaction per unit of work, each repeatable.

Leases and budgets are in ``locks``; the rollup that pages read is in ``rollup``.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from evaluator.clock import day_of, parse_utc, utc_text
from evaluator.errors import UsageError
from evaluator.identity import versioned_item_id
from evaluator.records import Anchor, GradeOutcome, Instrument, Item, Ruler, Source, StopReason, content_hash
from evaluator.store import rollup
from evaluator.store.db import Store

INSERT_BATCH = 5_000


@dataclass(frozen=True, kw_only=True)
class ImportCounts:
    """What an import did: ``n_new`` answers added, ``n_known`` were there already, ``n_versions`` of the new ones
    came under a known id with another text."""

    n_new: int
    n_known: int
    n_versions: int
    version_ids: tuple[str, ...]
    first_day: str | None
    last_day: str | None
    n_without_time: int


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
class GradedItem:
    """One outcome, ready to be stored."""

    item_id: str
    source: Source
    outcome: GradeOutcome
    graded_utc: str


def sample_key(item_id: str) -> float:
    """Place of an item in the sampling order, uniform on [0, 1): the same for every judge and every rerun."""
    digest = hashlib.sha256(b"sample:" + item_id.encode("ascii")).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def anchor_item_id(app: str, anchor: Anchor) -> str:
    """Identity of an anchor's item: the same text under the same anchor id stays the same item."""
    return content_hash(app, "anchor", anchor.anchor_id, anchor.item.content_id)


# ---------------------------------------------------------------- answers


def import_answers(
    store: Store,
    *,
    app: str,
    answers: Iterable[tuple[str, Item]],
    path: str,
    file_sha256: str,
    n_rejected: int,
    now: datetime,
) -> ImportCounts:
    """Add answers; all of them or, on any error, none. Answers that are there already are left alone.

    Args:
        store: A writable store.
        app: The app the answers belong to.
        answers: (item id, item) pairs; read once, never held in memory as a whole.
        path: Name of the file, for the record.
        file_sha256: Hash of the file, for the record.
        n_rejected: Lines that were refused before, for the record.
        now: Wall clock.
    """
    connection = store.connection
    import_id = content_hash("import", app, path, file_sha256, utc_text(now))
    connection.execute("DROP TABLE IF EXISTS temp.staged")
    connection.execute(_STAGED_TABLE)
    connection.execute("DROP TABLE IF EXISTS temp.staged_tags")
    connection.execute("CREATE TEMP TABLE staged_tags (item_id TEXT, key TEXT, value TEXT)")
    # staged in the temporary database first: the real one is locked only while the finished rows are moved over
    _stage(connection, answers, store.zone)
    with store.transaction():
        counts = _merge_staged(connection, app, import_id)
        connection.execute(
            "INSERT INTO imports VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                import_id, app, path, file_sha256, counts.n_new + counts.n_known + n_rejected, counts.n_new,
                counts.n_known, counts.n_versions, n_rejected, utc_text(now),
            ),
        )  # fmt: skip
    connection.execute("DROP TABLE temp.staged")
    connection.execute("DROP TABLE temp.staged_tags")
    return counts


_ITEM_COLUMNS = (
    "item_id, external_id, version, content_id, input, output, reference, contexts_json, conversation_id, user_id,"
    " cluster_id, answered_utc, answered_day, answer_model, flags, sample_key"
)
_STAGED_TABLE = f"CREATE TEMP TABLE staged ({_ITEM_COLUMNS})"
_INSERT_STAGED = f"INSERT INTO temp.staged ({_ITEM_COLUMNS}) VALUES ({', '.join('?' * 16)})"  # noqa: S608 - constants


def _stage(connection: sqlite3.Connection, answers: Iterable[tuple[str, Item]], zone: ZoneInfo) -> None:
    rows: list[tuple[Any, ...]] = []
    tags: list[tuple[str, str, str]] = []
    days: dict[str, str] = {}

    def flush() -> None:
        connection.execute("BEGIN")
        connection.executemany(_INSERT_STAGED, rows)
        connection.executemany("INSERT INTO temp.staged_tags VALUES (?, ?, ?)", tags)
        connection.execute("COMMIT")
        rows.clear()
        tags.clear()

    for item_id, item in answers:
        rows.append(_item_row(item_id, item, _answered_day(item.answered_utc, zone, days)))
        tags.extend((item_id, key, value) for key, value in item.tags.items())
        if len(rows) >= INSERT_BATCH:
            flush()
    flush()


def _answered_day(answered_utc: str | None, zone: ZoneInfo, known: dict[str, str]) -> str | None:
    """Day of an answer in the store's zone; whole minutes are looked up, since no zone shifts by less."""
    if answered_utc is None:
        return None
    minute = answered_utc[:16]
    day = known.get(minute)
    if day is None:
        day = known[minute] = day_of(parse_utc(answered_utc), zone).isoformat()
    return day


def _item_row(item_id: str, item: Item, answered_day: str | None) -> tuple[Any, ...]:
    if item.conversation_id:
        cluster_id = "c:" + item.conversation_id
    elif item.user_id:
        cluster_id = "u:" + item.user_id
    else:
        cluster_id = item_id
    contexts = json.dumps(item.contexts, ensure_ascii=False) if item.contexts else "[]"
    flags = ",".join(sorted(item.flags)) if item.flags else ""
    return (
        item_id, item.external_id, 1, item.content_id, item.input, item.output, item.reference, contexts,
        item.conversation_id, item.user_id, cluster_id, item.answered_utc, answered_day, item.model, flags,
        sample_key(item_id),
    )  # fmt: skip


def _merge_staged(connection: sqlite3.Connection, app: str, import_id: str) -> ImportCounts:
    n_staged = connection.execute("SELECT count(*) FROM temp.staged").fetchone()[0]
    version_ids = _separate_versions(connection, app)
    before = connection.total_changes
    connection.execute(
        f"INSERT OR IGNORE INTO items (app, source, import_id, {_ITEM_COLUMNS})"  # noqa: S608 - constants
        f" SELECT ?, 'traffic', ?, {_ITEM_COLUMNS} FROM temp.staged ORDER BY rowid",
        (app, import_id),
    )
    n_new = connection.total_changes - before
    connection.execute("INSERT OR IGNORE INTO item_tags SELECT item_id, key, value FROM temp.staged_tags")
    first_day, last_day, n_without_time = connection.execute(
        "SELECT min(answered_day), max(answered_day), coalesce(sum(answered_utc IS NULL), 0)"
        " FROM items WHERE import_id = ?",
        (import_id,),
    ).fetchone()
    return ImportCounts(
        n_new=n_new,
        n_known=n_staged - n_new,
        n_versions=len(version_ids),
        version_ids=tuple(version_ids[:20]),
        first_day=first_day,
        last_day=last_day,
        n_without_time=n_without_time,
    )


def _separate_versions(connection: sqlite3.Connection, app: str) -> list[str]:
    """Give rows that bring another text under a known id an item id of their own; return the outside ids."""
    conflicts = connection.execute(
        """SELECT s.rowid AS row, s.item_id, s.content_id, s.external_id FROM temp.staged s
           WHERE s.item_id IN (SELECT i.item_id FROM items i JOIN temp.staged t ON t.item_id = i.item_id
                               WHERE i.content_id <> t.content_id)
              OR s.item_id IN (SELECT item_id FROM temp.staged GROUP BY item_id HAVING count(DISTINCT content_id) > 1)
           ORDER BY s.rowid"""
    ).fetchall()
    known: dict[str, dict[str, int]] = {}
    new_ids: list[str] = []
    for conflict in conflicts:
        base_id, content_id = conflict["item_id"], conflict["content_id"]
        if base_id not in known:
            known[base_id] = _versions_of(connection, app, conflict["external_id"])
        versions = known[base_id]
        if content_id not in versions:
            versions[content_id] = max(versions.values(), default=0) + 1
            if versions[content_id] > 1:
                new_ids.append(str(conflict["external_id"]))
        if versions[content_id] > 1:
            item_id = versioned_item_id(app, conflict["external_id"], content_id)
            _rename_staged(connection, conflict["row"], base_id, item_id, versions[content_id])
    return new_ids


def _versions_of(connection: sqlite3.Connection, app: str, external_id: str) -> dict[str, int]:
    rows = connection.execute(
        "SELECT content_id, version FROM items WHERE app = ? AND external_id = ? AND source = 'traffic'",
        (app, external_id),
    )
    return {row[0]: row[1] for row in rows}


def _rename_staged(connection: sqlite3.Connection, row: int, base_id: str, item_id: str, version: int) -> None:
    connection.execute(
        "UPDATE temp.staged SET item_id = ?, version = ?, sample_key = ?,"
        " cluster_id = CASE WHEN cluster_id = ? THEN ? ELSE cluster_id END WHERE rowid = ?",
        (item_id, version, sample_key(item_id), base_id, item_id, row),
    )
    # the tags of both versions were staged under the first id; the new version takes a copy of them
    connection.execute(
        "INSERT INTO temp.staged_tags SELECT ?, key, value FROM temp.staged_tags WHERE item_id = ?", (item_id, base_id)
    )


# ---------------------------------------------------------------- anchors and rulers


def save_anchor_set(store: Store, *, app: str, name: str, anchors: Sequence[Anchor], now: datetime) -> str:
    """Store an anchor set and its items; the same set twice changes nothing. Returns the set's id."""
    anchor_set_id = content_hash("anchors", app, name, [_anchor_key(anchor) for anchor in anchors])
    with store.transaction() as connection:
        known = connection.execute("SELECT 1 FROM anchor_sets WHERE anchor_set_id = ?", (anchor_set_id,)).fetchone()
        if known:
            return anchor_set_id
        connection.execute(
            "INSERT INTO anchor_sets VALUES (?, ?, ?, ?)", (anchor_set_id, name, len(anchors), utc_text(now))
        )
        for position, anchor in enumerate(anchors):
            _save_anchor(connection, app, anchor_set_id, anchor, position)
    return anchor_set_id


def _anchor_key(anchor: Anchor) -> list[Any]:
    return [anchor.anchor_id, anchor.item.content_id, anchor.expected_score, dict(anchor.item.tags)]


def _save_anchor(connection: sqlite3.Connection, app: str, set_id: str, anchor: Anchor, position: int) -> None:
    item_id = anchor_item_id(app, anchor)
    connection.execute(
        f"INSERT OR IGNORE INTO items (app, source, {_ITEM_COLUMNS}) VALUES (?, 'anchor', {', '.join('?' * 16)})",  # noqa: S608
        (app, *_item_row(item_id, anchor.item, None)),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO item_tags VALUES (?, ?, ?)",
        [(item_id, key, value) for key, value in anchor.item.tags.items()],
    )
    connection.execute(
        "INSERT INTO anchors VALUES (?, ?, ?, ?, ?, ?)",
        (set_id, anchor.anchor_id, item_id, anchor.expected_score, anchor.why, position),
    )


def register_ruler(store: Store, *, app: str, ruler: Ruler, now: datetime) -> bool:
    """Store a ruler and give it the app's next number. Returns True when the app had not used it before."""
    rubric = ruler.rubric
    with store.transaction() as connection:
        connection.execute(
            "INSERT OR IGNORE INTO rubrics VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                rubric.rubric_id, rubric.name, rubric.criterion, rubric.scale_min, rubric.scale_max,
                len(rubric.levels), _dump(rubric.as_dict()), utc_text(now),
            ),
        )  # fmt: skip
        connection.execute(
            "INSERT OR IGNORE INTO rulers VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                ruler.ruler_id, ruler.model_asked, rubric.rubric_id, ruler.prompt_template,
                _dump(dict(ruler.parameters)), ruler.output_mode, utc_text(now),
            ),
        )  # fmt: skip
        if connection.execute(
            "SELECT 1 FROM app_rulers WHERE app = ? AND ruler_id = ?", (app, ruler.ruler_id)
        ).fetchone():
            return False
        position = connection.execute("SELECT count(*) + 1 FROM app_rulers WHERE app = ?", (app,)).fetchone()[0]
        connection.execute("INSERT INTO app_rulers VALUES (?, ?, ?)", (app, ruler.ruler_id, position))
    return True


# ---------------------------------------------------------------- runs


def begin_run(store: Store, plan: RunPlan, *, now: datetime) -> None:
    """Write a run with its whole plan before its first call, and close the days it samples."""
    n_anchors = sum(item.source is Source.ANCHOR for item in plan.items)
    with store.transaction() as connection:
        connection.execute(
            "INSERT INTO runs (run_id, app, ruler_id, anchor_set_id, slot_utc, slot_day, kind, status, started_utc,"
            " n_anchors, n_traffic) VALUES (?, ?, ?, ?, ?, ?, ?, 'running', ?, ?, ?)",
            (
                plan.run_id, plan.app, plan.ruler_id, plan.anchor_set_id, plan.slot_utc, plan.slot_day, plan.kind,
                utc_text(now), n_anchors, len(plan.items) - n_anchors,
            ),
        )  # fmt: skip
        connection.executemany(
            "INSERT INTO planned_items VALUES (?, ?, ?, ?, ?)",
            [
                (plan.run_id, item.item_id, item.source, position, item.inclusion_probability)
                for position, item in enumerate(plan.items)
            ],
        )
        connection.executemany(
            "INSERT INTO sampled_days VALUES (?, ?, ?, ?, ?, ?)",
            [
                (plan.app, plan.ruler_id, day.answered_day, plan.run_id, day.n_answers, day.n_planned)
                for day in plan.sampled_days
            ],
        )


def reopen_run(store: Store, run_id: str) -> None:
    """Take up a run that was interrupted."""
    with store.transaction() as connection:
        connection.execute(
            "UPDATE runs SET status = 'running', stop_reason = NULL, message = '', finished_utc = NULL"
            " WHERE run_id = ? AND status <> 'finished'",
            (run_id,),
        )


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
            _dump(dict(instrument.parameters)),
        ),
    )  # fmt: skip
    return instrument.instrument_id


def _save_attempts(
    connection: sqlite3.Connection, plan: RunPlan, criterion: str, item: GradedItem, instrument_id: str | None
) -> None:
    connection.executemany(
        "INSERT INTO attempts (run_id, item_id, ruler_id, criterion, repeat, started_utc, duration_ms, http_status,"
        " reason, message, prompt_tokens, completion_tokens, cost_usd, completion_id, instrument_id)"
        " VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                plan.run_id, item.item_id, plan.ruler_id, criterion, attempt.started_utc, attempt.duration_ms,
                attempt.http_status, attempt.reason, attempt.message, attempt.prompt_tokens, attempt.completion_tokens,
                attempt.cost_usd, attempt.completion_id, instrument_id,
            )
            for attempt in item.outcome.attempts
        ],
    )  # fmt: skip


_SAVE_VERDICT = """
INSERT INTO verdicts (app, ruler_id, criterion, item_id, repeat, slot_utc, run_id, score, unscored_reason, explanation,
    strengths_json, weaknesses_json, thinking, raw_reply, detail, finish_reason, prompt_cut, instrument_id, latency_ms,
    prompt_tokens, completion_tokens, cost_usd, graded_utc)
VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (app, ruler_id, criterion, item_id, repeat, slot_utc) DO UPDATE SET
    run_id = excluded.run_id, score = excluded.score, unscored_reason = excluded.unscored_reason,
    explanation = excluded.explanation, strengths_json = excluded.strengths_json,
    weaknesses_json = excluded.weaknesses_json, thinking = excluded.thinking, raw_reply = excluded.raw_reply,
    detail = excluded.detail, finish_reason = excluded.finish_reason, prompt_cut = excluded.prompt_cut,
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
            plan.slot_utc if item.source is Source.ANCHOR else "", plan.run_id,
            verdict.score, verdict.unscored_reason, verdict.explanation,
            _dump(list(verdict.strengths)), _dump(list(verdict.weaknesses)), verdict.thinking, outcome.raw_reply,
            verdict.detail, outcome.finish_reason, int(outcome.prompt_cut), instrument_id,
            last.duration_ms if last else None, last.prompt_tokens if last else None,
            last.completion_tokens if last else None, sum(attempt.cost_usd for attempt in outcome.attempts),
            item.graded_utc,
        ),
    )  # fmt: skip


def _mark_stale(connection: sqlite3.Connection, plan: RunPlan, graded: Sequence[GradedItem]) -> None:
    """Note, in the transaction of the verdicts, which days of the rollup no longer agree with them."""
    if any(item.source is Source.ANCHOR for item in graded):
        rollup.mark_stale(connection, plan.app, Source.ANCHOR, [plan.slot_day])
    ids = [item.item_id for item in graded if item.source is Source.TRAFFIC]
    marks = ", ".join("?" * len(ids))
    rows = connection.execute(f"SELECT DISTINCT answered_day FROM items WHERE item_id IN ({marks})", ids)  # noqa: S608
    rollup.mark_stale(connection, plan.app, Source.TRAFFIC, [row[0] for row in rows.fetchall() if row[0]])


def finish_run(
    store: Store, run_id: str, *, status: str, stop_reason: StopReason | None, message: str, now: datetime
) -> None:
    """Close a run and bring the rollup up to date, in one transaction: no page sees one without the other."""
    with store.transaction() as connection:
        connection.execute(
            "UPDATE runs SET status = ?, stop_reason = ?, message = ?, finished_utc = ? WHERE run_id = ?",
            (status, stop_reason, message, utc_text(now), run_id),
        )
        app, slot_day = connection.execute("SELECT app, slot_day FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        rollup.mark_stale(connection, app, Source.ANCHOR, [slot_day])
        rollup.rebuild_stale(connection, app)


def close_abandoned_run(
    store: Store, run_id: str, *, stop_reason: StopReason | None, message: str, now: datetime
) -> None:
    """Close a run that was cut off for good; a cause noted before is kept."""
    with store.transaction() as connection:
        connection.execute(
            "UPDATE runs SET status = 'failed', stop_reason = coalesce(stop_reason, ?), message = ?,"
            " finished_utc = coalesce(finished_utc, ?) WHERE run_id = ?"
            " AND NOT EXISTS (SELECT 1 FROM verdicts v WHERE v.run_id = runs.run_id AND v.score IS NOT NULL)",
            (stop_reason, message, utc_text(now), run_id),
        )
        connection.execute(
            "UPDATE runs SET status = 'closed', stop_reason = coalesce(stop_reason, ?), message = ?,"
            " finished_utc = coalesce(finished_utc, ?) WHERE run_id = ? AND status <> 'failed'",
            (stop_reason, message, utc_text(now), run_id),
        )
        app, slot_day = connection.execute("SELECT app, slot_day FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        rollup.mark_stale(connection, app, Source.ANCHOR, [slot_day])
        rollup.rebuild_stale(connection, app)


def give_up_rest(store: Store, run_id: str) -> None:
    """Close the sample of a run that will not be taken up again.

    The items are taken in the order of the hash, so what was tried is the sample of a lower rate, and is stored so.
    """
    with store.transaction() as connection:
        days = connection.execute(
            """SELECT i.answered_day AS day, count(*) AS n_planned, count(v.verdict_id) AS n_tried
               FROM planned_items p JOIN items i ON i.item_id = p.item_id JOIN runs r ON r.run_id = p.run_id
               LEFT JOIN verdicts v ON v.item_id = p.item_id AND v.ruler_id = r.ruler_id AND v.slot_utc = ''
               WHERE p.run_id = ? AND p.source = 'traffic' GROUP BY i.answered_day""",
            (run_id,),
        ).fetchall()
        app = connection.execute("SELECT app FROM runs WHERE run_id = ?", (run_id,)).fetchone()[0]
        for day in days:
            if 0 < day["n_tried"] < day["n_planned"]:
                connection.execute(
                    "UPDATE planned_items SET inclusion_probability = inclusion_probability * ?"
                    " WHERE run_id = ? AND item_id IN (SELECT item_id FROM items WHERE answered_day = ?)",
                    (day["n_tried"] / day["n_planned"], run_id, day["day"]),
                )
                rollup.mark_stale(connection, app, Source.TRAFFIC, [day["day"]])


# ---------------------------------------------------------------- events and analyses


def add_event(
    store: Store,
    *,
    app: str,
    at: datetime,
    kind: str,
    text: str,
    by_whom: str,
    ruler_id: str | None = None,
    run_id: str | None = None,
    detail: Mapping[str, Any] | None = None,
) -> int:
    """Log something that may explain a change: a deploy, another instrument, a note. Returns its id."""
    if not text.strip():
        raise UsageError("an event needs a text")
    with store.transaction() as connection:
        cursor = connection.execute(
            "INSERT INTO events (app, at_utc, day, kind, ruler_id, run_id, text, detail_json, by_whom)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                app, utc_text(at), day_of(at, store.zone).isoformat(), kind, ruler_id, run_id, text,
                _dump(dict(detail or {})), by_whom,
            ),
        )  # fmt: skip
    return int(cursor.lastrowid or 0)


def save_analysis(
    store: Store,
    *,
    app: str,
    ruler_id: str,
    criterion: str,
    first_day: str | None,
    last_day: str | None,
    baseline: str,
    settings_hash: str,
    code_version: str,
    schema_version: int,
    payload: Mapping[str, Any],
    revision: int,
    now: datetime,
) -> None:
    """Keep the result of an analysis for the pages and commands that show it."""
    with store.transaction() as connection:
        connection.execute(
            "INSERT OR REPLACE INTO analyses (store_revision, app, ruler_id, criterion, first_day, last_day, baseline,"
            " settings_hash, code_version, schema_version, computed_utc, payload_json)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                revision, app, ruler_id, criterion, first_day, last_day, baseline, settings_hash, code_version,
                schema_version, utc_text(now), _dump(payload),
            ),
        )  # fmt: skip


def _dump(value: Any) -> str:
    """JSON as it is stored; NaN and infinity are refused, since no page or program could read them."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
