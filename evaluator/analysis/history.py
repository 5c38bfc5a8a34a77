"""The anchors of one judge setup as a matrix run x anchor, read from the store. What it means is for ``judge``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from evaluator.stats.detector import BASELINE_RUNS
from evaluator.stats.numeric import BoolArray, FloatArray
from evaluator.stats.paired import enough_anchors, normalise
from evaluator.store import read
from evaluator.store.db import Store


@dataclass(frozen=True, kw_only=True, eq=False)
class AnchorHistory:
    """Every run that planned anchors, in the order of the slots.

    Attributes:
        run_ids: The runs.
        slots: Their scheduled instants.
        days: The days of those.
        item_ids: Every anchor that was ever asked for.
        names: Anchor id and expected score by item id.
        scores: Shape (runs, anchors), 1..5 equivalents; nan where there is no score. A failed run has none.
        asked: Which anchors a run should have graded, same shape.
        n_planned: Anchors in the plan of each run.
        not_counted: By run id: why a run that came to its end is no measurement; it has no scores here.
    """

    run_ids: tuple[str, ...]
    slots: tuple[str, ...]
    days: tuple[str, ...]
    item_ids: tuple[str, ...]
    names: dict[str, read.Row]
    scores: FloatArray
    asked: BoolArray
    n_planned: tuple[int, ...]
    not_counted: dict[str, str] = field(default_factory=dict)

    @property
    def n_asked(self) -> int:
        """Anchors that the newest run should have graded."""
        return int(self.asked[-1].sum()) if len(self.asked) else 0

    def baseline_mask(self, before_run: int | None = None) -> BoolArray:
        """The first runs in which enough anchors were graded; only those before a run when one is given."""
        present = ~np.isnan(self.scores) & self.asked
        usable = np.flatnonzero(enough_anchors(present.sum(axis=1), self.asked.sum(axis=1)))
        if before_run is not None:
            usable = usable[usable < before_run]
        mask = np.zeros(len(self.run_ids), dtype=np.bool_)
        mask[usable[:BASELINE_RUNS]] = True
        return mask


def read_anchor_history(
    store: Store, *, app: str, ruler_id: str, criterion: str, scale: tuple[float, float]
) -> AnchorHistory:
    """Read the matrix run x anchor of a judge setup."""
    runs = read.anchor_runs(store, app=app, ruler_id=ruler_id)
    sets = _items_by_set(store, runs)
    item_ids = tuple(dict.fromkeys(item_id for items in sets.values() for item_id in items))
    column = {item_id: index for index, item_id in enumerate(item_ids)}
    row_of = {run["run_id"]: index for index, run in enumerate(runs)}
    scores = np.full((len(runs), len(item_ids)), np.nan)
    asked = np.zeros(scores.shape, dtype=np.bool_)
    for index, run in enumerate(runs):
        asked[index, [column[item_id] for item_id in sets[run["anchor_set_id"]]]] = True
    for verdict in read.anchor_scores(store, app=app, ruler_id=ruler_id, criterion=criterion):
        if verdict["score"] is not None and verdict["item_id"] in column:
            scores[row_of[verdict["run_id"]], column[verdict["item_id"]]] = verdict["score"]
    return AnchorHistory(
        run_ids=tuple(run["run_id"] for run in runs),
        slots=tuple(run["slot_utc"] for run in runs),
        days=tuple(run["slot_day"] for run in runs),
        item_ids=item_ids,
        names=read.anchor_names(store, app),
        scores=normalise(scores, scale),
        asked=asked,
        n_planned=tuple(run["n_anchors"] for run in runs),
        not_counted={run["run_id"]: run["not_counted"] for run in runs if run["not_counted"]},
    )


def _items_by_set(store: Store, runs: Sequence[read.Row]) -> dict[str, list[str]]:
    set_ids = dict.fromkeys(run["anchor_set_id"] for run in runs)
    return {set_id: [row["item_id"] for row in read.anchors_of_set(store, set_id)] for set_id in set_ids}
