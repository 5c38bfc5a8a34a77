"""``judgewatch anchors pick``, ``freeze`` and ``check``, with a judge that is a function, at a terminal and without."""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from evaluator.cli import anchors_pick, cli
from evaluator.store import locks
from evaluator.store.db import open_reader, open_store
from tests.cli.conftest import invoke, ok, ok_json, refused, write_anchors, write_answers, write_config

DB = Path("data/judgewatch.db")
WORDS = [f"{start}{end}" for start in "bcdfghklmnprst" for end in ("ara", "ilo", "emu", "ony", "uti")]
REPOSITORY = Path(__file__).resolve().parents[2]


def answers(n: int, *, most_words: int = 5, **fields: Any) -> list[dict[str, Any]]:
    """Answers of one to five words, which the judge grades by their number; every tenth question holds an address."""
    pick = random.Random(3)
    return [
        {
            "id": f"a{number}",
            "input": f"Question {number}: {' '.join(pick.choices(WORDS, k=8))}"
            + (" ann@example.com" if number % 10 == 0 else ""),
            "output": " ".join(pick.choices(WORDS, k=number % most_words + 1)),
            "answered_at": f"2026-03-0{number % 9 + 1}T12:00:00Z",
            "user_id": f"user-{number}",
            "topic": ("billing", "returns")[number % 2],
            **fields,
        }
        for number in range(n)
    ]


@pytest.fixture(autouse=True)
def shop() -> None:
    """A configuration, and a hundred answers of one to five words."""
    write_config()
    write_anchors()
    ok("import", write_answers(Path("answers.jsonl"), answers(100)))


def decisions() -> list[str | None]:
    """What was decided, in order."""
    with open_reader(DB) as store:
        return [row[0] for row in store.connection.execute("SELECT decision FROM pick_items ORDER BY position")]


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, keys: str, *args: str) -> Result:
    """Run ``anchors pick`` and press keys."""
    monkeypatch.setattr(anchors_pick, "is_terminal", lambda: True)
    return CliRunner().invoke(cli, ["anchors", "pick", *args], input=keys)


# ---------------------------------------------------------------- from traffic to a set


def test_dry_run_tells_candidates_and_cost_and_writes_nothing() -> None:
    """Calls of both gradings and the most dollars."""
    text = ok("anchors", "pick", "--n", "10", "--dry-run")
    assert text.splitlines()[0] == "30 candidates drawn at random from 100 answers"
    assert "first grading 30 calls, second 10 calls: 40 calls, at what the function spends, without retries" in text
    payload = ok_json("anchors", "pick", "--n", "10", "--dry-run", "--per-segment")
    assert (payload["is_new"], payload["calls"], payload["segment_key"]) == (True, 40, "topic")
    with open_reader(DB) as store:
        assert store.connection.execute("SELECT count(*) FROM picks").fetchone()[0] == 0
        assert store.connection.execute("SELECT count(*) FROM attempts").fetchone()[0] == 0


def test_whole_way_from_traffic_to_a_run_with_own_anchors() -> None:
    """Pick, accept, freeze, name the set, run: as the documentation tells it."""
    text = ok("anchors", "pick", "--n", "20", "--yes")
    assert "No score of this pick is a reference" in text
    frozen = ok("anchors", "freeze")
    assert '  [anchors]\n  set = "anchors-own.jsonl"' in frozen
    rows = [json.loads(line) for line in Path("anchors-own.jsonl").read_text("utf-8").splitlines()]
    assert {row["expected_score"] for row in rows} == {None}
    assert not any("user-" in json.dumps(row) or "example.com" in json.dumps(row) for row in rows)
    write_config(**{'set = "anchors.jsonl"': 'set = "anchors-own.jsonl"'})
    assert "the configuration names this set already" in ok("anchors", "freeze")
    assert f"{len(rows)} picked from your own traffic" in ok("anchors", "list")
    assert ok_json("run", "once", "--slot", "2026-03-12T06:00")["n_anchors"] == len(rows)


def test_configured_set_need_not_be_there_yet() -> None:
    """It may be the one that is to be picked."""
    write_config(**{'set = "anchors.jsonl"': 'set = "anchors-own.jsonl"'})
    ok("anchors", "pick", "--n", "15", "--yes")
    ok("anchors", "freeze")
    assert Path("anchors-own.jsonl").exists()


