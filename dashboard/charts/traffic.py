"""The scores of the traffic over time: raw with its band, corrected with its own, gaps as gaps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.base import (
    CORRECTED,
    MUTED,
    RAW,
    Chart,
    add_band,
    day_axis,
    literal,
    numbers,
    rgba,
    score_range,
    style,
)
from dashboard.charts.marks import add_change, add_events
from dashboard.wording import bounds, counted, holds_zero, number
from dashboard.wording import day as day_text
from dashboard.wording import days as days_text
from evaluator.findings import Findings, RawPeriod, Shares

SEEN = 0.05  # a change of the raw mean under which a title does not call it a rise or a fall
CORRECTED_NAME = "corrected score"  # short, so that the legend is one line on a phone; the caption explains it
RAW_NAME = "raw score"
_RAW_COLUMNS = ("mean", "low", "high")
_CORRECTED_COLUMNS = ("corrected", "corrected_low", "corrected_high")
_HOVER = "%{hovertext}<extra></extra>"


def plot_traffic(
    days: pd.DataFrame,
    *,
    scale: tuple[float, float],
    title: str,
    level: float = 0.95,
    change: Mapping[str, Any] | None = None,
    events: Iterable[Mapping[str, Any]] = (),
) -> Chart:
    """Draw the daily means of the traffic, raw and, where there is one, corrected.

    Args:
        days: One row for every calendar day in order: day, last_day, n, n_unscored, mean, low, high, corrected,
            corrected_low, corrected_high, finished, enough, reasons. A day without a mean keeps its place and has no
            point.
        scale: Lowest and highest score of the rubric.
        title: The finding.
        level: Coverage of the bands.
        change: since_day, since_first_day, since_last_day of a change to mark.
        events: day, kind, text of what was logged.
    """
    axis = (str(days["day"].iloc[0]), str(days["last_day"].iloc[-1]))
    bands = [days[name] for name in ("low", "high", "corrected_low", "corrected_high", "mean", "corrected")]
    low, high = score_range(scale, [value for column in bands for value in numbers(column)])
    figure = go.Figure()
    has_corrected = any(value is not None for value in numbers(days["corrected"]))
    _add_interval(figure, days, _RAW_COLUMNS, name=RAW_NAME, colour=RAW)
    if has_corrected:
        # bands first, the raw line last and thinner: where the two run together, both are seen
        _add_interval(figure, days, _CORRECTED_COLUMNS, name=CORRECTED_NAME, colour=CORRECTED, alpha=0.14)
        _add_line(figure, days, _CORRECTED_COLUMNS, name=CORRECTED_NAME, colour=CORRECTED, n_text=False, width=4)
    _add_line(figure, days, _RAW_COLUMNS, name=RAW_NAME, colour=RAW, n_text=True, rank=1)
    _add_thin_days(figure, days, y=low)
    add_events(figure, events, axis_days=axis, y=high - 0.05 * (high - low))
    found = change or {}
    add_change(
        figure,
        since_day=found.get("since_day"),
        first_day=found.get("since_first_day"),
        last_day=found.get("since_last_day"),
        axis_days=axis,
    )
    style(figure, height=340, y_title=f"mean score, {scale[0]:g} to {scale[1]:g}")
    figure.update_yaxes(range=[low, high])
    day_axis(figure, *axis)
    return Chart(figure=figure, title=title, alt=_alt(days, title), caption=_caption(days, level, has_corrected))


def without_corrected(days: pd.DataFrame) -> pd.DataFrame:
    """The days with their raw means alone, for as long as the judge is not known."""
    return days.assign(corrected=np.nan, corrected_low=np.nan, corrected_high=np.nan)


def _add_interval(
    figure: go.Figure,
    days: pd.DataFrame,
    columns: tuple[str, str, str],
    *,
    name: str,
    colour: str,
    alpha: float = 0.18,
) -> None:
    low, high = numbers(days[columns[1]]), numbers(days[columns[2]])
    add_band(figure, [str(day) for day in days["day"]], low, high, name=f"{name}, interval", colour=colour, alpha=alpha)


def _add_line(
    figure: go.Figure,
    days: pd.DataFrame,
    columns: tuple[str, str, str],
    *,
    name: str,
    colour: str,
    n_text: bool,
    width: float = 2,
    rank: int = 2,
) -> None:
    """One mean; the day's n is in the hover, an unfinished day is hollow. ``rank`` is its place in the legend."""
    mean, low, high = (numbers(days[column]) for column in columns)
    x = [str(day) for day in days["day"]]
    rows = zip(x, days["last_day"], mean, low, high, days["n"], days["n_unscored"], days["finished"], strict=True)
    hovers = [
        "<br>".join(
            [
                days_text(day, last_day) + ("" if finished else " (unfinished)"),
                f"{name} {number(value)} {bounds(lower, upper)}",
                f"n {int(n)}" + (f", {int(unscored)} not scored" if n_text and unscored else ""),
            ]
        )
        for day, last_day, value, lower, upper, n, unscored, finished in rows
    ]
    figure.add_scatter(
        x=x,
        y=mean,
        name=name,
        mode="lines+markers",
        connectgaps=False,
        legendrank=rank,
        line={"color": colour, "width": width},
        marker={
            "size": [4 + width if finished else 7 + width for finished in days["finished"]],
            "color": colour,
            "symbol": ["circle" if finished else "circle-open" for finished in days["finished"]],
            "line": {"color": colour, "width": [0 if finished else 2 for finished in days["finished"]]},
        },
        hovertext=hovers,
        hovertemplate=_HOVER,
    )


