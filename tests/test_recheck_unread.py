"""A recheck whose replies could not be read: where the score was looked for, and how a reply begins."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from evaluator.recheck import Question, RecheckReport, run_recheck
from evaluator.records import Item
from tests.recheck_world import SetClock, config, stored_rows, write_rows

PLACE = "python:tests.test_recheck_unread:"


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files and databases lie where the test runs."""
    monkeypatch.chdir(tmp_path)


def elsewhere(item: Item) -> dict[str, Any]:
    """A reply with its score at another place than the configured one."""
    return {"verdict": {"points": 4}, "reasoning": f"read {len(item.output)} characters"}


def crashing(item: Item) -> float:
    """A judge that fails in another way."""
    raise RuntimeError(f"cannot grade {len(item.output)} characters")


def rechecked(folder: Path, function: str = "elsewhere", **sections: Any) -> RecheckReport:
    """Twenty answers, graded by a judge whose replies are not understood."""
    judge = {"function": PLACE + function, **sections.pop("judge", {})}
    using = config(folder, judge=judge, **sections)
    question = Question(path=write_rows(stored_rows(60)), n=20)
    return asyncio.run(run_recheck(using, question, clock=SetClock()))


def message_of(report: RecheckReport) -> str:
    """What is said of the run."""
    assert report.run is not None
    assert (report.is_complete, report.run.status) == (False, "failed")
    return report.run.message


def test_the_place_of_the_score_is_named_and_a_reply_shown(tmp_path: Path) -> None:
    """What is needed to mend it."""
    message = message_of(rechecked(tmp_path, judge={"score_field": "grading.points"}))
    assert message.startswith("20 of 20 verdicts have no score (mostly missing)")
    assert "judge.score_field = 'grading.points'" in message
    assert """one of these replies begins "{'verdict': {'points': 4}""" in message


def test_without_a_named_place_both_settings_are_named(tmp_path: Path) -> None:
    """The user may not know that there are any."""
    message = message_of(rechecked(tmp_path))
    assert "judge.score_field says where in a reply the score stands, judge.score_pattern finds it in prose" in message


def test_a_pattern_is_named(tmp_path: Path) -> None:
    """As it is configured."""
    message = message_of(rechecked(tmp_path, judge={"score_pattern": r"Rating: (\d+)"}))
    assert r"judge.score_pattern = 'Rating: (\\d+)'" in message


def test_words_that_are_not_kept_are_not_shown(tmp_path: Path) -> None:
    """The place is named all the same."""
    message = message_of(rechecked(tmp_path, traffic={"store_reasons": False}))
    assert "judge.score_field" in message
    assert "begins" not in message
    assert "points" not in message


def test_another_failure_is_not_blamed_on_the_place_of_the_score(tmp_path: Path) -> None:
    """No reply came."""
    assert "judge.score_field" not in message_of(rechecked(tmp_path, "crashing"))
