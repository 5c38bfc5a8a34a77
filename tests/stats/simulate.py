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


@dataclass(frozen=True, kw_only=True)
class Change:
    """What differs between two periods, in points of 1..5.

    Attributes:
        judge_gain: What the judge gives more to an answer at 3.
        judge_slope: What becomes of the distance from 3.
        assistant: Change of every answer.
        easy_before: Share of easy questions before; they score 4, the others 3.
        easy_after: The same after.
    """

    judge_gain: float = 0.0
    judge_slope: float = 1.0
    assistant: float = 0.0
    easy_before: float = 0.7
    easy_after: float = 0.7

    @property
    def shares(self) -> dict[str, float]:
        """True shares of judge, assistant and mix, and the raw change: the judge's line and Kitagawa's split."""
        mix = self.easy_after - self.easy_before
        quality = 3.0 + self.easy_after + self.assistant
        judge = self.judge_gain + (self.judge_slope - 1.0) * (quality - 3.0)
        return {"judge": judge, "assistant": self.assistant, "mix": mix, "raw": judge + self.assistant + mix}


@dataclass(frozen=True, kw_only=True)
class Period:
    """Answers of a period with their kind and conversation, and the anchors of its runs (runs by anchors)."""

    scores: NDArray[np.float64]
    kinds: NDArray[np.str_]
    conversations: NDArray[np.int64]
    anchors: NDArray[np.float64]


def two_periods(
    change: Change,
    rng: np.random.Generator,
    *,
    n_anchors: int = 50,
    n_runs: int = 10,
    answers_a_run: int = 100,
    shock_sd: float = 0.03,
) -> tuple[Period, Period]:
    """Two periods of runs; each anchor drifts a little in its own way, answers of a conversation are alike."""
    levels = rng.uniform(1.5, 4.5, n_anchors)
    own_drift = rng.normal(0, 0.3, n_anchors) if (change.judge_gain, change.judge_slope) != (0.0, 1.0) else 0.0
    found = []
    for is_after in (False, True):
        shock = rng.normal(0, shock_sd, n_runs)
        anchors = levels + rng.normal(0, 0.1, (n_runs, n_anchors))
        n_talks = n_runs * answers_a_run * 2 // 3
        talk = rng.integers(0, n_talks, n_runs * answers_a_run)
        is_easy = rng.random(n_talks) < (change.easy_after if is_after else change.easy_before)
        quality = np.where(is_easy, 4.0, 3.0) + rng.normal(0, 0.4, n_talks) + (change.assistant if is_after else 0.0)
        answers = quality[talk] + rng.normal(0, 0.6, len(talk))
        if is_after:
            anchors = 3.0 + change.judge_gain + change.judge_slope * (anchors - 3.0) + own_drift
            drift = rng.normal(0, 0.3, len(talk)) if np.ndim(own_drift) else 0.0
            answers = 3.0 + change.judge_gain + change.judge_slope * (answers - 3.0) + drift
        found.append(
            Period(
                scores=answers + np.repeat(shock, answers_a_run),
                kinds=np.where(is_easy[talk], "easy", "hard"),
                conversations=talk,
                anchors=anchors + shock[:, None],
            )
        )
    return found[0], found[1]
