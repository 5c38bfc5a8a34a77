"""Planning: the formula against simulated histories of the real monitor, its properties, and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.stats.detector import alarm_threshold, detect, level_floor_sd
from evaluator.stats.monitor import JudgeMonitor
from evaluator.stats.planning import (
    ANCHOR_SD,
    RUN_SHOCK_SD,
    Stream,
    anchor_stream,
    anchors_needed,
    answer_stream,
    runs_to_alarm,
    smallest_visible_change,
)
from tests.stats.simulate import PROPERTY, Judge, anchor_scores

YEARLY = alarm_threshold(runs_per_year=365, false_alarms_per_year=1.0)
N_HISTORIES = 30
MOST = 60


def simulated_median(judge: Judge, change: float, *, n_reference: int = 20) -> float:
    """Median runs from a change to the monitor's alarm, over seeded histories."""
    delays = []
    for seed in range(N_HISTORIES):
        rng = np.random.default_rng(20261130 + seed)
        scores = anchor_scores(judge, n_reference + MOST, rng, shift=change, change_at=n_reference)
        monitor = JudgeMonitor(scores[:n_reference])
        states = (monitor.update(row) for row in scores[n_reference:])
        delays.append(next((number for number, state in enumerate(states, start=1) if state.alarm), MOST))
    return float(np.median(delays))


# ---------------------------------------------------------------- against simulation


@pytest.mark.parametrize(
    ("n_anchors", "change", "n_reference"),
    [(20, 0.15, 20), (20, -0.1, 20), (50, 0.1, 20), (50, 0.2, 20), (100, 0.1, 20), (200, 0.3, 20), (50, 0.1, 10)],
)
def test_forecast_agrees_with_simulated_histories(n_anchors: int, change: float, n_reference: int) -> None:
    """Within two runs of the median for alarms that come within ten."""
    judge = Judge(n_anchors=n_anchors, bad_run_share=0.0, missing_share=0.0)
    stream = anchor_stream(n_anchors, run_shock_sd=judge.run_sd)
    found = runs_to_alarm(change, stream, threshold=YEARLY, n_reference=n_reference)
    assert found is not None
    assert abs(found - simulated_median(judge, change, n_reference=n_reference)) <= 2


def test_slow_alarms_are_forecast_within_a_factor_of_two() -> None:
    """A change of one spread: noise may bring it forward or hold it back by weeks."""
    judge = Judge(n_anchors=100, bad_run_share=0.0, missing_share=0.0)
    found = runs_to_alarm(0.05, anchor_stream(100, run_shock_sd=judge.run_sd), threshold=YEARLY)
    assert found is not None
    assert 0.5 <= found / simulated_median(judge, 0.05) <= 2


def test_traffic_forecast_agrees_with_simulated_days() -> None:
    """The same for daily means of other answers every day."""
    stream = answer_stream(100, answer_sd=0.9, run_shock_sd=0.03)
    delays = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        values = rng.normal(0, stream.spread, 20 + MOST)
        values[20:] += 0.25
        alarm = detect(values, threshold=YEARLY, floor_sd=stream.floor_sd).alarm_index
        delays.append(MOST if alarm is None else alarm - 19)
    found = runs_to_alarm(0.25, stream, threshold=YEARLY)
    assert found is not None
    assert abs(found - float(np.median(delays))) <= 2


def test_default_noise_is_what_was_measured() -> None:
    """A spread of 0.036 between runs for 50 anchors of which one in five flips."""
    assert anchor_stream(50).spread == pytest.approx(0.036, abs=0.004)
    rng = np.random.default_rng(5)
    judge = Judge(n_anchors=50, bad_run_share=0.0, missing_share=0.0)
    spreads = [float(anchor_scores(judge, 60, rng).mean(axis=1).std(ddof=1)) for _ in range(20)]
    assert np.mean(spreads) == pytest.approx(anchor_stream(50).spread, rel=0.1)


# ---------------------------------------------------------------- the spreads


def test_spread_is_the_sum_of_both_variances() -> None:
    """By hand, for anchors and for answers."""
    assert anchor_stream(25, anchor_sd=0.5, run_shock_sd=0.03).spread == pytest.approx(math.sqrt(0.01 + 0.0009))
    assert answer_stream(100, answer_sd=1.0, run_shock_sd=0.0).spread == pytest.approx(0.1)


def test_detector_credits_no_stream_with_less_than_its_floor() -> None:
    """The floor is the detector's own."""
    assert anchor_stream(50).floor_sd == level_floor_sd(50)
    silent = anchor_stream(50, anchor_sd=0.0, run_shock_sd=0.0)
    change = smallest_visible_change(3, silent, threshold=YEARLY)
    assert change is not None
    assert change > 0.01


# ---------------------------------------------------------------- properties

