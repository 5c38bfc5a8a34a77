"""Stored scores beside what the judge gives the same answers now, for the recent and the old part of a recheck."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from dashboard.charts.base import JUDGE, RAW, Chart, literal, numbers, score_range, style
from dashboard.wording import bounds, counted, number
from dashboard.wording import days as days_text

_TITLES = {"old": "old answers", "recent": "recent answers"}
_OFFSET = 0.12  # so that the two points of a part stand beside each other


def plot_recheck(parts: Sequence[tuple[str, Mapping[str, Any]]], *, scale: tuple[float, float], level: float) -> Chart:
    """Draw the mean of each part, as stored and as graded now, each with its interval.

    Args:
        parts: (name, part of a recheck's result), in the order of time; one or two.
        scale: Lowest and highest score of the rubric.
        level: Coverage of the intervals.
    """
    figure = go.Figure()
    values: list[float | None] = []
    for when, name, colour, side in (("then", "stored score", RAW, -1), ("now", "score now", JUDGE, 1)):
        found = [part[when] for _, part in parts]
        values += [row[bound] for row in found for bound in ("value", "low", "high")]
        _add_points(figure, parts, found, name=name, colour=colour, side=side)
    style(figure, height=260, y_title="mean score")
    figure.update_xaxes(
        tickvals=list(range(len(parts))),
        ticktext=[f"{_TITLES[name]}<br>{literal(_days(part))}, n {part['n']:,}" for name, part in parts],
        range=[-0.5, len(parts) - 0.5],
        showgrid=False,
        zeroline=False,
    )
    figure.update_yaxes(range=list(score_range(scale, numbers(values))))
    words = "; ".join(
        f"{_TITLES[name]}: stored {number(part['then']['value'])}, now {number(part['now']['value'])}"
        for name, part in parts
    )
    return Chart(
        figure=figure,
        title="The same answers, as stored and as graded now",
        alt=f"Mean scores of the same answers. {words}.",
        caption=f"Whiskers: {level:.0%} intervals of the means, clusters respected. Whether the judge moved is told by"
        " the differences of the same answers, which are far more exact than these means.",
    )


def _add_points(
    figure: go.Figure,
    parts: Sequence[tuple[str, Mapping[str, Any]]],
    found: Sequence[Mapping[str, Any]],
    *,
    name: str,
    colour: str,
    side: int,
) -> None:
    above = [None if row["high"] is None else row["high"] - row["value"] for row in found]
    figure.add_scatter(
        x=[place + side * _OFFSET for place in range(len(parts))],
        y=numbers(row["value"] for row in found),
        error_y={"type": "data", "array": numbers(above), "color": colour, "thickness": 1.5},
        mode="markers",
        marker={"color": colour, "size": 10},
        name=name,
        hovertext=[
            f"{name}, {_TITLES[part_name]}<br>{number(row['value'])} {bounds(row['low'], row['high'])}"
            f"<br>{counted(part['n'], 'answer')}"
            for (part_name, part), row in zip(parts, found, strict=True)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _days(part: Mapping[str, Any]) -> str:
    return "" if part["first_day"] is None else days_text(part["first_day"], part["last_day"])
