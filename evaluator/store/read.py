"""Reads: one function per question. The queries stand in ``queries/read``; rows come back as plain dictionaries.

Works on a writer's or a reader's store. Whatever lists answers takes a limit; charts and analyses read the rollup.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import aiosql

from evaluator.records import Anchor, Item, ItemFlag, Source
from evaluator.store.db import Store

Row = dict[str, Any]
FIRST_DAY, LAST_DAY = "0000-00-00", "9999-99-99"  # bounds for "all days"; days compare as text


@cache
def _queries() -> Any:
    return aiosql.from_path(Path(__file__).parent / "queries" / "read", "sqlite3")


def _rows(found: Iterable[sqlite3.Row]) -> list[Row]:
    return [dict(row) for row in found]


def _row(found: sqlite3.Row | None) -> Row | None:
    return None if found is None else dict(found)


# ---------------------------------------------------------------- apps, setups, runs


def apps(store: Store) -> list[str]:
    """Names of the apps in this database."""
    return [row["app"] for row in _rows(_queries().apps(store.connection))]


def rulers(store: Store, app: str) -> list[Row]:
    """Judge setups of an app in the order of first use; ``position`` is the number shown (setup v1, v2, ...)."""
    return _rows(_queries().rulers(store.connection, app=app))


def newest_ruler(store: Store, app: str) -> Row | None:
    """The setup of the newest run; None when the app has none."""
    found = rulers(store, app)
    return max(found, key=lambda row: (row["last_day"] or "", row["position"]), default=None)


def runs(store: Store, app: str, *, most: int = 400) -> list[Row]:
    """The newest runs, each with counts of its plan: n_scored and n_unscored (by source), calls, cost, ``reasons``.

    n_not_started = n_anchors + n_traffic - scored - unscored.
    """
    found = _rows(_queries().runs(store.connection, app=app, most=most))
    if not found:
        return []
    by_id = {row["run_id"]: _with_empty_counts(row) for row in found}
    first_slot = found[-1]["slot_utc"]
    for row in _queries().run_outcomes(store.connection, app=app, first_slot=first_slot):
        if row["run_id"] in by_id:
            _count_outcome(by_id[row["run_id"]], row)
    for row in _queries().run_calls(store.connection, app=app, first_slot=first_slot):
        if row["run_id"] in by_id:
            by_id[row["run_id"]].update({key: row[key] for key in row.keys() if key != "run_id"})  # noqa: SIM118
    for run in by_id.values():
        done = run["n_scored_anchor"] + run["n_scored_traffic"] + run["n_unscored_anchor"] + run["n_unscored_traffic"]
        run["n_not_started"] = max(0, run["n_anchors"] + run["n_traffic"] - done)
    return list(by_id.values())


def _with_empty_counts(row: Row) -> Row:
    counts = {f"n_{state}_{source}": 0 for state in ("scored", "unscored") for source in ("anchor", "traffic")}
    calls = {"n_calls": 0, "cost_usd": 0.0, "prompt_tokens": 0, "completion_tokens": 0}
    return {**row, **counts, **calls, "reasons": {}}


def _count_outcome(run: Row, row: sqlite3.Row) -> None:
    reason = row["unscored_reason"]
    run[f"n_{'scored' if reason is None else 'unscored'}_{row['source']}"] += row["n"]
    if reason is not None:
        run["reasons"][reason] = run["reasons"].get(reason, 0) + row["n"]


def run_slots(store: Store, app: str) -> list[Row]:
    """The scheduled instant of every run: run_id, slot_utc, slot_day."""
    return _rows(_queries().run_slots(store.connection, app=app))


def run_at(store: Store, app: str, ruler_id: str, slot_utc: str) -> Row | None:
    """The run of one scheduled instant, None when there is none."""
    return _row(_queries().run_at(store.connection, app=app, ruler_id=ruler_id, slot_utc=slot_utc))


def open_runs(store: Store, app: str) -> list[Row]:
    """Runs that did not finish, oldest first."""
    return _rows(_queries().open_runs(store.connection, app=app))


def run_left(store: Store, run_id: str) -> list[Row]:
    """Planned items of a run that have no score yet, in order, with the reason of a failed try."""
    return _rows(_queries().run_left(store.connection, run_id=run_id))


def run_counts(store: Store, run_id: str) -> Row:
    """How far a run's plan is: n_anchors, n_traffic planned; n_scored, n_unscored verdicts."""
    return dict(_queries().run_counts(store.connection, run_id=run_id))


def events(store: Store, app: str, *, first_day: str = FIRST_DAY, last_day: str = LAST_DAY) -> list[Row]:
    """What was logged in a period, in order of time."""
    return _rows(_queries().events(store.connection, app=app, first_day=first_day, last_day=last_day))


