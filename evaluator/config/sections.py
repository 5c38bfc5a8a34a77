"""The sections of ``judgewatch.toml``, each with its keys, their defaults and their limits."""

from __future__ import annotations

import re
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"  # the name of an environment variable


class Section(BaseModel):
    """A section: keys that are not known are refused, values are of the type they are written in."""

    # strict: TOML has types, and `true` is no number; inf and nan are no limits
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, hide_input_in_errors=True)


class JudgeConfig(Section):
    """``[judge]``: who grades, and how it is asked."""

    model: str = Field(pattern=r"\S")
    base_url: str = "https://api.openai.com/v1"
    api_key_env: str = "OPENAI_API_KEY"
    function: str | None = None
    rubric: str = "general"
    temperature: float | None = Field(default=0.0, ge=0, le=2)
    seed: int | None = 7
    max_tokens: int = Field(default=700, ge=16, le=100_000)
    timeout_s: float = Field(default=60.0, gt=0, le=3600)
    max_attempts: int = Field(default=4, ge=1, le=10)
    max_wait_s: float = Field(default=60.0, ge=0, le=3600)
    concurrency: int = Field(default=8, ge=1, le=512)
    calls_per_minute: float | None = Field(default=None, gt=0)
    output_mode: Literal["auto", "schema", "json", "text"] = "auto"
    max_prompt_chars: int = Field(default=60_000, ge=1_000)
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
