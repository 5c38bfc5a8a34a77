"""From judgewatch.toml to the bytes on the wire: one's own prompt, and what is shown of it before any call."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evaluator.anchor_sets import load_anchors, load_rubric
from evaluator.config import Config, parse_config
from evaluator.errors import JudgewatchError
from evaluator.judges.openai_compatible import OpenAICompatibleJudge
from evaluator.records import Item, StopReason, UnscoredReason
from evaluator.scoring.asking import prompt_for
from evaluator.scoring.setup import build_judge, configured_rubric, run_settings
from tests.judges.fakes import FakeGate
from tests.judges.server import Answer, FakeServer, completion, failure, in_turn

SLOT = datetime(2026, 3, 1, 6, tzinfo=UTC)
PROMPT = (
    '\ufeff=== system ===\r\n Be strict.\r\n\r\n=== user ===\r\nQ: {{input}}\r\nA: {{output}}\r\n{"verdict": ...}\n'
)
ITEM = Item(input='Is it "5"?', output="Yes — ü\n\u2028 until {{input}}")
OWN = {"prompt_file": "my prompt.md", "levels": {"fail": 0, "pass": 1}, "score_field": "result.verdict"}
REPLY = completion('{"result": {"verdict": "Pass", "reasoning": "fine"}}')


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a prompt of one's own."""
    (tmp_path / "my prompt.md").write_bytes(PROMPT.encode("utf-8"))
    return tmp_path


def config(folder: Path, judge: dict[str, Any], **sections: Any) -> Config:
    """A configuration with a judge that needs no key."""
    values = {"model": "m", "base_url": "http://127.0.0.1:1/v1", "api_key_env": "", **judge}
    return parse_config(
        {"judge": values, "budget": {"calls_per_day": 1000}, **sections}, folder=folder, name="judgewatch.toml"
    )


async def grade(folder: Path, judge: dict[str, Any], *steps: Answer, item: Item = ITEM) -> tuple[Any, FakeServer]:
    """Grade one item by a configuration; returns the outcome and what the server saw."""
    async with FakeServer(in_turn(*steps)) as server:
        built, _ = build_judge(config(folder, {**judge, "base_url": server.base_url}))
        try:
            return await built.grade(item, item_id="item-1", gate=FakeGate()), server
        finally:
            await built.close()


# ---------------------------------------------------------------- one's own prompt


async def test_own_prompt_goes_out_to_the_byte_and_comes_back_as_a_score(folder: Path) -> None:
    """Nothing is sent that was not set; the name of a level under a path is the score."""
    outcome, server = await grade(folder, OWN, REPLY)
    body = server.requests[0].body
    assert body == {
        "model": "m",
        "max_tokens": 700,
        "messages": [
            {"role": "system", "content": " Be strict.\r\n"},
            {"role": "user", "content": f'Q: {ITEM.input}\r\nA: {ITEM.output}\r\n{{"verdict": ...}}\n'},
        ],
    }
    assert (outcome.verdict.score, outcome.verdict.explanation) == (1.0, "fine")


async def test_what_was_set_is_sent(folder: Path) -> None:
    """Temperature, seed, output mode, the limit's name and more."""
    asked = {
        **OWN,
        "temperature": 0.5,
        "seed": 3,
        "output_mode": "json",
        "output_limit": "max_completion_tokens",
        "extra_body": {"top_p": 0.9},
    }
    _, server = await grade(folder, asked, REPLY)
    body = server.requests[0].body
    assert (body["temperature"], body["seed"], body["max_completion_tokens"], body["top_p"]) == (0.5, 3, 700, 0.9)
    assert body["response_format"] == {"type": "json_object"}
    assert "max_tokens" not in body


