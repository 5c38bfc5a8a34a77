"""Segments beside each other: one row each, point and interval, the grey band is everything together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard.charts.base import LOOK, MUTED, REST, Chart, literal, rgba, score_range, style
from dashboard.wording import bounds, number

ROW_HEIGHT = 34


@dataclass(frozen=True, kw_only=True)
class SegmentRow:
    """One segment as it is drawn; ``note`` says why it is marked, empty when it is not."""

    segment_id: int
    name: str
    n: int
    mean: float | None
    low: float | None
    high: float | None
    note: str = ""


def plot_segments(
    rows: Sequence[SegmentRow],
    *,
    overall: tuple[float, float | None, float | None] | None,
    scale: tuple[float, float],
    title: str,
    caption: str,
) -> Chart:
    """Draw a forest plot; points carry the segment's id, so that a click can be followed.

    Args:
        rows: Segments in the order of drawing, top first; one without a mean has no point and says so.
        overall: Mean of everything with its bounds.
        scale: Lowest and highest score of the rubric.
        title: The finding.
        caption: Which days, what the intervals are.
    """
    figure = go.Figure()
    values = [value for row in rows for value in (row.mean, row.low, row.high)]
    low, high = score_range(scale, [*values, *(overall or ())])
    _add_overall(figure, overall)
    for marked in (False, True):
        _add_points(figure, rows, marked=marked)
    _add_counts(figure, rows)
    style(figure, height=90 + ROW_HEIGHT * max(1, len(rows)), legend=False)
    figure.update_layout(margin={"r": 64})
    figure.update_xaxes(title_text=f"mean score, {scale[0]:g} to {scale[1]:g}", range=[low, high], gridcolor=GRID_X)
    figure.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=[literal(row.name, 28) for row in rows],
        range=[len(rows) - 0.5, -0.5],
        showgrid=False,
    )
    return Chart(figure=figure, title=title, alt=_alt(rows, title), caption=caption)


GRID_X = "rgba(128, 128, 128, 0.18)"


def _add_overall(figure: go.Figure, overall: tuple[float, float | None, float | None] | None) -> None:
    if overall is None:
        return
    mean, low, high = overall
    if low is not None and high is not None:
        figure.add_vrect(x0=low, x1=high, line_width=0, fillcolor=rgba(REST, 0.22), layer="below")
    figure.add_vline(x=mean, line={"color": MUTED, "width": 1, "dash": "dot"})


def _add_points(figure: go.Figure, rows: Sequence[SegmentRow], *, marked: bool) -> None:
    chosen = [(place, row) for place, row in enumerate(rows) if bool(row.note) is marked and row.mean is not None]
    if not chosen:
        return
    colour = LOOK if marked else REST
    spans = [
        (row.mean or 0.0, row.low if row.low is not None else row.mean, row.high if row.high is not None else row.mean)
        for _, row in chosen
    ]
    figure.add_scatter(
        x=[mean for mean, _, _ in spans],
        y=[place for place, _ in chosen],
        name="needs a look" if marked else "segment",
        mode="markers",
        marker={"size": 11 if marked else 9, "color": colour, "symbol": "diamond" if marked else "circle"},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [(high or mean) - mean for mean, _, high in spans],
            "arrayminus": [mean - (low or mean) for mean, low, _ in spans],
            "color": colour,
            "thickness": 2,
            "width": 0,
        },
        customdata=[row.segment_id for _, row in chosen],
        hovertext=[_hover(row) for _, row in chosen],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _hover(row: SegmentRow) -> str:
    lines = [literal(row.name), f"{number(row.mean)} {bounds(row.low, row.high)}", f"n {row.n:,}"]
    return "<br>".join([*lines, literal(row.note, 90)] if row.note else lines)


def _add_counts(figure: go.Figure, rows: Sequence[SegmentRow]) -> None:
    """The n of each row at the right edge."""
    for place, row in enumerate(rows):
        text = f"n {row.n:,}" if row.mean is not None else "no score"
        figure.add_annotation(
            text=text, x=1.0, xref="paper", xanchor="left", xshift=6, y=place, yref="y", showarrow=False
        )


def _alt(rows: Sequence[SegmentRow], title: str) -> str:
    present = [row for row in rows if row.mean is not None]
    if not present:
        return f"{title}. No segment has a score in this period."
    lowest = min(present, key=lambda row: row.mean or 0.0)
    highest = max(present, key=lambda row: row.mean or 0.0)
    return (
        f"{title}. {len(present)} segments, from {lowest.name} {number(lowest.mean)} to {highest.name}"
        f" {number(highest.mean)}."
    )
