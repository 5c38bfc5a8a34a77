"""A prompt that asks for a word and not for a number."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.config import load_config
from evaluator.errors import UsageError
from evaluator.starting.levels import field_of_levels, find_levels, parse_levels
from tests.cli.conftest import invoke, ok, refused

PROMPT = """Question: {{input}}
Answer: {{output}}
Is the answer usable? Reply with JSON: {"verdict": "pass"} if it is, {"verdict": "fail"} if it is not."""


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        (PROMPT, {"fail": 0.0, "pass": 1.0}),
        ("Answer with 'YES' or 'NO'.", {"NO": 0.0, "YES": 1.0}),
        ("The answer passes if it is true; it fails otherwise.", None),
        ('Say "yes" or "no", then "pass" or "fail".', None),
        ("Rate from 1 to 5.", None),
    ],
)
def test_words_are_found_where_they_stand_as_words_of_a_reply(text: str, levels: dict[str, float] | None) -> None:
    """In quotation marks, both of one pair, and of one pair only; written as the prompt writes them."""
    assert find_levels(text) == levels


def test_key_of_the_word_is_read_off_the_example() -> None:
    """None where there are two, or none."""
    levels = {"fail": 0.0, "pass": 1.0}
    assert field_of_levels(PROMPT, levels) == "verdict"
    assert field_of_levels('{"a": "pass"} or {"b": "fail"}', levels) is None
    assert field_of_levels("pass or fail", levels) is None


def test_levels_of_the_command_line() -> None:
    """Any names, any scores."""
    assert parse_levels("pass=1, partly=0.5,fail=0") == {"pass": 1.0, "partly": 0.5, "fail": 0.0}
    for wrong in ("pass", "pass=1", "pass=good,fail=0", "=1,fail=0"):
        with pytest.raises(UsageError, match="pass=1,fail=0"):
            parse_levels(wrong)


@pytest.fixture
def prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The prompt in the working folder."""
    monkeypatch.chdir(tmp_path)
    path = Path("judge.txt")
    path.write_text(PROMPT, encoding="utf-8")
    return path


def test_init_takes_the_words_of_a_pass_fail_prompt(prompt: Path) -> None:
    """And says so; the configuration reads."""
    result = invoke("init", "--yes", "--model", "gpt-4.1-mini-2025-04-14", "--prompt-file", prompt)
    assert result.exit_code == 0
    config = load_config(Path("judgewatch.toml"))
    assert config.judge.levels == {"fail": 0.0, "pass": 1.0}
    assert config.judge.score_field == "verdict"
    assert "asks for a word, counted fail as 0, pass as 1" in result.output


def test_init_takes_levels_that_are_given(prompt: Path) -> None:
    """Before those of the prompt; not together with a scale."""
    words = ("init", "--yes", "--model", "m", "--prompt-file", prompt)
    ok(*words, "--levels", "pass=10,fail=0")
    assert load_config(Path("judgewatch.toml")).judge.levels == {"pass": 10.0, "fail": 0.0}
    assert "give one" in refused(*words, "--force", "--levels", "a=1,b=0", "--scale", "0", "1", code=64)
    assert "--prompt-file" in refused("init", "--yes", "--force", "--model", "m", "--levels", "a=1,b=0", code=64)


def test_a_prompt_that_names_neither_numbers_nor_words_is_told_of_both(prompt: Path) -> None:
    """Whoever has a judge of words learns how to say so."""
    prompt.write_text("Judge {{output}}.", encoding="utf-8")
    message = refused("init", "--yes", "--model", "m", "--prompt-file", prompt, code=64)
    assert "--scale MIN MAX" in message
    assert "--levels pass=1,fail=0" in message
