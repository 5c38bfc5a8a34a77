"""From configuration to the things a run needs: the judge with its rubric, the anchors, the limits."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeVar
from zoneinfo import ZoneInfo

from evaluator.anchor_sets import load_anchors, load_rubric
from evaluator.config import Config
from evaluator.judges import open_judge
from evaluator.judges.base import Judge
from evaluator.records import Rubric
from evaluator.scoring.budget import Limits
from evaluator.scoring.plan import RunSettings
from evaluator.store.db import open_store

_N = TypeVar("_N", int, float)


def build_judge(config: Config) -> tuple[Judge, Rubric]:
    """Build the configured judge with its rubric. Creates the database, whose salt marks the graded text.

    Raises:
        JudgewatchError: a missing key, a budget that cannot be kept, a rubric with a fault.
    """
    config.check_budget()
    rubric = load_rubric(config.judge.rubric, folder=config.folder)
    if config.judge.function is not None:
        from evaluator.judges.function import FunctionSettings

        config.store_path.parent.mkdir(parents=True, exist_ok=True)
        settings = FunctionSettings(target=config.judge.function, rubric=rubric, timeout_s=config.judge.timeout_s)
        return open_judge("function", settings), rubric
    from evaluator.judges.settings import JudgeSettings, Price

    key = config.api_key()
    config.store_path.parent.mkdir(parents=True, exist_ok=True)
    with open_store(config.store_path, zone=config.schedule.zone) as store:
        salt = store.meta("fence_salt")
    price = config.price
    judge = config.judge
    return (
        open_judge(
            "openai-compatible",
            JudgeSettings(
                model=judge.model,
                base_url=judge.base_url,
                api_key=key,
                rubric=rubric,
                fence_secret=salt,
                temperature=_asked(judge.temperature, 0.0),
                seed=_asked(judge.seed, 7),
                max_tokens=judge.max_tokens,
                timeout_s=judge.timeout_s,
                max_attempts=judge.max_attempts,
                max_wait_s=judge.max_wait_s,
                output_mode=judge.output_mode,
                price=None
                if price is None
                else Price(
                    input_usd_per_mtok=price.input_usd_per_million, output_usd_per_mtok=price.output_usd_per_million
                ),
                default_headers=config.request_headers(),
                default_query=config.request_query(),
                max_prompt_chars=judge.max_prompt_chars,
                max_connections=judge.concurrency + 4,
            ),
        ),
        rubric,
    )


def _asked(value: _N | Literal["unset"] | None, default: _N) -> _N | None:
    """A parameter to send; None leaves it out."""
    if value is None:
        return default
    return None if value == "unset" else value


def run_settings(
    config: Config, rubric: Rubric, *, slot: datetime, kind: str = "all", since: str | None = None
) -> RunSettings:
    """Collect what a run of this configuration needs.

    Raises:
        DataFileError: an anchor set with a fault.
    """
    return RunSettings(
        store_path=config.store_path,
        app=config.app.name,
        zone=config.schedule.zone,
        anchor_set_name=config.anchors.set,
        anchors=load_anchors(config.anchors.set, rubric, folder=config.folder),
        traffic=config.traffic,
        limits=Limits(
            usd_per_day=config.budget.usd_per_day,
            calls_per_day=config.budget.calls_per_day,
            calls_per_minute=config.judge.calls_per_minute,
        ),
        concurrency=config.judge.concurrency,
        slot=slot,
        kind=kind,
        since=since,
        segment_keys=config.traffic.segment_keys(),
    )


def schedule_zone(config: Config) -> ZoneInfo:
    """The zone in which the schedule counts."""
    return ZoneInfo(config.schedule.zone)