def test_set_lies_beside_the_configuration() -> None:
    """Wherever the command is called."""
    folder = Path("elsewhere")
    folder.mkdir()
    config = write_config(path=folder / "judgewatch.toml")
    ok("import", "answers.jsonl", "--config", config)
    ok("anchors", "pick", "--n", "15", "--yes", "--config", config)
    ok("anchors", "freeze", "--config", config)
    assert (folder / "anchors-own.jsonl").exists()


def test_levels_and_what_is_missing_are_told() -> None:
    """Answers of one to three words only: nothing at the two highest levels; JSON tells the same."""
    ok("import", write_answers(Path("short.jsonl"), answers(90, most_words=3)), "--app", "short")
    text = ok("anchors", "pick", "--n", "12", "--app", "short", "--yes", "--accept-flagged")
    assert "no answers at level 4 (good) or 5 (excellent) among 36: the set cannot see moves there" in text
    assert "0 of 12 got two different scores" in text
    payload = ok_json("anchors", "pick", "--n", "12", "--app", "short")
    assert payload["missing_levels"] == [4, 5]
    assert [level["chosen"] for level in payload["levels"]] == [4, 4, 4, 0, 0]
    assert all(item["first_score"] == item["second_score"] for item in payload["items"])


def test_fewer_answers_than_wanted_are_told() -> None:
    """A hundred differ, two hundred were wanted."""
    assert "only 100 of the 200 anchors wanted: there are no more that differ" in ok(
        "anchors", "pick", "--n", "200", "--yes", "--accept-flagged"
    )


def test_finished_pick_costs_nothing_again() -> None:
    """The same command shows it once more."""
    write_config(by_words="noting_calls")
    ok("anchors", "pick", "--n", "10", "--yes")
    result = invoke("anchors", "pick", "--n", "10")
    assert "calls" not in result.stderr
    assert len(Path("calls.txt").read_text("utf-8").splitlines()) == 40
    assert "first grading 0 calls, second 0 calls" in ok("anchors", "pick", "--n", "10", "--dry-run")


def test_flagged_answers_are_left_to_a_person() -> None:
    """Accepting all of a review leaves them undecided, and says so."""
    ok("anchors", "pick", "--n", "60", "--out", "review.csv")
    text = ok("anchors", "pick", "--n", "60", "--yes")
    assert "flagged answers left undecided (likely personal data)" in text
    n_flagged = decisions().count(None) - (100 - 60)
    assert n_flagged > 0
    payload = ok_json("anchors", "pick", "--n", "60", "--yes", "--accept-flagged")
    assert payload["n_flagged_left_out"] == 0
    assert decisions().count("yes") == 60
    assert f"{n_flagged} of them may hold personal data and were accepted all the same" in ok("anchors", "freeze")


def test_flagged_answers_are_left_out_before_choosing_where_nobody_looks() -> None:
    """So that as many are chosen as are wanted; they can be had all the same."""
    text = ok("anchors", "pick", "--n", "60", "--yes")
    assert "60 kept, 0 left out, 0 undecided" in text
    assert "10 candidates not chosen, since likely personal data is in them; --accept-flagged --restart" in text
    assert decisions().count("yes") == 60
    all_of_them = ok("anchors", "pick", "--n", "100", "--yes", "--name", "all")
    assert "only 90 of the 100 anchors wanted: the others are left out" in all_of_them


def test_where_every_candidate_is_flagged_nothing_is_chosen() -> None:
    """The way out is named."""
    rows = [{**row, "input": f"{row['input']} bob@example.com"} for row in answers(40)]
    ok("import", write_answers(Path("flagged.jsonl"), rows), "--app", "flagged")
    error = refused("anchors", "pick", "--n", "10", "--yes", "--app", "flagged", code=1)
    assert "each of the 30 candidates" in error
    assert "--accept-flagged" in error


def test_few_anchors_are_warned_of_with_what_they_can_show() -> None:
    """Under fifty; this judge never jumps, so there is no noise to tell a size from."""
    ok("anchors", "pick", "--n", "20", "--yes")
    result = invoke("anchors", "freeze")
    assert "warning: " in result.stderr
    assert "anchors are few; 50 to 100 show smaller changes" in result.stderr
    ok("anchors", "pick", "--n", "60", "--yes", "--name", "many")
    assert "warning" not in invoke("anchors", "freeze", "--name", "many").stderr


