"""Now: who moved, one chart, what needs a look, how fresh it is."""

from __future__ import annotations

from datetime import timedelta

import streamlit as st

from dashboard import answer_queries, mean_queries, queries
from dashboard.charts.anchors import plot_anchors
from dashboard.charts.shares import plot_shares
from dashboard.charts.traffic import is_learnt, plot_traffic, traffic_title, without_corrected
from dashboard.components import (
    day_line,
    heading,
    newest_line,
    page_link,
    render_chart,
    render_no_verdicts,
    require_days,
    require_scope,
    run_cause,
    say,
    score_text,
    small,
    tone_badge,
)
from dashboard.needs_look import looks, nothing_to_look_at
from dashboard.recheck_view import render_recheck
from dashboard.scope import Scope
from dashboard.verdict import Tile, tiles, verdict_words
from dashboard.wording import counted, instant, one_line
from dashboard.wording import day as day_text
from evaluator.clock import SystemClock, parse_utc
from evaluator.findings import Findings

SILENT_AFTER = timedelta(hours=50)  # two daily runs missed, with some patience
MOST_EXAMPLES = 3


def _verdict(scope: Scope, period: tuple[str, str]) -> None:
    words = verdict_words(scope, period)
    with st.container(border=True, gap="small"):
        line = st.container(horizontal=True, vertical_alignment="center")
        with line:
            heading(words.headline, 2, width="content")
            tone_badge(words.tone)
        with st.container(gap="xsmall"):
            for sentence in words.sentences:
                say(sentence)
        with st.popover("Copy summary", type="tertiary", icon=":material/content_copy:"):
            st.code("\n".join([words.headline, *words.sentences]), language=None, wrap_lines=True)


def _tiles(found: list[Tile]) -> None:
    with st.container(border=True):
        row = st.container(horizontal=True, gap="medium")
        for tile in found:
            row.metric(
                tile.label,
                tile.value.replace("$", "\\$"),
                tile.change or None,
                delta_color="off",
                delta_arrow=tile.arrow,
                delta_description=tile.remark or None,
                help=tile.help,
                width="stretch",
            )


def _trend(scope: Scope, period: tuple[str, str]) -> None:
    days = mean_queries.traffic_days(scope.key, scope.setup, *period)
    if days.empty or not (days["n"] + days["n_unscored"]).any():
        heading("No graded answers in this period", 4)
        small("Anchors were graded; import answers and let the scorer run to see the assistant's line.")
        return
    findings = scope.findings
    if findings is None or not is_learnt(findings):
        days = without_corrected(days)
    events = queries.events(scope.key, scope.app, *period)
    change = findings["judge"] if findings is not None and findings["judge"]["state"] == "changed" else None
    title = traffic_title(findings)
    if not days["mean"].notna().any():
        n, n_unscored = int(days["n"].sum()), int(days["n_unscored"].sum())
        title = f"{n / (n + n_unscored):.0%} of {counted(n + n_unscored, 'graded answer')} have a score"
    render_chart(
        plot_traffic(days, scale=scope.scale, title=title, level=scope.level, change=change, events=events),
        key="traffic_trend",
    )


def _needs_a_look(scope: Scope) -> None:
    heading("Needs a look", 4)
    found = looks(scope.findings, queries.runs(scope.key, scope.app), scope.view.shared())
    if not found:
        small(nothing_to_look_at(scope.findings))
    for look in found:
        with st.container(border=True, gap="xsmall"):
            say(look.text)
            if look.page:
                page_link(look.page, look.view, look.label)


def _anchors(findings: Findings, period: tuple[str, str]) -> None:
    chart = plot_anchors(
        findings["judge"],
        first_day=period[0],
        last_day=period[1],
        smallest_change=findings["settings"]["smallest_change"],
        level=findings["settings"]["level"],
    )
    render_chart(chart, key="anchor_trend")


