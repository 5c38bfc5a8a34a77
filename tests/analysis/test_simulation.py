"""Seeded worlds at product level: quiet years within the promise, and each change blamed on who made it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from scipy import stats

from tests.analysis.simulate import FIRST_DAY, Seen, World, see, shift_day

CHANGE = 60
ALL = (0.3, 0.3, 0.3)


def worlds(world: World, n: int, seed: int) -> Iterator[Seen]:
    """The same world, again and again, each with its own luck."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        yield see(world, rng)


def changed(seen: Seen) -> list[str]:
    """Names of the segments that changed."""
    return [row["value"] for row in seen.segments if row["state"] == "changed"]


class TestQuiet:
    """Nothing changes."""

    def test_false_alarms_stay_within_the_promise(self):
        """Forty years: of one alarm a year the judge and the assistant may use .35 each, the segments .15 together.

        A year holds an alarm with probability 1 - exp(-share) at most; the counts may not exceed that by chance.
        """
        n_years = 40
        alarms = {"judge": 0, "assistant": 0, "segments": 0}
        for seen in worlds(World(n_days=375), n_years, seed=11):
            alarms["judge"] += seen.judge["state"] == "changed"
            alarms["assistant"] += seen.assistant["state"] == "changed"
            alarms["segments"] += bool(changed(seen))
        for name, share in (("judge", 0.35), ("assistant", 0.35), ("segments", 0.15)):
            assert alarms[name] <= stats.binom.ppf(0.95, n_years, 1 - math.exp(-share)), (name, alarms)

    def test_a_quiet_year_ends_with_a_steady_judge_and_assistant(self):
        """And not with "cannot tell": the intervals are narrow enough for the default tolerance."""
        for seen in worlds(World(n_days=200), 6, seed=12):
            assert seen.judge["state"] == "steady"
            assert seen.assistant["state"] in ("steady", "no_change_shown")


class TestOneMoved:
    """Only one of them changes, and the other is not blamed."""

    def test_a_generous_judge_is_not_the_assistants_merit(self):
        """+0.3 on everything: found at once in every world, and no change is told of the answers."""
        n = 30
        blamed = 0
        for seen in worlds(World(judge_day=CHANGE, judge_gain=0.3), n, seed=13):
            assert seen.judge["direction"] == "more generous"
            assert seen.judge["since_first_day"] <= shift_day(FIRST_DAY, CHANGE) <= seen.judge["since_last_day"]
            assert seen.judge["low"] < seen.judge["estimate"] < seen.judge["high"]
            blamed += seen.assistant["state"] == "changed" or bool(changed(seen))
        assert blamed <= stats.binom.ppf(0.99, n, 0.05)

    def test_a_judge_that_squeezes_the_scale_is_not_the_assistants_fault(self):
        """Good answers get less, bad ones more: the map is a straight line, not a shift."""
        n = 20
        blamed = 0
        for seen in worlds(World(judge_day=CHANGE, judge_gain=0.15, judge_slope=0.8), n, seed=14):
            blamed += seen.assistant["state"] == "changed" or bool(changed(seen))
        assert blamed <= stats.binom.ppf(0.99, n, 0.05)

    def test_a_worse_segment_is_not_the_judges_doing(self):
        """-0.6 in one topic: told of that topic and of no other, with its date; the judge did not move."""
        first = shift_day(FIRST_DAY, CHANGE - 1)
        for seen in worlds(World(assistant_day=CHANGE, assistant_loss=(0.6, 0.0, 0.0)), 20, seed=15):
            assert seen.judge["state"] != "changed"
            assert changed(seen) == ["topic-0"]
            (row,) = [row for row in seen.segments if row["value"] == "topic-0"]
            assert row["direction"] == "worse"
            assert row["since_first_day"] <= first <= row["since_last_day"]

    def test_a_worse_assistant_is_not_the_judges_doing(self):
        """-0.3 in every topic."""
        for seen in worlds(World(assistant_day=CHANGE, assistant_loss=ALL), 20, seed=16):
            assert seen.judge["state"] != "changed"
            assert seen.assistant["direction"] == "worse"
            assert seen.assistant["low"] < -0.15


class TestBothMoved:
    """Two changes, told apart."""

    def test_both_at_once_are_both_told_though_the_raw_mean_stands_still(self):
        """Judge +0.3 and answers -0.3 on the same day: the raw line shows nothing at all."""
        n = 25
        both = 0
        for seen in worlds(World(judge_day=CHANGE, judge_gain=0.3, assistant_day=CHANGE, assistant_loss=ALL), n, 17):
            assert seen.shares is not None
            assert abs(seen.shares["raw"]) < 0.15
            assert seen.shares["judge"] > 0.2
            assert seen.shares["assistant"] < -0.2
            both += seen.judge["direction"] == "more generous" and seen.assistant["direction"] == "worse"
        assert both >= stats.binom.ppf(0.01, n, 0.95)

    def test_a_segment_that_fell_twenty_days_later_has_its_own_date(self):
        """The story of the demo."""
        n, told = 20, 0
        fell = shift_day(FIRST_DAY, CHANGE + 19)
        world = World(judge_day=CHANGE, judge_gain=0.3, assistant_day=CHANGE + 20, assistant_loss=(0.8, 0.0, 0.0))
        for seen in worlds(world, n, seed=18):
            rows = {row["value"]: row for row in seen.segments}
            row = rows["topic-0"]
            assert changed(seen) in ([], ["topic-0"])
            if row["state"] == "changed":
                told += 1
                assert row["since_first_day"] <= fell <= row["since_last_day"]
                assert row["low"] < -0.8 + 0.15
        assert told >= n - 1


class TestTakenBack:
    """What was changed is changed back."""

    @pytest.mark.parametrize("days", [25, 6])
    def test_a_judge_that_is_rolled_back_is_not_called_generous_any_more(self, days):
        """After 25 days: it became stricter, back to where it was. After 6: nothing is left to tell."""
        for seen in worlds(World(judge_day=CHANGE, judge_until=CHANGE + days, judge_gain=0.3), 8, seed=19):
            assert seen.judge["direction"] == ("stricter" if days == 25 else None)
            assert abs(seen.judge["against_first_runs"]) < 0.1
            assert seen.assistant["state"] != "changed"
