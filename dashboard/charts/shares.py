"""Where the raw change comes from: the judge, the assistant, the mix of questions, as three bars."""

from __future__ import annotations

import plotly.graph_objects as go

from dashboard.charts.base import ASSISTANT, JUDGE, MIX, MUTED, Chart, style
from dashboard.wording import bounds, change, days, holds_zero
from evaluator.findings import Shares


def plot_shares(shares: Shares) -> Chart:
    """Draw the three shares of the raw change with their intervals; one that could be zero says so."""
    names = ("judge", "assistant", "mix of questions")
    rows = [
        (shares["judge"], shares["judge_low"], shares["judge_high"]),
        (shares["assistant"], shares["assistant_low"], shares["assistant_high"]),
        (shares["mix"], shares["mix_low"], shares["mix_high"]),
    ]
    doubts = ["could be zero" if holds_zero(low, high) else "" for _, low, high in rows]
    figure = go.Figure()
    figure.add_bar(
        x=[value for value, _, _ in rows],
        y=list(range(len(names))),
        orientation="h",
        width=0.5,
        marker={"color": [JUDGE, ASSISTANT, MIX]},
        hovertext=[
            f"{name}<br>{change(value)} {bounds(low, high)}"
            for name, (value, low, high) in zip(names, rows, strict=True)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
    )
    _add_whiskers(figure, rows)
    figure.add_vline(x=0, line={"color": MUTED, "width": 1})
    style(figure, height=210, legend=False)
    ticks = [
        f"{name} {change(row[0])}" + (f"<br>{doubt}" if doubt else "")
        for name, row, doubt in zip(names, rows, doubts, strict=True)
    ]
    figure.update_yaxes(
        autorange="reversed", showgrid=False, tickmode="array", tickvals=list(range(len(names))), ticktext=ticks
    )
    figure.update_xaxes(
        title_text="change of the mean score", tickformat="+.1f", showgrid=False, range=_range(rows), nticks=5
    )
    title = f"Where the {change(shares['raw'])} comes from"
    alt = f"{title}: " + "; ".join(tick.replace("<br>", ", ") for tick in ticks) + "."
    return Chart(figure=figure, title=title, alt=alt, caption=_caption(shares))


def _add_whiskers(figure: go.Figure, rows: list[tuple[float, float | None, float | None]]) -> None:
    """The intervals as dark lines in a light casing: seen on every bar, on white and on black."""
    x: list[float | None] = []
    y: list[int | None] = []
    for place, (_, low, high) in enumerate(rows):
        if low is not None and high is not None:
            x += [low, high, None]
            y += [place, place, None]
    for name, colour, width in (("casing", "#ffffff", 6), ("interval", "#1f2328", 2.5)):
        figure.add_scatter(x=x, y=y, name=name, mode="lines", line={"color": colour, "width": width}, hoverinfo="skip")


def _range(rows: list[tuple[float, float | None, float | None]]) -> list[float]:
    values = [0.0, *(value for row in rows for value in row if value is not None)]
    air = 0.08 * (max(values) - min(values) or 1.0)
    return [min(values) - air, max(values) + air]


def _caption(shares: Shares) -> str:
    mix = f" (by {shares['mix_key']})" if shares["mix_key"] else ""
    return (
        f"{days(shares['after_first_day'], shares['after_last_day'])} (n {shares['n_after']:,}) against"
        f" {days(shares['before_first_day'], shares['before_last_day'])} (n {shares['n_before']:,}); the shares add up"
        f" to the raw change; mix of questions{mix}."
    )
