"""``judgewatch doctor``: a table for people, JSON for programs, an exit code; nothing is written."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import invoke, write_anchors, write_config


def test_well_setup_exits_with_0_and_writes_nothing(tmp_path: Path) -> None:
    """Warnings (few anchors, no answers) do not change that; what to do stands below the table."""
    write_config()
    write_anchors()
    before = sorted(tmp_path.rglob("*"))
    result = invoke("doctor")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["check", "result", "found"]
    assert any(line.startswith("judge call") and " ok " in line for line in lines)
    assert "What to do:" in lines
    assert any(line.startswith("  warn anchors: ") for line in lines)
    assert lines[-1].endswith("0 failed, 3 not looked at")
    assert result.stderr.startswith("asking the judge: 6 calls, its price is not known (--no-call leaves that out)")
    assert sorted(tmp_path.rglob("*")) == before


def test_something_that_fails_exits_with_1(tmp_path: Path) -> None:
    """And comes first among what to do."""
    write_config()
    write_anchors(n=3)
    result = invoke("doctor")
    assert result.exit_code == 1
    to_do = result.stdout.partition("What to do:\n")[2].splitlines()
    assert to_do[0].startswith("  fail anchors: ")
    assert "Traceback" not in result.output


def test_json_holds_every_check(tmp_path: Path) -> None:
    """With name, status, what was found and what to do."""
    write_config()
    write_anchors()
    result = invoke("doctor", "--json", "--no-call")
    payload = json.loads(result.stdout)
    assert payload["schema_version"] == 1
    assert payload["ok"] is True
    assert result.stderr == ""
    assert all(set(check) == {"name", "status", "found", "fix"} for check in payload["checks"])
    assert {check["status"] for check in payload["checks"]} == {"ok", "warn", "skipped"}
    assert all(check["fix"] for check in payload["checks"] if check["status"] in ("warn", "fail"))


def test_without_configuration_it_says_how_to_get_one() -> None:
    """One line, one thing to do."""
    result = invoke("doctor")
    assert result.exit_code == 1
    assert "there is none at judgewatch.toml" in result.stdout
    assert "fail configuration: write one with `judgewatch init`" in result.stdout


def test_configuration_and_database_named_by_hand_are_looked_at(tmp_path: Path) -> None:
    """Like in every other command."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    write_config(path=folder / "my.toml")
    write_anchors(folder / "anchors.jsonl")
    result = invoke("doctor", "--config", folder / "my.toml", "--db", tmp_path / "other.db", "--no-call")
    assert result.exit_code == 0, result.output
    assert "my.toml is valid" in result.stdout
    assert "other.db is not there yet" in result.stdout


def test_folder_in_place_of_a_database_fails_in_words(tmp_path: Path) -> None:
    """As a line of the report."""
    write_config()
    result = invoke("doctor", "--db", tmp_path, "--no-call")
    assert result.exit_code == 1
    assert "is a folder" in result.stdout


def test_damaged_database_is_one_line_among_the_others(tmp_path: Path) -> None:
    """The checks that need none go on."""
    write_config()
    write_anchors()
    Path("data").mkdir()
    Path("data/judgewatch.db").write_bytes(b"this is no database" * 100)
    result = invoke("doctor", "--no-call", "--json")
    checks = {check["name"]: check["status"] for check in json.loads(result.stdout)["checks"]}
    assert result.exit_code == 1
    assert (checks["schedule"], checks["privacy"]) == ("ok", "ok")
    assert "fail" in [check["status"] for check in json.loads(result.stdout)["checks"] if check["name"] == "database"]
