"""Reads for the day at hand: what is spent of its budget, when the next run is due, how much was graded in all.

Not cached: the budget changes without a new revision of the store, and the day by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from cronsim import CronSimError

from dashboard.queries import StoreKey, opened
from evaluator.clock import day_of
from evaluator.errors import UsageError
from evaluator.scoring.schedule import next_slot
from evaluator.store import read


class DayPlan(NamedTuple):
    """The day of an app. Limits are None where the scorer noted none, the next run where it noted no schedule."""

    usd: float
    calls: int
    usd_limit: float | None
    calls_limit: int | None
    next_run: datetime | None
    n_graded: int


def day_plan(key: StoreKey, app: str, now: datetime) -> DayPlan:
    """How the day of ``now`` stands: spent, allowed, next run; days are those of the store."""
    with opened(key) as store:
        day = day_of(now, store.zone).isoformat()
        settings = read.app_settings(store, app)
        taken = read.budget_day(store, app, day) or {"taken_usd": 0.0, "taken_calls": 0}
        spent = read.cost_of_day(store, app, day)
        n_graded = read.n_graded_answers(store, app)
    usd_limit, calls_limit = _number(settings.get("usd_per_day")), _number(settings.get("calls_per_day"))
    return DayPlan(
        # money without a limit is not taken out of anything
        usd=spent["cost_usd"] if usd_limit is None else taken["taken_usd"],
        calls=spent["n_calls"] if calls_limit is None else taken["taken_calls"],
        usd_limit=usd_limit,
        calls_limit=None if calls_limit is None else int(calls_limit),
        next_run=_next_run(settings, now),
        n_graded=n_graded,
    )


def _number(text: str | None) -> float | None:
    """A limit as it was noted; None for none."""
    try:
        return float(text) if text else None
    except ValueError:
        return None


def _next_run(settings: Mapping[str, str], now: datetime) -> datetime | None:
    """The next scheduled instant; None without a schedule that can be read."""
    cron = settings.get("cron")
    if not cron:
        return None
    try:
        return next_slot(cron, ZoneInfo(settings.get("zone") or "UTC"), now)
    except (CronSimError, UsageError, ValueError, KeyError):  # noted by another version, or by hand
        return None
