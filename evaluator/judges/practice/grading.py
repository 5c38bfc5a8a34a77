"""How the practice judge arrives at a score: from the look of the text, and from the mood of the day.

This is for practice, not for judging: it reads no meaning and knows no facts, so a fluent falsehood gets a good grade.
What it gives the demo is a judge whose scores follow people's scores roughly, hold still from day to day but for a few
answers on the edge between two levels, and can be made generous with one switch. Pure: no clock, no random state.

Where the weights come from: least squares of the features on the expected scores of the general anchors and on the
levels of the sample traffic, the anchors with twice the total weight, ridge 3, every sign held to its plain meaning;
then stretched by 1.15, so that the whole scale is used, and rounded by hand. Least squares found no use for
``on_question`` and ``vague`` beside the other features: they got a small weight by hand, and ``grader`` a larger one.
Rank correlation with the expected scores: about 0.75 on the anchors (0.71 when each fifth of the prompts is graded by
weights fitted to the other four) and 0.82 on the traffic. The word lists were written with these texts in view, which
no such split undoes: expect less on other texts.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass

from evaluator.judges.practice.features import Text, extract_features
from evaluator.records import content_hash

SCORE_MIN = 1
SCORE_MAX = 5

START = 2.25
WEIGHTS: Mapping[str, float] = {
    "on_question": 0.2,  # takes up the words of the question
    "length": 0.5,  # says enough; 60 words count in full
    "details": 1.4,  # figures, names, quoted words, menu paths
    "steps": 0.9,  # list lines and step words
    "conditions": 0.8,  # if, unless, because: exceptions and reasons
    "reference": 1.25,  # carries what is new in the reference answer; contradicting it counts against
    "vague": -0.3,  # hedges per sentence
    "padding": -1.2,  # pleasantries per sentence
    "self_correction": -2.0,  # false starts
    "refusal": -1.3,  # declines without a reason
    "rude": -1.4,  # talks down to the reader
    "grader": -1.6,  # addresses the grader or grades itself
    "language": -1.0,  # another language than the question's
    "harm": -1.7,  # goes along with something harmful; declining it with a reason counts in favour
}

# Half widths in scale units. Together they decide how far from the edge between two levels a score still flips;
# the shape is a triangle for the day, common to all texts, and flat for the single text.
DAY_HALF_WIDTH = 0.075
TEXT_HALF_WIDTH = 0.07


@dataclass(frozen=True, kw_only=True)
class Mood:
    """What sways the judge on a given day; the texts stay the same.

    ``day`` seeds the day's effect, ``generosity`` is added to every latent score (scale units), ``noise_factor``
    multiplies the effects of day and text. ``resolved_model`` and ``fingerprint`` are only what the replies say.
    """

    day: int = 0
    generosity: float = 0.0
    noise_factor: float = 1.0
    resolved_model: str = "practice-judge-1"
    fingerprint: str = "practice-1"

    def __post_init__(self) -> None:
        if not math.isfinite(self.generosity):
            raise ValueError(f"generosity must be a finite number, not {self.generosity}")
        if not (math.isfinite(self.noise_factor) and self.noise_factor >= 0):
            raise ValueError(f"noise_factor must be 0 or more, not {self.noise_factor}")


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """What the judge makes of one text before any mood.

    ``latent`` is the score on 1..5, not rounded; ``contributions`` what each feature that was seen added to it;
    ``language`` that of the answer, None when unclear.
    """

    latent: float
    contributions: Mapping[str, float]
    language: str | None


def assess(question: str, answer: str, reference: str = "") -> Assessment:
    """Grade a text from its features and keep what each of them counted."""
    features = extract_features(question, answer, reference)
    contributions = {name: WEIGHTS[name] * value for name, value in features.items() if value}
    return Assessment(
        latent=_on_scale(START + sum(contributions.values())),
        contributions=contributions,
        language=Text(answer).language,
    )


def grade_text(question: str, answer: str, reference: str = "") -> float:
    """Latent score of an answer on 1..5, not rounded; the same for the same texts always."""
    return assess(question, answer, reference).latent


def text_key(question: str, answer: str, reference: str = "") -> str:
    """Hash of the texts: the ``content_id`` of an item without contexts whose texts came through unchanged."""
    return content_hash(question, answer, reference or None, [])


def score_on_day(latent: float, text_key: str, mood: Mood) -> int:
    """Whole score of a text on the day of the mood.

    Args:
        latent: Latent score on 1..5.
        text_key: Names the text; two texts with the same key share their noise.
        mood: The judge's mood.
    Returns:
        1 to 5. The same mood, text and latent score always give the same.
    """
    day_effect = DAY_HALF_WIDTH * (_uniform("day", mood.day) + _uniform("day again", mood.day) - 1.0)
    text_effect = TEXT_HALF_WIDTH * (2.0 * _uniform("text", mood.day, text_key) - 1.0)
    swayed = latent + mood.generosity + mood.noise_factor * (day_effect + text_effect)
    return math.floor(_on_scale(swayed) + 0.5)


def _on_scale(score: float) -> float:
    return min(float(SCORE_MAX), max(float(SCORE_MIN), score))


def _uniform(*parts: object) -> float:
    """A number in [0, 1) that depends on the parts and on nothing else."""
    digest = hashlib.blake2b("|".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2.0**64
