"""How soon any detector at all could know: the limit of Lorden for one false alarm a year.

A detector that alarms once in A quiet runs needs, in its worst case, about log(A)/I runs to see a change, where I is
the information a run carries about it. The information is computed from the simulator's own law, which no detector
knows: no baseline to estimate, no way of changing to guess. The limit is asymptotic; small figures are a guide.

Source: Lorden, Annals of Mathematical Statistics 42, 1971; Moustakides, Annals of Statistics 14, 1986.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, ndtr

from benchmarks.stats.simulator import (
    BOUNDARIES,
    NO_CHANGE,
    Change,
    FloatArray,
    Judge,
    Noise,
    draw_anchors,
    generator,
    simulate_runs,
)

RUNS_PER_YEAR = 365
N_RUNS = 200
LEAST_PROBABILITY = 1e-12
NODES_OF_A_DAY = 41


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Mean limits over anchor sets, in runs, at least one each: by all that a run says, and by its mean alone."""

    exact: float
    mean_only: float


def limits_of(noise: Noise, change: Change, *, n: int, seed: int, name: str) -> Limits | None:
    """Average the limits over n anchor sets.

    None for a creep, which has no one law after the change, and for days that hang together, whose law would need the
    day before.
    """
    if change.kind == "creep" or noise.day_correlation > 0:
        return None
    exact, mean_only = [], []
    for number in range(n):
        rng = generator(seed, "limits", name, change.name, number)
        judge = Judge(noise, draw_anchors(noise, rng), change, rng)
        quiet = Judge(noise, judge.anchors, NO_CHANGE, rng)
        before, after = simulate_runs(quiet, N_RUNS, N_RUNS, rng), simulate_runs(judge, N_RUNS, 0, rng)
        ratios = RunLaw(judge, age=0).log_likelihoods(after) - RunLaw(judge, age=-1).log_likelihoods(after)
        exact.append(_in_runs(float(ratios.mean())))
        mean_only.append(_in_runs(_information_of_mean(before, after)))
    return Limits(exact=float(np.mean(exact)), mean_only=float(np.mean(mean_only)))


def _in_runs(information: float) -> float:
    """Information a run, in nats, as a delay between one run and one year."""
    return min(max(1.0, math.log(RUNS_PER_YEAR) / max(information, 1e-9)), float(RUNS_PER_YEAR))


def _information_of_mean(before: FloatArray, after: FloatArray) -> float:
    """Information in the mean of the paired differences alone, taken as Gaussian."""
    reference = np.nanmean(before, axis=0)
    means = [
        np.nanmean((rows - reference)[(~np.isnan(rows)).sum(axis=1) >= 3], axis=1) for rows in (before, after)
    ]  # fmt: skip
    return float((means[1].mean() - means[0].mean()) ** 2 / (2 * means[0].var()))


class RunLaw:
    """Exact law of one run's scores at one age of the judge; the shock of the day is integrated out."""

    def __init__(self, judge: Judge, *, age: int) -> None:
        noise = judge.noise
        own, slips = judge.restlessness(age)
        nodes, weights = _days(noise)
        latent = judge.anchor_opinions(age)[None, :, None] + nodes[:, None, None]
        sd = np.maximum(judge.anchors.own_sd * own, 1e-6)[None, :, None]
        under = ndtr((BOUNDARIES[None, None, :] - latent) / sd)
        said = np.diff(under, axis=2, prepend=0.0, append=1.0)
        self._log_weights = np.log(weights)
        self._log_probabilities = np.log(_with_slips(said, noise.slip_rate * slips)).reshape(len(nodes), -1)

    def log_likelihoods(self, scores: FloatArray) -> FloatArray:
        """Log likelihood of each run, shape (R,); missing scores carry nothing."""
        levels = np.arange(1.0, 6.0)
        said = (scores[:, :, None] == levels[None, None, :]).reshape(len(scores), -1).astype(np.float64)
        return np.asarray(logsumexp(said @ self._log_probabilities.T + self._log_weights, axis=1), dtype=np.float64)


def _days(noise: Noise) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights for the shock of a day: a narrow and a wide normal."""
    wide = noise.day_sd * noise.bad_day_factor
    steps = np.linspace(-1, 1, NODES_OF_A_DAY)
    nodes = np.unique(np.round(np.concatenate([5 * noise.day_sd * steps, 4 * wide * steps]), 9))
    density = (1 - noise.bad_day_rate) * _normal(nodes, noise.day_sd) + noise.bad_day_rate * _normal(nodes, wide)
    weights = density * np.gradient(nodes)
    return nodes, weights / weights.sum()


def _normal(at: FloatArray, sd: float) -> FloatArray:
    return np.asarray(np.exp(-0.5 * (at / sd) ** 2) / sd, dtype=np.float64)


def _with_slips(said: FloatArray, rate: float) -> FloatArray:
    """Probabilities of the scores once some slip by one and stay on the scale; the last axis is the score."""
    up, down = np.zeros_like(said), np.zeros_like(said)
    up[..., 1:], down[..., :-1] = said[..., :-1], said[..., 1:]
    up[..., -1] += said[..., -1]
    down[..., 0] += said[..., 0]
    return np.maximum((1 - rate) * said + 0.5 * rate * (up + down), LEAST_PROBABILITY)
