"""Which stored scores are graded again: a random part of the recent ones and of the old ones. Pure; never by score.

Random means in the order of a hash of the texts: asking twice takes the same answers, and no score has a say. Answers
taken because their score is high would come back lower from the steadiest judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time
from typing import NamedTuple
from zoneinfo import ZoneInfo

from evaluator.clock import day_of, parse_utc, utc_text
from evaluator.errors import UsageError

ENOUGH = 20  # a third of the period that holds fewer answers gives way to a third of the answers


class Candidate(NamedTuple):
    """One stored score that could be graded again. ``place`` is its place in the random order, in [0, 1)."""

    graded_utc: str
    score: float
    content_id: str
    place: float
    row_number: int


@dataclass(frozen=True, kw_only=True)
class Part:
    """What was taken from one part of the history.

    Attributes:
        taken: The answers, in the random order.
        n_there: How many the part holds.
        first_utc: Earliest time of grading in the part; None without answers.
        last_utc: Latest one.
    """

    taken: tuple[Candidate, ...]
    n_there: int
    first_utc: str | None
    last_utc: str | None


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The two parts. ``n_repeated`` answers were left out because their texts are there already."""

    recent: Part
    old: Part
    n_repeated: int


def choose(candidates: Sequence[Candidate], *, n: int, zone: ZoneInfo, split: str | None = None) -> Choice:
    """Take n / 2 answers of the newest and of the oldest part of a history.

    Without ``split``, the parts are the first and the last third of the period; where such a third holds fewer than
    ``ENOUGH`` answers (a gap, one wrong date), it is the oldest or newest third of the answers instead. Scores of a
    single day have no old part.

    Args:
        candidates: Usable stored scores.
        n: Answers to take, both parts together, >= 2.
        zone: Zone of the days.
        split: First day of the recent part; everything before is old.

    Raises:
        UsageError: nothing was graded before, or nothing from the split day on.
    """
    once = _once_each(candidates)
    old, recent = _parts(once, zone) if split is None else _at(once, split, zone)
    half = n // 2
    return Choice(recent=_take(recent, half), old=_take(old, half), n_repeated=len(candidates) - len(once))


def _once_each(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The same texts once, with their first score; in the order of time."""
    kept: dict[str, Candidate] = {}
    for candidate in sorted(candidates, key=lambda found: (found.graded_utc, found.row_number)):
        kept.setdefault(candidate.content_id, candidate)
    return list(kept.values())


def _parts(ordered: list[Candidate], zone: ZoneInfo) -> tuple[list[Candidate], list[Candidate]]:
    """(old, recent) by thirds of the period, else of the answers."""
    if not ordered:
        return [], []
    first, last = parse_utc(ordered[0].graded_utc), parse_utc(ordered[-1].graded_utc)
    if day_of(first, zone) == day_of(last, zone):
        return [], ordered
    third = (last - first) / 3
    end_of_old, start_of_recent = utc_text(first + third), utc_text(last - third)
    old = [candidate for candidate in ordered if candidate.graded_utc <= end_of_old]
    recent = [candidate for candidate in ordered if candidate.graded_utc >= start_of_recent]
    by_rank = max(1, len(ordered) // 3)
    if min(len(old), len(recent)) < min(ENOUGH, by_rank):
        return ordered[:by_rank], ordered[-by_rank:]
    return old, recent


def _at(ordered: list[Candidate], split: str, zone: ZoneInfo) -> tuple[list[Candidate], list[Candidate]]:
    border = utc_text(datetime.combine(datetime.fromisoformat(split).date(), time(), tzinfo=zone))
    old = [candidate for candidate in ordered if candidate.graded_utc < border]
    recent = [candidate for candidate in ordered if candidate.graded_utc >= border]
    if not old or not recent:
        days = [str(day_of(parse_utc(found.graded_utc), zone)) for found in (ordered[:1] + ordered[-1:])]
        raise UsageError(
            f"--split {split}: no usable score was graded {'from that day on' if old else 'before that day'};"
            f" they are of {' to '.join(days) or 'no day'}"
        )
    return old, recent


def _take(part: list[Candidate], most: int) -> Part:
    return Part(
        taken=tuple(sorted(part, key=lambda found: (found.place, found.content_id))[:most]),
        n_there=len(part),
        first_utc=part[0].graded_utc if part else None,
        last_utc=part[-1].graded_utc if part else None,
    )
