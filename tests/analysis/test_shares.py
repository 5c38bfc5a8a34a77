"""The split of the raw change: it adds up as printed, its periods, its cells and its intervals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.analysis.shares import change_shares, rounded_shares
from evaluator.analysis.totals import COLUMN
from tests.analysis.simulate import SCALE, SETTINGS, World, prepare, simulate

PART = st.floats(-4, 4, allow_nan=False)


def shares_of(world: World, seed: int = 1):
    """Shares of a simulated world."""
    judge, traffic = prepare(*simulate(world, np.random.default_rng(seed)), len(world.answers))
    return change_shares(traffic, judge, scale=SCALE, settings=SETTINGS, last_days=14)


class TestRounding:
    """What is printed adds up."""

    @settings(max_examples=300)
    @given(PART, PART, PART)
    def test_rounded_shares_add_up_to_the_rounded_change(self, judge, assistant, mix):
        """To the cent, and no share is moved by more than a cent."""
        parts = rounded_shares(judge + assistant + mix, judge, assistant, mix)
        cents = [Fraction(f"{part:.2f}") for part in parts]
        assert cents[0] == sum(cents[1:])
        for shown, exact in zip(parts, (judge + assistant + mix, judge, assistant, mix), strict=True):
            assert abs(shown - exact) <= 0.01 + 1e-9

    @pytest.mark.parametrize(
        ("judge", "assistant", "mix", "shown"),
        [
            (0.3045, 0.064, 0.033, (0.40, 0.31, 0.06, 0.03)),
            (0.305, 0.0, 0.0, (0.30, 0.30, 0.0, 0.0)),
            (2.675, 0.0, 0.0, (2.68, 2.68, 0.0, 0.0)),
            (-0.001, 0.001, 0.0, (0.0, 0.0, 0.0, 0.0)),
            (-0.336, -0.336, -0.336, (-1.01, -0.33, -0.34, -0.34)),
        ],
    )
    def test_the_missing_cent_goes_where_rounding_was_furthest_off(self, judge, assistant, mix, shown):
        """Worked examples, ties and halves included."""
        assert rounded_shares(judge + assistant + mix, judge, assistant, mix) == shown


class TestPeriods:
    """What is compared with what."""

    def test_since_the_judges_change_against_the_first_runs(self):
        """The days in between belong to neither side."""
        found = shares_of(World(n_days=80, judge_day=50, judge_gain=0.3))
        # a run grades the answers of the day before
        assert (found["before_first_day"], found["before_last_day"]) == ("2025-12-31", "2026-01-19")
        assert (found["after_first_day"], found["after_last_day"]) == ("2026-02-19", "2026-03-20")
        assert found["judge_low"] < 0.3 < found["judge_high"]
        assert found["assistant_low"] < 0 < found["assistant_high"]

    def test_without_a_change_the_last_days_are_compared(self):
        """Fourteen days, and none of the baseline's."""
        found = shares_of(World(n_days=80))
        assert (found["after_first_day"], found["after_last_day"]) == ("2026-03-07", "2026-03-20")
        assert abs(found["judge"]) < 0.06

    def test_after_two_changes_the_newest_stretch_is_compared(self):
        """The judge moved and moved back: by now it has no share."""
        found = shares_of(World(n_days=90, judge_day=40, judge_until=65, judge_gain=0.3))
        assert found["after_first_day"] == "2026-03-06"
        assert found["judge"] == pytest.approx(0.0, abs=0.04)

    @pytest.mark.parametrize("n_days", [3, 24])
    def test_too_few_days_on_a_side_have_no_shares(self, n_days):
        """Under five: no claim."""
        assert shares_of(World(n_days=n_days)) is None

    def test_a_fault_that_came_later_is_in_the_assistants_share_with_its_days(self):
        """Ten of thirty days at -0.6: a third of it."""
        world = World(n_days=80, judge_day=50, judge_gain=0.3, assistant_day=70, assistant_loss=(0.6, 0.6, 0.6))
        found = shares_of(world)
        assert found["assistant"] == pytest.approx(-0.2, abs=0.06)
        assert found["judge"] == pytest.approx(0.3, abs=0.04)


