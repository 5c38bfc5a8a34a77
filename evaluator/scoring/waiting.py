"""What waits for a run: the folder of recorded answers, and stored answers that no run has taken. Changes nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from evaluator.clock import day_of, parse_utc
from evaluator.config import Config
from evaluator.scoring.schedule import next_slot
from evaluator.spool import DEFAULT_FOLDER, FOLDER_VARIABLE
from evaluator.store import read
from evaluator.store.db import open_store


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """Answers that no run of a judge setup has taken yet, as numbers by answered day.

    Days before the window of a run are not among them.

    Attributes:
        going_on: Days that have not ended.
        for_next: Days that have ended since the run: nothing but the next scheduled run is waited for.
        ended: Days that had ended before the run.
        next_run: The next scheduled instant.
        run_after: The first scheduled instant at which all days that go on have ended.
    """

    going_on: dict[str, int]
    for_next: dict[str, int]
    ended: dict[str, int]
    next_run: datetime
    run_after: datetime


def waiting_answers(config: Config, *, ruler_id: str, slot_utc: str, now: datetime) -> Waiting:
    """Count the answers that are stored and wait for a run after the one of a slot.

    Args:
        config: The configuration.
        ruler_id: The judge setup.
        slot_utc: The scheduled instant of the run.
        now: Wall clock.

    Raises:
        StoreError: the database cannot be used.
    """
    app = config.app.name
    with open_store(config.store_path, create=False) as store:
        zone = store.zone
        slot_day = day_of(parse_utc(slot_utc), store.zone).isoformat()
        taken = read.sampled_days(store, app, ruler_id)
        sizes = read.answer_days(store, app)
    ended_days = [day for day in sizes if day < slot_day]
    oldest = max(ended_days, default=slot_day)
    oldest = (date.fromisoformat(oldest) - timedelta(days=config.traffic.lookback_days - 1)).isoformat()
    left = {day: n for day, n in sorted(sizes.items()) if day >= oldest and day not in taken}
    today = max(slot_day, day_of(now, zone).isoformat())
    going_on = {day: n for day, n in left.items() if day >= today}
    midnight = datetime.combine(date.fromisoformat(max(going_on, default=today)), time.max, zone)
    return Waiting(
        going_on=going_on,
        for_next={day: n for day, n in left.items() if slot_day <= day < today},
        ended={day: n for day, n in left.items() if day < slot_day},
        next_run=next_slot(config.schedule.cron, zone, now),
        run_after=next_slot(config.schedule.cron, zone, max(now, midnight.astimezone(UTC))),
    )


def spool_path(config: Config) -> Path | None:
    """The folder of recorded answers, where ``record`` puts them unless told otherwise; None when there is none.

    ``traffic.spool``, else the environment variable that ``record`` reads, else its default folder where that stands
    beside the configuration.
    """
    if config.traffic.spool is not None:
        return config.folder / config.traffic.spool
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named)
    default = config.folder / DEFAULT_FOLDER
    return default if default.is_dir() else None


def missing_spool(config: Config) -> Path | None:
    """The folder that ``traffic.spool`` names, if there is no such folder (yet); else None."""
    if config.traffic.spool is None:
        return None
    folder = config.folder / config.traffic.spool
    return None if folder.is_dir() else folder
