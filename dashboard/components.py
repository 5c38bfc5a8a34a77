"""Parts of the page that several pages draw: text as it is, charts, tables, links, states without data.

Whatever a model or a user wrote goes through ``render_text`` or ``heading``: no Markdown, no HTML, no image, no link,
no mathematics.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import pandas as pd
import streamlit as st

from dashboard import queries
from dashboard.charts.base import Chart
from dashboard.choices import choose, current_view
from dashboard.day_queries import day_plan
from dashboard.filters import View
from dashboard.scope import Problem, Scope, database_path, find_scope, no_days_text
from dashboard.wording import change, counted, day, instant, number, of_limit, reasons, spoken
from evaluator.clock import SystemClock, utc_text
from evaluator.export import csv_bytes
from evaluator.records import Purpose

MOST_WIDTH = 420  # pixels of a column of text; the rest of a longer one is seen on a double click
_LETTER_WIDTH, _CELL_PADDING = 6, 24  # pixels, of the small print of tables
LONG_TEXT = 1_400  # characters from which a text gets a box of its own with a scroll bar
_BADGES: dict[str, tuple[str, Literal["orange", "green", "gray"]]] = {
    "look": ("needs a look", "orange"),
    "quiet": ("quiet", "green"),
    "unknown": ("not known yet", "gray"),
}
# the theme styles code in Markdown only; a grey that is half transparent is seen on white and on black
_CODE_STYLE = (
    "font-family: var(--st-code-font, monospace); font-size: 0.9em; padding: 0.1em 0.3em; border-radius: 0.25rem;"
    " background: rgba(128, 128, 128, 0.16)"
)
_CHART_CONFIG = {"displayModeBar": False, "scrollZoom": False}


def require_scope() -> Scope:
    """The scope of the page that runs; the frame (`app.py`) has shown any problem before."""
    found = find_scope(database_path(), current_view())
    if isinstance(found, Problem):
        render_problem(found)
        st.stop()
    return found


def heading(text: str, level: int = 3, *, width: Literal["stretch", "content"] = "stretch") -> None:
    """A heading whose text is shown letter by letter."""
    # the gap of the container is space enough; a browser's own margins would double it
    st.html(f'<h{level} style="margin: 0; padding: 0">{_as_html(text)}</h{level}>', width=width)


def render_text(text: str, *, empty: str = "(empty)") -> None:
    """A text of a model or a user, letter by letter; a long one scrolls in a box of its own."""
    with st.container(border=True, height=420 if len(text) > LONG_TEXT else "content"):
        st.text(text if text.strip() else empty)


def render_chart(chart: Chart, *, key: str) -> None:
    """A chart with its title above and its caption below."""
    with st.container(gap="xsmall"):
        heading(chart.title, 4)
        st.plotly_chart(chart.figure, key=key, alt=chart.alt, config=_CHART_CONFIG)
        if chart.caption:
            small(chart.caption)


def select_point(chart: Chart, *, key: str) -> int | None:
    """A chart whose points can be clicked: the id that the clicked point carries, None without a click."""
    with st.container(gap="xsmall"):
        heading(chart.title, 4)
        state = st.plotly_chart(
            chart.figure, key=key, alt=chart.alt, config=_CHART_CONFIG, on_select="rerun", selection_mode="points"
        )
        if chart.caption:
            small(chart.caption)
    points = state["selection"]["points"]
    found = points[0].get("customdata") if points else None
    found = found[0] if isinstance(found, list) and found else found
    return int(found) if isinstance(found, int | float) else None


def small(text: str) -> None:
    """A remark in small print, letter by letter."""
    st.html(f'<small style="opacity: 0.72">{_as_html(text)}</small>')


def say(text: str) -> None:
    """A sentence of ours, its commands as code; no markup in it is followed."""
    st.html(f'<p style="margin: 0; overflow-wrap: anywhere">{_as_html(text)}</p>')


def _as_html(text: str) -> str:
    """A sentence letter by letter, only its commands set as code; a line breaks between their words alone."""
    return "".join(_code(piece) if is_command else html.escape(piece) for piece, is_command in spoken(text))


def _code(command: str) -> str:
    words = (f'<span style="white-space: nowrap">{html.escape(word)}</span>' for word in command.split())
    return f'<code style="{_CODE_STYLE}">{" ".join(words)}</code>'


def tone_badge(tone: str) -> None:
    """The mark of a verdict: whether it needs a look, is quiet, or is not known yet."""
    label, colour = _BADGES[tone]
    st.badge(label, color=colour)


def render_problem(problem: Problem) -> None:
    """A state without data: what is missing and the next step."""
    with st.container(border=True):
        heading(problem.title, 2)
        say(problem.text)
        if problem.command:
            st.caption("Next step")
            st.code(problem.command, language=None, wrap_lines=True)


def page_link(page: str, view: View, label: str, *, icon: str | None = None) -> None:
    """A link to a page in a view. ``label`` is our own wording, never text from the data."""
    st.page_link(f"app_pages/{page}.py", label=label, icon=icon, query_params=view.params())


def render_table(
    rows: Sequence[Mapping[str, Any]],
    columns: Mapping[str, str],
    *,
    file_name: str,
    key: str,
    numbers: Iterable[str] = (),
    changes: Iterable[str] = (),
) -> None:
    """A table with a button that downloads it as CSV.

    A column in which no row has anything takes no room on the page; the download holds it all the same. A column of
    text is as wide as its longest text, within reason.

    Args:
        rows: Cells by column.
        columns: Titles by column, in order.
        file_name: Name of the downloaded file.
        key: Key of the table.
        numbers: Columns to show with two decimals.
        changes: The same with their sign.
    """
    shown = {name: title for name, title in columns.items() if any(row.get(name) not in (None, "") for row in rows)}
    wordings: dict[Any, Any] = {shown[name]: number for name in numbers if name in shown}
    wordings |= {shown[name]: change for name in changes if name in shown}
    cells = pd.DataFrame([{title: row.get(name) for name, title in shown.items()} for row in rows])
    widths = {title: _width(title, cells[title]) for name, title in shown.items() if title not in wordings}
    cells = cells.convert_dtypes().astype(dict.fromkeys(wordings, "float64"))
    st.dataframe(
        # written by us, so that a minus is the same sign as in the sentences; the columns still sort as numbers
        cells.style.format(wordings, na_rep="–"),
        key=key,
        hide_index=True,
        column_config={title: st.column_config.Column(width=width) for title, width in widths.items() if width},
        placeholder="–",
    )
    download(rows, list(columns), file_name=file_name, key=f"{key}_download")


def _width(title: str, cells: pd.Series) -> int | None:
    """Pixels that a column of text needs; None for a column of something else."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    if not texts:
        return None
    letters = max(len(title), *(len(text) for text in texts))
    return min(MOST_WIDTH, _CELL_PADDING + _LETTER_WIDTH * letters)


