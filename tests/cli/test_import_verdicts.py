"""``judgewatch import --verdicts``: what it says, what the other commands show of it, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.store import read
from evaluator.store.db import open_reader
from tests.cli.conftest import invoke, ok, ok_json, refused, write_anchors, write_config

SAMPLES = Path(__file__).parents[1] / "importers" / "verdicts" / "data"


def write_scores(n_days: int = 6, per_day: int = 5, path: Path = Path("scores.jsonl"), **fields: Any) -> Path:
    """Scores of a judge, five a day from 1 to 5."""
    rows = [
        {
            "id": f"{day}-{place}",
            "input": f"Question {place}?",
            "output": "word " * (place + 1),
            "score": place + 1,
            "judge": "by-words",
            "topic": ("billing", "returns")[place % 2],
            "graded_at": f"2026-03-{day:02d}T12:00:{place:02d}Z",
            **fields,
        }
        for day in range(1, n_days + 1)
        for place in range(per_day)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_one_command_takes_scores_and_tells_what_they_are() -> None:
    """Counts, mean with interval, the scale and how it was told; no configuration is needed."""
    shown = ok("import", "--verdicts", write_scores())
    assert "scores.jsonl: 30 rows" in shown
    assert "v1" in shown
    assert "3.00" in shown
    assert "scale of by-words, score: 1 to 5 (whole numbers from 1 to 5)" in shown
    assert "30 verdicts and 30 answers new, in data/judgewatch.db; no judge was called" in shown
    assert "2026-03-01 to 2026-03-06 (6)" in shown
    assert "judgewatch recheck FILE" in shown


def test_history_segments_items_and_check_show_them_at_once() -> None:
    """Without a run."""
    ok("import", "--verdicts", write_scores())
    days = ok_json("history")["days"]
    assert [(day["day"], day["n"], day["mean"]) for day in days] == [(f"2026-03-0{n}", 5, 3.0) for n in range(1, 7)]
    assert all(day["low"] < 3 < day["high"] for day in days)
    assert {row["value"] for row in ok_json("segments")["segments"]} == {"billing", "returns"}
    assert ok_json("items", "list")["n"] == 30
    checked = ok("check")
    assert checked.startswith("These scores were imported: no anchors, so a change cannot be split between judge and")
    assert "Raw mean as the judge gave it: 3.00" in checked
    result = invoke("check", "--fail-on", "undecided")
    assert result.exit_code == 4


def test_json_holds_what_is_told() -> None:
    """By judge and criterion."""
    payload = ok_json("import", "--verdicts", write_scores())
    judge = payload["judges"][0]
    assert (payload["stored"], payload["n_rows"], payload["n_new_answers"]) == (True, 30, 30)
    assert (judge["judge"], judge["criterion"], judge["setup"], judge["n_scored"], judge["n_missing"]) == (
        "by-words",
        "score",
        1,
        30,
        0,
    )
    assert judge["low"] < judge["mean"] < judge["high"]


def test_the_same_file_again_says_that_nothing_is_new() -> None:
    """And exits 0."""
    path = write_scores()
    ok("import", "--verdicts", path)
    assert "0 verdicts and 0 answers new" in ok("import", "--verdicts", path)


def test_a_dry_run_writes_nothing() -> None:
    """It says what would be."""
    assert "30 verdicts and 30 answers would be new" in ok("import", "--verdicts", write_scores(), "--dry-run")
    assert not Path("data").exists()


def test_several_criteria_are_chosen_by_the_number_of_their_setup() -> None:
    """check, history and segments reach each; an unknown number lists what there is."""
    ok("import", "--verdicts", SAMPLES / "promptfoo.json", "--skip-bad")
    found = {ok_json("check", "--setup", str(setup))["criterion"] for setup in (1, 2, 3)}
    assert found == {"llm-rubric", "factuality", "answer-relevance"}
    assert ok_json("history", "--setup", "3")["days"][0]["n"] == 12
    assert "has no judge setup 9; its setups: 1 (unknown judge" in refused("check", "--setup", "9", code=64)
    assert "has no judge setup 9" in refused("segments", "--setup", "9", code=64)


def test_setup_may_be_named_as_it_is_shown() -> None:
    """``v2``; what is no number of a setup is refused."""
    ok("import", "--verdicts", SAMPLES / "promptfoo.json", "--skip-bad")
    assert ok_json("check", "--setup", "v2") == ok_json("check", "--setup", "2")
    for text in ("v", "0", "-1", "two", "v٢", "9" * 30):
        assert "write it as a number from 1, like 2 or v2" in refused("check", "--setup", text, code=64)


def test_name_of_many_lines_or_words_stays_on_one_line() -> None:
    """Names come from files, and a prompt may stand in the column of the judge."""
    shown = ok("import", "--verdicts", write_scores(judge="strict\njudge " + "x" * 5000))
    (line,) = [line for line in shown.splitlines() if line.startswith("scale of ")]
    assert line.startswith("scale of strict judge xxx")
    assert line.endswith("x…: 1 to 5 (whole numbers from 1 to 5)")
    assert max(len(line) for line in ok("check").splitlines() if "judge setup v1" in line) < 300


def test_rejects_keep_everything_out_and_are_named() -> None:
    """Row, value, fix on stderr; the file of rejects on request."""
    result = invoke("import", "--verdicts", SAMPLES / "promptfoo.json", "--rejects", "bad.jsonl")
    assert result.exit_code == 1
    assert (
        "line 7: answer-relevance: the score -0.00417838 is off the scale 0 to 1 (scores of promptfoo)" in result.stderr
    )
    assert "so nothing was imported; correct it, or import the rest with --skip-bad" in result.stderr
    assert json.loads(Path("bad.jsonl").read_text())["line"] == 7
    assert not Path("data").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("scores.jsonl", "--judge", "x"), "--judge is about stored scores; it needs --verdicts"),
        (("scores.jsonl", "--scale", "1", "5"), "--scale is about stored scores; it needs --verdicts"),
        (("--verdicts", "scores.jsonl", "--answered-at", "2026-01-01"), "with --verdicts it is --graded-at TIME"),
        (("--verdicts", "scores.jsonl", "--scale", "5", "1"), "--scale 5 1: the lowest score comes first"),
        (("--verdicts", "scores.jsonl", "--graded-at", "soon"), "time for scores without one"),
        (("--verdicts", "scores.jsonl", "--format", "deepeval"), "no DeepEval test run"),
        (("--verdicts", "scores.jsonl", "--field", "score=nope"), "no row has the column 'nope'"),
        (("--verdicts", "scores.jsonl", "--field", "points=score"), "there is no field 'points'"),
        (("--verdicts", "gone.jsonl"), "cannot be read"),
    ],
)
def test_what_does_not_go_together_is_refused(arguments: tuple[str, ...], message: str) -> None:
    """In one line, with the fix."""
    write_scores()
    assert message in refused("import", *arguments, code=64)
    assert not Path("data").exists()


def test_a_format_of_scores_is_none_of_answers() -> None:
    """Without --verdicts."""
    write_scores()
    assert "'ragas'" in refused("import", "scores.jsonl", "--format", "ragas", code=64)


@pytest.mark.parametrize("content", ["", '{"id": "a", "score": null, "graded_at": "2026-03-01"}\n'])
def test_a_file_without_any_score_stores_nothing(content: str) -> None:
    """Exit 1, and said."""
    Path("e.jsonl").write_text(content)
    result = invoke("import", "--verdicts", "e.jsonl")
    assert result.exit_code == 1
    assert "there is no score in the files; nothing was imported" in result.stderr
    assert not Path("data").exists()


def test_answers_known_by_id_only_are_told() -> None:
    """With the way to have their texts."""
    Path("ids.jsonl").write_text('{"id": "a", "score": 2, "graded_at": "2026-03-01"}\n')
    assert "of 1 answer only the id is known: stored without texts" in ok("import", "--verdicts", "ids.jsonl")


# ---------------------------------------------------------------- the same judge


def configured() -> None:
    """A configured judge that grades anchors only."""
    write_anchors()
    write_config(**{"answers_per_day = 10": "answers_per_day = 10\ngrade = false"})


def test_the_same_judge_needs_anchors_only_from_then_on() -> None:
    """Import with a bridge, one run: the anchors are graded, no answer is, and check speaks of the imported scores."""
    configured()
    shown = ok("import", "--verdicts", write_scores(), "--same-judge")
    assert "the configured judge's anchors speak for these scores" in shown
    assert "12 anchors and 0 answers" in ok("run", "once", "--dry-run")
    ok("run", "once", "--quiet", "--slot", "2026-03-07T06:00:00+00:00")
    with open_reader(Path("data/judgewatch.db")) as store:
        runs = [run for run in read.runs(store, "shop") if run["purpose"] == "scheduled"]
    assert [(run["n_scored_anchor"], run["n_traffic"]) for run in runs] == [(12, 0)]
    found = ok_json("check")
    assert found["imported"] is True
    assert found["anchor_setup"] == 2
    assert found["judge"]["n_runs"] == 1
    assert ok_json("check", "--setup", "2")["model_asked"] != "by-words"


def test_another_scale_is_not_the_same_judge() -> None:
    """Refused, and no score is stored."""
    configured()
    message = refused("import", "--verdicts", SAMPLES / "mtbench.jsonl", "--same-judge", code=64)
    assert "are on 1 to 10, the configured judge grades on 1 to 5" in message
    assert not Path("data/judgewatch.db").exists()


def test_the_same_judge_needs_a_configuration() -> None:
    """There is none to be the same as."""
    assert "judgewatch.toml" in refused("import", "--verdicts", write_scores(), "--same-judge", code=64)


def own_scale(low: int, high: int) -> None:
    """A configuration whose judge grades on a scale of its own."""
    named = f'function = "python:tests.cli.graders:by_words"\nscale = [{low}, {high}]'
    write_config(**{'function = "python:tests.cli.graders:by_words"': named})


def scores_of(*values: float) -> Path:
    """A file with these scores, each ten times."""
    path = Path("own.jsonl")
    rows = [
        {"id": f"a{n}", "input": "q", "output": "a", "score": value, "graded_at": "2026-03-01T12:00:00Z"}
        for n, value in enumerate(values * 10)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_scores_within_the_configured_judges_scale_are_of_it() -> None:
    """Scores from 0 to 9 alone do not say that they go to 10; the report says where that is from."""
    own_scale(0, 10)
    shown = ok("import", "--verdicts", scores_of(0, 3, 6, 9))
    assert "score: 0 to 10 (the configured judge's; scores from 0 to 9)" in shown


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ((0.1, 0.5, 1.0), "0 to 1 (all 30 scores lie in 0 to 1)"),
        ((1, 2, 5), "1 to 5 (whole numbers from 1 to 5)"),
        ((20, 50, 90), "0 to 100 (scores from 20 to 90)"),
    ],
)
def test_scores_that_say_another_scale_are_of_that(values: tuple[float, ...], told: str) -> None:
    """Too small for the judge's, or outside it."""
    own_scale(0, 10)
    assert told in ok("import", "--verdicts", scores_of(*values))


def test_a_scale_that_was_given_counts_first() -> None:
    """Whatever the configuration says."""
    own_scale(0, 10)
    assert "0 to 20 (given with --scale)" in ok("import", "--verdicts", scores_of(0, 9), "--scale", "0", "20")
