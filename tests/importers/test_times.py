"""Times: every accepted form gives one instant, everything else is refused with the fix, on every machine alike."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import UsageError
from evaluator.importers.times import UnreadableTimeError, check_time_format, load_zone, parse_time

BERLIN = ZoneInfo("Europe/Berlin")
UTC_ZONE = ZoneInfo("UTC")
INSTANTS = st.datetimes(datetime.fromisoformat("2000-01-01"), datetime.fromisoformat("2100-12-31T23:59:59"))


def utc_of(value: object, zone: ZoneInfo = UTC_ZONE, time_format: str | None = None) -> str | None:
    return parse_time(value, naive_zone=zone, time_format=time_format).utc


@pytest.mark.parametrize(
    "value",
    [
        "2026-03-29T00:30:00Z",
        "2026-03-29t00:30:00z",
        " 2026-03-29 00:30:00Z ",
        "2026-03-29T00:30Z",
        "2026-03-29 00:30:00 UTC",
        "2026-03-29 00:30:00 GMT",
        "2026-03-29T01:30:00+01:00",
        "2026-03-29 06:00:00 +0530",
        "2026-03-28T20:30:00-04:00",
        "2026-03-29T00:30:00.000000Z",
        "2026-03-29T00:30:00.000999999Z",
        1774744200,
        1774744200.0,
        "1774744200",
        "1774744200.000",
        1774744200000,
        "1774744200000",
        1774744200000000,
        1774744200000000000,
        "1774744200000000000",
    ],
)
def test_every_form_of_one_instant_gives_one_text(value: object) -> None:
    """Offsets, separators, zone names and epochs of four units are the same instant."""
    parsed = parse_time(value, naive_zone=BERLIN)
    assert parsed.utc == "2026-03-29T00:30:00Z"
    assert not parsed.naive


@pytest.mark.parametrize(
    ("value", "utc"),
    [
        ("2026-03-29T00:30:00.250Z", "2026-03-29T00:30:00.250Z"),
        ("2026-03-29T00:30:00.2509999Z", "2026-03-29T00:30:00.250Z"),
        ("2026-03-29T00:30:00,25Z", "2026-03-29T00:30:00.250Z"),
        (1774744200250, "2026-03-29T00:30:00.250Z"),
        (1774744200.25, "2026-03-29T00:30:00.250Z"),
        (1774744200250999999, "2026-03-29T00:30:00.250Z"),
        ("2026-12-31T23:59:59.999999Z", "2026-12-31T23:59:59.999Z"),
    ],
)
def test_milliseconds_stay_and_smaller_parts_are_cut(value: object, utc: str) -> None:
    """A fraction is cut, never rounded: rounding could move an answer to the next day."""
    assert utc_of(value) == utc


@given(INSTANTS)
def test_epochs_of_all_units_agree_with_the_calendar(moment: datetime) -> None:
    """The unit is told by size over the whole range of years, as a number and as digits."""
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000, tzinfo=UTC)
    microseconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    expected = utc_of(moment.isoformat())
    for number in (microseconds // 1000, microseconds, microseconds * 1000):
        assert utc_of(number) == expected
        assert utc_of(str(number)) == expected
    assert utc_of(microseconds // 1_000_000) == utc_of(moment.replace(microsecond=0).isoformat())


@given(INSTANTS, st.integers(-14 * 60, 14 * 60))
def test_any_offset_is_taken_off(moment: datetime, offset_minutes: int) -> None:
    """An ISO text with an offset is the instant that the standard library says it is."""
    aware = moment.replace(microsecond=0, tzinfo=UTC).astimezone(timezone(timedelta(minutes=offset_minutes)))
    assert utc_of(aware.isoformat()) == moment.replace(microsecond=0).isoformat() + "Z"


def test_a_time_without_zone_is_read_in_the_given_zone_and_marked() -> None:
    """Nine o'clock in Berlin in winter is eight in UTC."""
    parsed = parse_time("2026-01-05 09:00:00", naive_zone=BERLIN)
    assert (parsed.utc, parsed.naive) == ("2026-01-05T08:00:00Z", True)


