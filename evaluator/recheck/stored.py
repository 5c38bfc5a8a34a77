"""Reads the stored scores of a file: which can be graded again, which cannot and why, whose they are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from evaluator.analysis.rechecked import NOT_NAMED
from evaluator.errors import DataFileError, UsageError
from evaluator.importers.verdicts import Reject, StoredVerdict, iter_verdicts
from evaluator.importing.verdict_scale import ScoreTally, find_scale
from evaluator.recheck.choosing import Candidate
from evaluator.records import Item
from evaluator.store.write import recheck_item_id, sample_key

MOST_OUTSIDE = 0.05  # a share of scores outside the scale that is taken for marks of errors, not for another scale
_LISTED = 12
_MOST_LEVELS = 10.0

Key = tuple[str, str]  # judge, criterion


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How the file is read, and which of its scores are meant. ``scale`` is that of the file, where it is another."""

    format: str | None = None
    field_map: Mapping[str, str] = field(default_factory=dict)
    naive_zone: str = "UTC"
    time_format: str | None = None
    encoding: str = "utf-8"
    judges: tuple[str, ...] = ()
    criterion: str | None = None
    scale: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class StoredScores:
    """The scores of one judge and criterion, on the scale of the configured judge.

    Attributes:
        judge: Name of the judge that gave them, several joined by commas.
        criterion: What was graded.
        candidates: Those that can be graded again.
        n_scores: All verdicts of this judge and criterion.
        unusable: Number of the others by reason, in words.
    """

    judge: str
    criterion: str
    candidates: list[Candidate]
    n_scores: int
    unusable: dict[str, int]


def read_stored(path: Path, reading: Reading, *, app: str, scale: tuple[float, float]) -> StoredScores:
    """Read a file once; texts are not kept.

    Args:
        path: The file.
        reading: How to read it, and which scores are meant.
        app: The app; part of the identity of an answer's copy.
        scale: Lowest and highest score of the configured judge.

    Raises:
        UsageError: several judges or criteria and none chosen, none that fits, or scores on another scale.
        DataFileError: the file cannot be read.
    """
    groups: dict[Key, list[Candidate]] = {}
    unusable: dict[Key, Counter[str]] = {}
    rejected: Counter[str] = Counter()
    n_scores: Counter[Key] = Counter()
    for verdict in _stream(path, reading):
        if isinstance(verdict, Reject):
            rejected["the row cannot be read"] += 1
            continue
        key = (verdict.judge or NOT_NAMED, verdict.criterion)
        n_scores[key] += 1
        problem = _problem(verdict)
        if problem:
            unusable.setdefault(key, Counter())[problem] += 1
        else:
            groups.setdefault(key, []).append(_candidate(verdict, app))
    keys = _chosen_keys(list(n_scores), n_scores, reading, path)
    found = [candidate for key in keys for candidate in groups.get(key, [])]
    problems = sum((unusable.get(key, Counter()) for key in keys), rejected)
    usable = _on_scale(found, reading.scale, scale, problems)
    return StoredScores(
        judge=", ".join(sorted({key[0] for key in keys})),
        criterion=keys[0][1],
        candidates=usable,
        n_scores=sum(n_scores[key] for key in keys),
        unusable=dict(problems),
    )


def read_items(path: Path, reading: Reading, wanted: Collection[tuple[int, str]]) -> dict[str, Item]:
    """The texts of chosen answers, by content id; a second pass over the file.

    Args:
        path: The file.
        reading: As it was read before.
        wanted: (row number, content id) of each.
    """
    left = set(wanted)
    found: dict[str, Item] = {}
    for verdict in _stream(path, reading):
        if isinstance(verdict, Reject):
            continue
        key = (verdict.row_number, verdict.item.content_id)
        if key in left:
            found[verdict.item.content_id] = verdict.item
            left.discard(key)
        if not left:
            break
    return found


def _stream(path: Path, reading: Reading) -> Iterator[StoredVerdict | Reject]:
    return iter(
        iter_verdicts(
            path,
            format=reading.format,
            field_map=dict(reading.field_map) or None,
            naive_zone=reading.naive_zone,
            time_format=reading.time_format,
            encoding=reading.encoding,
        )
    )


