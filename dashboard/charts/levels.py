"""How many scores of each level: the distribution behind a mean."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.base import CORRECTED, Chart, literal, rgba, style
from dashboard.wording import counted, level


def plot_levels(levels: pd.DataFrame, *, name: str) -> Chart:
    """Draw the share of each level of the scale as bars.

    Args:
        levels: One row a level of the whole scale, in order: level, label, n, share (0..1).
        name: Whose scores these are.
    """
    n = int(levels["n"].sum())
    figure = go.Figure()
    figure.add_bar(
        x=[literal(label, 24) for label in levels["label"]],
        y=[float(share) for share in levels["share"]],
        marker={"color": rgba(CORRECTED, 0.85)},
        width=0.6,
        customdata=[float(value) for value in levels["level"]],
        text=[f"{share:.0%}" for share in levels["share"]],
        textposition="outside",
        cliponaxis=False,
        hovertext=[
            f"{literal(label)}<br>{counted(int(count), 'score')}, {share:.0%} of {n:,}"
            for label, count, share in zip(levels["label"], levels["n"], levels["share"], strict=True)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
    )
    style(figure, height=300, y_title="share of scores", legend=False)
    figure.update_xaxes(type="category", title_text="score")
    figure.update_yaxes(tickformat=".0%", range=[0, max(0.1, float(levels["share"].max()) * 1.15) if n else 1])
    title = _title(levels, name, n)
    parts = ", ".join(f"{label}: {share:.0%}" for label, share in zip(levels["label"], levels["share"], strict=True))
    return Chart(
        figure=figure,
        title=title,
        alt=f"{title}. {parts}.",
        caption=f"n {n:,}; each answer counts with its sampling weight.",
    )


def _title(levels: pd.DataFrame, name: str, n: int) -> str:
    if not n:
        return f"{name}: no scores in this period"
    share, most = max(zip(levels["share"], levels["level"], strict=True))
    return f"{name}: {share:.0%} of the scores are {level(float(most))}"