def instruments_by_run(store: Store, app: str, ruler_id: str) -> list[Row]:
    """What answered in each run: returned model, fingerprint, output mode, parameters really sent, n verdicts."""
    return _rows(_queries().instruments_by_run(store.connection, app=app, ruler_id=ruler_id))


# ---------------------------------------------------------------- scores


def everything_segment(store: Store, app: str) -> int | None:
    """Id of the segment that holds all items; None before the first rollup."""
    return next((row["segment_id"] for row in segments(store, app) if row["key"] == ""), None)


def segments(store: Store, app: str) -> list[Row]:
    """Segments of an app: segment_id, key, value, key2, value2; key "" is everything."""
    return _rows(_queries().segments(store.connection, app=app))


def segment_keys(store: Store, app: str) -> list[tuple[str, str]]:
    """Keys that the app is broken down by: (key, "") or (key, crossed key)."""
    return [(row["key"], row["key2"]) for row in _queries().segment_keys(store.connection, app=app)]


def day_totals(
    store: Store,
    *,
    app: str,
    ruler_id: str,
    criterion: str,
    source: Source,
    segment_id: int,
    first_day: str = FIRST_DAY,
    last_day: str = LAST_DAY,
) -> list[Row]:
    """Weighted sums per day and run of one segment; ``stats.intervals`` makes means of them."""
    return _rows(
        _queries().day_totals(
            store.connection,
            app=app,
            ruler_id=ruler_id,
            criterion=criterion,
            source=str(source),
            segment_id=segment_id,
            first_day=first_day,
            last_day=last_day,
        )
    )


def segment_day_totals(
    store: Store,
    *,
    app: str,
    ruler_id: str,
    criterion: str,
    source: Source,
    first_day: str = FIRST_DAY,
    last_day: str = LAST_DAY,
) -> list[Row]:
    """Weighted sums per segment, day and run, all segments at once."""
    return _rows(
        _queries().segment_day_totals(
            store.connection,
            app=app,
            ruler_id=ruler_id,
            criterion=criterion,
            source=str(source),
            first_day=first_day,
            last_day=last_day,
        )
    )


def day_levels(
    store: Store,
    *,
    app: str,
    ruler_id: str,
    criterion: str,
    source: Source,
    segment_id: int,
    first_day: str = FIRST_DAY,
    last_day: str = LAST_DAY,
) -> list[Row]:
    """How many scores of each level, per day."""
    return _rows(
        _queries().day_levels(
            store.connection,
            app=app,
            ruler_id=ruler_id,
            criterion=criterion,
            source=str(source),
            segment_id=segment_id,
            first_day=first_day,
            last_day=last_day,
        )
    )


def score_days(store: Store, app: str, ruler_id: str) -> tuple[str, str] | None:
    """First and last day with scores under a setup; None when there are none."""
    row = _queries().score_days(store.connection, app=app, ruler_id=ruler_id)
    return None if row is None or row["first_day"] is None else (row["first_day"], row["last_day"])


def anchor_scores(store: Store, *, app: str, ruler_id: str, criterion: str) -> list[Row]:
    """Every anchor verdict: slot_utc, slot_day, run_id, item_id, score (None = unscored). Failed runs are left out."""
    return _rows(_queries().anchor_scores(store.connection, app=app, ruler_id=ruler_id, criterion=criterion))


def anchor_runs(store: Store, *, app: str, ruler_id: str) -> list[Row]:
    """Every run that planned anchors, by slot: run_id, slot_utc, slot_day, status, anchor_set_id, n_anchors."""
    return _rows(_queries().anchor_runs(store.connection, app=app, ruler_id=ruler_id))


def anchors_of_set(store: Store, anchor_set_id: str) -> list[Row]:
    """The anchors of a set in their order: anchor_id, item_id, expected_score, why."""
    return _rows(_queries().anchors_of_set(store.connection, anchor_set_id=anchor_set_id))


def anchor_names(store: Store, app: str) -> dict[str, Row]:
    """Name, expected score and reason of every anchor item, by item id."""
    return {row["item_id"]: dict(row) for row in _queries().anchor_names(store.connection, app=app)}


def sampled_days(store: Store, app: str, ruler_id: str) -> dict[str, Row]:
    """The samples drawn, by answered day: n_answers of the day, n_planned of them, run_id."""
    rows = _queries().sampled_days(store.connection, app=app, ruler_id=ruler_id)
    return {row["answered_day"]: dict(row) for row in rows}


def unscored_reasons(
    store: Store,
    *,
    app: str,
    ruler_id: str,
    source: Source,
    first_day: str = FIRST_DAY,
    last_day: str = LAST_DAY,
) -> list[Row]:
    """Why verdicts have no score: day, unscored_reason, n."""
    return _rows(
        _queries().unscored_reasons(
            store.connection,
            app=app,
            ruler_id=ruler_id,
            source=str(source),
            first_day=first_day,
            last_day=last_day,
        )
    )


