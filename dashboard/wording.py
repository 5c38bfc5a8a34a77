"""How numbers, days, instants and reasons are written on the page: one place, so that every page says it alike.

Pure text, no markup. Days are labels of the store's zone, never instants.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from evaluator.clock import day_of, parse_utc
from evaluator.records import ItemFlag, UnscoredReason

_TICKED = re.compile(r"`([^`\n]+)`")
_PROGRAM = "judgewatch "  # how a command to type begins
NOT_STORED = "text not stored"
_REASONS: dict[str, str] = {
    UnscoredReason.EMPTY: "empty reply",
    UnscoredReason.MISSING: "no score given",
    UnscoredReason.WRONG_TYPE: "score of the wrong type",
    UnscoredReason.NOT_FINITE: "score is not a finite number",
    UnscoredReason.NOT_A_NUMBER: "score is not a number",
    UnscoredReason.OUT_OF_RANGE: "score off the scale",
    UnscoredReason.FOREIGN_SCALE: "score on another scale",
    UnscoredReason.AMBIGUOUS: "several scores in the reply",
    UnscoredReason.UNPARSED: "reply could not be read",
    UnscoredReason.TRUNCATED: "reply cut off",
    UnscoredReason.REFUSAL: "refusal",
    UnscoredReason.CONTENT_FILTER: "content filter",
    UnscoredReason.EMPTY_CHOICES: "reply without content",
    UnscoredReason.NOT_AN_API_REPLY: "not an API reply",
    UnscoredReason.PROVIDER_ERROR: "provider error",
    UnscoredReason.RATE_LIMITED: "rate limit",
    UnscoredReason.SERVER_ERROR: "server error",
    UnscoredReason.TIMEOUT: "timeout",
    UnscoredReason.CONNECTION: "no connection",
    UnscoredReason.INVALID_REQUEST: "request refused",
    UnscoredReason.TOO_LONG: "too long for the judge",
    UnscoredReason.NO_ANSWER_TEXT: "no answer text",
}


def number(value: float | None, digits: int = 2) -> str:
    """A number as shown: ``3.90``, or a dash when there is none."""
    return "–" if value is None else f"{value:.{digits}f}".replace("-", "−")


def change(value: float | None, digits: int = 2) -> str:
    """A change with its sign: ``+0.31``, ``−0.04``, ``0.00``; a dash when there is none."""
    if value is None:
        return "–"
    text = f"{value:+.{digits}f}"
    return f"{0:.{digits}f}" if float(text) == 0 else text.replace("-", "−")


def bounds(low: float | None, high: float | None) -> str:
    """An interval in brackets; empty when there is none."""
    return "" if low is None or high is None else f"[{number(low)}, {number(high)}]"


def holds_zero(low: float | None, high: float | None) -> bool:
    """Whether an interval could be zero; one that is missing could be anything."""
    return low is None or high is None or low <= 0 <= high


def level(value: float) -> str:
    """A level of the scale without needless digits: ``4``, ``0.25``."""
    return f"{value:g}"


def count(value: int) -> str:
    """A count with thousands separated: ``4,310``."""
    return f"{value:,}"


def counted(n: int, singular: str, plural: str | None = None) -> str:
    """A count with its noun: ``1 answer``, ``2 answers``."""
    return f"{count(n)} {singular if n == 1 else plural or singular + 's'}"


def money(usd: float) -> str:
    """An amount in dollars, small ones with more digits: ``$1.12``, ``$0.061``, ``$0.0046``."""
    digits = 2 if usd >= 0.1 or usd == 0 else 3 if usd >= 0.01 else 4
    return f"${usd:,.{digits}f}"


def cost(usd: float, calls: int) -> str:
    """What calls have cost; empty where they have no price, since that is not the same as costing nothing."""
    return "" if calls and not usd else money(usd)


def of_limit(usd: float, calls: int, usd_limit: float | None, calls_limit: int | None) -> str:
    """What a day has cost against its limits: ``$1.12 of $5.00 today``, ``212 of 318 calls today``."""
    spent = f"{money(usd)} of {money(usd_limit)}" if usd_limit is not None else cost(usd, calls)
    parts = [spent] if spent else []
    if calls_limit is not None:
        parts.append(f"{count(calls)} of {counted(calls_limit, 'call')}")
    return f"{' and '.join(parts) or counted(calls, 'call')} today"


def day(text: str, *, year: bool = False) -> str:
    """A day as people write it: ``12 Oct`` or ``12 Oct 2026``."""
    found = date.fromisoformat(text)
    return f"{found.day} {found:%b %Y}" if year else f"{found.day} {found:%b}"


def days(first: str, last: str) -> str:
    """A range of days, both included, with the year once: ``1–20 Sep 2026``."""
    start, end = date.fromisoformat(first), date.fromisoformat(last)
    if start == end:
        return day(last, year=True)
    if start.year != end.year:
        return f"{day(first, year=True)} – {day(last, year=True)}"
    if start.month != end.month:
        return f"{day(first)} – {day(last, year=True)}"
    return f"{start.day}–{day(last, year=True)}"


def instant(utc: str, zone: ZoneInfo) -> str:
    """An instant in the store's zone: ``12 Oct 2026, 06:00``."""
    local = parse_utc(utc).astimezone(zone)
    return f"{local.day} {local:%b %Y, %H:%M}"


