"""Seeded judges for the statistics tests: anchors that mostly repeat, some that flip, a shock common to the run."""

from dataclasses import dataclass

import numpy as np
from hypothesis import settings
from numpy.typing import NDArray

PROPERTY = settings(derandomize=True, deadline=None, max_examples=40, database=None)

FLOOR_50 = (0.02 / 50) ** 0.5


@dataclass(frozen=True, kw_only=True)
class Judge:
    """Noise of a simulated judge; the defaults give a spread of 0.036 between runs with 50 anchors."""

    n_anchors: int = 50
    flipping_share: float = 0.2
    run_sd: float = 0.026
    run_correlation: float = 0.0
    bad_run_share: float = 0.01
    missing_share: float = 0.02


QUIET = Judge(flipping_share=0.04, run_sd=0.002, bad_run_share=0.0)


def run_shocks(judge: Judge, n_runs: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Shock of every run, shape (n_runs,); a bad run's is four times wider."""
    noise = rng.normal(0, judge.run_sd, n_runs)
    for run in range(1, n_runs):
        keep = judge.run_correlation
        noise[run] = keep * noise[run - 1] + (1 - keep**2) ** 0.5 * noise[run]
    return np.where(rng.random(n_runs) < judge.bad_run_share, 4 * noise, noise)


def anchor_scores(
    judge: Judge, n_runs: int, rng: np.random.Generator, *, shift: float = 0.0, change_at: int | None = None
) -> NDArray[np.float64]:
    """Scores of the anchors, runs by anchors, nan where missing; from ``change_at`` on all are shifted."""
    modal = rng.integers(2, 5, judge.n_anchors).astype(float)
    flips_at_all = rng.permutation(judge.n_anchors) < round(judge.flipping_share * judge.n_anchors)
    probability = np.where(flips_at_all, rng.uniform(0.05, 0.5, judge.n_anchors), 0.004)
    direction = rng.choice([-1.0, 1.0], judge.n_anchors)
    flipped = rng.random((n_runs, judge.n_anchors)) < probability
    scores = modal + flipped * direction + run_shocks(judge, n_runs, rng)[:, None]
    if change_at is not None:
        scores[change_at:] += shift
    scores[rng.random(scores.shape) < judge.missing_share] = np.nan
    return scores
