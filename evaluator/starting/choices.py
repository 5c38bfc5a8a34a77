"""The answers to the first questions, as they go into a configuration; whether they are good, that one says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.config import Config, parse_config

DEFAULT_URL = "https://api.openai.com/v1"
DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"
DEFAULT_ANSWERS_PER_DAY = 100
DEFAULT_CRON = "0 6 * * *"
DEFAULT_APP = "default"


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What a first configuration says. None leaves a setting out.

    Attributes:
        model: Name the server is asked for.
        base_url: Address of the server.
        api_key_env: Name of the variable with the key; "" for a server that needs none.
        prompt_file: The team's own prompt, relative to the configuration.
        scale: Lowest and highest score of that prompt.
        levels: Or the words that it asks for, each with its score.
        score_field: Key or path of the score in the reply that it asks for; None where that is ``score``.
        score_pattern: Or a regular expression with one group, the score.
        files: Glob of files with traffic, relative to the configuration.
        command: Command that prints traffic.
        answers_per_day: Answers graded of each day.
        cron: When runs are due.
        zone: Zone of the schedule and of all days.
        usd_per_day: Most that a day may cost.
        calls_per_day: Most calls of a day, where the price is not known.
        alert_url: Whom to tell.
        app: The product watched.
        price: Dollars per million tokens in and out, where the table does not know the model.
    """

    model: str
    base_url: str = DEFAULT_URL
    api_key_env: str = DEFAULT_KEY_VARIABLE
    prompt_file: str | None = None
    scale: tuple[float, float] | None = None
    levels: Mapping[str, float] | None = None
    score_field: str | None = None
    score_pattern: str | None = None
    files: str | None = None
    command: str | None = None
    answers_per_day: int = DEFAULT_ANSWERS_PER_DAY
    cron: str = DEFAULT_CRON
    zone: str = "UTC"
    usd_per_day: float | None = None
    calls_per_day: int | None = None
    alert_url: str | None = None
    app: str = DEFAULT_APP
    price: tuple[float, float] | None = None

    def sections(self) -> dict[str, dict[str, Any]]:
        """The settings by section and key, as they stand in a configuration."""
        found: dict[str, dict[str, Any]] = {
            "app": {"name": self.app},
            "judge": {
                "model": self.model,
                "base_url": self.base_url,
                "api_key_env": self.api_key_env,
                "prompt_file": self.prompt_file,
                "scale": None if self.scale is None else list(self.scale),
                "levels": None if self.levels is None else dict(self.levels),
                "score_field": self.score_field,
                "score_pattern": self.score_pattern,
            },
            "traffic": {"files": self.files, "command": self.command, "answers_per_day": self.answers_per_day},
            "schedule": {"cron": self.cron, "zone": self.zone},
            "budget": {"usd_per_day": self.usd_per_day, "calls_per_day": self.calls_per_day},
            "alerts": {"url": self.alert_url},
        }
        return {
            section: {key: value for key, value in keys.items() if value is not None} for section, keys in found.items()
        }

    def config(self, folder: Path) -> Config:
        """Return the configuration that these choices make.

        Raises:
            ConfigError: a value that cannot be used, or a pair that does not go together.
        """
        values: dict[str, Any] = dict(self.sections())
        if self.price is not None:
            values["prices"] = {self.model: price_section(self.price)}
        return parse_config(values, folder=folder, name="the new configuration")


def price_section(price: tuple[float, float]) -> dict[str, float]:
    """The keys of ``[prices."MODEL"]``."""
    return {"input_usd_per_million": price[0], "output_usd_per_million": price[1]}


def given_path(given: str) -> Path:
    """A path as it was given, ``~/`` being the home folder: where no shell was in between, nobody else says so."""
    return Path(given).expanduser() if given.startswith("~/") else Path(given)


def relative_to_config(given: str, folder: Path) -> str:
    """A path or glob that was given relative to the working folder, as the configuration has to name it.

    One outside the configuration's folder is named from there, with ``..``; an absolute one stays as it is.
    """
    if given_path(given).is_absolute():
        return str(given_path(given))
    path = Path.cwd() / given
    inside = os.path.relpath(path, folder.absolute())
    if not inside.startswith(".."):
        return Path(inside).as_posix()
    return Path(os.path.relpath(path, folder.resolve())).as_posix()  # ".." climbs from where a linked folder really is
