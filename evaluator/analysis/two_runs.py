"""Two runs, or two files of scores, compared at once: for who has no history yet, or wants to compare just those."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from evaluator.errors import UsageError
from evaluator.importers.verdicts import Reject, iter_verdicts
from evaluator.records import content_hash
from evaluator.stats.two_runs import TwoRuns, compare_two_runs
from evaluator.store import read
from evaluator.store.db import Store

_SHOWN_RUNS = 8
_FIRST, _LATEST = "first", "latest"


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the two: its name for people, its day, and the scores by item.

    Attributes:
        name: What was compared, in words.
        day: The day it is of; "" where a file says none.
        scores: Score by item (and criterion); items without one are not in it.
        questions: By item, what tells answers to the same question; items not in it stand alone.
        n_rejected: Rows of a file that could not be read.
    """

    name: str
    day: str
    scores: Mapping[str, float]
    questions: Mapping[str, str] = field(default_factory=dict)
    n_rejected: int = 0


@dataclass(frozen=True, kw_only=True)
class MovedItem:
    """An item that both sides scored, and differently."""

    item: str
    before: float
    after: float


@dataclass(frozen=True, kw_only=True)
class RunComparison:
    """The comparison, the two sides, and the items that moved most."""

    before: Side
    after: Side
    result: TwoRuns
    smallest_change: float
    moved: tuple[MovedItem, ...]

    def sentence(self) -> str:
        """What the comparison shows, in one sentence or two."""
        result = self.result
        if result.estimate is None:
            return f"{self.before.name} and {self.after.name} have no scored answer in common: nothing can be compared."
        copies = (
            " Nearly all scores are the same to the digit: some may be copies, from a cache or an earlier file."
            if result.may_be_copies
            else ""
        )
        moved = f"{result.n_up} up, {result.n_down} down, {result.n_same} the same"
        means = f"{result.mean_before:.2f}, then {result.mean_after:.2f}"
        said = f"{result.n} answers scored by both: {means} ({result.estimate:+.2f}; {moved}).{copies}"
        if result.low is None or result.high is None:
            why = "too few" if result.n < _ENOUGH else "all moved alike, or none did"
            return f"{said} Cannot tell from these two alone: {why}, so there is no interval."
        found = f"between {result.low:+.2f} and {result.high:+.2f}"
        if result.finding.value.startswith("changed"):
            word = "higher" if result.estimate > 0 else "lower"
            return f"{said} The second is {word}, {found}. A shock common to one of the two days is not ruled out."
        return f"{said} No change shown: {found}; two runs alone cannot show that it is steady."


_ENOUGH = 10


def compare_sides(
    before: Side, after: Side, *, smallest_change: float, level: float = 0.95, most: int = 12
) -> RunComparison:
    """Compare two sides item by item."""
    items = sorted({*before.scores, *after.scores})
    first = np.array([before.scores.get(item, math.nan) for item in items], dtype=np.float64)
    second = np.array([after.scores.get(item, math.nan) for item in items], dtype=np.float64)
    questions = {**before.questions, **after.questions}
    alike = [questions.get(item, item) for item in items]
    result = compare_two_runs(first, second, smallest_change=smallest_change, clusters=alike, level=level)
    size = np.nan_to_num(np.abs(second - first))
    places = [place for place in np.argsort(-size, kind="stable")[:most] if size[place] > 0]
    moved = tuple(
        MovedItem(item=items[place], before=float(first[place]), after=float(second[place])) for place in places
    )
    return RunComparison(before=before, after=after, result=result, smallest_change=smallest_change, moved=moved)


def side_of_run(store: Store, *, app: str, setup: read.Row, wanted: str) -> Side:
    """The anchors of one stored run.

    Args:
        store: A store, read-only is enough.
        app: The app.
        setup: The judge setup, a row of ``read.rulers``.
        wanted: A run's id or its beginning, the day of its slot, "first" or "latest".

    Raises:
        UsageError: there is no such run with anchors, or more than one.
    """
    rows = read.anchor_scores(store, app=app, ruler_id=str(setup["ruler_id"]), criterion=str(setup["criterion"]))
    runs = {row["run_id"]: row for row in rows if row["score"] is not None}
    run_id = _chosen(list(runs.values()), wanted, app)
    scored = [row for row in rows if row["run_id"] == run_id and row["score"] is not None]
    names = {item_id: str(row["anchor_id"]) for item_id, row in read.anchor_names(store, app).items()}
    items = read.load_items(store, [row["item_id"] for row in scored])
    day = runs[run_id]["slot_day"]
    return Side(
        name=f"the run of {day} ({run_id[:8]})",
        day=day,
        scores={names[row["item_id"]]: float(row["score"]) for row in scored},
        questions={names[item_id]: f"question {item.input}" for item_id, item in items.items() if item.input},
    )


def _chosen(runs: Sequence[read.Row], wanted: str, app: str) -> str:
    if not runs:
        raise UsageError(f"{app} has no run with scored anchors; name two files of scores, or grade first")
    if wanted in (_FIRST, _LATEST):
        return str(runs[0 if wanted == _FIRST else -1]["run_id"])
    found = [
        run for run in runs if wanted == run["slot_day"] or (len(wanted) >= 4 and run["run_id"].startswith(wanted))
    ]
    if len(found) == 1:
        return str(found[0]["run_id"])
    listed = ", ".join(f"{run['slot_day']} ({run['run_id'][:8]})" for run in (found or runs)[-_SHOWN_RUNS:])
    problem = "is more than one run" if found else "is no run with scored anchors, and no file"
    raise UsageError(f"{wanted!r} {problem}; write a run's id, its day, first or latest: {listed}")


def side_of_file(path: Path, *, field_map: Mapping[str, str] | None = None) -> Side:
    """The scores of a file, by the answer's own id, else by its texts. Several scores of one answer are averaged.

    Raises:
        DataFileError: the file cannot be read, or holds no score.
        UsageError: a setting that cannot be used.
    """
    stream = iter_verdicts(path, field_map=field_map, default_criterion="score")
    found: dict[str, list[float]] = defaultdict(list)
    questions: dict[str, str] = {}
    days: set[str] = set()
    n_rejected = 0
    for verdict in stream:
        if isinstance(verdict, Reject):
            n_rejected += 1
            continue
        days.add((verdict.graded_utc or "")[:10])
        if verdict.score is not None:
            item = verdict.item
            name = f"{item.external_id or item.content_id[:12]} {verdict.criterion}"
            found[name].append(verdict.score)
            if item.input:
                questions[name] = f"question {content_hash(item.input)}"
    scores = {item: sum(each) / len(each) for item, each in found.items()}
    return Side(name=path.name, day=_days(days - {""}), scores=scores, questions=questions, n_rejected=n_rejected)


def _days(days: Iterable[str]) -> str:
    known = sorted(days)
    if not known:
        return ""
    return known[0] if len(known) == 1 else f"{known[0]} to {known[-1]}"
