"""Is the configuration complete: the key, the price, what leaves the house and what is kept, whom to tell."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Iterator
from pathlib import Path

from evaluator.config import Config
from evaluator.config.judge import LOCAL
from evaluator.doctor.alias import is_own_server
from evaluator.doctor.base import Check, Patient, fail, ok, warn
from evaluator.importing.redacting import open_redactor

_NOT_NAMED = "the defaults stand"


def check_configuration(path: Path) -> Check:
    """Valid, since it was read; the keys that are set."""
    named = ", ".join(_keys_set(path)) or _NOT_NAMED
    return ok("configuration", f"{path} is valid; it sets {named}")


def _keys_set(path: Path) -> list[str]:
    values = tomllib.loads(path.read_text("utf-8-sig"))
    found: list[str] = []
    for section, body in values.items():
        found += [f"{section}.{key}" for key in body] if isinstance(body, dict) else [section]
    return found


def check_prompt(patient: Patient) -> Iterator[Check]:
    """A prompt of one's own can be read and names what it must; said without a call and without a key."""
    judge = patient.config.judge
    if judge.prompt_file is None or patient.rubric is None:
        return
    from evaluator.judges.own_prompts import load_prompt

    text = load_prompt(patient.config.folder / judge.prompt_file, rubric=patient.rubric)
    yield ok("prompt", f"{judge.prompt_file}: {len(text):,} characters, sent as they are")


def check_key(patient: Patient) -> Check:
    """The key is there; it is never shown."""
    judge = patient.config.judge
    if judge.function is not None:
        return ok("key", "a function of one's own needs none")
    if judge.api_key_command is not None:
        return _check_key_command(patient.config)
    if judge.base_url == LOCAL or not judge.api_key_env:
        return ok("key", "none is sent to this server")
    patient.config.api_key()
    return ok("key", f"the environment variable {judge.api_key_env} is set")


def _check_key_command(config: Config) -> Check:
    """Run the command once; what it prints is the key, so only its length is told."""
    from evaluator.judges.keys import CommandKey, KeyCommandError

    command = CommandKey(config.judge.api_key_command or (), ttl_s=config.judge.api_key_ttl_s, folder=config.folder)
    try:
        key = asyncio.run(command())
    except KeyCommandError as error:
        return fail("key", str(error), "run it by hand; its first line of output has to be the key")
    return ok("key", f"judge.api_key_command gives one of {len(key)} characters")


def check_price(patient: Patient) -> Check:
    """A model without a price can only be limited by its calls."""
    config = patient.config
    if config.judge.function is not None:
        return ok("price", "a function of one's own: what it costs is not known here, calls are counted")
    config.check_budget()
    price = config.price
    if price is None and is_own_server(config.judge.base_url):
        return ok("price", "none is set for a server of one's own; calls are counted")
    if price is None:
        model = config.judge.model
        return warn(
            "price",
            f"no price is known for {model}; costs are shown as 0",
            f'set [prices."{model}"] input_usd_per_million and output_usd_per_million',
        )
    amounts = f"${price.input_usd_per_million:g} in and ${price.output_usd_per_million:g} out per million tokens"
    return ok("price", f"{config.judge.model}: {amounts}, from {config.price_source}")


def check_privacy(patient: Patient) -> Check:
    """What is masked before it is written down, and what is kept: said, not judged; patterns and hook can be used."""
    traffic = patient.config.traffic
    open_redactor(traffic)
    masked = [*traffic.redact, *traffic.redact_patterns, *(["a hook of one's own"] if traffic.redact_hook else [])]
    parts = [f"masked before anything is stored: {', '.join(masked) or 'nothing'}"]
    parts.append("texts of answers are kept" if traffic.store_text else "texts of answers are not kept")
    parts.append("the judge's reasons are kept" if traffic.store_reasons else "the judge's reasons are not kept")
    return ok("privacy", "; ".join(parts))


def check_alerts(patient: Patient) -> Check:
    """Whom to tell is a setting of later versions."""
    if patient.config.alerts.url is None:
        return ok(
            "alerts", "none are set; `judgewatch check --fail-on judge,quality` tells a scheduler by its exit code"
        )
    return warn(
        "alerts",
        "alerts.url is set, and this version sends no alerts",
        "let a scheduled `judgewatch check --fail-on judge,quality` tell you by its exit code",
    )
