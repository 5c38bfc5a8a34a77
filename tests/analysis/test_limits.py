"""Limits that people set: crossed, kept, or the judge's doing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from evaluator.analysis.limit_words import crossed, crossed_clause
from evaluator.analysis.limits import find_segment_id, limit_findings
from evaluator.analysis.quality import Budget, quality_finding
from evaluator.analysis.seasons import without_days
from evaluator.analysis.series import watched_series
from evaluator.analysis.settings import LIMITS_WEIGHT, AnalysisSettings, Limit, settings_from
from evaluator.findings import LimitFinding
from evaluator.records import UnscoredReason
from tests.analysis.simulate import EVERYTHING, SCALE, SETTINGS, World, prepare, shift_day, simulate
from tests.analysis.simulate import FIRST_DAY as SIMULATED_FROM
from tests.analysis.worlds import add_day, analysed
from tests.builders import plus_days

FLOOR = Limit(kind="mean_under", bound=3.3)
LOW = Limit(kind="share_at_or_under", bound=0.1, level=2.0)
UNSCORED = Limit(kind="unscored_share", bound=0.2)
CHANGE = 60


def held(
    *limits: Limit,
    world: World,
    low_share: Sequence[float] = (),
    unscored_share: Sequence[float] = (),
    ignored: Sequence[str] = (),
    seed: int = 1,
) -> list[LimitFinding]:
    """Findings of a simulated world; the shares are by day, the last one of them for all days after."""
    rng = np.random.default_rng(seed)
    history, rows = simulate(world, rng)
    days = sorted({row["day"] for row in rows})
    if unscored_share:
        for row in rows:
            share = unscored_share[min(days.index(row["day"]), len(unscored_share) - 1)]
            row["n_unscored"] = int(rng.binomial(row["n"], share) / (1 - share))
    levels: list[dict[str, Any]] = []
    for number, day in enumerate(days if low_share else []):
        n = sum(world.answers)
        low = int(rng.binomial(n, low_share[min(number, len(low_share) - 1)]))
        levels += [
            {"day": day, "level": 2.0, "n": low, "sum_w": float(low)},
            {"day": day, "level": 4.0, "n": n - low, "sum_w": float(n - low)},
        ]
    judge, everything = prepare(history, rows, len(world.answers))
    traffic = without_days(everything, ignored)
    assistant = quality_finding(
        watched_series(traffic.totals, EVERYTHING),
        judge.regimes,
        scale=SCALE,
        settings=SETTINGS,
        events=[],
        budget=Budget(weight=0.35),
    )
    return limit_findings(
        limits,
        traffic,
        judge,
        assistant,
        scale=SCALE,
        settings=SETTINGS,
        levels_of=lambda _segment_id: levels,
        ignored=ignored,
    )


class TestMean:
    """The corrected mean has to stay above."""

    def test_a_mean_that_falls_under_its_limit_is_told(self):
        """3.5 becomes 3.1: crossed, dated, with its interval on the wrong side."""
        (found,) = held(FLOOR, world=World(assistant_day=CHANGE, assistant_loss=(0.4, 0.4, 0.4)))
        assert found["state"] == "crossed"
        assert found["since_day"] == shift_day(SIMULATED_FROM, CHANGE - 1)
        assert found["low"] < 3.1 < found["high"] < 3.3
        assert found["n"] == 60 * 150
        assert found["sentence"].startswith("The corrected mean of all answers is under the limit 3.30 since 1 Mar: 3.")

    def test_a_mean_above_keeps_it(self):
        """And the sentence says so; a limit right at the level is not sure on which side."""
        inside, close = held(FLOOR, Limit(kind="mean_under", bound=3.5), world=World())
        assert inside["state"] == "inside"
        assert "keeps the limit 3.30" in inside["sentence"]
        assert close["state"] == "cannot_tell"
        assert "not sure on which side" in close["sentence"]

    def test_a_stricter_judge_is_no_broken_promise(self):
        """The raw mean falls by 0.5 with the judge; corrected it stands."""
        (found,) = held(FLOOR, world=World(judge_day=CHANGE, judge_gain=-0.5))
        assert found["state"] != "crossed"
        assert (found["raw_crossed"], found["explained_by_judge"]) == (True, True)
        assert "because the judge became stricter on" in found["sentence"]
        assert "corrected for that it is 3." in found["sentence"]

    def test_a_generous_judge_hides_no_broken_promise(self):
        """Raw scores stand at 3.5 because the judge gives 0.5 more; corrected they are under the limit."""
        loss = (0.5, 0.5, 0.5)
        world = World(judge_day=CHANGE, judge_gain=0.5, assistant_day=CHANGE, assistant_loss=loss)
        (found,) = held(FLOOR, world=world)
        assert (found["state"], found["raw_crossed"]) == ("crossed", False)

    def test_one_segment_has_its_own_limit(self):
        """topic-1 fell, all answers together did not fall as far."""
        world = World(assistant_day=CHANGE, assistant_loss=(0.0, 0.4, 0.0))
        own = Limit(kind="mean_under", bound=3.3, segment="topic=topic-1")
        other = Limit(kind="mean_under", bound=3.3, segment="topic = topic-0")
        everything = Limit(kind="mean_under", bound=3.2)
        states = [found["state"] for found in held(own, other, everything, world=world)]
        assert states == ["crossed", "inside", "inside"]

    def test_a_segment_that_is_not_there_is_said(self):
        """And takes no part."""
        (found,) = held(Limit(kind="mean_under", bound=3.3, segment="topic=moon"), world=World(n_days=30))
        assert (found["state"], found["segment_id"]) == ("no_data", None)
        assert "no answer has been in this segment" in found["sentence"]

    def test_a_limit_off_the_scale_is_said(self):
        """0.8 on a scale from 1 to 5."""
        (found,) = held(Limit(kind="mean_under", bound=0.8), world=World(n_days=30))
        assert "lies outside the scale" in found["sentence"]


class TestShares:
    """Shares that must stay under."""

    def test_more_low_answers_than_allowed_are_told(self):
        """4 % at or under 2, then 17 %."""
        (found,) = held(LOW, world=World(), low_share=[*[0.04] * CHANGE, 0.17])
        assert found["state"] == "crossed"
        assert found["low"] > 0.1
        assert found["low"] < 0.17 < found["high"]
        assert found["sentence"].startswith("The share of answers at 2 or under is over the limit 10 %")

    def test_low_answers_that_came_with_a_stricter_judge_are_put_down_to_it(self):
        """On the same day, and the answers themselves did not get worse."""
        world = World(judge_day=CHANGE, judge_gain=-0.5)
        (found,) = held(LOW, world=world, low_share=[*[0.04] * CHANGE, 0.17])
        assert (found["state"], found["explained_by_judge"]) == ("cannot_tell", True)
        assert "is put down to the judge" in found["sentence"]

    def test_low_answers_before_the_judge_moved_are_not_its_doing(self):
        """Ten days earlier."""
        world = World(judge_day=CHANGE + 10, judge_gain=-0.5)
        (found,) = held(LOW, world=world, low_share=[*[0.04] * CHANGE, 0.17])
        assert (found["state"], found["explained_by_judge"]) == ("crossed", False)

    def test_missing_scores_are_counted_on_days_that_failed_as_a_whole_too(self):
        """From 5 % to 60 %: such a day has no mean, and it is what this limit is for."""
        (found,) = held(UNSCORED, world=World(), unscored_share=[*[0.05] * CHANGE, 0.6])
        assert found["state"] == "crossed"
        assert found["value"] == pytest.approx(0.6, abs=0.05)
        assert found["sentence"].startswith("The share of answers without a score is over")

    def test_days_that_do_not_count_cross_nothing(self):
        """The same outage, said to be a test of the judge's server."""
        days = [shift_day(SIMULATED_FROM, number) for number in range(CHANGE - 1, 120)]
        (found,) = held(UNSCORED, world=World(), unscored_share=[*[0.05] * CHANGE, 0.6], ignored=days)
        assert found["state"] == "inside"
        assert found["last_day"] < days[0]

    def test_thin_days_are_joined(self):
        """Six answers a day: five days make a value."""
        (found,) = held(UNSCORED, world=World(answers=(2, 2, 2), n_days=100), unscored_share=[0.05])
        assert found["days"] == 14
        assert found["n"] >= 14 * 30

    def test_a_share_far_under_its_limit_has_a_narrow_interval(self):
        """5 % where 20 % are allowed: it varies less than at the limit."""
        (found,) = held(UNSCORED, world=World(n_days=100), unscored_share=[0.05])
        assert found["low"] < 0.05 < found["high"]
        assert found["high"] - found["low"] < 0.06


