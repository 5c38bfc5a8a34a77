"""Better or worse: within a stretch of the judge, across its change, and which of several changes is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evaluator.analysis.events import ChangeDays, shift_day
from evaluator.analysis.judge import Regime
from evaluator.analysis.quality import ACROSS, Budget, quality_finding
from evaluator.analysis.series import Series
from evaluator.findings import EventMark, QualityFinding
from evaluator.stats.correction import JudgeMap, NoMap
from tests.analysis.simulate import SCALE, SETTINGS

DAY = "2026-03-01"
EXACT = JudgeMap(
    intercept=0.0, slope=1.0, var_intercept=0.0, covariance=0.0, var_slope=0.0, n_anchors=60, df=58.0, method="affine"
)
UNCERTAIN = replace(EXACT, var_intercept=0.15**2)


def series_of(*stretches: tuple[int, int, float], sd: float = 0.05, seed: int = 1) -> Series:
    """Daily values: (number of the judge's stretch, days, level)."""
    rng = np.random.default_rng(seed)
    values = np.concatenate([rng.normal(level, sd, days) for _, days, level in stretches])
    regime = np.concatenate([np.full(days, number) for number, days, _ in stretches])
    dates = np.array([shift_day(DAY, number) for number in range(len(values))], dtype=np.str_)
    return Series(value=values, n=np.full(len(values), 100), first_day=dates, last_day=dates, regime=regime)


def regimes_at(*days: int, average_map: JudgeMap | NoMap = EXACT) -> list[Regime]:
    """The first stretch of the judge, and one more for each day on which it changed."""
    found = [Regime(slot_utc="", began=None, average_map=EXACT)]
    for day in days:
        when = ChangeDays(day=shift_day(DAY, day), first=shift_day(DAY, day - 1), last=shift_day(DAY, day + 1))
        found.append(Regime(slot_utc=f"{when.day}T06:00:00.000Z", began=when, average_map=average_map))
    return found


def finding_of(series: Series, regimes: list[Regime], **options: Any) -> QualityFinding:
    """The finding with the assistant's share of the budget."""
    defaults: dict[str, Any] = {"events": [], "budget": Budget(weight=0.35)}
    return quality_finding(series, regimes, scale=SCALE, settings=SETTINGS, **(defaults | options))


class TestOneStretch:
    """The judge did not move."""

    def test_a_fall_is_dated_and_measured(self):
        """Since, interval, both levels and both counts."""
        found = finding_of(series_of((0, 40, 3.8), (0, 20, 3.4)), regimes_at())
        assert (found["state"], found["direction"]) == ("changed", "worse")
        assert found["since_day"] == shift_day(DAY, 40)
        assert found["since_first_day"] <= found["since_day"] <= found["since_last_day"] <= found["alarm_day"]
        assert found["low"] < -0.4 < found["high"] < 0
        assert (found["before"], found["after"]) == pytest.approx((3.8, 3.4), abs=0.03)
        assert (found["n_before"], found["n_after"], found["days_before"], found["days_after"]) == (4000, 2000, 40, 20)
        assert found["method"] == "time-uniform 95 % interval"

    def test_without_a_change_the_first_days_are_the_measure(self):
        """Steady; no dates, no direction, no cause."""
        found = finding_of(series_of((0, 80, 3.8)), regimes_at(), events=[EventMark(day=DAY, kind="deploy", text="x")])
        assert (found["state"], found["direction"], found["likely_cause"]) == ("steady", None, None)
        assert (found["since_day"], found["since_first_day"], found["alarm_day"]) == (None, None, None)
        assert (found["days_before"], found["days_after"]) == (20, 60)

    def test_no_value_is_no_data(self):
        """The threshold is known all the same."""
        found = finding_of(series_of((0, 0, 3.8)), regimes_at())
        assert (found["state"], found["estimate"], found["n_before"]) == ("no_data", None, 0)
        assert found["threshold"] == pytest.approx(365 / 0.35)

    def test_a_deploy_in_the_interval_is_the_likely_cause(self):
        """The nearest one; what concerns the judge only is no cause here."""
        events = [
            EventMark(day=shift_day(DAY, 38), kind="deploy", text="release 1"),
            EventMark(day=shift_day(DAY, 40), kind="deploy", text="release 2"),
            EventMark(day=shift_day(DAY, 40), kind="instrument", text="another model answers"),
        ]
        found = finding_of(series_of((0, 40, 3.8), (0, 20, 3.4)), regimes_at(), events=events)
        assert found["likely_cause"] == "release 2, logged on 10 Apr"


class TestAcrossTheJudgesChange:
    """Both sides are compared once, with the error of the anchors."""

    def test_a_fall_on_the_day_of_the_judges_change_is_found_and_has_its_date(self):
        """Both moved at once: within either stretch nothing changes."""
        found = finding_of(series_of((0, 40, 3.8), (1, 30, 3.4)), regimes_at(40))
        assert (found["state"], found["direction"]) == ("changed", "worse")
        assert found["since_first_day"] <= found["since_day"] == shift_day(DAY, 40) <= found["since_last_day"]
        assert (found["method"], found["alarm_day"], found["evidence"]) == (ACROSS, None, None)
        assert found["low"] < -0.4 < found["high"] < 0

    @pytest.mark.parametrize("later", [-1, 0, 4, 6])
    def test_answers_that_fell_on_another_day_than_the_judge_have_their_own_date(self, later):
        """Too near to the judge's day for the watch of either stretch; its size is told from that day on."""
        fell = 40 + later
        levels = [
            (0, min(fell, 40), 3.8),
            (0, max(-later, 0), 3.4),
            (1, max(later, 0), 3.8),
            (1, 14 - max(later, 0), 3.4),
        ]
        series = series_of(*levels)
        found = finding_of(series, regimes_at(40))
        assert (found["state"], found["method"]) == ("changed", ACROSS)
        assert (found["since_day"], found["after_first_day"]) == (shift_day(DAY, fell), shift_day(DAY, fell))
        assert found["before_last_day"] == shift_day(DAY, fell - 1)
        assert found["estimate"] == pytest.approx(series.value[fell:].mean() - series.value[:fell].mean())
        assert (found["days_before"], found["days_after"]) == (fell, 54 - fell)

    @pytest.mark.parametrize(("days_before", "later"), [(40, -1), (40, 4), (12, -1), (12, 8)])
    def test_the_date_and_the_size_hold_in_simulated_histories(self, days_before, later):
        """100 each, with an error of the anchors of 0.05 that is drawn anew: both hold in 95 % of those told or more.

        Three standard errors of 95 % in 100 are 6.5 %.
        """
        rng = np.random.default_rng(7)
        regimes = regimes_at(days_before, average_map=replace(EXACT, var_intercept=0.05**2))
        fell = days_before + later
        told = dated = sized = 0
        for seed in range(100):
            jump = 0.05 * rng.normal()
            series = series_of(
                (0, min(fell, days_before), 3.8),
                (0, max(-later, 0), 3.3),
                (1, max(later, 0), 3.8 + jump),
                (1, 20 - max(later, 0), 3.3 + jump),
                sd=0.1,
                seed=seed,
            )
            found = finding_of(series, regimes)
            if found["method"] != ACROSS or found["state"] != "changed":
                continue
            told += 1
            dated += found["since_first_day"] <= shift_day(DAY, fell) <= found["since_last_day"]
            sized += found["low"] <= -0.5 <= found["high"]
        assert told >= 70
        assert dated / told >= 0.95 - 0.065
        assert sized / told >= 0.95 - 0.065

    def test_with_few_days_before_it_the_date_is_the_judges(self):
        """Nine values are no norm to date a change by."""
        found = finding_of(series_of((0, 9, 3.8), (1, 20, 3.2)), regimes_at(9))
        assert (found["state"], found["since_day"]) == ("changed", shift_day(DAY, 9))
        assert found["since_first_day"] == shift_day(DAY, 8)

    def test_a_jump_that_the_anchors_may_have_made_is_not_blamed_on_the_answers(self):
        """A fall of 0.3 under a map that is uncertain by 0.15, and under one that is not."""
        series = series_of((0, 40, 3.8), (1, 10, 3.5))
        assert finding_of(series, regimes_at(40, average_map=UNCERTAIN))["state"] == "cannot_tell"
        assert finding_of(series, regimes_at(40))["state"] == "changed"

    def test_the_interval_holds_days_anchors_and_the_allowance(self):
        """By the formula, from the same values."""
        series = series_of((0, 40, 3.8), (1, 9, 3.78))
        few_anchors = replace(EXACT, var_intercept=0.04**2, df=9.0)
        found = finding_of(series, regimes_at(40, average_map=few_anchors))
        before, after = series.value[:40], series.value[40:]
        pooled = (((before - before.mean()) ** 2).sum() + ((after - after.mean()) ** 2).sum()) / 47
        se = np.sqrt(pooled * (1 / 40 + 1 / 9) + 0.04**2 + 0.02**2)
        assert found["method"] == ACROSS
        assert found["estimate"] == pytest.approx(after.mean() - before.mean())
        # Student's 97.5 % quantile at the anchors' 9 degrees of freedom, fewer than the days' 47
        assert found["high"] - found["estimate"] == pytest.approx(2.26216 * se, rel=1e-4)

    def test_a_young_stretch_is_told_by_the_comparison_with_the_one_before(self):
        """Six days after the judge's change the day-by-day watch is still learning."""
        found = finding_of(series_of((0, 40, 3.8), (1, 6, 3.8), sd=0.1), regimes_at(40))
        assert found["state"] == "no_change_shown"
        assert (found["method"], found["days_before"], found["days_after"]) == (ACROSS, 40, 6)
        assert found["since_day"] is None

    def test_fewer_than_five_days_are_not_compared(self):
        """Four days on the new side."""
        assert finding_of(series_of((0, 40, 3.8), (1, 4, 3.2)), regimes_at(40))["state"] == "learning"

    def test_a_later_fall_keeps_its_own_date(self):
        """Fifteen days after the judge's change: found by the watch, not across."""
        found = finding_of(series_of((0, 40, 3.8), (1, 15, 3.8), (1, 15, 3.3)), regimes_at(40))
        assert (found["state"], found["since_day"]) == ("changed", shift_day(DAY, 55))
        assert found["alarm_day"] is not None

    def test_an_earlier_fall_is_told_once_and_not_again_across(self):
        """It fell on day 25; before the judge's change of day 50 it had its new level."""
        found = finding_of(series_of((0, 25, 3.8), (0, 25, 3.3), (1, 30, 3.3)), regimes_at(50))
        assert (found["state"], found["since_day"]) == ("changed", shift_day(DAY, 25))
        assert found["method"] != ACROSS

    def test_without_a_map_nothing_is_said_across(self):
        """The anchors of the new stretch carry no correction."""
        regimes = regimes_at(40, average_map=NoMap(n_anchors=3, reason="too few"))
        assert finding_of(series_of((0, 40, 3.8), (1, 8, 3.2)), regimes)["state"] == "learning"

    def test_many_segments_need_a_surer_difference(self):
        """What one look may say, one of two hundred may not."""
        series = series_of((0, 40, 3.8), (1, 30, 3.73))
        regimes = regimes_at(40)
        assert finding_of(series, regimes, budget=Budget(weight=0.15))["state"] == "changed"
        assert finding_of(series, regimes, budget=Budget(weight=0.15, n_looks=200))["state"] != "changed"

    def test_the_newest_change_is_told(self):
        """A fall, mended twenty days later."""
        found = finding_of(series_of((0, 30, 3.8), (0, 20, 3.3), (0, 25, 3.8)), regimes_at())
        assert (found["direction"], found["since_day"]) == ("better", shift_day(DAY, 50))
        assert found["days_before"] == 20
