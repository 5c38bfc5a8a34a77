"""The judge monitor, fed run by run."""

import math

import numpy as np
import pytest

from evaluator.stats import JudgeMonitor
from evaluator.stats.detector import alarm_threshold, level_since
from evaluator.stats.judge_evidence import WEIGHTS, detect_judge
from evaluator.stats.paired import run_shifts
from evaluator.stats.streams import statistics_of_history, stream_floors
from tests.stats.simulate import FLOOR_50, Judge, anchor_scores


def feed(monitor, runs):
    """All states of a monitor."""
    return [monitor.update(run) for run in runs]


@pytest.fixture(scope="module")
def drifting():
    """Eighty runs of fifty anchors; the judge becomes more generous by 0.15 at run 60."""
    return anchor_scores(Judge(), 80, np.random.default_rng(31), shift=0.15, change_at=60)


class TestDriftingJudge:
    """A judge that moves."""

    def test_state_tells_when_and_how_far(self, drifting):
        """Forty quiet runs after the baseline, then the change."""
        states = feed(JudgeMonitor(drifting[:20]), drifting[20:])
        assert not any(state.alarm for state in states[:40])
        last = states[-1]
        assert last.alarm
        assert last.kind == "level"
        assert 40 <= last.alarm_run <= 45
        assert last.change_low <= 40 <= last.change_high
        assert last.low < 0.15 < last.high
        assert last.low > 0
        assert last.method == "time-uniform 95 % interval"

    @pytest.mark.parametrize("correlation", [0.0, 0.8])
    def test_agrees_with_the_replay_of_the_whole_history(self, correlation):
        """Run by run or at once: the same evidence, alarm, date and level, holes in the baseline included."""
        judge = Judge(run_correlation=correlation, run_sd=0.05)
        scores = anchor_scores(judge, 80, np.random.default_rng(39), shift=0.2, change_at=60)
        scores[5, :30] = np.nan
        last = feed(JudgeMonitor(scores[:20]), scores[20:])[-1]
        baseline = np.arange(80) < 20
        shifts = run_shifts(scores, baseline)
        threshold = alarm_threshold(runs_per_year=365, false_alarms_per_year=1)
        numbers, floors = statistics_of_history(scores, baseline, shifts), stream_floors(shifts.anchor_mean)
        replay = detect_judge(numbers, scores, threshold=threshold, floors=floors, n_reference=19)
        change = level_since(shifts.stream, replay.row, floor_sd=FLOOR_50)
        assert last.n_reference == 19
        assert last.evidence == pytest.approx(replay.evidence[-1], rel=1e-6)
        assert last.parts == pytest.approx(replay.parts)
        assert last.threshold == threshold
        assert last.alarm_run == replay.alarm_row - 20
        found = (last.change_low, last.change_run, last.change_high)
        assert found == (replay.first_row - 20, replay.row - 20, replay.last_row - 20)
        assert last.estimate == pytest.approx(change.estimate)
        assert last.high == pytest.approx(change.high)

    def test_stricter_judge_is_the_mirror_image(self, drifting):
        """6 - score: the same alarm, the opposite sign."""
        up = feed(JudgeMonitor(drifting[:20]), drifting[20:])[-1]
        down = feed(JudgeMonitor(6 - drifting[:20]), 6 - drifting[20:])[-1]
        assert (down.alarm_run, down.change_run) == (up.alarm_run, up.change_run)
        assert (down.low, down.high) == pytest.approx((-up.high, -up.low))

    def test_numbers_are_in_the_rubrics_units_and_the_evidence_is_free_of_them(self, drifting):
        """The same judge on a scale of 0 to 100."""
        five = feed(JudgeMonitor(drifting[:20]), drifting[20:])[-1]
        hundred = (drifting - 1) * 25
        other = feed(JudgeMonitor(hundred[:20], scale=(0, 100)), hundred[20:])[-1]
        assert other.evidence == pytest.approx(five.evidence, rel=1e-6)
        assert other.estimate == pytest.approx(25 * five.estimate)
        assert other.today == pytest.approx(25 * five.today)

    def test_a_smaller_budget_alarms_no_sooner(self, drifting):
        """One false alarm in ten years."""
        patient = feed(JudgeMonitor(drifting[:20], false_alarms_per_year=0.1), drifting[20:])[-1]
        eager = feed(JudgeMonitor(drifting[:20], false_alarms_per_year=4), drifting[20:])[-1]
        assert patient.threshold == pytest.approx(3650)
        assert patient.alarm_run >= eager.alarm_run


