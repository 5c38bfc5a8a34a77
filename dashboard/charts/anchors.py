"""The anchors over time: how far each run lies from the baseline, item by item."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from dashboard.charts.base import JUDGE, LOOK, MUTED, Chart, day_axis, every_day, literal, numbers, rgba, style
from dashboard.charts.marks import add_change
from dashboard.wording import bounds, change, counted
from dashboard.wording import day as day_text
from evaluator.findings import AnchorRun, JudgeFinding


def plot_anchors(
    judge: JudgeFinding, *, first_day: str, last_day: str, smallest_change: float, level: float = 0.95
) -> Chart:
    """Draw the shift of every run's anchors against their own baseline, with its interval.

    Args:
        judge: The finding; its ``runs`` are drawn as far as they lie in the period.
        first_day: First day of the axis.
        last_day: Last day of the axis.
        smallest_change: What the user called too small to matter, in scale units: the grey band.
        level: Coverage of the intervals.
    """
    runs = [run for run in judge["runs"] if first_day <= run["day"] <= last_day]
    figure = go.Figure()
    _add_frame(figure, runs, smallest_change, days=(first_day, last_day))
    _add_runs(figure, [run for run in runs if run["counted"]], name="run, all its anchors", hollow=False)
    _add_runs(figure, [run for run in runs if not run["counted"]], name="run that does not count", hollow=True)
    _add_crosses(figure, [run for run in runs if run["not_counted"]])
    add_change(
        figure,
        since_day=judge["since_day"],
        first_day=judge["since_first_day"],
        last_day=judge["since_last_day"],
        axis_days=(first_day, last_day),
    )
    style(figure, height=260, y_title="shift, scale units")
    figure.update_yaxes(range=_range(runs, smallest_change), tickformat="+.1f", hoverformat="+.2f")
    day_axis(figure, first_day, last_day)
    title = anchor_title(judge)
    return Chart(figure=figure, title=title, alt=_alt(runs, title), caption=_caption(judge, runs, level))


def _add_frame(figure: go.Figure, runs: Sequence[AnchorRun], smallest_change: float, *, days: tuple[str, str]) -> None:
    """The zero line, the band of changes that do not matter, and the stretch that is the baseline."""
    figure.add_hrect(y0=-smallest_change, y1=smallest_change, line_width=0, fillcolor=rgba("#8a8a8a", 0.13))
    figure.add_hline(y=0, line={"color": MUTED, "width": 1})
    baseline = [run["day"] for run in runs if run["in_baseline"]]
    if not baseline:
        return
    figure.add_shape(
        type="line",
        xref="x",
        yref="paper",
        x0=baseline[0],
        x1=baseline[-1],
        y0=0.02,
        y1=0.02,
        line={"color": MUTED, "width": 4},
    )
    axis = every_day(*days)
    is_late = axis.index(baseline[0]) > len(axis) / 2  # a word that begins at the edge would be cut
    figure.add_annotation(
        text="baseline",
        x=baseline[-1 if is_late else 0],
        xref="x",
        y=0.03,
        yref="paper",
        xanchor="right" if is_late else "left",
        yanchor="bottom",
        showarrow=False,
    )


def _add_runs(figure: go.Figure, runs: Sequence[AnchorRun], *, name: str, hollow: bool) -> None:
    runs = [run for run in runs if run["shift"] is not None]
    if not runs:
        return
    shift = numbers(run["shift"] for run in runs)
    up, down = ([None if b is None or s is None else abs(b - s) for b, s in zip(numbers(side), shift, strict=True)]
                for side in ((run["high"] for run in runs), (run["low"] for run in runs)))  # fmt: skip
    figure.add_scatter(
        x=[run["day"] for run in runs],
        y=shift,
        name=name,
        mode="markers",
        marker={
            "size": 7,
            "color": MUTED if hollow else JUDGE,
            "symbol": "circle-open" if hollow else "circle",
        },
        error_y={
            "type": "data",
            "symmetric": False,
            "array": up,
            "arrayminus": down,
            "color": rgba("#8a8a8a", 0.4) if hollow else rgba(JUDGE, 0.35),
            "thickness": 1,
            "width": 0,
        },
        hovertext=[_hover(run) for run in runs],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _add_crosses(figure: go.Figure, runs: Sequence[AnchorRun]) -> None:
    """Mark the runs that are no measurement, and so have no shift, on the zero line."""
    if not runs:
        return
    figure.add_scatter(
        x=[run["day"] for run in runs],
        y=[0.0] * len(runs),
        name="run that is no measurement",
        mode="markers",
        marker={"symbol": "x-thin", "size": 9, "line": {"width": 2, "color": LOOK}},
        hovertext=[
            f"run of {day_text(run['day'], year=True)}<br>does not count: {literal(run['not_counted'], 90)}"
            for run in runs
        ],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _hover(run: AnchorRun) -> str:
    lines = [
        f"run of {day_text(run['day'], year=True)}",
        f"shift {change(run['shift'])} {bounds(run['low'], run['high'])}",
        f"n {run['n']} of {run['n_anchors']} anchors",
    ]
    if run["in_baseline"]:
        lines.append("part of the baseline")
    if not run["counted"]:
        lines.append("not counted: too few anchors have a score")
    return "<br>".join(lines)


def _range(runs: Sequence[AnchorRun], smallest_change: float) -> list[float]:
    values = [value for run in runs for value in (run["low"], run["high"], run["shift"]) if value is not None]
    largest = max([smallest_change * 1.6, *(abs(value) * 1.1 for value in values)])
    return [-largest, largest]


def anchor_title(judge: JudgeFinding) -> str:
    """The finding of the chart in a few words."""
    state = judge["state"]
    if state == "changed":
        since = f" since {day_text(judge['since_day'])}" if judge["since_day"] else ""
        return f"For the same answers the judge gives {change(judge['estimate'])}{since}"
    if state == "learning":
        done, left = judge["n_runs_counted"], judge["learning_runs_left"]
        return f"Learning how this judge scores: run {done} of {done + left}"
    return {
        "steady": "For the same answers the judge gives the same scores",
        "no_change_shown": "No change of the judge shown, though a small one could hide",
        "cannot_tell": "Too few runs to tell whether the judge moved",
    }.get(state, "No anchors graded yet")


def _alt(runs: Sequence[AnchorRun], title: str) -> str:
    shifts = [run["shift"] for run in runs if run["shift"] is not None]
    if not shifts:
        return f"{title}. No run in this period has anchor scores."
    return (
        f"{title}. Shift against the baseline over {counted(len(shifts), 'run')}: from {change(min(shifts))} to"
        f" {change(max(shifts))}, {change(shifts[-1])} in the last run."
    )


def _caption(judge: JudgeFinding, runs: Sequence[AnchorRun], level: float) -> str:
    parts = [f"{counted(judge['n_anchors'], 'anchor')}, each against its own baseline; lines: {level:.0%} intervals"]
    parts.append("grey band: too small a change to matter")
    if any(run["not_counted"] for run in runs):
        parts.append("cross: run that is no measurement, why stands on the page Runs")
    if any(not run["counted"] and run["shift"] is not None for run in runs):
        parts.append("hollow: not counted, fewer than half of the anchors have a score")
    return "; ".join(parts) + "."
