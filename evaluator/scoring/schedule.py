"""When the scorer runs: the scheduled instants of a cron expression in a zone. Each is graded once.

Instants are told in one way only, forwards from a moment well before: searched backwards, or from within the hour that
a clock change repeats, the library tells others. A time that a clock change skips comes right after it, once.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from zoneinfo import ZoneInfo

from cronsim import CronSim

from evaluator.errors import UsageError

# how far back the newest instant is looked for, in growing steps
_LOOK_BACK = tuple(timedelta(days=days) for days in (0.125, 3, 40, 367))
_RUN_UP = timedelta(hours=3)  # longer than the hour that a clock change repeats
_WEEK = timedelta(weeks=1)
_YEAR = timedelta(days=365.25)


def last_slot(cron: str, zone: ZoneInfo, now: datetime) -> datetime:
    """Return the newest scheduled instant that is not after ``now``, in UTC.

    Raises:
        UsageError: the expression names no instant of the last year.
    """
    for window in _LOOK_BACK:
        found = None
        for slot in _slots(cron, zone, now - window):
            if slot > now:
                break
            found = slot
        if found is not None:
            return found
    raise UsageError(f"schedule.cron = {cron!r} names no instant of the last year")


def next_slot(cron: str, zone: ZoneInfo, after: datetime) -> datetime:
    """Return the first scheduled instant after ``after``, in UTC.

    Raises:
        UsageError: there is none.
    """
    for slot in _slots(cron, zone, after):
        return slot
    raise UsageError(f"schedule.cron = {cron!r} names no instant to come")


def runs_per_year(cron: str, zone: ZoneInfo, now: datetime) -> float:
    """Return how many runs a year a schedule makes, at least 1.

    Counted over the next week, or the next 52 where a week holds less than one a day: whole weeks give the same number
    at whatever hour they are counted from.
    """
    n_of_week = _count(cron, zone, now, _WEEK)
    if n_of_week >= 7:
        return n_of_week * (_YEAR / _WEEK)
    return max(1.0, _count(cron, zone, now, 52 * _WEEK) * (_YEAR / (52 * _WEEK)))


def _count(cron: str, zone: ZoneInfo, now: datetime, window: timedelta) -> int:
    return sum(1 for _ in takewhile(lambda slot: slot <= now + window, _slots(cron, zone, now)))


def parse_slot(text: str, zone: ZoneInfo) -> datetime:
    """Read a slot given by hand: an ISO time, in the store's zone unless it names its own.

    Raises:
        UsageError: not a time.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"--slot {text!r} is not a time; write it like 2026-03-01T06:00") from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    return moment.astimezone(UTC)


def _slots(cron: str, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """Yield the scheduled instants after a moment in rising order, in UTC."""
    last = after
    for moment in CronSim(cron, (after - _RUN_UP).astimezone(zone)):
        slot = moment.astimezone(UTC)
        if slot > last:
            yield slot
            last = slot
