"""From configuration to what a pick needs. The configured anchor set is not read: it may be the one to be picked."""

from __future__ import annotations

import re
from datetime import datetime

from evaluator.config import Config
from evaluator.errors import UsageError
from evaluator.scoring.budget import Limits
from evaluator.scoring.plan import RunSettings

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


def check_name(name: str) -> str:
    """Return a name that can be part of a file's name.

    Raises:
        UsageError: it cannot.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"--name {name!r}: letters, digits, _ and - are allowed, at most 40, a letter or digit first")
    return name


def pick_settings(config: Config, now: datetime) -> RunSettings:
    """Settings of a run of this app, without anchors; the budget of the day is that of every run."""
    return RunSettings(
        store_path=config.store_path,
        app=config.app.name,
        zone=config.schedule.zone,
        anchor_set_name=config.anchors.set,
        anchors=(),
        traffic=config.traffic,
        limits=Limits(
            usd_per_day=config.budget.usd_per_day,
            calls_per_day=config.budget.calls_per_day,
            calls_per_minute=config.judge.calls_per_minute,
        ),
        concurrency=config.judge.concurrency,
        slot=now,
        kind="traffic",
        segment_keys=config.traffic.segment_keys(),
    )
