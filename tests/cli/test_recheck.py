"""``judgewatch recheck``: what it costs, what it says, how it goes on, what it refuses."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from evaluator.cli import cli
from evaluator.store import read
from evaluator.store.db import open_reader
from tests import recheck_world
from tests.cli.conftest import invoke, ok, ok_json, refused
from tests.recheck_world import moved_world, n_calls, stored_rows, write_now, write_rows

CONFIG = """
[app]
name = "shop"
[judge]
model = "lookup"
function = "python:tests.recheck_world:by_number"
"""


@pytest.fixture(autouse=True)
def configured(in_a_folder_of_its_own: Path) -> None:
    """A configuration whose judge looks its scores up."""
    (in_a_folder_of_its_own / "judgewatch.toml").write_text(CONFIG, "utf-8")


def test_one_command_says_whether_the_judge_moved() -> None:
    """The cost on stderr, the sentence and the numbers on stdout."""
    result = invoke("recheck", "--yes", moved_world(), "--n", "120")
    assert result.exit_code == 0, result.output
    assert "60 recent answers (of 100) and 60 old answers (of 100), scores of gpt" in result.stderr
    assert "120 calls to python:tests.recheck_world:by_number" in result.stderr
    first = result.stdout.splitlines()[0]
    assert first.startswith("60 recent answers: same scores as stored (0.00). 60 answers from August: then 2.")
    assert "Your judge changed: +0." in first
    assert "between 0." in first
    assert "interval: 95%, Welch between two parts" in result.stdout
    assert "furthest apart" in result.stdout
    assert "judgewatch anchors pick --from-recheck" in result.stdout


def test_dry_run_shows_the_cost_and_calls_nothing() -> None:
    """As text and as JSON."""
    path = moved_world()
    shown = ok("recheck", "--yes", path, "--n", "60", "--dry-run")
    assert "60 calls" in shown
    assert "about 1 minute" in shown
    payload = ok_json("recheck", "--yes", path, "--n", "60", "--dry-run")
    assert (payload["n_calls"], payload["is_finished"], payload["facts"]["n_old_asked"]) == (60, False, 30)
    assert n_calls() == 0


def test_too_few_answers_are_said_before_they_are_paid_for() -> None:
    """Under five of a part nothing can be told, and under twenty in all not much."""
    path = moved_world()
    assert "note: 8 answers cannot tell whether the judge moved: 5 of each part are needed" in ok(
        "recheck", path, "--n", "8", "--dry-run"
    )
    assert "note: 10 answers can show only a large change" in ok("recheck", path, "--n", "10", "--dry-run")


def test_scale_that_is_the_judges_own_is_not_called_mapped() -> None:
    """Named to be sure; nothing is done to the scores."""
    path = moved_world()
    assert "are mapped on" not in ok("recheck", "--yes", path, "--scale", "1", "5", "--dry-run")
    assert "are mapped on 1 to 5" in ok("recheck", "--yes", path, "--scale", "0", "5", "--dry-run")


def test_second_call_shows_the_result_without_grading() -> None:
    """And --again grades."""
    path = moved_world()
    first = ok_json("recheck", "--yes", path, "--n", "60")
    again = invoke("recheck", "--yes", path, "--n", "60")
    assert "no call was made (--again grades anew)" in again.stderr
    assert again.stdout.splitlines()[0] == first["headline"]
    assert n_calls() == 60
    ok("recheck", "--yes", path, "--n", "60", "--again")
    assert n_calls() == 120


def test_json_holds_every_number_with_its_interval() -> None:
    """For programs: finding, parts, drift, what was left out."""
    payload = ok_json("recheck", "--yes", moved_world(), "--n", "120")
    assert payload["schema_version"] == 1
    assert payload["finding"] == "changed"
    assert payload["drift"]["low"] < payload["drift"]["value"] < payload["drift"]["high"]
    for part in ("recent", "old"):
        assert payload[part]["n"] == 60
        assert payload[part]["then"]["low"] < payload[part]["then"]["value"]
        assert payload[part]["first_day"] < payload[part]["last_day"]
    assert payload["run"]["n_scored"] == 120
    assert payload["is_complete"] is True
    assert len(payload["furthest"]) == 3


def test_without_a_file_earlier_results_are_shown() -> None:
    """The newest in full, the others in a line each; also as JSON."""
    path = moved_world()
    ok("recheck", "--yes", path, "--n", "60")
    newest = ok_json("recheck", "--yes", path, "--n", "90")
    shown = ok("recheck")
    assert shown.splitlines()[0] == newest["headline"]
    assert "scores.jsonl" in shown
    listed = ok_json("recheck")["rechecks"]
    assert [row["n_asked"] for row in listed] == [90, 60]
    assert listed[0]["result"]["headline"] == newest["headline"]
    assert listed[0]["result"]["furthest"] == newest["furthest"]


def test_without_a_recheck_the_next_step_is_said() -> None:
    """On a database that has none, and where there is no database."""
    assert "there is no database" in refused("recheck", code=1)
    write_rows([{"id": "1", "input": "q", "output": "a", "answered_at": "2026-11-01T00:00:00Z"}], Path("t.jsonl"))
    ok("import", "t.jsonl")
    assert "No recheck yet: `judgewatch recheck FILE`" in ok("recheck")
    assert ok_json("recheck")["rechecks"] == []


def test_unfinished_recheck_is_listed_as_such() -> None:
    """With the command that goes on with it."""
    Path("judgewatch.toml").write_text(CONFIG.replace("by_number", "broken"), "utf-8")
    path = moved_world()
    result = invoke("recheck", "--yes", path, "--n", "40")
    assert result.exit_code == 1
    assert "error: the recheck failed" in result.stderr
    assert "the same command goes on where it stopped" in result.stderr
    assert "Your judge" not in result.stdout
    assert "not finished; `judgewatch recheck scores.jsonl` goes on with it" in ok("recheck")
    assert ok_json("recheck")["rechecks"][0]["result"] is None


def test_day_used_up_tells_what_is_known_so_far() -> None:
    """Both parts are graded evenly, so the first calls say something; the exit code says that it is not all."""
    Path("judgewatch.toml").write_text(CONFIG + "[budget]\ncalls_per_day = 80\n", "utf-8")
    result = invoke("recheck", "--yes", moved_world(), "--n", "120")
    assert result.exit_code == 1
    assert result.stdout.startswith("So far: ")
    assert "the day's budget of 80 calls is used up" in result.stderr


def test_only_parity_can_be_told_of_one_day() -> None:
    """Said before the first call and in the result."""
    rows = [{**row, "graded_at": "2026-11-30T10:00:00Z"} for row in stored_rows(60)]
    write_now({str(k): row["score"] for k, row in enumerate(rows)})
    result = invoke("recheck", "--yes", write_rows(rows), "--n", "60")
    assert "all scores are of one day, so only parity can be told" in result.stderr
    assert "whether the judge moved cannot be told from them" in result.stdout


def test_few_answers_are_warned_of() -> None:
    """Ten say little."""
    rows = stored_rows(30)
    write_now({str(k): row["score"] for k, row in enumerate(rows)})
    result = invoke("recheck", "--yes", write_rows(rows), "--n", "10")
    assert "note: 10 answers can show only a large change" in result.stderr
    more = invoke("recheck", "--yes", "scores.jsonl", "--n", "500")
    assert "note: 500 were asked for and 20 are there in the two parts" in more.stderr


def test_unusable_rows_are_told_by_reason() -> None:
    """Before the calls and beside the result."""
    rows = stored_rows(60)
    for row in rows[:7]:
        row["graded_at"] = None
    write_now({str(k): row["score"] for k, row in enumerate(rows)})
    result = invoke("recheck", "--yes", write_rows(rows), "--n", "40")
    assert "not usable of 60 stored scores: 7: no time" in result.stderr
    assert "not usable in the file: 7 no time" in result.stdout


def test_columns_scale_and_split_are_options() -> None:
    """A CSV with names of its own, scores of 0 to 1, German time."""
    rows = stored_rows(60, score=lambda number: (number % 3) / 2)
    write_now({str(k): 1 + 4 * row["score"] for k, row in enumerate(rows)})
    lines = ["frage;antwort;note;wann"] + [
        f"{row['input']};{row['output']};{row['score']};{row['graded_at'][8:10]}.{row['graded_at'][5:7]}.2026 10:00"
        for row in rows
    ]
    Path("s.csv").write_text("\n".join(lines), "utf-8")
    fields = {"input": "frage", "output": "antwort", "score": "note", "graded_at": "wann"}
    columns = [part for field, column in fields.items() for part in ("--field", f"{field}={column}")]
    times = ["--time-format", "%d.%m.%Y %H:%M", "--zone", "Europe/Berlin", "--split", "2026-09-15"]
    payload = ok_json("recheck", "--yes", "s.csv", "--n", "40", "--scale", "0", "1", *times, *columns)
    assert payload["parity"]["value"] == 0.0
    assert payload["old"]["last_day"] < "2026-09-15" <= payload["recent"]["first_day"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("nowhere.jsonl",), 64, "nowhere.jsonl: cannot be read"),
        (("scores.jsonl", "--n", "1"), 64, "1 is not in the range"),
        (("scores.jsonl", "--split", "soon"), 64, "--split"),
        (("scores.jsonl", "--split", "2020-01-01"), 64, "no usable score was graded before that day"),
        (("scores.jsonl", "--judge", "claude"), 64, "judge 'gpt', criterion 'score' (300)"),
        (("scores.jsonl", "--criterion", "truth"), 64, "fits --judge and --criterion"),
        (("scores.jsonl", "--scale", "5", "1"), 64, "the lower end comes first"),
        (("scores.jsonl", "--field", "score"), 64, "write it as FIELD=COLUMN"),
        (("scores.jsonl", "--field", "graded_at="), 64, "300 no time"),
        (("scores.jsonl", "--config", "other.toml"), 64, "there is no configuration at other.toml"),
    ],
)
def test_bad_input_is_refused_before_any_call(arguments: tuple[str, ...], code: int, words: str) -> None:
    """In one line that names the value and the fix."""
    moved_world()
    assert words in refused("recheck", *arguments, code=code)
    assert n_calls() == 0


def test_configured_columns_count_where_the_file_of_scores_has_them() -> None:
    """A file that is written otherwise than the traffic is read by its own names."""
    path = moved_world()
    fields = '[traffic]\nfields = { output = "response.text" }\ntime_format = "%d.%m.%Y"\n'
    Path("judgewatch.toml").write_text(CONFIG + fields, "utf-8")
    assert "60 calls" in ok("recheck", path, "--n", "60", "--dry-run")
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    nested = [{**row, "response": {"text": row["output"]}, "output": "not this"} for row in rows]
    write_rows(nested)
    ok("recheck", "--yes", path, "--n", "60")
    graded = Path("calls.txt").read_text("utf-8").splitlines()
    assert len(graded) == 60
    assert all(text.startswith("answer ") for text in graded)


def test_help_lists_the_fields() -> None:
    """So that nobody has to guess them."""
    shown = " ".join(ok("recheck", "--help").split())
    assert "Fields are input, output, reference," in shown
    assert "of scores also score, graded_at, judge, criterion, explanation" in shown


def test_where_nobody_can_be_asked_yes_is_needed() -> None:
    """Nothing is spent in silence; what was answered before is shown without it."""
    path = moved_world()
    assert refused("recheck", path, "--n", "60", code=64) == "not a terminal: add --yes to grade 60 answers"
    assert refused("recheck", path, "--n", "60", "--json", code=64).startswith("not a terminal")
    assert n_calls() == 0
    ok("recheck", path, "--n", "60", "--yes")
    assert "now - stored" in ok("recheck", path, "--n", "60")


def test_what_is_left_of_the_day_is_said_before_the_first_call() -> None:
    """And that the plan does not fit into it."""
    Path("judgewatch.toml").write_text(CONFIG + "[budget]\ncalls_per_day = 80\n", "utf-8")
    path = moved_world()
    shown = ok("recheck", path, "--n", "120", "--dry-run")
    assert "budget: 80 of 80 calls are left today" in shown
    assert "it will stop after 80 of 120 calls; the rest goes on tomorrow with the same command" in shown
    assert "warning" not in ok("recheck", path, "--n", "60", "--dry-run")
    assert invoke("recheck", path, "--n", "70", "--yes").exit_code == 0
    after = invoke("recheck", path, "--n", "120", "--yes")
    assert "budget: 10 of 80 calls are left today" in after.stderr
    assert ok_json("recheck", path, "--n", "60", "--dry-run")["calls_left_today"] == 0


def test_printed_start_of_an_id_is_enough_to_pick_from_it() -> None:
    """As it stands in the last line of a result; what fits none or several is refused."""
    text = ok("recheck", moved_world(), "--n", "60", "--yes")
    command = text.split("`judgewatch ")[-1].partition("`")[0].split()
    assert len(command[-1]) == 12
    assert "40 calls" in ok(*command, "--n", "10", "--dry-run")
    assert "10 kept" in ok(*command, "--n", "10", "--yes")
    with open_reader("data/judgewatch.db") as store:
        (asked,) = [row["settings"]["asked"] for row in read.list_picks(store, "shop")]
    assert len(asked["from_recheck"]) == 32
    for start in ("zz", ""):
        assert "has no recheck of that id" in refused("anchors", "pick", "--from-recheck", start, code=64)


def test_start_of_an_id_that_fits_several_is_refused() -> None:
    """With the ids."""
    rows = moved_world()
    for n in range(17):  # more ids than there are first digits
        ok("recheck", rows, "--n", str(20 + 2 * n), "--yes")
    ids = [row["recheck_id"] for row in ok_json("recheck")["rechecks"]]
    (start, _), *_ = Counter(recheck_id[0] for recheck_id in ids).most_common(1)
    error = refused("anchors", "pick", "--from-recheck", start, "--n", "10", "--dry-run", code=64)
    assert "fits several rechecks" in error


def test_terminal_is_asked_before_the_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody sits at a pipe; --yes answers beforehand."""
    from evaluator.cli import recheck as command

    path = moved_world()
    monkeypatch.setattr(command, "_is_terminal", lambda: True)
    refusing = CliRunner().invoke(cli, ["recheck", str(path), "--n", "60"], input="n\n")
    assert refusing.exit_code == 1
    assert "Go on?" in refusing.output
    assert n_calls() == 0
    agreeing = CliRunner().invoke(cli, ["recheck", str(path), "--n", "60"], input="y\n")
    assert agreeing.exit_code == 0
    assert n_calls() == 60
    assert CliRunner().invoke(cli, ["recheck", str(path), "--n", "80", "--yes"]).exit_code == 0


