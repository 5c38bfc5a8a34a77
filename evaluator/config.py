"""One ``judgewatch.toml``, checked before anything runs: every message names the key, the value and the fix."""

from __future__ import annotations

import difflib
import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from evaluator.errors import ConfigError

CONFIG_NAME = "judgewatch.toml"


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class JudgeConfig(_Section):
    """``[judge]``: who grades, and how it is asked."""

    model: str = Field(min_length=1)
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
    headers: dict[str, str] = Field(default_factory=dict)
    query: dict[str, str] = Field(default_factory=dict)

    @field_validator("base_url")
    @classmethod
    def _http_address(cls, value: str) -> str:
        if not value.startswith(("http://", "https://")):
            raise ValueError(
                "an address that starts with http:// or https:// is needed, like https://api.openai.com/v1"
            )
        return value.rstrip("/")


class FloorConfig(_Section):
    """One floor of the sample: at least so many answers a day of this segment."""

    key: str
    value: str
    answers_per_day: int = Field(ge=1)


class TrafficConfig(_Section):
    """``[traffic]``: which answers of production are graded."""

    answers_per_day: int | None = Field(default=None, ge=1)
    sample_rate: float | None = Field(default=None, gt=0, le=1)
    floors: tuple[FloorConfig, ...] = ()
    lookback_days: int = Field(default=7, ge=1, le=3650)
    naive_zone: str = "UTC"
    spool: str | None = None
    segments: tuple[str, ...] | None = None

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


class AnchorsConfig(_Section):
    """``[anchors]``: the fixed answers that are graded in every run."""

    set: str = "general"


class ScheduleConfig(_Section):
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
            raise ValueError(
                f"not a cron expression ({error}); five fields, like '0 6 * * *' for 06:00 every day"
            ) from error
        return value


class BudgetConfig(_Section):
    """``[budget]``: what a day may cost. A model without a known price needs ``calls_per_day``."""

    usd_per_day: float | None = Field(default=None, gt=0)
    calls_per_day: int | None = Field(default=None, ge=1)


class AlarmsConfig(_Section):
    """``[alarms]``: how many false alarms a year are acceptable, and the smallest change worth one."""

    false_alarms_per_year: float = Field(default=1.0, gt=0, le=365)
    smallest_change: float = Field(default=0.1, gt=0)


class PriceConfig(_Section):
    """``[prices."model"]``: dollars per million tokens."""

    input_usd_per_million: float = Field(ge=0)
    output_usd_per_million: float = Field(ge=0)


class StoreConfig(_Section):
    """``[store]``: where the verdicts are kept."""

    path: str = "data/judgewatch.db"


class AppConfig(_Section):
    """``[app]``: the product watched."""

    name: str = Field(default="default", min_length=1, max_length=80)


class Config(_Section):
    """The whole of ``judgewatch.toml``. ``folder`` is where relative paths start."""

    app: AppConfig = AppConfig()
    store: StoreConfig = StoreConfig()
    judge: JudgeConfig
    traffic: TrafficConfig = TrafficConfig()
    anchors: AnchorsConfig = AnchorsConfig()
    schedule: ScheduleConfig = ScheduleConfig()
    budget: BudgetConfig = BudgetConfig()
    alarms: AlarmsConfig = AlarmsConfig()
    prices: dict[str, PriceConfig] = Field(default_factory=dict)
    folder: Annotated[Path, Field(exclude=True)] = Path()

    @model_validator(mode="after")
    def _zones_exist(self) -> Self:
        for key, zone in (("schedule.zone", self.schedule.zone), ("traffic.naive_zone", self.traffic.naive_zone)):
            try:
                ZoneInfo(zone)
            except (ZoneInfoNotFoundError, ValueError, OSError) as error:
                raise ValueError(f"{key} = {zone!r}: unknown zone; use a name like 'UTC' or 'Europe/Berlin'") from error
        return self

    @property
    def store_path(self) -> Path:
        """The database file."""
        return self.folder / self.store.path

    @property
    def price(self) -> PriceConfig | None:
        """Price of the judge's model, None when it is not configured."""
        return self.prices.get(self.judge.model)

    def check_budget(self) -> None:
        """Refuse a budget that cannot be kept.

        Raises:
            ConfigError: dollars without a price, or neither dollars nor calls.
        """
        if self.budget.calls_per_day is not None or self.judge.function is not None:
            return
        model = self.judge.model
        if self.price is None:
            raise ConfigError(
                f"judge.model = {model!r} has no known price, so a budget in dollars cannot be kept; set"
                f' [prices."{model}"] input_usd_per_million and output_usd_per_million, or budget.calls_per_day'
            )
        if self.budget.usd_per_day is None:
            raise ConfigError(
                "there is no limit to what a day may cost; set budget.usd_per_day or budget.calls_per_day"
            )

    def api_key(self) -> str:
        """Return the judge's key from the environment; never stored anywhere.

        Raises:
            ConfigError: the variable is not set.
        """
        name = self.judge.api_key_env
        if not name:
            return "none"  # the client insists on some text; servers without keys ignore it
        key = os.environ.get(name, "").strip()
        if not key:
            raise ConfigError(
                f"the environment variable {name} is not set; put the judge's key there, or set judge.api_key_env"
                ' to another variable (or to "" for a server that needs no key)'
            )
        return key


def load_config(path: Path | str) -> Config:
    """Read and check a configuration file.

    Raises:
        ConfigError: missing, unreadable, or with a value that cannot be used; all faults in one message.
    """
    path = Path(path)
    try:
        values = tomllib.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError as error:
        raise ConfigError(
            f'there is no configuration at {path}; name one with --config (see README, "Configure")'
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from error
    return parse_config(values, folder=path.parent, name=str(path))


def parse_config(values: dict[str, Any], *, folder: Path, name: str) -> Config:
    """Check configuration values; ``name`` is what messages call them.

    Raises:
        ConfigError: a value that cannot be used.
    """
    try:
        return Config.model_validate({**values, "folder": folder})
    except ValidationError as error:
        lines = [_explain(fault) for fault in error.errors()]
        raise ConfigError(f"{name}: " + "; ".join(lines)) from error


def _explain(fault: Any) -> str:
    """One fault in words: key, value, fix."""
    key = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "missing":
        return f"{key} is missing"
    if fault["type"] == "extra_forbidden":
        known = _known_keys(fault["loc"][:-1])
        close = difflib.get_close_matches(str(fault["loc"][-1]), known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known here: {', '.join(known)}"
        return f"unknown key {key!r}; {hint}"
    message = fault["msg"].removeprefix("Value error, ")
    value = fault["input"]
    shown = "" if isinstance(value, dict | BaseModel) else f" = {value!r}"
    return f"{key}{shown}: {message}" if key else message


def _known_keys(place: tuple[int | str, ...]) -> list[str]:
    section: Any = Config
    for part in place:
        field = section.model_fields.get(str(part)) if hasattr(section, "model_fields") else None
        section = field.annotation if field is not None else None
    fields = getattr(section, "model_fields", None) or {}
    return sorted(name for name in fields if name != "folder")
