"""What a person decides about a graded pick: each chosen answer with both fresh scores and what speaks against it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import isclose
from statistics import fmean, stdev

from evaluator.errors import UsageError
from evaluator.picking.grading import chosen_ids, placed_candidates
from evaluator.picking.pick import Pick
from evaluator.picking.spread import level_of, levels_of
from evaluator.records import Item, Rubric
from evaluator.store import read, write
from evaluator.store.db import Store


@dataclass(frozen=True, kw_only=True)
class ReviewItem:
    """A chosen answer, or a reserve for one that was left out.

    ``flags`` are kinds of likely personal data; ``decision`` is "yes", "no" or None. ``place`` is level and segment.
    """

    item_id: str
    item: Item = field(repr=False)
    tags: Mapping[str, str]
    first: float | None
    second: float | None
    flags: tuple[str, ...]
    decision: str | None
    place: tuple[float | None, str] = (None, "")
    is_reserve: bool = False

    @property
    def jump(self) -> float | None:
        """Second fresh score less the first; None where one is missing."""
        return None if self.first is None or self.second is None else self.second - self.first

    @property
    def flipped(self) -> bool:
        """Whether the judge gave two different scores."""
        return self.jump is not None and not isclose(self.jump, 0.0, abs_tol=1e-9)


@dataclass(frozen=True, kw_only=True)
class PickSummary:
    """What came of grading, in numbers. Levels are (score, name, candidates found, chosen)."""

    n_candidates: int
    n_chosen: int
    n_unscored: int
    n_gone: int
    levels: tuple[tuple[float, str, int, int], ...]
    n_flagged: int
    n_second: int
    n_flips: int
    mean_jump: float | None
    sd_jump: float | None

    @property
    def missing_levels(self) -> list[tuple[float, str]]:
        """Levels at which no candidate was found."""
        return [(score, name) for score, name, n_found, _ in self.levels if not n_found]

    def visible_change(self, n_anchors: int) -> float | None:
        """Least change of the mean that one grading of so many anchors shows against another one, at 95 %.

        From the jumps between the two fresh gradings: 1.96 times their sd over the root of n. None while unknown.
        """
        if not self.sd_jump or n_anchors < 1:
            return None
        return float(1.96 * self.sd_jump / n_anchors**0.5)


def is_graded(store: Store, pick: Pick) -> bool:
    """Whether both gradings have come to their end."""
    runs = [read.status_of_run(store, run_id) for run_id in pick.run_ids]
    return all(run is not None and run["status"] == "finished" for run in runs)


def load_review(store: Store, pick: Pick, rubric: Rubric) -> list[ReviewItem]:
    """The chosen answers in the order of the hash; those deleted or never scored since are left out.

    Reserves that were decided on come after them.

    Raises:
        UsageError: the pick is not graded yet.
    """
    if not is_graded(store, pick):
        raise UsageError(f"the pick {pick.request.name!r} is not graded yet; `judgewatch anchors pick` goes on with it")
    ids = chosen_ids(store, pick, rubric)
    chosen = set(ids)
    rows = {row["item_id"]: row for row in read.pick_items(store, pick.pick_id)}
    decided = [row["item_id"] for row in rows.values() if row["decision"] is not None and row["item_id"] not in chosen]
    return [*_items(store, pick, rubric, rows, ids), *_items(store, pick, rubric, rows, decided, are_reserves=True)]


def load_reserves(store: Store, pick: Pick, rubric: Rubric) -> list[ReviewItem]:
    """Candidates that were graded once and not chosen, in the order of the hash; none that may hold personal data.

    Each can take the place of a chosen answer of its level and segment. Those that were decided on are not among them.
    """
    taken = set(chosen_ids(store, pick, rubric))
    rows = {row["item_id"]: row for row in read.pick_items(store, pick.pick_id)}
    ids = [
        one.item_id
        for one in placed_candidates(store, pick, rubric)
        if one.item_id not in taken and rows[one.item_id]["decision"] is None and not rows[one.item_id]["flags"]
    ]
    return _items(store, pick, rubric, rows, ids, are_reserves=True)


def _items(
    store: Store,
    pick: Pick,
    rubric: Rubric,
    rows: Mapping[str, read.Row],
    ids: Sequence[str],
    *,
    are_reserves: bool = False,
) -> list[ReviewItem]:
    texts, tags = read.load_items(store, ids), read.tags_of_items(store, ids)
    first, second = (read.scores_of_run(store, run_id) for run_id in pick.run_ids)
    places = {one.item_id: (one.level, one.stratum) for one in placed_candidates(store, pick, rubric)}
    return [
        ReviewItem(
            item_id=item_id,
            item=texts[item_id],
            tags=tags.get(item_id, {}),
            first=_score(first, item_id),
            second=_score(second, item_id),
            flags=tuple(rows[item_id]["flags"]),
            decision=rows[item_id]["decision"],
            place=places.get(item_id, (None, rows[item_id]["stratum"])),
            is_reserve=are_reserves,
        )
        for item_id in ids
        if item_id in texts and texts[item_id].output.strip() and item_id in rows
    ]


def _score(scores: Mapping[str, read.Row], item_id: str) -> float | None:
    row = scores.get(item_id)
    return None if row is None else row["score"]


def summarise(store: Store, pick: Pick, rubric: Rubric, items: Sequence[ReviewItem]) -> PickSummary:
    """Count what came of the two gradings of a pick."""
    levels = levels_of(rubric)
    scores = [row["score"] for row in read.scores_of_run(store, pick.run_ids[0]).values()]
    found = Counter(level_of(score, levels) for score in scores if score is not None)
    chosen = Counter(level_of(item.first, levels) for item in items if item.first is not None)
    jumps = [item.jump for item in items if item.jump is not None]
    return PickSummary(
        n_candidates=len(pick.items),
        n_chosen=len(items),
        n_unscored=len(pick.items) - sum(found.values()),
        n_gone=len(chosen_ids(store, pick, rubric)) - sum(not item.is_reserve for item in items),
        levels=tuple((score, name, found[score], chosen[score]) for score, name in levels),
        n_flagged=sum(bool(item.flags) for item in items),
        n_second=len(jumps),
        n_flips=sum(item.flipped for item in items),
        mean_jump=fmean(jumps) if jumps else None,
        sd_jump=stdev(jumps) if len(jumps) > 1 else None,
    )


def accept_all(
    store: Store, pick: Pick, items: Sequence[ReviewItem], *, flagged_too: bool, by_whom: str, now: datetime
) -> tuple[int, int]:
    """Say yes to everything undecided that is not flagged. Returns (accepted now, left out because flagged)."""
    open_items = [item for item in items if item.decision is None]
    wanted = [item for item in open_items if flagged_too or not item.flags]
    yes: dict[str, str | None] = {item.item_id: "yes" for item in wanted}
    write.decide_picks(store, pick.pick_id, yes, by_whom=by_whom, now=now)
    return len(wanted), len(open_items) - len(wanted)
