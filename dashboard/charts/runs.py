"""What came of each run's plan: scored, not scored, not started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

import plotly.graph_objects as go

from dashboard.charts.base import CORRECTED, LOOK, MUTED, Chart, day_axis, literal, style
from dashboard.wording import counted, reasons
from dashboard.wording import day as day_text

BAR_MS = 0.75 * 86_400_000  # of a day; Plotly draws a lonely bar as a hairline
LEAST_DAYS = 14  # the axis of a young history; one bar across the whole chart says nothing
_STATES = (
    ("n_scored", "scored", CORRECTED),
    ("n_unscored", "not scored", LOOK),
    ("n_not_started", "not started", MUTED),
)


def plot_runs(runs: Sequence[Mapping[str, Any]]) -> Chart:
    """Draw one stacked bar for each run on its day.

    Args:
        runs: slot_day, status, not_counted, n_scored, n_unscored, n_not_started, reasons; in order of time.
    """
    figure = go.Figure()
    hovers = [_hover(run) for run in runs]
    for column, name, colour in _STATES:
        figure.add_bar(
            x=[run["slot_day"] for run in runs],
            y=[int(run[column]) for run in runs],
            name=name,
            marker={"color": colour},
            width=BAR_MS,
            hovertext=hovers,
            hovertemplate="%{hovertext}<extra></extra>",
        )
    style(figure, height=240, y_title="answers and anchors")
    figure.update_layout(barmode="stack", legend={"traceorder": "normal"})
    figure.update_yaxes(rangemode="tozero")
    last_day = str(runs[-1]["slot_day"])
    first_day = (date.fromisoformat(last_day) - timedelta(days=LEAST_DAYS - 1)).isoformat()
    day_axis(figure, min(first_day, str(runs[0]["slot_day"])), last_day)
    title = _title(runs)
    last = hovers[-1].replace("<br>", ", ")
    return Chart(
        figure=figure,
        title=title,
        alt=f"{title}. Last run: {last}.",
        caption="One bar a run, on the day it was scheduled for.",
    )


def _hover(run: Mapping[str, Any]) -> str:
    lines = [f"run of {day_text(run['slot_day'], year=True)}: {literal(run['status'], 20)}"]
    lines += [f"{int(run[column]):,} {name}" for column, name, _ in _STATES if run[column]]
    if run["not_counted"]:
        lines.append(f"does not count: {literal(run['not_counted'], 90)}")
    if run["reasons"]:
        lines.append(literal(reasons(run["reasons"]), 90))
    return "<br>".join(lines)


def _title(runs: Sequence[Mapping[str, Any]]) -> str:
    total = len(runs)
    counts = {
        state: sum(run["status"] == state for run in runs) for state in ("finished", "failed", "stopped", "running")
    }
    others = [
        f"{counts[state]} {word}"
        for state, word in (("failed", "failed"), ("stopped", "stopped early"), ("running", "under way"))
        if counts[state]
    ]
    n_unscored = sum(int(run["n_unscored"]) for run in runs)
    n_tried = n_unscored + sum(int(run["n_scored"]) for run in runs)
    missing = f"; {n_unscored:,} of {n_tried:,} not scored" if n_unscored else ""
    n_left_out = sum(bool(run["not_counted"]) for run in runs)
    left_out = missing + (f"; {n_left_out} {'does' if n_left_out == 1 else 'do'} not count" if n_left_out else "")
    if not others:
        return (f"All {counted(total, 'run')} finished" if total > 1 else "The run finished") + left_out
    return f"{counts['finished']} of {counted(total, 'run')} finished, {', '.join(others)}{left_out}"
