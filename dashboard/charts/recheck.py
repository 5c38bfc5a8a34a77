"""What a recheck found: score now less stored score, for old and recent answers, and the judge's own move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from dashboard.charts.base import JUDGE, MUTED, RAW, Chart, literal, numbers, rgba, style
from dashboard.wording import bounds, change, counted
from dashboard.wording import days as days_text

_ROW_HEIGHT = 52
_NAMES = {"old": "old answers", "recent": "recent answers"}
_MOVE = "judge's own move"


def plot_recheck(
    parts: Sequence[tuple[str, Mapping[str, Any]]],
    *,
    drift: Mapping[str, Any] | None,
    smallest_change: float,
    level: float,
) -> Chart:
    """Draw how much more the same answers get now, part by part, and the difference of the two parts.

    Args:
        parts: (name, part of a recheck's result), in the order of time; one or two.
        drift: Old less recent with its bounds; None where there is no old part.
        smallest_change: What the user called too small to matter, in scale units: the grey band.
        level: Coverage of the intervals.
    """
    labels = [f"{_NAMES[name]}<br>{literal(_days(part))}" for name, part in parts]
    shifts = [part["shift"] for _, part in parts]
    rows = list(zip(labels, shifts, [RAW] * len(parts), strict=True))
    if drift is not None:
        rows.append((f"{_MOVE}<br>old less recent", drift, JUDGE))
    figure = go.Figure()
    figure.add_vrect(x0=-smallest_change, x1=smallest_change, line_width=0, fillcolor=rgba("#8a8a8a", 0.13))
    figure.add_vline(x=0, line={"color": MUTED, "width": 1})
    for place, (label, found, colour) in enumerate(rows):
        _add_row(figure, place, label.partition("<br>")[0], found, colour)
    style(figure, height=70 + _ROW_HEIGHT * len(rows), legend=False)
    figure.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=[label for label, _, _ in rows],
        range=[len(rows) - 0.5, -0.5],
        showgrid=False,
    )
    figure.update_xaxes(
        title_text="score now less stored score", tickformat="+.1f", range=_range(rows, smallest_change), nticks=6
    )
    title = _title(parts)
    words = "; ".join(f"{label.partition('<br>')[0]} {_size(found)}" for label, found, _ in rows)
    return Chart(figure=figure, title=title, alt=f"{title}. {words}.", caption=_caption(parts, level))


def _add_row(figure: go.Figure, place: int, name: str, found: Mapping[str, Any], colour: str) -> None:
    """One row: the point, its interval and its number."""
    value, low, high = numbers((found["value"], found["low"], found["high"]))
    known = value is not None and low is not None and high is not None
    figure.add_scatter(
        x=[value],
        y=[place],
        name=name,
        mode="markers+text",
        text=[change(value)],
        textposition="top center",
        marker={"color": colour, "size": 10},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [(high or 0.0) - (value or 0.0)] if known else [],
            "arrayminus": [(value or 0.0) - (low or 0.0)] if known else [],
            "color": colour,
            "thickness": 2,
        },
        hovertext=[f"{name}<br>{_size(found)}"],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _size(found: Mapping[str, Any]) -> str:
    return f"{change(found['value'])} {bounds(found['low'], found['high'])}".rstrip()


def _range(rows: Sequence[tuple[str, Mapping[str, Any], str]], smallest_change: float) -> list[float]:
    ends = numbers(found[bound] for _, found, _ in rows for bound in ("value", "low", "high"))
    values = [0.0, smallest_change, -smallest_change, *(end for end in ends if end is not None)]
    air = 0.12 * (max(values) - min(values))
    return [min(values) - air, max(values) + air]


def _title(parts: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """The finding: what today's judge adds to the stored scores of each part."""
    sizes = [f"{change(part['shift']['value'])} for {_NAMES[name]}" for name, part in parts if part["n"]]
    return f"Against the stored scores the judge gives {', '.join(sizes)}" if sizes else "No answer was scored again"


def _caption(parts: Sequence[tuple[str, Mapping[str, Any]]], level: float) -> str:
    counts = " and ".join(f"{counted(part['n'], f'{name} answer')}: {_size(part['shift'])}" for name, part in parts)
    return (
        f"{counts}; each graded again and compared with its own stored score; lines and brackets: {level:.0%}"
        " intervals; grey band: too small a change to matter."
    )


def _days(part: Mapping[str, Any]) -> str:
    return "" if part["first_day"] is None else days_text(part["first_day"], part["last_day"])