class TestThinRuns:
    """Runs and baselines with little in them."""

    def test_runs_with_too_few_anchors_do_not_count(self, drifting):
        """An outage leaves the evidence where it was."""
        monitor = JudgeMonitor(drifting[:20])
        before = monitor.update(drifting[20])
        outage = np.where(np.arange(50) < 24, drifting[21] + 2, np.nan)
        after = monitor.update(outage)
        assert not after.counted
        assert after.n_anchors <= 24
        assert after.evidence == before.evidence
        assert after.run == 1

    def test_empty_run_has_no_shift(self, drifting):
        """Every anchor failed."""
        state = JudgeMonitor(drifting[:20], expected=np.full(50, 3.0)).update(np.full(50, math.nan))
        assert (state.today, state.error_against_expected, state.counted) == (None, None, False)

    def test_learns_until_ten_runs_count(self, drifting):
        """Four runs to start with; the run that completes ten still belongs to the reference."""
        monitor = JudgeMonitor(drifting[:4])
        states = feed(monitor, drifting[4:14])
        assert [state.learning for state in states] == [True] * 5 + [False] * 5
        assert states[4].n_reference == 9
        assert states[5].n_reference == 10
        assert states[5].evidence == 0.0
        assert states[6].evidence > 0
        assert states[0].estimate is None

    def test_freak_run_is_marked_and_does_not_alarm(self, drifting):
        """Far off, waiting for a second one."""
        monitor = JudgeMonitor(drifting[:20])
        feed(monitor, drifting[20:40])
        state = monitor.update(drifting[40] + 1.5)
        assert state.outlier
        assert not state.alarm

    def test_first_state_is_empty(self, drifting):
        """Before any run."""
        state = JudgeMonitor(drifting[:20]).state
        assert (state.run, state.alarm, state.today, state.estimate) == (-1, False, None, None)
        assert not state.learning


class TestExpectedScores:
    """A person's scores beside the judge's."""

    def test_they_tell_the_judges_error_and_cause_no_alarm(self, drifting):
        """A judge who has always been half a point too generous is wrong, not drifting."""
        quiet = drifting[:60]
        expected = np.nanmean(quiet, axis=0) - 0.5
        states = feed(JudgeMonitor(quiet[:20], expected=expected), quiet[20:])
        assert states[-1].error_against_expected == pytest.approx(0.5, abs=0.15)
        assert not states[-1].alarm


class TestBadInput:
    """What is refused."""

    @pytest.mark.parametrize(
        ("baseline", "options", "message"),
        [
            (np.ones(5), {}, "runs by anchors"),
            (np.empty((0, 5)), {}, "runs by anchors"),
            (np.full((3, 5), math.nan), {}, "no score"),
            (np.ones((3, 5)), {"expected": np.ones(4)}, "one score per anchor"),
            (np.ones((3, 5)), {"false_alarms_per_year": 0}, "positive"),
            (np.ones((3, 5)), {"scale": (5, 1)}, "low to high"),
        ],
    )
    def test_bad_settings_are_refused(self, baseline, options, message):
        """With the value in the message."""
        with pytest.raises(ValueError, match=message):
            JudgeMonitor(baseline, **options)

    def test_run_of_another_length_is_refused(self, drifting):
        """One entry per anchor, nan where it is missing."""
        with pytest.raises(ValueError, match="one entry per anchor"):
            JudgeMonitor(drifting[:20]).update(np.ones(49))


def test_streams_share_the_whole_budget():
    """Weights of an average."""
    assert sum(WEIGHTS.values()) == pytest.approx(1.0)