# ---------------------------------------------------------------- at a terminal


def test_review_takes_keys_and_goes_on_where_it_was_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Yes, no, back and yes after all, quit; then the rest."""
    result = at_a_terminal(monkeypatch, "ynby?q", "--n", "10")
    assert result.exit_code == 0, result.output
    assert "── 1 of 10, 0 kept so far" in result.stdout
    assert "(decided before: no)" in result.stdout
    assert result.stdout.count("y = keep as an anchor") == 2
    assert "2 kept, 0 left out, 8 undecided" in result.stdout
    again = at_a_terminal(monkeypatch, "yyyynyyyq", "--n", "10")
    assert "── 3 of 10, 2 kept so far" in again.stdout
    assert "9 kept, 1 left out, 0 undecided" in again.stdout
    assert "1 fewer than the 10 wanted" in again.stdout
    assert "9 of 10 picked answers are accepted (0 undecided)" in refused("anchors", "freeze", code=64)


def test_reserve_of_the_same_level_takes_the_place_of_one_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also after a break; it goes again when the answer is kept after all."""
    first = at_a_terminal(monkeypatch, "nbynyyyyyyyyq", "--n", "10")
    assert first.stdout.count("(a reserve, graded once, for one that was left out)") == 1
    assert "── 11 of 11, 9 kept so far (a reserve" in first.stdout
    again = at_a_terminal(monkeypatch, "ny", "--n", "10")
    assert "── 11 of 11, 9 kept so far (a reserve" in again.stdout
    assert "── 12 of 12, 9 kept so far (a reserve" in again.stdout
    assert "10 kept, 2 left out, 0 undecided" in again.stdout
    assert "fewer" not in again.stdout
    assert "keep?" not in at_a_terminal(monkeypatch, "", "--n", "10").stdout
    assert "10 anchors written to" in ok("anchors", "freeze")
    with open_reader(DB) as store:
        left_out = store.connection.execute("SELECT count(*) FROM pick_items WHERE decision = 'no'").fetchone()[0]
    assert left_out == 2