changes = st.floats(0.05, 1.0)
anchors = st.integers(10, 400)


@PROPERTY
@given(change=changes, few=anchors, more=anchors)
def test_more_anchors_are_never_worse(change: float, few: int, more: int) -> None:
    """The alarm comes no later with more of them."""
    few, more = sorted((few, more))
    with_few = runs_to_alarm(change, anchor_stream(few), threshold=YEARLY, most=60) or 61
    with_more = runs_to_alarm(change, anchor_stream(more), threshold=YEARLY, most=60) or 61
    assert with_more <= with_few


@PROPERTY
@given(small=changes, large=changes, n_anchors=anchors)
def test_larger_changes_are_found_no_later(small: float, large: float, n_anchors: int) -> None:
    """Also beyond the size that is clipped."""
    small, large = sorted((small, large))
    stream = anchor_stream(n_anchors)
    slow = runs_to_alarm(small, stream, threshold=YEARLY, most=60) or 61
    fast = runs_to_alarm(large, stream, threshold=YEARLY, most=60) or 61
    assert fast <= slow


@PROPERTY
@given(change=changes, n_anchors=anchors)
def test_sign_of_a_change_does_not_matter(change: float, n_anchors: int) -> None:
    """Stricter is found as soon as more generous."""
    stream = anchor_stream(n_anchors)
    up, down = (runs_to_alarm(sign * change, stream, threshold=YEARLY, most=60) for sign in (1, -1))
    assert up == down


@PROPERTY
@given(n_runs=st.integers(2, 30), n_anchors=anchors)
def test_smallest_visible_change_is_visible_and_smallest(n_runs: int, n_anchors: int) -> None:
    """It is found in time, and one a hair smaller is not."""
    stream = anchor_stream(n_anchors)
    change = smallest_visible_change(n_runs, stream, threshold=YEARLY)
    assert change is not None
    assert runs_to_alarm(change, stream, threshold=YEARLY, most=n_runs) is not None
    assert runs_to_alarm(0.999 * change, stream, threshold=YEARLY, most=n_runs) is None


@pytest.mark.parametrize("change", [0.1, 0.15, 0.3])
@pytest.mark.parametrize("n_runs", [3, 7])
def test_anchors_needed_is_the_reverse(change: float, n_runs: int) -> None:
    """With so many the change is found in time; with one fewer it is not, unless ten is the least there is."""
    needed = anchors_needed(change, n_runs, threshold=YEARLY)
    assert needed is not None
    assert runs_to_alarm(change, anchor_stream(needed), threshold=YEARLY, most=n_runs) is not None
    if needed > 10:
        assert runs_to_alarm(change, anchor_stream(needed - 1), threshold=YEARLY, most=n_runs) is None


def test_no_number_of_anchors_beats_the_shocks_of_whole_runs() -> None:
    """What all scores of a run have in common does not average out."""
    assert anchors_needed(0.02, 3, threshold=YEARLY) is None
    assert anchors_needed(0.02, 3, threshold=YEARLY, run_shock_sd=0.0) is not None


def test_fewer_false_alarms_cost_time() -> None:
    """One alarm in ten years asks for more evidence than one a month."""
    rare, often = (alarm_threshold(runs_per_year=365, false_alarms_per_year=n) for n in (0.1, 12.0))
    stream = anchor_stream(20)
    assert (runs_to_alarm(0.1, stream, threshold=rare) or 0) > (runs_to_alarm(0.1, stream, threshold=often) or 0)


def test_hopeless_changes_are_said_to_be_so() -> None:
    """None, not a number that stands for never."""
    assert runs_to_alarm(0.001, anchor_stream(10), threshold=YEARLY, most=30) is None
    assert smallest_visible_change(1, anchor_stream(10), threshold=YEARLY) is None


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("n_anchors", [0, 9])
def test_runs_that_would_not_count_are_refused(n_anchors: int) -> None:
    """The detector leaves out runs with fewer than ten anchors."""
    with pytest.raises(ValueError, match="at least 10"):
        anchor_stream(n_anchors)


def test_values_out_of_range_are_refused() -> None:
    """Each names what it got."""
    stream = Stream(spread=0.04, floor_sd=0.02)
    with pytest.raises(ValueError, match="answers_per_day"):
        answer_stream(0)
    with pytest.raises(ValueError, match="negative"):
        anchor_stream(50, anchor_sd=-ANCHOR_SD, run_shock_sd=RUN_SHOCK_SD)
    with pytest.raises(ValueError, match="threshold"):
        runs_to_alarm(0.1, stream, threshold=0.0)
    with pytest.raises(ValueError, match="n_reference"):
        runs_to_alarm(0.1, stream, threshold=YEARLY, n_reference=9)
    with pytest.raises(ValueError, match="n_runs"):
        smallest_visible_change(0, stream, threshold=YEARLY)
