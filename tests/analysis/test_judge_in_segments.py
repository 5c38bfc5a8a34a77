"""A judge that moved on one topic only: seen on that topic's anchors, and taken out of the topic's comparison."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from evaluator.analysis.judge_in_segments import (
    LEAST_TAGGED,
    corrected_anchors,
    judge_in_segment_looks,
    move_of,
    tagged,
)
from evaluator.analysis.segments import segment_findings
from evaluator.findings import SegmentFinding
from tests.analysis.findings import findings, segment
from tests.analysis.simulate import SCALE, SETTINGS, World, prepare, simulate

CHANGE = 60
N_TAGGED = 14


def told(
    *, judge_gain: float = 0.0, assistant_gain: float = 0.0, n_tagged: int = N_TAGGED, seed: int = 1, n_days: int = 110
) -> dict[str, SegmentFinding]:
    """Findings by segment of a world in which judge and assistant move on topic-0 alone, on the same day."""
    # what moves the scores of the topic's answers is both together; its anchors move with the judge only
    loss = (-judge_gain - assistant_gain, 0.0, 0.0)
    world = World(n_days=n_days, assistant_day=CHANGE, assistant_loss=loss)
    history, rows = simulate(world, np.random.default_rng(seed))
    scores = history.scores.copy()
    scores[CHANGE:, :n_tagged] += judge_gain
    judge, traffic = prepare(replace(history, scores=scores), rows, len(world.answers))
    tags = {item: {"topic": "topic-0"} for item in history.item_ids[:n_tagged]}
    found = segment_findings(traffic, judge, scale=SCALE, settings=SETTINGS, events=[], last_days=14, tags=tags)
    return {row["value"]: row for row in found}


class TestTold:
    """Judge or quality."""

    def test_a_judge_that_moved_there_alone_is_named_and_the_change_goes_away(self):
        """+0.6 for topic-0 in anchors and answers: no answer got better."""
        row = told(judge_gain=0.6)["topic-0"]
        assert row["judge_in_segment_used"]
        assert row["judge_in_segment_n_anchors"] == N_TAGGED
        # the common line takes out the share of the tagged anchors, 14 of 60
        assert row["judge_in_segment_low"] < 0.6 * (1 - N_TAGGED / 60) < row["judge_in_segment_high"]
        assert row["state"] != "changed"
        assert (row["direction"], row["since_day"], row["alarm_day"]) == (None, None, None)
        assert row["low"] < 0 < row["high"]
        assert "became more generous on this segment's 14 anchors" in row["judge_in_segment_note"]

    def test_answers_that_got_worse_there_stay_told(self):
        """-0.6 in the answers, and the anchors stand: the judge shows no move, nothing is taken out."""
        row = told(assistant_gain=-0.6)["topic-0"]
        assert (row["state"], row["direction"]) == ("changed", "worse")
        assert not row["judge_in_segment_used"]
        assert row["judge_in_segment_low"] < 0 < row["judge_in_segment_high"]
        assert "shows no move of its own" in row["judge_in_segment_note"]

    def test_both_at_once_are_told_apart(self):
        """Judge +0.5 and answers -1.0 there: the fall is larger than it looks."""
        row = told(judge_gain=0.5, assistant_gain=-1.0)["topic-0"]
        assert row["judge_in_segment_used"]
        assert (row["state"], row["direction"]) == ("changed", "worse")
        assert row["low"] < -1.0 < row["high"]

    def test_few_anchors_leave_the_common_correction(self):
        """Nine carry the tag, or none: said, and nothing is changed."""
        found = told(judge_gain=0.6, n_tagged=LEAST_TAGGED - 1)
        row, other = found["topic-0"], found["topic-1"]
        assert row["judge_in_segment"] is None
        assert row["judge_in_segment_n_anchors"] == LEAST_TAGGED - 1
        assert row["state"] == "changed"
        assert "Only 9 anchors carry this segment's tags" in row["judge_in_segment_note"]
        assert other["judge_in_segment_note"].startswith("No anchor carries")

    def test_before_there_are_days_to_compare_nothing_is_told(self):
        """Enough anchors, too few days."""
        row = told(n_days=8)["topic-0"]
        assert row["judge_in_segment"] is None
        assert "too few days" in row["judge_in_segment_note"]

    def test_a_steady_judge_is_rarely_said_to_have_moved_there(self):
        """Thirty worlds at 98 %: not more often than that allows."""
        n = 30
        wrong = sum(told(seed=seed)["topic-0"]["judge_in_segment_used"] for seed in range(100, 100 + n))
        assert wrong <= stats.binom.ppf(0.99, n, 0.02)


class TestMove:
    """Anchors against themselves."""

    def test_by_hand(self):
        """Two runs before, two after; one anchor was never graded after."""
        scores = np.array([[3.0, 2.0, 4.0], [3.0, 4.0, 4.0], [3.5, 4.0, np.nan], [4.5, 4.0, np.nan]])
        before, after = np.array([True, True, False, False]), np.array([False, False, True, True])
        found = move_of(scores, np.array([True, True, True]), before, after)
        assert (found.estimate, found.n_anchors) == (1.0, 2)
        assert found.se == pytest.approx(np.hypot(np.sqrt(0.01 / 2), 0.02))
        assert move_of(scores, np.array([True, False, True]), before, after) is None

    def test_crossed_segments_need_both_tags(self):
        """billing and de."""
        row = segment(1, "billing", value2="de")
        tags = {"a": {"topic": "billing", "language": "de"}, "b": {"topic": "billing"}, "c": {}}
        assert tagged(row, ["a", "b", "c", "d"], tags).tolist() == [True, False, False, False]

    def test_a_run_without_a_map_is_left_out(self):
        """Its anchors cannot be put on the common scale."""
        history, rows = simulate(World(n_days=30), np.random.default_rng(1))
        scores = history.scores.copy()
        scores[20, 5:] = np.nan
        judge, _ = prepare(replace(history, scores=scores), rows, 3)
        assert np.isnan(corrected_anchors(judge)[20]).all()
        assert np.isfinite(corrected_anchors(judge)[19]).all()


def test_segments_the_judge_moved_in_are_worth_a_look():
    """The largest first, by name."""
    used = {"judge_in_segment_used": True, "judge_in_segment_note": "The judge became stricter."}
    rows = [
        segment(1, "orders"),
        segment(2, "billing", judge_in_segment=-0.2, **used),
        segment(3, "refunds", judge_in_segment=-0.5, **used),
    ]
    assert judge_in_segment_looks(findings(segments=rows)) == [
        (3, "refunds: The judge became stricter."),
        (2, "billing: The judge became stricter."),
    ]
