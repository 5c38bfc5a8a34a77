"""A whole run on one's own data: own prompt, equal answers, long answers, replies nobody can read."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evaluator.config import Config, parse_config
from evaluator.importing import import_files
from evaluator.scoring.slot import grade_slot
from evaluator.store import read
from evaluator.store.db import open_reader
from tests.judges.server import Answer, FakeServer, completion, failure, in_turn
from tests.scoring.helpers import SetClock

SLOT = datetime(2026, 3, 2, 6, tzinfo=UTC)
REFUSAL = "I'm sorry, I can't help with that."


def write_config(folder: Path, base_url: str, **judge: Any) -> Config:
    """A configuration with two anchors and a prompt file."""
    (folder / "prompt.md").write_bytes(b"Q: {{input}}\nA: {{output}}\nVerdict: pass or fail?")
    rows = [{"anchor_id": f"a{n}", "inputs": "q", "outputs": f"anchor {n}"} for n in range(2)]
    (folder / "anchors.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    own = {
        "prompt_file": "prompt.md",
        "levels": {"fail": 0, "pass": 1},
        "score_pattern": "Verdict: (.+)",
        "concurrency": 16,
    }
    return parse_config(
        {
            "judge": {"model": "m", "base_url": base_url, "api_key_env": "", **own, **judge},
            "anchors": {"set": "anchors.jsonl"},
            "budget": {"calls_per_day": 10_000},
        },
        folder=folder,
        name="judgewatch.toml",
    )


def import_rows(config: Config, rows: list[dict[str, Any]]) -> None:
    """Import answers of the day before the run."""
    path = config.folder / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    import_files(config.store_path, [path], app="default", now=SLOT)


def answer(output: str, **fields: Any) -> dict[str, Any]:
    """One answer without an id."""
    return {"input": "How?", "output": output, "answered_at": "2026-03-01T10:00:00Z", **fields}


async def graded(folder: Path, rows: list[dict[str, Any]], *steps: Answer, **judge: Any) -> tuple[Any, Config]:
    """Import and grade; returns the report of the run and the configuration."""
    async with FakeServer(in_turn(*steps)) as server:
        config = write_config(folder, server.base_url, **judge)
        import_rows(config, rows)
        report = await grade_slot(config, slot=SLOT, clock=SetClock(SLOT))
    return report.run, config


async def test_five_hundred_equal_refusals_are_five_hundred_verdicts(tmp_path: Path) -> None:
    """Refusals are the same words every time; without ids they are answers to as many people."""
    run, config = await graded(tmp_path, [answer(REFUSAL)] * 500, completion("Politely refused.\nVerdict: Fail."))
    assert (run.status, run.n_traffic, run.n_anchors, run.n_scored) == ("finished", 500, 2, 502)
    with open_reader(config.store_path) as store:
        rows = store.connection.execute(
            "SELECT COUNT(*) AS n, COUNT(DISTINCT v.item_id) AS items, MAX(score) AS most"
            " FROM verdicts v JOIN items i USING (item_id) WHERE i.source = 'traffic'"
        ).fetchone()
        (ruler,) = read.rulers(store, "default")
    assert (rows["n"], rows["items"], rows["most"]) == (500, 500, 0.0)
    assert (ruler["scale_min"], ruler["scale_max"]) == (0.0, 1.0)


async def test_long_answers_are_counted_by_their_reason(tmp_path: Path) -> None:
    """No call is made for them, and the run says how many there were."""
    rows = [answer("x" * 1500), answer("short"), answer("y" * 1500)]
    run, config = await graded(tmp_path, rows, completion("Verdict: pass"), max_prompt_chars=1000)
    assert run.reasons == {"too_long": 2}
    assert (run.status, run.n_scored, run.n_unscored, run.n_calls) == ("finished", 3, 2, 3)
    with open_reader(config.store_path) as store:
        details = store.connection.execute("SELECT DISTINCT detail FROM verdicts WHERE score IS NULL").fetchall()
    assert [row["detail"] for row in details] == [
        "the answer has 1,500 characters, more than judge.max_prompt_chars = 1000"
    ]


@pytest.mark.parametrize("place", [{}, {"score_pattern": None, "score_field": "grade"}])
async def test_score_that_never_appears_names_where_it_is_looked_for(tmp_path: Path, place: dict[str, Any]) -> None:
    """The run ends early, shows how the replies begin, and names both settings."""
    rows = [answer(f"answer {n}") for n in range(60)]
    run, _ = await graded(tmp_path, rows, completion("My overall judgement is favourable."), **place)
    assert run.status == "failed"
    for part in ("My overall judgement", "judge.score_field", "judge.score_pattern"):
        assert part in run.message
    assert "\n" not in run.message


async def test_replies_without_room_end_the_run_with_the_setting(tmp_path: Path) -> None:
    """A reasoning judge that thinks until its limit would be paid for a whole run of nothing."""
    rows = [answer(f"answer {n}") for n in range(60)]
    run, _ = await graded(tmp_path, rows, completion("", finish_reason="length"))
    assert run.status == "failed"
    assert "judge.max_tokens leaves no room for a whole reply" in run.message
    assert run.n_calls < 60


async def test_end_of_a_run_names_the_command_of_the_key(tmp_path: Path) -> None:
    """And not a variable that was never looked at."""
    command = {"api_key_command": ["echo", "a-key"], "api_key_env": ""}
    run, _ = await graded(tmp_path, [answer("a")], failure(401, message="expired"), **command)
    assert "(the key comes from judge.api_key_command)" in run.message
    assert "api_key_env" not in run.message
    run, _ = await graded(tmp_path, [], failure(401), **{**command, "api_key_command": ["false"], "model": "other"})
    assert "judge.api_key_command (false) ended with exit code 1" in run.message


async def test_end_of_a_run_names_the_deployment(tmp_path: Path) -> None:
    """Azure does not know the model's name."""
    azure = {"azure_deployment": "d1", "azure_api_version": "1"}
    missing = failure(404, code="DeploymentNotFound", message="no such deployment")
    async with FakeServer(in_turn(missing)) as server:
        config = write_config(tmp_path, server.base_url.removesuffix("/v1"), **azure)
        report = await grade_slot(config, slot=SLOT, clock=SetClock(SLOT))
    assert report.run.message.startswith("judge.azure_deployment = 'd1': ")
