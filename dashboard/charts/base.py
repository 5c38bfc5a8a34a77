"""What every chart shares: colours that belong to things, literal text, days as labels, no holes in the JSON.

A chart is a Plotly figure with its title, its caption and a text for screen readers. No Streamlit here.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import plotly.graph_objects as go

# Colours belong to the thing, not to the order of appearance; the set stays apart for colour-blind readers and has
# enough contrast on white and on black.
RAW = "#8a8a8a"
CORRECTED = "#2b83c6"
JUDGE = "#b8478a"
ASSISTANT = "#2b83c6"
MIX = "#a3a3a3"
LOOK = "#d95f02"
REST = "#8a8a8a"
MUTED = "rgba(128, 128, 128, 0.55)"
GRID = "rgba(128, 128, 128, 0.22)"


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A figure ready to be drawn: ``title`` states the finding, ``alt`` says it to those who do not see the figure.

    ``title``, ``caption`` and ``alt`` are plain text and may hold names from the data.
    """

    figure: go.Figure
    title: str
    alt: str
    caption: str = ""


def literal(text: object, most: int = 60) -> str:
    """Return a text that Plotly shows letter by letter: no tags, no entities, no mathematics, on one line.

    Plotly reads <b>, <br>, <a> and $...$ in names, ticks, hovers and annotations.
    """
    line = " ".join(str(text).split())
    if len(line) > most:
        line = line[: most - 1] + "…"
    return html.escape(line, quote=False).replace("$", "&#36;")


def rgba(colour: str, alpha: float) -> str:
    """A ``#rrggbb`` colour with an opacity."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {alpha})"


def numbers(values: Iterable[object]) -> list[float | None]:
    """Numbers for a trace: a missing or non-finite one is None, which is a gap, never NaN."""
    found: list[float | None] = []
    for value in values:
        number = None if value is None else float(value)  # type: ignore[arg-type]  # whatever a frame's cell holds
        found.append(number if number is not None and math.isfinite(number) else None)
    return found


def every_day(first_day: str, last_day: str) -> list[str]:
    """All days of a range as text, both ends included."""
    start, end = date.fromisoformat(first_day), date.fromisoformat(last_day)
    return [(start + timedelta(days=place)).isoformat() for place in range((end - start).days + 1)]


def stretches(present: Sequence[bool]) -> list[tuple[int, int]]:
    """Runs of neighbouring places that are present, as (first, last) pairs."""
    found: list[tuple[int, int]] = []
    for place, here in enumerate(present):
        if here and place and present[place - 1]:
            found[-1] = (found[-1][0], place)
        elif here:
            found.append((place, place))
    return found


def add_band(
    figure: go.Figure,
    days: Sequence[str],
    low: Sequence[float | None],
    high: Sequence[float | None],
    *,
    name: str,
    colour: str,
    alpha: float = 0.18,
) -> None:
    """Add a band between two lines; a day without bounds is a gap, a lonely day, which has no area, a whisker."""
    present = [lower is not None and upper is not None for lower, upper in zip(low, high, strict=True)]
    area: list[tuple[str | None, float | None]] = []
    whiskers: list[tuple[str | None, float | None]] = []
    for first, last in stretches(present):
        there = range(first, last + 1)
        outline = [(days[i], low[i]) for i in there] + [(days[i], high[i]) for i in reversed(there)]
        (area if last > first else whiskers).extend([*outline, (None, None)])
    shared = {"mode": "lines", "hoverinfo": "skip", "showlegend": False}
    if area:
        edge = {"width": 1, "color": rgba(colour, alpha)}
        fill = {"fill": "toself", "fillcolor": rgba(colour, alpha)}
        figure.add_scatter(
            x=[x for x, _ in area[:-1]], y=[y for _, y in area[:-1]], name=name, line=edge, **fill, **shared
        )
    if whiskers:
        x, y = [x for x, _ in whiskers[:-1]], [y for _, y in whiskers[:-1]]
        figure.add_scatter(x=x, y=y, name=name, line={"width": 2, "color": rgba(colour, 0.5)}, **shared)


def score_range(
    scale: tuple[float, float], values: Iterable[float | None], *, least: float = 0.3
) -> tuple[float, float]:
    """The part of the rubric's scale to draw: all values with some air, at least a share ``least`` of the scale."""
    width = scale[1] - scale[0]
    present = [value for value in values if value is not None]
    low, high = (min(present), max(present)) if present else scale
    air = max(0.06 * width, (least * width - (high - low)) / 2)
    low, high = low - air, high + air
    edge = 0.03 * width  # so that a line on the end of the scale is not cut in half
    shift = max(0.0, scale[0] - edge - low) - max(0.0, high - scale[1] - edge)
    return max(scale[0] - edge, low + shift), min(scale[1] + edge, high + shift)


def style(figure: go.Figure, *, height: int, y_title: str = "", legend: bool = True) -> go.Figure:
    """Give a figure the margins, legend and hover that all charts share; fonts and background are the theme's."""
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 12, "t": 8, "b": 8},
        showlegend=legend,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "xanchor": "left", "x": 0, "title": None},
        hovermode="closest",
        dragmode=False,
        hoverlabel={"align": "left"},
    )
    figure.update_yaxes(title_text=y_title, gridcolor=GRID, zeroline=False, automargin=True)
    figure.update_xaxes(automargin=True)
    return figure


def day_axis(figure: go.Figure, first_day: str, last_day: str) -> None:
    """Make x a calendar axis over the whole range, so that a day without scores keeps its place."""
    before = (date.fromisoformat(first_day) - timedelta(days=1)).isoformat()
    after = (date.fromisoformat(last_day) + timedelta(days=1)).isoformat()
    short = len(every_day(first_day, last_day)) <= 7
    figure.update_xaxes(
        type="date",
        range=[before, after],
        showgrid=False,
        tickformat="%-d %b",
        # a tick a day at most: between two days there is nothing
        **({"dtick": 86_400_000, "tick0": first_day} if short else {"nticks": 9}),
    )
