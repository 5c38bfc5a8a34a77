"""Seeded simulations of rechecks: coverage of the drift's interval, false calls on a steady judge, power."""

import numpy as np
import pytest
from scipy import stats

from evaluator.stats.recheck import RecheckFinding, recheck_finding, recheck_shift

N_TRIALS = 600


def part(rng, n, *, noise, shift, cluster_sd, cluster_size):
    """Answers graded twice on 1 to 5: (stored, now, clusters); noise flips those near a border, twice anew."""
    clusters = np.arange(n) // cluster_size
    quality = rng.normal(3.7, 1.0, n)
    taste = rng.normal(0, cluster_sd, clusters[-1] + 1)[clusters]
    stored = np.clip(np.round(quality + rng.normal(0, noise, n)), 1, 5)
    now = np.clip(np.round(quality + rng.normal(0, noise, n) + shift + taste), 1, 5)
    return stored, now, clusters


def recheck(rng, n, *, noise, offset=0.0, drift=0.0, cluster_sd=0.0, cluster_size=1):
    """One recheck with n answers in each part."""
    world = {"noise": noise, "cluster_sd": cluster_sd, "cluster_size": cluster_size}
    stored, now, clusters = part(rng, n, shift=offset, **world)
    old_stored, old_now, old_clusters = part(rng, n, shift=offset + drift, **world)
    return recheck_shift(
        stored,
        now,
        old_stored,
        old_now,
        recent_clusters=[("recent", name) for name in clusters],
        old_clusters=[("old", name) for name in old_clusters],
    )


def true_drift(*, noise, offset=0.0, drift=0.0, cluster_sd=0.0, cluster_size=1):
    """What rounding and the ends of the scale leave of a drift, from many answers."""
    del cluster_size
    rng = np.random.default_rng(99)
    world = {"noise": noise, "cluster_sd": cluster_sd, "cluster_size": 1}
    old, recent = (part(rng, 1_000_000, shift=shift, **world) for shift in (offset + drift, offset))
    return (old[1] - old[0]).mean() - (recent[1] - recent[0]).mean()


WORLDS = {
    "steady, few flips": {"noise": 0.02},
    "steady, flips": {"noise": 0.1},
    "steady, noisy": {"noise": 0.3},
    "steady, another prompt": {"noise": 0.2, "offset": 0.4},
    "steady, conversations": {"noise": 0.3, "cluster_sd": 0.4, "cluster_size": 5},
    "moved": {"noise": 0.1, "drift": 0.3},
    "moved, conversations": {"noise": 0.3, "offset": 0.2, "drift": 0.3, "cluster_sd": 0.3, "cluster_size": 4},
}


@pytest.mark.parametrize("n", [30, 100])
@pytest.mark.parametrize("name", WORLDS)
def test_interval_covers_the_true_drift(name, n):
    """At least 95 in a hundred, within the chance of the trials; a steady judge is called changed 5 times or fewer."""
    world = WORLDS[name]
    rng = np.random.default_rng(2026)
    truth = 0.0 if "drift" not in world else true_drift(**world)
    intervals = [recheck(rng, n, **world).drift.interval for _ in range(N_TRIALS)]
    missed = sum(not found.low <= truth <= found.high for found in intervals)
    assert missed <= stats.binom.ppf(0.995, N_TRIALS, 0.05)
    if name in ("steady, noisy", "moved") and n == 100:
        assert missed >= stats.binom.ppf(0.001, N_TRIALS, 0.05), "an interval that never misses is too wide to help"


def test_ignoring_conversations_would_miss_far_too_often():
    """The reason for the clusters: without them the interval is wrong four times as often."""
    rng = np.random.default_rng(7)
    missed = 0
    for _ in range(N_TRIALS):
        stored, now, _ = part(rng, 100, noise=0.1, shift=0.0, cluster_sd=0.6, cluster_size=10)
        then, again, _ = part(rng, 100, noise=0.1, shift=0.0, cluster_sd=0.6, cluster_size=10)
        found = recheck_shift(stored, now, then, again).drift.interval
        missed += not found.low <= 0 <= found.high
    assert missed > 0.2 * N_TRIALS


def test_judge_that_moved_is_found_with_two_hundred_answers():
    """The default number finds 0.3 points of a judge with ordinary flips nearly always."""
    rng = np.random.default_rng(11)
    found = [recheck_finding(recheck(rng, 100, noise=0.1, drift=0.3), 0.1) for _ in range(200)]
    assert found.count(RecheckFinding.CHANGED) >= 190


def test_steady_judge_is_called_steady_with_two_hundred_answers():
    """Of a judge with few flips."""
    rng = np.random.default_rng(12)
    found = [recheck_finding(recheck(rng, 100, noise=0.02), 0.1) for _ in range(200)]
    assert found.count(RecheckFinding.SAME) >= 150
    assert found.count(RecheckFinding.CHANGED) <= 6


def test_choosing_old_answers_by_their_score_would_fake_a_drift():
    """Regression to the mean, and why nothing here looks at a score before it is graded again."""
    rng = np.random.default_rng(13)
    stored, now, _ = part(rng, 4000, noise=0.35, shift=0.0, cluster_sd=0.0, cluster_size=1)
    low = stored <= 3
    by_score = recheck_shift(stored, now, stored[low], now[low])
    at_random = recheck_shift(stored[:2000], now[:2000], stored[2000:], now[2000:])
    assert by_score.drift.interval.low > 0.05
    assert at_random.drift.interval.low <= 0 <= at_random.drift.interval.high
