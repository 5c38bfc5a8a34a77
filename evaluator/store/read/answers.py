"""Reads: answers one by one, for drill-down and for the judge. Whatever lists answers takes a limit."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from evaluator.records import Item, ItemFlag, Source
from evaluator.store.db import Store
from evaluator.store.read.base import FIRST_DAY, LAST_DAY, Row, queries, to_row, to_rows

_LOAD_CHUNK = 500


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
    day = _day_column(where.source)
    # the page is chosen by its few sort columns; only its rows are read with their texts
    rows = store.connection.execute(
        f"""SELECT i.item_id, i.external_id, i.source, i.input, i.output, i.answered_utc, i.answer_model, i.flags,
                   found.day, v.verdict_id, v.run_id, v.score, v.unscored_reason, v.explanation, v.graded_utc,
                   v.cost_usd
            FROM (SELECT v.verdict_id, {day} AS day {sql} ORDER BY {_ORDERS[order]} LIMIT ? OFFSET ?) found
            JOIN verdicts v ON v.verdict_id = found.verdict_id JOIN items i ON i.item_id = v.item_id
            ORDER BY {_ORDERS[order]}""",  # noqa: S608 - built from constants
        (*values, most, skip),
    )
    return to_rows(rows)


def count_answers(store: Store, *, app: str, ruler_id: str, where: AnswerFilter) -> int:
    """How many answers ``list_answers`` would list without a limit."""
    if where == AnswerFilter(source=where.source, first_day=where.first_day, last_day=where.last_day):
        totals = queries().count_in_totals(
            store.connection,
            app=app,
            ruler_id=ruler_id,
            source=str(where.source),
            first_day=where.first_day,
            last_day=where.last_day,
        )
        if not totals["n_stale"]:  # while a run goes on, only the rows know
            return int(totals["n"])
    sql, values = _answers_where(app, ruler_id, where)
    return int(store.connection.execute(f"SELECT count(*) {sql}", values).fetchone()[0])


def _answers_where(app: str, ruler_id: str, where: AnswerFilter) -> tuple[str, list[Any]]:
    """FROM and WHERE of the answers that pass a filter, with the values for its marks."""
    day = _day_column(where.source)
    sql = ["FROM items i JOIN verdicts v ON v.item_id = i.item_id AND v.ruler_id = ?"]
    if where.source is Source.ANCHOR:
        sql.append("JOIN runs r ON r.run_id = v.run_id")
    sql.append(f"WHERE i.app = ? AND i.source = ? AND {day} >= ? AND {day} <= ?")
    # the score of an answer is the scheduled one: what a recheck or a pick gave it stands aside
    is_anchor = where.source is Source.ANCHOR
    sql.append("AND r.purpose NOT IN ('recheck', 'pick')" if is_anchor else "AND v.slot_utc = ''")
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


def _day_column(source: Source) -> str:
    """Days of anchors are those of the run, days of answers their own; a plain column lets an index give the order."""
    return "r.slot_day" if source is Source.ANCHOR else "i.answered_day"


def _segment_pairs(segment: tuple[str, str, str, str] | None) -> list[tuple[str, str]]:
    if segment is None:
        return []
    key, value, key2, value2 = segment
    return [pair for pair in ((key, value), (key2, value2)) if pair[0]]


def _escape_like(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def find_item_ids(store: Store, app: str, start: str) -> list[str]:
    """Ids of items (at most three) whose id begins with ``start`` or whose outside id is ``start``."""
    rows = queries().items_by_id_start(store.connection, app=app, start=start, end=start + "\U0010ffff")
    return [row["item_id"] for row in rows]


def item(store: Store, item_id: str) -> Row | None:
    """One item with its text, tags, and what is known of it as an anchor; None when there is none."""
    row = to_row(queries().item(store.connection, item_id=item_id))
    if row is None:
        return None
    row["contexts"] = json.loads(row.pop("contexts_json"))
    row["tags"] = {tag["key"]: tag["value"] for tag in queries().item_tags(store.connection, item_id=item_id)}
    row["anchor"] = to_row(queries().anchor_of_item(store.connection, item_id=item_id))
    return row


def verdicts_of_item(store: Store, item_id: str, *, most: int = 500) -> list[Row]:
    """Every verdict on an item, those of runs that stand aside last, newest first; strengths, weaknesses parsed."""
    rows = to_rows(queries().verdicts_of_item(store.connection, item_id=item_id, most=most))
    for row in rows:
        row["strengths"] = json.loads(row.pop("strengths_json"))
        row["weaknesses"] = json.loads(row.pop("weaknesses_json"))
    return rows


def attempts_of_item(store: Store, item_id: str, *, most: int = 200) -> list[Row]:
    """Every call made for an item, newest first."""
    return to_rows(queries().attempts_of_item(store.connection, item_id=item_id, most=most))


def load_items(store: Store, item_ids: Iterable[str]) -> dict[str, Item]:
    """The items of these ids, as the judge takes them (tags are left out: they never reach the judge)."""
    return {row["item_id"]: _item(row) for row in _item_rows(store, item_ids)}


def load_to_grade(store: Store, item_ids: Iterable[str]) -> list[tuple[str, Source, Item]]:
    """The items of these ids in their order, with where they come from; what has no texts any more is left out."""
    ids = list(item_ids)
    found = {row["item_id"]: (row["item_id"], Source(row["source"]), _item(row)) for row in _item_rows(store, ids)}
    return [found[item_id] for item_id in ids if item_id in found and has_text(found[item_id][2])]


def has_text(item: Item) -> bool:
    """Whether the texts of an item are there: they may have been deleted, or not kept after grading."""
    return ItemFlag.TEXT_NOT_KEPT not in item.flags


def _item_rows(store: Store, item_ids: Iterable[str]) -> Iterator[sqlite3.Row]:
    ids = list(item_ids)
    for start in range(0, len(ids), _LOAD_CHUNK):
        chunk = ids[start : start + _LOAD_CHUNK]
        marks = ", ".join("?" * len(chunk))
        yield from store.connection.execute(f"SELECT * FROM items WHERE item_id IN ({marks})", chunk)  # noqa: S608 - marks


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
