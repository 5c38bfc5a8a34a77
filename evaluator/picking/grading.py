"""Grades a pick: all candidates once, then those chosen by that grade a second time. Can be cut off anywhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from evaluator.clock import Clock
from evaluator.errors import JudgewatchError
from evaluator.judges.base import Judge
from evaluator.picking.pick import Pick
from evaluator.picking.spread import Placed, choose, level_of, levels_of
from evaluator.records import Item, Purpose, Rubric
from evaluator.scoring.closing import Progress, RunReport
from evaluator.scoring.plan import RunSettings, ids_left
from evaluator.scoring.runner import run_once
from evaluator.store import read
from evaluator.store.db import Store, open_store


@dataclass(frozen=True, kw_only=True)
class GradingPreview:
    """What is left to grade. ``most_usd`` is the most it can cost, without retries; None when no price is known."""

    n_first: int
    n_second: int
    most_usd: float | None

    @property
    def n_calls(self) -> int:
        """Calls in all, without retries."""
        return self.n_first + self.n_second


def preview_new(texts: Mapping[str, Item], n: int, judge: Judge) -> GradingPreview:
    """What a pick that is not written down yet would grade."""
    return _preview(list(texts.values()), None, n, judge)


def preview_rest(store: Store, pick: Pick, judge: Judge) -> GradingPreview:
    """What is left of a pick."""
    ids = [item.item_id for item in pick.items]
    first = _left_of_run(store, pick.run_ids[0], ids)
    second = _left_of_run(store, pick.run_ids[1], None)
    texts = read.load_items(store, ids)
    if second is None:
        first_texts = [texts[item_id] for item_id in first or () if item_id in texts]
        rest = _preview(first_texts, list(texts.values()), pick.request.n, judge)
        return replace(rest, n_second=min(pick.request.n, len(texts)))
    left = [texts[item_id] for item_id in second if item_id in texts]
    return GradingPreview(n_first=0, n_second=len(left), most_usd=judge.plan_cost(left))


def _left_of_run(store: Store, run_id: str, planned: Sequence[str] | None) -> Sequence[str] | None:
    """Items that a run has still to grade; ``planned`` when it has not begun."""
    run = read.status_of_run(store, run_id)
    if run is None:
        return planned
    return [] if run["status"] in ("finished", "closed") else ids_left(store, run_id)


def _preview(first: Sequence[Item], all_texts: Sequence[Item] | None, n: int, judge: Judge) -> GradingPreview:
    """The first grading of some texts, and a second one of the n longest of all, which cost the most."""
    longest = sorted(all_texts if all_texts is not None else first, key=_length, reverse=True)[:n]
    once, again = judge.plan_cost(list(first)), judge.plan_cost(longest)
    return GradingPreview(
        n_first=len(first),
        n_second=len(longest),
        most_usd=None if once is None or again is None else once + again,
    )


def _length(item: Item) -> int:
    return len(item.input) + len(item.output) + len(item.reference or "") + sum(map(len, item.contexts))


async def grade_pick(
    pick: Pick,
    settings: RunSettings,
    judge: Judge,
    *,
    clock: Clock,
    on_progress: Callable[[Progress], None] | None = None,
    stop: asyncio.Event | None = None,
    without_flagged: bool = False,
) -> RunReport:
    """Grade what is left of a pick.

    Args:
        pick: The pick.
        settings: Settings of a run of its app.
        judge: Who grades.
        clock: Wall clock.
        on_progress: Called after every item.
        stop: Set from outside to end early.
        without_flagged: Choose none that may hold personal data, if nothing is chosen yet.

    Returns:
        The report of the run that was cut off, or of the second grading when nothing is left.

    Raises:
        LeaseHeldError: another scorer works on this app.
        StoreError: the database cannot be used.
        JudgewatchError: no candidate was given a score.
    """
    settings = replace(settings, purpose=Purpose.PICK, kind="traffic", anchors=())
    ids = [item.item_id for item in pick.items]
    first = replace(settings, slot=pick.slots[0], item_ids=ids)
    report = await run_once(first, judge, clock=clock, on_progress=on_progress, stop=stop)
    if report.status != "finished" or (stop is not None and stop.is_set()):
        return report
    with open_store(settings.store_path, create=False) as store:
        chosen = chosen_ids(store, pick, judge.ruler.rubric, without_flagged=without_flagged)
    second = replace(settings, slot=pick.slots[1], item_ids=chosen)
    return await run_once(second, judge, clock=clock, on_progress=on_progress, stop=stop)


def chosen_ids(store: Store, pick: Pick, rubric: Rubric, *, without_flagged: bool = False) -> list[str]:
    """The candidates that were chosen, in the order of the hash: as written down, else by the first fresh grade.

    Args:
        store: A store.
        pick: The pick.
        rubric: The rubric of its grades.
        without_flagged: Whether those that may hold personal data are left out before choosing.

    Raises:
        JudgewatchError: no candidate has a score, or every one that has may hold personal data.
    """
    planned = read.planned_ids(store, pick.run_ids[1])
    if planned:
        return planned
    scored = placed_candidates(store, pick, rubric)
    flagged = {item.item_id for item in pick.items if item.flags} if without_flagged else set()
    placed = [one for one in scored if one.item_id not in flagged]
    if scored and not placed:
        raise JudgewatchError(
            f"each of the {len(scored)} candidates of pick {pick.request.name!r} that have a score may hold personal"
            " data, so --yes can choose none; look at them in a terminal or with --out, or add --accept-flagged"
        )
    if not placed:
        raise JudgewatchError(
            f"none of the {len(pick.items)} candidates of pick {pick.request.name!r} was given a score, so none can be"
            " chosen; `judgewatch run once --kind anchors` shows whether the judge can be reached"
        )
    return [one.item_id for one in choose(placed, pick.request.n)]


def placed_candidates(store: Store, pick: Pick, rubric: Rubric) -> list[Placed]:
    """The candidates that have a first fresh grade, with its level and their segment, in the order of the hash."""
    scores = read.scores_of_run(store, pick.run_ids[0])
    levels = levels_of(rubric)
    return [
        Placed(item_id=item.item_id, level=level_of(scores[item.item_id]["score"], levels), stratum=item.stratum)
        for item in pick.items
        if item.item_id in scores and scores[item.item_id]["score"] is not None
    ]
