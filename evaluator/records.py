"""The words of the project as frozen records: what is graded, by what ruler, with what outcome.

Nothing here reads a file, a clock, a database or the network.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

# built once: json.dumps with options builds an encoder a call
_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def content_hash(*parts: object) -> str:
    """Hash of any JSON-like parts, 32 hex digits; equal parts give equal hashes on every machine."""
    return hashlib.sha256(_CANONICAL.encode(parts).encode("ascii")).hexdigest()[:32]


class Source(StrEnum):
    """Where an item comes from; the two never share a mean."""

    ANCHOR = "anchor"
    TRAFFIC = "traffic"


class Purpose(StrEnum):
    """What a run is for. Only scheduled and imported ones enter means, rollups and analyses."""

    SCHEDULED = "scheduled"
    IMPORTED = "imported"  # scores that someone else's pipeline gave; no call was made
    RECHECK = "recheck"  # stored scores of one's own judge, graded again
    PICK = "pick"  # candidates for anchors, graded afresh

    @property
    def is_aside(self) -> bool:
        """Whether its verdicts stand aside: under the run's slot, out of every mean."""
        return self in (Purpose.RECHECK, Purpose.PICK)


class UnscoredReason(StrEnum):
    """Why a verdict has no score."""

    # the reply could not be read
    EMPTY = "empty"
    MISSING = "missing"
    WRONG_TYPE = "wrong_type"
    NOT_FINITE = "not_finite"
    NOT_A_NUMBER = "not_a_number"
    OUT_OF_RANGE = "out_of_range"
    FOREIGN_SCALE = "foreign_scale"
    AMBIGUOUS = "ambiguous"
    UNPARSED = "unparsed"
    TRUNCATED = "truncated"
    # the judge declined
    REFUSAL = "refusal"
    CONTENT_FILTER = "content_filter"
    # the call failed
    EMPTY_CHOICES = "empty_choices"
    NOT_AN_API_REPLY = "not_an_api_reply"
    PROVIDER_ERROR = "provider_error"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    INVALID_REQUEST = "invalid_request"
    TOO_LONG = "too_long"
    # nothing to grade
    NO_ANSWER_TEXT = "no_answer_text"

    @property
    def is_transient(self) -> bool:
        """Whether grading the same item again in a later run can help."""
        return self in _TRANSIENT


_TRANSIENT = frozenset(
    {
        UnscoredReason.EMPTY_CHOICES,
        UnscoredReason.NOT_AN_API_REPLY,
        UnscoredReason.PROVIDER_ERROR,
        UnscoredReason.RATE_LIMITED,
        UnscoredReason.SERVER_ERROR,
        UnscoredReason.TIMEOUT,
        UnscoredReason.CONNECTION,
        UnscoredReason.EMPTY,
        UnscoredReason.UNPARSED,
        UnscoredReason.TRUNCATED,
    }
)


class StopReason(StrEnum):
    """Why a run ended before all of its items were tried."""

    AUTH = "auth"
    QUOTA = "quota"
    MODEL_NOT_FOUND = "model_not_found"
    NOT_AN_API = "not_an_api"
    RATE_LIMITED = "rate_limited"
    BUDGET = "budget"
    INTERRUPTED = "interrupted"
    UNREACHABLE = "unreachable"
    UNREADABLE = "unreadable"


class ItemFlag(StrEnum):
    """What the import had to say about an item's text or time."""

    ALTERED_TEXT = "altered_text"
    NAIVE_TIME = "naive_time"
    NO_TIME = "no_time"
    GIVEN_TIME = "given_time"
    TOOL_CALL = "tool_call"
    EMPTY_INPUT = "empty_input"
    EMPTY_OUTPUT = "empty_output"
    TEXT_NOT_KEPT = "text_not_kept"  # taken out after grading, or deleted
    FROM_SCORES = "from_scores"  # known from a stored score only; traffic that comes later completes it
    COMPLETED = "completed"  # came with a score first, and then with its traffic