async def test_unset_leaves_out_what_the_shipped_prompt_sends(folder: Path) -> None:
    """For servers that answer a refused parameter with something else than a refusal."""
    _, server = await grade(folder, {"temperature": "unset", "seed": "unset"}, completion())
    assert not {"temperature", "seed"} & set(server.requests[0].body)
    _, server = await grade(folder, {}, completion())
    assert (server.requests[0].body["temperature"], server.requests[0].body["seed"]) == (0.0, 7)


async def test_reasoning_judge_works_with_an_own_prompt(folder: Path) -> None:
    """Refused parameters are learned; a reply cut off while it thinks gets double the room, once."""
    thinking = Answer(
        body=json.dumps(
            {
                "id": "c",
                "model": "o",
                "choices": [{"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": ""}}],
                "usage": {
                    "prompt_tokens": 9,
                    "completion_tokens": 700,
                    "completion_tokens_details": {"reasoning_tokens": 700},
                },
            }
        ).encode()
    )
    refused = (
        failure(400, message="Unsupported parameter: use 'max_completion_tokens' instead.", param="max_tokens"),
        failure(400, message="Unsupported value: 'temperature' does not support 0.5.", param="temperature"),
    )
    outcome, server = await grade(folder, {**OWN, "temperature": 0.5}, *refused, thinking, REPLY)
    assert outcome.verdict.score == 1.0
    assert [request.body.get("max_completion_tokens") for request in server.requests] == [None, 700, 700, 1400]
    assert "temperature" not in server.requests[-1].body
    assert "temperature" not in outcome.instrument.parameters
    outcome, _ = await grade(folder, OWN, thinking)
    assert (outcome.verdict.unscored_reason, outcome.finish_reason) == (UnscoredReason.TRUNCATED, "length")


def test_edited_prompt_is_another_judge_setup(folder: Path) -> None:
    """One blank is enough; so is another scale."""
    first = build_judge(config(folder, OWN))[0].ruler
    assert first.prompt_template == PROMPT.removeprefix("\ufeff")
    again = build_judge(config(folder, OWN))[0].ruler
    other_levels = build_judge(config(folder, {**OWN, "levels": {"fail": 0, "pass": 2}}))[0].ruler
    (folder / "my prompt.md").write_bytes(PROMPT.encode("utf-8") + b" ")
    edited = build_judge(config(folder, OWN))[0].ruler
    assert first.ruler_id == again.ruler_id
    assert len({first.ruler_id, edited.ruler_id, other_levels.ruler_id}) == 3


def test_rubric_of_an_own_prompt_is_its_scale(folder: Path) -> None:
    """Named after the file; or the one that was named."""
    rubric = configured_rubric(config(folder, {**OWN, "criterion": "tone"}))
    assert (rubric.name, rubric.criterion, rubric.scale_min, rubric.scale_max) == ("my prompt", "tone", 0.0, 1.0)
    named = {"prompt_file": "my prompt.md", "rubric": "general"}
    assert configured_rubric(config(folder, named)) == load_rubric("general")


def test_fault_of_the_prompt_file_is_told_before_anything_is_made(tmp_path: Path) -> None:
    """With the path as it was looked for."""
    with pytest.raises(JudgewatchError, match=r"judge\.prompt_file .*my prompt\.md: there is no such file"):
        build_judge(config(tmp_path, OWN))
    assert list(tmp_path.iterdir()) == []


def test_shipped_anchors_serve_any_scale(folder: Path) -> None:
    """People's scores of another scale are left out; on the same scale they stay."""
    configured = config(folder, OWN)
    anchors = run_settings(configured, configured_rubric(configured), slot=SLOT).anchors
    shipped = load_anchors("general", load_rubric("general"))
    assert [anchor.anchor_id for anchor in anchors] == [anchor.anchor_id for anchor in shipped]
    assert {anchor.expected_score for anchor in anchors} == {None}
    same = config(folder, {"prompt_file": "my prompt.md", "scale": [1, 5]})
    assert list(run_settings(same, configured_rubric(same), slot=SLOT).anchors) == shipped


