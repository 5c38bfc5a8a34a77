"""Two runs or two files compared at once, and the alarm tried on a judge's own quiet runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluator.store import read
from evaluator.store.db import open_reader
from tests import builders
from tests.builders import Story
from tests.cli.conftest import invoke, ok, ok_json, refused

Database = Callable[[str], Path]


@pytest.fixture
def sixty(database: Database) -> Path:
    """Sixty days of a support bot whose judge grows generous on the forty-first."""
    db = database("sixty_days")
    ok("check", "--db", db)
    return db


def days_with_anchors(db: Path) -> list[str]:
    """Days of the runs that graded anchors."""
    with open_reader(db) as store:
        setup = read.newest_ruler(store, builders.APP)
        assert setup is not None
        rows = read.anchor_scores(
            store, app=builders.APP, ruler_id=setup["ruler_id"], criterion=setup["criterion"]
        )  # fmt: skip
    return sorted({row["slot_day"] for row in rows})


def write_scores(path: str, scores: dict[str, float]) -> Path:
    """Write a file of stored scores."""
    lines = [json.dumps({"id": item, "output": f"answer {item}", "score": score}) for item, score in scores.items()]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Path(path)


# ---------------------------------------------------------------- two runs


def test_first_and_latest_run_differ_where_the_judge_moved(sixty: Path) -> None:
    """By about what it moved, item by item, with what is not covered said."""
    found = ok_json("check", "--baseline", "first", "--current", "latest", "--db", sixty)
    result = found["result"]
    assert result["finding"] == "changed_up"
    assert result["low"] < 0.34 < result["high"]
    assert result["n_up"] > result["n_down"]
    text = ok("check", "--baseline", "first", "--current", "latest", "--db", sixty)
    assert "shock common" in text
    assert "Sign test" in text


def test_a_run_is_named_by_day_or_by_the_beginning_of_its_id(sixty: Path) -> None:
    """Both name the same run."""
    day = days_with_anchors(sixty)[3]
    by_day = ok_json("check", "--baseline", day, "--current", "latest", "--db", sixty)
    run_id = by_day["before"]["name"].split("(")[1].rstrip(")")
    assert ok_json("check", "--baseline", run_id, "--current", "latest", "--db", sixty) == by_day
    assert by_day["before"]["day"] == day


def test_a_run_compared_with_itself_tells_nothing(sixty: Path) -> None:
    """No spread, no interval: not called steady."""
    text = ok("check", "--baseline", "latest", "--current", "latest", "--db", sixty)
    assert "Cannot tell" in text
    result = invoke("check", "--baseline", "latest", "--current", "latest", "--fail-on", "undecided", "--db", sixty)
    assert result.exit_code == 4


def test_exit_code_of_a_difference(sixty: Path) -> None:
    """2, when it is asked for."""
    words = ("check", "--baseline", "first", "--current", "latest", "--db", sixty)
    assert invoke(*words, "--fail-on", "judge").exit_code == 2
    assert invoke(*words).exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--baseline", "first"), "together"),
        (("--current", "first"), "together"),
        (("--baseline", "2001-01-01", "--current", "latest"), "'2001-01-01' is no run"),
        (("--baseline", "latest", "--current", "2"), "'2' is no run"),
    ],
)
def test_what_is_no_run_is_refused_with_what_there_is(sixty: Path, words: tuple[str, ...], message: str) -> None:
    """And how to write it."""
    assert message in refused("check", *words, "--db", sixty, code=64)


def test_a_database_without_runs_says_so(database: Database) -> None:
    """There is nothing to compare."""
    assert "no graded run" in refused(
        "check", "--baseline", "first", "--current", "latest", "--db", database("answers_only"), code=64
    )  # fmt: skip


# ---------------------------------------------------------------- two files


def test_two_files_of_scores_are_compared_without_a_database() -> None:
    """By the answers' own ids; those of one file alone are counted."""
    before = {f"q{number}": 1 + number % 5 for number in range(40)}
    after = {name: min(score + (place % 3 == 0), 5) for place, (name, score) in enumerate(before.items())}
    after["new"] = 3
    files = write_scores("old.jsonl", before), write_scores("new.jsonl", after)
    found = ok_json("check", "--baseline", files[0], "--current", files[1])
    assert (found["result"]["n"], found["result"]["n_only_after"]) == (40, 1)
    assert found["result"]["n_up"] == sum(after[name] > score for name, score in before.items())
    assert found["result"]["finding"] == "changed_up"
    assert "old.jsonl" in ok("check", "--baseline", files[0], "--current", files[1])


def test_a_file_against_a_run_is_refused(sixty: Path) -> None:
    """Other answers, another ruler."""
    path = write_scores("old.jsonl", {"a": 1})
    assert "two files" in refused("check", "--baseline", path, "--current", "latest", "--db", sixty, code=64)


def test_files_without_a_common_answer_say_so() -> None:
    """Nothing is made up."""
    files = write_scores("old.jsonl", {"a": 1}), write_scores("new.jsonl", {"b": 1})
    assert "no scored answer in common" in ok("check", "--baseline", files[0], "--current", files[1])


# ---------------------------------------------------------------- self-test


def test_self_test_uses_the_longest_quiet_stretch(sixty: Path) -> None:
    """The runs before the judge moved, not the whole history with the move in it."""
    found = ok_json("check", "--self-test", "--db", sixty)["self_test"]
    moved = ok_json("check", "--db", sixty)["judge"]["since_day"]
    assert found["passed"]
    assert found["last_day"] < moved
    assert found["n_runs"] >= 30
    assert found["per_year"] - 2 * found["per_year_se"] <= found["promised"]
    text = ok("check", "--self-test", "--db", sixty)
    assert text.startswith("Passed")
    assert "promised 1 a year" in text


def test_self_test_of_a_short_history_cannot_tell(tmp_path: Path) -> None:
    """Exit code 4 where that counts as undecided."""
    db = builders.sixty_days(tmp_path / "short.db", Story(n_days=20))
    assert "Cannot tell" in ok("check", "--self-test", "--db", db)
    assert invoke("check", "--self-test", "--fail-on", "undecided", "--db", db).exit_code == 4


def test_self_test_without_runs_says_so(database: Database) -> None:
    """There is nothing to test on."""
    assert "nothing to test on" in refused("check", "--self-test", "--db", database("answers_only"), code=64)
