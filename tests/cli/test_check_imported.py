"""``judgewatch check`` of a judge that has just begun, beside imported scores of earlier days."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import ok, ok_json, some_answers, write_anchors, write_answers, write_config
from tests.cli.test_import_verdicts import write_scores

POINTER = "6 days of imported scores stand in setup 1: `judgewatch check --setup 1`."


@pytest.fixture
def begun() -> None:
    """Six days of imported scores, and one run of the configured judge."""
    write_config()
    write_anchors()
    ok("import", "--verdicts", write_scores(judge="their-judge"))
    ok("import", write_answers(Path("t.jsonl"), some_answers(4)))
    ok("run", "once", "--slot", "2026-03-02T06:00:00Z")


@pytest.mark.usefixtures("begun")
def test_a_judge_that_learns_points_to_imported_scores() -> None:
    """In words with the command, and in JSON."""
    assert f"  {POINTER}" in ok("check", "--setup", "2").splitlines()
    payload = ok_json("check", "--setup", "2")
    assert payload["judge"]["state"] == "learning"
    history = {"setup": 1, "judge": "their-judge", "criterion": "score", "n_days": 6}
    assert payload["imported_history"] == [history]


@pytest.mark.usefixtures("begun")
def test_imported_scores_do_not_point_to_themselves() -> None:
    """The reader is there already."""
    assert "stand in setup" not in ok("check", "--setup", "1")
    assert ok_json("check", "--setup", "1")["imported_history"] == []


def test_without_imported_scores_nothing_is_pointed_to() -> None:
    """Before the first run, too."""
    write_config()
    write_anchors()
    ok("import", write_answers(Path("t.jsonl"), some_answers(4)))
    assert ok_json("check")["imported_history"] == []
    ok("run", "once", "--slot", "2026-03-02T06:00:00Z")
    assert ok_json("check")["imported_history"] == []