def test_a_bare_date_is_its_midnight_in_the_given_zone() -> None:
    """A date without a time is the start of that day, there, and marked."""
    parsed = parse_time("2026-01-05", naive_zone=BERLIN)
    assert (parsed.utc, parsed.naive) == ("2026-01-04T23:00:00Z", True)


def test_an_hour_that_comes_twice_is_the_first_of_the_two() -> None:
    """On 25 October 2026 Berlin has half past two twice; summer time comes first."""
    assert utc_of("2026-10-25 02:30:00", BERLIN) == "2026-10-25T00:30:00Z"


def test_an_hour_that_is_skipped_has_the_offset_before_the_change() -> None:
    """On 29 March 2026 Berlin has no half past two."""
    assert utc_of("2026-03-29 02:30:00", BERLIN) == "2026-03-29T01:30:00Z"


@pytest.mark.parametrize("value", [None, "", "  ", float("nan")])
def test_nothing_is_no_time(value: object) -> None:
    """A missing time stays missing: never now, never 1970."""
    parsed = parse_time(value, naive_zone=BERLIN)
    assert (parsed.utc, parsed.naive) == (None, False)


@pytest.mark.parametrize(
    "value",
    [
        "29/03/2026 00:30",
        "04/05/2026",
        "5. Januar 2026",
        "2026-03-29-05:00",
        "2026-W13-7",
        "1.77474E+12",
        "09:00",
        "٢٠٢٦-01-05",
    ],
)
def test_what_has_no_single_reading_is_refused_with_the_fix(value: str) -> None:
    """The message shows the text and names the option that says how to read it."""
    with pytest.raises(UnreadableTimeError, match="--time-format") as caught:
        parse_time(value, naive_zone=BERLIN)
    assert value in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [
        "1999-12-31T23:59:59Z",
        "2101-01-01T00:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "20260329",
        0,
        -5,
        3.2,
        10**30,
        pytest.param("9" * 5000, id="digits"),
        pytest.param(10**5000, id="integer"),
    ],
)
def test_implausible_years_are_refused(value: object) -> None:
    """Numbers and texts outside 2000 to 2100 are somebody's mistake, not a time."""
    with pytest.raises(UnreadableTimeError):
        parse_time(value, naive_zone=BERLIN)