# ---------------------------------------------------------------- real scores

DATA = Path(__file__).parents[1] / "data" / "judge_switch"


def real_rows(name: str) -> list[dict[str, Any]]:
    """Rows of a slice: id, then, now (numbers of real judges), part."""
    lines = (DATA / f"{name}.csv").read_text("utf-8").splitlines()
    header = lines[0].split(",")
    return [dict(zip(header, line.split(","), strict=True)) for line in lines[1:]]


def write_real(name: str, *, old_day: str, recent_day: str) -> Path:
    """A file of stored scores with invented texts, and what the real judge of the last session gave."""
    rows = real_rows(name)
    days = {"old": old_day, "recent": recent_day}
    stored = [
        {
            "id": row["id"],
            "input": f"question {row['id']}",
            "output": f"answer {row['id']}",
            "conversation_id": row["task"],
            "score": float(row["stored"]),
            "graded_at": f"{days[row['part']]}T12:00:00Z",
        }
        for row in rows
    ]
    write_now({row["id"]: float(row["now"]) for row in rows})
    return write_rows(stored)


def ten_point_rubric() -> None:
    """The shipped rubric, stretched from 1 to 10."""
    from evaluator.anchor_sets import load_rubric

    body = load_rubric("general").as_dict()
    levels = [{**level, "score": 1 + (level["score"] - 1) * 9 / 4} for level in body["levels"]]
    text = json.dumps({**body, "scale": {"min": 1, "max": 10}, "levels": levels})
    Path("ten.json").write_text(text, "utf-8")
    Path("judgewatch.toml").write_text(CONFIG + 'rubric = "ten.json"\n', "utf-8")


