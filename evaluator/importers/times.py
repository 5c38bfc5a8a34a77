"""Reads the many ways in which a time is written, and gives one form: UTC, ISO-8601 with a trailing Z.

Nothing here asks the machine for its clock or its zone, and nothing guesses: what could mean two days is refused.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from email.utils import parsedate_to_datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from evaluator.errors import UsageError

FIRST_YEAR = 2000
LAST_YEAR = 2100

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
_LONGEST_NUMBER = 40
_UTC_NAME = re.compile(r"(?<=[0-9]) ?(?:UTC|GMT|[Zz])$")
_SPACED_OFFSET = re.compile(r"(?<=[0-9]) +(?=[+-][0-9]{2}:?[0-9]{2}$)")
# RFC 2822, as in the headers of mail and of HTTP; its zone is an offset or one of a few names that mean one offset
_MAIL_TIME = re.compile(
    r"(?:[A-Za-z]{3}, *)?[0-9]{1,2} [A-Za-z]{3} [0-9]{4} [0-9]{2}:[0-9]{2}(?::[0-9]{2})?"
    r"(?P<zone> (?:[+-][0-9]{4}|UTC?|GMT|[ECMP][SD]T))?"
)
_THREE_NUMBERS = re.compile(
    r"([0-9]{1,2})([./-])([0-9]{1,2})\2([0-9]{4}|[0-9]{2})"
    r"(?P<time>(?P<gap>,? |T)[0-9]{1,2}:[0-9]{2}(?P<seconds>:[0-9]{2})?)?"
)
_YEAR_FIRST = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:[Tt ].*)?", re.DOTALL)
_EXAMPLE = "2026-03-01T09:00:00Z"
# Nanoseconds of one unit. The plausible years of the four units do not overlap: 2000 to 2100 in seconds is 9.5e8 to
# 4.1e9, in milliseconds 9.5e11 to 4.1e12, and so on, so a number has one reading or none.
_UNITS_NS = (1_000_000_000, 1_000_000, 1_000, 1)
_FIRST_NS = int(datetime(FIRST_YEAR, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000_000
_END_NS = int(datetime(LAST_YEAR + 1, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000_000


class UnreadableTimeError(ValueError):
    """A time that has no single reading; the message names the value and the fix."""


@dataclass(frozen=True, kw_only=True)
class ParsedTime:
    """An instant, or none.

    Attributes:
        utc: ``2026-01-05T09:00:00Z``; with ``.250`` before the Z only when there are milliseconds. None: no time given.
        naive: The value named no zone, so the zone in the settings was used.
    """

    utc: str | None
    naive: bool = False


NO_TIME = ParsedTime(utc=None)


def load_zone(name: str) -> ZoneInfo:
    """Return the time zone of that name.

    Raises:
        UsageError: there is no such zone.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UsageError(f"time zone {name!r} is unknown; use a name such as UTC or Europe/Berlin") from error


def check_time_format(time_format: str) -> str:
    """Return the format unchanged, after refusing what would depend on the machine.

    Raises:
        UsageError: ``%Z`` is in it: zone names are looked up in the zone of the machine.
    """
    if re.search(r"(?<!%)(?:%%)*%Z", time_format):
        raise UsageError(f"time format {time_format!r}: %Z depends on the machine; use %z, or leave the zone out")
    if "%" not in time_format:
        raise UsageError(f"time format {time_format!r} names no part of a time; write it like %d/%m/%Y %H:%M")
    return time_format


def parse_time(value: object, *, naive_zone: tzinfo, time_format: str | None = None) -> ParsedTime:
    """Read one time.

    Accepted: ISO-8601 dates and times, with T or a space, with an offset, Z, UTC or GMT; seconds, milliseconds,
    microseconds or nanoseconds since 1970, as numbers or digits, told apart by their size; the form of mail headers
    (``Thu, 26 Nov 2026 02:13:00 GMT``). Strings are tried with
    ``time_format`` (as of ``datetime.strptime``) first. Without an offset a time is read in ``naive_zone`` and
    marked; a bare date is its midnight there. Where that zone sets its clock back, the earlier of the two instants is
    taken; a time that it skips is read with the offset before the change. Below a millisecond is cut, not rounded.

    Args:
        value: What stands in the file; None, nan and blank text mean that there is no time.
        naive_zone: Zone of times that name none.
        time_format: A format checked by ``check_time_format``.
    Returns:
        The instant in UTC and whether it was naive.
    Raises:
        UnreadableTimeError: not a time, ambiguous, or outside the years 2000 to 2100.
    """
    if type(value) is str:
        if _is_canonical(value):
            return ParsedTime(utc=value)
        return _parse_text(value.strip(), naive_zone, time_format)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NO_TIME
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnreadableTimeError(f"{_shown(value)} is not a time")
    if isinstance(value, float) and math.isinf(value):
        raise UnreadableTimeError(f"{value} is not a time")
    return _parse_epoch(Decimal(value) if isinstance(value, int) else Decimal(repr(value)), value)


