"""Means of the traffic for charts and tables, from the daily totals: never from rows, however many there are.

Frames of one row a day, a segment or a level; a day without scores keeps its row.
"""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import cast

import numpy as np
import pandas as pd

from dashboard.charts.base import every_day
from dashboard.queries import Row, Setup, StoreKey, cached, everything, findings, opened
from dashboard.wording import reasons
from evaluator.records import Source
from evaluator.stats.intervals import SUM_NAMES, means_from_sums
from evaluator.store import read

LEVEL = 0.95
LEAST_SCORED = 0.5  # a day with fewer of its graded answers scored has no mean
_MEAN_COLUMNS = ["day", "last_day", "n", "n_unscored", "mean", "low", "high", "enough", "reasons"]


@cached
def segment_days(
    key: StoreKey, setup: Setup, segment_id: int, first_day: str, last_day: str, pooled: int = 1
) -> pd.DataFrame:
    """Raw daily means of one segment's traffic: a row for every calendar day of the period.

    With ``pooled`` = 7 a row is a stretch of seven days, counted back from the last one and named by its first day.

    Columns: day, last_day (of the stretch), n, n_unscored, mean, low, high, enough, reasons. A day on which fewer than
    half of the graded answers have a score has no mean (``enough`` is False); ``reasons`` is filled for everything
    together only.
    """
    with opened(key) as store:
        rows = read.day_totals(
            store, **_of(setup), source=Source.TRAFFIC, segment_id=segment_id, first_day=first_day, last_day=last_day
        )
    days = every_day(first_day, last_day)
    totals = _per_day(rows).reindex(days, fill_value=0)
    if pooled > 1:
        ends = [len(days) - 1 - (len(days) - 1 - place) // pooled * pooled for place in range(len(days))]
        totals = totals.groupby([days[max(0, end - pooled + 1)] for end in ends]).sum()
    found = _with_means(totals, setup)
    found["day"] = totals.index
    found["last_day"] = [*(_day_before(day) for day in totals.index[1:]), last_day]
    found["reasons"] = ""
    return found[_MEAN_COLUMNS].reset_index(drop=True)


@cached
def traffic_days(key: StoreKey, setup: Setup, first_day: str, last_day: str) -> pd.DataFrame:
    """Everything's daily means with what the newest analysis adds: corrected, finished, planned.

    Columns of ``segment_days`` and: corrected, corrected_low, corrected_high, finished, n_planned, n_answers, note.
    Days that the analysis knows show its numbers, later days the totals alone.
    """
    segment_id = everything(key, setup.app)
    if segment_id is None:
        return pd.DataFrame(columns=[*_MEAN_COLUMNS, *_ANALYSED, "finished", "n_planned", "n_answers"])
    days = segment_days(key, setup, segment_id, first_day, last_day).set_index("day")
    days[_ANALYSED] = np.nan
    days["finished"] = True
    _add_samples(days, key, setup)
    analysed = findings(key, setup)
    for day in analysed["days"] if analysed is not None else []:
        if day["day"] in days.index:
            _add_analysed(days, cast("Row", day))
    days["reasons"] = pd.Series(_reasons_by_day(key, setup, first_day, last_day), dtype=object)
    days["reasons"] = days["reasons"].fillna("")
    return days.reset_index()


_ANALYSED = ["corrected", "corrected_low", "corrected_high"]


def _add_samples(days: pd.DataFrame, key: StoreKey, setup: Setup) -> None:
    """How many answers a day had and how many were planned; a day with open plans is unfinished."""
    with opened(key) as store:
        sampled = read.sampled_days(store, setup.app, setup.ruler_id)
    for name in ("n_planned", "n_answers"):
        days[name] = [sampled[day][name] if day in sampled else 0 for day in days.index]
    days["finished"] = days["n"] + days["n_unscored"] >= days["n_planned"]


def _add_analysed(days: pd.DataFrame, day: Row) -> None:
    label = day["day"]
    for name in ("mean", "low", "high", *_ANALYSED):
        # the rule for thin days holds here too, whatever the analysis says
        days.loc[label, name] = day[name] if days.loc[label, "enough"] and day[name] is not None else np.nan
    days.loc[label, "finished"] = day["finished"]


def _reasons_by_day(key: StoreKey, setup: Setup, first_day: str, last_day: str) -> dict[str, str]:
    found: dict[str, dict[str, int]] = {}
    for row in unscored(key, setup, first_day, last_day):
        found.setdefault(row["day"], {})[row["unscored_reason"]] = row["n"]
    return {day: reasons(counted) for day, counted in found.items()}


@cached
def unscored(key: StoreKey, setup: Setup, first_day: str, last_day: str) -> list[Row]:
    """Why traffic verdicts of a period have no score: day, unscored_reason, n."""
    with opened(key) as store:
        return read.unscored_reasons(
            store,
            app=setup.app,
            ruler_id=setup.ruler_id,
            source=Source.TRAFFIC,
            first_day=first_day,
            last_day=last_day,
        )


@cached
def segment_means(key: StoreKey, setup: Setup, first_day: str, last_day: str) -> pd.DataFrame:
    """Raw mean of every segment over a period: segment_id, n, n_unscored, mean, low, high."""
    with opened(key) as store:
        rows = read.segment_day_totals(
            store, **_of(setup), source=Source.TRAFFIC, first_day=first_day, last_day=last_day
        )
    if not rows:
        return pd.DataFrame(columns=["segment_id", "n", "n_unscored", "mean", "low", "high"])
    totals = pd.DataFrame(rows).drop(columns=["day", "run_id"]).groupby("segment_id").sum()
    found = _with_means(totals, setup)
    found["segment_id"] = totals.index
    return found[["segment_id", "n", "n_unscored", "mean", "low", "high"]].reset_index(drop=True)


@cached
def levels(key: StoreKey, setup: Setup, segment_id: int, first_day: str, last_day: str) -> pd.DataFrame:
    """Scores of one segment's traffic by level of the scale: level, n, share (by the sample's weights)."""
    with opened(key) as store:
        rows = read.day_levels(
            store, **_of(setup), source=Source.TRAFFIC, segment_id=segment_id, first_day=first_day, last_day=last_day
        )
    found = pd.DataFrame(rows, columns=["day", "level", "n", "sum_w"]).groupby("level")[["n", "sum_w"]].sum()
    total = float(found["sum_w"].sum())
    found["share"] = found["sum_w"] / total if total else 0.0
    return found.reset_index()[["level", "n", "share"]]


def level_names(setup_row: Row) -> dict[float, str]:
    """Names of the levels of a setup's rubric, by score."""
    return {float(level["score"]): str(level["name"]) for level in json.loads(setup_row["rubric_json"])["levels"]}


def whole_scale(found: pd.DataFrame, setup_row: Row) -> pd.DataFrame:
    """Levels of a rubric in order, with their names, also those that no score has: level, label, n, share."""
    names = level_names(setup_row)
    filled = found.set_index("level").reindex(sorted({*names, *found["level"]}), fill_value=0).reset_index()
    filled["label"] = [f"{level:g} {names.get(level, '')}".strip() for level in filled["level"]]
    return filled[["level", "label", "n", "share"]]


def _of(setup: Setup) -> Row:
    return {"app": setup.app, "ruler_id": setup.ruler_id, "criterion": setup.criterion}


def _day_before(day: str) -> str:
    return (date.fromisoformat(day) - timedelta(days=1)).isoformat()


def _per_day(rows: list[Row]) -> pd.DataFrame:
    """Totals added up over the runs of each day, indexed by day."""
    columns = ["day", "n", "n_unscored", *SUM_NAMES[1:]]
    return pd.DataFrame(rows, columns=columns).groupby("day").sum()


def _with_means(totals: pd.DataFrame, setup: Setup) -> pd.DataFrame:
    """Means and intervals of totals, row by row; nan where there is none."""
    sums = {name: totals[name].to_numpy(dtype=float) for name in SUM_NAMES}
    means = means_from_sums(sums, level=LEVEL, scale=(setup.scale_min, setup.scale_max))
    n, n_unscored = totals["n"].to_numpy(dtype=int), totals["n_unscored"].to_numpy(dtype=int)
    enough = (n > 0) & (n >= LEAST_SCORED * (n + n_unscored))
    shown = {name: np.where(enough, means[name], np.nan) for name in ("mean", "low", "high")}
    return pd.DataFrame({"n": n, "n_unscored": n_unscored, "enough": enough, **shown})