def newest_analysis(store: Store, *, app: str, ruler_id: str, criterion: str) -> Row | None:
    """The newest stored analysis, its payload parsed; None when there is none."""
    row = _row(_queries().newest_analysis(store.connection, app=app, ruler_id=ruler_id, criterion=criterion))
    if row is not None:
        row["payload"] = json.loads(row.pop("payload_json"))
    return row


# ---------------------------------------------------------------- answers


@dataclass(frozen=True, kw_only=True)
class AnswerFilter:
    """Which answers to list. None means any. ``segment`` is (key, value, key2, value2), the last two may be ""."""

    source: Source = Source.TRAFFIC
    segment: tuple[str, str, str, str] | None = None
    first_day: str = FIRST_DAY
    last_day: str = LAST_DAY
    level: float | None = None
    half_step: float = 0.5
    unscored: bool | None = None
    reason: str | None = None
    text: str | None = None
    run_id: str | None = None


_ORDERS = {
    "newest": "day DESC, i.sample_key",
    "oldest": "day, i.sample_key",
    "lowest": "v.score IS NULL, v.score, day DESC, i.sample_key",
    "highest": "v.score IS NULL, v.score DESC, day DESC, i.sample_key",
}


def list_answers(
    store: Store,
    *,
    app: str,
    ruler_id: str,
    where: AnswerFilter,
    order: str = "newest",
    most: int = 50,
    skip: int = 0,
) -> list[Row]:
    """Graded answers (or anchors, one row a run) with score and explanation, filtered, in order, at most ``most``.

    Raises:
        ValueError: an unknown order.
    """
    if order not in _ORDERS:
        raise ValueError(f"order {order!r} is none of {', '.join(_ORDERS)}")
    sql, values = _answers_where(app, ruler_id, where)
    rows = store.connection.execute(
        f"""SELECT i.item_id, i.external_id, i.source, i.input, i.output, i.answered_utc, i.answer_model, i.flags,
                   CASE WHEN i.source = 'anchor' THEN r.slot_day ELSE i.answered_day END AS day, v.verdict_id, v.run_id,
                   v.score, v.unscored_reason, v.explanation, v.graded_utc, v.cost_usd
            {sql} ORDER BY {_ORDERS[order]} LIMIT ? OFFSET ?""",  # noqa: S608 - built from constants
        (*values, most, skip),
    )
    return _rows(rows)


def count_answers(store: Store, *, app: str, ruler_id: str, where: AnswerFilter) -> int:
    """How many answers ``list_answers`` would list without a limit."""
    sql, values = _answers_where(app, ruler_id, where)
    return int(store.connection.execute(f"SELECT count(*) {sql}", values).fetchone()[0])  # noqa: S608


def _answers_where(app: str, ruler_id: str, where: AnswerFilter) -> tuple[str, list[Any]]:
    """FROM and WHERE of the answers that pass a filter, with the values for its marks."""
    day = "r.slot_day" if where.source is Source.ANCHOR else "i.answered_day"
    sql = [
        "FROM items i JOIN verdicts v ON v.item_id = i.item_id AND v.ruler_id = ? JOIN runs r ON r.run_id = v.run_id"
        f" WHERE i.app = ? AND i.source = ? AND {day} >= ? AND {day} <= ?"
    ]
    values: list[Any] = [ruler_id, app, str(where.source), where.first_day, where.last_day]
    for key, value in _segment_pairs(where.segment):
        sql.append("AND EXISTS (SELECT 1 FROM item_tags t WHERE t.item_id = i.item_id AND t.key = ? AND t.value = ?)")
        values += [key, value]
    if where.level is not None:
        sql.append("AND v.score >= ? AND v.score < ?")
        values += [where.level - where.half_step, where.level + where.half_step]
    if where.unscored is not None:
        sql.append(f"AND v.score IS {'NULL' if where.unscored else 'NOT NULL'}")
    for column, wanted in (("v.unscored_reason", where.reason), ("v.run_id", where.run_id)):
        if wanted is not None:
            sql.append(f"AND {column} = ?")
            values.append(wanted)
    if where.text:
        sql.append(
            "AND (i.input LIKE ? ESCAPE '\\' OR i.output LIKE ? ESCAPE '\\' OR v.explanation LIKE ? ESCAPE '\\')"
        )
        values += [f"%{_escape_like(where.text)}%"] * 3
    return " ".join(sql), values


def _segment_pairs(segment: tuple[str, str, str, str] | None) -> list[tuple[str, str]]:
    if segment is None:
        return []
    key, value, key2, value2 = segment
    return [pair for pair in ((key, value), (key2, value2)) if pair[0]]


