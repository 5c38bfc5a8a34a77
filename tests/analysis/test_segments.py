"""The breakdown: who is below the rest, who moved, and how the budget is shared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluator.analysis.segments import SEGMENTS_WEIGHT, segment_findings
from evaluator.findings import SegmentFinding
from evaluator.stats.intervals import mean_interval
from tests.analysis.simulate import SCALE, SETTINGS, World, prepare, simulate
from tests.analysis.worlds import FIRST_DAY, add_day, analysed


def segments_of(world: World, seed: int = 1) -> dict[str, SegmentFinding]:
    """Findings by segment of a simulated world."""
    judge, traffic = prepare(*simulate(world, np.random.default_rng(seed)), len(world.answers))
    found = segment_findings(traffic, judge, scale=SCALE, settings=SETTINGS, events=[], last_days=14)
    return {row["value"]: row for row in found}


class TestAgainstTheRest:
    """The recent level, corrected for the number of looks."""

    def test_a_low_segment_stands_out_and_the_others_do_not(self):
        """Half a point under the rest from the beginning: low, and not changed."""
        found = segments_of(World(n_days=60, assistant_day=0, assistant_loss=(0.5, 0.0, 0.0)))
        assert [name for name, row in found.items() if row["stands_out"]] == ["topic-0"]
        low = found["topic-0"]
        assert low["against_rest_low"] < -0.5 < low["against_rest_high"] < 0
        assert low["state"] != "changed"
        assert next(iter(found)) == "topic-0", "the lowest comes first"

    def test_a_high_segment_does_not_stand_out(self):
        """Needs no look."""
        found = segments_of(World(n_days=60, assistant_day=0, assistant_loss=(-0.6, 0.0, 0.0)))
        assert found["topic-0"]["against_rest"] > 0.4
        assert not found["topic-0"]["stands_out"]

    def test_the_contrast_is_welchs(self, make_world):
        """Two topics of one day, by hand: means, difference, and the mean's own interval."""
        world = make_world(keys=[("topic", "")])
        scores = {"billing": [2, 3, 2, 4, 3, 2], "orders": [4, 5, 4, 5, 4, 3, 5]}
        rows = [({"topic": topic}, float(score)) for topic, values in scores.items() for score in values]
        world.run("2026-03-02", answers=add_day(world, FIRST_DAY, rows))
        found = {row["value"]: row for row in analysed(world)["segments"]}
        billing = found["billing"]
        own = mean_interval([float(score) for score in scores["billing"]])
        assert (billing["n"], billing["mean"]) == (6, pytest.approx(8 / 3))
        assert (billing["mean_low"], billing["mean_high"]) == pytest.approx((own.interval.low, own.interval.high))
        # variances 2/3 and 4/7, n 6 and 7: se 0.43916, df 10.405, t 2.21637
        assert billing["against_rest"] == pytest.approx(8 / 3 - 30 / 7)
        assert billing["against_rest_high"] - billing["against_rest"] == pytest.approx(2.21637 * 0.43916, rel=1e-3)
        assert billing["stands_out"]
        assert found["orders"]["against_rest"] == pytest.approx(-billing["against_rest"])

    def test_only_the_last_days_count(self, make_world):
        """A bad day three weeks ago is not the recent level."""
        world = make_world(keys=[("topic", "")])
        old = add_day(world, "2026-03-01", [({"topic": "billing"}, 1.0)] * 5)
        new = add_day(world, "2026-03-22", [({"topic": "billing"}, 4.0)] * 3)
        world.run("2026-03-23", answers=old | new)
        (row,) = analysed(world)["segments"]
        assert (row["n"], row["mean"]) == (3, 4.0)

    def test_dropped_keys_are_not_shown(self, make_world):
        """The breakdown that is configured now."""
        world = make_world(keys=[("topic", "")])
        rows = [({"topic": "billing", "language": "de"}, 3.0)] * 3
        world.run("2026-03-02", answers=add_day(world, FIRST_DAY, rows))
        world.keys = [("language", "")]
        world.run("2026-03-04", answers=add_day(world, "2026-03-03", rows))
        assert {row["key"] for row in analysed(world)["segments"]} == {"language"}


class TestWatching:
    """Each segment has its share of the budget."""

    def test_a_fall_in_one_segment_is_told_of_that_one_only(self):
        """Dated and measured; the judge's own move is taken out."""
        world = World(n_days=90, judge_day=40, judge_gain=0.3, assistant_day=70, assistant_loss=(0.0, 0.7, 0.0))
        found = segments_of(world)
        changed = [name for name, row in found.items() if row["state"] == "changed"]
        assert changed == ["topic-1"]
        # the first worse answers are those of the day before the run
        assert found["topic-1"]["since_first_day"] <= "2026-03-11" <= found["topic-1"]["since_last_day"]
        assert found["topic-1"]["low"] < -0.7 < found["topic-1"]["high"]

    def test_segments_too_thin_to_alarm_take_nothing_from_the_others(self):
        """Two of three can be watched: each has half of the segments' share."""
        found = segments_of(World(n_days=60, answers=(50, 50, 2)))
        assert found["topic-0"]["threshold"] == pytest.approx(365 / (SEGMENTS_WEIGHT / 2))
        assert found["topic-2"]["state"] == "learning"

    def test_a_segment_without_answers_in_the_period_has_no_mean(self):
        """It comes last, and is there."""
        world = World(n_days=60, answers=(50, 50))
        history, rows = simulate(world, np.random.default_rng(2))
        kept = [row for row in rows if row["segment_id"] != 3 or row["day"] < "2026-01-20"]
        judge, traffic = prepare(history, kept, 2)
        found = segment_findings(traffic, judge, scale=SCALE, settings=SETTINGS, events=[], last_days=14)
        last = found[-1]
        assert (last["value"], last["n"], last["mean"], last["against_rest"]) == ("topic-1", 0, None, None)
        assert not last["stands_out"]

    def test_nothing_to_break_down_is_an_empty_list(self):
        """No keys."""
        judge, traffic = prepare(*simulate(World(n_days=12), np.random.default_rng(1)), 3)
        options = {"scale": SCALE, "settings": SETTINGS, "events": [], "last_days": 14}
        assert segment_findings(replace(traffic, keys=()), judge, **options) == []
