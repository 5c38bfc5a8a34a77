"""A watched series: changes that last, that are taken back, that are small, and a series that is only quiet."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaluator.analysis.watching import Step, Watched, _worth_telling, reference_end, watch
from evaluator.stats.detector import LevelChange

SD, FLOOR = 0.05, 0.02


def series(rng: np.random.Generator, *levels: tuple[int, float]) -> np.ndarray:
    """Stretches of (length, level) with the same noise."""
    return np.concatenate([rng.normal(level, SD, length) for length, level in levels])


def watched(values: np.ndarray, *, tolerance: float = 0.1) -> Watched:
    """Watch at the budget of a product with one false alarm a year."""
    return watch(values, threshold=1043.0, floor_sd=FLOOR, level=0.95, tolerance=tolerance)


class TestState:
    """What may be said."""

    @pytest.mark.parametrize(
        ("n", "state"), [(0, "learning"), (9, "learning"), (10, "cannot_tell"), (14, "cannot_tell")]
    )
    def test_short_series_say_nothing(self, n, state):
        """Ten values to learn, five more before an interval is worth its name."""
        assert watched(series(np.random.default_rng(1), (n, 3.0))).state == state

    def test_a_quiet_series_is_steady_once_its_interval_is_narrow(self):
        """The whole interval lies inside the tolerance; with a smaller one it is only "no change shown"."""
        values = series(np.random.default_rng(2), (80, 3.0))
        found = watched(values)
        assert found.state == "steady"
        assert found.steps == ()
        assert -0.1 < found.level.low < 0 < found.level.high < 0.1
        assert watched(values, tolerance=0.001).state == "no_change_shown"

    def test_a_shift_that_is_not_sure_enough_for_an_alarm_is_not_told_as_one(self):
        """An interval off zero without an alarm: cannot tell, not changed and not steady."""
        found = watched(series(np.random.default_rng(0), (20, 3.0), (25, 3.045)), tolerance=0.02)
        assert found.steps == ()
        assert found.level.low > 0
        assert found.state == "cannot_tell"

    def test_missing_values_keep_their_place(self):
        """Rows count the series as given."""
        values = series(np.random.default_rng(4), (40, 3.0), (20, 3.5))
        holed = np.insert(values, [5, 20, 40], math.nan)
        plain, found = watched(values), watched(holed)
        assert (found.n, found.steps[0].row) == (60, plain.steps[0].row + 3)
        assert found.level.estimate == pytest.approx(plain.level.estimate)
        assert math.isnan(found.evidence[5])


class TestSeveralChanges:
    """A judge that is rolled back, a fault that is mended."""

    def test_one_change_is_dated_and_measured(self):
        """The level since it less the level before."""
        found = watched(series(np.random.default_rng(5), (40, 3.0), (30, 3.4)))
        (step,) = found.steps
        assert (step.row, found.split, found.start) == (40, 40, 0)
        assert step.first_row <= 40 <= step.last_row < step.alarm_row + 1
        assert found.state == "changed"
        assert found.level.low < 0.4 < found.level.high
        assert found.total == found.level
        assert found.newest_evidence == step.evidence > 1043

    def test_a_change_back_is_a_second_change(self):
        """Its level is measured against the stretch before it, the total against the very first."""
        found = watched(series(np.random.default_rng(6), (40, 3.0), (25, 3.4), (30, 3.0)))
        assert [step.row for step in found.steps] == [40, 65]
        assert (found.start, found.split) == (40, 65)
        assert found.level.low < -0.4 < found.level.high < 0
        assert found.total.low < 0 < found.total.high
        assert found.state == "changed"

    def test_a_change_that_was_soon_taken_back_is_none_any_more(self):
        """Six values up, then down again: there was an alarm, and by now nothing is told."""
        rng = np.random.default_rng(7)
        values = series(rng, (40, 3.0), (6, 3.4), (60, 3.0))
        assert watched(values[:46]).state == "changed"
        found = watched(values)
        assert np.nanmax(found.evidence) > 1043
        assert found.steps == ()
        assert found.state in ("no_change_shown", "steady")

    def test_a_certain_change_too_small_to_matter_is_steady(self):
        """The user said what matters."""
        values = series(np.random.default_rng(8), (120, 3.0), (120, 3.06))
        assert watched(values, tolerance=0.02).state == "changed"
        found = watched(values, tolerance=0.15)
        assert found.steps == ()
        assert found.state == "steady"

    def test_small_steps_in_one_direction_add_up_to_a_change(self):
        """One step of 0.08 does not matter under a tolerance of 0.15; the fourth in a row does."""
        levels = [(80, 3.0 + 0.08 * step) for step in range(5)]
        values = series(np.random.default_rng(9), *levels)
        assert watched(values[:160], tolerance=0.15).state == "steady"
        found = watched(values, tolerance=0.15)
        assert found.state == "changed"
        assert found.total.estimate > 0.15

    def test_a_small_step_between_two_large_ones_is_not_counted(self):
        """Only what matters is a change."""
        found = watched(series(np.random.default_rng(12), (60, 3.0), (100, 3.4), (100, 3.46), (60, 3.9)))
        assert [step.row for step in found.steps] == [60, 260]

    def test_a_change_that_no_longer_stands_alone_is_dropped_with_what_came_after(self):
        """The second alarm is passed over, and by all values the first one did not last either."""
        steps = [Step(row=row, first_row=row, last_row=row, alarm_row=row + 2, evidence=2000.0) for row in (40, 60)]
        lasting = {(0, 40, 60): 0.4, (40, 60, 100): 0.0, (0, 40, 100): 0.0}

        def change(*rows: int) -> LevelChange:
            size = lasting[rows]
            return LevelChange(
                estimate=size, low=size - 0.1, high=size + 0.1, level=0.95, method="", n_before=40, n_after=20
            )

        assert _worth_telling(steps, 100, change, 0.05) == []

    def test_a_small_step_after_a_large_one_does_not_hide_it(self):
        """What is told is the change that matters."""
        found = watched(series(np.random.default_rng(10), (60, 3.0), (100, 3.4), (100, 3.45)))
        assert [step.row for step in found.steps] == [60]
        assert found.level.estimate == pytest.approx(0.425, abs=0.02)


class TestReference:
    """What stands for "before" while nothing changed."""

    @pytest.mark.parametrize(("n", "end"), [(0, 0), (9, 9), (10, 10), (11, 10), (29, 10), (30, 20), (400, 20)])
    def test_is_the_first_ten_values_and_then_the_whole_baseline(self, n, end):
        """Two fixed lengths: a split that slides would void the interval."""
        assert reference_end(np.zeros(n)) == end

    def test_counts_values_that_are_there(self):
        """A hole in the reference moves its end."""
        values = np.zeros(12)
        values[3] = math.nan
        assert reference_end(values) == 11

    def test_an_interval_wider_than_the_scale_is_none(self):
        """Two wild values after a calm reference."""
        values = np.concatenate([np.zeros(10), [2.0, -2.0]])
        found = watched(values)
        assert found.level.estimate is not None
        assert (found.level.low, found.level.high) == (None, None)
