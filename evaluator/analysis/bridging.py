"""Imported scores and the anchors that speak for their judge: whose anchors, and which run of them for which day.

Scores that were imported came without anchors. Where a person has said that a configured judge is the same, that
judge's anchor runs are the measure of it: the run of the same day, else the last one before. The scores themselves
never mix: only the correction is taken over.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from evaluator.analysis.judge import Judge
from evaluator.analysis.totals import Traffic, raw_mean
from evaluator.analysis.units import Scale
from evaluator.findings import RawPeriod
from evaluator.stats.correction import JudgeMap
from evaluator.store import read
from evaluator.store.db import Store

LONGEST_GAP_DAYS = 31  # an older anchor run says nothing of the judge of a day
IMPORTED = "imported"  # the output mode of judge setups that nobody asked anything
_PARTS = 2  # a first and a last period need this many days each at least


@dataclass(frozen=True, kw_only=True)
class AnchorSource:
    """Whose anchors tell whether the judge of some scores moved.

    Attributes:
        ruler_id: The judge setup that grades them.
        criterion: Its criterion.
        is_imported: Whether the scores were imported.
        setup: Number of the setup whose anchors they are, when it is another one.
    """

    ruler_id: str
    criterion: str
    is_imported: bool
    setup: int | None

    @property
    def missing(self) -> str:
        """Why a day has no correction, where no anchor run belongs to it."""
        if self.setup is not None:
            return f"no anchors of this judge were graded on that day or in the {LONGEST_GAP_DAYS} days before"
        return "imported, without anchors" if self.is_imported else "no anchors in that run"


def anchor_source(store: Store, app: str, ruler: read.Row) -> AnchorSource:
    """Find out whose anchors speak for a judge setup: another's where there is a bridge, else its own."""
    is_imported = ruler["output_mode"] == IMPORTED
    bridge = read.bridge_of(store, app, ruler["ruler_id"]) if is_imported else None
    if bridge is not None:
        other = next(row for row in read.rulers(store, app) if row["ruler_id"] == bridge["anchor_ruler_id"])
        return AnchorSource(
            ruler_id=other["ruler_id"],
            criterion=str(other["criterion"]),
            is_imported=True,
            setup=int(other["position"]),
        )
    return AnchorSource(
        ruler_id=ruler["ruler_id"], criterion=str(ruler["criterion"]), is_imported=is_imported, setup=None
    )


def measured_by(runs: Sequence[dict[str, Any]], judge: Judge) -> dict[str, str]:
    """Return the anchor run that measured the judge for each run without anchors of its own.

    Args:
        runs: run_id and slot_day of every run of the app.
        judge: With the anchor runs and the maps they gave.

    Returns:
        Run id to anchor run id; no entry where no run with a map lies near enough before.
    """
    history = judge.history
    known = [
        (day, run_id)
        for day, run_id in zip(history.days, history.run_ids, strict=True)
        if isinstance(judge.maps.get(run_id), JudgeMap)
    ]
    days, own = [day for day, _ in known], set(history.run_ids)
    found: dict[str, str] = {}
    for run in runs:
        place = bisect_right(days, run["slot_day"]) - 1
        if run["run_id"] not in own and place >= 0 and _gap(days[place], run["slot_day"]) <= LONGEST_GAP_DAYS:
            found[run["run_id"]] = known[place][1]
    return found


def _gap(first: str, last: str) -> int:
    return (date.fromisoformat(last) - date.fromisoformat(first)).days


def raw_periods(traffic: Traffic, *, scale: Scale, level: float, last_days: int) -> list[RawPeriod]:
    """Means of the first and the last days, as the judge gave them; empty when there are too few days.

    Args:
        traffic: The answers.
        scale: Of the rubric.
        level: Coverage of the intervals.
        last_days: Days in each period, at most half of all.
    """
    totals = traffic.totals
    usable = (totals.segment_id == traffic.everything) & totals.usable
    days = np.unique(totals.day[usable])
    n_days = min(last_days, len(days) // 2)
    if n_days < _PARTS:
        return []
    periods = []
    for part in (days[:n_days], days[-n_days:]):
        rows = usable & np.isin(totals.day, part)
        mean = raw_mean(totals, rows, level)
        periods.append(
            RawPeriod(
                first_day=str(part[0]),
                last_day=str(part[-1]),
                n=int(totals.n[rows].sum()),
                mean=scale.score(mean.mean),
                low=scale.drawn(mean.low),
                high=scale.drawn(mean.high),
            )
        )
    return periods
