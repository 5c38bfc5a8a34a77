"""Which column holds what, and what a cell says."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import DataFileError, UsageError
from evaluator.importers.verdicts.scores import NoScoreError, read_score
from evaluator.records import ItemFlag, UnscoredReason
from tests.importers.verdicts.helpers import read, write_rows

ROW = {"id": "a1", "question": "How?", "answer": "So.", "score": 4, "graded_at": "2026-03-01T09:00:00Z"}


def test_a_plain_row_is_one_verdict_with_its_answer(tmp_path: Path) -> None:
    """Score, judge, criterion, explanation and time are told from the texts and the tags."""
    row = ROW | {"judge_model": "gpt-4o", "metric": "helpfulness", "reasoning": "Clear.", "topic": "billing"}
    verdicts, rejects, stream = read(write_rows(tmp_path / "s.jsonl", row))
    assert not rejects
    assert (stream.n_rows, stream.n_verdicts, stream.format) == (1, 1, "jsonl")
    found = verdicts[0]
    assert (found.score, found.judge, found.criterion, found.explanation) == (4.0, "gpt-4o", "helpfulness", "Clear.")
    assert found.graded_utc == "2026-03-01T09:00:00.000Z"
    assert (found.item.input, found.item.output, found.item.external_id) == ("How?", "So.", "a1")
    assert dict(found.item.tags) == {"topic": "billing"}


def test_an_answer_without_a_time_has_that_of_its_grading_and_says_so(tmp_path: Path) -> None:
    """The time of grading stands in, marked, so that a later import can give the answer its own."""
    verdicts, _, stream = read(write_rows(tmp_path / "s.jsonl", ROW))
    assert verdicts[0].item.answered_utc == "2026-03-01T09:00:00.000Z"
    assert ItemFlag.GIVEN_TIME in verdicts[0].item.flags
    assert ItemFlag.NO_TIME not in verdicts[0].item.flags
    assert any("time of grading was taken (1)" in note for note in stream.notes)


def test_two_times_are_those_of_the_answer_and_of_its_grading(tmp_path: Path) -> None:
    """A column that says graded is the time of grading; the other one is the answer's."""
    row = ROW | {"timestamp": "2026-02-01T08:00:00Z"}
    found = read(write_rows(tmp_path / "s.jsonl", row))[0][0]
    assert found.item.answered_utc == "2026-02-01T08:00:00Z"
    assert found.graded_utc == "2026-03-01T09:00:00.000Z"
    assert ItemFlag.GIVEN_TIME not in found.item.flags


@pytest.mark.parametrize("name", ["timestamp", "created_at", "tstamp", "scored_at", "evaluatedAt"])
def test_one_time_alone_tells_when_it_was_graded(tmp_path: Path, name: str) -> None:
    """Whatever it is called, a single time is the time of grading."""
    row = {"id": "a", "answer": "x", "score": 1, name: "2026-03-01T09:00:00Z"}
    found = read(write_rows(tmp_path / "s.jsonl", row))[0][0]
    assert found.graded_utc == "2026-03-01T09:00:00.000Z"
    assert found.item.answered_utc is not None


def test_metric_columns_are_several_criteria_of_one_answer(tmp_path: Path) -> None:
    """A wide row gives a verdict for each metric; all share the answer and the row's number."""
    row = {"id": "a", "answer": "x", "faithfulness": 0.5, "answer_relevancy": "", "tone_score": 0.9}
    verdicts, _, stream = read(write_rows(tmp_path / "s.jsonl", row), default_graded_utc="2026-03-01")
    assert {verdict.criterion: verdict.score for verdict in verdicts} == {
        "faithfulness": 0.5,
        "answer_relevancy": None,
        "tone": 0.9,
    }
    assert len({id(verdict.item) for verdict in verdicts}) == 1
    assert (stream.n_rows, stream.n_verdicts) == (1, 3)


def test_two_columns_that_may_be_the_score_are_refused_by_name(tmp_path: Path) -> None:
    """Neither is guessed; the message names both and the fix, and the fix works."""
    path = write_rows(tmp_path / "s.jsonl", ROW | {"rating": 3})
    with pytest.raises(DataFileError, match=r"'score' and 'rating' may each be the score.*--field score=score"):
        read(path)
    assert read(path, field_map={"score": "rating"})[0][0].score == 3


def test_named_columns_win(tmp_path: Path) -> None:
    """Every field of a verdict can be named, several scores at once."""
    row = {"key": "k", "text": "x", "bot": "m", "helpful": 3, "safe": 5, "at": "2026-03-01", "why": "so"}
    fields = {"score": "helpful, safe", "graded_at": "at", "judge": "bot", "explanation": "why", "id": "key"}
    verdicts, rejects, _ = read(write_rows(tmp_path / "s.jsonl", row), field_map=fields | {"output": "text"})
    assert not rejects
    assert [(found.criterion, found.score) for found in verdicts] == [("helpful", 3), ("safe", 5)]
    assert {(found.judge, found.explanation, found.item.output, found.item.external_id) for found in verdicts} == {
        ("m", "so", "x", "k")
    }


