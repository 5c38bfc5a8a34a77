"""From configuration to the things a run needs: the judge with its rubric, the anchors, the limits."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from zoneinfo import ZoneInfo

from evaluator.anchor_sets import load_anchors, load_rubric
from evaluator.config import Config, JudgeConfig
from evaluator.config.judge import LOCAL
from evaluator.judges import open_judge
from evaluator.judges.base import Judge
from evaluator.records import Anchor, Rubric
from evaluator.scoring.budget import Limits
from evaluator.scoring.plan import RunSettings
from evaluator.store.db import open_store

if TYPE_CHECKING:
    from evaluator.judges.keys import CommandKey
    from evaluator.judges.settings import JudgeSettings

DEFAULT_TEMPERATURE = 0.0
DEFAULT_SEED = 7
DEFAULT_SCORE_FIELD = "score"
_LOOPBACK = "http://127.0.0.1"  # in place of the address of a server that is started later
_N = TypeVar("_N", int, float)


def build_judge(config: Config) -> tuple[Judge, Rubric]:
    """Build the configured judge with its rubric. Creates the database, whose salt marks the graded text.

    Raises:
        JudgewatchError: a missing key, a budget that cannot be kept, a rubric or prompt file with a fault.
    """
    config.check_budget()
    judge = config.judge
    rubric = configured_rubric(config)
    if judge.function is not None:
        config.store_path.parent.mkdir(parents=True, exist_ok=True)
        return _open_function(config, rubric), rubric
    settings = judge_settings(config, rubric)
    config.store_path.parent.mkdir(parents=True, exist_ok=True)
    if judge.base_url == LOCAL:
        return _open_local(config, settings), rubric
    return open_judge("openai-compatible", settings), rubric


def without_secrets(config: Config) -> Config:
    """The configuration for a judge that is never called; no secret is part of what it asks for."""
    changes: dict[str, object] = {"api_key_env": "", "api_key_command": None, "headers": {}, "query": {}, "proxy": None}
    return config.model_copy(update={"judge": config.judge.model_copy(update=changes)})


def configured_rubric(config: Config) -> Rubric:
    """Return the rubric that the judge grades by: the named one, or the scale of a prompt or function of one's own.

    Raises:
        DataFileError: a rubric file with a fault.
    """
    judge = config.judge
    if not judge.has_own_scale:
        return load_rubric(judge.rubric, folder=config.folder)
    from evaluator.judges.own_prompts import build_rubric

    return build_rubric(name=_name_of_own(judge), scale=judge.scale, levels=judge.levels, criterion=judge.criterion)


def _name_of_own(judge: JudgeConfig) -> str:
    if judge.prompt_file is not None:
        return Path(judge.prompt_file).stem
    return (judge.function or judge.model).rpartition(":")[2]


def _open_function(config: Config, rubric: Rubric) -> Judge:
    from evaluator.judges.function import FunctionSettings

    judge = config.judge
    settings = FunctionSettings(
        target=judge.function or "",
        rubric=rubric,
        timeout_s=judge.timeout_s,
        score_field=judge.score_field or DEFAULT_SCORE_FIELD,
        score_pattern=judge.score_pattern,
    )
    return open_judge("function", settings)


def _open_local(config: Config, settings: JudgeSettings) -> Judge:
    """The judge that serves its own model; its part of the library is loaded for it alone."""
    from evaluator.judges.local.judge import LocalSettings
    from evaluator.judges.local.models import find_gguf
    from evaluator.judges.local.process import check_installed

    check_installed()
    named = None if config.judge.gguf is None else config.folder / config.judge.gguf
    return open_judge("local", LocalSettings(judge=settings, gguf=find_gguf(named)))


def judge_settings(config: Config, rubric: Rubric) -> JudgeSettings:
    """Return what a judge behind an address is told. Creates the database.

    Raises:
        JudgewatchError: a missing key, a prompt file or certificates with a fault.
    """
    from evaluator.judges.clients import check_network
    from evaluator.judges.settings import AzureDeployment, JudgeSettings, Price

    judge, price = config.judge, config.price
    key = _key(config)
    has_azure = judge.azure_deployment is not None and judge.azure_api_version is not None
    settings = JudgeSettings(
        model=judge.model,
        base_url=_LOOPBACK if judge.base_url == LOCAL else judge.base_url,
        api_key=key,
        rubric=rubric,
        max_tokens=judge.max_tokens,
        timeout_s=judge.timeout_s,
        max_attempts=judge.max_attempts,
        max_wait_s=judge.max_wait_s,
        price=None
        if price is None
        else Price(input_usd_per_mtok=price.input_usd_per_million, output_usd_per_mtok=price.output_usd_per_million),
        default_headers=config.request_headers(),
        default_query=config.request_query(),
        max_prompt_chars=judge.max_prompt_chars,
        too_long=judge.too_long,
        max_connections=judge.concurrency + 4,
        score_field=judge.score_field or DEFAULT_SCORE_FIELD,
        score_pattern=judge.score_pattern,
        output_limit=judge.output_limit,
        extra_body=judge.extra_body,
        logprobs=judge.logprobs,
        azure=AzureDeployment(name=judge.azure_deployment or "", api_version=judge.azure_api_version or "")
        if has_azure
        else None,
        proxy=config.proxy_address(),
        ca_file=None if judge.ca_file is None else str(config.folder / judge.ca_file),
        **_prompt(config, rubric),
    )
    check_network(settings)
    if judge.base_url != LOCAL:
        return settings
    from evaluator.judges.local.judge import with_local_defaults

    return with_local_defaults(settings, set_by_user=judge.model_fields_set)


def _key(config: Config) -> str | CommandKey:
    if config.judge.api_key_command is None:
        return config.api_key()
    from evaluator.judges.keys import CommandKey

    return CommandKey(config.judge.api_key_command, ttl_s=config.judge.api_key_ttl_s, folder=config.folder)


def _prompt(config: Config, rubric: Rubric) -> dict[str, Any]:
    """What differs between the shipped prompt and one's own, which is sent as it is, with nothing that was not set."""
    judge = config.judge
    if judge.prompt_file is not None:
        from evaluator.judges.own_prompts import load_prompt

        return {
            "prompt_template": load_prompt(config.folder / judge.prompt_file, rubric=rubric),
            "verbatim": True,
            "fence_secret": None,
            "temperature": _asked(judge.temperature, None),
            "seed": _asked(judge.seed, None),
            "output_mode": judge.output_mode if "output_mode" in judge.model_fields_set else "text",
        }
    config.store_path.parent.mkdir(parents=True, exist_ok=True)
    with open_store(config.store_path, zone=config.schedule.zone) as store:
        salt = store.meta("fence_salt")
    return {
        "fence_secret": salt,
        "temperature": _asked(judge.temperature, DEFAULT_TEMPERATURE),
        "seed": _asked(judge.seed, DEFAULT_SEED),
        "output_mode": judge.output_mode,
    }


