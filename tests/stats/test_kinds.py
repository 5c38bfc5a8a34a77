"""What a change of the judge is called."""

from dataclasses import replace

import numpy as np
import pytest

from evaluator.stats import JudgeMonitor
from evaluator.stats.detector import LevelChange, level_floor_sd, level_since
from evaluator.stats.judge_evidence import ANCHOR
from evaluator.stats.kinds import (
    FEWEST_AT_AN_END,
    Ends,
    culprit,
    dominant_anchor,
    end_masks,
    ends_since,
    lone_mover,
    name_kind,
    slope_since,
    spread_since,
)
from evaluator.stats.paired import run_shifts
from evaluator.stats.streams import statistics_of_history, stream_floors
from tests.stats.latent import whole_scores

UP, DOWN, UNCLEAR = (0.2, 0.1, 0.3), (-0.2, -0.3, -0.1), (0.1, -0.1, 0.3)


def change(estimate, low=None, high=None):
    """A level change with these bounds."""
    return LevelChange(
        estimate=estimate, low=low, high=high, level=0.95, method="by hand", n_before=20, n_after=10
    )  # fmt: skip


def both(low, high):
    """Both ends of the scale; None for one with too few anchors."""
    low_end, high_end = (None if end is None else change(*end) for end in (low, high))
    return Ends(low=low_end, high=high_end, n_low=10, n_high=10)


def last_state(**options):
    """State after twenty runs of a judge that changed in run 40; the first twenty are its baseline."""
    scores = whole_scores(change_at=40, n_runs=60, **options)
    monitor = JudgeMonitor(scores[:20])
    return [monitor.update(row) for row in scores[20:]][-1]


class TestSimulatedJudges:
    """From scores to the name."""

    @pytest.mark.parametrize("seed", [1, 2, 3])
    @pytest.mark.parametrize(
        ("drift", "noise", "kind"),
        [
            (lambda o, _: o + 0.3, (1, 1), "level"),
            (lambda o, _: o - 0.3, (1, 1), "level"),
            (lambda o, _: o + 0.3 * (3 - o), (1, 1), "compression"),
            (lambda o, _: 3 + 0.7 * (o - 3), (1, 1), "compression"),
            (lambda o, _: o + 0.3 * (o - 3) * (np.abs(o - 3) < 1.3), (1, 1), "stretch"),
            (lambda o, level: o + 0.5 * (level <= 2), (1, 1), "low_end"),
            (lambda o, level: o - 0.5 * (level >= 4), (1, 1), "high_end"),
            (lambda o, _: o, (1, 4), "noisier"),
            (lambda o, _: o, (6, 0.2), "calmer"),
        ],
        ids=["generous", "strict", "to 3", "to 3 again", "stretch", "low end", "high end", "noisier", "calmer"],
    )
    def test_each_way_to_change_has_its_name(self, seed, drift, noise, kind):
        """Fifty anchors of all levels."""
        state = last_state(seed=seed, drift=drift, noise=noise)
        assert state.alarm
        assert state.kind == kind
        assert state.anchor is None

    @pytest.mark.parametrize("points", [1, 2, -2])
    def test_a_single_anchor_is_named_with_its_column(self, points):
        """A point shows by its own evidence, two points sooner by the spread."""
        state = last_state(seed=45, drift=lambda o, _: o + points * (np.arange(len(o)) == 7))
        assert (state.kind, state.anchor) == ("single_anchor", 7)
        assert state.change_low <= 20 <= state.change_high

    def test_a_mirrored_judge_changes_at_the_other_end(self):
        """Weak answers up is, upside down, strong answers down; and both ends change place and sign."""
        scores = whole_scores(2, 60, change_at=40, drift=lambda o, level: o + 0.5 * (level <= 2), missing_share=0.0)
        there, back = JudgeMonitor(scores[:20]), JudgeMonitor(6 - scores[:20])
        for row in scores[20:]:
            there.update(row)
            back.update(6 - row)
        assert (there.state.kind, back.state.kind) == ("low_end", "high_end")
        (low, high), (low_back, high_back) = there.state.ends, back.state.ends
        assert high_back == pytest.approx((-low[0], -low[2], -low[1]))
        assert low_back == pytest.approx((-high[0], -high[2], -high[1]))