def verdict_of(item: Item) -> dict[str, Any]:
    """A function that grades on its own scale."""
    return {"result": {"verdict": "pass" if item.output else "fail"}}


async def test_function_grades_on_its_own_scale(tmp_path: Path) -> None:
    """Levels, criterion and the place of the score count for it too; the model is only a name."""
    own = {"function": f"python:{__name__}:verdict_of", "levels": OWN["levels"], "score_field": "result.verdict"}
    judge, rubric = build_judge(config(tmp_path, {**own, "criterion": "tone"}))
    outcome = await judge.grade(ITEM, item_id="i", gate=FakeGate())
    assert outcome.verdict is not None
    assert outcome.verdict.score == 1.0
    assert (rubric.name, rubric.criterion, rubric.scale_max) == ("verdict_of", "tone", 1.0)
    assert judge.ruler.rubric == rubric


# ---------------------------------------------------------------- identity of the setups there are


@pytest.mark.parametrize(
    ("judge", "ruler_id"),
    [
        ({}, "de2ce49741b510e90208f3763666d852"),
        (
            {"model": "gpt-x", "temperature": 0.3, "seed": 11, "max_tokens": 400, "output_mode": "json"},
            "b6f83cd76cd0c34c4a3f4903e6001dfb",
        ),
        ({"function": "python:tests.cli.graders:by_words"}, "62d5bd365eef878dd40afc21fd015e27"),
    ],
)
def test_setup_that_uses_no_newer_key_keeps_its_identity(tmp_path: Path, judge: dict[str, Any], ruler_id: str) -> None:
    """Else every existing line would start anew: these ids stand in databases."""
    assert build_judge(config(tmp_path, judge))[0].ruler.ruler_id == ruler_id


# ---------------------------------------------------------------- what is shown of it


@pytest.mark.parametrize("judge", [{}, OWN, {"temperature": 0.3, "extra_body": {"top_p": 0.5}, "logprobs": True}])
async def test_shown_body_is_the_body_that_is_sent(folder: Path, judge: dict[str, Any]) -> None:
    """Byte for byte, with the fences of the same database."""
    _, server = await grade(folder, judge, completion())
    shown = prompt_for(config(folder, judge), ITEM, item_id="item-1")
    assert shown.body == server.requests[0].raw
    assert [{"role": role, "content": content} for role, content in shown.messages] == server.requests[0].body[
        "messages"
    ]


def test_prompt_is_shown_without_a_key(folder: Path) -> None:
    """Nor is a command for one run, nor a header filled in."""
    secret = {
        "api_key_env": "NO_SUCH_KEY",
        "headers": {"x": "${NOT_SET}"},
        "query": {"q": "${NOT_SET}"},
        "proxy": "${NOT_SET}",
    }
    assert prompt_for(config(folder, {**OWN, **secret}), ITEM, item_id="i").messages[0] == ("system", " Be strict.\r\n")
    command = {**OWN, "api_key_env": "", "api_key_command": "touch made"}
    assert prompt_for(config(folder, command), ITEM, item_id="i").body
    assert not (folder / "made").exists()


@pytest.mark.parametrize(
    ("judge", "item", "said"),
    [
        ({"function": "a.b:c"}, ITEM, "is called with the item itself; there is no prompt to show"),
        ({}, Item(input="q", output=" "), "it has no answer text"),
        ({"max_prompt_chars": 1000}, Item(input="q", output="x" * 1001), "longer than max_prompt_chars"),
    ],
)
def test_where_nothing_is_sent_that_is_said(folder: Path, judge: dict[str, Any], item: Item, said: str) -> None:
    """With the reason."""
    with pytest.raises(JudgewatchError, match=said):
        prompt_for(config(folder, judge), item, item_id="i")


# ---------------------------------------------------------------- too long


