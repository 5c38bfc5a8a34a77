"""Segments: which ones are below the rest, which moved; one of them beside everything."""

from __future__ import annotations

from datetime import date, timedelta

import pandas as pd
import streamlit as st

from dashboard import mean_queries, queries
from dashboard.charts.levels import plot_levels
from dashboard.charts.segments import plot_segments
from dashboard.charts.traffic import plot_segment
from dashboard.choices import ANY, choose, pick_one
from dashboard.components import (
    heading,
    page_link,
    render_chart,
    render_problem,
    render_table,
    require_days,
    require_scope,
    say,
    select_point,
)
from dashboard.needs_look import look_sentence
from dashboard.queries import Row
from dashboard.scope import Problem, Scope
from dashboard.segment_rows import (
    CHANGES,
    COLUMNS,
    NUMBERS,
    SegmentTable,
    finding_in_words,
    from_findings,
    from_means,
    means_in_words,
)
from dashboard.wording import count, key_name, segment
from dashboard.wording import days as days_text

WEEK = 7
THIN_DAY = 10  # scores a day, under which the line is drawn by weeks
MOST_DRAWN = 40  # the table below the chart holds them all


def _chosen(scope: Scope) -> Row | None:
    known = queries.segments(scope.key, scope.app)
    return next((row for row in known if row["segment_id"] == scope.view.segment and row["key"]), None)


def _pick_key(keys: list[tuple[str, str]], chosen: Row | None) -> tuple[str, str]:
    """The key (or crossed pair) to break down by; an open segment brings its own."""
    if chosen is not None and (chosen["key"], chosen["key2"]) in keys:
        st.session_state["segment_key"] = (chosen["key"], chosen["key2"])
    picked = st.selectbox(
        "Break down by",
        keys,
        key="segment_key",
        format_func=lambda pair: key_name(*pair),
        on_change=choose,
        kwargs={"segment": None},
        persist_state="session",
    )
    return picked if picked is not None else keys[0]


def _table(scope: Scope, period: tuple[str, str], key: tuple[str, str]) -> SegmentTable:
    if scope.findings is not None:
        return from_findings(scope.findings["segments"], key, judge_day=scope.findings["judge"]["since_day"])
    means = mean_queries.segment_means(scope.key, scope.setup, *period)
    return from_means(means, queries.segments(scope.key, scope.app), key)


def _overall(scope: Scope, days: tuple[str, str]) -> tuple[float, float | None, float | None] | None:
    means = mean_queries.segment_means(scope.key, scope.setup, *days)
    own = means[means["segment_id"] == queries.everything(scope.key, scope.app)].dropna(subset=["mean"])
    if own.empty:
        return None
    mean, low, high = (float(own.iloc[0][name]) for name in ("mean", "low", "high"))
    return mean, None if low != low else low, None if high != high else high


def _days_of_means(scope: Scope, period: tuple[str, str]) -> tuple[str, str]:
    """The days that the means of the rows stand for: the analysis's newest ones, else the period."""
    findings = scope.findings
    if findings is None or not findings["days"]:
        return period
    last = findings["days"][-1]["day"]
    first = (date.fromisoformat(last) - timedelta(days=findings["last_days"] - 1)).isoformat()
    return max(first, findings["days"][0]["day"]), last


def _forest(scope: Scope, period: tuple[str, str], key: tuple[str, str], table: SegmentTable) -> int | None:
    days = _days_of_means(scope, period)
    findings = scope.findings
    title = finding_in_words(findings) if findings is not None else means_in_words(table, key)
    caption = f"Raw means of {days_text(*days)} with {scope.level:.0%} intervals; grey band: everything together."
    if len(table.drawn) > MOST_DRAWN:
        caption += f" The {MOST_DRAWN} lowest of {count(len(table.drawn))} are drawn."
    chart = plot_segments(
        table.drawn[:MOST_DRAWN], overall=_overall(scope, days), scale=scope.scale, title=title, caption=caption
    )
    return select_point(chart, key="segment_forest")


