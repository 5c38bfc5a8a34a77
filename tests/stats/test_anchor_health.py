"""Whether a set of anchors can do its work."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evaluator.stats.anchor_health import anchor_health, baseline_trend
from tests.stats.simulate import Judge, anchor_scores

NA = np.nan


def even_set(n_runs: int = 10) -> np.ndarray:
    """Six anchors a level, always the same score."""
    return np.tile(np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], 6), (n_runs, 1))


def test_levels_are_counted_on_any_scale() -> None:
    """A 0-100 rubric has its fifths as a 1-5 one has its levels."""
    for scores, scale in ((even_set(), (1.0, 5.0)), ((even_set() - 1) * 25, (0.0, 100.0))):
        health = anchor_health(scores, scale=scale)
        assert health.per_level.tolist() == [6, 6, 6, 6, 6]
        assert health.thin_levels == ()
        assert (health.at_floor.sum(), health.at_ceiling.sum()) == (6, 6)


def test_an_anchor_between_two_levels_counts_once() -> None:
    """Means of 1.5, 2.5 and so on."""
    halves = np.vstack([even_set()[:5], even_set()[:5] + 1]).clip(1, 5)
    assert anchor_health(halves).per_level.sum() == 30


def test_thin_levels_are_named() -> None:
    """A set without low answers cannot see a judge that moves at the low end."""
    assert anchor_health(even_set()[:, 12:]).thin_levels == (0, 1)


def test_dead_and_restless_anchors_are_named() -> None:
    """One fails in six of ten runs, one flips in four of ten, one in three: not over thirty per cent."""
    scores = even_set()
    scores[:6, 7] = NA
    scores[:4, 13] = 4
    scores[:3, 14] = 4
    health = anchor_health(scores)
    assert np.flatnonzero(health.is_dead).tolist() == [7]
    assert np.flatnonzero(health.is_restless).tolist() == [13]
    assert (health.n_usable, health.is_enough) == (29, True)


def test_an_anchor_that_left_the_ceiling_once_is_not_pinned() -> None:
    """It shows that it can move."""
    scores = even_set()
    scores[2, 29] = 4
    assert anchor_health(scores).at_ceiling.sum() == 5


def test_anchor_without_a_score_is_dead_and_nothing_else() -> None:
    """No mean, no flip rate, at no end of the scale."""
    scores = even_set()
    scores[:, 0] = NA
    health = anchor_health(scores)
    assert health.is_dead[0]
    assert not health.at_floor[0]
    assert not health.is_restless[0]
    assert np.isnan(health.mean[0])


def test_trend_is_that_of_least_squares() -> None:
    """Slope and p against scipy, when no score is missing."""
    rng = np.random.default_rng(1)
    scores = anchor_scores(Judge(missing_share=0.0), 20, rng) + 0.01 * np.arange(20)[:, None]
    slope, p = baseline_trend(scores)
    theirs = stats.linregress(np.arange(20), scores.mean(axis=1))
    assert (slope, p) == pytest.approx((theirs.slope, theirs.pvalue))
    assert anchor_health(scores).has_trend


def test_trend_is_found_as_rarely_as_promised_without_one() -> None:
    """At 1 %: of 400 quiet baselines about four."""
    rng = np.random.default_rng(8)
    found = sum(anchor_health(anchor_scores(Judge(), 20, rng)).has_trend for _ in range(400))
    assert found <= 11


def test_no_trend_is_told_of_two_runs() -> None:
    """Nor of runs that do not count."""
    assert baseline_trend(even_set(2)) == (None, None)
    assert baseline_trend(np.ones((8, 5))) == (None, None)


@pytest.mark.parametrize("scores", [np.ones(4), np.ones((0, 4))])
def test_what_is_not_runs_by_anchors_is_refused(scores: np.ndarray) -> None:
    """One dimension, or no run."""
    with pytest.raises(ValueError, match="runs by anchors"):
        anchor_health(scores)
