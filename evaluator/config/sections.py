"""The sections of ``judgewatch.toml`` but ``[judge]``, each with its keys, their defaults and their limits."""

from __future__ import annotations

import re
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from evaluator.config.base import Command, Section, Texts
from evaluator.config.judge import check_python_place


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
    command: Command | None = Field(default=None, repr=False)
    command_timeout_s: float = Field(default=300.0, gt=0, le=86_400)
    verdicts: Texts = ()
    fields: dict[str, str] = Field(default_factory=dict)
    time_format: str | None = Field(default=None, pattern=r"\S")
    # what is never written down
    redact: tuple[Literal["email", "phone", "card", "key"], ...] = Field(default=(), strict=False)
    redact_patterns: dict[str, str] = Field(default_factory=dict)
    redact_hook: str | None = None
    store_text: bool = True
    store_reasons: bool = True
    item_url: str | None = None

    @field_validator("redact_patterns")
    @classmethod
    def _readable_patterns(cls, value: dict[str, str]) -> dict[str, str]:
        for name, pattern in value.items():
            if not name.strip():
                raise ValueError("each pattern needs a name, like { order = 'ORD-[0-9]+' }")
            try:
                fits_nothing = re.compile(pattern).search("") is not None
            except re.error as error:
                raise ValueError(f"{name!r} is not a regular expression ({error})") from error
            if fits_nothing:
                raise ValueError(f"{name!r} fits the empty text, so it would fit everywhere; ask for one sign at least")
        return value

    @field_validator("redact_hook")
    @classmethod
    def _place_of_a_function(cls, value: str | None) -> str | None:
        return check_python_place(value)

    @field_validator("item_url")
    @classmethod
    def _link_to_an_item(cls, value: str | None) -> str | None:
        if value is None:
            return value
        if not re.match(r"https?://[^/]", value):
            raise ValueError("an address that starts with http:// or https:// is needed")
        named = set(re.findall(r"\{(\w*)\}", value))
        if not named or not named <= {"external_id", "item_id"}:
            raise ValueError("it has to hold {external_id} or {item_id}, and nothing else in braces")
        return value

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

    url: str | None = Field(default=None, pattern=r"\S", repr=False)


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
