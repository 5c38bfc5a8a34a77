"""The tables of a fixed day, against scipy: the rest, the first days, ranks, and what cannot be compared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from evaluator.analysis.segment_tables import (
    LEAST_TO_RANK,
    Tables,
    days_of,
    first_rows,
    recent_period,
    segment_tables,
)
from evaluator.findings import SegmentFinding
from evaluator.stats.correction import NoMap
from tests.analysis.simulate import EVERYTHING, SETTINGS, World, prepare, simulate
from tests.analysis.worlds import add_day, analysed
from tests.builders import World as Store
from tests.builders import plus_days

FIRST_DAY = "2026-03-01"
PLANS = {"billing": ("de", "en"), "orders": ("de", "en")}


def tables_of(world: World, seed: int = 1, last_days: int = 14) -> Tables:
    """The tables of a simulated world."""
    judge, traffic = prepare(*simulate(world, np.random.default_rng(seed)), len(world.answers))
    ids = [EVERYTHING + 1 + place for place in range(len(world.answers))]
    return segment_tables(traffic, judge, ids, last_days=last_days, level=SETTINGS["level"])


def history(world: Store, scores: Any, n_days: int = 24) -> dict[str, SegmentFinding]:
    """Findings by segment of a store in which ``scores(day, topic, language)`` were given; the judge never moves."""
    world.add_anchors([1, 2, 3, 4, 5] * 3)
    anchors = {item_id: anchor.expected_score for item_id, anchor in world.anchors}
    for number in range(n_days):
        day = plus_days(FIRST_DAY, number)
        rows = [
            ({"topic": topic, "language": language}, float(score))
            for topic, languages in PLANS.items()
            for language in languages
            for score in scores(number, topic, language)
        ]
        world.run(plus_days(day, 1), anchors=anchors, answers=add_day(world, day, rows))
    found = analysed(world)["segments"]
    return {f"{row['value']} {row['value2']}".strip(): row for row in found}


class TestAgainstScipy:
    """The numbers, from the store on."""

    @pytest.fixture
    def given(self) -> dict[tuple[int, str, str], list[float]]:
        """Scores by day, topic and language; German billing is worse from the twentieth day on."""
        rng = np.random.default_rng(12)
        return {
            (day, topic, language): np.clip(
                rng.integers(2, 6, 4) - (2 if (topic, language) == ("billing", "de") and day >= 20 else 0), 1, 5
            ).tolist()
            for day in range(24)
            for topic, languages in PLANS.items()
            for language in languages
        }

    @pytest.fixture
    def found(self, make_world: Any, given: dict[tuple[int, str, str], list[float]]) -> dict[str, SegmentFinding]:
        """Both keys, and the two crossed."""
        world = make_world(keys=[("topic", ""), ("language", ""), ("topic", "language")])
        return history(world, lambda *place: given[place])

    def test_contrast_and_p_value_are_welchs_for_crossed_keys_too(self, given, found):
        """The last fourteen days of German billing against everything else."""
        last = {place: scores for place, scores in given.items() if place[0] >= 10}
        own = [s for place, scores in last.items() if place[1:] == ("billing", "de") for s in scores]
        rest = [s for place, scores in last.items() if place[1:] != ("billing", "de") for s in scores]
        test = stats.ttest_ind(own, rest, equal_var=False)
        row = found["billing de"]
        assert row["against_rest"] == pytest.approx(np.mean(own) - np.mean(rest))
        assert row["against_rest_p"] == pytest.approx(test.pvalue)

    def test_p_values_are_adjusted_over_all_segments_of_all_keys(self, found):
        """Eight looks: two topics, two languages, four crossed; as statsmodels adjusts them."""
        rows = list(found.values())
        assert len(rows) == 8
        for name in ("against_rest", "recent_change"):
            p_values = [row[f"{name}_p"] for row in rows]
            expected = multipletests(p_values, method="fdr_bh")[1]
            assert [row[f"{name}_p_adjusted"] for row in rows] == pytest.approx(expected.tolist())

    def test_recent_change_is_welchs_between_the_first_days_and_the_last(self, given, found):
        """The first days are those of the twenty baseline runs, which are left out of the last ones."""
        own = {place[0]: scores for place, scores in given.items() if place[1:] == ("billing", "de")}
        first = [s for day, scores in own.items() if day < 20 for s in scores]
        last = [s for day, scores in own.items() if day >= 20 for s in scores]
        test = stats.ttest_ind(last, first, equal_var=False)
        bounds = test.confidence_interval(0.95)
        row = found["billing de"]
        assert row["recent_change"] == pytest.approx(np.mean(last) - np.mean(first), abs=0.02)
        assert row["recent_change_low"] == pytest.approx(bounds.low, abs=0.03)
        assert row["n_first_days"] == len(first)

    def test_the_crossed_segment_is_lowest_and_most_moved(self, found):
        """Not the topic it lies in."""
        assert [name for name, row in found.items() if row["is_lowest"]] == ["billing de"]
        assert [name for name, row in found.items() if row["is_most_moved"]] == ["billing de"]


class TestLittleToGoBy:
    """No spread, few answers, no days."""

    def test_a_segment_whose_answers_all_score_one_stands_out(self, make_world):
        """No spread of its own is not no evidence: it borrows that of the others."""
        found = history(
            make_world(keys=[("topic", "")]),
            lambda day, topic, _: [1, 1] if topic == "billing" else [(day + k) % 4 + 2 for k in range(2)],
        )
        row = found["billing"]
        assert row["mean_low"] is None
        assert row["stands_out"]
        assert row["against_rest_high"] < -1

    def test_a_few_equal_answers_borrow_nothing(self, make_world):
        """Under ten answers that agree say little, whatever thousands of others do."""
        found = history(
            make_world(keys=[("topic", "")]),
            lambda day, topic, _: [1] if topic == "billing" and day > 21 else [3, 4, 5] if topic == "orders" else [],
        )
        row = found["billing"]
        assert row["n"] < LEAST_TO_RANK
        assert (row["against_rest_p"], row["stands_out"]) == (None, False)
        assert row["against_rest"] == pytest.approx(-3.0)

    def test_before_there_are_last_days_there_is_no_recent_change(self):
        """Fifteen days, all of them first days."""
        tables = tables_of(World(n_days=15))
        assert all(row.change is None for row in tables.recent)
        assert tables.most_moved is None
        assert np.isnan(tables.shrunk_change).all()

    def test_a_judge_without_a_map_leaves_no_interval(self):
        """It moved, and the anchors cannot say how: the change since then is not compared."""
        judge, traffic = prepare(*simulate(World(n_days=80, judge_day=50, judge_gain=0.4), np.random.default_rng(2)), 3)
        assert len(judge.regimes) == 2
        no_map = replace(judge.regimes[-1], average_map=NoMap(n_anchors=4, reason="too few"))
        lost = replace(judge, regimes=(*judge.regimes[:-1], no_map))
        tables = segment_tables(traffic, lost, [2, 3, 4], last_days=14, level=0.95)
        assert all(row.change_low is None and row.p_value is None for row in tables.recent)

    def test_periods_are_told_by_their_days(self):
        """The last two of twelve; all were graded by first runs, and no rows have no days."""
        judge, traffic = prepare(*simulate(World(n_days=12), np.random.default_rng(1)), 3)
        recent = recent_period(traffic, 2)
        assert sorted(set(traffic.totals.day[recent].tolist())) == traffic.days[-2:]
        assert (days_of(traffic, recent).first, days_of(traffic, recent).last) == tuple(traffic.days[-2:])
        assert days_of(traffic, np.zeros(len(recent), dtype=np.bool_)).first is None
        assert first_rows(traffic, judge).all()


class TestInvariance:
    """What must not matter."""

    def test_a_constant_added_to_every_score_changes_no_contrast(self):
        """The same luck, with everything a fifth of a point higher."""
        one = tables_of(World(n_days=60, assistant_day=0, assistant_loss=(0.3, 0.0, 0.0)))
        two = tables_of(World(n_days=60, assistant_day=0, assistant_loss=(0.1, -0.2, -0.2)))
        for there, back in zip(one.against_rest, two.against_rest, strict=True):
            assert back.change == pytest.approx(there.change)
            assert back.p_adjusted == pytest.approx(there.p_adjusted)

    def test_the_judges_common_move_ranks_nobody(self):
        """The most moved of ten is the one that fell, whatever the judge did in between."""
        loss = (0.0, 0.0, 0.6, *[0.0] * 7)
        for gain in (0.0, 0.4):
            world = World(
                n_days=90, answers=(60,) * 10, judge_day=45, judge_gain=gain, assistant_day=60, assistant_loss=loss
            )
            assert tables_of(world, seed=3).most_moved == 2
