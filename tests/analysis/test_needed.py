"""How many more days it takes to tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluator.analysis.events import shift_day
from evaluator.analysis.needed import in_days, more_days_within
from evaluator.analysis.series import Series
from evaluator.analysis.watching import Watched, watch
from tests.analysis.test_quality import DAY, finding_of, regimes_at, series_of


def watched(series: Series) -> Watched:
    """What the watch sees of a stretch."""
    return watch(series.value, threshold=365 / 0.35, floor_sd=0.014, level=0.95, tolerance=0.1)


def even(n_days: int, sd: float = 0.13) -> Series:
    """Days whose spread is the same however many there are."""
    plain = series_of((0, n_days, 3.8))
    return replace(plain, value=3.8 + sd * (-1.0) ** np.arange(n_days))


class TestWithin:
    """Inside a stretch of the judge."""

    def test_while_learning_they_are_those_until_there_is_an_interval(self):
        """Ten values to compare with and five to compare."""
        series = series_of((0, 6, 3.8))
        assert more_days_within(series, watched(series), 0.1) == 9

    @pytest.mark.parametrize("n_days", [18, 26, 40])
    def test_with_so_many_more_the_interval_is_about_as_wide_as_wanted(self, n_days):
        """The same days, longer: the half-width is near the tolerance by then, and was not before."""
        short = even(n_days)
        level = watched(short).level
        wanted = 0.75 * (level.high - level.low) / 2
        more = more_days_within(short, watched(short), wanted)
        long = watched(even(n_days + more)).level
        assert more > 0
        # from thirty days on the first twenty stand for "before", which narrows it further
        assert 0.7 * wanted < (long.high - long.low) / 2 < 1.1 * wanted

    def test_an_interval_that_is_narrow_needs_no_more(self):
        """Zero."""
        series = series_of((0, 60, 3.8), sd=0.03)
        assert more_days_within(series, watched(series), 0.1) == 0

    def test_where_the_first_days_alone_are_too_noisy_no_number_will_do(self):
        """Twenty first days with a spread of a point, and a tolerance of a hundredth."""
        series = series_of((0, 60, 3.8), sd=0.5)
        assert more_days_within(series, watched(series), 0.01) is None


class TestRate:
    """Days, not values."""

    def test_thin_days_are_joined_and_take_longer(self):
        """Each value holds three days: four values are twelve days."""
        plain = series_of((0, 10, 3.8))
        first = np.array([shift_day(DAY, 3 * number) for number in range(10)], dtype=np.str_)
        last = np.array([shift_day(DAY, 3 * number + 2) for number in range(10)], dtype=np.str_)
        assert in_days(4, plain) == 4
        assert in_days(4, replace(plain, first_day=first, last_day=last)) == 12

    def test_before_the_first_day_a_value_is_a_day(self):
        """Nothing is known of the rate."""
        assert in_days(4, series_of((0, 0, 3.8))) == 4


class TestFinding:
    """What the finding tells."""

    def test_a_finding_that_shows_nothing_says_how_many_more_days(self):
        """And a change needs none."""
        wide = finding_of(even(32), regimes_at())
        assert wide["state"] == "no_change_shown"
        assert wide["more_days"] > 0
        assert wide["more_anchors"] is None
        changed = finding_of(series_of((0, 40, 3.8), (0, 20, 3.4)), regimes_at())
        assert (changed["more_days"], changed["more_anchors"]) == (None, None)

    def test_a_finding_across_names_the_anchors_it_takes(self):
        """Six days after the judge's change."""
        found = finding_of(series_of((0, 40, 3.8), (1, 6, 3.8), sd=0.3), regimes_at(40))
        assert found["open_days"] == 14
        assert found["more_days"] is None or found["more_days"] > 0
        assert found["more_anchors"] is None

    def test_for_five_days_after_an_alarm_the_judge_may_still_turn_out_to_have_moved(self):
        """Then it stands."""
        days = [finding_of(series_of((0, 40, 3.8), (0, n, 3.2)), regimes_at()) for n in range(2, 12)]
        changed = [day for day in days if day["state"] == "changed"]
        assert [day["open_days"] for day in changed[:7]] == [5, 4, 3, 2, 1, 0, 0]

    def test_no_value_has_no_needs(self):
        """Nothing is known."""
        found = finding_of(series_of((0, 0, 3.8)), regimes_at())
        assert (found["more_days"], found["more_anchors"], found["open_days"]) == (None, None, 0)
