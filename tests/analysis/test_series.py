"""The watched series: days, thin days joined, and what is kept apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluator.analysis.events import shift_day
from evaluator.analysis.mix import mix_effects, mix_key
from evaluator.analysis.series import ENOUGH_ANSWERS, watched_series
from evaluator.analysis.totals import COLUMN, Totals
from evaluator.stats.intervals import SUM_NAMES
from tests.analysis.simulate import EVERYTHING, World, prepare, simulate

SEGMENT = 7


def totals_of(rows: list[tuple[str, str, int, int, float]]) -> Totals:
    """Totals of one segment from (day, run, regime, n, mean) rows that need no correction."""
    sums = np.zeros((len(rows), len(SUM_NAMES)))
    for place, (_, _, _, n, mean) in enumerate(rows):
        sums[place, COLUMN["n"]] = sums[place, COLUMN["sum_w"]] = n
        sums[place, COLUMN["sum_wy"]] = n * mean
    n = np.array([row[3] for row in rows])
    return Totals(
        segment_id=np.full(len(rows), SEGMENT),
        day=np.array([row[0] for row in rows], dtype=np.str_),
        run_id=np.array([row[1] for row in rows], dtype=np.str_),
        regime=np.array([row[2] for row in rows]),
        n=n,
        n_unscored=np.zeros_like(n),
        usable=n > 0,
        raw=sums,
        corrected=sums,
        anchor_se=np.zeros(len(rows)),
        map_df=np.full(len(rows), 50.0),
    )


class TestThinDays:
    """A value is made of thirty answers."""

    def test_a_day_with_enough_answers_is_a_value(self):
        """One value a day, with its mean and count."""
        found = watched_series(totals_of([("2026-03-01", "a", 0, 30, 3.0), ("2026-03-02", "b", 0, 45, 4.0)]), SEGMENT)
        assert found.value.tolist() == [3.0, 4.0]
        assert found.n.tolist() == [30, 45]
        assert found.first_day.tolist() == found.last_day.tolist() == ["2026-03-01", "2026-03-02"]

    def test_thin_days_are_joined_until_there_are_enough(self):
        """Twelve a day: every third day closes a value; the rest waits."""
        rows = [(shift_day("2026-03-01", day), f"run-{day}", 0, 12, 3.0 + day) for day in range(8)]
        found = watched_series(totals_of(rows), SEGMENT)
        assert found.n.tolist() == [36, 36]
        assert found.value.tolist() == [4.0, 7.0]
        assert found.first_day.tolist() == ["2026-03-01", "2026-03-04"]
        assert found.last_day.tolist() == ["2026-03-03", "2026-03-06"]

    def test_the_mean_of_joined_days_weighs_every_answer_once(self):
        """Ten answers at 2 and twenty-five at 4."""
        rows = [("2026-03-01", "a", 0, 10, 2.0), ("2026-03-02", "b", 0, 25, 4.0)]
        assert watched_series(totals_of(rows), SEGMENT).value.tolist() == pytest.approx([(20 + 100) / 35])

    def test_the_leftovers_of_a_day_belong_to_that_day(self):
        """Two answers that the next run graded do not shift the dates of all later values."""
        rows = []
        for day in range(4):
            date = shift_day("2026-03-01", day)
            rows += [(date, f"run-{day}", 0, 38, 3.0), (date, f"run-{day + 1}", 0, 2, 5.0)]
        found = watched_series(totals_of(rows), SEGMENT)
        assert found.n.tolist() == [40] * 4
        assert found.first_day.tolist() == found.last_day.tolist()
        assert found.value.tolist() == pytest.approx([3.1] * 4)

    def test_nothing_is_an_empty_series(self):
        """No segment of that number, and one without usable answers."""
        totals = totals_of([("2026-03-01", "a", 0, 40, 3.0)])
        assert len(watched_series(totals, SEGMENT + 1)) == 0
        assert len(watched_series(replace(totals, usable=np.array([False])), SEGMENT)) == 0
        assert watched_series(totals, SEGMENT + 1).by_regime() == []


class TestRegimes:
    """No value spans a change of the judge."""

    def test_waiting_days_are_dropped_at_the_judges_change(self):
        """Twenty answers before it and twenty after it make no value together."""
        rows = [
            ("2026-03-01", "a", 0, 20, 3.0),
            ("2026-03-02", "b", 1, 20, 4.0),
            ("2026-03-03", "c", 1, 20, 4.0),
        ]
        found = watched_series(totals_of(rows), SEGMENT)
        assert (found.value.tolist(), found.n.tolist(), found.regime.tolist()) == ([4.0], [40], [1])

    def test_a_day_lies_where_most_of_it_was_graded(self):
        """Its leftovers, graded after the judge's change, are left out."""
        rows = [
            ("2026-03-01", "a", 0, 40, 3.0),
            ("2026-03-02", "b", 0, 38, 3.0),
            ("2026-03-02", "c", 1, 2, 5.0),
            ("2026-03-03", "c", 1, 40, 4.0),
        ]
        found = watched_series(totals_of(rows), SEGMENT)
        assert found.value.tolist() == [3.0, 3.0, 4.0]
        assert found.n.tolist() == [40, 38, 40]
        assert [len(part) for part in found.by_regime()] == [2, 1]


