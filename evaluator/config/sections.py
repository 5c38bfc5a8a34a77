"""The sections of ``judgewatch.toml``, each with its keys, their defaults and their limits."""

from __future__ import annotations

import re
import shlex
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"  # the name of an environment variable


def _words(value: object) -> object:
    """A command written as one line, in its words; a list stays as it is."""
    if not isinstance(value, str):
        return value
    try:
        return tuple(shlex.split(value))
    except ValueError as error:
        raise ValueError(f"this command cannot be read ({error}); write it as a list of its words") from error


def _one_or_more(value: object) -> object:
    """One text as a list of one."""
    return (value,) if isinstance(value, str) else value


Command = Annotated[tuple[str, ...], BeforeValidator(_words), Field(strict=False, min_length=1)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_one_or_more), Field(strict=False)]


class Section(BaseModel):
    """A section: keys that are not known are refused, values are of the type they are written in."""

    # strict: TOML has types, and `true` is no number; inf and nan are no limits
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, hide_input_in_errors=True)


class JudgeConfig(Section):
    """``[judge]``: who grades, and how it is asked."""

    model: str = Field(pattern=r"\S")
    base_url: str = "https://api.openai.com/v1"
    api_key_env: str = "OPENAI_API_KEY"
    api_key_command: Command | None = Field(default=None, repr=False)
    api_key_ttl_s: float = Field(default=600.0, gt=0, le=86_400)
    azure_deployment: str | None = Field(default=None, pattern=r"\S")
    azure_api_version: str | None = Field(default=None, pattern=r"\S")
    proxy: str | None = Field(default=None, repr=False)
    ca_file: str | None = None
    gguf: str | None = None
    function: str | None = None
    rubric: str = "general"
    prompt_file: str | None = None
    score_field: str | None = Field(default=None, pattern=r"\S")
    score_pattern: str | None = None
    scale: tuple[float, float] | None = Field(default=None, strict=False)
    levels: dict[str, float] | None = Field(default=None, min_length=2)
    criterion: str | None = Field(default=None, pattern=r"\S")
    # TOML has no word for "leave it out", so one is given
    temperature: Annotated[float, Field(ge=0, le=2)] | Literal["unset"] | None = None
    seed: int | Literal["unset"] | None = None
    output_limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    extra_body: dict[str, Any] = Field(default_factory=dict)
    logprobs: bool = False
    max_tokens: int = Field(default=700, ge=16, le=100_000)
    timeout_s: float = Field(default=60.0, gt=0, le=3600)
    max_attempts: int = Field(default=4, ge=1, le=10)
    max_wait_s: float = Field(default=60.0, ge=0, le=3600)
    concurrency: int = Field(default=8, ge=1, le=512)
    calls_per_minute: float | None = Field(default=None, gt=0)
    output_mode: Literal["auto", "schema", "json", "text"] = "auto"
    max_prompt_chars: int = Field(default=200_000, ge=1_000)
    too_long: Literal["unscored", "cut"] = "unscored"
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    query: dict[str, str] = Field(default_factory=dict, repr=False)

    @field_validator("base_url")
    @classmethod
    def _http_address(cls, value: str) -> str:
        if not re.match(r"https?://[^/]", value):
            raise ValueError(
                "an address that starts with http:// or https:// is needed, like https://api.openai.com/v1"
            )
        if "@" in value.split("/")[2]:
            raise ValueError("a name and password have no place in an address; send them with judge.headers")
        return value.rstrip("/")

    @field_validator("api_key_env")
    @classmethod
    def _name_of_a_variable(cls, value: str) -> str:
        if value and not re.fullmatch(VARIABLE, value):
            raise ValueError("the name of an environment variable is needed, like OPENAI_API_KEY, not the key itself")
        return value


class FloorConfig(Section):
    """One floor of the sample: at least so many answers a day of this segment."""

    key: str
    value: str
    answers_per_day: int = Field(ge=1)