def download(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], *, file_name: str, key: str) -> None:
    """A button that downloads rows as CSV which no spreadsheet runs."""
    st.download_button(
        "Download as CSV",
        data=csv_bytes(rows, columns),
        file_name=file_name,
        mime="text/csv",
        key=key,
        icon=":material/download:",
        on_click="ignore",
        type="tertiary",
    )


# ---------------------------------------------------------------- states of the data


def require_days(scope: Scope) -> tuple[str, str]:
    """The period to show; where there is none, the page says why and what to do, and ends."""
    if scope.period is None:
        if scope.days is None:
            render_no_verdicts(scope)
        else:
            render_problem(Problem(title="Nothing in this period", text=no_days_text(scope)))
            newest_days_button()
        st.stop()
    return scope.period


def newest_days_button() -> None:
    """A button that takes the chosen period back."""
    st.button("Show the newest days", on_click=_newest_days, key="newest_days", type="primary")


def _newest_days() -> None:
    choose(first_day=None, last_day=None, day=None, page=1)


def render_no_verdicts(scope: Scope) -> None:
    """A judge setup without any verdict: no run yet, the first one under way, or one that could not grade."""
    runs = [run for run in queries.runs(scope.key, scope.app) if run["ruler_id"] == scope.setup.ruler_id]
    if not runs:
        text = "The judge setup is known and no run has graded anything yet."
        render_problem(Problem(title="No scores yet", text=text, command="judgewatch run once"))
    elif runs[0]["status"] == "running":
        text = (
            f"The first run began at {instant(runs[0]['started_utc'], scope.zone)}. This page looks for news by itself."
        )
        render_problem(Problem(title="The first run is under way", text=text))
    else:
        text = f"The run of {instant(runs[0]['slot_utc'], scope.zone)} ended without a verdict: {run_cause(runs[0])}"
        render_problem(Problem(title="No scores yet", text=text, command="judgewatch run once"))
    page_link("runs", scope.view.shared(), "See the runs")


def run_cause(run: Mapping[str, Any]) -> str:
    """Why a run failed or stopped, in words."""
    return run["message"] or (run["stop_reason"] or "no reason was noted").replace("_", " ")


def newest_line(run: Mapping[str, Any], scope: Scope) -> str:
    """The newest run (or the newest day of imported scores) in one line: when, how it ended, how much has a score."""
    if run["purpose"] == Purpose.IMPORTED:
        parts = [f"Newest imported scores: {day(run['slot_day'], year=True)}"]
    else:
        status = {"finished": "finished", "stopped": "stopped early", "failed": "failed", "running": "under way"}
        ending = "finished, but does not count" if run["not_counted"] else status.get(run["status"], run["status"])
        parts = [f"Last run of {instant(run['slot_utc'], scope.zone)} {ending}"]
    if run["n_anchors"]:
        parts.append(f"{run['n_scored_anchor']} of {counted(run['n_anchors'], 'anchor')}")
    if run["n_traffic"]:
        parts.append(f"{run['n_scored_traffic']} of {counted(run['n_traffic'], 'answer')}")
    line = ", ".join(parts)
    if run["n_unscored"]:
        line += f" ({run['n_unscored']} not scored: {reasons(run['reasons'])})"
    return line + "."


def render_day(scope: Scope) -> None:
    """What today has cost against its budget, and when the next run is due."""
    small(day_line(scope))


def day_line(scope: Scope) -> str:
    """Cost of today and the next run in one line; the next run only where the scorer noted its schedule."""
    plan = day_plan(scope.key, scope.app, SystemClock().now())
    line = f"Spent {of_limit(plan.usd, plan.calls, plan.usd_limit, plan.calls_limit)}."
    if plan.next_run is not None:
        line += f" Next run {instant(utc_text(plan.next_run), scope.zone)}."
    return line


def score_text(score: float | None, scale_max: float | None) -> str:
    """A score as it is shown beside an answer: ``4 of 5``."""
    if score is None:
        return "not scored"
    shown = f"{score:g}" if score == round(score, 2) else number(score)
    return shown if scale_max is None else f"{shown} of {scale_max:g}"
