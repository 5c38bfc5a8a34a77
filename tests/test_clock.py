"""Instants and their texts: UTC, milliseconds, sortable, and days in a zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.clock import SystemClock, day_of, parse_utc, utc_text

_FIRST = datetime(1000, 1, 1, tzinfo=UTC)
INSTANTS = st.timedeltas(timedelta(), timedelta(days=9000 * 365)).map(lambda age: _FIRST + age)


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        (datetime(2026, 3, 1, 6, tzinfo=UTC), "2026-03-01T06:00:00.000Z"),
        (datetime(2026, 3, 1, 6, 0, 0, 999_999, tzinfo=UTC), "2026-03-01T06:00:00.999Z"),
        (datetime(2026, 3, 1, 6, tzinfo=ZoneInfo("Asia/Kathmandu")), "2026-03-01T00:15:00.000Z"),
        (datetime(2026, 3, 1, 0, 30, tzinfo=timezone(timedelta(hours=14))), "2026-02-28T10:30:00.000Z"),
    ],
)
def test_text_of_an_instant(instant: datetime, text: str) -> None:
    """Whatever zone it was told in."""
    assert utc_text(instant) == text
    assert parse_utc(text) == instant.replace(microsecond=instant.microsecond // 1000 * 1000)


def test_time_without_a_zone_is_refused() -> None:
    """Nobody knows which instant it is."""
    with pytest.raises(ValueError, match=r"2026-03-01 06:00:00 has no zone"):
        utc_text(datetime(2026, 3, 1, 6))  # noqa: DTZ001 - that is the point


@given(INSTANTS, INSTANTS)
def test_texts_sort_like_instants(first: datetime, second: datetime) -> None:
    """The database compares texts."""
    first, second = (each.replace(microsecond=each.microsecond // 1000 * 1000) for each in (first, second))
    assert (utc_text(first) < utc_text(second)) == (first < second)
    assert parse_utc(utc_text(first)) == first


def test_day_is_that_of_the_zone() -> None:
    """The same instant is two days in two zones."""
    instant = datetime(2026, 3, 1, 2, tzinfo=UTC)
    assert day_of(instant, ZoneInfo("America/Los_Angeles")) == date(2026, 2, 28)
    assert day_of(instant, ZoneInfo("Asia/Tokyo")) == date(2026, 3, 1)


def test_system_clock_tells_utc() -> None:
    """Now, with its zone."""
    now = SystemClock().now()
    assert now.tzinfo is UTC
    assert abs(datetime.now(UTC) - now) < timedelta(seconds=5)


def test_stored_text_without_a_zone_is_refused() -> None:
    """It would be read in the zone of whatever machine reads it."""
    with pytest.raises(ValueError, match=r"'2026-03-01T06:00:00' has no zone"):
        parse_utc("2026-03-01T06:00:00")