def _follow_click(clicked: int | None) -> None:
    """Open the segment whose point was clicked; the click that was followed is not followed again."""
    if clicked is not None and clicked != st.session_state.get("segment_followed"):
        st.session_state["segment_followed"] = clicked
        choose(segment=clicked)
        st.rerun()
    if clicked is None:
        st.session_state.pop("segment_followed", None)


def _days_or_weeks(scope: Scope, period: tuple[str, str], segment_id: int) -> tuple[pd.DataFrame, int]:
    """A segment's days; seven days at a time where a day has too few scores to show anything but noise."""
    days = mean_queries.segment_days(scope.key, scope.setup, segment_id, *period)
    graded = days[days["n"] > 0]["n"]
    pooled = WEEK if len(days) >= 2 * WEEK and len(graded) and graded.median() < THIN_DAY else 1
    if pooled > 1:
        days = mean_queries.segment_days(scope.key, scope.setup, segment_id, *period, pooled)
    return days.assign(finished=True), pooled


def _one_segment(scope: Scope, period: tuple[str, str], chosen: Row) -> None:
    segment_id, everything = chosen["segment_id"], queries.everything(scope.key, scope.app)
    name = segment(chosen["value"], chosen["value2"], crossed=bool(chosen["key2"]))
    days, pooled = _days_or_weeks(scope, period, segment_id)
    means = mean_queries.segment_means(scope.key, scope.setup, *period).set_index("segment_id")["mean"].dropna()
    findings = scope.findings
    found = next((s for s in findings["segments"] if s["segment_id"] == segment_id), None) if findings else None
    sentence = look_sentence(findings, segment_id) if findings is not None else None
    if sentence is not None:
        say(sentence)
    left, right = st.columns([2, 1], gap="large")
    with left:
        chart = plot_segment(
            days,
            mean_queries.segment_days(scope.key, scope.setup, everything or 0, *period, pooled),
            name=name,
            own=means.get(segment_id),
            rest=means.get(everything),
            scale=scope.scale,
            level=mean_queries.LEVEL,
            pooled=pooled,
            change=found if found is not None and found["state"] == "changed" else None,
        )
        render_chart(chart, key="segment_trend")
    with right:
        levels = mean_queries.levels(scope.key, scope.setup, segment_id, *period)
        render_chart(plot_levels(mean_queries.whole_scale(levels, scope.setup_row), name=name), key="segment_levels")
    view = scope.view.shared().but(segment=segment_id)
    page_link("answers", view.but(order="lowest"), "Read these answers, lowest first", icon=":material/forum:")


def _render(scope: Scope, period: tuple[str, str]) -> None:
    keys = queries.segment_keys(scope.key, scope.app)
    if not keys:
        text = (
            "No answer carries a tag to break down by. Give the answers tags (for example topic or language) when you"
            " import them; a tag with 2 to 200 values becomes a segment key by itself."
        )
        render_problem(Problem(title="No segments yet", text=text, command="judgewatch import --help"))
        return
    chosen = _chosen(scope)
    first, second, _ = st.columns([1, 1, 1])
    with first:
        key = _pick_key(keys, chosen)
    table = _table(scope, period, key)
    names = {row.segment_id: row.name for row in table.drawn}
    with second:
        options = [ANY, *names]
        current = scope.view.segment if scope.view.segment in names else None
        pick_one("Segment", "segment", options, current, wording=lambda i: "all" if i == ANY else names[i])
    if not table.drawn:
        text = (
            f"No answer with a score under this judge setup has the tag {key_name(*key)!r}. Break down by another one."
        )
        render_problem(Problem(title="No scores by this tag yet", text=text))
        return
    if current is not None and chosen is not None:
        _one_segment(scope, period, chosen)
    _follow_click(_forest(scope, period, key, table))
    shown = COLUMNS if scope.findings is not None else {name: COLUMNS[name] for name in table.rows[0]}
    render_table(
        table.rows,
        shown,
        file_name="segments.csv",
        key="segment_table",
        numbers=[name for name in NUMBERS if name in shown],
        changes=[name for name in CHANGES if name in shown],
    )


scope = require_scope()
heading("Segments", 2)
_render(scope, require_days(scope))
