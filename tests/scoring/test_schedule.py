"""Scheduled instants: each once, told the same forwards and backwards, also where the clock is changed."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from evaluator.errors import UsageError
from evaluator.scoring.schedule import last_slot, next_slot, parse_slot, runs_per_year

BERLIN = ZoneInfo("Europe/Berlin")
SPRING, AUTUMN = datetime(2026, 3, 27, 12, tzinfo=UTC), datetime(2026, 10, 23, 12, tzinfo=UTC)
CRONS = (
    "0 6 * * *",
    "30 2 * * *",
    "0 2 * * *",
    "0 3 * * *",
    "*/15 * * * *",
    "15 * * * *",
    "0 */2 * * *",
    "*/20 2 * * *",
    "0,30 2 * * *",
    "45 2 * * 0",
)


def utc(text: str) -> datetime:
    """An instant."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def local(slot: datetime, zone: ZoneInfo = BERLIN) -> str:
    """Month, day and time on the wall."""
    return slot.astimezone(zone).strftime("%m-%d %H:%M")


def slots(cron: str, start: datetime, days: int, zone: ZoneInfo = BERLIN) -> list[datetime]:
    """The slots of some days, each the next after the one before."""
    found = [next_slot(cron, zone, start)]
    while found[-1] <= start + timedelta(days=days):
        found.append(next_slot(cron, zone, found[-1]))
    return found[:-1]


@pytest.mark.parametrize("cron", CRONS)
@pytest.mark.parametrize("start", [SPRING, AUTUMN])
@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"])
def test_each_slot_comes_once_and_in_order(cron: str, start: datetime, zone: str) -> None:
    """Around the change of the clock as well."""
    found = slots(cron, start, 10, ZoneInfo(zone))
    assert found == sorted(set(found))
    assert all(slot.tzinfo is UTC for slot in found)


@pytest.mark.parametrize("cron", CRONS)
@pytest.mark.parametrize("start", [SPRING, AUTUMN])
def test_last_slot_is_the_newest_that_next_slot_told(cron: str, start: datetime) -> None:
    """At any moment, to the second: a watcher that asks one and a command that asks the other agree."""
    found = slots(cron, start - timedelta(days=8), 12)
    moment = start
    while moment < start + timedelta(days=4):
        assert last_slot(cron, BERLIN, moment) == max(slot for slot in found if slot <= moment)
        moment += timedelta(minutes=23, seconds=17)
    for slot in found[-9:]:
        assert last_slot(cron, BERLIN, slot) == slot
        assert last_slot(cron, BERLIN, slot - timedelta(microseconds=1)) < slot


@pytest.mark.parametrize(
    ("cron", "start", "expected"),
    [
        ("0 6 * * *", SPRING, ["03-28 06:00", "03-29 06:00", "03-30 06:00"]),
        ("30 2 * * *", SPRING, ["03-28 02:30", "03-29 03:00", "03-30 02:30"]),  # 02:30 is skipped: right after
        ("30 2 * * *", AUTUMN, ["10-24 02:30", "10-25 02:30", "10-26 02:30"]),  # 02:30 comes twice: once
    ],
)
def test_daily_time_that_a_clock_change_skips_or_repeats_comes_once(
    cron: str, start: datetime, expected: list[str]
) -> None:
    """A day has one run, whatever its length."""
    assert [local(slot) for slot in slots(cron, start, 3)] == expected


def test_quarter_hours_go_on_through_both_changes() -> None:
    """Every fifteen minutes of real time, 92 in the short day and 100 in the long one."""
    for start, number in ((utc("2026-03-28T22:59:59"), 92), (utc("2026-10-24T21:59:59"), 100)):
        day = slots("*/15 * * * *", start, 2)[:number]
        assert {later - earlier for earlier, later in itertools.pairwise(day)} == {timedelta(minutes=15)}
        assert {local(slot)[:5] for slot in day} == {local(day[0])[:5]}


def test_next_slot_is_after_the_moment_it_is_asked_for() -> None:
    """Asked for at a slot, it is the one after; within the hour that comes twice as well."""
    assert next_slot("0 6 * * *", BERLIN, utc("2026-07-01T04:00:00")) == utc("2026-07-02T04:00:00")
    within = utc("2026-10-25T01:10:00")
    assert next_slot("30 2 * * *", BERLIN, within) == utc("2026-10-26T01:30:00")


