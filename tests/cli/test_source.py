"""``judgewatch source``, and what runs say of the sources they ask."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import invoke, ok, ok_json, refused, some_answers, write_anchors, write_answers, write_config

SLOT = "2026-03-05T06:00"
FILES = 'files = "in/*.jsonl"\n'


def configure(traffic: str) -> None:
    """A configuration with more lines under ``[traffic]``."""
    write_config(**{'spool = "spool"': traffic})
    write_anchors()


def write_command(code: str) -> str:
    """A script, and the line of the configuration that runs it."""
    Path("pull.py").write_text(f"import json, sys\n{code}\n", encoding="utf-8")
    return f"command = {json.dumps([sys.executable, 'pull.py'])}\n"


@pytest.fixture(autouse=True)
def incoming() -> None:
    """A file of three answers of the day before the run."""
    Path("in").mkdir()
    write_answers(Path("in/a.jsonl"), some_answers(3, "2026-03-04"))


# ---------------------------------------------------------------- test


def test_rows_are_shown_with_fields_columns_and_values() -> None:
    """As a table for each row; nothing is stored."""
    configure(FILES)
    text = ok("source", "test", "--rows", "2")
    assert "traffic.files = in/*.jsonl, 1 file: 2 rows looked at" in text
    assert "row 2, line 2" in text
    assert "row 3" not in text
    lines = [line.split(maxsplit=2) for line in text.splitlines()]
    assert ["answered_at", "answered_at", "2026-03-04 12:00:00+00:00"] in lines
    assert ["input", "input", "Question 0?"] in lines
    assert ["tag", "topic", "billing"] in lines
    assert text.endswith("nothing was stored; the next run takes in what is new\n")
    assert not Path("data").exists()


def test_rows_are_printed_as_json() -> None:
    """The same for programs, with both sources."""
    whole = "{'id': 'd', 'input': 'Why?', 'output': 'x', 'answered_at': '2026-03-04T10:00:00Z'}"
    lines = f"[json.dumps({{'id': 'c', 'output': 'x'}}), 'oops', json.dumps({whole})]"
    configure(FILES + write_command(f"print('\\n'.join({lines}))"))
    payload = ok_json("source", "test")
    files, command = payload["sources"]
    assert payload["stored"] is False
    assert (files["key"], len(files["rows"])) == ("traffic.files", 3)
    assert files["rows"][0]["columns"]["answered_at"] == "answered_at"
    assert (command["key"], command["n_refused"]) == ("traffic.command", 1)
    assert command["refused"][0]["line"] == 2
    assert command["rows"][0]["marks"] == ["empty_input", "no_time"]


def test_refused_rows_and_notes_are_shown() -> None:
    """Line, reason and start."""
    configure(FILES)
    with Path("in/a.jsonl").open("a", encoding="utf-8") as file:
        file.write("no json\n")
    text = ok("source", "test")
    assert "4 rows looked at, 1 of them cannot be used" in text
    assert "refused: " in text
    assert "in/a.jsonl, line 4: broken JSON at character 1: Expecting value: no json" in text


@pytest.mark.parametrize("as_json", [False, True])
def test_source_that_fails_exits_with_1(as_json: bool) -> None:
    """The reason is an error; what the other source has is shown all the same."""
    configure(FILES + write_command("sys.exit('set TOKEN')"))
    result = invoke("source", "test", *(["--json"] if as_json else []))
    assert result.exit_code == 1
    assert "error: traffic.command (" in result.stderr
    assert "it ended with status 1. It said: set TOKEN" in result.stderr
    assert "Question 0?" in result.stdout


def test_no_source_says_how_to_have_one() -> None:
    """Both ways."""
    configure("")
    message = refused("source", "test", code=1)
    assert message.startswith("no source is configured")
    assert 'files = "answers/*.jsonl"' in message
    assert 'command = "python pull.py"' in message


def test_settings_that_cannot_be_used_are_wrong_usage() -> None:
    """Named by their key."""
    configure(FILES + 'fields = { reply = "output" }\n')
    assert "traffic.fields" in refused("source", "test", code=64)


def test_spans_are_imported_by_hand_as_well() -> None:
    """Known by their content, or named by --format."""
    span = {"span_id": "s1", "attributes": {"input.value": "a?", "output.value": "a."}, "start_time": "2026-03-04"}
    write_answers(Path("spans.jsonl"), [span])
    assert ok_json("import", "spans.jsonl")["n_new"] == 1
    assert ok_json("import", "spans.jsonl", "--format", "otel")["n_known"] == 1


# ---------------------------------------------------------------- runs


def test_dry_run_says_what_waits() -> None:
    """And neither reads nor runs it."""
    configure(FILES + write_command("open('ran', 'w')"))
    text = ok("run", "once", "--slot", SLOT, "--dry-run")
    assert "1 file of the sources is not read yet and not counted here" in text
    assert "a run first asks traffic.command (" in text
    assert not Path("ran").exists()
    payload = ok_json("run", "once", "--slot", SLOT, "--dry-run")
    assert payload["n_source_files"] == 1
    assert payload["source_command"].endswith("pull.py")


def test_run_takes_in_what_is_new_and_says_so() -> None:
    """Counts, then the run; the second time nothing is new."""
    configure(FILES)
    result = invoke("run", "once", "--slot", SLOT)
    assert result.exit_code == 0, result.output
    assert "traffic.files: 3 new answers, from 1 file\n" in result.stderr
    assert "12 anchors and 3 answers" in result.stdout
    assert "traffic.files: nothing new; no new file\n" in invoke("run", "once", "--slot", SLOT).stderr


def test_run_goes_on_when_a_source_fails() -> None:
    """The failure is a warning with its cause, in the text and in the JSON."""
    configure(FILES + write_command("sys.exit('set TOKEN')"))
    result = invoke("run", "once", "--slot", SLOT)
    assert result.exit_code == 0, result.output
    assert "warning: traffic.command (" in result.stderr
    assert "set TOKEN" in result.stderr
    assert "the run goes on with what is stored" in result.stderr
    payload = ok_json("run", "once", "--slot", "2026-03-06T06:00")
    assert [outcome["status"] for outcome in payload["sources"]] == ["nothing_new", "failed"]


def test_quiet_source_is_warned_of_after_three_runs() -> None:
    """A source that repeats yesterday."""
    configure(write_command("print(json.dumps({'id': 'c', 'output': 'x', 'answered_at': '2026-03-01'}))"))
    said = [invoke("run", "once", "--slot", f"2026-03-0{day}T06:00").stderr for day in range(4, 8)]
    assert "1 new answer" in said[0]
    assert all("the source repeated what is stored: 1 row, 0 new" in text for text in said[1:])
    assert ["brought nothing new for 3 runs in a row" in text for text in said] == [False, False, False, True]


# ---------------------------------------------------------------- list


def test_list_shows_pulls_and_files() -> None:
    """Newest first, with what was said."""
    configure(FILES + write_command("sys.exit('set TOKEN')"))
    invoke("run", "once", "--slot", SLOT)
    text = ok("source", "list")
    assert "failed" in text
    assert "set TOKEN" in text
    assert "in/a.jsonl" in text
    payload = ok_json("source", "list", "--limit", "1")
    assert [row["status"] for row in payload["pulls"]] == ["failed"]
    assert [(row["kind"], row["n_new"]) for row in payload["files"]] == [("traffic", 3)]


def test_list_without_a_pull_says_what_to_do() -> None:
    """With a source and without one."""
    configure(FILES)
    ok("import", "in/a.jsonl")
    assert ok("source", "list").startswith("the sources were not asked yet")
    configure("")
    assert "no source is configured" in ok("source", "list")


def test_watcher_says_what_came() -> None:
    """``run watch`` asks the same sources; its lines are those of ``run once``."""
    from evaluator.cli import run, run_texts, source_texts

    assert run.say_sources is source_texts.say_sources is run_texts.say_sources
