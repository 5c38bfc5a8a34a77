"""What stands beside the score."""

from __future__ import annotations

import json

import pytest

from evaluator.judges.parse import parse_reply
from evaluator.judges.practice.grading import WEIGHTS, Assessment, assess
from evaluator.judges.practice.wording import explain
from evaluator.records import Rubric, RubricLevel

LEVELS = tuple(RubricLevel(score=score, name=f"level {score}", description="") for score in range(1, 6))
RUBRIC = Rubric(name="r", criterion="overall", question="How good?", scale_min=1, scale_max=5, levels=LEVELS)


def test_keys_come_reasoning_first_and_score_last() -> None:
    """The order in which the shipped prompt asks for them."""
    text = explain(assess("How long?", "It takes 3 days.")).as_json(4)
    assert list(json.loads(text)) == ["reasoning", "strengths", "weaknesses", "score"]
    assert json.loads(text)["score"] == 4


@pytest.mark.parametrize(
    "answer", ["It takes 3 days.", "", 'He said "score": 1.', "Das dauert 3 Tage und dann noch einen."]
)
def test_reply_can_be_read_by_the_parser_of_verdicts(answer: str) -> None:
    """Score and words arrive whole."""
    explanation = explain(assess("How long?", answer))
    verdict = parse_reply(explanation.as_json(4), rubric=RUBRIC, finish_reason="stop")
    assert verdict.score == 4
    assert verdict.explanation == explanation.reasoning
    assert (verdict.strengths, verdict.weaknesses) == (explanation.strengths, explanation.weaknesses)


def test_reasoning_names_what_counted() -> None:
    """For and against, in one sentence each."""
    explanation = explain(assess("How long?", "Stop asking! Wait 3 days, then check Account > Orders on day 4."))
    assert explanation.reasoning.startswith("In favour: the answer ")
    assert "gives concrete details" in explanation.reasoning
    assert "Against: it talks down to the reader" in explanation.reasoning
    assert explanation.reasoning.count(".") <= 2


def test_german_answers_are_explained_in_german() -> None:
    """The explanation is read beside the answer."""
    explanation = explain(assess("Wie lange?", "Das dauert 3 Tage, wenn nichts fehlt, und dann sind Sie dran."))
    assert explanation.reasoning.startswith("Dafür spricht: Die Antwort ")
    assert "nennt konkrete Einzelheiten" in explanation.strengths


def test_answers_in_no_known_language_are_explained_in_english() -> None:
    """Someone has to be able to read it."""
    assert explain(assess("Quand ?", "Demain matin, certainement.")).reasoning.startswith(("In favour", "Against"))


def test_every_answer_has_something_said_about_it() -> None:
    """An empty answer too."""
    assert explain(assess("", "")).weaknesses == ("has few concrete details",)


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("name", WEIGHTS)
def test_every_feature_has_words_in_both_languages(name: str, language: str) -> None:
    """A feature without words would end the call in an error."""
    signs = (1.0, -1.0) if name in ("reference", "harm") else (WEIGHTS[name],)
    for sign in signs:
        explanation = explain(Assessment(latent=3.0, contributions={name: sign}, language=language))
        n_named = len(explanation.strengths) + len(explanation.weaknesses)
        assert n_named == (1 if name == "details" else 2)  # beside it: few details


def test_no_more_than_three_of_each_are_named() -> None:
    """The rest is detail."""
    everything = Assessment(latent=3.0, contributions=dict(WEIGHTS), language="en")
    assert len(explain(everything).strengths) == 3
    assert len(explain(everything).weaknesses) == 3
