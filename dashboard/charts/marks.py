"""What is drawn across a chart over time: the date of a change with its interval, and events such as a deploy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import plotly.graph_objects as go

from dashboard.charts.base import LOOK, MUTED, literal, rgba
from dashboard.wording import day as day_text

MOST_LABELS = 4  # more names than that would run into each other; the rest is in the hover


def add_change(
    figure: go.Figure,
    *,
    since_day: str | None,
    first_day: str | None,
    last_day: str | None,
    axis_days: tuple[str, str],
    colour: str = LOOK,
) -> None:
    """Mark the day of a change with a line and shade the days it may have been; outside the axis nothing is drawn."""
    if since_day is None or not axis_days[0] <= since_day <= axis_days[1]:
        return
    if first_day is not None and last_day is not None and first_day < last_day:
        figure.add_shape(
            type="rect",
            xref="x",
            yref="paper",
            x0=max(first_day, axis_days[0]),
            x1=min(last_day, axis_days[1]),
            y0=0,
            y1=1,
            line_width=0,
            fillcolor=rgba(colour, 0.10),
            layer="below",
        )
    figure.add_shape(
        type="line",
        xref="x",
        yref="paper",
        x0=since_day,
        x1=since_day,
        y0=0,
        y1=1,
        line={"color": colour, "width": 1.5, "dash": "dot"},
    )


def add_events(figure: go.Figure, events: Iterable[Mapping[str, Any]], *, axis_days: tuple[str, str], y: float) -> None:
    """Mark logged events at height ``y``, one mark a day; the kinds are named while they are few."""
    by_day: dict[str, list[Mapping[str, Any]]] = {}
    for event in events:
        if axis_days[0] <= event["day"] <= axis_days[1]:
            by_day.setdefault(event["day"], []).append(event)
    if not by_day:
        return
    marks = sorted(by_day.items())
    for day, _ in marks:
        figure.add_shape(
            type="line", xref="x", yref="paper", x0=day, x1=day, y0=0, y1=1, line={"color": MUTED, "width": 1}
        )
    labels = [literal(found[0]["kind"], 14) if len(marks) <= MOST_LABELS else "" for _, found in marks]
    hovers = [
        "<br>".join([day_text(day, year=True), *(f"{literal(e['kind'], 20)}: {literal(e['text'], 90)}" for e in found)])
        for day, found in marks
    ]
    figure.add_scatter(
        x=[day for day, _ in marks],
        y=[y] * len(marks),
        name="event",
        mode="markers+text",
        showlegend=False,  # its mark is named or, among many, in the hover
        text=labels,
        textposition=["middle left" if day > axis_days[1][:8] + "15" else "middle right" for day, _ in marks],
        marker={"symbol": "triangle-up", "size": 9, "color": "#8a8a8a"},
        hovertext=hovers,
        hovertemplate="%{hovertext}<extra></extra>",
    )
