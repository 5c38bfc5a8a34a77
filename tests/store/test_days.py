"""Days of answers: calendar days of the store's zone, also where a clock change makes a day longer or shorter."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from evaluator.clock import day_of, utc_text
from evaluator.records import Item
from evaluator.store import read, write
from evaluator.store.db import open_store
from tests.store.helpers import APP, import_items, rows

ZONES = ("UTC", "Europe/Berlin", "America/Los_Angeles", "Asia/Kathmandu", "Pacific/Kiritimati", "Australia/Lord_Howe")


def at(instant: datetime, name: str = "x") -> Item:
    """An answer given at an instant."""
    return Item(input="q", output="a", external_id=name, answered_utc=utc_text(instant))


@pytest.mark.parametrize(
    ("zone", "instant", "day"),
    [
        ("Europe/Berlin", "2026-03-28T22:59:59.999Z", "2026-03-28"),
        ("Europe/Berlin", "2026-03-28T23:00:00.000Z", "2026-03-29"),
        ("Europe/Berlin", "2026-03-29T21:59:59.999Z", "2026-03-29"),  # the day has 23 hours
        ("Europe/Berlin", "2026-03-29T22:00:00.000Z", "2026-03-30"),
        ("Europe/Berlin", "2026-10-25T22:59:59.999Z", "2026-10-25"),  # the day has 25 hours
        ("Europe/Berlin", "2026-10-25T23:00:00.000Z", "2026-10-26"),
        ("America/Los_Angeles", "2026-06-28T06:59:59.999Z", "2026-06-27"),
        ("America/Los_Angeles", "2026-06-28T07:00:00.000Z", "2026-06-28"),
        ("Asia/Kathmandu", "2026-06-27T18:14:59.999Z", "2026-06-27"),
        ("Asia/Kathmandu", "2026-06-27T18:15:00.000Z", "2026-06-28"),
    ],
)
def test_day_begins_at_midnight_of_the_zone(path: Path, zone: str, instant: str, day: str) -> None:
    """Midnight there, to the millisecond."""
    with open_store(path, zone=zone) as store:
        import_items(store, [at(datetime.fromisoformat(instant))])
        assert read.answer_days(store, APP) == {day: 1}


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("start", [datetime(2026, 3, 28, tzinfo=UTC), datetime(2026, 10, 24, tzinfo=UTC)])
def test_days_around_a_clock_change_are_those_of_each_instant(path: Path, zone: str, start: datetime) -> None:
    """Every five minutes of ten days; what is remembered of a minute never serves another."""
    instants = [start + timedelta(minutes=5 * step) for step in range(10 * 288)]
    with open_store(path, zone=zone) as store:
        import_items(store, [at(instant, utc_text(instant)) for instant in instants])
        found = {row["answered_utc"]: row["answered_day"] for row in rows(store, "SELECT * FROM items")}
    assert found == {utc_text(instant): day_of(instant, ZoneInfo(zone)).isoformat() for instant in instants}


def test_answer_without_a_time_has_no_day(path: Path) -> None:
    """It is kept, and no day counts it."""
    with open_store(path) as store:
        import_items(store, [Item(input="q", output="a", external_id="x")])
        assert read.answer_days(store, APP) == {}
        assert read.counts(store, APP)["n_without_time"] == 1


def test_events_are_logged_on_the_zones_day(path: Path) -> None:
    """A deploy just after midnight in Tokyo belongs to the new day."""
    with open_store(path, zone="Asia/Tokyo") as store:
        instant = datetime(2026, 2, 27, 15, 30, tzinfo=UTC)
        write.add_event(store, app=APP, at=instant, kind="deploy", text="v2", by_whom="me")
        assert [event["day"] for event in read.events(store, APP)] == ["2026-02-28"]
