"""Real formats read to their right values; another format named is a clear refusal."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import DataFileError, UsageError
from evaluator.importers.verdicts import detect_verdict_format
from tests.importers.verdicts.helpers import DATA, read, scores_of, write_rows


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("promptfoo.json", "promptfoo"),
        ("deepeval.json", "deepeval"),
        ("ragas_annotated.json", "ragas"),
        ("ragas_table.csv", "csv"),
        ("mtbench.jsonl", "jsonl"),
    ],
)
def test_the_format_is_found_from_the_file(name: str, found: str) -> None:
    """By what stands in it, one object on one line included."""
    assert detect_verdict_format(DATA / name) == found
    assert read(DATA / name)[2].format == found


def test_promptfoo_gives_its_judged_assertions_only() -> None:
    """Three judged assertions of twelve results; regular expressions are no judge. Means as counted from the file."""
    verdicts, rejects, stream = read(DATA / "promptfoo.json")
    assert not rejects
    assert (stream.n_rows, stream.n_verdicts) == (12, 36)
    by_model = {
        (model, criterion): [
            found.score for found in verdicts if found.item.model == model and found.criterion == criterion
        ]
        for model in ("openai:gpt-5", "openai:chat:qwen3-1.7b")
        for criterion in ("llm-rubric", "factuality", "answer-relevance")
    }
    means = {key: round(sum(s or 0.0 for s in scores) / len(scores), 4) for key, scores in by_model.items()}
    assert means == {
        ("openai:gpt-5", "llm-rubric"): 0.8883,
        ("openai:gpt-5", "factuality"): 1.0,
        ("openai:gpt-5", "answer-relevance"): 0.6735,
        ("openai:chat:qwen3-1.7b", "llm-rubric"): 0.7217,
        ("openai:chat:qwen3-1.7b", "factuality"): 0.8333,
        ("openai:chat:qwen3-1.7b", "answer-relevance"): 0.1879,
    }
    first = verdicts[0]
    assert first.item.tags["model"] == "openai:chat:qwen3-1.7b"
    assert first.graded_utc == "2026-01-03T04:03:27.357Z"
    assert first.item.input == "Invented question 1?"


def promptfoo(**changes: Any) -> dict[str, Any]:
    """The sample with its first result changed."""
    value: dict[str, Any] = json.loads((DATA / "promptfoo.json").read_text())
    value["results"]["results"][0] |= changes
    return value


def test_a_promptfoo_judge_is_the_provider_that_the_assertion_names(tmp_path: Path) -> None:
    """Else the default of the test suite; a grader that failed has no score, its metric name is the criterion."""
    components = [
        {"score": 0.5, "reason": "r", "assertion": {"type": "llm-rubric", "provider": {"id": "openai:gpt-5-mini"}}},
        {"score": 0, "reason": "down", "error": "503", "assertion": {"type": "g-eval", "metric": "Tone"}},
    ]
    value = promptfoo(gradingResult={"componentResults": components})
    value["config"] = {"defaultTest": {"options": {"provider": "openai:o4"}}}
    (tmp_path / "p.json").write_text(json.dumps(value))
    found = [verdict for verdict in read(tmp_path / "p.json")[0] if verdict.row_number == 1]
    assert [(verdict.judge, verdict.criterion, verdict.score) for verdict in found] == [
        ("openai:gpt-5-mini", "llm-rubric", 0.5),
        ("openai:o4", "Tone", None),
    ]
    assert found[1].unscored_reason == "missing"


def test_a_promptfoo_row_that_failed_as_a_whole_has_no_score(tmp_path: Path) -> None:
    """Its judged assertions are missing scores, not zeros."""
    value = promptfoo(gradingResult=None, error="Invented provider error", failureReason=2)
    (tmp_path / "p.json").write_text(json.dumps(value))
    found = [verdict for verdict in read(tmp_path / "p.json")[0] if verdict.row_number == 1]
    assert len(found) == 3
    assert all(verdict.score is None for verdict in found)
    assert all(verdict.explanation == "Invented provider error" for verdict in found)


def test_ragas_blanks_stay_missing() -> None:
    """Two metrics are all blank, one has 4 values, one 3; cells of several lines are one cell."""
    verdicts, rejects, stream = read(DATA / "ragas_table.csv", default_graded_utc="2026-01-05")
    assert not rejects
    assert (stream.n_rows, stream.n_verdicts) == (6, 24)
    counts = {name: len(scores_of(verdicts, name)) for name in dict.fromkeys(found.criterion for found in verdicts)}
    assert counts == {"faithfulness": 0, "answer_relevancy": 0, "context_precision": 4, "context_recall": 3}
    assert sum(scores_of(verdicts, "context_precision")) == pytest.approx(1.0)
    assert verdicts[0].item.contexts == ("Invented context 1,\nline two",)


def test_a_ragas_table_may_name_its_own_metric(tmp_path: Path) -> None:
    """Named as Ragas, a column of numbers and blanks is a metric; an id and a time are not."""
    (tmp_path / "t.csv").write_text("id,user_input,response,house style\n1,q,a,0.5\n2,q,b,\n", encoding="utf-8")
    verdicts = read(tmp_path / "t.csv", format="ragas")[0]
    assert [(found.criterion, found.score) for found in verdicts] == [("house_style", 0.5), ("house_style", None)]


def test_annotated_ragas_runs_give_the_judges_word_not_the_persons() -> None:
    """9 of 21 verdicts are 1, whatever people accepted."""
    verdicts = read(DATA / "ragas_annotated.json")[0]
    assert len(verdicts) == 21
    assert sum(scores_of(verdicts, "helpfulness")) == 9
    assert verdicts[0].explanation == "Invented reason 1."


def test_deepeval_names_metric_and_judge() -> None:
    """One case, one metric."""
    verdicts = read(DATA / "deepeval.json")[0]
    assert [(found.judge, found.criterion, found.score, found.explanation) for found in verdicts] == [
        ("google/gemini-3.1-pro-preview:exacto", "AnswerCorrectness [GEval]", 1.0, "Invented reason.")
    ]


def test_a_deepeval_metric_with_an_error_is_missing() -> None:
    """The error is kept as what was said."""
    found = read(DATA / "deepeval_with_error.json")[0][1]
    assert found.score is None
    assert found.unscored_reason == "missing"
    assert "no valid JSON" in found.explanation


def test_mt_bench_errors_are_missing_and_texts_are_cut_out_of_the_prompt() -> None:
    """Four failed calls with -1; 26 valid grades with mean 9.6154, as counted from the file."""
    verdicts = read(DATA / "mtbench.jsonl")[0]
    valid = scores_of(verdicts, "single-v1")
    assert (len(verdicts), len(valid)) == (30, 26)
    assert sum(valid) / len(valid) == pytest.approx(9.6154, abs=1e-4)
    assert len({found.item.external_id for found in verdicts}) == 20
    first = verdicts[0]
    assert (first.judge, first.unscored_reason) == ("gpt-4", "missing")
    assert "$ERROR$" in first.detail
    assert (first.item.input, first.item.output) == ("Invented question 81?", "Invented answer to 81.")


@pytest.mark.parametrize(
    ("name", "named", "message"),
    [
        ("mtbench.jsonl", "promptfoo", "no promptfoo results"),
        ("deepeval.json", "promptfoo", "no promptfoo results"),
        ("promptfoo.json", "deepeval", "no DeepEval test run"),
        ("no_scores.csv", "ragas", "no Ragas result table"),
    ],
)
def test_the_wrong_format_is_refused(tmp_path: Path, name: str, named: str, message: str) -> None:
    """What was looked for is named."""
    path = DATA / name
    if not path.exists():
        path = tmp_path / name
        path.write_text("id,response\n1,a\n", encoding="utf-8")
    with pytest.raises(DataFileError, match=message):
        read(path, format=named)


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    """With the formats there are."""
    with pytest.raises(UsageError, match="formats are jsonl, csv, json, ragas, promptfoo, deepeval"):
        read(write_rows(tmp_path / "s.jsonl", {"score": 1}), format="excel")


def test_another_version_of_promptfoo_is_refused(tmp_path: Path) -> None:
    """Rather than read by guess."""
    value = promptfoo()
    value["results"]["version"] = 2
    (tmp_path / "p.json").write_text(json.dumps(value))
    with pytest.raises(DataFileError, match="version 2; version 3 is read"):
        read(tmp_path / "p.json")


def test_promptfoo_without_a_judge_is_refused(tmp_path: Path) -> None:
    """A run of plain assertions holds no verdicts."""
    value = promptfoo()
    for result in value["results"]["results"]:
        result["gradingResult"]["componentResults"] = [{"score": 1, "assertion": {"type": "contains"}}]
    (tmp_path / "p.json").write_text(json.dumps(value))
    with pytest.raises(DataFileError, match="no assertion was graded by a model"):
        read(tmp_path / "p.json")


@pytest.mark.parametrize("content", ['{"results": ', "{]"])
def test_a_broken_object_is_refused(tmp_path: Path, content: str) -> None:
    """With the place of the fault."""
    (tmp_path / "b.json").write_text(content)
    with pytest.raises(DataFileError, match="broken JSON at character"):
        read(tmp_path / "b.json")


def test_an_array_and_a_file_without_a_suffix_are_read(tmp_path: Path) -> None:
    """A JSON array of rows; and lines of JSON under any name."""
    row = {"id": "a", "answer": "x", "score": 1}
    (tmp_path / "rows.json").write_text(json.dumps([row, row | {"id": "b"}]))
    assert len(read(tmp_path / "rows.json")[0]) == 2
    lines = write_rows(tmp_path / "lines.jsonl", row, row | {"id": "b"})
    shutil.copy(lines, tmp_path / "lines")
    assert len(read(tmp_path / "lines")[0]) == 2


@pytest.mark.parametrize("name", ["e.jsonl", "e.csv", "e.json"])
def test_an_empty_file_has_nothing(tmp_path: Path, name: str) -> None:
    """No verdict and no fault: what that means is the caller's word."""
    (tmp_path / name).write_text("")
    verdicts, rejects, stream = read(tmp_path / name)
    assert (verdicts, rejects, stream.n_rows) == ([], [], 0)
