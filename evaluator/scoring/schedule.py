"""When the scorer runs: the scheduled instants of a cron expression in a zone. Each is graded once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from cronsim import CronSim

from evaluator.errors import UsageError

LOOK_BACK = timedelta(days=366)


def last_slot(cron: str, zone: ZoneInfo, now: datetime) -> datetime:
    """Return the newest scheduled instant that is not after ``now``, in UTC.

    Raises:
        UsageError: the expression names no instant of the last year.
    """
    # the backward search excludes its start, so it starts a minute (cron's smallest step) later
    start = now.astimezone(zone) + timedelta(minutes=1)
    for moment in CronSim(cron, start, reverse=True):
        found = moment.astimezone(UTC)
        if found <= now:
            if now - found > LOOK_BACK:
                break
            return found
    raise UsageError(f"schedule.cron = {cron!r} names no instant of the last year")


def next_slot(cron: str, zone: ZoneInfo, after: datetime) -> datetime:
    """Return the first scheduled instant after ``after``, in UTC."""
    return next(CronSim(cron, after.astimezone(zone))).astimezone(UTC)


def runs_per_year(cron: str, zone: ZoneInfo, now: datetime) -> float:
    """Return how many runs a year a schedule makes, counted over the next four weeks."""
    end = now + timedelta(days=28)
    count = 0
    for moment in CronSim(cron, now.astimezone(zone)):
        if moment.astimezone(UTC) > end:
            break
        count += 1
        if count >= 28 * 24 * 60:
            break
    return max(1.0, count * 365.25 / 28)


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
