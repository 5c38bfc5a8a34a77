"""Whether the stored analysis of a judge setup still speaks of all its runs. Reads only; computes nothing."""

from __future__ import annotations

from typing import Any

from evaluator.store import read
from evaluator.store.db import Store


def newest_analysis(store: Store, *, app: str, ruler_id: str, criterion: str) -> tuple[dict[str, Any] | None, bool]:
    """Return the newest stored analysis, and whether a new one is due.

    One is due when a run with scores ended after the last was computed, or when there are such runs and no analysis.
    The runs count, too, of a setup whose anchors speak for this one, and so does a word that they do. So does a word
    on which runs are the normal, or taking it back.
    """
    row = read.newest_analysis(store, app=app, ruler_id=ruler_id, criterion=criterion)
    bridge = read.bridge_of(store, app, ruler_id)
    anchors = ruler_id if bridge is None else bridge["anchor_ruler_id"]
    whose = {ruler_id, anchors}
    ended = [
        run["finished_utc"]
        for run in read.runs(store, app, aside=False)
        if run["ruler_id"] in whose
        and run["finished_utc"] is not None
        and run["n_scored_anchor"] + run["n_scored_traffic"] > 0
    ]
    if bridge is not None:
        ended.append(bridge["created_utc"])
    if not ended:
        return row, False
    words = read.accepted_baselines(store, app, anchors)
    ended += [time for word in words for time in (word["accepted_utc"], word["undone_utc"]) if time is not None]
    return row, row is None or row["computed_utc"] < max(ended)