def _problem(verdict: StoredVerdict) -> str:
    """Why a stored score cannot be graded again; empty when it can."""
    if verdict.score is None or not math.isfinite(verdict.score):
        return "no stored score"
    if verdict.graded_utc is None and verdict.item.answered_utc is None:
        return "no time"
    if not verdict.item.output.strip():
        return "no text of the answer"
    if not verdict.item.input.strip():
        return "no text of the question"
    return ""


def _candidate(verdict: StoredVerdict, app: str) -> Candidate:
    content_id = verdict.item.content_id
    return Candidate(
        graded_utc=verdict.graded_utc or verdict.item.answered_utc or "",
        score=math.nan if verdict.score is None else float(verdict.score),
        content_id=content_id,
        place=sample_key(recheck_item_id(app, content_id)),
        row_number=verdict.row_number,
    )


def _chosen_keys(keys: list[Key], n_scores: Counter[Key], reading: Reading, path: Path) -> list[Key]:
    """The judges and the one criterion that are meant.

    Raises:
        UsageError: none fits, or what is meant is not clear.
    """
    fitting = [
        key for key in keys if (not reading.judges or key[0] in reading.judges) and reading.criterion in (None, key[1])
    ]
    listed = "; ".join(
        f"judge {judge!r}, criterion {criterion!r} ({n_scores[judge, criterion]:,})"
        for judge, criterion in sorted(keys, key=lambda key: -n_scores[key])[:_LISTED]
    )
    if not keys:
        raise UsageError(f"{path} holds no score; `judgewatch import --verdicts {path} --dry-run` shows how it is read")
    if not fitting:
        raise UsageError(f"no score in {path} fits --judge and --criterion; it holds: {listed}")
    criteria = {criterion for _, criterion in fitting}
    several_judges = len({judge for judge, _ in fitting}) > 1 and not reading.judges
    if len(criteria) > 1 or several_judges:
        option = "--criterion" if len(criteria) > 1 else "--judge (several times, to take them together)"
        raise UsageError(f"{path} holds scores of several judges or criteria: {listed}; choose with {option}")
    return fitting


# ---------------------------------------------------------------- the scale


def _on_scale(
    candidates: list[Candidate],
    stored: tuple[float, float] | None,
    scale: tuple[float, float],
    problems: Counter[str],
) -> list[Candidate]:
    """The scores on the scale of the configured judge; the few outside it are counted as unusable.

    Raises:
        UsageError: the file is on another scale, or on two.
    """
    low, high = stored or scale
    if not low < high:
        raise UsageError(f"--scale {low:g} {high:g}: the lower end comes first, like --scale 0 1")
    inside = [candidate for candidate in candidates if low <= candidate.score <= high]
    n_outside = len(candidates) - len(inside)
    if n_outside > MOST_OUTSIDE * len(candidates):
        _refuse(candidates, f"{n_outside:,} of them outside {low:g} to {high:g}", scale)
    if stored is None:
        _refuse_narrower(inside, scale)
    if n_outside:
        problems[f"score outside {low:g} to {high:g}"] += n_outside
    if stored is None or stored == scale:
        return inside
    factor = (scale[1] - scale[0]) / (high - low)
    return [found._replace(score=scale[0] + (found.score - low) * factor) for found in inside]


def _refuse_narrower(candidates: list[Candidate], scale: tuple[float, float]) -> None:
    """Refuse scores of 1 to 5 beside a judge of 1 to 10: all of them lie inside, and none means the same.

    Raises:
        UsageError: the numbers say another scale, or two.
    """
    tally = ScoreTally()
    for candidate in candidates:
        tally.add(candidate.score, is_label=False, place=f"row {candidate.row_number}")
    if not tally.n:
        return
    try:
        found = find_scale("the stored scores", tally, hint=None, is_unit_format=False)
    except DataFileError as error:
        if scale[1] > _MOST_LEVELS:  # room enough for two scales inside the judge's own
            raise UsageError(str(error)) from error
        return  # the numbers fit several usual scales; the judge's own is one
    if found.high < scale[1]:
        _refuse(candidates, found.how, scale)


def _refuse(candidates: Sequence[Candidate], how: str, scale: tuple[float, float]) -> NoReturn:
    scores = [candidate.score for candidate in candidates]
    raise UsageError(
        f"the stored scores run from {min(scores):g} to {max(scores):g} ({how}) and the configured judge grades from"
        f" {scale[0]:g} to {scale[1]:g}; name the file's scale with --scale MIN MAX and it is mapped on the judge's, or"
        " grade with the rubric that the stored scores were given with"
    )