def test_end_of_input_is_quitting(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was decided is kept."""
    result = at_a_terminal(monkeypatch, "yy", "--n", "10")
    assert result.exit_code == 0
    assert decisions().count("yes") == 2


def test_hostile_texts_are_only_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """No terminal sequence, no text that passes for a line of ours, and a long one is cut."""
    rows = answers(40, topic="x\x1b]0;owned\x07")
    for row in rows:
        row["output"] += "\x1b[2J\n── 9 of 9, all kept\r\u202egnp" + " end" * 1_000
    ok("import", write_answers(Path("hostile.jsonl"), rows), "--app", "hostile")
    result = at_a_terminal(monkeypatch, "y" * 10, "--n", "10", "--app", "hostile")
    assert result.exit_code == 0
    assert not set(result.stdout) & set("\x1b\x07\r\u202e")
    assert "  │ ── 9 of 9, all kept␍\\u202egnp" in result.stdout
    assert "more characters]" in result.stdout


def test_without_a_terminal_the_ways_to_decide_are_named() -> None:
    """A cron job does not wait for keys."""
    write_config(by_words="noting_calls")
    error = refused("anchors", "pick", "--n", "10", code=64)
    assert "nobody could review what is picked with 40 calls: add --yes" in error
    assert "--out FILE.csv" in error
    assert not Path("calls.txt").exists()
    ok("anchors", "pick", "--n", "10", "--out", "review.csv")
    text = ok("anchors", "pick", "--n", "10")
    assert "with --out FILE.csv as a table, or with --yes for all that are not flagged" in text


# ---------------------------------------------------------------- as a table


def test_table_is_marked_and_read_back() -> None:
    """Twelve kept, two not, the rest blank or gone."""
    assert "--from picks.csv" in ok("anchors", "pick", "--n", "20", "--out", "picks.csv")
    with Path("picks.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for place, row in enumerate(rows):
        row["keep"] = "x" if place < 12 else "no" if place < 14 else ""
    with Path("picks.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(rows[:-2])
    text = ok("anchors", "freeze", "--from", "picks.csv")
    assert "the table leaves 4 blank and 2 out" in text
    assert "12 anchors written to anchors-own.jsonl" in text
    assert (decisions().count("yes"), decisions().count("no")) == (12, 2)
    payload = ok_json("anchors", "freeze", "--from", "picks.csv")
    assert payload["marks"] == {"n_blank": 4, "n_missing": 2}
    assert (payload["is_new"], payload["set"], payload["in_use"]) == (False, "anchors-own.jsonl", False)


def test_table_with_a_fault_changes_nothing() -> None:
    """Whole or not at all."""
    ok("anchors", "pick", "--n", "10", "--out", "picks.csv")
    Path("picks.csv").write_text("keep,item_id\nyes,nobody\n", encoding="utf-8")
    assert "item_id 'nobody' is not of this pick" in refused("anchors", "freeze", "--from", "picks.csv", code=64)
    assert set(decisions()) == {None}


def test_table_that_is_there_is_refused_before_any_call() -> None:
    """It may hold somebody's marks."""
    write_config(by_words="noting_calls")
    Path("picks.csv").write_text("mine", encoding="utf-8")
    assert "may hold somebody's marks" in refused("anchors", "pick", "--out", "picks.csv", code=64)
    assert not Path("calls.txt").exists()


# ---------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("pick", "--n", "9"), "9 is not in the range"),
        (("pick", "--name", "../x"), "--name '../x': letters, digits"),
        (("pick", "--since", "soon"), "--since 'soon' is not a day"),
        (("pick", "--from-recheck", "r", "--since", "2026-03-01"), "leave --since and --until out"),
        (("pick", "--from-recheck", "r"), "has no recheck of that id"),
        (("pick", "--accept-flagged"), "--accept-flagged goes with --yes"),
        (("pick", "--per-segment", "plan"), "there are topic"),
        (("pick", "--since", "2027-01-01"), "no stored answers in those days"),
        (("pick", "--app", "nobody"), "take some in with `judgewatch import FILE` first"),
        (("freeze",), "has no pick 'own'; `judgewatch anchors pick --name own` begins one"),
        (("freeze", "--name", "a b"), "--name 'a b'"),
        (("check", "none.jsonl"), "there is no file none.jsonl"),
    ],
)
def test_wrong_use_is_refused_with_the_way_out(args: tuple[str, ...], said: str) -> None:
    """One line, before any call."""
    assert said in refused("anchors", *args, code=64)


def test_other_settings_under_the_same_name_are_refused_and_can_be_forced() -> None:
    """So that a graded pick is not thrown away by mistake."""
    ok("anchors", "pick", "--n", "10", "--yes")
    assert "(n was 10)" in refused("anchors", "pick", "--n", "12", code=64)
    assert "(n was 10)" in refused("anchors", "pick", "--n", "12", "--dry-run", code=64)
    ok("anchors", "pick", "--n", "12", "--restart", "--yes")
    assert "there are own" in refused("anchors", "freeze", "--name", "other", code=64)


def test_second_terminal_is_told_that_one_is_at_work() -> None:
    """It is left alone; nothing is called."""
    write_config(by_words="noting_calls")
    with open_store(DB) as store:
        from evaluator.clock import SystemClock

        locks.acquire_lease(store, app="shop", holder="other-host:1", what="run", now=SystemClock().now())
    assert "another scorer" in refused("anchors", "pick", "--n", "10", "--yes", code=1)
    assert not Path("calls.txt").exists()


# ---------------------------------------------------------------- cut off


def test_budget_cuts_off_and_the_same_command_goes_on() -> None:
    """Told with what to do; the exit code is 1."""
    config = Path("judgewatch.toml")
    text = config.read_text("utf-8")
    config.write_text(text + "[budget]\ncalls_per_day = 15\n", encoding="utf-8")
    assert "will stop after 15 of 40 calls; the rest goes on tomorrow" in ok(
        "anchors", "pick", "--n", "10", "--dry-run"
    )
    result = invoke("anchors", "pick", "--n", "10", "--yes")
    assert result.exit_code == 1
    assert "budget: 15 of 15 calls are left today" in result.stderr
    assert "will stop after 15 of 40 calls; the rest goes on tomorrow with the same command" in result.stderr
    assert "error: grading stopped" in result.stderr
    assert "the same command goes on where it stopped" in result.stderr
    assert "is not graded yet" in refused("anchors", "freeze", code=64)
    config.write_text(text, encoding="utf-8")
    payload = ok_json("anchors", "pick", "--n", "10", "--yes")
    assert (payload["complete"], payload["n_candidates"], payload["n_chosen"]) == (True, 30, 10)


