"""What a recheck says, in sentences: numbers in, words out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from evaluator.analysis.phrases import counted, number, signed, size_text
from evaluator.stats.recheck import RecheckFinding
from evaluator.stats.recheck_limits import FEWEST

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def sentences(result: Mapping[str, Any]) -> list[str]:
    """What a result says, the verdict last but for what it rests on."""
    found = [*_since_last(result), _recent(result)]
    if result["old"] is not None:
        found.append(_old(result))
    found.append(_verdict(result))
    if result["parity"]["is_off"] and result["old"] is not None:
        found.append(
            f"This assumes that the difference of {signed(result['parity']['value'])} was the same for the old scores."
        )
    return found


def _since_last(result: Mapping[str, Any]) -> list[str]:
    """What an earlier recheck of the same answers, with the same judge setup, makes of this one."""
    last = result.get("since_last")
    if last is None or last["value"] is None:
        return []
    day = days_of(last["finished_utc"][:10], last["finished_utc"][:10], beside=_today(result))
    answers = f"{counted(last['n'], 'answer')} graded by this judge setup before, in the recheck of {day}"
    size = size_text(last["value"], last["low"], last["high"])
    if last["finding"].startswith("changed"):
        means = f"then {number(last['then'])}, now {number(last['now'])}"
        beside = "The sentences below compare with the stored scores."
        return [f"{answers}: {means}. Your judge changed since: {size}. {beside}"]
    return [f"{answers}: no change shown since ({size})."]


def days_of(first_day: str | None, last_day: str | None, *, beside: str | None = None) -> str:
    """The days of a part: September, or 3 August to 14 September; with the year where ``beside`` is of another one."""
    if first_day is None or last_day is None:
        return "an unknown day"
    first, last = date.fromisoformat(first_day), date.fromisoformat(last_day)
    in_one_year = first.year == last.year == (date.fromisoformat(beside).year if beside else last.year)
    if first == last:
        return _day(first, with_year=not in_one_year)
    if (first.year, first.month) == (last.year, last.month):
        return _MONTHS[first.month - 1] + ("" if in_one_year else f" {first.year}")
    return f"{_day(first, with_year=not in_one_year)} to {_day(last, with_year=not in_one_year)}"


def _day(day: date, *, with_year: bool) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]}" + (f" {day.year}" if with_year else "")


def _recent(result: Mapping[str, Any]) -> str:
    part, parity = result["recent"], result["parity"]
    answers = counted(part["n"], "recent answer")
    if not part["n"]:
        return "No recent answer was scored again."
    size = size_text(parity["value"], parity["low"], parity["high"])
    if parity["is_off"]:
        return (
            f"{answers}: stored {number(part['then']['value'])}, now {number(part['now']['value'])}."
            f" The configured judge does not reproduce the stored scores: {size}."
            " Another prompt, model or scale, or a change since they were given, does that."
        )
    if parity["low"] is None:
        return f"{answers}: {signed(parity['value'])} against the stored scores."
    if abs(parity["value"]) < result["smallest_change"]:
        return f"{answers}: same scores as stored ({signed(parity['value'])})."
    return f"{answers}: no difference to the stored scores shown ({size})."


def _old(result: Mapping[str, Any]) -> str:
    part = result["old"]
    answers = (
        f"{counted(part['n'], 'answer')} from {days_of(part['first_day'], part['last_day'], beside=_today(result))}"
    )
    if not part["n"]:
        return "No old answer was scored again."
    return f"{answers}: then {number(part['then']['value'])}, now {number(part['now']['value'])}."


def _today(result: Mapping[str, Any]) -> str:
    return str(result["rechecked_utc"])[:10]


def _verdict(result: Mapping[str, Any]) -> str:
    finding, drift = result["finding"], result["drift"]
    if finding == RecheckFinding.PARITY_ONLY:
        days = days_of(result["recent"]["first_day"], result["recent"]["last_day"], beside=_today(result))
        return (
            f"All scores are of {days}: whether the judge moved cannot be told from them, only whether the configured"
            " judge reproduces them."
        )
    if finding == RecheckFinding.CANNOT_TELL or drift is None or drift["low"] is None:
        return _cannot_tell(result["recent"]["n"], result["old"]["n"])
    size = size_text(drift["value"], drift["low"], drift["high"])
    smallest = number(result["smallest_change"])
    if finding == RecheckFinding.CHANGED:
        return f"Your judge changed: {size}."
    if finding == RecheckFinding.SMALL_CHANGE:
        return f"Your judge changed a little: {size}; a change under {smallest} counts as small."
    if finding == RecheckFinding.SAME:
        return f"Your judge did not change: {size}, all of it within ±{smallest}."
    return f"No change shown: {size}.{_more(result['more_answers'], smallest)}"


def _cannot_tell(n_recent: int, n_old: int) -> str:
    if min(n_recent, n_old) >= FEWEST:
        return "Whether the judge moved cannot be told: all answers of a part are of one conversation or user."
    return (
        f"Whether the judge moved cannot be told with {n_recent} recent and {n_old} old answers that have both scores;"
        f" needed are {FEWEST} of each at least."
    )


def _more(n: int | None, smallest: str) -> str:
    if not n:
        return ""
    rounded = n if n < 100 else round(n, 1 - len(str(n)))
    return f" About {counted(rounded, 'more answer')} would show a change of {smallest} four times in five."