def _is_canonical(text: str) -> bool:
    """Whether the text is already in the form that is stored, whole seconds; nearly every row of a log is."""
    if len(text) != 20 or text[19] != "Z" or text[10] != "T" or text[4] != "-" or text[7] != "-":
        return False
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return False
    return FIRST_YEAR <= moment.year <= LAST_YEAR


def _parse_text(text: str, naive_zone: tzinfo, time_format: str | None) -> ParsedTime:
    if not text:
        return NO_TIME
    # One file may mix forms: ISO times and epochs stay readable beside the format.
    moment = _by_format(text, time_format) if time_format is not None else None
    if moment is not None:
        return _in_utc(moment, naive_zone, text)
    if _NUMBER.fullmatch(text) and len(text) <= _LONGEST_NUMBER:
        return _parse_epoch(Decimal(text), text)
    moment = _by_iso(text) or _by_mail(text)
    if moment is None:
        raise UnreadableTimeError(f"{_shown(text)} {_why_unreadable(text)}")
    return _in_utc(moment, naive_zone, text)


def _by_format(text: str, time_format: str) -> datetime | None:
    try:
        return datetime.strptime(text, time_format)  # noqa: DTZ007 - the caller adds the zone, and marks that it did
    except ValueError:
        return None


def _by_iso(text: str) -> datetime | None:
    # The library reads any character as the separator: 2026-03-29-05:00, a date with an offset, would become a time.
    if text[4:5] != "-" or text[7:8] != "-" or text[10:11] not in ("", "T", "t", " "):
        return None
    try:
        return datetime.fromisoformat(_SPACED_OFFSET.sub("", _UTC_NAME.sub("+00:00", text)))
    except ValueError:
        return None


def _by_mail(text: str) -> datetime | None:
    found = _MAIL_TIME.fullmatch(text)
    if found is None:
        return None
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    # the library gives no zone for -0000, which means UTC
    return moment.replace(tzinfo=UTC) if found["zone"] and moment.tzinfo is None else moment


def _why_unreadable(text: str) -> str:
    """What is wrong with a text that is no time in a known form, and how to mend it."""
    found = _THREE_NUMBERS.fullmatch(text)
    if found is not None:
        return _why_three_numbers(found)
    dated = _YEAR_FIRST.fullmatch(text)
    if (
        not re.search(r"\d", text)
        or _MAIL_TIME.fullmatch(text)
        or (dated is not None and not _is_date(*map(int, dated.groups())))
    ):
        return f"is no time; write it like {_EXAMPLE}"
    order = "%Y/%m/%d" if re.match("[0-9]{4}", text) else "%d/%m/%Y"
    return f"is not a time in a known form, like {_EXAMPLE}; say how it is written, like --time-format '{order} %H:%M'"


def _is_date(year: int, month: int, day: int) -> bool:
    try:
        datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return False
    return True


def _why_three_numbers(found: re.Match[str]) -> str:
    """Which format reads a date of three numbers; where day and month may be either, the user has to choose."""
    first, mark, second = int(found[1]), found[2], int(found[3])
    orders = [order for order, month in (("dm", second), ("md", first)) if 1 <= month <= 12]
    if not orders or not 1 <= max(first, second) <= 31:
        return f"is no time; write it like {_EXAMPLE}"
    year = "%Y" if len(found[4]) == 4 else "%y"
    end = "" if not found["time"] else f"{found['gap']}%H:%M" + (":%S" if found["seconds"] else "")
    formats = [f"'%{order[0]}{mark}%{order[1]}{mark}{year}{end}'" for order in orders]
    if mark == "." or len(formats) == 1:  # with points the day comes first, wherever it can
        return f"is not an ISO time; say how to read it: --time-format {formats[0]}"
    return f"is not an ISO time and may mean two days; say which: --time-format {formats[0]} or {formats[1]}"


def _in_utc(moment: datetime, naive_zone: tzinfo, given: object) -> ParsedTime:
    naive = moment.tzinfo is None
    if naive:
        moment = moment.replace(tzinfo=naive_zone, fold=0)
    try:
        moment = moment.astimezone(UTC)
    except OverflowError:
        raise _implausible(given) from None
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise _implausible(given)
    precision = "milliseconds" if moment.microsecond >= 1000 else "seconds"
    return ParsedTime(utc=moment.replace(tzinfo=None).isoformat(timespec=precision) + "Z", naive=naive)


def _parse_epoch(number: Decimal, given: object) -> ParsedTime:
    for unit_ns in _UNITS_NS:
        if _FIRST_NS <= number * unit_ns < _END_NS:
            seconds, rest_ns = divmod(int(number * unit_ns), 1_000_000_000)
            moment = datetime.fromtimestamp(seconds, tz=UTC).replace(microsecond=rest_ns // 1000)
            return _in_utc(moment, UTC, given)
    raise _implausible(given)


def _implausible(given: object) -> UnreadableTimeError:
    return UnreadableTimeError(f"time {_shown(given)} lies outside the years {FIRST_YEAR} to {LAST_YEAR}")


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python prints
        return "that number"
    return text if len(text) <= 60 else text[:57] + "..."
