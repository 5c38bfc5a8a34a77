"""The frame around every page: navigation, header, and what to say when there is nothing to show."""

from __future__ import annotations

import streamlit as st

from dashboard.choices import current_view
from dashboard.components import render_problem
from dashboard.header import render_header, watch_for_news
from dashboard.queries import apps, store_key_or_none
from dashboard.scope import Problem, database_path, find_scope

# a picture of our own: Streamlit fetches an emoji or a named icon from a server on the internet
ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M1 11l4-4 3 2 6-6" fill="none"'
    ' stroke="#2b6cb0" stroke-width="2"/><circle cx="14" cy="3" r="2" fill="#d95f02"/></svg>'
)
st.set_page_config(page_title="judgewatch", page_icon=ICON, layout="wide")
st.logo(ICON, size="small")

path = database_path()
known = store_key_or_none(path)
several_apps = known is not None and len(apps(known)) > 1
index = st.Page(
    "app_pages/apps.py",
    title="Apps",
    icon=":material/apps:",
    url_path="apps",
    help="Every app in this database: who moved, when it was last graded, what today has cost.",
)
page = st.navigation(
    [
        *([index] if several_apps else []),
        st.Page(
            "app_pages/now.py",
            title="Now",
            icon=":material/monitoring:",
            default=True,
            help="Did the judge move, or the assistant? The verdict, one chart, what needs a look.",
        ),
        st.Page(
            "app_pages/segments.py",
            title="Segments",
            icon=":material/segment:",
            url_path="segments",
            help="Mean score of every segment with its interval, and which ones are below the rest.",
        ),
        st.Page(
            "app_pages/answers.py",
            title="Answers",
            icon=":material/forum:",
            url_path="answers",
            help="The graded answers, with every verdict and the judge's reasons.",
        ),
        st.Page(
            "app_pages/runs.py",
            title="Runs",
            icon=":material/history:",
            url_path="runs",
            help="What each run planned, scored and cost, and why one failed.",
        ),
    ],
    position="top",
)

view = current_view()
if several_apps and view.app is None and page.url_path == "":
    st.switch_page(index)  # which app's Now is a choice that nobody has made yet
scope = find_scope(path, view)
if page.url_path == index.url_path:
    page.run()
elif isinstance(scope, Problem):
    render_problem(scope)
else:
    render_header(scope)
    page.run()
watch_for_news(path, known)