def test_an_empty_column_name_means_there_is_none(tmp_path: Path) -> None:
    """A column that is no judge can be let go; it is a tag then."""
    found = read(
        write_rows(tmp_path / "s.jsonl", ROW | {"judge": "id-1"}), field_map={"judge": ""}, default_judge="gpt-4o"
    )[0][0]
    assert found.judge == "gpt-4o"
    assert found.item.tags["judge"] == "id-1"


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"score": "nope"}, "no row has the column 'nope'"), ({"graded_at": "gone"}, "named by --field graded_at")],
)
def test_a_named_column_that_is_not_there_is_told(tmp_path: Path, fields: dict[str, str], message: str) -> None:
    """The columns that were seen are listed."""
    with pytest.raises(DataFileError, match=message):
        read(write_rows(tmp_path / "s.jsonl", ROW), field_map=fields)


def test_an_unknown_field_is_refused(tmp_path: Path) -> None:
    """The fields there are are named."""
    with pytest.raises(UsageError, match="there is no field 'points'; fields are score, graded_at"):
        read(write_rows(tmp_path / "s.jsonl", ROW), field_map={"points": "score"})


def test_a_file_without_scores_is_refused_with_its_columns(tmp_path: Path) -> None:
    """Traffic is no verdicts: the message says what is missing."""
    with pytest.raises(DataFileError, match=r"no row has a column for the score.*'answer'.*--field score=NAME"):
        read(write_rows(tmp_path / "s.jsonl", {"id": "a", "answer": "x"}))


def test_a_row_with_an_id_only_is_an_answer_without_texts(tmp_path: Path) -> None:
    """Nothing else is needed where the answers are stored already."""
    found = read(write_rows(tmp_path / "s.jsonl", {"item_id": "a", "score": 1, "graded_at": "2026-03-01"}))[0][0]
    assert (found.item.external_id, found.item.input, found.item.output) == ("a", "", "")
    assert ItemFlag.EMPTY_OUTPUT in found.item.flags


def test_equal_rows_without_an_id_are_told_apart_within_a_criterion_only(tmp_path: Path) -> None:
    """Two criteria of one answer on two lines are one answer; the same criterion twice is two answers."""
    row = {"answer": "Yes.", "score": 1, "graded_at": "2026-03-01"}
    rows = [row | {"metric": metric} for metric in ("a", "b", "a")]
    verdicts = read(write_rows(tmp_path / "s.jsonl", *rows))[0]
    assert [found.ordinal for found in verdicts] == [0, 0, 1]


def test_a_broken_line_is_a_reject_and_the_rest_is_read(tmp_path: Path) -> None:
    """One bad line costs one line."""
    path = write_rows(tmp_path / "s.jsonl", ROW)
    path.write_text(path.read_text() + "{broken\n" + path.read_text(), encoding="utf-8")
    verdicts, rejects, stream = read(path)
    assert len(verdicts) == 2
    assert [reject.line_number for reject in rejects] == [2]
    assert (stream.n_rows, stream.n_rejected) == (3, 1)


def test_an_unreadable_time_is_a_reject(tmp_path: Path) -> None:
    """A day that may be two is not guessed."""
    _, rejects, _ = read(write_rows(tmp_path / "s.jsonl", ROW | {"graded_at": "03/04/2026"}))
    assert "may mean two days" in rejects[0].reason


# ---------------------------------------------------------------- cells


@pytest.mark.parametrize(
    ("cell", "score"), [(3, 3.0), (0.25, 0.25), ("4.5", 4.5), (" 2 ", 2.0), ("1e-1", 0.1), (-0.0042, -0.0042)]
)
def test_numbers_are_scores(cell: Any, score: float) -> None:
    """As numbers or as text."""
    found = read_score(cell)
    assert found.score == score
    assert not found.is_label


@pytest.mark.parametrize(
    ("cell", "score"), [("pass", 1), ("FAIL", 0), (True, 1), (False, 0), ("yes", 1), ("No", 0), ("Passed", 1)]
)
def test_labels_of_two_are_zero_and_one(cell: Any, score: float) -> None:
    """And known as labels."""
    found = read_score(cell)
    assert found.score == score
    assert found.is_label


@pytest.mark.parametrize("cell", [None, "", "  ", "nan", "NaN", math.nan, "None", "null", "N/A", "-"])
def test_an_empty_cell_is_a_missing_score(cell: Any) -> None:
    """Never a number."""
    found = read_score(cell)
    assert found.score is None
    assert found.reason is UnscoredReason.MISSING


@pytest.mark.parametrize("cell", ["error", "Error: timed out", "$ERROR$", "#ERROR!"])
def test_the_mark_of_an_error_is_a_missing_score_with_what_stood_there(cell: str) -> None:
    """It says what happened."""
    found = read_score(cell)
    assert found.reason is UnscoredReason.WRONG_TYPE
    assert found.detail == cell


def test_minus_one_beside_the_mark_of_a_failed_call_is_missing() -> None:
    """Alone it is a number: some scales have it."""
    assert read_score(-1, explanation="$ERROR$").reason is UnscoredReason.MISSING
    assert read_score(-1, explanation="Poor.").score == -1


@pytest.mark.parametrize("cell", ["inf", math.inf, "-inf", "excellent", "4/5", "4,5", [1], {"score": 1}, 10**400])
def test_what_is_no_score_is_refused_with_its_value(cell: Any) -> None:
    """Words, lists, infinities: nothing is made up."""
    with pytest.raises(NoScoreError, match="overall"):
        read_score(cell, column="overall")
