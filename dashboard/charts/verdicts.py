"""All scores of one answer over time: a strip that shows when the judge began to see it otherwise.

Only scores of one judge setup are joined by a line, and none that stands aside (a recheck, a pick).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from dashboard.charts.base import JUDGE, MUTED, RAW, Chart, day_axis, literal, rgba, style
from dashboard.wording import counted, level, reason
from dashboard.wording import day as day_text
from evaluator.records import Purpose

_NAMES: dict[str, str] = {
    Purpose.IMPORTED: "imported score",
    Purpose.RECHECK: "recheck",
    Purpose.PICK: "choice of anchors",
}


def plot_verdicts(verdicts: Sequence[Mapping[str, Any]], *, scale: tuple[float, float]) -> Chart:
    """Draw one point a verdict on the day of its run; one without a score is a cross on the axis.

    Args:
        verdicts: slot_day, score (None: none), unscored_reason, setup, purpose, explanation; any order, at least one.
        scale: Lowest and highest score of the rubric.
    """
    ordered = sorted(verdicts, key=lambda row: str(row["slot_day"]))
    scored = [row for row in ordered if row["score"] is not None]
    failed = [row for row in ordered if row["score"] is None]
    figure = go.Figure()
    names = sorted({(_name(row), int(row["setup"] or 0)) for row in scored})
    for name, setup in names:
        _add_scores(figure, [row for row in scored if (_name(row), int(row["setup"] or 0)) == (name, setup)], name)
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
    style(figure, height=180, y_title="score", legend=bool(failed) or len(names) > 1)
    edge = 0.08 * (scale[1] - scale[0])
    figure.update_yaxes(range=[scale[0] - edge, scale[1] + edge], nticks=6)
    day_axis(figure, str(ordered[0]["slot_day"]), str(ordered[-1]["slot_day"]))
    title = _title(scored, len(failed))
    return Chart(figure=figure, title=title, alt=f"{title}, one point a run.")


def _name(row: Mapping[str, Any]) -> str:
    return _NAMES.get(row["purpose"], f"score, setup v{row['setup']}")


def _add_scores(figure: go.Figure, rows: Sequence[Mapping[str, Any]], name: str) -> None:
    """Scores that may share a line: of one setup, and all in or all out of the record."""
    purpose = rows[0]["purpose"]
    colour = RAW if purpose == Purpose.IMPORTED else JUDGE
    stands_aside = purpose in (Purpose.RECHECK, Purpose.PICK)
    figure.add_scatter(
        x=[row["slot_day"] for row in rows],
        y=[float(row["score"]) for row in rows],
        name=name,
        mode="markers" if stands_aside else "lines+markers",
        line={"color": rgba(colour, 0.5), "width": 1, "shape": "hv"},
        marker={"size": 9 if stands_aside else 7, "color": colour, "symbol": "diamond" if stands_aside else "circle"},
        hovertext=[_hover(row, level(float(row["score"]))) for row in rows],
        hovertemplate="%{hovertext}<extra></extra>",
    )


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
