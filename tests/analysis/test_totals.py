"""Sums to means: scale, weights, conversations, the judge's part taken out, and the error of the anchors."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.analysis.daily import reasons_text
from evaluator.analysis.totals import COLUMN, corrected_mean, raw_mean, transform_sums
from evaluator.records import UnscoredReason
from evaluator.stats.correction import JudgeMap, correct_means
from evaluator.stats.intervals import SUM_NAMES, mean_from_sums
from tests.analysis.simulate import World, prepare, simulate
from tests.analysis.worlds import FIRST_DAY, TWELVE, add_day, analysed, grade_anchors, wobbling
from tests.builders import plus_days, ruler

SCORES = st.lists(
    st.tuples(st.floats(1, 5), st.sampled_from([1.0, 2.5, 10.0]), st.integers(0, 4)), min_size=3, max_size=25
)


def sums_of(rows):
    """Stored sums of (score, weight, conversation) rows, by the definition."""
    t, w = defaultdict(float), defaultdict(float)
    for score, weight, cluster in rows:
        t[cluster] += weight * score
        w[cluster] += weight
    return {
        "n": len(rows),
        "n_clusters": len(w),
        "sum_w": sum(weight for _, weight, _ in rows),
        "sum_w2": sum(weight**2 for _, weight, _ in rows),
        "sum_wy": sum(weight * score for score, weight, _ in rows),
        "sum_w2y": sum(weight**2 * score for score, weight, _ in rows),
        "sum_w2y2": sum(weight**2 * score**2 for score, weight, _ in rows),
        "sum_t2": sum(value**2 for value in t.values()),
        "sum_tw": sum(t[cluster] * w[cluster] for cluster in t),
        "sum_ww": sum(value**2 for value in w.values()),
    }


def vector(sums):
    """Sums in the order of the columns."""
    return np.array([[float(sums[name]) for name in SUM_NAMES]])


class TestTransform:
    """A straight line applied to sums."""

    @settings(max_examples=40)
    @given(SCORES, st.floats(0.05, 20), st.floats(-50, 50))
    def test_equals_the_sums_of_the_transformed_scores(self, rows, factor, offset):
        """Every column, weights and conversations included."""
        direct = vector(sums_of([(factor * score + offset, weight, cluster) for score, weight, cluster in rows]))
        found = transform_sums(vector(sums_of(rows)), np.array([factor]), np.array([offset]))
        np.testing.assert_allclose(found, direct, rtol=1e-9, atol=1e-6)


class TestMeans:
    """Raw and corrected means of a simulated world."""

    @pytest.fixture
    def world(self):
        """Forty days under a judge that becomes more generous and squeezes the scale."""
        world = World(n_days=40, judge_day=25, judge_gain=0.2, judge_slope=0.8, answers=(40, 25))
        return prepare(*simulate(world, np.random.default_rng(3)), 2)

    def test_one_row_is_corrected_as_the_statistics_do_it(self, world):
        """The map of its own run, the error of the anchors, the interval: ``stats.correct_means`` gives the same."""
        judge, traffic = world
        totals = traffic.totals
        row = np.flatnonzero((totals.segment_id == traffic.everything) & (totals.day == "2026-02-05"))
        judge_map = judge.maps[str(totals.run_id[row[0]])]
        assert isinstance(judge_map, JudgeMap)
        sums = dict(zip(SUM_NAMES, totals.raw[row[0]].tolist(), strict=True))
        raw = mean_from_sums(**(sums | {"n": int(sums["n"]), "n_clusters": int(sums["n_clusters"])}))
        expected = correct_means([raw.mean], [raw.se], [sums["n_clusters"] - 1], judge_map)
        found = corrected_mean(totals, row, 0.95)
        assert found.mean == pytest.approx(expected.mean[0])
        assert (found.se, found.df) == pytest.approx((expected.se[0], expected.df[0]))
        assert (found.low, found.high) == pytest.approx((expected.low[0], expected.high[0]))

    def test_the_error_of_the_anchors_does_not_average_out_over_days(self, world):
        """Ten days have a third of a day's sampling error, and all of the error of its anchors."""
        _, traffic = world
        totals = traffic.totals
        rows = np.flatnonzero((totals.segment_id == traffic.everything) & (totals.regime == 1))[:10]
        one, ten = corrected_mean(totals, rows[:1], 0.95), corrected_mean(totals, rows, 0.95)
        anchors = float(totals.anchor_se[rows].mean())
        sampling = [raw_mean(totals, chosen, 0.95).se for chosen in (rows[:1], rows)]
        assert sampling[1] < 0.4 * sampling[0]
        assert ten.se > anchors > 0.02
        assert ten.se**2 - anchors**2 == pytest.approx((sampling[1] / 0.8) ** 2, rel=0.2)
        assert one.se > ten.se

    def test_the_judges_change_is_taken_out(self, world):
        """Means before and after differ by the judge's gain in the raw, by little in the corrected line."""
        _, traffic = world
        totals = traffic.totals
        everything = totals.segment_id == traffic.everything
        sides = [everything & (totals.regime == regime) for regime in (0, 1)]
        raw, corrected = ([of(totals, side, 0.95).mean for side in sides] for of in (raw_mean, corrected_mean))
        # 3 + 0.2 + 0.8 * 0.5 less 3.5
        assert raw[1] - raw[0] == pytest.approx(0.1, abs=0.06)
        assert corrected[1] - corrected[0] == pytest.approx(0.0, abs=0.1)
        assert abs(corrected[1] - corrected[0]) < abs(raw[1] - raw[0])

    def test_a_mean_is_corrected_when_most_of_it_can_be(self, world):
        """Half of the answers without a map still have a mean; more than half have none."""
        _, traffic = world
        totals = traffic.totals
        rows = np.flatnonzero(totals.segment_id == traffic.everything)[:4]
        for n_missing, is_known in ((2, True), (3, False)):
            anchor_se = totals.anchor_se.copy()
            anchor_se[rows[:n_missing]] = np.nan
            corrected = totals.corrected.copy()
            corrected[rows[:n_missing]] = np.nan
            holed = replace(totals, anchor_se=anchor_se, corrected=corrected)
            assert np.isfinite(corrected_mean(holed, rows, 0.95).mean) == is_known

    def test_nothing_has_no_mean(self, world):
        """No row at all."""
        _, traffic = world
        nothing = np.array([], dtype=np.int64)
        assert np.isnan(raw_mean(traffic.totals, nothing, 0.95).mean)
        assert np.isnan(corrected_mean(traffic.totals, nothing, 0.95).mean)