def _escape_like(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def find_item_ids(store: Store, app: str, start: str) -> list[str]:
    """Ids of items (at most three) whose id begins with ``start`` or whose outside id is ``start``."""
    rows = _queries().items_by_id_start(store.connection, app=app, start=start, end=start + "\U0010ffff")
    return [row["item_id"] for row in rows]


def item(store: Store, item_id: str) -> Row | None:
    """One item with its text, tags, and what is known of it as an anchor; None when there is none."""
    row = _row(_queries().item(store.connection, item_id=item_id))
    if row is None:
        return None
    row["contexts"] = json.loads(row.pop("contexts_json"))
    row["tags"] = {tag["key"]: tag["value"] for tag in _queries().item_tags(store.connection, item_id=item_id)}
    row["anchor"] = _row(_queries().anchor_of_item(store.connection, item_id=item_id))
    return row


def verdicts_of_item(store: Store, item_id: str, *, most: int = 500) -> list[Row]:
    """Every verdict on an item, newest first; strengths and weaknesses parsed."""
    rows = _rows(_queries().verdicts_of_item(store.connection, item_id=item_id, most=most))
    for row in rows:
        row["strengths"] = json.loads(row.pop("strengths_json"))
        row["weaknesses"] = json.loads(row.pop("weaknesses_json"))
    return rows


def attempts_of_item(store: Store, item_id: str, *, most: int = 200) -> list[Row]:
    """Every call made for an item, newest first."""
    return _rows(_queries().attempts_of_item(store.connection, item_id=item_id, most=most))


def load_items(store: Store, item_ids: Iterable[str]) -> dict[str, Item]:
    """The items of these ids, as the judge takes them (tags are left out: they never reach the judge)."""
    found: dict[str, Item] = {}
    ids = list(item_ids)
    for start in range(0, len(ids), 500):
        chunk = ids[start : start + 500]
        marks = ", ".join("?" * len(chunk))
        rows = store.connection.execute(f"SELECT * FROM items WHERE item_id IN ({marks})", chunk)  # noqa: S608
        found.update({row["item_id"]: _item(row) for row in rows})
    return found


def _item(row: sqlite3.Row) -> Item:
    return Item(
        input=row["input"],
        output=row["output"],
        reference=row["reference"],
        contexts=tuple(json.loads(row["contexts_json"])),
        external_id=row["external_id"],
        conversation_id=row["conversation_id"],
        user_id=row["user_id"],
        answered_utc=row["answered_utc"],
        model=row["answer_model"],
        flags=frozenset(ItemFlag(flag) for flag in row["flags"].split(",") if flag),
    )


def load_anchor_set(store: Store, anchor_set_id: str) -> list[tuple[str, Anchor]]:
    """The anchors of a stored set in their order, as (item id, anchor)."""
    rows = anchors_of_set(store, anchor_set_id)
    items = load_items(store, [row["item_id"] for row in rows])
    return [
        (
            row["item_id"],
            Anchor(
                anchor_id=row["anchor_id"],
                item=items[row["item_id"]],
                expected_score=row["expected_score"],
                why=row["why"],
            ),
        )
        for row in rows
    ]


# ---------------------------------------------------------------- sampling


def answer_days(store: Store, app: str) -> dict[str, int]:
    """Number of answers by answered day."""
    return {row["answered_day"]: row["n"] for row in _queries().answer_days(store.connection, app=app)}


def sampling_order(
    store: Store, app: str, day: str, *, most: int, segment: tuple[str, str] | None = None
) -> list[tuple[str, float]]:
    """The first ``most`` answers of a day (and segment) in the order of the hash: (item id, place in [0, 1))."""
    if segment is None:
        rows = _queries().sampling_order(store.connection, app=app, day=day, most=most)
    else:
        rows = _queries().sampling_order_of_segment(
            store.connection, app=app, day=day, key=segment[0], value=segment[1], most=most
        )
    return [(row["item_id"], row["sample_key"]) for row in rows]


def segment_size(store: Store, app: str, day: str, segment: tuple[str, str]) -> int:
    """How many answers of a day belong to a segment."""
    return int(_queries().segment_size(store.connection, app=app, day=day, key=segment[0], value=segment[1]))


def to_grade_again(store: Store, app: str, ruler_id: str, *, most_attempts: int, oldest_day: str) -> list[Row]:
    """Sampled answers without a score: item_id, unscored_reason, inclusion_probability."""
    return _rows(
        _queries().to_grade_again(
            store.connection, app=app, ruler_id=ruler_id, most_attempts=most_attempts, oldest_day=oldest_day
        )
    )


def counts(store: Store, app: str) -> Row:
    """How many answers, runs and verdicts an app has, and its first and last answered day."""
    return dict(_queries().counts(store.connection, app=app))
