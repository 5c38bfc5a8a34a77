"""The alarm tried on a judge's own quiet runs."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.stats.self_test import self_test
from tests.stats.simulate import Judge, anchor_scores

JUDGE = Judge(n_anchors=30)


def history(n_runs: int = 60, *, seed: int = 1, judge: Judge = JUDGE) -> np.ndarray:
    """Quiet runs of a simulated judge."""
    return anchor_scores(judge, n_runs, np.random.default_rng(seed))


def test_a_quiet_history_passes_and_the_change_is_found() -> None:
    """Alarms within the promise; a change of 0.3 is found in most tries, within days."""
    found = self_test(history(), smallest_change=0.3, n_years=3)
    assert found.passed
    assert found.reason == ""
    assert found.per_year is not None
    assert found.per_year_se is not None
    assert found.per_year - 2 * found.per_year_se <= 1.0
    assert found.n_found >= 0.8 * found.n_changes
    assert found.median_delay is not None
    assert found.median_delay <= 8
    assert (found.n_runs, found.n_years, found.n_changes) == (60, 3, 6)


def test_a_history_with_a_trend_fails() -> None:
    """Dealt anew, its drift would vanish; so it is looked for first."""
    drifting = history() + np.linspace(0, 0.4, 60)[:, None]
    found = self_test(drifting, n_years=2)
    assert found.passed is False
    assert "trend" in found.reason
    assert found.trend_p is not None
    assert found.trend_p < 0.01
    assert found.per_year is None


def test_a_restless_judge_keeps_the_promise_and_is_said_to_show_changes_late() -> None:
    """Every anchor flips and whole runs differ by half a point: no false alarms, and a change hides for weeks."""
    restless = Judge(n_anchors=30, flipping_share=1.0, run_sd=0.5)
    late = self_test(history(60, judge=restless), n_years=3, smallest_change=0.1)
    soon = self_test(history(60), n_years=3, smallest_change=0.1)
    assert late.passed
    assert soon.median_delay is not None
    assert late.median_delay is None or late.median_delay >= 4 * soon.median_delay


def test_too_short_a_history_is_not_judged() -> None:
    """Neither passed nor failed, with the number that is there."""
    found = self_test(history(29), n_years=2)
    assert found.passed is None
    assert "29 quiet runs" in found.reason


def test_runs_that_do_not_count_are_left_out() -> None:
    """Half-empty runs are no part of the history."""
    runs = history(45)
    runs[::3, 5:] = np.nan
    assert self_test(runs, n_years=2).n_runs == 30


def test_same_seed_same_answer() -> None:
    """And it does not depend on the rubric's scale."""
    plain = self_test(history(40), n_years=2, smallest_change=0.2)
    assert self_test(history(40), n_years=2, smallest_change=0.2) == plain
    scaled = self_test((history(40) - 1) * 25, scale=(0, 100), n_years=2, smallest_change=5.0)
    assert (scaled.false_alarms, scaled.n_found, scaled.median_delay) == (
        plain.false_alarms,
        plain.n_found,
        plain.median_delay,
    )


@pytest.mark.parametrize("options", [{"n_years": 1}, {"smallest_change": 0.0}])
def test_settings_out_of_range_are_refused(options: dict[str, float]) -> None:
    """One year has no standard error; no change cannot be found."""
    with pytest.raises(ValueError, match=r"at least 2|positive"):
        self_test(history(40), **options)
