"""What is asked for, and what changes when a server refuses a part of it. No server needed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluator.errors import ConfigError
from evaluator.judges.requests import RequestPlan, adjust_plan, encode_body, first_plan
from evaluator.judges.settings import JudgeSettings, Price
from tests.judges.fakes import RUBRIC


def settings(**changes: Any) -> JudgeSettings:
    values: dict[str, Any] = {
        "model": "judge-x",
        "base_url": "http://127.0.0.1:1/v1",
        "api_key": "k",
        "rubric": RUBRIC,
        "fence_secret": "s",
    }
    return JudgeSettings(**{**values, **changes})


def plan(**changes: Any) -> RequestPlan:
    return first_plan(settings(**changes))


def test_a_schema_is_asked_for_first() -> None:
    """Strict, in the order of the template, with temperature 0 and a seed."""
    body = plan().body([{"role": "user", "content": "x"}])
    assert (body["model"], body["temperature"], body["seed"], body["max_tokens"]) == ("judge-x", 0.0, 7, 700)
    schema = body["response_format"]["json_schema"]
    assert schema["strict"] is True
    assert list(schema["schema"]["properties"]) == ["reasoning", "strengths", "weaknesses", "score"]
    assert schema["schema"]["additionalProperties"] is False


def test_a_prompt_of_ones_own_without_keys_gets_plain_text() -> None:
    """Who asks for [[4]] must not be answered in JSON."""
    own = plan(prompt_template="{{output}}\nRating: [[n]]")
    assert own.mode == "text"
    assert "response_format" not in own.body([])


@pytest.mark.parametrize(("mode", "kind"), [("json", "json_object"), ("schema", "json_schema"), ("text", None)])
def test_a_named_mode_is_taken(mode: str, kind: str | None) -> None:
    """The user's word counts."""
    body = plan(output_mode=mode).body([])
    assert body.get("response_format", {}).get("type") == kind


def test_absent_parameters_are_not_sent() -> None:
    """None leaves a parameter to the server."""
    body = plan(temperature=None, seed=None).body([], output_factor=2)
    assert "temperature" not in body
    assert "seed" not in body
    assert body["max_tokens"] == 1400


@pytest.mark.parametrize(
    ("message", "param", "change"),
    [
        ("Unsupported value", "temperature", {"dropped": {"temperature"}}),
        ("'temperature' is not supported with this model", None, {"dropped": {"temperature"}}),
        ('[{"type": "extra_forbidden", "loc": ["body", "seed"]}]', None, {"dropped": {"seed"}}),
        ("Use max_completion_tokens for this model.", "max_tokens", {"limit_name": "max_completion_tokens"}),
        ("Unsupported parameter: 'max_tokens'", None, {"limit_name": "max_completion_tokens"}),
        ("This response_format type is unavailable now", None, {"mode": "json"}),
        ("structured output is not supported", None, {"mode": "json"}),
        ("Invalid value", "response_format.type", {"mode": "json"}),
    ],
)
def test_what_a_refusal_changes(message: str, param: str | None, change: dict[str, Any]) -> None:
    """The refused part, and nothing else."""
    adjusted = adjust_plan(plan(), message=message, param=param)
    assert adjusted is not None
    before = plan()
    for name in ("mode", "dropped", "limit_name"):
        assert getattr(adjusted, name) == change.get(name, getattr(before, name))


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ("bad request invalid_prompt", None),
        ("Invalid value for the top_p parameter", "top_p"),
        ("The temperature of the server room is high", None),
        ("max_tokens is too large: 700", "max_tokens"),
        ("messages must be a list; temperature is fine", "messages"),
    ],
)
def test_unrelated_refusals_change_nothing(message: str, param: str | None) -> None:
    """An instrument must not change by accident."""
    assert adjust_plan(plan(), message=message, param=param) is None


def test_nothing_is_adjusted_twice() -> None:
    """What was dropped, renamed or fell to text already is not the cause of a new refusal."""
    message = "temperature, seed, max_tokens, response_format: unsupported"
    current: RequestPlan | None = plan()
    seen = []
    while current is not None:
        seen.append(current)
        current = adjust_plan(current, message=message, param=None)
    assert [p.mode for p in seen] == ["schema", "json", "text"]  # the format is named, so only it moves
    for param in ("temperature", "seed", "max_tokens"):
        once = adjust_plan(plan(), message="unsupported", param=param)
        assert once is not None
        assert adjust_plan(once, message="unsupported", param=param) is None


def test_a_named_mode_is_never_left() -> None:
    """A wish for a schema is not met by text."""
    assert adjust_plan(plan(output_mode="schema"), message="response_format unsupported", param=None) is None


def test_the_instrument_records_what_was_sent() -> None:
    """Dropped and renamed parameters show."""
    adjusted = RequestPlan(
        settings=settings(), mode="text", dropped=frozenset({"temperature"}), limit_name="max_completion_tokens"
    )
    instrument = adjusted.instrument("judge-x-1", "fp")
    assert dict(instrument.parameters) == {"seed": 7, "max_completion_tokens": 700}
    assert (instrument.resolved_model, instrument.fingerprint, instrument.output_mode) == ("judge-x-1", "fp", "text")


