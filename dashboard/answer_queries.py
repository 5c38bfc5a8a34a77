"""Reads of single answers: the list, one answer with all its verdicts, anchors before and after a change.

Rows, not totals: always with a limit, always on drill-down.
"""

from __future__ import annotations

from typing import NamedTuple

from dashboard.filters import ANY_REASON, View
from dashboard.queries import Row, Setup, StoreKey, cached, opened, segments, setups
from evaluator.item_links import item_link
from evaluator.store import read
from evaluator.store.db import Store
from evaluator.store.read import AnswerFilter

PAGE_SIZE = 50


class AnswerList(NamedTuple):
    """One page of a list of answers: its rows, how many there are in all, and the neighbours beyond the page.

    ``page`` is the page shown: the last one where a link asks for a page that is not there any more.
    """

    rows: list[Row]
    total: int
    page: int
    n_pages: int
    before: Row | None
    after: Row | None


class OpenAnswer(NamedTuple):
    """One answer: its texts, tags and anchor, and every verdict on it, newest first; its address in a trace store."""

    item: Row
    verdicts: list[Row]
    n_calls: int
    link: str | None = None


def answer_filter(
    view: View, setup: Setup, n_levels: int, period: tuple[str, str], segment: Row | None
) -> AnswerFilter:
    """Which answers a view lists: its day, else its period; a level means the scores nearest to it."""
    first_day, last_day = (view.day, view.day) if view.day is not None else period
    return AnswerFilter(
        source=view.source,
        segment=None if segment is None else (segment["key"], segment["value"], segment["key2"], segment["value2"]),
        first_day=first_day,
        last_day=last_day,
        level=view.level,
        half_step=(setup.scale_max - setup.scale_min) / max(1, n_levels - 1) / 2,
        unscored=True if view.reason == ANY_REASON else None,
        reason=view.reason if view.reason not in (None, ANY_REASON) else None,
        text=view.text,
    )


def segment_of(key: StoreKey, app: str, segment_id: int | None) -> Row | None:
    """The segment of this id, None when there is none or it is everything."""
    return next((row for row in segments(key, app) if row["segment_id"] == segment_id and row["key"]), None)


@cached
def list_answers(key: StoreKey, setup: Setup, where: AnswerFilter, order: str, page: int) -> AnswerList:
    """One page of the answers that pass a filter; each row also has ``tags`` and ``deleted_utc``."""
    with opened(key) as store:
        total = _count(store, setup, where)
        n_pages = max(1, -(-total // PAGE_SIZE))
        page = min(page, n_pages)
        skip = (page - 1) * PAGE_SIZE
        lead = 1 if skip else 0  # one row more on either side, for the neighbours of the first and the last
        rows = read.list_answers(
            store,
            app=setup.app,
            ruler_id=setup.ruler_id,
            where=where,
            order=order,
            most=PAGE_SIZE + lead + 1,
            skip=skip - lead,
        )
        shown = rows[lead : lead + PAGE_SIZE]
        for row in shown:
            found = read.item(store, row["item_id"])
            row["tags"] = {} if found is None else found["tags"]
            row["deleted_utc"] = None if found is None else found["deleted_utc"]
    return AnswerList(
        rows=shown,
        total=total,
        page=page,
        n_pages=n_pages,
        before=rows[0] if lead and rows else None,
        after=rows[lead + PAGE_SIZE] if len(rows) > lead + PAGE_SIZE else None,
    )


def _count(store: Store, setup: Setup, where: AnswerFilter) -> int:
    """How many answers pass a filter; where days and a segment are all of it, the daily totals know."""
    if any(part is not None for part in (where.level, where.unscored, where.reason, where.text, where.run_id)):
        return read.count_answers(store, app=setup.app, ruler_id=setup.ruler_id, where=where)
    names = ("key", "value", "key2", "value2")
    wanted = where.segment or ("", "", "", "")
    ids = [s["segment_id"] for s in read.segments(store, setup.app) if tuple(s[name] for name in names) == wanted]
    rows = read.day_totals(
        store,
        app=setup.app,
        ruler_id=setup.ruler_id,
        criterion=setup.criterion,
        source=where.source,
        segment_id=ids[0] if ids else -1,
        first_day=where.first_day,
        last_day=where.last_day,
    )
    return sum(row["n"] + row["n_unscored"] for row in rows)


@cached
def find_item(key: StoreKey, app: str, start: str) -> list[str]:
    """Ids of the items that an id, its start, or an outside id means; at most three."""
    with opened(key) as store:
        return read.find_item_ids(store, app, start)


@cached
def open_answer(key: StoreKey, app: str, item_id: str) -> OpenAnswer | None:
    """One answer with every verdict, each with the number of its judge setup and its scale; None when there is none."""
    with opened(key) as store:
        found = read.item(store, item_id)
        if found is None or found["app"] != app:
            return None
        verdicts = read.verdicts_of_item(store, item_id)
        n_calls = len(read.attempts_of_item(store, item_id))
        link = item_link(read.app_settings(store, app).get("item_url"), found)
    known = {row["ruler_id"]: row for row in setups(key, app)}
    for verdict in verdicts:
        setup = known.get(verdict["ruler_id"], {})
        verdict["setup"] = setup.get("position")
        verdict["model_asked"] = setup.get("model_asked", "")
        verdict["scale_max"] = setup.get("scale_max")
    return OpenAnswer(item=found, verdicts=verdicts, n_calls=n_calls, link=link)


@cached
def then_and_now(key: StoreKey, setup: Setup, item_id: str, since_day: str) -> tuple[Row, Row] | None:
    """The last scored verdict on an anchor before a day, and the newest one; None when one of them is missing."""
    with opened(key) as store:
        verdicts = [
            row
            for row in read.verdicts_of_item(store, item_id)
            if row["ruler_id"] == setup.ruler_id and row["score"] is not None and row["purpose"] == "scheduled"
        ]
    now = next((row for row in verdicts if row["slot_day"] >= since_day), None)
    before = [row for row in verdicts if row["slot_day"] < since_day]
    if now is None or not before:
        return None
    # the commonest score of then speaks for then, not a lone flip on the eve of the change
    usual = max({row["score"] for row in before}, key=lambda score: sum(row["score"] == score for row in before))
    return next(row for row in before if row["score"] == usual), now
