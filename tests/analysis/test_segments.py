"""The breakdown: who is below the rest, who moved, and how the budget is shared."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from scipy import stats

from evaluator.analysis.segment_tables import LEAST_TO_RANK, segment_tables
from evaluator.analysis.segments import mark_suspects, segment_findings, segment_looks
from evaluator.analysis.settings import SEGMENTS_WEIGHT
from evaluator.findings import SegmentFinding
from evaluator.stats.intervals import mean_interval
from tests.analysis.findings import segment
from tests.analysis.simulate import FIRST_DAY as SIMULATED_FROM
from tests.analysis.simulate import SCALE, SETTINGS, World, prepare, shift_day, simulate
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


class TestTables:
    """A fixed day: who is low, who moved, after correcting for so many looks."""

    def test_raw_and_adjusted_p_values_are_kept_with_the_number_looked_at(self):
        """A segment half a point low among forty: sure before and after the correction."""
        world = World(n_days=60, answers=(40,) * 40, assistant_day=0, assistant_loss=(0.5, *[0.0] * 39))
        judge, traffic = prepare(*simulate(world, np.random.default_rng(3)), 40)
        rows = segment_findings(traffic, judge, scale=SCALE, settings=SETTINGS, events=[], last_days=14)
        looks = segment_looks(rows, traffic, judge, last_days=14)
        assert (looks["n_segments"], looks["n_against_rest"], looks["n_recent_change"]) == (40, 40, 40)
        low = next(row for row in rows if row["value"] == "topic-0")
        assert low["against_rest_p"] < low["against_rest_p_adjusted"] <= 40 * low["against_rest_p"]
        assert (looks["lowest"], looks["n_below_the_rest"]) == (low["segment_id"], 1)
        assert looks["last_days_last_day"] == traffic.days[-1]

    def test_the_most_moved_segment_is_found_with_its_own_interval(self):
        """-0.5 in one of ten, thirty days ago: the interval is that of the last days against the first."""
        world = World(n_days=70, answers=(60,) * 10, assistant_day=40, assistant_loss=(0.0, 0.5, *[0.0] * 8))
        found = segments_of(world, seed=4)
        (moved,) = [name for name, row in found.items() if row["is_most_moved"]]
        assert moved == "topic-1"
        row = found[moved]
        assert row["recent_change_low"] < -0.5 < row["recent_change_high"] < 0
        assert row["recent_change_stands_out"]
        assert abs(row["shrunk_change"]) < abs(row["recent_change"])

    def test_three_answers_are_never_the_lowest_nor_the_most_moved(self):
        """A segment with one answer in five days, all of them 1; and it shows its own numbers all the same."""
        history, rows = simulate(World(n_days=60, answers=(40, 40, 40, 1)), np.random.default_rng(5))
        thin = [row for row in rows if row["segment_id"] != 5 or int(row["day"][-2:]) % 7 == 0]
        for row in thin:
            if row["segment_id"] == 5:
                row.update(dict.fromkeys(("sum_wy", "sum_w2y", "sum_tw", "sum_w2y2", "sum_t2"), 1.0))
        judge, traffic = prepare(history, thin, 4)
        rows = segment_findings(traffic, judge, scale=SCALE, settings=SETTINGS, events=[], last_days=14)
        row = next(row for row in rows if row["value"] == "topic-3")
        assert 0 < row["n"] < LEAST_TO_RANK
        assert row["mean"] == 1.0
        assert (row["shrunk_mean"], row["is_lowest"], row["is_most_moved"]) == (None, False, False)

    def test_segments_that_differ_by_chance_have_no_lowest(self):
        """All the same: whoever is lowest today is so by luck, mostly."""
        lowest = 0
        for seed in range(12):
            judge, traffic = prepare(*simulate(World(n_days=40, answers=(30,) * 8), np.random.default_rng(seed)), 8)
            rows = segment_findings(traffic, judge, scale=SCALE, settings=SETTINGS, events=[], last_days=14)
            lowest += segment_looks(rows, traffic, judge, last_days=14)["lowest"] is not None
        assert lowest < 12

    def test_across_a_change_of_the_judge_the_anchors_error_is_in_the_interval(self):
        """The same world with and without: the interval of the last days against the first is wider with it."""
        quiet = segments_of(World(n_days=80), seed=6)["topic-0"]
        moved = segments_of(World(n_days=80, judge_day=50, judge_gain=0.4), seed=6)["topic-0"]
        widths = [row["recent_change_high"] - row["recent_change_low"] for row in (quiet, moved)]
        assert widths[1] > widths[0]
        assert moved["recent_change_low"] < 0 < moved["recent_change_high"]

    def test_before_and_after_have_their_days(self):
        """First and last day of both sides."""
        row = segments_of(World(n_days=60))["topic-0"]
        assert row["before_first_day"] < row["before_last_day"] < row["after_first_day"] < row["after_last_day"]
        assert row["before_first_day"] == shift_day(SIMULATED_FROM, -1)

    def test_weights_are_respected(self, make_world):
        """Ten answers that stand for five each against ten for themselves: the mean leans to the first."""
        world = make_world(keys=[("topic", "")])
        common = add_day(world, FIRST_DAY, [({"topic": "billing"}, 4.0)] * 10)
        rare = add_day(world, "2026-03-02", [({"topic": "billing"}, 2.0)] * 10)
        world.run("2026-03-03", answers=common, share=0.2)
        world.run("2026-03-04", answers=rare, share=1.0)
        (row,) = analysed(world)["segments"]
        assert row["mean"] == pytest.approx((5 * 4 + 2) / 6)


class TestSuspects:
    """Beside an alarm."""

    def test_a_segment_with_half_the_evidence_is_worth_a_look_beside_one_that_changed(self):
        """Two of them need half of the threshold each; one that is steady, or has less, is none."""
        rows = [
            segment(1, "fell", state="changed", evidence=900.0, threshold=800.0),
            segment(2, "close", state="no_change_shown", evidence=410.0, threshold=800.0),
            segment(3, "steady", state="steady", evidence=420.0, threshold=800.0),
            segment(4, "quiet", state="no_change_shown", evidence=3.0, threshold=800.0),
            segment(5, "new", state="learning", evidence=None, threshold=800.0),
        ]
        mark_suspects(rows)
        assert [row["value"] for row in rows if row["suspect"]] == ["close"]

    def test_without_an_alarm_there_are_none(self):
        """Two that are close together raise no suspicion by themselves."""
        rows = [segment(n, str(n), state="cannot_tell", evidence=700.0, threshold=800.0) for n in range(3)]
        mark_suspects(rows)
        assert not any(row["suspect"] for row in rows)


class TestOverAYear:
    """Seeded: named by chance, found, and measured."""

    def test_of_twenty_quiet_segments_few_years_name_any(self):
        """The segments' share is 0.15 a year: 14 % of years at most, and the suspects are none without an alarm."""
        n_years, named = 6, 0
        for seed in range(n_years):
            found = segments_of(World(n_days=375, answers=(30,) * 20), seed=seed)
            named += any(row["state"] == "changed" for row in found.values())
            if not named:
                assert not any(row["suspect"] for row in found.values())
        assert named <= stats.binom.ppf(0.95, n_years, 1 - math.exp(-SEGMENTS_WEIGHT))

    def test_a_fall_in_one_of_fifty_is_found_in_days(self):
        """-0.6 among 60 answers a day: told of that segment, soon, with an interval that holds it."""
        loss = (0.6, *[0.0] * 49)
        found = segments_of(World(n_days=80, answers=(60,) * 50, assistant_day=40, assistant_loss=loss), seed=8)
        (name,) = [name for name, row in found.items() if row["state"] == "changed"]
        row = found[name]
        fell = date.fromisoformat(shift_day(SIMULATED_FROM, 39))
        assert name == "topic-0"
        assert (date.fromisoformat(row["alarm_day"]) - fell).days < 10
        assert row["low"] < -0.6 < row["high"]

    def test_intervals_of_the_tables_cover(self):
        """Nothing changed in forty segments: the interval of the change holds zero for about 95 %."""
        judge, traffic = prepare(*simulate(World(n_days=60, answers=(40,) * 40), np.random.default_rng(9)), 40)
        ids = list(range(2, 42))
        tables = segment_tables(traffic, judge, ids, last_days=14, level=0.95)
        held = sum(row.change_low < 0 < row.change_high for row in tables.recent)
        assert stats.binom.ppf(0.005, 40, 0.95) <= held
        assert not any(row.flagged for row in tables.against_rest if (row.p_adjusted or 1.0) > 0.05)
