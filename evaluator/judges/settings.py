"""What an OpenAI-compatible judge is told once: whom to ask, how, how patiently, and what it costs.

Checked when it is made, before any money is spent. Where the values come from is the configuration's business.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evaluator.errors import ConfigError
from evaluator.judges.prompts import MAX_PART_CHARS, PROMPT_TEMPLATE
from evaluator.records import Rubric, Ruler

OutputMode = Literal["auto", "schema", "json", "text"]
LimitName = Literal["max_tokens", "max_completion_tokens"]
FILLED_IN = frozenset({"model", "messages", "stream"})  # keys of a request that nobody else may set

# a server may refuse temperature, seed, log-probabilities, the old name of the output limit, the schema and JSON mode
MAX_ADJUSTMENTS = 6
PROBE_WAIT_S = 2.0
KEY_WAIT_S = 30.0  # that a command takes at most to give a key
BACKOFF_FIRST_S = 1.0
BACKOFF_CAP_S = 30.0
SPREAD_CAP_S = 1.0


@dataclass(frozen=True, kw_only=True)
class Price:
    """US dollars per million tokens."""

    input_usd_per_mtok: float
    output_usd_per_mtok: float

    def __post_init__(self) -> None:
        if not (0 <= self.input_usd_per_mtok < 1e6 and 0 <= self.output_usd_per_mtok < 1e6):
            raise ConfigError(f"{self} is no price; give dollars per million tokens, 0 or more")

    def cost_usd(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return what a call with these tokens costs."""
        return (prompt_tokens * self.input_usd_per_mtok + completion_tokens * self.output_usd_per_mtok) / 1e6


@dataclass(frozen=True, kw_only=True)
class AzureDeployment:
    """A deployment in Azure: its name and the version of the API it is asked in."""

    name: str
    api_version: str


