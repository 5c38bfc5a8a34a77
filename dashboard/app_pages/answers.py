"""Answers: the list behind every number, and one answer with all its verdicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

import streamlit as st

from dashboard import mean_queries, queries
from dashboard.answer_queries import AnswerList, answer_filter, find_item, list_answers, segment_of
from dashboard.answer_view import render_answer
from dashboard.charts.base import every_day
from dashboard.choices import ANY, choose, pick_one, pick_switch, pick_text
from dashboard.components import (
    download,
    heading,
    newest_days_button,
    render_problem,
    require_days,
    require_scope,
    small,
)
from dashboard.filters import ANY_REASON, ORDERS, View
from dashboard.queries import Row
from dashboard.scope import Problem, Scope
from dashboard.wording import count, counted, level, one_line, reason, segment, why_no_text
from dashboard.wording import day as day_text
from dashboard.wording import days as days_text
from evaluator.records import Source

FIELD = 168  # pixels: two fields beside each other on a phone
_SOURCES = {Source.TRAFFIC: "Answers", Source.ANCHOR: "Anchors"}
_ORDERS = {"newest": "newest first", "oldest": "oldest first", "lowest": "lowest first", "highest": "highest first"}
_COLUMNS = {"day": "day", "score": "score", "reason": "judge's reason", "segments": "segments", "question": "question"}


def _levels(scope: Scope) -> list[float]:
    """The levels of the rubric, from the lowest."""
    return sorted(mean_queries.level_names(scope.setup_row))


def _filters(scope: Scope, period: tuple[str, str]) -> None:
    view = scope.view
    first = st.container(horizontal=True, vertical_alignment="bottom")
    with first:
        pick_switch("What", "source", list(_SOURCES), view.source, wording=_SOURCES.__getitem__)
        pick_text("Find", "text", view.text, placeholder="words in any text")
    known = {row["segment_id"]: row for row in queries.segments(scope.key, scope.app) if row["key"]}
    names: dict[Any, str] = {ANY: "any", **{segment_id: _name(row) for segment_id, row in known.items()}}
    levels = sorted({*_levels(scope), *([view.level] if view.level is not None else [])}, reverse=True)
    why = sorted({row["unscored_reason"] for row in mean_queries.unscored(scope.key, scope.setup, *period)})
    if view.reason is not None and view.reason not in (ANY_REASON, *why):
        why.append(view.reason)
    days = list(reversed(every_day(*period)))
    if view.day is not None and view.day not in days:
        days.append(view.day)
    second = st.container(horizontal=True)
    with second:
        pick_one("Segment", "segment", list(names), view.segment, wording=names.__getitem__, width=FIELD)
        pick_one("Score", "level", [ANY, *levels], view.level, wording=lambda v: _any(v, level), width=FIELD)
        pick_one("Without a score", "reason", [ANY, ANY_REASON, *why], view.reason, wording=_reason_name, width=FIELD)
        pick_one("Day", "day", [ANY, *days], view.day, wording=lambda d: _any(d, _full_day), width=FIELD)
        pick_one("Order", "order", list(ORDERS), view.order, wording=_ORDERS.__getitem__, width=FIELD)


def _any(value: Any, wording: Callable[[Any], str]) -> str:
    return "any" if value == ANY else wording(value)


def _full_day(text: str) -> str:
    return day_text(text, year=True)


def _reason_name(code: str) -> str:
    return "show all" if code == ANY else "any reason" if code == ANY_REASON else reason(code)


def _name(row: Row) -> str:
    return f"{row['key']}: {segment(row['value'])}" + (
        f" · {row['key2']}: {segment(row['value2'])}" if row["key2"] else ""
    )


def _summary(scope: Scope, period: tuple[str, str], found: AnswerList) -> str:
    """The filter in one line, with how many answers pass it."""
    view = scope.view
    chosen = segment_of(scope.key, scope.app, view.segment)
    noun = ("answer", "answers") if view.source is Source.TRAFFIC else ("anchor verdict", "anchor verdicts")
    parts = [counted(found.total, *noun)]
    parts += [_name(chosen)] if chosen is not None else []
    parts += [f"score {level(view.level)}"] if view.level is not None else []
    parts += ["not scored"] if view.reason == ANY_REASON else [reason(view.reason)] if view.reason else []
    parts += [f"with “{view.text}”"] if view.text else []
    parts.append(day_text(view.day, year=True) if view.day else days_text(*period))
    return " · ".join(parts)


def _cells(row: Row, zone: ZoneInfo, keys: set[str]) -> dict[str, Any]:
    scored = row["score"] is not None
    gone = why_no_text(row, zone)
    words = one_line(row["explanation"]) or (gone if row["deleted_utc"] else "")  # the judge's words went too
    return {
        "day": row["day"],
        "segments": ", ".join(f"{key}: {value}" for key, value in row["tags"].items() if not keys or key in keys),
        "score": row["score"] if scored else None,
        "reason": (words if scored else f"not scored: {reason(row['unscored_reason'])}") or None,
        "question": gone or one_line(row["input"], 100) or "(empty)",
    }


def _list(scope: Scope, found: AnswerList) -> None:
    # tags that are no segments, like a version that every answer has, would push the others out of sight
    keys = {key for pair in queries.segment_keys(scope.key, scope.app) for key in pair if key}
    cells = [_cells(row, scope.zone, keys) for row in found.rows]
    # a column that has nothing to say on this page takes no room: imported scores often come without reasons
    empty = {name for name in ("reason", "segments") if not any(row[name] for row in cells)}
    titles = {name: title for name, title in _COLUMNS.items() if name not in empty}
    state = st.dataframe(
        [{title: row[name] for name, title in titles.items()} for row in cells],
        height="content" if len(cells) <= 12 else 540,
        key=f"answers_{hash(tuple(row['verdict_id'] for row in found.rows))}",
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        placeholder="–",
        column_config={
            "score": st.column_config.NumberColumn("score", format="%g", width=70),
            "day": st.column_config.TextColumn("day", width=100),
            "segments": st.column_config.TextColumn("segments", width="medium"),
            "judge's reason": st.column_config.TextColumn("judge's reason", width="large"),
            "question": st.column_config.TextColumn("question", width="medium"),
        },
    )
    small("Select a row (the box at its left, or Space) to open the answer.")
    chosen = state["selection"]["rows"]
    if chosen:
        choose(item=found.rows[chosen[0]]["item_id"])
        st.rerun()
    download(cells, list(_COLUMNS), file_name="answers.csv", key="answers_download")
    _turn_pages(found)


def _turn_pages(found: AnswerList) -> None:
    if found.n_pages <= 1:
        return
    row = st.container(horizontal=True, vertical_alignment="center")
    back, on = {"page": found.page - 1}, {"page": found.page + 1}
    row.button("Previous page", disabled=found.page <= 1, on_click=choose, kwargs=back, key="page_back")
    row.text(f"page {count(found.page)} of {count(found.n_pages)}")
    row.button("Next page", disabled=found.page >= found.n_pages, on_click=choose, kwargs=on, key="page_on")


def _nothing(view: View) -> None:
    if view.but(order="newest", source=Source.TRAFFIC, page=1) == view.shared():
        render_problem(Problem(title="Nothing graded on these days", text="Choose other days."))
        newest_days_button()
        return
    text = "Take a part of the filter away, or choose other days."
    render_problem(Problem(title="No answer passes this filter", text=text))
    st.button("Clear the filter", on_click=_clear, key="clear_filter", type="primary")


def _clear() -> None:
    choose(segment=None, level=None, day=None, item=None, text=None, reason=None, page=1)


def _open(scope: Scope, wanted: str) -> None:
    ids = find_item(scope.key, scope.app, wanted)
    if len(ids) != 1:
        title = "There is no such answer" if not ids else "Several answers begin like that"
        render_problem(Problem(title=title, text=f"Looked for {wanted!r} in app {scope.app!r}."))
        st.button("Back to the list", on_click=choose, kwargs={"item": None}, key="back_to_list")
        return
    # an answer of a recheck can be opened before any run has graded a day: it stands in no list
    alone = AnswerList(rows=[], total=0, page=1, n_pages=1, before=None, after=None)
    render_answer(scope, ids[0], alone if scope.period is None else _found(scope, scope.period))


def _found(scope: Scope, period: tuple[str, str]) -> AnswerList:
    view = scope.view
    chosen = segment_of(scope.key, scope.app, view.segment)
    where = answer_filter(view, scope.setup, len(_levels(scope)), period, chosen)
    return list_answers(scope.key, scope.setup, where, view.order, view.page)


def _render(scope: Scope, period: tuple[str, str]) -> None:
    heading("Answers", 2)
    _filters(scope, period)
    found = _found(scope, period)
    st.text(_summary(scope, period, found))
    if found.rows:
        _list(scope, found)
    else:
        _nothing(scope.view)


scope = require_scope()
if scope.view.item is not None:
    _open(scope, scope.view.item)
else:
    _render(scope, require_days(scope))
