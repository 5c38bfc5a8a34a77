"""Whether the practice judge behaves like a judge on the texts that the demo grades: order, stillness, moods.

The bounds leave room for anchors to be dropped or reworded.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import spearmanr

from evaluator.judges.practice.grading import Mood, score_on_day

from .conftest import ROOT, GradedText

N_DAYS = 600


def rank_correlation(texts: Sequence[GradedText], scores: Sequence[float] | np.ndarray) -> float:
    """Spearman's correlation of scores with people's."""
    return float(spearmanr(scores, [text.expected for text in texts]).statistic)


def scores_by_day(texts: Sequence[GradedText], n_days: int = N_DAYS, **mood: float) -> np.ndarray:
    """Scores as an array of days x texts."""
    moods = [Mood(day=day, **mood) for day in range(n_days)]
    return np.array([[score_on_day(text.latent, text.key, mood) for text in texts] for mood in moods])


@pytest.fixture(scope="module")
def quiet(anchors: list[GradedText]) -> np.ndarray:
    """Anchor scores on 600 days on which nothing changes, days x anchors."""
    return scores_by_day(anchors)


def windows(scores: np.ndarray, n_days: int) -> list[np.ndarray]:
    """Cut days x texts into stretches of so many days."""
    return [scores[start : start + n_days] for start in range(0, len(scores), n_days)]


def test_latent_scores_follow_peoples_scores_on_the_anchors(anchors: list[GradedText]) -> None:
    """Good enough to be believed, not so good that the facts must have been known."""
    assert 0.6 < rank_correlation(anchors, [text.latent for text in anchors]) < 0.95


def test_whole_scores_follow_peoples_scores_on_the_anchors(quiet: np.ndarray, anchors: list[GradedText]) -> None:
    """Rounding must not cost the order."""
    assert 0.6 < rank_correlation(anchors, quiet[0]) < 0.95


@pytest.mark.parametrize("language", ["en", "de"])
def test_both_languages_are_graded_alike(language: str, anchors: list[GradedText]) -> None:
    """Neither language may be a guess."""
    chosen = [text for text in anchors if text.language == language]
    assert rank_correlation(chosen, [text.latent for text in chosen]) > 0.55


def test_traffic_levels_are_told_apart(traffic: list[GradedText]) -> None:
    """The regression in the demo is one of traffic levels."""
    assert 0.6 < rank_correlation(traffic, scores_by_day(traffic, 1)[0]) < 0.95


def test_traffic_levels_are_told_apart_in_every_topic(traffic: list[GradedText]) -> None:
    """A regression in one topic must show there."""
    topics = sorted({text.topic for text in traffic})
    by_topic = {topic: [text for text in traffic if text.topic == topic] for topic in topics}
    assert len(topics) >= 3
    assert min(rank_correlation(texts, [text.latent for text in texts]) for texts in by_topic.values()) > 0.55


def test_all_levels_are_used(quiet: np.ndarray) -> None:
    """A judge that gives only 3 and 4 would hide every change."""
    shares = [np.mean(quiet[0] == level) for level in range(1, 6)]
    assert min(shares) > 0.05
    assert max(shares) < 0.5


@pytest.mark.parametrize("n_days", [20, 60])
def test_some_anchors_flip_and_most_hold_still(n_days: int, quiet: np.ndarray) -> None:
    """Between a tenth and a quarter of the anchors have more than one score in 20 and in 60 quiet days."""
    shares = [np.mean(np.ptp(window, axis=0) > 0) for window in windows(quiet, n_days)]
    assert 0.10 < np.mean(shares) < 0.25


def test_only_texts_on_the_edge_between_two_levels_flip(quiet: np.ndarray, anchors: list[GradedText]) -> None:
    """A flip is one level wide, and its text lies near a half."""
    spread = np.ptp(quiet, axis=0)
    from_half = np.array([abs(text.latent % 1.0 - 0.5) for text in anchors])
    assert spread.max() == 1
    assert from_half[spread > 0].max() < 0.15
    assert from_half[spread == 0].mean() > 0.2


def test_mean_of_the_anchors_moves_a_little_from_day_to_day(quiet: np.ndarray) -> None:
    """Between-day spread of the anchor mean, flips included."""
    for n_days in (20, 60):
        spreads = [window.mean(axis=1).std(ddof=1) for window in windows(quiet, n_days)]
        assert 0.02 < np.sqrt(np.mean(np.square(spreads))) < 0.04


def test_days_have_no_trend(quiet: np.ndarray) -> None:
    """Quiet means quiet: the first and the last third of the days have the same mean."""
    means = quiet.mean(axis=1)
    assert abs(means[:200].mean() - means[-200:].mean()) < 0.01


def test_generous_judge_lifts_the_anchors_by_about_a_third_of_a_level(
    quiet: np.ndarray, anchors: list[GradedText]
) -> None:
    """The switch that the demo uses as its judge drift."""
    generous = scores_by_day(anchors, 20, generosity=0.35)
    assert 0.25 < generous.mean() - quiet[:20].mean() < 0.40


def test_generosity_has_less_effect_at_the_ceiling(quiet: np.ndarray, anchors: list[GradedText]) -> None:
    """A 5 cannot become better."""
    lift = scores_by_day(anchors, 20, generosity=0.35).mean(axis=0) - quiet[:20].mean(axis=0)
    usual = np.round(quiet[:20].mean(axis=0))
    assert lift[usual == 5].mean() < 0.1
    assert lift[(usual >= 2) & (usual <= 4)].mean() > 0.25


def test_generosity_lifts_the_traffic_too(traffic: list[GradedText]) -> None:
    """Judge drift is seen on both, which is what tells it from a better assistant."""
    lift = scores_by_day(traffic, 10, generosity=0.35).mean() - scores_by_day(traffic, 10).mean()
    assert 0.15 < lift < 0.45


def test_strict_judge_lowers_the_anchors(quiet: np.ndarray, anchors: list[GradedText]) -> None:
    """Generosity below zero is strictness."""
    assert scores_by_day(anchors, 20, generosity=-0.35).mean() < quiet[:20].mean() - 0.2


def test_noise_factor_scales_the_flips(quiet: np.ndarray, anchors: list[GradedText]) -> None:
    """Nothing flips at 0, more flips at 3."""
    still = scores_by_day(anchors, 20, noise_factor=0.0)
    restless = scores_by_day(anchors, 20, noise_factor=3.0)
    assert np.ptp(still, axis=0).max() == 0
    assert np.mean(np.ptp(restless, axis=0) > 0) > 1.5 * np.mean(np.ptp(quiet[:20], axis=0) > 0)


def test_no_graded_text_is_known_by_heart(anchors: list[GradedText], traffic: list[GradedText]) -> None:
    """No six words in a row of any graded text stand in the judge's source."""
    sources = (ROOT / "evaluator" / "judges" / "practice").glob("*.py")
    known = " ".join(path.read_text(encoding="utf-8") for path in sources).lower()
    for text in [*anchors, *traffic]:
        words = text.answer.lower().split()
        runs = [" ".join(words[start : start + 6]) for start in range(len(words) - 5)]
        assert not [run for run in runs if run in known]
