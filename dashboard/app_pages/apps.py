"""Apps: one card for each app of the database, with its verdict, its last run and what today has cost."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from dashboard import queries
from dashboard.components import heading, newest_line, page_link, say, small, tone_badge
from dashboard.day_queries import day_plan
from dashboard.filters import View
from dashboard.queries import StoreKey
from dashboard.scope import Problem, Scope, database_path, find_scope
from dashboard.verdict import Words, verdict_words
from dashboard.wording import counted, of_limit
from evaluator.clock import SystemClock


def _words(found: Scope | Problem) -> Words:
    """The verdict of an app, or why there is none."""
    if isinstance(found, Problem):
        return Words(headline=found.title, sentences=[found.text], tone="unknown")
    if found.period is None:
        return Words(headline="No scores yet", sentences=[], tone="unknown")
    return verdict_words(found, found.period)


def _facts(key: StoreKey, app: str, found: Scope | Problem, now: datetime) -> str:
    """Last run, answers graded, cost of the day, in one line."""
    plan = day_plan(key, app, now)
    runs = queries.runs(key, app) if isinstance(found, Scope) else []
    first = newest_line(runs[0], found) if runs and isinstance(found, Scope) else "No run yet."
    cost = of_limit(plan.usd, plan.calls, plan.usd_limit, plan.calls_limit)
    return f"{first} {counted(plan.n_graded, 'answer')} graded in all; {cost}."


def _card(key: StoreKey, app: str, now: datetime) -> None:
    view = View(app=app)
    found = find_scope(database_path(), view)
    words = _words(found)
    with st.container(border=True, gap="xsmall"):
        line = st.container(horizontal=True, vertical_alignment="center")
        with line:
            heading(app, 3, width="content")
            tone_badge(words.tone)
        say(words.headline)
        small(_facts(key, app, found, now))
        page_link("now", view, "Open")


def _render() -> None:
    key = queries.store_key(database_path())
    heading("Apps", 2)
    for app in queries.apps(key):
        _card(key, app, SystemClock().now())


_render()