def _add_thin_days(figure: go.Figure, days: pd.DataFrame, *, y: float) -> None:
    """Mark the days that were graded but have too few scores for a mean: no point, a cross on the axis."""
    thin = days[(days["n"] + days["n_unscored"] > 0) & ~days["enough"].astype(bool)]
    if thin.empty:
        return
    figure.add_scatter(
        x=[str(day) for day in thin["day"]],
        y=[y] * len(thin),
        name="too few scores for a mean",
        mode="markers",
        showlegend=False,  # the caption names it
        marker={"symbol": "x-thin", "size": 9, "line": {"width": 2, "color": MUTED}},
        hovertext=[
            f"{day_text(str(day), year=True)}<br>{int(n)} of {int(n + unscored)} graded answers have a score"
            + (f"<br>{literal(reasons, 90)}" if reasons else "")
            for day, n, unscored, reasons in zip(
                thin["day"], thin["n"], thin["n_unscored"], thin["reasons"], strict=True
            )
        ],
        hovertemplate=_HOVER,
        cliponaxis=False,
    )


def _alt(days: pd.DataFrame, title: str) -> str:
    present = days.dropna(subset=["mean"])
    if present.empty:
        return f"{title}. No day in this period has enough scores for a mean."
    first, last = present.iloc[0], present.iloc[-1]
    return (
        f"{title}. Raw mean {number(first['mean'])} on {day_text(first['day'], year=True)}, {number(last['mean'])} on"
        f" {day_text(last['day'], year=True)}; {counted(len(present), 'day')} with scores."
    )


def _caption(days: pd.DataFrame, level: float, has_corrected: bool, pooled: int = 1) -> str:
    parts = [f"Bands: {level:.0%} intervals of the mean of {'a day' if pooled == 1 else f'{pooled} days'}"]
    if has_corrected:
        parts.append("corrected: as the baseline judge would have scored, with the wider band")
    if not days["finished"].astype(bool).all():
        parts.append("hollow: day not finished")
    graded = (days["n"] + days["n_unscored"]).to_numpy() > 0
    if (graded & ~days["enough"].to_numpy(dtype=bool)).any():
        parts.append("cross: too few scores for a mean")
    there = graded.nonzero()[0]
    n_gaps = int((~graded[there[0] : there[-1]]).sum()) if len(there) else 0  # before and after there is no run yet
    if n_gaps:
        unit = ("day", "days") if pooled == 1 else ("stretch", "stretches")
        parts.append(f"gap: no graded answers ({counted(n_gaps, *unit)})")
    return "; ".join(parts) + "."


def is_learnt(findings: Findings) -> bool:
    """Whether the judge's baseline is known, so that scores can be corrected."""
    return findings["judge"]["state"] not in ("learning", "no_data")


