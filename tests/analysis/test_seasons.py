"""Weekdays taken out, thin days joined to weeks, and days that do not count."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from evaluator.analysis.mix import mix_effects
from evaluator.analysis.quality import Budget, quality_finding
from evaluator.analysis.seasons import WEEKS_TO_JOIN, find_season, season_sentences, weekday_finding
from evaluator.analysis.series import watched_series
from evaluator.findings import QualityFinding, WeekdayFinding
from evaluator.store import write
from tests.analysis.findings import findings
from tests.analysis.simulate import EVERYTHING, SCALE, SETTINGS, World, prepare, simulate
from tests.analysis.worlds import add_day, analysed, grade_anchors
from tests.builders import noon, plus_days

WEEKEND = -0.5


def watched(world: World, *, weekend: float = 0.0, seed: int = 1) -> tuple[WeekdayFinding, QualityFinding]:
    """What is found of the week, and of the assistant, where answers of Saturdays and Sundays score differently."""
    history, rows = simulate(world, np.random.default_rng(seed))
    for row in rows:
        if date.fromisoformat(row["day"]).weekday() >= 5:
            n, total = row["n"], row["sum_wy"]
            # y + c for every score of the day: sums of squares grow by 2 c sum(y) + n c^2
            for name in ("sum_wy", "sum_w2y", "sum_tw"):
                row[name] += weekend * n
            for name in ("sum_w2y2", "sum_t2"):
                row[name] += 2 * weekend * total + n * weekend**2
    judge, traffic = prepare(history, rows, len(world.answers))
    season = find_season(traffic.totals, EVERYTHING, mix_effects(traffic, judge.baseline_runs))
    series = watched_series(traffic.totals, EVERYTHING, taken_out=season.taken_out, by_week=season.by_week)
    assistant = quality_finding(
        series, judge.regimes, scale=SCALE, settings=SETTINGS, events=[], budget=Budget(weight=0.35)
    )
    return weekday_finding(season, series, scale=SCALE, settings=SETTINGS), assistant


class TestWeekdays:
    """A pattern that repeats is no change."""

    def test_a_weekend_is_taken_out_and_narrows_the_interval(self):
        """Half a point lower at weekends: found, measured, and the assistant's interval as narrow as without."""
        week, assistant = watched(World(n_days=120), weekend=WEEKEND)
        _, plain = watched(World(n_days=120))
        assert (week["state"], week["pooled"]) == ("taken_out", "day")
        assert week["effects"][5] == pytest.approx(WEEKEND * 5 / 7, abs=0.08)
        assert sum(week["effects"]) == pytest.approx(0.0, abs=1e-9)
        assert assistant["high"] - assistant["low"] < 1.3 * (plain["high"] - plain["low"])
        assert "A weekday pattern is taken out" in week["sentence"]

    def test_a_fall_is_found_in_spite_of_weekends(self):
        """-0.3 on top of them, with its day."""
        loss = (0.3, 0.3, 0.3)
        _, assistant = watched(World(n_days=120, assistant_day=60, assistant_loss=loss), weekend=WEEKEND)
        assert assistant["direction"] == "worse"
        assert assistant["low"] < -0.3 < assistant["high"]

    def test_under_four_weeks_the_pattern_is_not_known_yet(self):
        """Twenty days: said, with what is missing; nothing is taken out."""
        week, _ = watched(World(n_days=20), weekend=WEEKEND)
        assert (week["state"], week["effects"]) == ("unknown", None)
        assert week["sentence"] == "Weekday pattern not known yet: 1 more week needed."

    def test_without_a_pattern_nothing_is_taken_out(self):
        """Said with the number of weeks."""
        week, _ = watched(World(n_days=60))
        assert (week["state"], week["effects"]) == ("none", None)
        assert week["p_value"] >= 0.01
        assert "do not differ by more than chance" in week["sentence"]

    def test_taking_a_pattern_out_raises_no_false_alarms(self):
        """Twelve quiet years with weekends: as few alarms as without them."""
        alarms = sum(
            watched(World(n_days=250, answers=(40,)), weekend=WEEKEND, seed=seed)[1]["state"] == "changed"
            for seed in range(12)
        )
        assert alarms <= 6  # P(more | 1 - exp(-0.35 * 250 / 365)) < 0.01


class TestThinDays:
    """Twenty answers a day."""

    def test_weeks_are_joined_once_there_are_enough(self):
        """With the change that can be seen so."""
        week, assistant = watched(World(n_days=7 * WEEKS_TO_JOIN + 40, answers=(7, 7, 6)), weekend=WEEKEND)
        assert (week["pooled"], week["answers_per_day"]) == ("week", 20.0)
        assert week["visible_within_days"] == 56
        assert 0.05 < week["visible_change"] < 1.0
        assert f"a change of {week['visible_change']:.2f} is seen within 56 days" in week["sentence"]
        assert assistant["state"] != "changed"
        assert assistant["n_before"] == assistant["days_before"] * 140

    def test_before_that_days_are_joined_until_thirty(self):
        """Two days make a value."""
        week, assistant = watched(World(n_days=60, answers=(7, 7, 6)))
        assert week["pooled"] == "until 30 answers"
        assert week["state"] == "unknown"
        assert "pooled until 30 have gathered" in week["sentence"]
        assert assistant["n_before"] == assistant["days_before"] * 40

    @pytest.mark.parametrize(
        ("changes", "n"),
        [({"state": "none", "pooled": "day"}, 0), ({"pooled": "week"}, 1), ({"state": "taken_out"}, 1)],
    )
    def test_the_week_is_mentioned_where_it_mattered(self, changes, n):
        """Not on every page."""
        week, _ = watched(World(n_days=40))
        assert len(season_sentences(findings(weekdays={**week, **changes}))) == n

    def test_an_analysis_without_a_week_has_no_sentence(self):
        """One that was stored before."""
        assert season_sentences(findings()) == []


class TestIgnoredDays:
    """Days that someone said do not count."""

    def test_an_ignored_day_is_left_out_of_every_mean_and_drawn_grey(self, make_world):
        """Its own mean stays, with the reason; deploys grey nothing."""
        world = make_world(keys=[("topic", "")])
        world.add_anchors([1, 2, 3, 4, 5] * 3)
        days = grade_anchors(world, 4)
        for day, score in zip(days, (4.0, 4.0, 1.0, 4.0), strict=True):
            world.run(plus_days(day, 30), answers=add_day(world, day, [({"topic": "billing"}, score)] * 5))
        options = {"app": world.app, "by_whom": "ann"}
        write.add_event(world.store, at=noon(days[2]), kind="ignore", text="load test", **options)
        write.add_event(world.store, at=noon(days[1]), kind="deploy", text="2.4", **options)
        found = analysed(world)
        (row,) = found["segments"]
        assert (row["n"], row["mean"]) == (15, 4.0)
        assert [day["ignored"] for day in found["days"]] == ["", "", "load test", ""]
        assert found["days"][2]["mean"] == 1.0
