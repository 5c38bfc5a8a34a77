"""``judgewatch items show ITEM --prompt``: the exact bytes that the judge is sent."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from evaluator.cli import cli, item_prompt
from evaluator.config import load_config
from evaluator.scoring.slot import grade_slot
from tests.cli.conftest import CONFIG, ok, refused, some_answers, write_anchors, write_answers, write_config
from tests.judges.server import FakeServer, completion, in_turn
from tests.scoring.helpers import SLOT, SetClock

OWN = """
[app]
name = "shop"
[judge]
model = "m"
base_url = "http://127.0.0.1:1/v1"
api_key_env = "NO_SUCH_KEY"
prompt_file = "prompt.md"
scale = [1, 5]
[anchors]
set = "anchors.jsonl"
[budget]
calls_per_day = 1000
"""
PROMPT = b"=== system ===\n Strict.\r\n=== user ===\n{{input}}\x1b[31m\r\n{{output}}\n\n"
NASTY = "word\u202e word — ü\u2028{{input}}"


def shown(*args: str) -> bytes:
    """What a command writes to its standard output, to the byte."""
    result = CliRunner().invoke(cli, [*args])
    assert result.exit_code == 0, result.output
    return result.stdout_bytes


@pytest.fixture
def config() -> Path:
    """A configuration with a prompt of one's own, anchors and one imported answer."""
    Path("prompt.md").write_bytes(PROMPT)
    write_anchors(n=2)
    path = write_config(OWN)
    write_answers(Path("answers.jsonl"), [{**some_answers(1, day="2026-02-27")[0], "id": "my-1", "output": NASTY}])
    ok("import", "answers.jsonl")
    return path


def test_prompt_is_printed_as_it_is_sent(config: Path) -> None:
    """Of an answer, by its own id: role lines, and between them every byte."""
    expected = f"=== system ===\n Strict.\n\n=== user ===\nQuestion 0?\x1b[31m\r\n{NASTY}\n\n\n"
    assert shown("items", "show", "my-1", "--prompt") == expected.encode()
    assert config.exists()


@pytest.mark.usefixtures("config")
def test_anchor_is_shown_before_its_first_run() -> None:
    """It is stored only when it is graded."""
    text = shown("items", "show", "a01", "--prompt").decode()
    assert "Anchor question 1?" in text
    assert "word word " in text


def test_body_is_the_one_that_the_server_gets(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte for byte, of answers and anchors, with the shipped prompt and with one's own."""
    monkeypatch.setenv("NO_SUCH_KEY", "key")

    async def run() -> list[bytes]:
        async with FakeServer(in_turn(completion("4"))) as server:
            write_config(config.read_text().replace("http://127.0.0.1:1/v1", server.base_url))
            await grade_slot(load_config(config), slot=SLOT, clock=SetClock(SLOT))
            return [request.raw for request in server.requests]

    for text in (OWN, OWN.replace('prompt_file = "prompt.md"\nscale = [1, 5]\n', "")):
        monkeypatch.setenv("NO_SUCH_KEY", "key")
        write_config(text)
        sent = asyncio.run(run())
        monkeypatch.delenv("NO_SUCH_KEY")
        bodies = [shown("items", "show", name, "--prompt", "--json") for name in ("a00", "a01", "my-1")]
        assert sorted(bodies) == sorted(raw + b"\n" for raw in sent)
        assert all(json.loads(body)["model"] == "m" for body in bodies)


def test_where_there_is_no_prompt_that_is_said(config: Path) -> None:
    """An unknown item, a function, no configuration."""
    assert "'nothing-like-it'" in refused("items", "show", "nothing-like-it", "--prompt", code=1)
    write_config(CONFIG)
    write_anchors()
    assert "there is no prompt to show" in refused(
        "items", "show", "my-1", "--prompt", "--db", "data/judgewatch.db", code=1
    )
    config.unlink()
    assert "there is no configuration" in refused("items", "show", "my-1", "--prompt", code=64)


def test_terminal_is_only_shown_what_could_steer_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A graded text comes from a stranger; a file or a pipe gets it as it is."""
    text = "red \x1b[31m and \u202e back\n"
    item_prompt.put_exactly(text)
    assert capsys.readouterr().out == text
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    item_prompt.put_exactly(text)
    assert capsys.readouterr().out == "red \u241b[31m and \\u202e back\n"
