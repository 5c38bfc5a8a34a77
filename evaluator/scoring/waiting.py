"""What waits for a run: the folder of recorded answers, and stored answers that no run has taken. Changes nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from evaluator.clock import day_of, parse_utc
from evaluator.config import Config
from evaluator.spool import DEFAULT_FOLDER, FOLDER_VARIABLE
from evaluator.store import read
from evaluator.store.db import open_store


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """Answers that no run of a judge setup has taken yet: number by answered day, days that go on and days that ended.

    Days before the window of a run are not among them.
    """

    going_on: dict[str, int]
    ended: dict[str, int]


def waiting_answers(config: Config, *, ruler_id: str, slot_utc: str) -> Waiting:
    """Count the answers that are stored and wait for a run after the one of a slot.

    Raises:
        StoreError: the database cannot be used.
    """
    app = config.app.name
    with open_store(config.store_path, create=False) as store:
        slot_day = day_of(parse_utc(slot_utc), store.zone).isoformat()
        taken = read.sampled_days(store, app, ruler_id)
        sizes = read.answer_days(store, app)
    ended_days = [day for day in sizes if day < slot_day]
    oldest = max(ended_days, default=slot_day)
    oldest = (date.fromisoformat(oldest) - timedelta(days=config.traffic.lookback_days - 1)).isoformat()
    left = {day: n for day, n in sorted(sizes.items()) if day >= oldest and day not in taken}
    return Waiting(
        going_on={day: n for day, n in left.items() if day >= slot_day},
        ended={day: n for day, n in left.items() if day < slot_day},
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
