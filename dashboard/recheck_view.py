"""The newest recheck as a card: its sentence, the two parts as a chart, and the answers that differ most."""

from __future__ import annotations

import streamlit as st

from dashboard.charts.recheck import plot_recheck
from dashboard.components import heading, page_link, render_chart, say, score_text, small
from dashboard.queries import Row
from dashboard.recheck_queries import newest_recheck
from dashboard.scope import Scope
from dashboard.wording import bounds, change, count, counted, instant, one_line, reasons
from dashboard.wording import day as day_text
from evaluator.clock import day_of, parse_utc


def render_recheck(scope: Scope) -> None:
    """Draw the card of the newest recheck; nothing when there is none."""
    result = newest_recheck(scope.key, scope.app)
    if result is None:
        return
    with st.container(border=True, gap="small"):
        heading("Recheck of stored scores", 4)
        with st.container(gap="xsmall"):
            for sentence in result["sentences"]:
                say(sentence)
        left, right = st.columns([3, 2], gap="large")
        with left:
            render_chart(
                plot_recheck(
                    _parts(result),
                    drift=result["drift"],
                    smallest_change=result["smallest_change"],
                    level=result["level"],
                ),
                key="recheck",
            )
        with right:
            _furthest(result, scope)
        small(_facts(result, scope))


def _parts(result: Row) -> list[tuple[str, Row]]:
    return [(name, result[name]) for name in ("old", "recent") if result[name] is not None]


def _furthest(result: Row, scope: Scope) -> None:
    """The answers whose two scores are furthest apart, each led to all of its verdicts."""
    if result["furthest"]:
        heading("Furthest apart: stored score → score now", 4)
    for row in result["furthest"]:
        with st.container(border=True, gap="xsmall"):
            scale_max = result["scale"][1]
            scores = f"{score_text(row['stored'], None)} → {score_text(row['now'], scale_max)}"
            day = day_of(parse_utc(row["stored_utc"]), scope.zone).isoformat()
            st.text(f"{scores}, answer of {day_text(day, year=True)}")
            if row["explanation"]:
                st.text(one_line(row["explanation"], 160))
            page_link("answers", scope.view.shared().but(item=row["item_id"]), "Open this answer")


def _facts(result: Row, scope: Scope) -> str:
    """Where the numbers come from: file, judges, time, interval, what was left out."""
    origin = f"{result['file']}, scores of {result['stored_judge']}, graded again by {result['model_asked']}"
    parts = [f"{origin} on {instant(result['rechecked_utc'], scope.zone)}"]
    drift = result["drift"]
    if drift is not None:
        method = "" if drift["method"] is None else f", {drift['method']}"
        parts.append(
            f"judge's own move {change(drift['value'])} {bounds(drift['low'], drift['high'])}"
            f" ({result['level']:.0%}{method})"
        )
    n_unscored = sum(result["unscored"].values())
    if n_unscored:
        parts.append(f"{counted(n_unscored, 'answer')} not scored: {reasons(result['unscored'])}")
    n_unusable = sum(result["unusable"].values())
    if n_unusable:
        why = ", ".join(f"{count(n)} {name}" for name, n in result["unusable"].items() if n)
        parts.append(f"{counted(n_unusable, 'stored score')} could not be used ({why})")
    return "; ".join(parts) + ". None of these grades enters a mean of this page."
