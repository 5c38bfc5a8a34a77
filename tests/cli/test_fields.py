"""``--field`` and ``[traffic] fields``: which names there are, which of both counts, and for which files."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from evaluator.cli.fields import ALIASES, ANSWER_FIELDS, SCORE_FIELDS
from evaluator.importers.columns import field_of
from evaluator.importers.named_fields import fields_over, same_field
from evaluator.importers.names import FIELD_NAMES
from evaluator.importers.verdicts.columns import VERDICT_FIELDS
from tests.cli.conftest import ok, refused, write_answers, write_config

FIELDS = '\nfields = { output = "reply.text", id = "nr", score = "points" }\n'


def configured() -> None:
    """A configuration that names columns."""
    write_config(**{'spool = "spool"\n': f'spool = "spool"{FIELDS}'})


def stored(sql: str) -> list[tuple[Any, ...]]:
    """Rows of the database."""
    with sqlite3.connect("data/judgewatch.db") as connection:
        return connection.execute(sql).fetchall()


def nested_answers(**fields: Any) -> Path:
    """Three answers under the configured names, beside columns that would be read otherwise."""
    rows = [
        {
            "nr": f"n{number}",
            "id": f"row-{number}",
            "question": "Why?",
            "reply": {"text": f"Because {number}."},
            "answer": "not this",
            "time": "2026-03-01T10:00:00Z",
            **fields,
        }
        for number in range(3)
    ]
    return write_answers(Path("t.jsonl"), rows)


def test_help_names_the_fields_that_the_importers_know() -> None:
    """The list stands in the help of a command that loads no importer for it."""
    assert set(ANSWER_FIELDS) == set(FIELD_NAMES)
    assert set(SCORE_FIELDS) == set(VERDICT_FIELDS)
    assert {alias: same_field(alias) for alias in ALIASES} == ALIASES
    shown = " ".join(ok("import", "--help").split())
    assert f"Fields are {', '.join(ANSWER_FIELDS)}; of scores also {', '.join(SCORE_FIELDS)}" in shown


def test_import_reads_the_configured_columns() -> None:
    """As the runs do; a field that only scores have is no hindrance."""
    configured()
    ok("import", nested_answers())
    assert stored("SELECT external_id, output FROM items ORDER BY 1")[0] == ("n0", "Because 0.")


def test_a_column_named_by_hand_counts_before_a_configured_one() -> None:
    """Under whichever name of the field; the others stay as configured."""
    configured()
    ok("import", nested_answers(), "--field", "external_id=id")
    assert stored("SELECT external_id, output FROM items ORDER BY 1")[0] == ("row-0", "Because 0.")


def test_configured_columns_that_a_file_has_not_leave_it_to_its_own_names() -> None:
    """The configuration speaks of other files."""
    configured()
    row = {"id": "x", "question": "Why?", "answer": "So.", "time": "2026-03-01T10:00:00Z"}
    ok("import", write_answers(Path("plain.jsonl"), [row]))
    assert stored("SELECT external_id, output FROM items") == [("x", "So.")]


def test_scores_are_read_by_configured_columns_too() -> None:
    """And the words of the judge are named by an alias."""
    configured()
    rows = [
        {"nr": f"n{n}", "reply": {"text": "So."}, "points": n + 1, "why": "clear", "graded_at": "2026-03-01T10:00:00Z"}
        for n in range(5)
    ]
    ok("import", "--verdicts", write_answers(Path("s.jsonl"), rows), "--field", "reason=why")
    assert stored("SELECT external_id, output, score, explanation FROM items JOIN verdicts USING (item_id)")[0] == (
        "n0", "So.", 1.0, "clear",
    )  # fmt: skip


@pytest.mark.parametrize("pair", [("explanation", "reason"), ("id", "external_id")])
def test_a_field_named_twice_is_refused(pair: tuple[str, str]) -> None:
    """Nobody can tell which is meant."""
    path = write_answers(Path("s.jsonl"), [{"id": "a", "answer": "b", "score": 1, "graded_at": "2026-03-01"}])
    options = [part for name in pair for part in ("--field", f"{name}=x")]
    message = refused("import", "--verdicts", path, *options, code=64)
    assert f"the field {pair[0]!r} is named twice" in message


def test_fields_over_leaves_unknown_names_to_the_importers() -> None:
    """They say what there is."""
    assert fields_over({"nonsense": "a"}, {"item_id": "b"}) == {"item_id": "b", "nonsense": "a"}
    assert fields_over({"id": "a"}, {"item_id": "b", "external_id": "c"}) == {"id": "a"}
    assert field_of("nonsense") is None


def test_scores_of_nobody_knows_what_are_refused() -> None:
    """No question, no answer and no id: the columns seen, and the options that say what they are."""
    rows = [{"frob": "Why?", "blurb": "So.", "score": n + 1, "graded_at": "2026-03-01"} for n in range(5)]
    path = write_answers(Path("s.jsonl"), rows)
    message = refused("import", "--verdicts", path, code=64)
    assert "no row has a column for the question, the answer or an id" in message
    assert "columns seen: 'frob', 'blurb', 'score', 'graded_at'" in message
    assert "--field output=NAME" in message
    assert not Path("data/judgewatch.db").exists()
    ok("import", "--verdicts", path, "--field", "output=blurb", "--field", "input=frob")


def test_an_id_alone_says_what_was_graded() -> None:
    """Its texts may come later."""
    rows = [{"id": f"a{n}", "score": n + 1, "graded_at": "2026-03-01"} for n in range(5)]
    assert "only the id is known" in ok("import", "--verdicts", write_answers(Path("s.jsonl"), rows))
