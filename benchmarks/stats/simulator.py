"""Simulated judges: scores of fixed anchors, run by run, before and after a change that is known.

A judge holds an opinion of every anchor on a line and says the nearest whole score from 1 to 5. Three things disturb
it: noise of the anchor's own, so small that most anchors repeat exactly and only those near a boundary flip; a shock
of the day that all answers of a run share; and a rare slip by one point. Scores get lost one by one, in outages and
by whole runs. What traffic makes of the same judge is ``traffic``'s; which settings are run is ``settings``'.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

FloatArray = npt.NDArray[np.float64]

BOUNDARIES = np.array([1.5, 2.5, 3.5, 4.5])
LOWEST_OPINION, HIGHEST_OPINION = 0.6, 5.4
MOST_SHIFT = 4.0
BISECTIONS = 60

Kind = Literal["none", "step", "creep", "compression", "low_end", "noise", "broken_anchor"]


@dataclass(frozen=True, kw_only=True)
class Noise:
    """How restless a judge is.

    Attributes:
        n_anchors: Anchors in the set.
        level_shares: Shares of the anchors whose right score is 1, 2, 3, 4 and 5.
        disagreement_sd: Spread of the judge's opinions about the right scores; frozen, it is no noise.
        own_sd: Median of the anchors' own noise, in points.
        own_sd_spread: Spread of its logarithm between anchors.
        slip_rate: How often a score is off by one for no reason.
        day_sd: Spread of the shock that a run's answers share, in points.
        bad_day_rate: Share of days whose shock is ``bad_day_factor`` times as wide.
        bad_day_factor: See there.
        day_correlation: Correlation of the shock with the day before's.
        missing_rate: Share of scores that get lost.
        outage_rate: Share of runs that lose ``outage_loss`` of their scores.
        outage_loss: See there.
        lost_rate: Share of runs that are lost whole.
    """

    n_anchors: int = 50
    level_shares: tuple[float, ...] = (0.15, 0.20, 0.25, 0.25, 0.15)
    disagreement_sd: float = 0.35
    own_sd: float = 0.05
    own_sd_spread: float = 0.6
    slip_rate: float = 0.004
    day_sd: float = 0.03
    bad_day_rate: float = 0.01
    bad_day_factor: float = 4.0
    day_correlation: float = 0.0
    missing_rate: float = 0.02
    outage_rate: float = 0.01
    outage_loss: float = 0.3
    lost_rate: float = 0.003


@dataclass(frozen=True, kw_only=True)
class Change:
    """What happens to the judge.

    Attributes:
        name: As the tables show it.
        kind: "step" and "creep" move the mean score by ``size`` points; "compression" pulls opinions that share of the
            way towards ``target``; "low_end" lifts anchors of 1 to 3 by ``size``; "noise" multiplies the anchors' own
            noise; "broken_anchor" moves the opinion of one anchor by ``size``.
        size: See there.
        target: Score that a compression pulls towards.
        runs: Runs until a creep has reached its size.
        slip_factor: What "noise" multiplies the slips by.
    """

    name: str
    kind: Kind
    size: float = 0.0
    target: float = 4.0
    runs: int = 1
    slip_factor: float = 1.0


NO_CHANGE = Change(name="none", kind="none")


@dataclass(frozen=True, kw_only=True, eq=False)
class Anchors:
    """The anchors and what this judge thinks of them; arrays of shape (K,).

    Attributes:
        levels: Right scores.
        opinions: The judge's opinions, on the line that scores are read off.
        own_sd: Noise of each.
    """

    levels: FloatArray
    opinions: FloatArray
    own_sd: FloatArray


def generator(seed: int, *names: object) -> np.random.Generator:
    """A random generator of its own for every stream, the same whatever else is drawn before."""
    digest = hashlib.sha256("/".join(map(str, names)).encode()).digest()
    return np.random.default_rng([seed, *np.frombuffer(digest, dtype=np.uint32).tolist()])


def draw_opinions(noise: Noise, levels: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Opinions about answers of these right scores, and the noise of each."""
    n = len(levels)
    opinions = levels + rng.uniform(-0.45, 0.45, n) + rng.normal(0, noise.disagreement_sd, n)
    own_sd = noise.own_sd * np.exp(rng.normal(0, noise.own_sd_spread, n))
    return np.clip(opinions, LOWEST_OPINION, HIGHEST_OPINION), own_sd


def draw_anchors(noise: Noise, rng: np.random.Generator) -> Anchors:
    """An anchor set and a judge's opinions of it."""
    levels = rng.choice(np.arange(1.0, 6.0), size=noise.n_anchors, p=noise.level_shares)
    opinions, own_sd = draw_opinions(noise, levels, rng)
    return Anchors(levels=levels, opinions=opinions, own_sd=own_sd)


def expected_scores(
    opinions: FloatArray, own_sd: FloatArray, noise: Noise, *, own_factor: float = 1.0, slip_factor: float = 1.0
) -> FloatArray:
    """Exact long-run mean score of each answer, shape (K,); days, slips and both ends of the scale included."""
    above = np.zeros((len(opinions), len(BOUNDARIES)))
    rate = noise.bad_day_rate
    for share, day_sd in ((1 - rate, noise.day_sd), (rate, noise.day_sd * noise.bad_day_factor)):
        sd = np.maximum(np.hypot(own_sd * own_factor, day_sd), 1e-9)
        above += share * ndtr((opinions[:, None] - BOUNDARIES[None, :]) / sd[:, None])
    # a slip cannot leave the scale: half of those at an end come back to it
    inwards = 0.5 * noise.slip_rate * slip_factor * ((1 - above[:, 0]) - above[:, -1])
    return np.asarray(1.0 + above.sum(axis=1) + inwards, dtype=np.float64)