@dataclass(frozen=True, kw_only=True)
class JudgeSettings:
    """All that ``OpenAICompatibleJudge`` needs.

    Attributes:
        model: Name asked for.
        base_url: Address up to the version path, like ``https://host/v1``; of Azure the resource's own.
        api_key: The key, or a coroutine function that returns one, for keys that expire; empty where none is needed.
            A ``keys.CommandKey`` is asked for another one when the server refuses the one it gave.
        rubric: The scale and its words.
        temperature, seed: Sent as they are; None leaves the parameter out.
        max_tokens: Most tokens of one reply; a reply cut off there is asked for once more with the double.
        timeout_s: Most seconds one call may take, from the start to the last byte.
        max_attempts: Most calls for one item that fail or cannot be read; refused parameters are not counted.
        max_wait_s: Longest wait a server may ask for; a longer one leaves the item pending and stops the run.
        output_mode: ``auto`` asks for a schema and falls to JSON mode and to text; a named mode is never left.
        price: None when unknown; then every cost is 0 and the budget has to count calls.
        default_headers, default_query: Sent with every call.
        max_prompt_chars: Longest text of one part of an item.
        too_long: What becomes of an item with a longer part: no score and no call, or its middle is left out.
        fence_secret: Local secret behind the markers around graded text; None for a template with its own marks.
        max_connections: Most connections at once; not less than the calls in flight.
        prompt_template: See ``prompts``.
        verbatim: Whether the template is sent as it is, see ``templates``.
        score_field: Key of the score in the reply, or the path to it.
        score_pattern: A regular expression with one group, the score; then no key is looked for.
        output_limit: The name under which the output limit is asked for at first.
        extra_body: Sent along in every request as it is.
        logprobs: Whether to ask for log-probabilities, from which the expected score is told.
        azure: Where the judge is a deployment in Azure.
        proxy: Address of a proxy; None for what the environment says.
        ca_file: File with certificates to trust beside those of the system.

    Raises:
        ConfigError: a value that cannot be used.
    """

    model: str
    base_url: str
    api_key: str | Callable[[], Awaitable[str]] = field(repr=False)
    rubric: Rubric = field(repr=False)
    fence_secret: str | None = field(repr=False)
    temperature: float | None = 0.0
    seed: int | None = 7
    max_tokens: int = 700
    timeout_s: float = 60.0
    max_attempts: int = 4
    max_wait_s: float = 60.0
    output_mode: OutputMode = "auto"
    price: Price | None = None
    default_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    default_query: Mapping[str, str] = field(default_factory=dict, repr=False)
    max_prompt_chars: int = MAX_PART_CHARS
    max_connections: int = 100
    prompt_template: str = field(default=PROMPT_TEMPLATE, repr=False)
    score_field: str = "score"
    too_long: Literal["unscored", "cut"] = "unscored"
    verbatim: bool = False
    score_pattern: str | None = None
    output_limit: LimitName = "max_tokens"
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    logprobs: bool = False
    azure: AzureDeployment | None = None
    proxy: str | None = field(default=None, repr=False)
    ca_file: str | None = None

    def __post_init__(self) -> None:
        checks = {
            "model": bool(self.model.strip()),
            "api_key": callable(self.api_key) or _fits_a_header(self.api_key),
            "base_url": self.base_url.startswith(("http://", "https://")),
            "temperature": self.temperature is None or 0 <= self.temperature <= 2,
            "max_tokens": self.max_tokens >= 1,
            "timeout_s": 0 < self.timeout_s < float("inf"),
            "max_attempts": self.max_attempts >= 1,
            "max_wait_s": 0 <= self.max_wait_s < float("inf"),
            "output_mode": self.output_mode in ("auto", "schema", "json", "text"),
            "max_prompt_chars": self.max_prompt_chars >= 1,
            "max_connections": self.max_connections >= 1,
            "score_field": bool(self.score_field.strip()),
            "extra_body": not FILLED_IN & set(self.extra_body),
        }
        for name, is_good in checks.items():
            if not is_good:
                value = (
                    "(hidden; it holds a blank or a character that no header carries)" if name == "api_key" else None
                )
                raise ConfigError(f"{name} = {value or repr(getattr(self, name))} cannot be used by a judge")

    @property
    def max_seconds_per_item(self) -> float:
        """The longest that grading one item can take, apart from waiting for the gate.

        Every call the item may make, each at its time-out, and the longest pause between two of them; for a key that
        has to be fetched, one refusal and two waits.
        """
        is_fetched = callable(self.api_key)
        n_calls = self.max_attempts + MAX_ADJUSTMENTS + is_fetched
        pause_s = max(self.max_wait_s + SPREAD_CAP_S, BACKOFF_CAP_S)
        key_s = 2 * KEY_WAIT_S if is_fetched else 0.0
        return PROBE_WAIT_S + key_s + n_calls * self.timeout_s + (self.max_attempts - 1) * pause_s

    @property
    def ruler(self) -> Ruler:
        """What is asked for: the identity of every score that comes of it."""
        parameters: dict[str, Any] = {self.output_limit: self.max_tokens}
        if self.temperature is not None:
            parameters["temperature"] = self.temperature
        if self.seed is not None:
            parameters["seed"] = self.seed
        if self.score_field != "score":
            parameters["score_field"] = self.score_field
        # what was not asked for leaves no trace, so that a judge setup keeps its identity when settings are added
        asked = {
            "score_pattern": self.score_pattern,
            "verbatim": self.verbatim,
            "extra_body": dict(self.extra_body),
            "logprobs": self.logprobs,
        }
        parameters |= {name: value for name, value in asked.items() if value}
        return Ruler(
            model_asked=self.model,
            rubric=self.rubric,
            prompt_template=self.prompt_template,
            parameters=parameters,
            output_mode=self.output_mode,
        )


def _fits_a_header(key: str) -> bool:
    return key.isascii() and key.isprintable() and " " not in key
