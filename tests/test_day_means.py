"""Daily means from totals: the numbers of the statistics, and none where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from evaluator.day_means import LEVEL, day_means
from evaluator.stats.intervals import SUM_NAMES

SCALE = (1.0, 5.0)


def totals(day: str, scores: list[float], *, n_unscored: int = 0, segment_id: int | None = 1) -> dict[str, Any]:
    """The stored sums of independent scores of weight 1."""
    n, total, squares = len(scores), sum(scores), sum(score**2 for score in scores)
    sums = {"n": n, "n_clusters": n, "sum_w": n, "sum_w2": n, "sum_ww": n}
    sums |= {"sum_wy": total, "sum_w2y": total, "sum_tw": total, "sum_w2y2": squares, "sum_t2": squares}
    assert set(sums) == set(SUM_NAMES)
    row: dict[str, Any] = {"day": day, "run_id": "r", "n_unscored": n_unscored, **sums}
    return row if segment_id is None else {**row, "segment_id": segment_id}


def test_mean_and_interval_are_students() -> None:
    """With single scores of weight 1 the clustered interval is the ordinary one."""
    scores = [4.0, 4.0, 5.0, 3.0, 4.0, 2.0]
    (row,) = day_means([totals("2026-01-01", scores)], scale=SCALE)
    low, high = stats.t.interval(0.95, len(scores) - 1, loc=np.mean(scores), scale=stats.sem(scores))
    assert (row["mean"], row["low"], row["high"]) == pytest.approx((np.mean(scores), low, high))
    assert (row["n"], row["n_unscored"], row["level"]) == (6, 0, LEVEL)


def test_runs_of_a_day_are_taken_together() -> None:
    """Two runs that graded one day's answers make one mean."""
    together = day_means([totals("2026-01-01", [4.0, 5.0, 3.0, 1.0])], scale=SCALE)
    apart = day_means([totals("2026-01-01", [4.0, 5.0]), totals("2026-01-01", [3.0, 1.0])], scale=SCALE)
    assert apart == together


def test_segments_and_days_stay_apart() -> None:
    """One row each, in the order they came."""
    rows = [totals("2026-01-01", [1.0], segment_id=2), totals("2026-01-02", [2.0]), totals("2026-01-01", [3.0])]
    found = day_means(rows, scale=SCALE)
    assert [(row["segment_id"], row["day"], row["mean"]) for row in found] == [
        (2, "2026-01-01", 1.0),
        (1, "2026-01-02", 2.0),
        (1, "2026-01-01", 3.0),
    ]


def test_totals_of_one_segment_need_not_name_it() -> None:
    """As ``read.day_totals`` returns them."""
    assert day_means([totals("2026-01-01", [1.0], segment_id=None)], scale=SCALE)[0]["segment_id"] is None


@pytest.mark.parametrize(
    ("scores", "n_unscored", "mean", "has_interval"),
    [
        ([5.0], 0, 5.0, False),
        ([4.0, 4.0], 0, 4.0, False),
        ([], 3, None, False),
        ([4.0, 5.0], 3, None, False),
        ([4.0, 5.0], 2, 4.5, True),
    ],
)
def test_no_number_is_better_than_a_false_one(
    scores: list[float], n_unscored: int, mean: float | None, has_interval: bool
) -> None:
    """One score, no spread, no score, mostly unscored: None, not zero and not nan."""
    (row,) = day_means([totals("2026-01-01", scores, n_unscored=n_unscored)], scale=SCALE)
    assert row["mean"] == mean
    assert (row["low"] is not None, row["high"] is not None) == (has_interval, has_interval)


def test_bounds_stay_on_the_scale() -> None:
    """Two scores far apart have an interval wider than the rubric."""
    (row,) = day_means([totals("2026-01-01", [1.0, 5.0])], scale=SCALE)
    assert (row["low"], row["high"]) == SCALE


def test_no_totals_have_no_means() -> None:
    """An empty segment is an empty list."""
    assert day_means([], scale=SCALE) == []
