"""Why no picking score is a reference, by simulation: the judge stands still, and only the picking score denies it."""

from __future__ import annotations

import numpy as np

from evaluator.picking.spread import Placed, choose, level_of, levels_of
from tests.builders import rubric

N_REPEATS, N_CANDIDATES, N_ANCHORS = 200, 300, 100
LEVELS = levels_of(rubric())


def test_picking_score_fakes_drift_and_later_grades_do_not() -> None:
    """Traffic that is mostly good, a choice spread equally over levels, five gradings by a judge that stands still.

    The low levels hold answers that were graded low by chance, so the same answers rise in the second grading. From
    the second on nothing moves.
    """
    random = np.random.default_rng(20261130)
    by_picking, by_second, by_baseline = [], [], []
    for _ in range(N_REPEATS):
        quality = random.normal(4.1, 0.6, N_CANDIDATES)
        grades = np.clip(np.rint(quality + random.normal(0, 0.5, (5, N_CANDIDATES))), 1, 5)
        placed = [
            Placed(item_id=str(place), level=level_of(float(score), LEVELS), stratum="")
            for place, score in enumerate(grades[0])
        ]
        chosen = [int(one.item_id) for one in choose(placed, N_ANCHORS)]
        means = grades[:, chosen].mean(axis=1)
        by_picking.append(means[1] - means[0])
        by_second.append(means[2] - means[1])
        by_baseline.append(means[4] - means[2:4].mean())
    assert 0.07 < np.mean(by_picking) < 0.12  # a tenth of a point out of nothing: as much as is worth an alarm
    assert np.mean(np.array(by_picking) > 0) > 0.85  # in the same direction nearly every time
    for later in (by_second, by_baseline):
        assert abs(np.mean(later)) < 3.3 * np.std(later, ddof=1) / N_REPEATS**0.5
        assert abs(np.mean(later)) < 0.1 * np.mean(by_picking)


def test_choosing_the_lowest_scores_is_worse_still() -> None:
    """Sixty of six hundred by a score with sd 0.35: the size of the effect grows with the selection."""
    random = np.random.default_rng(7)
    shifts = []
    for _ in range(N_REPEATS):
        quality = random.normal(3.8, 0.5, 600)
        first, second = quality + random.normal(0, 0.35, (2, 600))
        lowest = np.argsort(first)[:60]
        shifts.append(float((second - first)[lowest].mean()))
    assert np.mean(shifts) > 0.3