class TrafficConfig(Section):
    """``[traffic]``: which answers of production are graded."""

    answers_per_day: int | None = Field(default=None, ge=1)
    sample_rate: float | None = Field(default=None, gt=0, le=1)
    floors: tuple[FloorConfig, ...] = Field(default=(), strict=False)
    lookback_days: int = Field(default=7, ge=1, le=3650)
    naive_zone: str = "UTC"
    spool: str | None = None
    segments: tuple[str, ...] | None = Field(default=None, strict=False)
    grade: bool = True
    # where answers come from before each scheduled run
    files: Texts = ()
    command: Command | None = None
    command_timeout_s: float = Field(default=300.0, gt=0, le=86_400)
    verdicts: Texts = ()
    fields: dict[str, str] = Field(default_factory=dict)
    time_format: str | None = None
    # what is never written down
    redact: tuple[Literal["email", "phone", "card", "key"], ...] = Field(default=(), strict=False)
    redact_patterns: dict[str, str] = Field(default_factory=dict)
    redact_hook: str | None = None
    store_text: bool = True
    store_reasons: bool = True
    item_url: str | None = None

    @model_validator(mode="after")
    def _one_rate(self) -> Self:
        if self.answers_per_day is not None and self.sample_rate is not None:
            raise ValueError("set answers_per_day or sample_rate, not both")
        return self

    @field_validator("segments")
    @classmethod
    def _at_most_two_keys(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for name in value or ():
            parts = [part.strip() for part in name.split("*")]
            if len(parts) > 2 or not all(parts):
                raise ValueError(f"{name!r}: name one key, or two crossed as 'topic * language'")
        return value

    def segment_keys(self) -> list[tuple[str, str]] | None:
        """Return the keys as (key, "") or (key, crossed key); None when none are set."""
        if self.segments is None:
            return None
        parts = [[part.strip() for part in name.split("*")] for name in self.segments]
        return [(p[0], p[1] if len(p) == 2 else "") for p in parts]


class AnchorsConfig(Section):
    """``[anchors]``: the fixed answers that are graded in every run."""

    set: str = "general"


_CRON_HINT = "five fields, like '0 6 * * *' for 06:00 every day"


class ScheduleConfig(Section):
    """``[schedule]``: when the scorer runs, and in which zone a day is a day."""

    cron: str = "0 6 * * *"
    zone: str = "UTC"
    missed: Literal["skip", "catch_up"] = "skip"

    @field_validator("cron")
    @classmethod
    def _readable_cron(cls, value: str) -> str:
        from datetime import UTC, datetime

        from cronsim import CronSim, CronSimError

        try:
            CronSim(value, datetime(2026, 1, 1, tzinfo=UTC))
        except CronSimError as error:
            raise ValueError(f"not a cron expression ({error}); {_CRON_HINT}") from error
        if len(value.split()) != 5:
            raise ValueError(f"not a cron expression (seconds are too fine for it); {_CRON_HINT}")
        return value


class BudgetConfig(Section):
    """``[budget]``: what a day may cost. A model without a known price needs ``calls_per_day``."""

    usd_per_day: float | None = Field(default=None, gt=0)
    calls_per_day: int | None = Field(default=None, ge=1)


class AlarmsConfig(Section):
    """``[alarms]``: how many false alarms a year are acceptable, and the smallest change worth one."""

    false_alarms_per_year: float = Field(default=1.0, gt=0, le=365)
    smallest_change: float = Field(default=0.1, gt=0)


class AlertsConfig(Section):
    """``[alerts]``: whom to tell."""

    url: str | None = Field(default=None, repr=False)


class PriceConfig(Section):
    """``[prices."model"]``: dollars per million tokens."""

    input_usd_per_million: float = Field(ge=0)
    output_usd_per_million: float = Field(ge=0)


class StoreConfig(Section):
    """``[store]``: where the verdicts are kept."""

    path: str = "data/judgewatch.db"


class AppConfig(Section):
    """``[app]``: the product watched."""

    name: str = Field(default="default", max_length=80, pattern=r"\S")