class TestName:
    """The rule itself."""

    @pytest.mark.parametrize(
        ("low", "high", "slope", "kind"),
        [
            (UP, UP, UNCLEAR, "level"),
            (UP, DOWN, DOWN, "compression"),
            (DOWN, UP, UP, "stretch"),
            (UP, UNCLEAR, DOWN, "low_end"),
            (UNCLEAR, DOWN, DOWN, "high_end"),
            (UP, UP, DOWN, "level"),
            (UNCLEAR, (-0.1, -0.3, 0.1), DOWN, "compression"),
            (None, DOWN, DOWN, "compression"),
            (UP, None, UP, "stretch"),
            ((None,), (None,), UP, "stretch"),
        ],
    )
    def test_ends_decide_when_the_slope_moved(self, low, high, slope, kind):
        """Intervals that leave out zero, or not; ends with too few anchors."""
        assert name_kind("slope", both(low, high), change(*slope), change(0.0)) == kind
        assert name_kind("level", both(low, high), change(*slope), change(0.0)) == kind

    @pytest.mark.parametrize(("estimate", "kind"), [(0.7, "noisier"), (-0.7, "calmer")])
    def test_spread_is_named_by_its_direction(self, estimate, kind):
        """Whatever the ends do."""
        assert name_kind("spread", both(UP, DOWN), change(*DOWN), change(estimate)) == kind

    @pytest.mark.parametrize(
        ("low", "high", "slope", "kind"),
        [
            (UP, DOWN, DOWN, "compression"),
            (UP, UNCLEAR, DOWN, "low_end"),
            (UP, UP, UNCLEAR, "level"),
            (UP, DOWN, UNCLEAR, "noisier"),
            (UP, None, UNCLEAR, "noisier"),
        ],
    )
    def test_a_spread_grown_by_a_move_that_lasts_is_named_by_the_move(self, low, high, slope, kind):
        """Unless neither the slope nor both ends tell which; back towards the baseline as well as away from it."""
        ends = replace(both(low, high), lasting=True)
        assert name_kind("spread", ends, change(*slope), change(0.7)) == kind
        back = "calmer" if kind == "noisier" else kind
        assert name_kind("spread", ends, change(*slope), change(-0.7)) == back

    def test_an_anchor_is_an_anchor(self):
        """Whatever the others do."""
        assert name_kind(ANCHOR, both(UP, DOWN), change(*DOWN), change(0.7)) == "single_anchor"

    def test_a_slope_without_bounds_is_no_slope(self):
        """Too few runs for an interval."""
        assert name_kind("level", both(UP, DOWN), change(-0.4), change(0.0)) == "level"


class TestEnds:
    """Lower and upper third."""

    def test_thirds_of_the_levels_there_are(self):
        """Nine anchors and one without a mean."""
        low, high = end_masks([1, 1.2, 2, 3, 3.1, 3.2, 4, 4.5, 5, np.nan])
        assert np.flatnonzero(low).tolist() == [0, 1, 2]
        assert np.flatnonzero(high).tolist() == [6, 7, 8]

    def test_most_anchors_at_one_level_leave_the_rest_as_ends(self):
        """Eight at 4, two lower, three higher."""
        low, high = end_masks([4.0] * 8 + [1, 2, 5, 5, 5, np.nan])
        assert np.flatnonzero(low).tolist() == [8, 9]
        assert np.flatnonzero(high).tolist() == [10, 11, 12]

    def test_no_anchor_has_no_ends(self):
        """None known."""
        low, high = end_masks([np.nan, np.nan])
        assert not low.any()
        assert not high.any()

    def test_each_end_has_the_interval_of_its_own_anchors(self):
        """The mean of the third, half of the error each."""
        scores = whole_scores(4, 60, change_at=40, drift=lambda o, level: o + 0.5 * (level <= 2))
        means, counted = np.nanmean(scores[:20], axis=0), np.arange(60) != 50
        found = ends_since(scores, means, counted, 40)
        low, _ = end_masks(means)
        stream = np.where(counted, np.nanmean((scores - means)[:, low], axis=1), np.nan)
        expected = level_since(stream, 40, floor_sd=level_floor_sd(int(low.sum())), level=0.975)
        assert found.low.level == pytest.approx(0.975)
        assert (found.low.estimate, found.low.low, found.low.high) == pytest.approx(
            (expected.estimate, expected.low, expected.high)
        )
        assert found.low.n_after == 19
        assert found.low.low > 0
        assert found.n_low == int(low.sum())

    @pytest.mark.parametrize(
        ("drift", "noise", "lasting"),
        [
            (lambda o, _: o + 0.3 * (3 - o), (1, 1), True),
            (lambda o, _: o, (1, 4), False),
            (lambda o, _: o, (1, 1), None),
        ],
    )
    def test_a_move_that_lasts_is_told_from_scatter(self, drift, noise, lasting):
        """Compared anchor by anchor; a single run cannot tell."""
        scores = whole_scores(9, 60, change_at=40, drift=drift, noise=noise)
        means, counted = np.nanmean(scores[:20], axis=0), np.ones(60, dtype=bool)
        if lasting is not None:
            assert ends_since(scores, means, counted, 40).lasting is lasting
        assert not ends_since(scores, means, counted, 59).lasting

    def test_too_few_anchors_at_an_end_say_nothing(self):
        """Four low ones among twenty."""
        scores = np.tile([4.0] * 12 + [1.0] * (FEWEST_AT_AN_END - 1) + [5.0] * FEWEST_AT_AN_END, (40, 1))
        found = ends_since(scores, scores[0], np.ones(40, dtype=bool), 20)
        assert found.low is None
        assert found.high is not None
        assert (found.n_low, found.n_high) == (FEWEST_AT_AN_END - 1, FEWEST_AT_AN_END)


