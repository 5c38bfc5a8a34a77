"""All scores of one answer over time: a strip that shows when the judge began to see it otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from dashboard.charts.base import JUDGE, MUTED, Chart, day_axis, literal, rgba, style
from dashboard.wording import counted, level, reason
from dashboard.wording import day as day_text


def plot_verdicts(verdicts: Sequence[Mapping[str, Any]], *, scale: tuple[float, float]) -> Chart:
    """Draw one point a verdict on the day of its run; one without a score is a cross on the axis.

    Args:
        verdicts: slot_day, score (None: none), unscored_reason, setup, explanation; any order, at least one.
        scale: Lowest and highest score of the rubric.
    """
    ordered = sorted(verdicts, key=lambda row: str(row["slot_day"]))
    scored = [row for row in ordered if row["score"] is not None]
    failed = [row for row in ordered if row["score"] is None]
    figure = go.Figure()
    figure.add_scatter(
        x=[row["slot_day"] for row in scored],
        y=[float(row["score"]) for row in scored],
        name="score",
        mode="lines+markers",
        line={"color": rgba(JUDGE, 0.5), "width": 1, "shape": "hv"},
        marker={"size": 7, "color": JUDGE},
        hovertext=[_hover(row, level(float(row["score"]))) for row in scored],
        hovertemplate="%{hovertext}<extra></extra>",
    )
    if failed:
        figure.add_scatter(
            x=[row["slot_day"] for row in failed],
            y=[scale[0]] * len(failed),
            name="not scored",
            mode="markers",
            marker={"symbol": "x-thin", "size": 9, "line": {"width": 2, "color": MUTED}},
            hovertext=[_hover(row, f"not scored: {reason(row['unscored_reason'])}") for row in failed],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    style(figure, height=180, y_title="score", legend=bool(failed))
    edge = 0.08 * (scale[1] - scale[0])
    figure.update_yaxes(range=[scale[0] - edge, scale[1] + edge], nticks=6)
    day_axis(figure, str(ordered[0]["slot_day"]), str(ordered[-1]["slot_day"]))
    title = _title(scored, len(failed))
    return Chart(figure=figure, title=title, alt=f"{title}, one point a run.")


def _hover(row: Mapping[str, Any], shown: str) -> str:
    lines = [f"run of {day_text(row['slot_day'], year=True)}, judge setup v{row['setup']}", literal(shown)]
    return "<br>".join([*lines, literal(row["explanation"], 90)] if row["explanation"] else lines)


def _title(scored: Sequence[Mapping[str, Any]], n_failed: int) -> str:
    if not scored:
        return f"{counted(n_failed, 'verdict')}, none with a score"
    values = sorted({float(row["score"]) for row in scored})
    span = level(values[0]) if len(values) == 1 else f"{level(values[0])} to {level(values[-1])}"
    first, last = scored[0], scored[-1]
    return (
        f"{counted(len(scored), 'score')} from {day_text(first['slot_day'])} to {day_text(last['slot_day'])}: {span},"
        f" {level(float(last['score']))} in the newest"
    )
