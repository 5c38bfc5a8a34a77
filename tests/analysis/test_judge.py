"""The judge as the rest of the analysis sees it: its stretches, their maps, and what a change is told with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluator.analysis.comparison import MOST_MOVED, compare_runs
from evaluator.analysis.judge import Judge, find_judge
from evaluator.findings import EventMark
from evaluator.stats.correction import JudgeMap
from tests.analysis.simulate import FIRST_DAY, SCALE, SETTINGS, World, shift_day, simulate


def judge_of(world: World, seed: int = 1, events: list[EventMark] | None = None) -> Judge:
    """The judge of a simulated world."""
    history, _ = simulate(world, np.random.default_rng(seed))
    return find_judge(history, scale=SCALE, settings=SETTINGS, events=events or [])


class TestRegimes:
    """The stretches between its changes."""

    def test_a_quiet_judge_has_one(self):
        """Which has no beginning and whose map hardly changes a score."""
        judge = judge_of(World(n_days=60))
        (regime,) = judge.regimes
        assert (regime.slot_utc, regime.began) == ("", None)
        assert isinstance(regime.average_map, JudgeMap)
        assert regime.average_map.intercept + 3 * regime.average_map.slope == pytest.approx(3.0, abs=0.03)
        assert {judge.regime_at(slot) for slot in judge.history.slots} == {0}
        assert len(judge.baseline_runs) == 20

    def test_instants_lie_in_the_stretch_that_began_last(self):
        """The run of the change is the first of the new stretch; a run without anchors lies where its slot does."""
        judge = judge_of(World(n_days=80, judge_day=40, judge_gain=0.3))
        slots = judge.history.slots
        assert [judge.regime_at(slot) for slot in (slots[0], slots[39], slots[40], slots[79])] == [0, 0, 1, 1]
        assert judge.regime_at(f"{shift_day(FIRST_DAY, 39)}T18:00:00.000Z") == 0
        assert judge.regimes[1].began.day == shift_day(FIRST_DAY, 40)

    def test_slopes_are_not_averaged_across_a_change(self):
        """The first run of a judge that squeezes the scale has its own slope at once."""
        judge = judge_of(World(n_days=80, judge_day=40, judge_gain=0.3, judge_slope=0.7))
        slopes = [judge.maps[run_id].slope for run_id in judge.history.run_ids[38:43]]
        assert slopes[:2] == pytest.approx([1.0, 1.0], abs=0.05)
        assert slopes[2:] == pytest.approx([0.7] * 3, abs=0.05)


class TestChange:
    """What a change is told with."""

    def test_the_anchors_that_moved_most_are_named(self):
        """Before and after, in the rubric's units, the largest move first."""
        finding = judge_of(World(n_days=80, judge_day=40, judge_gain=0.2, judge_slope=0.6)).finding
        moves = [abs(anchor["after"] - anchor["before"]) for anchor in finding["moved"]]
        assert len(moves) == MOST_MOVED
        assert moves == sorted(moves, reverse=True)
        # the lowest anchors: 1 becomes 3.2 - 0.6 * 2
        assert finding["moved"][0]["before"] == pytest.approx(1.0, abs=0.15)
        assert finding["moved"][0]["after"] == pytest.approx(2.0, abs=0.15)
        assert (finding["moved"][0]["n_before"], finding["moved"][0]["n_after"]) == (40, 40)

    def test_a_judge_that_moved_back_knows_its_earlier_change(self):
        """The estimate is the last step, and beside it stands what it gives against its first runs."""
        finding = judge_of(World(n_days=100, judge_day=40, judge_until=70, judge_gain=0.3)).finding
        assert finding["direction"] == "stricter"
        assert finding["earlier_days"] == [shift_day(FIRST_DAY, 40)]
        assert finding["since_day"] == shift_day(FIRST_DAY, 70)
        assert finding["estimate"] == pytest.approx(-0.3, abs=0.05)
        assert finding["against_first_runs_low"] < 0 < finding["against_first_runs_high"]
        assert finding["n_runs_after"] == 30

    def test_the_event_in_the_interval_is_the_likely_cause(self):
        """What answered changed on that day; the assistant's release is no cause."""
        day = shift_day(FIRST_DAY, 40)
        events = [
            EventMark(day=day, kind="deploy", text="release"),
            EventMark(day=day, kind="instrument", text="model"),
        ]
        finding = judge_of(World(n_days=80, judge_day=40, judge_gain=0.3), events=events).finding
        assert finding["likely_cause"] == "model, logged on 10 Feb"
        quiet = judge_of(World(n_days=80), events=events).finding
        assert quiet["likely_cause"] is None

    def test_one_anchor_that_flips_is_no_drift_of_a_judge_that_repeats_exactly(self):
        """No spread was seen, which is not no spread: the least one is that of as many anchors as are compared."""
        history, _ = simulate(World(n_days=26, n_anchors=50), np.random.default_rng(1))
        scores = np.full((26, 50), 3.0)
        scores[23:, 0] = 4.0
        exact = replace(history, scores=scores)
        compared = compare_runs(exact, threshold=1043.0, level=0.95, tolerance=0.001)
        assert compared.floor_sd == pytest.approx(0.02)
        # the judge did not move; the one anchor is named, and left out from then on
        assert compared.watched.steps == ()
        assert [(each.column, each.row) for each in compared.watched.broken] == [(0, 23)]
        assert compared.shifts.shift[23:] == pytest.approx([0.0] * 3)
