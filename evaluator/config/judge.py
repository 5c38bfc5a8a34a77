"""``[judge]``: who grades, and how it is asked. Here its keys fit together; files and keys are looked at when used."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from evaluator.config.base import VARIABLE, Command, Section

LOCAL = "local"  # judge.base_url of a judge that runs on this machine

_PYTHON_PLACE = re.compile(r"(?:python:)?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_PROXY = re.compile(r"(?:https?|socks5h?)://[^/]|\$\{" + VARIABLE + r"\}")
_OWN_KEYS = frozenset({"model", "messages", "stream"})
_HAS_A_SETTING = {
    "temperature": "temperature",
    "seed": "seed",
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens with output_limit = 'max_completion_tokens'",
    "logprobs": "logprobs",
    "top_logprobs": "logprobs",
}


def check_python_place(value: str | None) -> str | None:
    """Check the name of a function, ``package.module:function`` with or without ``python:`` before it."""
    if value is not None and not _PYTHON_PLACE.fullmatch(value):
        raise ValueError("write it as python:package.module:function")
    return value


class JudgeConfig(Section):
    """``[judge]``: who grades, and how it is asked."""

    model: str = Field(pattern=r"\S")
    base_url: str = "https://api.openai.com/v1"
    api_key_env: str = "OPENAI_API_KEY"
    api_key_command: Command | None = Field(default=None, repr=False)
    api_key_ttl_s: float = Field(default=600.0, gt=0, le=86_400)
    azure_deployment: str | None = None
    azure_api_version: str | None = None
    proxy: str | None = Field(default=None, repr=False)
    ca_file: str | None = Field(default=None, pattern=r"\S")
    gguf: str | None = Field(default=None, pattern=r"\S")
    function: str | None = None
    rubric: str = "general"
    prompt_file: str | None = Field(default=None, pattern=r"\S")
    score_field: str | None = Field(default=None, pattern=r"\S")
    score_pattern: str | None = None
    scale: tuple[float, float] | None = None
    levels: dict[str, float] | None = None
    criterion: str | None = Field(default=None, pattern=r"\S")
    # TOML has no word for "leave it out", so one is given
    temperature: float | Literal["unset"] | None = None
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
        if value == LOCAL:
            return value
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

    @field_validator("azure_deployment", "azure_api_version")
    @classmethod
    def _part_of_an_address(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(r"[\w.~-]+", value):
            raise ValueError("the bare name is needed, as it stands in the address of the deployment")
        return value

    @field_validator("proxy")
    @classmethod
    def _proxy_address(cls, value: str | None) -> str | None:
        if value is not None and not _PROXY.match(value):
            raise ValueError("an address like http://host:3128 or socks5://host:1080 is needed, or ${NAME}")
        return value

    @field_validator("function")
    @classmethod
    def _place_of_a_function(cls, value: str | None) -> str | None:
        return check_python_place(value)

    @field_validator("score_pattern")
    @classmethod
    def _one_group(cls, value: str | None) -> str | None:
        if value is None:
            return value
        import regex  # what replies are searched with

        try:
            n_groups = regex.compile(value).groups
        except regex.error as error:
            raise ValueError(f"not a regular expression ({error})") from error
        if n_groups != 1:
            raise ValueError(
                f"exactly one group is needed, around the score, like 'Score: ([0-9]+)'; this has {n_groups}"
            )
        return value

    @field_validator("temperature", mode="before")
    @classmethod
    def _number_or_unset(cls, value: object) -> object:
        if value is None or value == "unset":
            return value
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 2:
            return value
        raise ValueError("a number from 0 to 2 is needed, or 'unset' to leave it out of the request")

    @field_validator("seed", mode="before")
    @classmethod
    def _whole_number_or_unset(cls, value: object) -> object:
        if value is None or value == "unset" or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        raise ValueError("a whole number is needed, or 'unset' to leave it out of the request")

    @field_validator("scale", mode="before")
    @classmethod
    def _two_numbers(cls, value: object) -> object:
        if value is None:
            return value
        ends = list(value) if isinstance(value, list | tuple) else []
        if len(ends) != 2 or not all(_is_finite(end) for end in ends) or not ends[0] < ends[1]:
            raise ValueError("the lowest and the highest score are needed, like [1, 5]")
        return (float(ends[0]), float(ends[1]))

    @field_validator("levels", mode="before")
    @classmethod
    def _names_with_scores(cls, value: object) -> object:
        if value is None:
            return value
        if not isinstance(value, dict) or not all(_is_finite(score) for score in value.values()):
            raise ValueError("names with their scores are needed, like { fail = 0, pass = 1 }")
        names = {name.strip().casefold() for name in value}
        if len(value) < 2 or len(set(value.values())) < len(value) or len(names) < len(value) or "" in names:
            raise ValueError("two levels or more are needed, each with a name and a score of its own")
        for name, score in value.items():
            if _reads_as_another_number(name, score):
                raise ValueError(f"the name {name!r} reads as a number but stands for {score:g}; use a word")
        return {name.strip(): float(score) for name, score in value.items()}

    @field_validator("extra_body")
    @classmethod
    def _free_keys(cls, value: dict[str, Any]) -> dict[str, Any]:
        for key in value:
            if key in _OWN_KEYS:
                raise ValueError(f"{key!r} is filled in by judgewatch; leave it out")
            if key in _HAS_A_SETTING:
                raise ValueError(f"{key!r} has a setting of its own; use judge.{_HAS_A_SETTING[key]}")
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"only what JSON can say is sent ({error}); write dates as texts in quotes") from error
        return value

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        checks = (self._check_prompt, self._check_scale, self._check_score, self._check_address)
        for fault in (check() for check in checks):
            if fault is not None:
                raise ValueError(fault)
        return self

    @property
    def has_own_scale(self) -> bool:
        """Whether the scale is set here, and not by a rubric."""
        return self.scale is not None or self.levels is not None

    def _check_prompt(self) -> str | None:
        if self.prompt_file is not None and self.function is not None:
            return "judge.prompt_file and judge.function are both set; a function makes its own prompt, so drop one"
        if self.prompt_file is not None and not self.has_own_scale and "rubric" not in self.model_fields_set:
            return (
                "judge.prompt_file needs to know the scale its scores are on; set judge.scale = [1, 5],"
                " judge.levels = { fail = 0, pass = 1 } or judge.rubric"
            )
        if self.prompt_file is not None and self.too_long == "cut":
            return (
                "judge.too_long = 'cut' would change a prompt that judge.prompt_file promises to send as it is; leave"
                " it out"
            )
        if self.prompt_file is not None or self.function is not None:
            return None
        for name in ("scale", "levels", "criterion", "score_field", "score_pattern"):
            if getattr(self, name) is not None:
                return (
                    f"judge.{name} is for a prompt or function of your own; the shipped prompt is built from"
                    " judge.rubric, so set judge.prompt_file too, or write a rubric file"
                )
        return None

    def _check_scale(self) -> str | None:
        for name in ("scale", "levels", "criterion"):
            if getattr(self, name) is not None and "rubric" in self.model_fields_set:
                return f"judge.rubric = {self.rubric!r} brings its own scale; drop it or judge.{name}"
        if self.criterion is not None and not self.has_own_scale:
            return "judge.criterion names what judge.scale or judge.levels grades; set one of them too"
        for name, score in (self.levels or {}).items():
            if self.scale is not None and not self.scale[0] <= score <= self.scale[1]:
                low, high = self.scale
                return f"judge.levels.{name} = {score:g} is off judge.scale = [{low:g}, {high:g}]; widen the scale"
        return None

    def _check_score(self) -> str | None:
        if self.score_field is not None and self.score_pattern is not None:
            return "judge.score_field and judge.score_pattern are both set; keep the one that finds the score"
        is_path = self.score_field is not None and re.search(r"[.\[]", self.score_field) is not None
        if self.output_mode == "schema" and (is_path or self.score_pattern is not None):
            name = "score_field" if is_path else "score_pattern"
            return f"judge.output_mode = 'schema' asks for a plain key, so judge.{name} would find nothing; use 'json'"
        return None

    def _check_address(self) -> str | None:
        if (self.azure_deployment is None) != (self.azure_api_version is None):
            missing = "azure_api_version" if self.azure_api_version is None else "azure_deployment"
            return f"judge.azure_deployment and judge.azure_api_version go together; set judge.{missing} too"
        if self.azure_deployment is not None and ("base_url" not in self.model_fields_set or self.base_url == LOCAL):
            return "judge.azure_deployment needs judge.base_url = 'https://NAME.openai.azure.com'"
        if self.azure_deployment is not None and "/openai" in self.base_url.split("//", 1)[1]:
            return (
                "judge.base_url has to end before /openai where judge.azure_deployment is set; an address that ends in"
                " /openai/v1 works without judge.azure_deployment and judge.azure_api_version"
            )
        if self.gguf is not None and self.base_url != LOCAL:
            return "judge.gguf is a file for judge.base_url = 'local'; set that too, or drop judge.gguf"
        if self.api_key_command is not None and self.api_key_env and "api_key_env" in self.model_fields_set:
            return "judge.api_key_command and judge.api_key_env are both set; keep the one that gives the key"
        return None


def _is_finite(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _reads_as_another_number(name: str, score: float) -> bool:
    try:
        return float(name) != score
    except ValueError:
        return False
