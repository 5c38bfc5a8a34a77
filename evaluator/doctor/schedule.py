"""When is the next run due, was the last one made, and does it count?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from evaluator.clock import parse_utc
from evaluator.doctor.base import Check, Patient, ok, warn
from evaluator.records import Purpose
from evaluator.scoring.schedule import last_slot, next_slot
from evaluator.scoring.setup import schedule_zone
from evaluator.store import read

NAME = "schedule"
PATIENCE = timedelta(hours=1)  # a run may take so long before it is missed
_NEWEST_RUNS = 50


def check_schedule(patient: Patient) -> Iterator[Check]:
    """The next instant, and whether anything runs at them."""
    config, zone = patient.config, schedule_zone(patient.config)
    due = next_slot(config.schedule.cron, zone, patient.now)
    yield ok(NAME, f"{config.schedule.cron} in {zone.key}: next at {due.astimezone(zone):%Y-%m-%d %H:%M}")
    newest = _newest_run(patient)
    if newest is None:
        yield ok("last run", "none yet; `judgewatch run once` makes the first")
        return
    yield _check_last_run(patient, newest, last_slot(config.schedule.cron, zone, patient.now))
    if newest["not_counted"]:
        yield warn(
            "counted runs",
            f"the anchors of the newest run do not count: {newest['not_counted']}",
            "see the gateway cache above; runs count again from the next one that is answered anew",
        )


def _newest_run(patient: Patient) -> read.Row | None:
    if patient.store is None:
        return None
    found = read.runs(patient.store, patient.config.app.name, most=_NEWEST_RUNS)
    return next((run for run in found if run["purpose"] == Purpose.SCHEDULED), None)


def _check_last_run(patient: Patient, newest: read.Row, due: datetime) -> Check:
    slot = parse_utc(newest["slot_utc"])
    ended = f"{newest['status']}, {_age(patient.now - slot)} ago"
    if slot < due and patient.now - due > PATIENCE:
        missed = f"the one due {_age(patient.now - due)} ago was not made"
        return warn(
            "last run",
            f"{ended}; {missed}",
            "keep `judgewatch run watch` running, or let cron call `judgewatch run once`",
        )
    if newest["status"] in ("failed", "stopped"):
        cause = newest["message"] or str(newest["stop_reason"] or "no reason was noted")
        return warn("last run", f"{ended}: {cause}", "mend the cause; `judgewatch run once` goes on with it")
    return ok("last run", ended)


def _age(length: timedelta) -> str:
    hours = length.total_seconds() / 3600
    if hours < 2:
        return f"{max(0, round(hours * 60))} min"
    return f"{hours:.0f} h" if hours < 72 else f"{hours / 24:.0f} days"
