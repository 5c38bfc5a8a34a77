"""Daily means with intervals from the stored totals, as plain rows; for commands and exports. Raw scores only."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from evaluator.stats.intervals import CLUSTERED, SUM_NAMES, means_from_sums

LEVEL = 0.95
MOSTLY_SCORED = 0.5  # a day with a smaller share of scored answers has no mean: the rest is not a sample of it

Row = dict[str, Any]


def day_means(totals: Iterable[Mapping[str, Any]], *, scale: tuple[float, float]) -> list[Row]:
    """Return the mean of each day and segment, the runs of a day taken together.

    Args:
        totals: Rows of ``read.day_totals`` or ``read.segment_day_totals``.
        scale: Lowest and highest score of the rubric; bounds are clipped to it.

    Returns:
        Rows in the order of the totals: segment_id (None when the totals have none), day, n, n_unscored, n_clusters,
        mean, low, high (None where there is none), level, method.
    """
    added: dict[tuple[Any, str], dict[str, float]] = {}
    for row in totals:
        sums = added.setdefault((row.get("segment_id"), row["day"]), dict.fromkeys((*SUM_NAMES, "n_unscored"), 0.0))
        for name in sums:
            sums[name] += row[name]
    if not added:
        return []
    columns = {name: np.array([sums[name] for sums in added.values()]) for name in SUM_NAMES}
    found = means_from_sums(columns, level=LEVEL, scale=scale)
    return [
        {
            "segment_id": segment_id,
            "day": day,
            "n": int(sums["n"]),
            "n_unscored": int(sums["n_unscored"]),
            "n_clusters": int(sums["n_clusters"]),
            "mean": _shown(float(found["mean"][place]), sums),
            "low": _shown(float(found["drawn_low"][place]), sums),
            "high": _shown(float(found["drawn_high"][place]), sums),
            "level": LEVEL,
            "method": CLUSTERED,
        }
        for place, ((segment_id, day), sums) in enumerate(added.items())
    ]


def _shown(value: float, sums: Mapping[str, float]) -> float | None:
    enough = sums["n"] >= MOSTLY_SCORED * (sums["n"] + sums["n_unscored"])
    return value if enough and not math.isnan(value) else None