def test_switch_from_one_real_judge_to_another_is_found() -> None:
    """Old scores by gpt-4-turbo, recent ones by gpt-4o, both graded again by gpt-4o: 0.6 of ten lower."""
    ten_point_rubric()
    path = write_real("switch", old_day="2024-05-26", recent_day="2024-06-13")
    result = ok_json("recheck", "--yes", path, "--n", "240", "--split", "2024-06-01")
    assert result["finding"] == "changed"
    assert result["drift"]["low"] <= -0.62 <= result["drift"]["high"]
    assert abs(result["parity"]["value"]) < 0.25
    assert "Your judge changed: −0." in result["headline"]


def test_real_judge_that_was_only_asked_again_is_not_called_changed() -> None:
    """gpt-4 on the same responses three times: two stored, the third is now."""
    path = write_real("repeats", old_day="2023-06-01", recent_day="2023-09-01")
    result = ok_json("recheck", "--yes", path, "--n", "400", "--split", "2023-07-01")
    assert result["finding"] in ("same", "no_change_shown")
    assert result["drift"]["low"] <= 0 <= result["drift"]["high"]


def test_module_is_the_judge_of_the_configuration() -> None:
    """The lookup that these tests rely on counts its calls and answers by number."""
    write_now({"7": 3})
    from evaluator.records import Item

    assert recheck_world.by_number(Item(input="q", output="answer 7"))["score"] == 3
    assert n_calls() == 1
    assert not asyncio.iscoroutinefunction(recheck_world.by_number)