class TestMix:
    """What the mix alone does is taken out of the series of all answers."""

    def test_a_changed_mix_moves_the_daily_mean_and_not_the_series(self):
        """Topics at 3.5 and, two points lower, 1.5; from day 30 on the lower one has most of the answers."""
        rng = np.random.default_rng(5)
        world = World(n_days=60, answers=(40, 40), assistant_day=0, assistant_loss=(0.0, 2.0))
        history, rows = simulate(world, rng)
        history, later = simulate(replace(world, answers=(16, 64)), np.random.default_rng(6))
        mixed = rows[: 3 * 30] + later[3 * 30 :]
        judge, traffic = prepare(history, mixed, 2)
        assert mix_key(traffic) == "topic"
        plain = watched_series(traffic.totals, EVERYTHING)
        adjusted = watched_series(traffic.totals, EVERYTHING, taken_out=mix_effects(traffic, judge.baseline_runs))
        assert plain.value[30:].mean() - plain.value[:30].mean() == pytest.approx(-0.6, abs=0.06)
        assert adjusted.value[30:].mean() - adjusted.value[:30].mean() == pytest.approx(0.0, abs=0.06)
        assert adjusted.value[:20].mean() == pytest.approx(plain.value[:20].mean(), abs=1e-9)

    def test_without_a_key_nothing_is_taken_out(self):
        """One topic only says nothing about a mix."""
        judge, traffic = prepare(*simulate(World(n_days=30, answers=(40,)), np.random.default_rng(7)), 1)
        assert mix_key(traffic) is None
        assert not mix_effects(traffic, judge.baseline_runs).any()

    def test_a_new_kind_of_question_is_mix_and_no_change_of_quality(self):
        """A topic that appears on day 30 and scores two points lower."""
        world = World(n_days=60, answers=(60, 30, 30), assistant_day=0, assistant_loss=(0.0, 0.0, 2.0))
        history, rows = simulate(world, np.random.default_rng(8))
        _, without = simulate(replace(world, answers=(60, 30, 0)), np.random.default_rng(9))
        early = [row for row in without[: 4 * 30] if row["n"]]
        judge, traffic = prepare(history, [*early, *rows[4 * 30 :]], 3)
        effects = mix_effects(traffic, judge.baseline_runs)
        adjusted = watched_series(traffic.totals, EVERYTHING, taken_out=effects)
        assert adjusted.value[30:].mean() - adjusted.value[:30].mean() == pytest.approx(0.0, abs=0.08)
        assert effects[traffic.totals.segment_id != EVERYTHING].any() is np.False_


def test_enough_is_what_a_mean_needs():
    """The documented number."""
    assert ENOUGH_ANSWERS == 30