def test_the_last_second_of_the_range_is_accepted_and_the_next_is_not() -> None:
    """The bound is a bound of the instant in UTC, in text and in numbers."""
    last = int(datetime(2100, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp())
    assert utc_of(last) == utc_of("2100-12-31T23:59:59Z") == "2100-12-31T23:59:59Z"
    with pytest.raises(UnreadableTimeError, match="2000 to 2100"):
        parse_time(last + 1, naive_zone=BERLIN)


@pytest.mark.parametrize("value", [True, [2026], {"at": 1}, float("inf")])
def test_values_of_other_kinds_are_refused(value: object) -> None:
    """A truth value or a list is no time, although Python counts True as 1."""
    with pytest.raises(UnreadableTimeError, match="is not a time"):
        parse_time(value, naive_zone=BERLIN)


def test_a_format_reads_day_first_and_leaves_iso_times_and_epochs_readable() -> None:
    """One file may mix forms."""
    day_first = "%d/%m/%Y %H:%M"
    assert utc_of("29/03/2026 00:30", time_format=day_first) == "2026-03-29T00:30:00Z"
    assert utc_of("2026-03-29T00:30:00+01:00", time_format=day_first) == "2026-03-28T23:30:00Z"
    assert utc_of("1774744200", time_format=day_first) == "2026-03-29T00:30:00Z"
    with pytest.raises(UnreadableTimeError):
        parse_time("2026.03.29", naive_zone=BERLIN, time_format=day_first)


def test_a_format_with_an_offset_is_not_naive() -> None:
    """%z in the format is heeded."""
    parsed = parse_time("05/01/2026 09:00 +0100", naive_zone=BERLIN, time_format="%d/%m/%Y %H:%M %z")
    assert (parsed.utc, parsed.naive) == ("2026-01-05T08:00:00Z", False)


@pytest.mark.parametrize("time_format", ["%d/%m/%Y %Z", "%%%Z", "day/month"])
def test_a_format_that_depends_on_the_machine_or_says_nothing_is_refused(time_format: str) -> None:
    """Zone names are looked up in the zone of the machine."""
    with pytest.raises(UsageError, match="time format"):
        check_time_format(time_format)
    assert check_time_format("%d %%Z") == "%d %%Z"


@pytest.mark.parametrize("name", ["Berlin", "", "../etc/passwd", "Europe"])
def test_an_unknown_zone_is_refused_with_an_example(name: str) -> None:
    """The message names the zone and shows the form of one."""
    with pytest.raises(UsageError, match="Europe/Berlin"):
        load_zone(name)


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
def test_the_zone_of_the_machine_changes_nothing(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same results under TZ of Tokyo and of New York, with the C library told."""
    values = ["2026-01-05 09:00:00", "2026-01-05", 1774744200, "2026-03-29T00:30:00Z", 1774744200250]
    before = [utc_of(value, BERLIN) for value in values]
    original = os.environ.get("TZ")
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert time.localtime(0).tm_hour != 0
        assert [utc_of(value, BERLIN) for value in values] == before
        assert utc_of("05/01/2026 09:00", BERLIN, "%d/%m/%Y %H:%M") == "2026-01-05T08:00:00Z"
    finally:
        monkeypatch.undo()
        time.tzset()
    assert os.environ.get("TZ") == original


@pytest.mark.parametrize(
    ("text", "utc", "naive"),
    [
        ("Thu, 26 Nov 2026 02:13:00 GMT", "2026-11-26T02:13:00Z", False),
        ("26 Nov 2026 02:13 +0100", "2026-11-26T01:13:00Z", False),
        ("Thu, 26 Nov 2026 02:13:00 -0000", "2026-11-26T02:13:00Z", False),
        ("Thu, 26 Nov 2026 02:13:00 EST", "2026-11-26T07:13:00Z", False),
        ("Thu, 26 Nov 2026 02:13:00", "2026-11-26T01:13:00Z", True),
    ],
)
def test_times_of_mail_and_http_headers_are_read(text: str, utc: str, naive: bool) -> None:
    """They have one reading; without a zone they are marked."""
    parsed = parse_time(text, naive_zone=BERLIN)
    assert (parsed.utc, parsed.naive) == (utc, naive)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("26.11.2026 00:00", "--time-format '%d.%m.%Y %H:%M'"),
        ("05.04.2026", "--time-format '%d.%m.%Y'"),
        ("11/26/2026 10:00:30", "--time-format '%m/%d/%Y %H:%M:%S'"),
        ("26/11/26", "--time-format '%d/%m/%y'"),
        ("04/05/2026", "may mean two days; say which: --time-format '%d/%m/%Y' or '%m/%d/%Y'"),
        ("2026/11/26 10:00", "like --time-format '%Y/%m/%d %H:%M'"),
    ],
)
def test_reason_names_the_format_that_fits(text: str, hint: str) -> None:
    """What is suggested reads the text it is suggested for."""
    with pytest.raises(UnreadableTimeError) as caught:
        parse_time(text, naive_zone=BERLIN)
    assert hint in str(caught.value)
    suggested = str(caught.value).split("--time-format '")[1].split("'")[0]
    assert parse_time(text, naive_zone=BERLIN, time_format=suggested).utc is not None


@pytest.mark.parametrize(
    "text",
    ["gestern", "2026-13-45", "2026-13-01", "2026-02-30T00:00:00Z", "45.13.2026", "Thu, 31 Feb 2026 02:13:00 GMT"],
)
def test_what_is_no_time_is_not_sent_to_a_format(text: str) -> None:
    """No format would help."""
    with pytest.raises(UnreadableTimeError) as caught:
        parse_time(text, naive_zone=BERLIN)
    assert "is no time; write it like" in str(caught.value)
    assert "--time-format" not in str(caught.value)