@dataclass(frozen=True, kw_only=True)
class Item:
    """One input with the answer to be graded.

    ``answered_utc`` is ISO-8601 with a trailing Z, or None when the time is unknown. ``tags`` are the segment keys.
    ``external_id`` is the id in the user's own system, None when there was none.
    """

    input: str
    output: str
    reference: str | None = None
    contexts: tuple[str, ...] = ()
    external_id: str | None = None
    conversation_id: str | None = None
    user_id: str | None = None
    answered_utc: str | None = None
    model: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    flags: frozenset[ItemFlag] = frozenset()

    @property
    def content_id(self) -> str:
        """Hash of the texts alone: equal for duplicates, whoever sent them."""
        return content_hash(self.input, self.output, self.reference, list(self.contexts))


@dataclass(frozen=True, kw_only=True)
class Anchor:
    """A fixed item that is graded again in every run, with a person's score where there is one."""

    anchor_id: str
    item: Item
    expected_score: float | None
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class RubricLevel:
    """One level of the scale: its score, its name, and what an answer of this level is like."""

    score: float
    name: str
    description: str


@dataclass(frozen=True, kw_only=True)
class Rubric:
    """Text and scale that define a grade. Its id is the hash of all of it."""

    name: str
    criterion: str
    question: str
    scale_min: float
    scale_max: float
    levels: tuple[RubricLevel, ...]
    aspects: tuple[tuple[str, str], ...] = ()

    @property
    def rubric_id(self) -> str:
        """Hash of the content: an edited rubric is another rubric."""
        return content_hash(self.as_dict())

    def as_dict(self) -> dict[str, Any]:
        """Return the rubric as plain JSON, the form it is stored and hashed in."""
        return {
            "name": self.name,
            "criterion": self.criterion,
            "question": self.question,
            "scale": {"min": self.scale_min, "max": self.scale_max},
            "levels": [{"score": lv.score, "name": lv.name, "description": lv.description} for lv in self.levels],
            "aspects": [{"name": name, "description": text} for name, text in self.aspects],
        }


@dataclass(frozen=True, kw_only=True)
class Ruler:
    """What was asked for: the identity of a score. Nothing that merely answered is part of it."""

    model_asked: str
    rubric: Rubric
    prompt_template: str
    parameters: Mapping[str, Any]
    output_mode: str

    @property
    def ruler_id(self) -> str:
        """Hash of model asked, rubric, prompt template, requested parameters and output mode."""
        return content_hash(
            self.model_asked, self.rubric.as_dict(), self.prompt_template, dict(self.parameters), self.output_mode
        )


@dataclass(frozen=True, kw_only=True)
class Instrument:
    """What answered: a change of it is an event on the chart, never a new ruler."""

    resolved_model: str | None
    fingerprint: str | None
    output_mode: str
    parameters: Mapping[str, Any]

    @property
    def instrument_id(self) -> str:
        """Hash of everything that answered."""
        return content_hash(self.resolved_model, self.fingerprint, self.output_mode, dict(self.parameters))


@dataclass(frozen=True, kw_only=True)
class ParsedVerdict:
    """What a reply says: a score, or a reason why there is none. Exactly one of the two is set.

    ``thinking`` is what a reasoning judge wrote before its verdict; it is never shown as the explanation.
    """

    score: float | None
    unscored_reason: UnscoredReason | None
    explanation: str = ""
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    thinking: str = ""
    detail: str = ""

    def __post_init__(self) -> None:
        if (self.score is None) == (self.unscored_reason is None):
            raise ValueError("a verdict has a score or a reason, never both and never neither")


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One HTTP call to the judge, successful or not. ``reason`` is None when the reply was usable."""

    started_utc: str
    duration_ms: float
    http_status: int | None
    reason: str | None
    message: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float = 0.0
    completion_id: str | None = None
    completion_created: int | None = None  # Unix seconds, as the server says


@dataclass(frozen=True, kw_only=True)
class GradeOutcome:
    """Everything that came of grading one item.

    ``verdict`` is None when the item is left pending for the next run; ``stop`` says that the run should end,
    ``stop_message`` what to tell the user. ``attempts`` holds every call, in order.
    """

    verdict: ParsedVerdict | None
    attempts: tuple[Attempt, ...]
    instrument: Instrument | None = None
    raw_reply: str = ""
    finish_reason: str | None = None
    prompt_cut: bool = False
    logprob_score: float | None = None  # expected score under the token probabilities, where the server gives them
    stop: StopReason | None = None
    stop_message: str = ""