def traffic_title(findings: Findings | None) -> str:
    """The finding of the chart in a few words."""
    if findings is not None and findings.get("imported") and findings.get("anchor_setup") is None:
        return _title_of_raw(findings.get("raw_periods", []))
    if findings is None or not is_learnt(findings):
        return "Raw scores so far; the corrected line starts once the judge's baseline is known"
    judge_moved = findings["judge"]["state"] == "changed"
    assistant = findings["assistant"]
    if assistant["state"] == "changed":
        other = "the judge moved too" if judge_moved else "the judge did not move"
        return f"The answers got {assistant['direction']}, {other}"
    if judge_moved:
        return _title_of_shares(findings["shares"])
    return "Raw and corrected scores tell the same: no change shown"


def _title_of_raw(periods: Sequence[RawPeriod]) -> str:
    """Of imported scores without anchors: what the mean was and is, and what would tell whose doing it is."""
    means = [
        f"{number(period['mean'])} on {days_text(period['first_day'], period['last_day'])}"
        for period in periods
        if period["mean"] is not None
    ]
    if not means:
        return "Raw scores as imported"
    return f"Raw scores as imported: {', then '.join(means)}; judge or assistant, anchors would tell"


def _title_of_shares(shares: Shares | None) -> str:
    """What raw and corrected scores did while the judge moved; a corrected change that could be zero is none."""
    if shares is None:
        return "The judge moved; the corrected line takes that out"
    raw = "rose" if shares["raw"] >= SEEN else "fell" if shares["raw"] <= -SEEN else "stood still"
    if holds_zero(shares["assistant_low"], shares["assistant_high"]):
        still = "The judge moved; raw scores stood still, and so did corrected ones"
        return still if raw == "stood still" else f"Raw scores {raw}, corrected scores did not"
    corrected = "rose" if shares["assistant"] > 0 else "fell"
    both = f"Raw and corrected scores both {raw}, by different amounts"
    return both if raw == corrected else f"Raw scores {raw}, corrected scores {corrected}"


def plot_segment(
    days: pd.DataFrame,
    overall: pd.DataFrame,
    *,
    name: str,
    own: float | None,
    rest: float | None,
    scale: tuple[float, float],
    level: float = 0.95,
    pooled: int = 1,
    change: Mapping[str, Any] | None = None,
) -> Chart:
    """Draw one segment's daily raw means beside those of everything, on the same days.

    Args:
        days: The segment's days, columns as for ``plot_traffic``.
        overall: The same days of everything.
        name: The segment's name, shown as it is.
        own: The segment's mean over these days, None without scores.
        rest: The mean of everything over these days.
        scale: Lowest and highest score of the rubric.
        level: Coverage of the band.
        pooled: Days that one row stands for; its ``day`` is the first of them.
        change: since_day, since_first_day, since_last_day of the segment's change.
    """
    axis = (str(days["day"].iloc[0]), str(days["last_day"].iloc[-1]))
    figure = go.Figure()
    drawn = [*numbers(days["low"]), *numbers(days["high"]), *numbers(days["mean"]), *numbers(overall["mean"])]
    low, high = score_range(scale, drawn)
    figure.add_scatter(
        x=[str(day) for day in overall["day"]],
        y=numbers(overall["mean"]),
        name="everything",
        mode="lines",
        line={"color": rgba(RAW, 0.8), "width": 1.5, "dash": "dot"},
        hoverinfo="skip",
    )
    _add_interval(figure, days, _RAW_COLUMNS, name=literal(name), colour=CORRECTED)
    _add_line(figure, days, _RAW_COLUMNS, name=literal(name), colour=CORRECTED, n_text=True)
    _add_thin_days(figure, days, y=low)
    found = change or {}
    add_change(
        figure,
        since_day=found.get("since_day"),
        first_day=found.get("since_first_day"),
        last_day=found.get("since_last_day"),
        axis_days=axis,
    )
    style(figure, height=300, y_title=f"raw mean score, {scale[0]:g} to {scale[1]:g}")
    figure.update_yaxes(range=[low, high])
    day_axis(figure, *axis)
    title = _segment_title(name, own, rest)
    return Chart(figure=figure, title=title, alt=_alt(days, title), caption=_caption(days, level, False, pooled))


def _segment_title(name: str, own: float | None, rest: float | None) -> str:
    if own is None or rest is None:
        return f"{name}: too few scores in this period"
    return f"{name}: {number(own)} over these days, everything together {number(rest)}"