class Judge:
    """One judge that changes in one way; ages count runs from the change, negative before it."""

    def __init__(self, noise: Noise, anchors: Anchors, change: Change, rng: np.random.Generator) -> None:
        self.noise, self.anchors, self.change = noise, anchors, change
        self._shift = self._solve() if change.kind in ("step", "creep") else 0.0
        middle = np.flatnonzero((anchors.levels >= 2) & (anchors.levels <= 4))
        self._broken = int(rng.choice(middle if len(middle) else np.arange(len(anchors.levels))))

    def opinions(self, opinions: FloatArray, levels: FloatArray, age: int) -> FloatArray:
        """What the judge thinks at this age of answers whose unchanged opinions and right scores are given."""
        change = self.change
        if age < 0 or change.kind in ("none", "noise", "broken_anchor"):
            return opinions
        if change.kind == "compression":
            return opinions + change.size * (change.target - opinions)
        if change.kind == "low_end":
            return opinions + change.size * (levels <= 3)
        return opinions + self._shift * min(1.0, (age + 1) / change.runs)

    def anchor_opinions(self, age: int) -> FloatArray:
        """Opinions of the anchors at this age, shape (K,)."""
        found = self.opinions(self.anchors.opinions, self.anchors.levels, age)
        if self.change.kind == "broken_anchor" and age >= 0:
            found = found.copy()
            upwards = found[self._broken] < 3.5
            found[self._broken] += self.change.size if upwards else -self.change.size
        return found

    def restlessness(self, age: int) -> tuple[float, float]:
        """Factors on the anchors' own noise and on the slips at this age."""
        is_restless = self.change.kind == "noise" and age >= 0
        return (self.change.size, self.change.slip_factor) if is_restless else (1.0, 1.0)

    def true_shift(self, age: int) -> float:
        """By how much the expected mean score of the anchors differs from what it was."""
        own, slips = self.restlessness(age)
        now = expected_scores(
            self.anchor_opinions(age), self.anchors.own_sd, self.noise, own_factor=own, slip_factor=slips
        )
        before = expected_scores(self.anchors.opinions, self.anchors.own_sd, self.noise)
        return float((now - before).mean())

    def _solve(self) -> float:
        """Shift of all opinions that moves the expected mean score by ``size``, by bisection."""
        anchors, wanted = self.anchors, self.change.size
        before = expected_scores(anchors.opinions, anchors.own_sd, self.noise).mean()
        least, most = (0.0, MOST_SHIFT) if wanted > 0 else (-MOST_SHIFT, 0.0)
        for _ in range(BISECTIONS):
            middle = 0.5 * (least + most)
            moved = expected_scores(anchors.opinions + middle, anchors.own_sd, self.noise).mean() - before
            least, most = (middle, most) if moved < wanted else (least, middle)
        return 0.5 * (least + most)


def day_shocks(noise: Noise, n_runs: int, rng: np.random.Generator) -> FloatArray:
    """The shock of each run, shape (R,)."""
    fresh = rng.normal(0, noise.day_sd, n_runs)
    bad = rng.random(n_runs) < noise.bad_day_rate
    shocks = fresh
    if noise.day_correlation > 0:
        kept, new = noise.day_correlation, float(np.sqrt(1 - noise.day_correlation**2))
        last = rng.normal(0, noise.day_sd)
        shocks = np.empty(n_runs)
        for run in range(n_runs):
            last = kept * last + new * fresh[run]
            shocks[run] = last
    return np.where(bad, shocks * noise.bad_day_factor, shocks)


def say_scores(latent: FloatArray, slip_rate: FloatArray | float, rng: np.random.Generator) -> FloatArray:
    """Whole scores from 1 to 5, with slips."""
    said = np.clip(np.floor(latent + 0.5), 1, 5)
    slips = rng.random(said.shape) < slip_rate
    moved = np.clip(said + rng.choice([-1.0, 1.0], size=said.shape), 1, 5)
    return np.where(slips, moved, said)


def simulate_runs(
    judge: Judge, n_runs: int, change_at: int, rng: np.random.Generator, *, shocks: FloatArray | None = None
) -> FloatArray:
    """Scores of the anchors, shape (R, K), nan where one got lost.

    Args:
        judge: The judge and what happens to it.
        n_runs: Runs.
        change_at: First run after the change; n_runs or more for none.
        rng: Where chance comes from.
        shocks: Shocks of the days where traffic shares them, shape (R,); drawn by default.
    """
    noise, n_anchors = judge.noise, judge.noise.n_anchors
    days = day_shocks(noise, n_runs, rng) if shocks is None else shocks
    ages = np.arange(n_runs) - change_at
    settled = judge.change.runs
    opinions = np.array([judge.anchor_opinions(age) for age in range(-1, settled)])[np.clip(ages, -1, settled - 1) + 1]
    factors = np.array([judge.restlessness(int(age)) for age in ages])
    own = factors[:, :1] * judge.anchors.own_sd * rng.normal(0, 1, (n_runs, n_anchors))
    scores = say_scores(opinions + days[:, None] + own, noise.slip_rate * factors[:, 1:], rng)
    loss = np.where(rng.random(n_runs) < noise.outage_rate, noise.outage_loss, noise.missing_rate)
    loss = np.where(rng.random(n_runs) < noise.lost_rate, 1.0, loss)
    scores[rng.random(scores.shape) < loss[:, None]] = np.nan
    return scores
