"""Writes a first ``judgewatch.toml``: nine settings, each with its meaning, and few more where they are needed.

A prompt of one's own needs two more: the scale of its scores, and where in the reply the score stands.
A setting that was left out stands there as a comment, so that the next reader sees what could be said.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from evaluator.starting.choices import DEFAULT_APP, Choices, price_section

_HEAD = "# judgewatch: who grades, what is graded, when, and for how much. All settings: docs/configuration.md"
_COLUMN = 48  # where the remarks begin


@dataclass(frozen=True, kw_only=True)
class _Line:
    """One setting: its key, its value (None: left out, with an example), and its meaning."""

    key: str
    value: object
    meaning: str
    example: object = ""


def config_text(choices: Choices) -> str:
    """Return the configuration file that holds these choices."""
    lines = [_HEAD]
    for title, settings in _sections(choices):
        lines += ["", f"[{title}]", *(_written(line) for line in settings)]
    return "\n".join(lines) + "\n"


def _sections(choices: Choices) -> Iterator[tuple[str, list[_Line]]]:
    if choices.app != DEFAULT_APP:
        yield "app", [_Line(key="name", value=choices.app, meaning="the product watched")]
    yield "judge", _judge(choices)
    yield "traffic", _traffic(choices)
    yield "schedule", _schedule(choices)
    yield "budget", [_budget(choices)]
    yield "alerts", [_alerts(choices)]
    if choices.price is not None:
        rows = price_section(choices.price).items()
        yield f"prices.{_quoted(choices.model)}", [_Line(key=key, value=value, meaning="") for key, value in rows]


def _judge(choices: Choices) -> list[_Line]:
    lines = [
        _Line(key="model", value=choices.model, meaning="who grades; pin a dated version, an alias moves by itself"),
        _Line(key="base_url", value=choices.base_url, meaning="any server that speaks the OpenAI protocol"),
        _Line(
            key="api_key_env",
            value=choices.api_key_env,
            meaning='NAME of the variable with the key, never the key; "": no key',
        ),
        _Line(
            key="prompt_file",
            value=choices.prompt_file,
            example="judge-prompt.txt",
            meaning='your own prompt, with {{input}} and {{output}}; without it the rubric "general"',
        ),
    ]
    if choices.scale is not None:
        lines.append(_Line(key="scale", value=list(choices.scale), meaning="lowest and highest score of that prompt"))
    if choices.levels is not None:
        lines.append(_Line(key="levels", value=dict(choices.levels), meaning="the words it answers with, as scores"))
    if choices.score_field is not None:
        meaning = "where in the reply the score stands: a key, or a path to it"
        lines.append(_Line(key="score_field", value=choices.score_field, meaning=meaning))
    if choices.score_pattern is not None:
        meaning = "finds the score in the reply: its one group, at its last match"
        lines.append(_Line(key="score_pattern", value=choices.score_pattern, meaning=meaning))
    return lines


def _traffic(choices: Choices) -> list[_Line]:
    if choices.command is not None:
        source = _Line(key="command", value=choices.command, meaning="prints answers as JSON lines, before each run")
    else:
        source = _Line(
            key="files",
            value=choices.files,
            example="traffic/*.jsonl",
            meaning="answers of your assistant, read before each run",
        )
    rate = _Line(key="answers_per_day", value=choices.answers_per_day, meaning="how many of each day are graded")
    return [source, rate]


def _schedule(choices: Choices) -> list[_Line]:
    lines = [_Line(key="cron", value=choices.cron, meaning="when runs are due: minute hour day month weekday")]
    if choices.zone != "UTC":
        lines.append(_Line(key="zone", value=choices.zone, meaning="of the schedule and of all days; fixed later on"))
    return lines


def _budget(choices: Choices) -> _Line:
    if choices.usd_per_day is None and choices.calls_per_day is not None:
        meaning = "a day ends here; for dollars set the price of the model"
        return _Line(key="calls_per_day", value=choices.calls_per_day, meaning=meaning)
    return _Line(key="usd_per_day", value=choices.usd_per_day, example=1.0, meaning="a day ends here, whatever is left")


def _alerts(choices: Choices) -> _Line:
    return _Line(
        key="url",
        value=choices.alert_url,
        example="https://hooks.example/...",
        meaning="kept for alerts, which this version does not send yet",
    )


def _written(line: _Line) -> str:
    text = f"{line.key} = {_toml(line.value)}" if line.value is not None else f"# {line.key} = {_toml(line.example)}"
    return f"{text.ljust(_COLUMN)}  # {line.meaning}" if line.meaning else text


def _toml(value: object) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, list):
        return "[" + ", ".join(_toml(part) for part in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_quoted(name)} = {_toml(score)}" for name, score in value.items()) + " }"
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _quoted(text: str) -> str:
    """A text in TOML's quotes: as it is where backslashes stand in it, else as in JSON but for one character."""
    if "\\" in text and "'" not in text and text.isprintable():
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