def test_killed_pick_goes_on_without_paying_twice() -> None:
    """Killed in the midst of the first grading: every candidate ends with one verdict of it."""
    write_config(by_words="slowly", **{'model = "by-words"': 'model = "by-words"\nconcurrency = 1'})
    command = [sys.executable, "-m", "evaluator.cli", "anchors", "pick", "--n", "10", "--yes"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=python_path()) as process:
        wait_for_verdicts(5)
        process.kill()
    n_before = count("SELECT count(*) FROM verdicts")
    assert 5 <= n_before < 30
    ok("anchors", "pick", "--n", "10", "--yes")
    assert count("SELECT count(*) FROM verdicts") == 40
    assert count("SELECT count(*) FROM picks") == 1


def python_path() -> dict[str, str]:
    """The environment of a process that finds the judges of these tests."""
    import os

    return {**os.environ, "PYTHONPATH": str(REPOSITORY)}


def count(sql: str) -> int:
    """The one number of a query; 0 while there is nothing to ask."""
    with open_reader(DB) as store:
        return int(store.connection.execute(sql).fetchone()[0])


def wait_for_verdicts(n: int) -> None:
    """Wait until a process has stored so many."""
    until = time.monotonic() + 30
    while count("SELECT count(*) FROM verdicts") < n:
        assert time.monotonic() < until, "no verdicts in time"
        time.sleep(0.05)


# ---------------------------------------------------------------- golden sets


def golden(path: str, *, anew: int = 0) -> str:
    """A golden set of twenty questions, some of them answered anew."""
    rows = [
        {"anchor_id": f"g{n}", "inputs": f"Question {n}?", "outputs": f"Answer {n}{' anew' * (n < anew)}."}
        for n in range(20)
    ]
    write_answers(Path(path), rows)
    return path


def test_two_days_of_a_golden_set_are_told_apart_from_anchors() -> None:
    """Exit code 1, the numbers, the reason; JSON says the same."""
    monday, tuesday = golden("monday.jsonl"), golden("tuesday.jsonl", anew=9)
    result = invoke("anchors", "check", monday, tuesday)
    assert result.exit_code == 1
    assert "20 shared questions, 9 of them answered otherwise" in result.stdout
    assert "this is one golden set whose answers are generated anew. Answers that are generated" in result.stdout
    payload = json.loads(invoke("anchors", "check", monday, tuesday, "--json").stdout)
    assert payload["pairs"] == [
        {"before": monday, "now": tuesday, "n_shared": 20, "n_changed": 9, "generated_anew": True}
    ]


def test_sets_that_are_anchors_pass() -> None:
    """An edited typing error, a set beside a shipped one, a single file."""
    monday, mended = golden("monday.jsonl"), golden("mended.jsonl", anew=2)
    assert "2 of them answered otherwise" in ok("anchors", "check", monday, mended)
    assert "general: 112 anchors, all can be read" in ok("anchors", "check", "general", monday)
    assert ok("anchors", "check", monday) == "monday.jsonl: 20 anchors, all can be read\n"


def test_run_with_a_golden_set_that_is_generated_anew_is_refused() -> None:
    """Before any call, also in a dry run."""
    write_config(**{'set = "anchors.jsonl"': 'set = "golden.jsonl"'})
    golden("golden.jsonl")
    ok("run", "once", "--slot", "2026-03-11T06:00")
    golden("golden.jsonl", anew=9)
    said = "9 of 20 anchors have the same question but another answer than in the set used on 2026-03-11"
    assert said in refused("run", "once", "--slot", "2026-03-12T06:00", code=64)
    assert said in refused("run", "once", "--slot", "2026-03-12T06:00", "--dry-run", code=64)