class TestBudget:
    """Few false alarms over all limits together."""

    def test_each_limit_has_an_equal_part(self):
        """Three limits: each a third of the limits' share."""
        found = held(FLOOR, LOW, UNSCORED, world=World(n_days=30), low_share=[0.04])
        assert [row["threshold"] for row in found] == pytest.approx([365.0 / (LIMITS_WEIGHT / 3)] * 3)

    def test_no_limits_are_no_findings(self):
        """The default."""
        assert held(world=World(n_days=12)) == []

    def test_few_days_are_learning(self):
        """Three days."""
        (found,) = held(FLOOR, world=World(n_days=3))
        assert found["state"] in ("no_data", "learning")
        assert "too few days" in found["sentence"]


class TestFindings:
    """As part of an analysis."""

    def test_a_crossed_limit_is_in_headline_looks_and_tone(self, make_world):
        """From the store on: forty days of answers that score 2."""
        world = make_world(keys=[("topic", "")])
        world.add_anchors([1, 2, 3, 4, 5] * 3)
        anchors = {item_id: anchor.expected_score for item_id, anchor in world.anchors}
        for number in range(15):
            day = plus_days("2026-03-01", number)
            scores = [({"topic": "billing"}, 2.0 + (place % 3 == 0)) for place in range(40)]
            world.run(plus_days(day, 1), anchors=anchors, answers=add_day(world, day, scores))
        limits = (FLOOR, LOW, Limit(kind="mean_under", bound=3.0, segment="topic=billing"))
        found = analysed(world, limits=limits)
        share = found["limits"][1]
        assert share["state"] == "crossed"
        assert share["value"] == pytest.approx(26 / 40)
        assert found["tone"] == "look"
        assert share["sentence"] in found["needs_a_look"]
        assert found["needs_a_look"].index(share["sentence"]) < len(crossed(found["limits"]))
        assert found["headline"].endswith(crossed_clause(found["limits"]))
        assert len(found["needs_a_look"]) == len(found["look_segments"])
        assert settings_from(found["settings"]) == AnalysisSettings(limits=limits)

    def test_unscored_answers_reach_the_limit_from_the_store(self, make_world):
        """Half of every day's answers have no score."""
        world = make_world(keys=[])
        for number in range(8):
            day = plus_days("2026-03-01", number)
            scores = [({}, UnscoredReason.TIMEOUT if place % 2 else 4.0) for place in range(40)]
            world.run(plus_days(day, 1), answers=add_day(world, day, scores))
        (found,) = analysed(world, limits=(UNSCORED,))["limits"]
        assert (found["state"], found["value"]) == ("crossed", 0.5)

    def test_settings_of_an_older_analysis_have_no_limits(self):
        """Stored before there were any."""
        used = {"false_alarms_per_year": 2.0, "smallest_change": 0.2, "runs_per_year": 52.0}
        assert settings_from(used) == AnalysisSettings(
            false_alarms_per_year=2.0, smallest_change=0.2, runs_per_year=52.0
        )


@pytest.mark.parametrize(
    ("n_crossed", "clause"),
    [(0, ""), (1, "The corrected mean of all answers is under the limit 3.30."), (2, "2 limits are crossed.")],
)
def test_headline_names_one_and_counts_several(n_crossed, clause):
    """None is no sentence."""
    found = held(*[FLOOR] * 2, world=World(n_days=30))
    for place in range(n_crossed):
        found[place]["state"] = "crossed"
    assert crossed_clause(found) == clause


def test_a_crossed_segment_is_found_in_either_order():
    """As it is written in the configuration."""
    _, traffic = prepare(*simulate(World(n_days=3), np.random.default_rng(1)), 3)
    traffic.names[9] = {"key": "language", "value": "de", "key2": "topic", "value2": "billing"}
    assert find_segment_id(traffic, "topic=billing * language=de") == 9
    assert find_segment_id(traffic, "topic=billing") is None
    assert find_segment_id(traffic, "") == EVERYTHING