@pytest.mark.parametrize(
    "change",
    [
        {"model": " "},
        {"base_url": "localhost:8000"},
        {"temperature": 3.0},
        {"temperature": float("nan")},
        {"max_tokens": 0},
        {"timeout_s": 0.0},
        {"timeout_s": float("inf")},
        {"max_attempts": 0},
        {"max_wait_s": -1.0},
        {"output_mode": "xml"},
        {"max_prompt_chars": 0},
        {"max_connections": 0},
        {"score_field": ""},
        {"api_key": "two words"},
        {"api_key": "line\n"},
    ],
)
def test_settings_that_cannot_work_are_refused(change: dict[str, Any]) -> None:
    """By name, before any call."""
    with pytest.raises(ConfigError, match=next(iter(change))):
        settings(**change)


def test_settings_never_show_secrets() -> None:
    """Neither the key nor the salt nor headers appear in a representation or a message."""
    shown = repr(settings(api_key="sk-very-secret", fence_secret="salty", default_headers={"x": "hush"}))
    assert "secret" not in shown
    assert "salty" not in shown
    assert "hush" not in shown
    with pytest.raises(ConfigError) as caught:
        settings(api_key="very secret")
    assert "very secret" not in str(caught.value)


def test_price() -> None:
    """Dollars per million tokens; a negative price is refused."""
    price = Price(input_usd_per_mtok=2.0, output_usd_per_mtok=8.0)
    assert price.cost_usd(1000, 100) == pytest.approx(0.0028)
    with pytest.raises(ConfigError, match="price"):
        Price(input_usd_per_mtok=-1.0, output_usd_per_mtok=0.0)


def test_the_ruler_is_what_was_asked() -> None:
    """An edited prompt, another parameter or another key is another ruler; patience and price are not."""
    base = settings().ruler.ruler_id
    assert settings(timeout_s=1.0, price=Price(input_usd_per_mtok=1, output_usd_per_mtok=1)).ruler.ruler_id == base
    others = [
        settings(prompt_template="{{output}}"),
        settings(temperature=None),
        settings(seed=8),
        settings(model="judge-y"),
        settings(output_mode="text"),
        settings(score_field="grade"),
    ]
    assert len({base, *(other.ruler.ruler_id for other in others)}) == 7


# ---------------------------------------------------------------- what is asked for beside


def test_extra_body_is_sent_as_it_is_and_makes_another_ruler() -> None:
    """What changes the answers is part of what was asked; no entry, no trace."""
    own = plan(extra_body={"top_p": 0.5, "nested": {"a": [1]}})
    body = own.body([{"role": "user", "content": "x"}])
    assert (body["top_p"], body["nested"]) == (0.5, {"a": [1]})
    assert own.settings.ruler.parameters["extra_body"] == {"top_p": 0.5, "nested": {"a": [1]}}
    assert own.instrument("m", None).parameters["top_p"] == 0.5
    assert "extra_body" not in settings().ruler.parameters
    assert settings(extra_body={"top_p": 0.5}).ruler.ruler_id != settings().ruler.ruler_id


@pytest.mark.parametrize("name", ["model", "messages", "stream"])
def test_extra_body_cannot_take_the_place_of_what_is_filled_in(name: str) -> None:
    """Else another model would grade under this one's name."""
    with pytest.raises(ConfigError, match="extra_body"):
        settings(extra_body={name: "x"})


def test_own_format_takes_the_place_of_ours() -> None:
    """A schema of one's own, for a prompt of one's own."""
    own = plan(extra_body={"response_format": {"type": "grammar"}}, output_mode="schema")
    assert own.body([])["response_format"] == {"type": "grammar"}


def test_newer_name_of_the_output_limit_can_be_asked_for_at_once() -> None:
    """It saves a reasoning judge the refused call, and is another setup."""
    own = plan(output_limit="max_completion_tokens")
    assert (own.body([], output_factor=2)["max_completion_tokens"], "max_tokens" in own.body([])) == (1400, False)
    assert own.settings.ruler.parameters["max_completion_tokens"] == 700


def test_body_is_encoded_without_loss() -> None:
    """Characters are sent as they are, once; the bytes are the body's own."""
    body = {"messages": [{"role": "user", "content": 'ü "\n\u2028 \U0001f600'}], "temperature": 0.0}
    encoded = encode_body(body)
    assert json.loads(encoded) == body
    assert "ü".encode() in encoded


def test_pattern_asks_for_no_schema() -> None:
    """A reply that a pattern reads is text, whatever keys the prompt may name."""
    assert plan(prompt_template='{{output}} "score"', score_pattern="(5)").mode == "text"
    assert plan(prompt_template='{{output}} "score"').mode == "schema"


@pytest.mark.parametrize(
    "change",
    [{"score_pattern": "(5)"}, {"score_field": "a.b"}, {"verbatim": True}, {"logprobs": True}, {"temperature": None}],
)
def test_what_changes_the_question_or_its_reading_is_another_ruler(change: dict[str, Any]) -> None:
    """Scores of two ways to ask never share a line."""
    assert settings(**change).ruler.ruler_id != settings().ruler.ruler_id
