"""The graded texts of the project, and a practice judge in a process of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from evaluator.judges.practice.control import PracticeJudge
from evaluator.judges.practice.grading import grade_text, text_key
from evaluator.judges.practice.state import Settings

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True, kw_only=True)
class GradedText:
    """A text with a person's score, and what the practice judge makes of it."""

    answer: str
    expected: float
    topic: str
    language: str
    latent: float
    key: str


def _load(path: Path, *, score: str) -> list[GradedText]:
    texts = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        tags = row.get("tags", row)
        parts = (row["inputs"], row["outputs"], row.get("expected_output") or "")
        texts.append(
            GradedText(
                answer=row["outputs"],
                expected=row[score],
                topic=tags.get("topic") or tags.get("category"),
                language=tags["language"],
                latent=grade_text(*parts),
                key=text_key(*parts),
            )
        )
    return texts


@pytest.fixture(scope="session")
def anchors() -> list[GradedText]:
    """The general anchors."""
    return _load(ROOT / "anchors" / "general" / "anchors.jsonl", score="expected_score")


@pytest.fixture(scope="session")
def traffic() -> list[GradedText]:
    """The sample traffic with the level each answer was written for."""
    return _load(ROOT / "data" / "sample_traffic.jsonl", score="level")


@pytest.fixture(scope="module")
def running_judge() -> Iterator[PracticeJudge]:
    """One judge for all tests of a file."""
    with PracticeJudge() as judge:
        yield judge


@pytest.fixture
def judge(running_judge: PracticeJudge) -> Iterator[PracticeJudge]:
    """The running judge, back at its first settings after the test."""
    yield running_judge
    running_judge.set(**Settings().as_dict())
