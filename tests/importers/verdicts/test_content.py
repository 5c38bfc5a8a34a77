"""Files of scores nobody tuned for: which column holds the score is told by what stands there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import DataFileError
from evaluator.importers.base import Row
from evaluator.importers.verdicts.content import MOST_ROWS, look_ahead
from evaluator.records import UnscoredReason
from tests.importers.verdicts.helpers import read, write_rows

TABLE = (
    "\ufeffTrace;Graded at;Judge model;Criterion;Points;Verdict;Visitor question;Bot answer;Language;Error\r\n"
    "t1;2026-10-17 08:20:24+02:00;kurator;usefulness;5;Touches the question.;Open?;Yes.;fr;\r\n"
    "t2;2026-10-17 09:20:24+02:00;kurator;usefulness;;;Open?;No.;en;HTTP 429 after 3 attempts\r\n"
)
AT = {"graded_at": "2026-03-01T09:00:00Z", "answer": "So."}


def score_of(tmp_path: Path, *rows: dict[str, Any], **settings: Any) -> list[tuple[float | None, str, str]]:
    """Score, criterion and explanation of each verdict."""
    verdicts, rejects, _ = read(write_rows(tmp_path / "s.jsonl", *({**AT, **row} for row in rows)), **settings)
    assert not rejects
    return [(found.score, found.criterion, found.explanation) for found in verdicts]


def test_a_table_of_points_with_sentences_as_verdicts_is_read_by_itself(tmp_path: Path) -> None:
    """Semicolons, a mark, words for names: score, question, answer, id, and the error of a missing score."""
    path = tmp_path / "scores.csv"
    path.write_text(TABLE, encoding="utf-8", newline="")
    verdicts, rejects, stream = read(path)
    assert not rejects
    first, failed = verdicts
    assert (first.score, first.judge, first.criterion) == (5, "kurator", "usefulness")
    assert first.explanation == "Touches the question."
    assert (first.item.input, first.item.output, first.item.external_id) == ("Open?", "Yes.", "t1")
    assert first.item.tags == {"Language": "fr"}
    assert first.graded_utc == "2026-10-17T06:20:24.000Z"
    assert (failed.score, failed.unscored_reason) == (None, UnscoredReason.MISSING)
    assert failed.detail == "HTTP 429 after 3 attempts"
    assert "'Visitor question' is read as input" in "\n".join(stream.notes)


@pytest.mark.parametrize("name", ["Points", "punkte", "Stars", "Rating", "marks", "Bewertung", "Judge points"])
def test_names_of_scores(tmp_path: Path, name: str) -> None:
    """In the words of those who give them."""
    assert score_of(tmp_path, {name: 4}) == [(4, "score", "")]


def test_a_sentence_named_like_a_score_explains_one(tmp_path: Path) -> None:
    """Behind a column that is named like an explanation; beside columns of metrics as well."""
    assert score_of(tmp_path, {"rating": 3, "verdict": "It is fine."}) == [(3, "score", "It is fine.")]
    assert score_of(tmp_path, {"rating": 3, "verdict": "Fine.", "reason": "Clear."}) == [(3, "score", "Clear.")]
    assert score_of(tmp_path, {"faithfulness": 0.5, "verdict": "Fine."}) == [(0.5, "faithfulness", "Fine.")]
    assert score_of(tmp_path, {"score": 3, "Judge comment": "Good."}) == [(3, "score", "Good.")]


def test_labels_are_scores_as_much_as_numbers(tmp_path: Path) -> None:
    """Two columns of scores are refused, as ever; pass and fail beside a sentence are the score."""
    assert score_of(tmp_path, {"verdict": "pass", "grade": "well said"}) == [(1, "score", "well said")]
    with pytest.raises(DataFileError, match=r"'verdict' and 'score' may each be the score"):
        score_of(tmp_path, {"verdict": "pass", "score": 4})


def test_a_column_that_is_filled_late_counts(tmp_path: Path) -> None:
    """Rows without anything in a column of that name say nothing of it."""
    rows = [{"points": None, "verdict": None}] * 300 + [{"points": 4, "verdict": "Good."}]
    assert score_of(tmp_path, *rows)[-1] == (4, "score", "Good.")


def test_looking_ahead_loses_no_row_and_ends(tmp_path: Path) -> None:
    """A file without anything to see is read on after the first rows."""
    rows = [Row(n, {"score": ""}) for n in range(MOST_ROWS + 50)]
    source = iter(rows)
    contents, again = look_ahead(source, frozenset(("score",)))
    assert next(source).line_number == MOST_ROWS
    assert not contents.is_score("score")
    assert not contents.is_prose("score")
    assert [row.line_number for row in again][:3] == [0, 1, 2]


def test_a_lone_sentence_is_refused_row_by_row(tmp_path: Path) -> None:
    """Nothing else may be the score: the value is named."""
    _, rejects, _ = read(write_rows(tmp_path / "s.jsonl", {**AT, "verdict": "good"}))
    assert "verdict is 'good': a number, pass or fail is needed" in rejects[0].reason


def test_a_file_without_a_known_score_names_its_columns_of_numbers(tmp_path: Path) -> None:
    """What is named like a duration or an id is none."""
    row = {**AT, "Gesamt": 4, "latency_ms": 900, "customer_id": 7}
    with pytest.raises(DataFileError, match=r"it could be 'Gesamt': --field score=Gesamt"):
        read(write_rows(tmp_path / "s.jsonl", row))


def test_an_error_beside_a_score_changes_nothing(tmp_path: Path) -> None:
    """And marks such as false are no error."""
    path = write_rows(
        tmp_path / "s.jsonl", {**AT, "score": 2, "error": "retried"}, {**AT, "score": None, "error": "false"}
    )
    verdicts = read(path)[0]
    assert [(found.score, found.detail) for found in verdicts] == [(2, ""), (None, "no score")]
    assert not verdicts[0].item.tags


def test_fields_of_scores_may_be_paths(tmp_path: Path) -> None:
    """Score and explanation inside an object; one that leads nowhere is told."""
    row = {"eval": {"points": 3, "why": "Clear."}}
    fields = {"score": "eval.points", "explanation": "eval.why"}
    assert score_of(tmp_path, row, field_map=fields) == [(3, "score", "Clear.")]
    with pytest.raises(DataFileError, match=r"no row has the column 'eval\.marks', named by --field score"):
        score_of(tmp_path, row, field_map={"score": "eval.marks"})


def test_texts_of_scores_may_stand_in_objects(tmp_path: Path) -> None:
    """As in traffic."""
    row = {"graded_at": AT["graded_at"], "score": 1, "request": {"prompt": "Q"}, "response": {"text": "A"}}
    found = read(write_rows(tmp_path / "s.jsonl", row))[0][0]
    assert (found.item.input, found.item.output) == ("Q", "A")