class TestStoredDays:
    """Weights, conversations and days of two runs, through the store."""

    def test_means_are_weighted_by_the_inverse_of_the_share_that_was_drawn(self, make_world):
        """A floor drew all of one topic and a tenth of the other: the mean is that of the whole traffic."""
        world = make_world(keys=[("topic", "")])
        rows = [({"topic": "refunds"}, 2.0)] * 4 + [({"topic": "orders"}, 4.0)] * 4
        scores = add_day(world, FIRST_DAY, rows)
        ids = list(scores)
        world.run("2026-03-02", answers={item_id: scores[item_id] for item_id in ids[:4]}, share=1.0)
        world.run("2026-03-03", answers={item_id: scores[item_id] for item_id in ids[4:]}, share=0.1)
        found = analysed(world)
        (day,) = found["days"]
        assert day["mean"] == pytest.approx((4 * 2.0 + 40 * 4.0) / 44)
        assert {row["value"]: row["mean"] for row in found["segments"]} == {"refunds": 2.0, "orders": 4.0}

    def test_answers_of_one_conversation_widen_the_interval(self, make_world):
        """Twelve answers in three conversations know less than twelve strangers do."""
        widths = []
        for per_conversation in (1, 4):
            world = make_world(keys=[])
            scores = [float(2 + (number // 4)) for number in range(12)]
            items = add_day(world, FIRST_DAY, [({}, score) for score in scores])
            if per_conversation == 4:
                # the builder's answers have no conversation: give them one, as an import would have
                with world.store.transaction() as connection:
                    for place, item_id in enumerate(items):
                        connection.execute(
                            "UPDATE items SET cluster_id = ? WHERE item_id = ?", (f"c:{place // 4}", item_id)
                        )
            world.run("2026-03-02", answers=items)
            (day,) = analysed(world)["days"]
            widths.append(day["high"] - day["low"])
        assert widths[1] > 1.5 * widths[0]

    def test_a_day_graded_by_two_runs_is_one_day(self, make_world):
        """Six answers fail, the next run has them: one mean of all, and each part is corrected by its own run."""
        world = make_world(keys=[])
        world.add_anchors(TWELVE)
        days = grade_anchors(world, 10)
        timeout = UnscoredReason.TIMEOUT
        scores = add_day(world, days[-1], [({}, 4.0)] * 10 + [({}, 2.0)] * 6)
        ids = list(scores)
        usual = {item_id: anchor.expected_score for item_id, anchor in world.anchors}
        higher = {item_id: min(5.0, (score or 3) + 1) for item_id, score in usual.items()}
        first = {item_id: scores[item_id] if place < 10 else timeout for place, item_id in enumerate(ids)}
        world.run("2026-03-11", anchors=usual, answers=first, sampled=(days[-1], 16))
        world.run("2026-03-12", anchors=higher, answers=dict.fromkeys(ids[10:], 3.0))
        (day,) = analysed(world)["days"]
        assert (day["n"], day["n_unscored"], day["finished"]) == (16, 0, True)
        assert day["mean"] == pytest.approx((10 * 4.0 + 6 * 3.0) / 16)
        # of twelve anchors ten rose by one in the last of twelve runs, which are the norm together
        norm = 10 / 12 / 12
        assert day["corrected"] == pytest.approx((10 * (4.0 + norm) + 6 * (3.0 - 10 / 12 + norm)) / 16)

    def test_a_small_part_without_anchors_does_not_take_the_days_correction(self, make_world):
        """Two of sixteen answers were graded by a run that had no anchors."""
        world = make_world(keys=[])
        world.add_anchors(TWELVE)
        days = grade_anchors(world, 10, score=wobbling)
        scores = add_day(world, days[-1], [({}, float(3 + number % 3)) for number in range(16)])
        ids = list(scores)
        usual = {item_id: anchor.expected_score for item_id, anchor in world.anchors}
        world.run("2026-03-11", anchors=usual, answers={item_id: scores[item_id] for item_id in ids[:14]})
        world.run("2026-03-12", answers={item_id: scores[item_id] for item_id in ids[14:]})
        (day,) = analysed(world)["days"]
        assert (day["n"], day["note"]) == (16, "corrected by the offset only: 12 anchors, a slope needs 15")
        assert day["corrected"] is not None

    def test_a_day_whose_anchors_carry_a_slope_needs_no_note(self, make_world):
        """Sixteen anchors over the whole scale."""
        world = make_world(keys=[])
        world.add_anchors([*TWELVE, 1, 5, 4, 2])
        days = grade_anchors(world, 10, score=wobbling)
        scores = add_day(world, days[-1], [({}, float(3 + number % 3)) for number in range(16)])
        usual = {item_id: anchor.expected_score for item_id, anchor in world.anchors}
        world.run("2026-03-11", anchors=usual, answers=scores)
        (day,) = analysed(world)["days"]
        assert (day["note"], day["corrected"] is None) == (None, False)

    def test_days_of_another_setup_are_not_mixed_in(self, make_world):
        """The same answers under a second ruler are another series."""
        world = make_world(keys=[])
        scores = add_day(world, FIRST_DAY, [({}, 4.0), ({}, 5.0)])
        world.run("2026-03-02", answers=scores)
        world.ruler = ruler(model="another-judge")
        world.run("2026-03-03", answers=dict.fromkeys(scores, 1.0))
        assert [day["mean"] for day in analysed(world)["days"]] == [1.0]
        world.ruler = ruler()
        assert [day["mean"] for day in analysed(world)["days"]] == [4.5]


def test_columns_are_those_of_the_store():
    """The order of the sums, once."""
    assert tuple(COLUMN) == SUM_NAMES


def test_reasons_are_named_the_commonest_first():
    """Equal counts in the order of the alphabet."""
    assert reasons_text({"timeout": 2, "server_error": 3, "refusal": 2}) == "3 server error, 2 refusal, 2 timeout"
    assert plus_days(FIRST_DAY, 1) == "2026-03-02"