class TestIntervals:
    """What stands beside each share."""

    def test_shares_cover_the_truth_as_often_as_they_say(self):
        """Sixty worlds in which both moved; 95 % each, by the binomial's lower bound."""
        hits = {"judge": 0, "assistant": 0, "mix": 0}
        truth = {"judge": 0.2, "assistant": -0.25, "mix": 0.0}
        losses = (0.25, 0.25, 0.25)
        world = World(n_days=60, judge_day=35, judge_gain=0.2, assistant_day=35, assistant_loss=losses)
        for seed in range(60):
            found = shares_of(world, seed)
            for name, value in truth.items():
                hits[name] += found[f"{name}_low"] <= value <= found[f"{name}_high"]
        assert min(hits.values()) >= 52, hits

    def test_a_sample_is_not_taken_for_all_of_the_traffic(self):
        """Weights of ten are ten times the traffic and no more answers: the interval of the mix stays."""
        world = World(n_days=60, answers=(60, 40))
        history, rows = simulate(world, np.random.default_rng(4))
        judge, traffic = prepare(history, rows, 2)
        weighted = [row | _weighted(row, 10.0) for row in rows]
        _, heavy = prepare(history, weighted, 2)
        options = {"scale": SCALE, "settings": SETTINGS, "last_days": 14}
        plain, found = change_shares(traffic, judge, **options), change_shares(heavy, judge, **options)
        for name in ("mix_low", "mix_high", "assistant_low", "judge_high", "raw"):
            assert found[name] == pytest.approx(plain[name], abs=1e-9)

    def test_answers_of_one_conversation_are_not_so_many_draws(self):
        """Conversations of four: the interval of the mix is twice as wide, its shares are counted from fewer draws."""
        history, rows = simulate(World(n_days=60, answers=(60, 40)), np.random.default_rng(4))
        judge, traffic = prepare(history, rows, 2)
        fours = [row | {"n_clusters": row["n_clusters"] / 4} for row in rows]
        _, together = prepare(history, fours, 2)
        options = {"scale": SCALE, "settings": SETTINGS, "last_days": 14}
        plain, found = change_shares(traffic, judge, **options), change_shares(together, judge, **options)
        ratio = (found["mix_high"] - found["mix_low"]) / (plain["mix_high"] - plain["mix_low"])
        assert ratio == pytest.approx(2.0, abs=0.1)

    def test_the_error_of_the_anchors_stays_however_many_answers_there_are(self):
        """Thousands of answers a day: judge and assistant keep it, with opposite signs; the mix has none of it."""
        found = shares_of(World(n_days=60, judge_day=35, judge_gain=0.2, answers=(6000, 6000)))
        widths = {name: found[f"{name}_high"] - found[f"{name}_low"] for name in ("judge", "assistant", "mix")}
        assert widths["judge"] == pytest.approx(widths["assistant"], rel=0.1)
        assert widths["assistant"] > 2 * 2 * 0.02
        assert widths["mix"] < 0.02

    def test_a_cell_without_spread_borrows_that_of_the_others(self):
        """All answers of one topic score alike: there is still an interval for the assistant."""
        world = World(n_days=60, answers=(60, 40))
        history, rows = simulate(world, np.random.default_rng(5))
        flat = [row | _flat(row) if row["segment_id"] == 2 else row for row in rows]
        judge, traffic = prepare(history, flat, 2)
        found = change_shares(traffic, judge, scale=SCALE, settings=SETTINGS, last_days=14)
        assert found["assistant_high"] - found["assistant_low"] > 0.05
        assert found["mix_low"] is not None

    def test_the_mood_of_the_runs_is_in_the_judges_share_only(self):
        """A judge whose mood changes by a fifth of a point from run to run."""
        calm, moody = (shares_of(World(n_days=60, run_sd=sd, answers=(600, 600))) for sd in (0.01, 0.2))
        width = {name: [each[f"{name}_high"] - each[f"{name}_low"] for each in (calm, moody)]
                 for name in ("judge", "assistant")}  # fmt: skip
        assert width["judge"][1] > 3 * width["judge"][0]
        assert width["assistant"][1] < 1.2 * width["assistant"][0]

    def test_small_topics_are_pooled(self):
        """One answer a day on either side is under thirty: its topic is part of the rest, and the parts add up."""
        world = World(n_days=60, answers=(60, 40, 1))
        found = shares_of(world)
        judge, traffic = prepare(*simulate(world, np.random.default_rng(1)), 3)
        without = replace(traffic, names={key: name for key, name in traffic.names.items() if key != 4})
        pooled = change_shares(without, judge, scale=SCALE, settings=SETTINGS, last_days=14)
        assert found == pooled
        assert found["mix_key"] == "topic"


class TestVerdict:
    """Whose the change is, and what it takes to tell."""

    @pytest.mark.parametrize(
        ("judge_gain", "loss", "verdict"),
        [(0.0, 0.0, "nothing"), (0.3, 0.0, "judge"), (0.0, 0.3, "assistant"), (0.3, 0.3, "both")],
    )
    def test_names_who_moved(self, judge_gain, loss, verdict):
        """Three hundred answers a day, sixty anchors."""
        world = World(
            n_days=70, answers=(100, 100, 100), judge_day=35, judge_gain=judge_gain, assistant_day=35,
            assistant_loss=(loss,) * 3,
        )  # fmt: skip
        assert shares_of(world)["verdict"] == verdict

    def test_few_answers_are_undecided_and_say_how_many_more_days(self):
        """Ten a day: more days would do, more anchors would not."""
        found = shares_of(World(n_days=60, answers=(5, 5)))
        assert found["verdict"] == "undecided"
        assert found["more_days"] is None or found["more_days"] > 0
        assert found["more_anchors"] is None

    def test_more_days_bring_the_interval_down_to_what_is_wanted(self):
        """The same world, so many days longer."""
        world = World(n_days=48, answers=(40, 40), judge_day=36, judge_gain=0.3, assistant_sd=0.0)
        short = shares_of(world)
        assert short["more_days"] > 0
        long = shares_of(replace(world, n_days=world.n_days + short["more_days"]))
        assert (long["assistant_high"] - long["assistant_low"]) / 2 == pytest.approx(0.1, abs=0.012)
        assert long["more_days"] in (0, 1, 2, 3)


def _weighted(row: dict[str, float], weight: float) -> dict[str, float]:
    powers = {"sum_w": 1, "sum_wy": 1, "sum_w2": 2, "sum_w2y": 2, "sum_w2y2": 2, "sum_t2": 2, "sum_tw": 2, "sum_ww": 2}
    return {name: row[name] * weight**power for name, power in powers.items()}


def _flat(row: dict[str, float]) -> dict[str, float]:
    n = row["n"]
    assert set(COLUMN) <= set(row)
    return {"sum_wy": 3.0 * n, "sum_w2y": 3.0 * n, "sum_tw": 3.0 * n, "sum_w2y2": 9.0 * n, "sum_t2": 9.0 * n}
