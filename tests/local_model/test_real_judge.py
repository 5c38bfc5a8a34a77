"""A real small language model as the judge, over the product's own client. Run by ``make test-local`` only.

Prints the figures that the README's word on small models rests on.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import spearmanr

from evaluator.anchor_sets import load_anchors, load_rubric
from evaluator.cli import cli
from evaluator.config import Config, parse_config
from evaluator.judges.base import Judge
from evaluator.judges.local.fetch import hash_file
from evaluator.judges.local.models import DEFAULT_MODEL, MODELS, find_gguf
from evaluator.records import GradeOutcome, Item
from evaluator.scoring.setup import build_judge
from tests.judges.fakes import FakeGate

N_GRADED = 30
N_AGAIN = 6
PAIRS = [
    (
        "How do I change my delivery address?",
        "Open Account, then Addresses, choose Edit beside the address, and save. It counts for orders not yet packed.",
        "No idea. Ask somebody else.",
    ),
    (
        "What is the capital of France?",
        "The capital of France is Paris.",
        "I like bananas.",
    ),
    (
        "Can I return shoes that I wore once outside?",
        "No, worn shoes cannot be returned. Unworn ones can, within 30 days, in the box they came in.",
        "Shoes shoes shoes shoes.",
    ),
    (
        "How many minutes are there in two hours?",
        "Two hours are 120 minutes, since one hour has 60.",
        "The weather is nice today.",
    ),
    (
        "My invoice shows the wrong VAT number. What can I do?",
        "Correct it under Billing, then VAT, and choose Reissue invoice; the new one arrives by mail within a day.",
        "That is your own fault, stop bothering us.",
    ),
]


def configure(folder: Path) -> Config:
    """A configuration that asks for the local judge and for nothing else."""
    values = {"judge": {"model": "local-judge", "base_url": "local"}, "budget": {"calls_per_day": 1000}}
    return parse_config(values, folder=folder, name="judgewatch.toml")


@dataclass(frozen=True)
class Graded:
    """What the model said about some anchors, and again about the first few of them."""

    expected: list[float]
    outcomes: list[GradeOutcome]
    again: list[GradeOutcome]
    seconds_per_call: float


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """Grade anchors once, and a few of them twice."""
    config = configure(tmp_path_factory.mktemp("local"))
    judge, rubric = build_judge(config)
    anchors = [anchor for anchor in load_anchors("general", rubric) if anchor.item.tags["language"] == "en"][:N_GRADED]

    async def grade_all(judge: Judge) -> tuple[list[GradeOutcome], list[GradeOutcome], float]:
        try:
            ids = [(anchor.anchor_id, anchor.item) for anchor in anchors]
            await judge.grade(ids[0][1], item_id=ids[0][0], gate=FakeGate())
            started = time.perf_counter()
            outcomes = [await judge.grade(item, item_id=name, gate=FakeGate()) for name, item in ids]
            seconds = (time.perf_counter() - started) / len(ids)
            again = [await judge.grade(item, item_id=name, gate=FakeGate()) for name, item in ids[:N_AGAIN]]
        finally:
            await judge.close()
        return outcomes, again, seconds

    outcomes, again, seconds = asyncio.run(grade_all(judge))
    expected = [anchor.expected_score for anchor in anchors if anchor.expected_score is not None]
    return Graded(expected=expected, outcomes=outcomes, again=again, seconds_per_call=seconds)


def scores_of(outcomes: list[GradeOutcome]) -> list[float]:
    """The scores; every outcome has one."""
    found = [outcome.verdict.score for outcome in outcomes if outcome.verdict is not None]
    return [score for score in found if score is not None]


def test_file_is_the_one_that_was_pinned() -> None:
    """The model that is judged here is the official file, byte for byte."""
    assert hash_file(find_gguf(None)) == MODELS[DEFAULT_MODEL].sha256


def test_every_answer_gets_a_level_and_an_expected_score(graded: Graded) -> None:
    """The client reads a real model's replies: a score on the scale, and one from the log-probabilities beside it."""
    scores = scores_of(graded.outcomes)
    expected_scores = [outcome.logprob_score for outcome in graded.outcomes if outcome.logprob_score is not None]
    assert len(scores) == len(expected_scores) == N_GRADED
    assert all(1 <= score <= 5 for score in (*scores, *expected_scores))


def test_same_answer_gets_the_same_score(graded: Graded) -> None:
    """Temperature 0, one thread, no cached prompt: the same bytes give the same log-probabilities."""
    for first, second in zip(graded.outcomes, graded.again, strict=False):
        assert first.verdict == second.verdict
        assert first.logprob_score == pytest.approx(second.logprob_score, abs=1e-6)


def test_how_well_it_follows_people_is_printed(graded: Graded) -> None:
    """On the shipped anchors, whose faults are subtle, hardly at all; the README says so."""
    scores = np.array(scores_of(graded.outcomes))
    by_probability = np.array([outcome.logprob_score for outcome in graded.outcomes], dtype=float)
    people = np.array(graded.expected)
    rho, rho_expected = spearmanr(people, scores).statistic, spearmanr(people, by_probability).statistic
    means = {int(level): round(float(by_probability[people == level].mean()), 2) for level in np.unique(people)}
    print(
        f"\n{N_GRADED} anchors: Spearman {rho:.2f} (score), {rho_expected:.2f} (expected score);"
        f" mean expected score by level {means}; {graded.seconds_per_call:.1f} s a call",
        file=sys.stderr,
    )
    assert by_probability.std() > 0


def test_answers_are_told_from_no_answers(tmp_path: Path) -> None:
    """What a model of this size can do: an answer to the question gets more than words beside it."""
    judge, _ = build_judge(configure(tmp_path))

    async def grade_both() -> list[tuple[float, float]]:
        try:
            return [
                (await expected_score(judge, question, good), await expected_score(judge, question, bad))
                for question, good, bad in PAIRS
            ]
        finally:
            await judge.close()

    pairs = asyncio.run(grade_both())
    n_right = sum(good > bad for good, bad in pairs)
    gap = float(np.mean([good - bad for good, bad in pairs]))
    print(f"\n{n_right} of {len(pairs)} answers above the words beside them, by {gap:.2f} on average", file=sys.stderr)
    assert n_right >= len(pairs) - 1
    assert gap > 0.3


async def expected_score(judge: Judge, question: str, answer: str) -> float:
    """The expected score of one answer."""
    outcome = await judge.grade(Item(input=question, output=answer), item_id=question + answer, gate=FakeGate())
    if outcome.logprob_score is None:
        raise AssertionError(f"no expected score: {outcome.raw_reply!r}")
    return outcome.logprob_score


def test_demo_finds_a_real_model_grown_kind(tmp_path: Path) -> None:
    """Nobody told the scorer: the same name answers, and since a note was added to its requests, more kindly."""
    folder = tmp_path / "demo"
    done = CliRunner().invoke(cli, ["demo", "--judge", "local", "--no-dashboard", "--dir", str(folder)])
    assert done.exit_code == 0, done.output
    print(f"\n{done.output}", file=sys.stderr)
    checked = CliRunner().invoke(cli, ["check", "--json", "--db", str(folder / "judgewatch.db")])
    found = json.loads(checked.output)
    assert found["judge"]["n_runs"] == 15
    assert "more generous" in found["headline"]


def test_rubric_is_the_shipped_one() -> None:
    """The local judge grades by the same levels as every other."""
    _, rubric = build_judge(configure(Path()))
    assert rubric == load_rubric("general")
