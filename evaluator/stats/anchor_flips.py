"""One anchor among many that left its usual score for good: evidence that holds whatever the anchors have in common.

Every anchor flips now and then, some often. How often is not known, but the runs seen so far bound it; an anchor that
stays away longer than that bound allows has changed. What was seen is believed only some time later, so that a break
cannot pass for a habit before it is noticed. The streams of all anchors are averaged, so that no correction for their
number is needed.

Sources: Shin, Ramdas and Rinaldo, E-detectors, arXiv 2203.03532 (averages of e-detectors are e-detectors).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from evaluator.stats.numeric import BoolArray, FloatArray

BOUND_LEVEL = 0.9  # of the upper limit for an anchor's flip probability
LEAST_FLIPS = 0.02
MOST_FLIPS = 0.999
ALTERNATIVES = (0.5, 0.9)  # how often a changed anchor is off its usual score
BELIEVED_AFTER = 30  # runs; an anchor that left for good is noticed within ten
RELEARNED_EVERY = 10  # runs, and by a tenth of all: a long history need not be counted again each time
HALF_A_LEVEL = 0.5 - 1e-9  # nearer than that to its usual score, an anchor has not left it


@dataclass(frozen=True, kw_only=True)
class FlipChange:
    """An anchor that left its usual score.

    Attributes:
        anchor: Its column.
        index: First run after the change, counted from the first run that was watched.
        low: First run of the 95 % set.
        high: Last run of it.
    """

    anchor: int
    index: int
    low: int
    high: int


class AnchorFlips:
    """Bernoulli e-detectors of all anchors, run by run.

    Args:
        reference: Scores of the runs that define "usual", shape (B, K), nan where missing, 1..5 equivalents.
        most_learned: Runs, reference included, that are learned from at once; later ones only after thirty more.

    An anchor without a score in the reference is not watched until it has one.
    """

    def __init__(self, reference: npt.ArrayLike, *, most_learned: int) -> None:
        self._seen = np.asarray(reference, dtype=np.float64).copy()
        self._waiting: list[FloatArray] = []
        self._most_learned = most_learned
        self._evidence = np.zeros((len(ALTERNATIVES), self._seen.shape[1]))
        self._log_path: list[FloatArray] = []
        self._learn()

    @property
    def value(self) -> float:
        """Evidence: the average over anchors and alternatives."""
        return float(self._evidence.mean())

    def update(self, scores: npt.ArrayLike) -> float:
        """Take in the scores of the next counted run, shape (K,); returns the evidence after it."""
        row = np.asarray(scores, dtype=np.float64)
        known = ~np.isnan(row) & ~np.isnan(self._usual)
        left = known & (np.abs(row - self._usual) >= HALF_A_LEVEL)
        factor = np.where(left[None, :], self._up, self._down)
        factor[:, ~known] = 1.0
        self._evidence = (self._evidence + known[None, :]) * factor
        self._log_path.append(np.log(factor))
        self._waiting.append(row)
        if len(self._seen) < self._most_learned:
            self._believe(1)
        else:
            due = max(RELEARNED_EVERY, len(self._seen) // 10)
            if len(self._waiting) >= BELIEVED_AFTER + due:
                self._believe(due)
        return self.value

    @property
    def leading(self) -> int:
        """Column of the anchor with most evidence."""
        return int(np.argmax(self._evidence.max(axis=0)))

    def change_of(self, anchor: int, n_watched: int | None = None) -> FlipChange:
        """When an anchor left its usual score: the posterior over the first run away.

        Args:
            anchor: Its column; the one that led when the alarm fired.
            n_watched: Runs watched when the alarm fired; all by default. Later ones bear on every date up to it alike,
                and by them what lasts has become usual: they must not be asked.

        Raises:
            ValueError: no run was watched yet.
        """
        path_to_alarm = self._log_path[:n_watched]
        if not path_to_alarm:
            raise ValueError("no run was watched yet")
        paths = np.array([factors[:, anchor] for factors in path_to_alarm])
        sums = np.cumsum(paths[::-1], axis=0)[::-1]
        path = paths[:, int(np.argmax(sums.max(axis=0)))]
        since = np.cumsum(path[::-1])[::-1]  # log evidence of a change right before each run
        weight = np.exp(since - since.max())
        weight /= weight.sum()
        order = np.argsort(-weight, kind="stable")
        chosen = order[: int(np.searchsorted(np.cumsum(weight[order]), 0.95)) + 1]
        return FlipChange(anchor=anchor, index=int(order[0]), low=int(chosen.min()), high=int(chosen.max()))

    def _believe(self, n: int) -> None:
        """Learn from the oldest runs that wait."""
        self._seen = np.vstack([self._seen, *self._waiting[:n]])
        del self._waiting[:n]
        self._learn()

    def _learn(self) -> None:
        """What is usual for each anchor, and how often it may flip, by the runs seen so far."""
        usual, off, n = _usual(self._seen)
        self._usual = usual
        probability = np.clip(upper_limit(off, n), LEAST_FLIPS, MOST_FLIPS)
        alternative = np.maximum(np.array(ALTERNATIVES)[:, None], np.minimum(1.3 * probability, MOST_FLIPS)[None, :])
        self._up = alternative / probability
        self._down = (1 - alternative) / (1 - probability)


def upper_limit(off: npt.ArrayLike, n: npt.ArrayLike) -> FloatArray:
    """One-sided 90 % Clopper-Pearson limit of a share; 1 without any observation.

    Args:
        off: Times that it happened, any shape.
        n: Times that it could have, same shape.
    """
    happened, possible = np.asarray(off, dtype=np.float64), np.asarray(n, dtype=np.float64)
    inside = (possible > 0) & (happened < possible)
    limit = special.betaincinv(
        np.where(inside, happened + 1, 1.0), np.where(inside, possible - happened, 1.0), BOUND_LEVEL
    )
    return np.asarray(np.where(inside, limit, 1.0), dtype=np.float64)


def _usual(seen: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Each anchor's usual score, times it was off it, and scores it has.

    The usual score is the most frequent level, where levels are whole 1..5 equivalents; scores of a finer scale are
    represented by the median of those at that level.
    """
    known = ~np.isnan(seen)
    n = known.sum(axis=0)
    usual = np.full(seen.shape[1], math.nan)
    values = seen[:, n > 0]
    if values.size:
        at = np.floor(values + 0.5)
        levels = np.unique(at[~np.isnan(at)])
        counts = np.stack([(at == level).sum(axis=0) for level in levels])
        usual[n > 0] = np.nanmedian(np.where(at == levels[counts.argmax(axis=0)], values, np.nan), axis=0)
    away: BoolArray = known & (np.abs(seen - usual) >= HALF_A_LEVEL)
    return usual, away.sum(axis=0).astype(np.float64), n.astype(np.float64)
