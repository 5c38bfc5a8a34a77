"""One ``judgewatch.toml``, checked before anything runs: every message names the key, the value and the fix."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, ValidationError, model_validator

from evaluator.config.base import VARIABLE, Section
from evaluator.config.faults import explain_fault
from evaluator.config.judge import LOCAL, JudgeConfig
from evaluator.config.limits import LimitsConfig
from evaluator.config.sections import (
    AlarmsConfig,
    AlertsConfig,
    AnchorsConfig,
    AppConfig,
    BudgetConfig,
    FloorConfig,
    PriceConfig,
    ScheduleConfig,
    StoreConfig,
    TrafficConfig,
)
from evaluator.errors import ConfigError
from evaluator.prices import KnownPrice, known_price, table_date

__all__ = [
    "CONFIG_NAME",
    "AlarmsConfig",
    "AlertsConfig",
    "AnchorsConfig",
    "AppConfig",
    "BudgetConfig",
    "Config",
    "FloorConfig",
    "JudgeConfig",
    "LimitsConfig",
    "PriceConfig",
    "ScheduleConfig",
    "StoreConfig",
    "TrafficConfig",
    "load_config",
    "parse_config",
]

CONFIG_NAME = "judgewatch.toml"
_REFERENCE = re.compile(r"\$\{(" + VARIABLE + r")\}")


class Config(Section):
    """The whole of ``judgewatch.toml``. ``folder`` is where relative paths start."""

    app: AppConfig = AppConfig()
    store: StoreConfig = StoreConfig()
    judge: JudgeConfig
    traffic: TrafficConfig = TrafficConfig()
    anchors: AnchorsConfig = AnchorsConfig()
    schedule: ScheduleConfig = ScheduleConfig()
    budget: BudgetConfig = BudgetConfig()
    alarms: AlarmsConfig = AlarmsConfig()
    alerts: AlertsConfig = AlertsConfig()
    limits: LimitsConfig = LimitsConfig()
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
        """Price of the judge's model: from ``[prices]``, else a known list price; None when neither has it."""
        own, known = self._own_price, self._list_price
        if own is not None or known is None:
            return own
        return PriceConfig(
            input_usd_per_million=known.input_usd_per_million, output_usd_per_million=known.output_usd_per_million
        )

    @property
    def price_source(self) -> str:
        """Where the price comes from, in words."""
        if self._own_price is not None:
            return f'[prices."{self.judge.model}"] of the configuration'
        if self._list_price is not None:
            return f"the price table of {table_date()} ({self._list_price.name}); [prices] overrides it"
        return f'not known; [prices."{self.judge.model}"] sets it'

    @property
    def _own_price(self) -> PriceConfig | None:
        return self.prices.get(self.judge.model)

    @property
    def _list_price(self) -> KnownPrice | None:
        judge = self.judge
        if judge.function is not None or judge.gguf is not None or judge.azure_deployment is not None:
            return None
        return known_price(judge.model, judge.base_url)

    def check_budget(self) -> None:
        """Refuse a budget that cannot be kept.

        Raises:
            ConfigError: dollars without a price, or neither dollars nor calls.
        """
        if self.judge.function is not None or self.judge.base_url == LOCAL:
            return
        usd, calls = self.budget.usd_per_day, self.budget.calls_per_day
        if usd is None and calls is None:
            raise ConfigError(
                "there is no limit to what a day may cost; set budget.usd_per_day or budget.calls_per_day"
            )
        if usd is not None and self.price is None:
            model = self.judge.model
            other = "or leave budget.usd_per_day out" if calls is not None else "or set budget.calls_per_day instead"
            raise ConfigError(
                f"judge.model = {model!r} has no known price, so budget.usd_per_day = {usd:g} cannot be kept; set"
                f' [prices."{model}"] input_usd_per_million and output_usd_per_million, {other}'
            )

    def request_headers(self) -> dict[str, str]:
        """Return ``judge.headers`` with every ``${NAME}`` replaced by that environment variable.

        Raises:
            ConfigError: a variable is not set.
        """
        return _filled(self.judge.headers, "judge.headers")

    def request_query(self) -> dict[str, str]:
        """Return ``judge.query``, filled in like the headers.

        Raises:
            ConfigError: a variable is not set.
        """
        return _filled(self.judge.query, "judge.query")

    def proxy_address(self) -> str | None:
        """Return ``judge.proxy``, filled in like the headers; None when there is none.

        Raises:
            ConfigError: a variable is not set.
        """
        if self.judge.proxy is None:
            return None
        return _filled({"proxy": self.judge.proxy}, "judge.proxy")["proxy"]

    def api_key(self) -> str:
        """Return the judge's key from the environment; never stored anywhere. Of a key that a command prints, nothing.

        Raises:
            ConfigError: the variable is not set.
        """
        name = self.judge.api_key_env
        if not name or self.judge.api_key_command is not None or self.judge.base_url == LOCAL:
            return "none"  # the client insists on some text; servers without keys ignore it
        key = os.environ.get(name, "").strip()
        if not key:
            # what is not spelled like a variable may well be the key itself
            shown = name if re.fullmatch(r"[A-Z][A-Z0-9_]{0,63}", name) else "named by judge.api_key_env"
            raise ConfigError(
                f"the environment variable {shown} is not set; put the judge's key there, or set judge.api_key_env"
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
    if "folder" in values:
        raise ConfigError(f"{name}: unknown key 'folder'; relative paths start at the configuration's own folder")
    try:
        return Config.model_validate({**values, "folder": folder})
    except ValidationError as error:
        lines = [explain_fault(fault, Config) for fault in error.errors()]
        raise ConfigError(f"{name}: " + "; ".join(lines)) from error


def _filled(values: Mapping[str, str], key: str) -> dict[str, str]:
    def replace(found: re.Match[str]) -> str:
        value = os.environ.get(found[1], "")
        if not value:
            raise ConfigError(f"{key} refers to the environment variable {found[1]}, which is not set; set it")
        return value

    return {name: _REFERENCE.sub(replace, value) for name, value in values.items()}