def duration(start_utc: str, end_utc: str | None) -> str:
    """How long something took: ``52 s``, ``4 min``; a dash while it is open."""
    if end_utc is None:
        return "–"
    seconds = (datetime.fromisoformat(end_utc) - datetime.fromisoformat(start_utc)).total_seconds()
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def reason(code: str) -> str:
    """Why a verdict has no score, in words; a code this version does not know is shown as it is."""
    return _REASONS.get(code, code.replace("_", " "))


def reasons(counts: Mapping[str, int]) -> str:
    """Reasons with their counts, the commonest first: ``2 timeout, 1 refusal``."""
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{n} {reason(code)}" for code, n in ordered)


def segment(value: str, value2: str = "", *, crossed: bool = False) -> str:
    """The name of a segment: its value, or both values of a crossed pair; an empty value is named so."""
    names = [value or "(empty)"]
    if crossed or value2:
        names.append(value2 or "(empty)")
    return " · ".join(names)


def full_segment(found: Mapping[str, Any]) -> str:
    """The name of a segment where its key is not seen beside it: ``400 (duration)``; two values explain each other."""
    if found["key2"]:
        return segment(found["value"], found["value2"], crossed=True)
    return f"{segment(found['value'])} ({found['key']})"


def key_name(key: str, key2: str = "") -> str:
    """The name of a key or of a crossed pair of keys: ``topic × language``."""
    return f"{key} × {key2}" if key2 else key


def spoken(text: str) -> list[tuple[str, bool]]:
    """A sentence as the page shows it, in pieces: (text, whether it is a command to type).

    Our sentences hold commands in backticks, the mark of a terminal, which would be read letter by letter here. Only
    what begins with the name of the program is a command; whatever else stands in backticks, a name out of the data
    too, stays words and is put in quotation marks.
    """
    pieces: list[tuple[str, bool]] = []
    for place, piece in enumerate(_TICKED.split(text)):
        is_ticked = place % 2 == 1
        is_command = is_ticked and piece.startswith(_PROGRAM)
        words = f"“{piece}”" if is_ticked and not is_command else piece
        if pieces and not is_command and not pieces[-1][1]:
            pieces[-1] = (pieces[-1][0] + words, False)
        elif words:
            pieces.append((words, is_command))
    return pieces


def why_no_text(item: Mapping[str, Any], zone: ZoneInfo) -> str:
    """Why the texts of an item are not there: deleted and when, or not stored; empty where they are."""
    flags = (item["flags"] or "").split(",")
    if ItemFlag.TEXT_NOT_KEPT in flags:
        deleted = item["deleted_utc"]
        return f"deleted on {day(day_of(parse_utc(deleted), zone).isoformat(), year=True)}" if deleted else NOT_STORED
    without = not (item["input"] or "").strip() and not (item["output"] or "").strip()
    return NOT_STORED if without and ItemFlag.FROM_SCORES in flags else ""


def one_line(text: str, most: int = 160) -> str:
    """A text on one line, cut with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
