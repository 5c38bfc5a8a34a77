"""The line above every page: app, period, judge setup, zone, and the one place where they are chosen."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard import queries
from dashboard.choices import choose, pick_one, pick_period
from dashboard.scope import DEFAULT_DAYS, Scope, default_period
from dashboard.wording import days as days_text
from evaluator.records import Purpose

_SPANS = {14: "14 days", 30: "30 days", DEFAULT_DAYS: f"{DEFAULT_DAYS} days", 0: "all"}


def render_header(scope: Scope) -> None:
    """Say in one line what the page shows, and open the selectors on request."""
    line = st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center")
    with line:
        st.text(" · ".join(header_parts(scope)))
        with st.popover("View", icon=":material/tune:"):
            _render_selectors(scope)


def header_parts(scope: Scope) -> list[str]:
    """What the header says, part by part."""
    period = "no graded days" if scope.period is None else days_text(*scope.period)
    parts = [scope.app, period, _setup_name(scope.setup_row["position"], scope), f"days in {scope.zone.key}"]
    found = scope.findings
    if found is not None and found["baseline_first_day"] is not None and found["baseline_last_day"] is not None:
        parts.insert(2, f"baseline {days_text(found['baseline_first_day'], found['baseline_last_day'])}")
    return parts


def _setup_name(position: int, scope: Scope) -> str:
    row = next(row for row in scope.setups if row["position"] == position)
    if row["output_mode"] == Purpose.IMPORTED:  # one file may hold several criteria of one judge
        return f"judge setup v{position} ({row['model_asked']}, {row['criterion']}, imported scores)"
    return f"judge setup v{position} ({row['model_asked']})"


def _render_selectors(scope: Scope) -> None:
    pick_one("App", "app", scope.apps, scope.app, help="The product whose answers are graded.")
    pick_one(
        "Judge setup",
        "setup",
        [row["position"] for row in reversed(scope.setups)],
        scope.setup_row["position"],
        wording=lambda position: _setup_name(position, scope),
        help="Model asked, rubric, prompt and parameters. Scores of two setups are never put on one line.",
    )
    if scope.days is not None:
        _render_period(scope, scope.days)
    st.caption("Days are calendar days of the database's zone:")
    st.text(scope.zone.key)
    st.button("Back to the defaults", on_click=_reset, key="reset_view", type="tertiary")


def _render_period(scope: Scope, days: tuple[str, str]) -> None:
    spans = st.container(horizontal=True, gap="small")
    with spans:
        for n_days, label in _SPANS.items():
            st.button(label, key=f"span_{n_days}", on_click=_choose_span, args=(n_days, days))
    pick_period(scope.period or default_period(days), days)


def _choose_span(n_days: int, days: tuple[str, str]) -> None:
    first, last = default_period(days, n_days) if n_days else days
    default = default_period(days)
    chosen = (None, None) if (first, last) == default else (first, last)
    choose(first_day=chosen[0], last_day=chosen[1], day=None, page=1, item=None)


def _reset() -> None:
    choose(app=None, setup=None, first_day=None, last_day=None, day=None, page=1, item=None)


@st.fragment(run_every="30s")
def watch_for_news(path: Path, known: queries.StoreKey | None) -> None:
    """Look twice a minute whether the database has news, and draw the page anew when it has; choices stay."""
    if queries.store_key_or_none(path) != known:
        st.rerun()