class TestDominantAnchor:
    """One anchor that most of the distance is due to."""

    def test_is_the_one_with_more_than_half_of_the_squares(self):
        """Two points away, against flips of others."""
        scores = np.full((6, 10), 3.0)
        scores[:, 4], scores[2, 5], scores[3, 6] = 5.0, 4.0, 4.0
        assert dominant_anchor(scores, np.full(10, 3.0)) == 4

    def test_none_where_two_share_it_or_nothing_moved_a_level(self):
        """Equal parts; no distance; and less than half a level."""
        means, two, near = np.full(10, 3.0), np.full((6, 10), 3.0), np.full((6, 10), 3.0)
        two[:, [4, 5]], near[:, 4] = 5.0, 3.4
        assert dominant_anchor(two, means) is None
        assert dominant_anchor(np.full((6, 10), 3.0), means) is None
        assert dominant_anchor(near, means) is None
        assert dominant_anchor(np.full((2, 3), np.nan), np.full(3, np.nan)) is None


class TestLoneMover:
    """One anchor that a move of the mean or the slope is due to."""

    def test_is_the_one_with_more_than_half_of_the_moves(self):
        """Two points up for good, while two others flip once."""
        before, after = np.full((20, 10), 3.0), np.full((4, 10), 3.0)
        after[:, 4], after[0, 5], before[3, 6] = 5.0, 4.0, 4.0
        assert lone_mover(before, after) == 4
        for stream in ("level", "slope"):
            assert culprit(stream, before, after, before.mean(axis=0)) == 4

    def test_none_where_all_moved_alike_or_not_far(self):
        """A more generous judge; a small move; an anchor that joined only after the change."""
        before = np.full((20, 10), 3.0)
        near, joined = before[:4].copy(), before[:4].copy()
        near[:, 4] = 3.4
        before_it, joined[:, 4] = before.copy(), 5.0
        before_it[:, 4] = np.nan
        assert lone_mover(before, before[:4] + 1) is None
        assert lone_mover(before, near) is None
        assert lone_mover(before_it, joined) is None

    def test_a_spread_is_due_to_the_distance_from_the_baseline(self):
        """One that goes both ways does not move its mean."""
        before, after = np.full((20, 10), 3.0), np.full((4, 10), 3.0)
        after[:, 4] = [1.0, 5.0, 1.0, 5.0]
        assert culprit("level", before, after, before.mean(axis=0)) is None
        assert culprit("spread", before, after, before.mean(axis=0)) == 4


def test_slope_and_spread_since_a_run_are_level_changes_of_their_streams():
    """With each stream's own floor, from a later start on."""
    scores = whole_scores(5, 60, change_at=40, drift=lambda o, _: o + 0.3 * (3 - o), noise=(1, 3))
    baseline = np.arange(60) < 20
    shifts = run_shifts(scores, baseline)
    numbers, floors = statistics_of_history(scores, baseline, shifts), stream_floors(shifts.anchor_mean)
    for name, found in (
        ("slope", slope_since(numbers, shifts.anchor_mean, 40, start=10, level=0.9)),
        ("spread", spread_since(numbers, shifts.anchor_mean, 40, start=10, level=0.9)),
    ):
        expected = level_since(numbers.stream(name)[10:], 30, floor_sd=floors[name], level=0.9)
        assert found == expected
    assert slope_since(numbers, shifts.anchor_mean, 40).high < 0
    assert spread_since(numbers, shifts.anchor_mean, 40).low > 0
