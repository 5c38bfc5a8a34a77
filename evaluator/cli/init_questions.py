"""The questions of ``judgewatch init``: each with its default, each asked again until its answer can be used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from evaluator.errors import JudgewatchError, UsageError
from evaluator.prices import known_price
from evaluator.starting.choices import (
    DEFAULT_ANSWERS_PER_DAY,
    DEFAULT_KEY_VARIABLE,
    DEFAULT_URL,
    Choices,
    given_path,
    relative_to_config,
)
from evaluator.starting.levels import find_levels
from evaluator.starting.own_prompt import OWN_PROMPT, check_own_flags, clear_scale, listed, read_prompt, scales_in_words
from evaluator.starting.scales import find_scales
from evaluator.starting.schedules import parse_schedule
from evaluator.starting.score_places import DEFAULT_FIELD, places_in_prompt

_DEFAULT_SCHEDULE = "daily at 06:00"


@dataclass(frozen=True, kw_only=True)
class _Question:
    """One question: the choice it fills, its words, its default (None: an answer is needed), how to read the answer."""

    name: str
    text: str
    default: str | None
    read: Callable[[str], Any]


def ask_choices(given: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Ask for every choice that was not given, and return all by name.

    Raises:
        UsageError: a prompt of one's own that was given and cannot be used.
        click.Abort: the input ended, or was interrupted.
    """
    known = dict(given)
    if known.get("prompt_file") is not None:
        read_prompt(folder / known["prompt_file"], called=known["prompt_file"])
    for question in _questions(known, folder):
        if question.name not in known:
            known[question.name] = _ask(question, known, folder)
    return known


def ask_budget(choices: Choices, folder: Path, *, suggested: float) -> Choices:
    """Ask what a day may cost."""
    text = "Most that a day may cost, in dollars (an ordinary day with room for retries)"
    question = _Question(name="usd_per_day", text=text, default=f"{suggested:g}", read=_number)
    return replace(choices, usd_per_day=_ask(question, dict(vars(choices)), folder))


def _questions(known: dict[str, Any], folder: Path) -> Iterator[_Question]:
    """The questions in order, each made when those before it are answered; ``known`` holds the answers."""
    yield from _of_judge(known, folder)
    if known["prompt_file"] is not None:
        yield from _of_own_prompt(read_prompt(folder / known["prompt_file"]), known)
    yield from _of_days(known, folder)


def _of_judge(known: dict[str, Any], folder: Path) -> Iterator[_Question]:
    yield _Question(name="model", text="Model that judges (pin a dated version)", default=None, read=str)
    yield _Question(name="base_url", text="Address of its server", default=DEFAULT_URL, read=str)
    if known_price(known["model"], known["base_url"]) is None:
        yield _Question(
            name="price",
            text="Its price is not known. Dollars per million tokens in and out (none: count calls instead)",
            default="none",
            read=lambda text: None if text.lower() == "none" else _pair(text),
        )
    yield _Question(
        name="api_key_env",
        text="NAME of the variable that holds the key (none for a server without keys)",
        default=DEFAULT_KEY_VARIABLE,
        read=lambda text: "" if text.lower() == "none" else text,
    )
    yield _Question(
        name="prompt_file",
        text="File with your own prompt (none: the rubric that ships)",
        default=None if _speaks_of_prompt(known) else "none",
        read=lambda text: _prompt(text, known, folder),
    )


def _of_own_prompt(text: str, known: dict[str, Any]) -> Iterator[_Question]:
    """The scale, and where the score stands; proposed is what the prompt itself says.

    A prompt that asks for a word is settled later, without a question.
    """
    if known.get("levels") is not None or (find_levels(text) and not find_scales(text)):
        return
    scale, named = clear_scale(text, known), scales_in_words(text)
    remark = f" (it speaks of {named})" if named else ""
    yield _Question(
        name="scale",
        text=f"Lowest and highest score of that prompt{remark}",
        default=None if scale is None else f"{scale[0]:g} {scale[1]:g}",
        read=_pair,
    )
    places = places_in_prompt(text, scale=known["scale"])
    if places.is_default or not known.keys().isdisjoint(("score_field", "score_pattern")):
        return
    if places.patterns and not places.fields:
        asked = "Expression whose one group is the score (proposed: for the form of reply that the prompt shows)"
        yield _Question(name="score_pattern", text=asked, default=places.patterns[0], read=str)
        return
    several = len(places.fields) > 1
    shown = f"the numbers of its example: {listed(places.fields)}" if places.fields else "a key or a path"
    yield _Question(
        name="score_field",
        text=f"Where in the reply the score stands ({shown})",
        default=None if several else next(iter(places.fields), DEFAULT_FIELD),
        read=str,
    )


def _of_days(known: dict[str, Any], folder: Path) -> Iterator[_Question]:
    if "command" not in known:
        yield _Question(
            name="files",
            text="Files with answers of your assistant, like traffic/*.jsonl (none: later)",
            default="none",
            read=lambda text: None if text.lower() == "none" else relative_to_config(text, folder),
        )
    yield _Question(
        name="answers_per_day",
        text="Answers to grade of each day",
        default=str(DEFAULT_ANSWERS_PER_DAY),
        read=_whole,
    )
    yield _Question(name="cron", text="When to run (words or cron)", default=_DEFAULT_SCHEDULE, read=parse_schedule)
    yield _Question(name="zone", text="Zone of the schedule and of all days", default="UTC", read=str)
    yield _Question(
        name="alert_url",
        text="Address for alerts (none; this version keeps it and sends nothing yet)",
        default="none",
        read=lambda text: None if text.lower() == "none" else text,
    )


def _ask(question: _Question, known: dict[str, Any], folder: Path) -> Any:
    """Ask until the answer can be used; what is wrong with it is said in the configuration's own words."""

    def read(text: str) -> Any:
        try:
            value = question.read(text.strip())
            if question.name != "prompt_file":  # a prompt makes no configuration before its scale is known
                Choices(**{"model": "any", **_fitting(known, question), question.name: value}).config(folder)
        except JudgewatchError as error:
            raise click.UsageError(str(error)) from error
        return value

    return click.prompt(question.text, default=question.default, value_proc=read, err=True)


def _fitting(known: dict[str, Any], question: _Question) -> dict[str, Any]:
    """What an answer has to go together with: what belongs to a prompt of one's own is held against that alone."""
    if question.name in OWN_PROMPT:
        return known
    return {name: value for name, value in known.items() if name not in OWN_PROMPT}


def _speaks_of_prompt(known: dict[str, Any]) -> bool:
    """Whether a flag was given that belongs to a prompt of one's own."""
    return any(known.get(name) is not None for name in OWN_PROMPT)


def _prompt(text: str, known: dict[str, Any], folder: Path) -> str | None:
    if text.lower() == "none":
        check_own_flags({**known, "prompt_file": None})
        return None
    read_prompt(given_path(text), called=text)
    return relative_to_config(text, folder)


def _pair(text: str) -> tuple[float, float]:
    numbers = text.replace(",", " ").split()
    if len(numbers) != 2:
        raise UsageError(f"{text!r}: two numbers are needed, like 1 5")
    return _number(numbers[0]), _number(numbers[1])


def _number(text: str) -> float:
    try:
        return float(text.removeprefix("$"))
    except ValueError as error:
        raise UsageError(f"{text!r} is no number") from error


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is no whole number") from error
