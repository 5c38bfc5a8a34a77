"""Trying the sources: rows as they are understood, what is refused, and nothing stored."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from evaluator.importing import import_files
from evaluator.sources import SourceTrial, try_sources
from evaluator.sources import probe as probe_module
from tests.sources.conftest import AN_HOUR_AGO, NOW, SLOT, lines, printing, put, row, script, settings


def trial_of(folder: Path, n_rows: int = 10, **traffic: object) -> SourceTrial:
    """Try the only source."""
    (trial,) = try_sources(settings(folder, **traffic), slot=SLOT, n_rows=n_rows)
    return trial


def test_row_is_shown_with_the_columns_it_came_from(tmp_path: Path) -> None:
    """Every field that was found, the time in the zone of the store, tags and marks."""
    values = {
        "question": "Open?", "reply": "Yes.", "when": "2026-03-04 23:30", "id": "k1", "thread_id": "c1",
        "userId": "u1", "model": "m-1", "expected_output": "Yes!", "contexts": ["Hours: 9-5", "Map"], "topic": "hours",
    }  # fmt: skip
    put(tmp_path / "a.jsonl", lines(values))
    config = settings(tmp_path, files="a.jsonl", fields={"output": "reply", "answered_at": "when"})
    import_files(config.store_path, [put(tmp_path / "old.jsonl", lines(row("a")))], app="shop", now=NOW,
                 day_zone="Asia/Tokyo")  # fmt: skip
    (trial,) = try_sources(config, slot=SLOT, n_rows=10)
    (shown,) = trial.rows
    assert shown.fields == {
        "input": "Open?", "output": "Yes.", "answered_at": "2026-03-05 08:30:00+09:00", "id": "k1",
        "conversation_id": "c1", "user_id": "u1", "model": "m-1", "reference": "Yes!", "contexts": "Hours: 9-5\nMap",
    }  # fmt: skip
    assert shown.columns == {
        "input": "question", "output": "reply", "answered_at": "when", "id": "id", "conversation_id": "thread_id",
        "user_id": "userId", "model": "model", "reference": "expected_output", "contexts": "contexts",
    }  # fmt: skip
    assert (shown.tags, shown.marks, shown.line) == ({"topic": "hours"}, ("naive_time",), 1)
    assert trial.problem is None


def test_nothing_is_stored_or_remembered(tmp_path: Path) -> None:
    """Not even a database is made; what was tried is taken later."""
    put(tmp_path / "a.jsonl", lines(row("a1")))
    trials = try_sources(
        settings(tmp_path, files="a.jsonl", command=printing(tmp_path, row("b1"))), slot=SLOT, n_rows=3
    )
    assert [(trial.key, len(trial.rows), trial.problem) for trial in trials] == [
        ("traffic.files", 1, None),
        ("traffic.command", 1, None),
    ]
    assert not (tmp_path / "jw.db").exists()


def test_newest_files_come_first_and_reading_ends_with_the_rows(tmp_path: Path) -> None:
    """Ten rows of a large folder are enough."""
    put(tmp_path / "in/a.jsonl", lines(*(row(f"a{n}") for n in range(50))))
    put(tmp_path / "in/b.jsonl", lines(row("b1"), row("b2")), at=AN_HOUR_AGO + 60)
    put(tmp_path / "in/c.jsonl", b"", at=AN_HOUR_AGO + 70)
    trial = trial_of(tmp_path, 5, files="in/*.jsonl")
    assert [shown.fields["id"] for shown in trial.rows] == ["b1", "b2", "a0", "a1", "a2"]
    assert (trial.n_files, trial.n_rows) == (3, 5)
    assert trial.notes == [f"{tmp_path / 'in/c.jsonl'} is empty"]


def test_refused_rows_are_named_with_their_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first ten; a file without end is not read to it."""
    bad = b"no json\n" * 12 + lines({"output": "x", "answered_at": "03/04/2026"}, {"text": "x"})
    put(tmp_path / "a.jsonl", bad + lines(row("a1")))
    trial = trial_of(tmp_path, files="a.jsonl")
    assert (trial.n_rows, trial.n_refused, len(trial.refused), len(trial.rows)) == (15, 14, 10, 1)
    first = trial.refused[0]
    assert (first.line, first.reason, first.text_start) == (1, "broken JSON at character 1: Expecting value", "no json")
    monkeypatch.setattr(probe_module, "MOST_ROWS_LOOKED_AT", 3)
    again = trial_of(tmp_path, files="a.jsonl")
    assert again.n_rows == 3
    assert again.problem == f"{tmp_path / 'a.jsonl'}: none of the 3 rows looked at can be used"


