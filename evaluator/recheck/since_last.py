"""The same answers graded twice by the same judge setup, in two rechecks: did the judge move in between?

A recheck compares scores now with stored ones, and a judge that has moved since the newest of those looks like one that
does not reproduce them. An earlier recheck with the same setup can tell the two apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from evaluator.stats.two_runs import compare_two_runs
from evaluator.store import read
from evaluator.store.db import Store

Row = Mapping[str, Any]


def since_last(
    store: Store, *, recheck: Row, rows: Sequence[Row], smallest_change: float, level: float
) -> dict[str, Any] | None:
    """Compare a recheck with the newest finished one before it that used the same judge setup.

    Args:
        store: A store, read-only is enough.
        recheck: The recheck's own row: recheck_id, app, ruler_id, criterion, started_utc.
        rows: Its scores, as of ``read.recheck_scores``.
        smallest_change: The smallest change that matters, in the rubric's units.
        level: Coverage of the interval.

    Returns:
        When the earlier one was, n, both means, the difference with its interval, and what it shows; None without an
        earlier recheck that graded some of the same answers.
    """
    earlier = next((row for row in read.rechecks(store, recheck["app"]) if _is_before(row, recheck)), None)
    if earlier is None:
        return None
    then = {row["item_id"]: row["score"] for row in read.recheck_scores(store, earlier["recheck_id"])}
    both = [row for row in rows if then.get(row["item_id"]) is not None and row["score"] is not None]
    if not both:
        return None
    found = compare_two_runs(
        [float(then[row["item_id"]]) for row in both],
        [float(row["score"]) for row in both],
        smallest_change=smallest_change,
        clusters=[row["cluster_id"] for row in both],
        level=level,
    )
    numbers = {"then": found.mean_before, "now": found.mean_after, "value": found.estimate}
    return {
        "recheck_id": earlier["recheck_id"],
        "finished_utc": earlier["finished_utc"],
        "n": found.n,
        **{name: None if value is None or math.isnan(value) else value for name, value in numbers.items()},
        "low": found.low,
        "high": found.high,
        "method": found.method,
        "finding": found.finding.value,
    }


def _is_before(row: Row, recheck: Row) -> bool:
    same = ("ruler_id", "criterion")
    return (
        row["finished_utc"] is not None
        and row["recheck_id"] != recheck["recheck_id"]
        and row["started_utc"] < recheck["started_utc"]
        and all(row[name] == recheck[name] for name in same)
    )
