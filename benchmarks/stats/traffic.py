"""Simulated traffic: answers of an assistant, in conversations, graded by the judge that grades the anchors.

Answers and anchors of one run share the shock of the day. Truths are expectations under the judge as it was before
any change, which is the scale that corrected means are given on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.stats.simulator import FloatArray, Judge, draw_opinions, expected_scores, say_scores

TRUTH_ANSWERS = 20_000


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """What the assistant produces.

    Attributes:
        level_shares: Shares of the answers that deserve 1, 2, 3, 4 and 5.
        conversation_size: Answers of a conversation, on average.
        conversation_sd: Spread of what the answers of a conversation share, in points.
        day_sd: Spread of what the answers of a day share, in points: real changes from day to day.
    """

    level_shares: tuple[float, ...] = (0.05, 0.10, 0.20, 0.40, 0.25)
    conversation_size: float = 1.5
    conversation_sd: float = 0.33
    day_sd: float = 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """Answers of a day, arrays of shape (N,): right scores, the unchanged judge's opinions and noise, conversations."""

    levels: FloatArray
    opinions: FloatArray
    own_sd: FloatArray
    conversations: np.ndarray


def draw_answers(
    traffic: Traffic, judge: Judge, n: int, rng: np.random.Generator, *, quality: float = 0.0
) -> Answers:  # fmt: skip
    """Draw the answers of one day.

    Args:
        traffic: Who asks and what is answered.
        judge: Whose opinions they are.
        n: Answers.
        rng: Where chance comes from.
        quality: By how many points every answer is better than it was.
    """
    n_conversations = max(1, round(n / traffic.conversation_size))
    conversations = rng.integers(0, n_conversations, n)
    shared = rng.normal(0, traffic.conversation_sd, n_conversations)[conversations]
    levels = rng.choice(np.arange(1.0, 6.0), size=n, p=traffic.level_shares) + shared + quality
    levels = levels + rng.normal(0, traffic.day_sd)
    opinions, own_sd = draw_opinions(judge.noise, levels, rng)
    levels = np.clip(np.floor(levels + 0.5), 1, 5)
    return Answers(levels=levels, opinions=opinions, own_sd=own_sd, conversations=conversations)


def grade(answers: Answers, judge: Judge, age: int, shock: float, rng: np.random.Generator) -> FloatArray:
    """Scores the judge gives at this age, on a day with this shock, shape (N,)."""
    own, slips = judge.restlessness(age)
    opinions = judge.opinions(answers.opinions, answers.levels, age)
    noise = own * answers.own_sd * rng.normal(0, 1, len(opinions))
    return say_scores(opinions + shock + noise, judge.noise.slip_rate * slips, rng)


def true_means(
    traffic: Traffic, judge: Judge, quality: float, rng: np.random.Generator, *, n: int = TRUTH_ANSWERS
) -> tuple[float, float]:
    """Expected mean by the unchanged judge, and by the changed one, over the same answers.

    Args:
        traffic: Whose answers; days count as average ones.
        judge: The judge and its change, finished.
        quality: As in ``draw_answers``.
        rng: Where chance comes from.
        n: Answers averaged over.
    """
    ordinary = Traffic(
        level_shares=traffic.level_shares,
        conversation_size=traffic.conversation_size,
        conversation_sd=traffic.conversation_sd,
    )
    answers = draw_answers(ordinary, judge, n, rng, quality=quality)
    own, slips = judge.restlessness(judge.change.runs)
    now = expected_scores(
        judge.opinions(answers.opinions, answers.levels, judge.change.runs),
        answers.own_sd,
        judge.noise,
        own_factor=own,
        slip_factor=slips,
    )
    before = expected_scores(answers.opinions, answers.own_sd, judge.noise)
    return float(before.mean()), float(now.mean())