def _examples(scope: Scope, findings: Findings) -> None:
    """Anchors that the judge grades differently since it moved, with both of its reasons."""
    since, setup = findings["judge"]["since_day"], scope.anchor_setup
    if findings["judge"]["state"] != "changed" or since is None or setup is None:
        return
    moved = sorted(findings["judge"]["moved"], key=lambda anchor: -abs(anchor["after"] - anchor["before"]))
    pairs = [(anchor, answer_queries.then_and_now(scope.key, setup, anchor["item_id"], since)) for anchor in moved]
    shown = [(anchor, pair) for anchor, pair in pairs if pair is not None and pair[0]["score"] != pair[1]["score"]]
    if not shown:
        return
    heading("The same answers, graded then and now", 4)
    shown = shown[:MOST_EXAMPLES]
    for column, (anchor, pair) in zip(st.columns(len(shown)), shown, strict=True):
        with column, st.container(border=True, gap="xsmall"):
            small(f"Anchor {anchor['anchor_id']}")
            for verdict in pair or ():
                when = day_text(verdict["slot_day"], year=True)
                heading(f"{score_text(verdict['score'], scope.setup.scale_max)} on {when}", 5)
                st.text(one_line(verdict["explanation"], 220) or "(no reason given)")
            page_link("answers", scope.view.shared().but(item=anchor["item_id"], source="anchor"), "Open this anchor")


def _freshness(scope: Scope) -> None:
    runs = [run for run in queries.runs(scope.key, scope.app) if run["ruler_id"] == scope.setup.ruler_id]
    if not runs:
        small("No run yet under this judge setup.")
        return
    lines = [newest_line(runs[0], scope), *_anchors_line(scope)]
    if runs[0]["status"] in ("failed", "stopped"):
        lines.append(f"Why: {one_line(run_cause(runs[0]))}.")
    silent = SystemClock().now() - parse_utc(runs[0]["slot_utc"])
    if silent > SILENT_AFTER:
        lines.append(_silence(scope, runs[0]["slot_utc"]))
    lines.append(day_line(scope))
    if scope.findings is not None and scope.findings["judge"]["runs"]:  # without anchors there are no alarms
        a_year = scope.findings["settings"]["false_alarms_per_year"]
        lines.append(f"False alarms accepted when nothing changes: {a_year:g} a year on average.")
    small(" ".join(lines))


def _anchors_line(scope: Scope) -> list[str]:
    """The newest run of the anchors that speak for imported scores; nothing where the setup has its own."""
    setup = scope.anchor_setup
    if not scope.is_imported or setup is None:
        return []
    runs = [run for run in queries.runs(scope.key, scope.app) if run["ruler_id"] == setup.ruler_id]
    return [newest_line(runs[0], scope)] if runs else []


def _silence(scope: Scope, slot_utc: str) -> str:
    """That nothing came for long, and what would bring something."""
    if scope.is_imported:
        return "Newer ones come in with `judgewatch import --verdicts FILE`."
    return f"No run since {instant(slot_utc, scope.zone)}: start `judgewatch run watch`."


def _body(scope: Scope, period: tuple[str, str]) -> None:
    """Numbers, charts, and what needs a look."""
    _tiles(tiles(scope, period))
    left, right = st.columns([2, 1], gap="large")
    with left:
        _trend(scope, period)
        if scope.findings is not None and scope.findings["judge"]["runs"]:
            _anchors(scope.findings, period)
    with right:
        if scope.findings is not None and scope.findings["shares"] is not None:
            render_chart(plot_shares(scope.findings["shares"]), key="shares")
        _needs_a_look(scope)
    if scope.findings is not None:
        _examples(scope, scope.findings)


scope = require_scope()
if scope.days is None:
    render_recheck(scope)
    render_no_verdicts(scope)
else:
    period = require_days(scope)
    _verdict(scope, period)
    if scope.anchor_setup is None:  # then a recheck alone can tell the judge's part
        render_recheck(scope)
        _body(scope, period)
    else:
        _body(scope, period)
        render_recheck(scope)
    _freshness(scope)
