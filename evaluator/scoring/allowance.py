"""What is left of today's budget, for those who plan: read only. What may be spent is decided by the gate."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from evaluator.clock import day_of
from evaluator.config import Config
from evaluator.store import read
from evaluator.store.db import open_reader


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """The limits of a day and what is left of them today; None where there is no limit of that kind.

    A run under way holds a portion that it may give back.
    """

    calls_per_day: int | None = None
    calls_left: int | None = None
    usd_per_day: float | None = None
    usd_left: float | None = None

    def most_calls(self, n_calls: int) -> int:
        """How many of so many calls the number of calls allows; dollars may end it before."""
        return n_calls if self.calls_left is None else min(n_calls, self.calls_left)

    def fits(self, n_calls: int, most_usd: float | None) -> bool:
        """Whether a plan comes to its end today, if no call is made twice and each costs the most that it can."""
        is_affordable = self.usd_left is None or most_usd is None or most_usd <= self.usd_left
        return self.most_calls(n_calls) == n_calls and is_affordable

    def as_dict(self) -> dict[str, float | None]:
        """Return what is left, as plain JSON."""
        return {"calls_left_today": self.calls_left, "usd_left_today": self.usd_left}


def left_today(config: Config, now: datetime) -> Allowance:
    """Return what is left of the budget of the day that an instant lies in.

    Raises:
        StoreError: the database cannot be used.
    """
    usd_limit, calls_limit = config.budget.usd_per_day, config.budget.calls_per_day
    taken_usd, taken_calls = _taken(config, now)
    return Allowance(
        calls_per_day=calls_limit,
        calls_left=None if calls_limit is None else max(0, calls_limit - taken_calls),
        usd_per_day=usd_limit,
        usd_left=None if usd_limit is None else max(0.0, usd_limit - taken_usd),
    )


def next_day(config: Config, now: datetime) -> str:
    """Return the day on which there is a new budget, as ISO text."""
    today = day_of(now, ZoneInfo(config.schedule.zone))
    return today.fromordinal(today.toordinal() + 1).isoformat()


def _taken(config: Config, now: datetime) -> tuple[float, int]:
    if not config.store_path.exists() or not config.store_path.stat().st_size:
        return 0.0, 0
    with open_reader(config.store_path) as store:
        row = read.budget_day(store, config.app.name, day_of(now, store.zone).isoformat())
    return (0.0, 0) if row is None else (float(row["taken_usd"]), int(row["taken_calls"]))