def test_reasons_name_the_keys_of_the_configuration(tmp_path: Path) -> None:
    """A time of two readings, a field that is missing."""
    put(tmp_path / "a.jsonl", lines({"output": "x", "answered_at": "03/04/2026"}, row("a")))
    (refused,) = trial_of(tmp_path, files="a.jsonl").refused
    assert "traffic.time_format = '%d/%m/%Y'" in refused.reason
    put(tmp_path / "b.jsonl", lines({"reply": "x"}))
    problem = trial_of(tmp_path, files="b.jsonl").problem
    assert problem is not None
    assert 'Name its column: traffic.fields = {output = "NAME"}' in problem
    assert "columns seen: 'reply'" in problem


def test_named_column_that_no_row_has_is_a_problem(tmp_path: Path) -> None:
    """A misspelled name must not pass in silence."""
    put(tmp_path / "a.jsonl", lines(row("a")))
    problem = trial_of(tmp_path, files="a.jsonl", fields={"user_id": "usr"}).problem
    assert problem is not None
    assert 'no row has the column of traffic.fields = {user_id = "usr"}' in problem


def test_notes_tell_what_is_left_out(tmp_path: Path) -> None:
    """No question, columns that are no tags, spans that are no calls."""
    put(tmp_path / "a.jsonl", lines({"output": "x", "answered_at": "2026-03-04", "steps": [1, 2]}))
    notes = "\n".join(trial_of(tmp_path, files="a.jsonl").notes)
    assert "no row has a field for the question; name its column in traffic.fields" in notes
    assert "column 'steps' was left out in 1 row: a list or an object is no tag" in notes
    spans = [{"span_id": "s", "attributes": {"http.method": "GET"}, "start_time": 1772355600}]
    put(tmp_path / "b.json", json.dumps(spans).encode())
    trial = trial_of(tmp_path, files="b.json")
    assert trial.notes == [
        f"{tmp_path / 'b.json'}: 1 span left out: no call of a model, or one that failed without an answer"
    ]
    assert trial.problem is None


@pytest.mark.parametrize("pattern", ["none/*.jsonl", "*.jsonl"])
def test_no_file_at_all_is_a_problem(tmp_path: Path, pattern: str) -> None:
    """A scheduled run goes on without; a person who tries the source wants to know."""
    trial = trial_of(tmp_path, files=pattern)
    assert trial.problem == "there is no file to read"
    assert f"traffic.files = {pattern!r} matches no file" in trial.notes[0]


def test_file_that_cannot_be_read_is_a_problem_and_the_others_are_shown(tmp_path: Path) -> None:
    """By its own name."""
    put(tmp_path / "in/a.jsonl", lines(row("a1")))
    put(tmp_path / "in/b.jsonl", b"\x1f\x8b\x08\x00", at=AN_HOUR_AGO + 60)
    trial = trial_of(tmp_path, files="in/*.jsonl")
    assert trial.problem == f"{tmp_path / 'in/b.jsonl'}: the file is compressed (gzip); unpack it first"
    assert len(trial.rows) == 1


def test_command_that_fails_says_how(tmp_path: Path) -> None:
    """And one that prints nothing is a note, not a failure."""
    trial = trial_of(tmp_path, command=script(tmp_path, "sys.exit('no token')"))
    assert trial.problem == "it ended with status 1. It said: no token"
    silent = trial_of(tmp_path, command=script(tmp_path, ""))
    assert silent.problem is None
    assert silent.notes[0].startswith("the command printed nothing")


def test_output_of_a_command_is_not_named_by_its_temporary_file(tmp_path: Path) -> None:
    """Nobody knows that file."""
    trial = trial_of(tmp_path, command=script(tmp_path, "print('<html>'); print('{}')"))
    assert trial.problem is not None
    assert trial.problem.startswith("its output: none of the 2 rows")
    assert [refused.place for refused in trial.refused] == ["its output", "its output"]
    assert "judgewatch-" not in str(trial.as_dict())


def test_personal_data_is_not_shown(tmp_path: Path) -> None:
    """What is shown is what would be stored."""
    put(tmp_path / "a.jsonl", lines(row("a1", output="Write to jo@example.com")) + b'{"x": "jo@example.com\n')
    trial = trial_of(tmp_path, files="a.jsonl", redact=["email"])
    assert trial.rows[0].fields["output"] == "Write to [email]"
    assert "jo@" not in str(trial.as_dict())


