"""Repeatability of a judge on the same answers."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.stats.reliability import item_noise, reliability

NA = np.nan


def test_flips_of_each_item_by_hand() -> None:
    """Usual score, share that is another, spread; an item without scores has none."""
    noise = item_noise([[4, 3, NA], [4, 2, NA], [4, 3, NA], [NA, 3, NA]])
    assert noise.n.tolist() == [3, 4, 0]
    assert noise.usual[:2].tolist() == [4, 3]
    assert np.isnan(noise.usual[2])
    assert noise.flip_rate[:2].tolist() == [0, 0.25]
    assert np.isnan(noise.flip_rate[2])
    assert noise.sd[:2] == pytest.approx([0, 0.5])


def test_reliability_of_a_judge_that_always_repeats_itself() -> None:
    """No flip in 40 items is no proof that there are none: the interval says so."""
    found = reliability(np.tile(np.arange(1.0, 41.0), (5, 1)))
    assert (found.repeat_rate, found.noise_sd, found.reliability, found.n_flipped) == (1.0, 0.0, 1.0, 0)
    assert found.ever_flipped is not None
    assert found.ever_flipped.low == 0
    assert found.ever_flipped.high == pytest.approx(0.0876, abs=1e-3)


def test_reliability_recovers_known_variances() -> None:
    """Spread of 1 between items, 0.5 within: 0.8, whatever the number of runs."""
    rng = np.random.default_rng(2)
    truth = rng.normal(0, 1, 4000)
    for n_runs in (2, 10):
        found = reliability(truth + rng.normal(0, 0.5, (n_runs, 4000)))
        assert found.noise_sd == pytest.approx(0.5, abs=0.02)
        assert found.reliability == pytest.approx(0.8, abs=0.02)


def test_missing_scores_do_not_count_as_flips() -> None:
    """A gap is no change; pairs with one are no pairs."""
    found = reliability([[3, 2], [NA, 2], [3, NA], [NA, 4]])
    assert (found.n_items, found.n_flipped, found.n_runs) == (2, 1, 3)
    assert found.repeat_rate == 1.0


@pytest.mark.parametrize("scores", [[[3.0, 4.0]], np.full((3, 2), NA)])
def test_nothing_is_said_without_repeats(scores: object) -> None:
    """One run, or no score."""
    found = reliability(scores)
    assert (found.n_items, found.ever_flipped, found.noise_sd, found.reliability) == (0, None, None, None)


def test_a_single_row_is_refused() -> None:
    """Runs by items is what it takes."""
    with pytest.raises(ValueError, match="runs by items"):
        item_noise([1.0, 2.0])
