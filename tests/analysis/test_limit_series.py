"""The series that limits are held against: which days count, how thin ones are joined, and what the anchors add."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluator.analysis.limit_series import Daily, daily_series, equivalent
from evaluator.analysis.seasons import without_days
from evaluator.analysis.series import ENOUGH_ANSWERS
from evaluator.analysis.settings import Limit
from evaluator.analysis.units import Scale
from tests.analysis.simulate import EVERYTHING, SCALE, World, prepare, simulate

LOW = Limit(kind="share_at_or_under", bound=0.1, level=2.0)
UNSCORED = Limit(kind="unscored_share", bound=0.2)
FLOOR = Limit(kind="mean_under", bound=3.3)


def series(limit: Limit, world: World, *, levels=(), ignored=(), unscored=None) -> Daily:
    """The series of a limit over all answers of a simulated world."""
    history, rows = simulate(world, np.random.default_rng(1))
    for row in rows:
        row["n_unscored"] = 0 if unscored is None else unscored(row["day"])
    judge, traffic = prepare(history, rows, len(world.answers))
    kept = without_days(traffic, ignored)
    return daily_series(limit, EVERYTHING, kept, judge, SCALE, lambda _segment_id: levels, ignored, 0.95)


def levels_of(day: str, low: float, high: float, n: int = 20) -> list[dict]:
    """Weights of low and of other scores of a day."""
    return [
        {"day": day, "level": 2.0, "n": n, "sum_w": low},
        {"day": day, "level": 2.5, "n": n, "sum_w": high / 2},
        {"day": day, "level": 5.0, "n": n, "sum_w": high / 2},
    ]


class TestLowScores:
    """A share of weights."""

    def test_the_share_is_that_of_weights_at_or_under_the_level(self):
        """2.0 is at the level, 2.5 is not; a sampled answer counts for those it stands for."""
        found = series(LOW, World(n_days=3), levels=levels_of("2025-12-31", 3.0, 7.0))
        assert found.value.tolist() == pytest.approx([0.3])
        assert (found.n.tolist(), found.first_day.tolist()) == ([60], ["2025-12-31"])
        assert (found.side, found.bound) == ("over", 0.1)

    def test_days_without_a_mean_and_days_that_do_not_count_are_left_out(self):
        """A day that no run graded, and one that someone took out."""
        levels = [row for day in ("2025-12-31", "2026-01-01", "2027-01-01") for row in levels_of(day, 1.0, 9.0)]
        found = series(LOW, World(n_days=3), levels=levels, ignored=["2025-12-31"])
        assert found.first_day.tolist() == ["2026-01-01"]

    def test_thin_days_are_joined_by_weight_and_a_rest_waits(self):
        """Six answers a day: five days make one share."""
        days = [f"2026-01-{number:02d}" for number in range(1, 13)]
        levels = [row for number, day in enumerate(days) for row in levels_of(day, number % 2, 3.0, n=2)]
        found = series(LOW, World(n_days=14), levels=levels)
        assert found.n.tolist() == [ENOUGH_ANSWERS, ENOUGH_ANSWERS]
        assert found.value.tolist() == pytest.approx([2 / 17, 3 / 18])
        assert found.last_day.tolist() == ["2026-01-05", "2026-01-10"]

    def test_no_scores_are_no_series(self):
        """Before the first graded day."""
        found = series(LOW, World(n_days=3))
        assert len(found.value) == len(found.first_day) == 0
        assert found.floor_sd > 0

    def test_the_floor_is_what_chance_leaves_at_the_limit_and_where_the_share_is(self):
        """Independent answers, sixty a day."""
        levels = [row for number in range(1, 9) for row in levels_of(f"2026-01-0{number}", 0.0, 10.0)]
        found = series(LOW, World(n_days=12), levels=levels)
        assert found.floor_sd == pytest.approx((0.1 * 0.9 / 60) ** 0.5)
        assert 0 < found.own_floor_sd < found.floor_sd


class TestMissingScores:
    """A share of verdicts."""

    def test_missing_scores_are_counted_over_all_verdicts(self):
        """50 of 200."""
        found = series(UNSCORED, World(n_days=4), unscored=lambda _day: 50)
        assert found.value.tolist() == pytest.approx([0.25] * 4)
        assert found.n.tolist() == [200] * 4

    def test_a_day_that_is_mostly_unscored_counts(self):
        """It has no mean; that is the point of the limit."""
        found = series(UNSCORED, World(n_days=4), unscored=lambda day: 600 if day == "2026-01-01" else 0)
        assert found.value.tolist() == pytest.approx([0.0, 0.8, 0.0, 0.0])

    def test_a_day_that_does_not_count_is_left_out(self):
        """Whatever happened on it."""
        found = series(
            UNSCORED, World(n_days=4), unscored=lambda day: 600 if day == "2026-01-01" else 0, ignored=["2026-01-01"]
        )
        assert found.value.tolist() == [0.0, 0.0, 0.0]


class TestMeans:
    """Corrected daily means."""

    def test_the_limit_is_brought_to_the_scale_of_the_statistics(self):
        """0.75 on a scale from 0 to 1 is 4 of 1..5."""
        assert equivalent(0.75, Scale(low=0.0, high=1.0)) == pytest.approx(4.0)
        assert equivalent(3.3, SCALE) == pytest.approx(3.3)

    def test_means_are_corrected_for_the_judge(self):
        """Half a point stricter from the fortieth run on: the series stands."""
        found = series(FLOOR, World(n_days=80, judge_day=40, judge_gain=-0.5))
        assert found.side == "under"
        assert abs(found.value[45:].mean() - found.value[:35].mean()) < 0.1

    def test_the_anchors_error_is_in_the_level_after_the_judge_moved_only(self):
        """In its first stretch the judge is the norm."""
        assert series(FLOOR, World(n_days=60)).anchor_error == 0.0
        assert 0.01 < series(FLOOR, World(n_days=80, judge_day=40, judge_gain=-0.5)).anchor_error < 0.2

    def test_no_answers_are_no_series(self):
        """A segment that nobody asked about."""
        history, rows = simulate(World(n_days=12), np.random.default_rng(1))
        judge, traffic = prepare(history, rows, 3)
        nobody = replace(traffic, names={**traffic.names, 99: {"key": "topic", "value": "moon"}})
        found = daily_series(FLOOR, 99, nobody, judge, SCALE, lambda _segment_id: [], [], 0.95)
        assert len(found.value) == 0
        assert found.anchor_error == 0.0