async def test_item_that_is_too_long_is_unscored_without_a_call(folder: Path) -> None:
    """The part, its length and the setting are named; nothing is paid."""
    long = Item(input="q", output="x" * 200_001)
    outcome, server = await grade(folder, {}, completion(), item=long)
    assert outcome.verdict.unscored_reason is UnscoredReason.TOO_LONG
    assert outcome.verdict.detail == "the answer has 200,001 characters, more than judge.max_prompt_chars = 200000"
    assert (server.requests, outcome.attempts, outcome.prompt_cut) == ([], (), False)
    outcome, server = await grade(folder, {}, completion(), item=Item(input="q", output="x" * 200_000))
    assert (outcome.verdict.score, outcome.prompt_cut) == (4.0, False)


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        ({"input": "x" * 1001, "output": "a"}, "question"),
        ({"input": "q", "output": "a", "reference": "x" * 1001}, "reference"),
        ({"input": "q", "output": "a", "contexts": ("c", "x" * 1001)}, "context 2"),
    ],
)
def test_every_part_that_is_sent_is_measured(folder: Path, parts: dict[str, Any], name: str) -> None:
    """And none that the prompt leaves out."""
    judge, _ = build_judge(config(folder, {"max_prompt_chars": 1000}))
    assert isinstance(judge, OpenAICompatibleJudge)
    verdict = judge._nothing_to_send(Item(**parts))
    assert verdict is not None
    assert verdict.detail.startswith(f"the {name} has 1,001 characters")
    own, _ = build_judge(config(folder, {**OWN, "max_prompt_chars": 1000}))
    assert isinstance(own, OpenAICompatibleJudge)
    assert (own._nothing_to_send(Item(**parts)) is None) == (name != "question")


async def test_cut_keeps_the_item_with_its_middle_left_out(folder: Path) -> None:
    """For who would rather have a verdict on a part; the cut is on record."""
    long = Item(input="q", output="x" * 5000)
    outcome, server = await grade(folder, {"max_prompt_chars": 1000, "too_long": "cut"}, completion(), item=long)
    assert (outcome.verdict.score, outcome.prompt_cut) == (4.0, True)
    assert "left out here" in server.requests[0].body["messages"][1]["content"]


# ---------------------------------------------------------------- a key that a command gives


async def test_command_for_the_key_runs_beside_the_configuration(folder: Path) -> None:
    """A relative path is looked for there; how it fails ends the run with its own words."""
    (folder / "key.txt").write_text("token-of-the-file\n")
    outcome, server = await grade(folder, {"api_key_env": "", "api_key_command": "cat key.txt"}, completion())
    assert server.requests[0].headers["authorization"] == "Bearer token-of-the-file"
    assert outcome.verdict.score == 4.0
    outcome, server = await grade(folder, {"api_key_env": "", "api_key_command": ["cat", "nothing"]}, completion())
    assert outcome.stop is StopReason.AUTH
    assert "judge.api_key_command (cat) ended with exit code 1" in outcome.stop_message
    assert server.requests == []


def test_certificates_and_proxy_are_looked_at_first(folder: Path) -> None:
    """Relative to the configuration."""
    with pytest.raises(JudgewatchError, match=r"judge\.ca_file .*company\.pem: there is no such file"):
        build_judge(config(folder, {"ca_file": "company.pem"}))
    with pytest.raises(JudgewatchError, match=r"judge\.proxy refers to the environment variable NOT_SET_HERE"):
        build_judge(config(folder, {"proxy": "http://${NOT_SET_HERE}@h:1"}))


def test_azure_settings_arrive(folder: Path) -> None:
    """Both of them."""
    azure = {"azure_deployment": "d", "azure_api_version": "1", "base_url": "https://x.example"}
    judge, _ = build_judge(config(folder, azure))
    assert isinstance(judge, OpenAICompatibleJudge)
    assert judge.settings.azure is not None
    assert (judge.settings.azure.name, judge.settings.azure.api_version) == ("d", "1")