def _asked(value: _N | Literal["unset"] | None, default: _N | None) -> _N | None:
    """A parameter to send; None leaves it out."""
    if value is None:
        return default
    return None if value == "unset" else value


def configured_anchors(config: Config, rubric: Rubric) -> list[Anchor]:
    """Return the anchors of the configured set. A shipped set is used on any scale.

    People's scores of a shipped set are on the scale of its own rubric; under another scale they are left out, since
    drift is told without them.

    Raises:
        DataFileError: an anchor set with a fault.
    """
    name = config.anchors.set
    if name.endswith(".jsonl") or "/" in name:
        return load_anchors(name, rubric, folder=config.folder)
    own = load_rubric(name)
    anchors = load_anchors(name, own)
    if (own.scale_min, own.scale_max) == (rubric.scale_min, rubric.scale_max):
        return anchors
    return [replace(anchor, expected_score=None) for anchor in anchors]


def run_settings(
    config: Config, rubric: Rubric, *, slot: datetime, kind: str = "all", since: str | None = None
) -> RunSettings:
    """Collect what a run of this configuration needs.

    Raises:
        DataFileError: an anchor set with a fault.
    """
    return replace(
        settings_aside(config, slot=slot), anchors=configured_anchors(config, rubric), kind=kind, since=since
    )


def settings_aside(config: Config, *, slot: datetime) -> RunSettings:
    """What a run without anchors needs. The anchor set is not read: it may be the one to be made."""
    return RunSettings(
        store_path=config.store_path,
        app=config.app.name,
        zone=config.schedule.zone,
        anchor_set_name=config.anchors.set,
        anchors=(),
        traffic=config.traffic,
        limits=Limits(
            usd_per_day=config.budget.usd_per_day,
            calls_per_day=config.budget.calls_per_day,
            calls_per_minute=config.judge.calls_per_minute,
        ),
        concurrency=config.judge.concurrency,
        slot=slot,
        segment_keys=config.traffic.segment_keys(),
    )


def schedule_zone(config: Config) -> ZoneInfo:
    """The zone in which the schedule counts."""
    return ZoneInfo(config.schedule.zone)