@pytest.mark.parametrize(
    ("zone", "start"), [("Europe/Berlin", AUTUMN), ("Australia/Lord_Howe", utc("2026-04-03T12:00:00"))]
)
@pytest.mark.parametrize("cron", ["*/20 2 * * *", "30 2 * * *", "15,45 1 * * *"])
def test_next_slot_is_the_same_whenever_it_is_asked_for(zone: str, start: datetime, cron: str) -> None:
    """Also from within the hour, or half hour, that comes twice."""
    found = slots(cron, start - timedelta(days=2), 8, ZoneInfo(zone))
    for step in range(400):
        moment = start + timedelta(minutes=5 * step, seconds=step)
        assert next_slot(cron, ZoneInfo(zone), moment) == min(slot for slot in found if slot > moment)


def test_leap_day_comes_every_four_years() -> None:
    """The next is far away; a year in which there was none is said."""
    assert next_slot("0 6 29 2 *", BERLIN, utc("2026-01-01T00:00:00")) == utc("2028-02-29T05:00:00")
    assert last_slot("0 6 29 2 *", BERLIN, utc("2028-03-01T00:00:00")) == utc("2028-02-29T05:00:00")
    with pytest.raises(UsageError, match=r"schedule.cron = '0 6 29 2 \*' names no instant of the last year"):
        last_slot("0 6 29 2 *", BERLIN, utc("2026-03-01T00:00:00"))


def test_month_ends_and_weekdays() -> None:
    """Days that some months lack are passed over there."""
    found = slots("0 6 31 * *", utc("2026-01-01T00:00:00"), 160)
    assert [local(slot)[:5] for slot in found] == ["01-31", "03-31", "05-31"]
    assert {slot.astimezone(BERLIN).weekday() for slot in slots("0 6 * * 1-5", SPRING, 30)} == {0, 1, 2, 3, 4}


@pytest.mark.parametrize(
    ("cron", "number"),
    [
        ("0 6 * * *", 365.25),
        ("0 6,18 * * *", 730.5),
        ("*/15 * * * *", 35064.0),
        ("0 6 * * 1-5", 261),
        ("0 6 * * 0", 52.2),
        ("0 6 1 * *", 12),
        ("0 6 1 1 *", 1),
        ("0 6 29 2 *", 1),
    ],
)
def test_runs_per_year(cron: str, number: float) -> None:
    """What false-alarm rates are told by."""
    assert runs_per_year(cron, BERLIN, SPRING) == pytest.approx(number, rel=0.01)


def test_runs_per_year_do_not_depend_on_the_hour() -> None:
    """The same schedule means the same settings whenever it is looked at."""
    for cron in ("0 6 * * *", "*/15 * * * *", "0 6 * * 0"):
        hours = {runs_per_year(cron, ZoneInfo("UTC"), SPRING + timedelta(hours=h, minutes=7)) for h in range(48)}
        assert len(hours) == 1


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-03-01T06:00", "2026-03-01T05:00:00"),
        ("2026-07-01 06:00", "2026-07-01T04:00:00"),
        ("2026-03-01", "2026-02-28T23:00:00"),
        ("2026-03-01T06:00Z", "2026-03-01T06:00:00"),
        ("2026-03-01T06:00+09:00", "2026-02-28T21:00:00"),
        ("2026-03-29T02:30", "2026-03-29T01:30:00"),  # does not exist on the wall
        ("2026-10-25T02:30", "2026-10-25T00:30:00"),  # the first of the two
    ],
)
def test_slot_given_by_hand_is_in_the_stores_zone(text: str, instant: str) -> None:
    """Unless it names its own."""
    assert parse_slot(text, BERLIN) == utc(instant)


@pytest.mark.parametrize("text", ["yesterday", "", "2026-13-01", "06:00"])
def test_slot_that_is_no_time_is_refused(text: str) -> None:
    """With an example of one."""
    with pytest.raises(UsageError, match=r"is not a time; write it like 2026-03-01T06:00"):
        parse_slot(text, BERLIN)