def test_long_texts_are_cut(tmp_path: Path) -> None:
    """A novel is no example."""
    put(tmp_path / "a.jsonl", lines(row("a1", output="x" * 10_000)))
    assert len(trial_of(tmp_path, files="a.jsonl").rows[0].fields["output"]) == 400


TRACE = {
    "traceId": "t1", "startTime": "2026-03-04T10:00:00Z", "user": {"id": "u1"}, "attributes": {"lang": "fr"},
    "request": {"kind": "single", "prompt": "Open?"}, "response": {"text": "Yes.", "finishReason": "stop"},
}  # fmt: skip


def test_paths_that_fields_come_from_are_shown(tmp_path: Path) -> None:
    """Found by themselves, and named by hand."""
    put(tmp_path / "a.jsonl", lines({**TRACE, "meta": {"ask": {"text": "Why?"}}}))
    columns = trial_of(tmp_path, files="a.jsonl").rows[0].columns
    assert columns == {
        "input": "request.prompt", "output": "response.text", "id": "traceId", "user_id": "user.id",
        "answered_at": "startTime",
    }  # fmt: skip
    named = trial_of(tmp_path, files="a.jsonl", fields={"input": "meta.ask.text"}).rows[0]
    assert (named.columns["input"], named.fields["input"]) == ("meta.ask.text", "Why?")


def test_rows_without_question_or_time_are_a_problem_with_a_line_to_copy(tmp_path: Path) -> None:
    """The line keeps what is configured, and mends it when it is copied."""
    row = {"out": "Yes.", "x": {"y": {"user_words": "Is it open?", "when": "2026-03-04T10:00:00Z"}}}
    put(tmp_path / "a.jsonl", lines(row))
    problem = trial_of(tmp_path, files="a.jsonl", fields={"output": "out"}).problem
    line = 'fields = { output = "out", input = "x.y.user_words", answered_at = "x.y.when" }'
    assert problem is not None
    assert problem.endswith(f"no row has a question and no row has a time; the question could be x.y.user_words, the "
                            f"time could be x.y.when. Under [traffic]: {line}")  # fmt: skip
    fields = tomllib.loads(line)["fields"]
    mended = trial_of(tmp_path, files="a.jsonl", fields=fields)
    assert (mended.problem, mended.rows[0].fields["input"]) == (None, "Is it open?")


def test_answers_that_are_all_empty_are_a_problem(tmp_path: Path) -> None:
    """A column of the right name with nothing in it."""
    put(tmp_path / "a.jsonl", lines(row("a", output=""), row("b", output=None)))
    problem = trial_of(tmp_path, files="a.jsonl").problem
    assert problem is not None
    assert "no row has an answer" in problem


def test_a_field_that_is_said_not_to_exist_is_no_problem(tmp_path: Path) -> None:
    """An application without questions is one."""
    put(tmp_path / "a.jsonl", lines({"output": "x", "answered_at": "2026-03-04"}))
    assert trial_of(tmp_path, files="a.jsonl").problem is not None
    assert trial_of(tmp_path, files="a.jsonl", fields={"input": ""}).problem is None


def test_places_that_are_as_good_are_named_with_the_key_that_decides(tmp_path: Path) -> None:
    """In the words of the configuration, for questions and for answers."""
    both = {"data": {"question": "a"}, "payload": {"question": "b"}, "answered_at": "2026-03-04"}
    put(tmp_path / "a.jsonl", lines({**both, "output": "x"}))
    problem = trial_of(tmp_path, files="a.jsonl").problem
    assert problem is not None
    assert "'data.question' and 'payload.question' may each be the input" in problem
    assert 'traffic.fields = {input = "data.question"}' in problem
    put(tmp_path / "b.jsonl", lines({"input": "q", "Bot answer": "x", "Agent answer": "y"}))
    problem = trial_of(tmp_path, files="b.jsonl").problem
    assert problem is not None
    assert 'traffic.fields = {output = "Bot answer"}' in problem


def test_a_path_that_leads_nowhere_is_told_with_what_is_there(tmp_path: Path) -> None:
    """By its key, with the keys that are there."""
    put(tmp_path / "a.jsonl", lines(TRACE))
    problem = trial_of(tmp_path, files="a.jsonl", fields={"input": "request.promt"}).problem
    assert problem is not None
    assert 'no row has the column of traffic.fields = {input = "request.promt"}' in problem
    assert "'request' has the keys 'kind', 'prompt'" in problem
