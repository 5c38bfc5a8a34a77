"""Files of stored scores as a source: taken once, told by judge, tried without a trace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evaluator.analysis import AnalysisSettings
from evaluator.config import Config
from evaluator.sources import PullOutcome, check_reading, has_sources, pull_sources, try_sources, waiting_sources
from evaluator.store import read
from evaluator.store.db import open_reader
from tests.sources.conftest import SLOT, Clock, lines, put, row, settings, told

ALARMS = AnalysisSettings(false_alarms_per_year=1.0, smallest_change=0.1, runs_per_year=365.0)


def scored(number: int, **fields: Any) -> dict[str, Any]:
    """One answer with the score that somebody's judge gave it."""
    return row(
        f"a{number}",
        f"2026-03-0{number % 3 + 1}",
        score=number % 5 + 1,
        judge="house-judge",
        criterion="helpful",
        graded_at=f"2026-03-0{number % 3 + 1}T11:00:00Z",
        **fields,
    )


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """All JSON lines in a folder, as scores."""
    return settings(tmp_path, verdicts=["scores/*.jsonl"])


def pull_scores(config: Config) -> PullOutcome:
    """Ask for scores."""
    (outcome,) = pull_sources(config, slot=SLOT, clock=Clock(), settings=ALARMS, pause=lambda _: None)
    return outcome


def test_scores_are_taken_once_with_their_answers(config: Config, tmp_path: Path) -> None:
    """Told by judge; the second time nothing is read."""
    put(tmp_path / "scores/a.jsonl", lines(*map(scored, range(30))))
    outcome = pull_scores(config)
    assert (outcome.key, outcome.kind, outcome.status) == ("traffic.verdicts", "files", "ok"), outcome
    assert (outcome.n_rows, outcome.n_new) == (30, 30)
    assert "house-judge, helpful (setup v1): 30 scores" in told(outcome)
    again = pull_scores(config)
    assert (again.status, again.message, again.n_quiet) == ("nothing_new", "no new file", 1)
    with open_reader(config.store_path) as store:
        assert [found["n_rows"] for found in read.source_files(store, "shop", kind="verdicts")] == [30]
        assert read.source_files(store, "shop") == []
        assert [found["source"] for found in read.pulls(store, "shop")] == ["scores: scores/*.jsonl"] * 2


def test_file_that_grew_adds_only_what_is_new(config: Config, tmp_path: Path) -> None:
    """Known scores stay as they are."""
    put(tmp_path / "scores/a.jsonl", lines(*map(scored, range(10))))
    pull_scores(config)
    put(tmp_path / "scores/a.jsonl", lines(*map(scored, range(12))))
    outcome = pull_scores(config)
    assert (outcome.n_new, outcome.n_known) == (2, 10)


def test_bad_score_stops_nothing_and_a_bad_file_is_told(config: Config, tmp_path: Path) -> None:
    """By line, by file."""
    put(tmp_path / "scores/a.jsonl", lines(*map(scored, range(10))) + b"no json\n")
    put(tmp_path / "scores/b.jsonl", b"\x1f\x8b\x08\x00")
    outcome = pull_scores(config)
    assert (outcome.status, outcome.n_new, outcome.n_rejected) == ("failed", 10, 1)
    assert "a.jsonl: 1 row cannot be used and is left out; line 11" in told(outcome)
    assert "b.jsonl: the file is compressed" in outcome.message


def test_columns_of_scores_may_be_named_beside_those_of_answers(tmp_path: Path) -> None:
    """One map for both; answers are not refused for fields that only scores have."""
    config = settings(tmp_path, verdicts="v.jsonl", files="a.jsonl", fields={"score": "points", "output": "reply"})
    check_reading(config)
    put(tmp_path / "a.jsonl", lines({"id": "x", "reply": "Yes.", "answered_at": "2026-03-01"}))
    one = {"id": "y", "reply": "No.", "points": 3, "judge": "j", "criterion": "c", "graded_at": "2026-03-01"}
    put(tmp_path / "v.jsonl", lines(one, {**one, "id": "z", "points": 4}))
    outcomes = pull_sources(config, slot=SLOT, clock=Clock(), settings=ALARMS, pause=lambda _: None)
    assert [(outcome.key, outcome.n_new) for outcome in outcomes] == [("traffic.files", 1), ("traffic.verdicts", 2)]


def test_scores_are_looked_for_only_where_they_can_be_analysed(config: Config, tmp_path: Path) -> None:
    """Without the settings of alarms nothing is taken; a dry run counts the files."""
    put(tmp_path / "scores/a.jsonl", lines(scored(1)))
    assert has_sources(config)
    assert pull_sources(config, slot=SLOT, clock=Clock()) == ()
    assert waiting_sources(config).n_score_files == 1


def test_trying_scores_stores_nothing(config: Config, tmp_path: Path) -> None:
    """Judge, criterion and number; no database."""
    put(tmp_path / "scores/a.jsonl", lines(*map(scored, range(10))) + b"no json\n")
    (trial,) = try_sources(config, slot=SLOT, n_rows=10, settings=ALARMS)
    assert (trial.key, trial.n_files, trial.n_rows, trial.n_refused) == ("traffic.verdicts", 1, 11, 1)
    assert any("house-judge, helpful: 10 scores" in note for note in trial.notes)
    assert trial.problem is None
    assert not config.store_path.exists()
    (tmp_path / "scores/a.jsonl").unlink()
    (empty,) = try_sources(config, slot=SLOT, n_rows=10, settings=ALARMS)
    assert empty.problem == "there is no file to read"
