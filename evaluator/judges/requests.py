"""The body of a request, and how it changes when a server refuses a part of it. Pure.

A refused temperature or seed is left out, and so are log-probabilities; ``max_tokens`` takes its newer name, a schema
falls to JSON mode and that to plain text. Nothing else is ever changed, and every change stands in the instrument of
the scores that follow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from evaluator.judges.prompts import reply_keys
from evaluator.judges.settings import JudgeSettings, LimitName
from evaluator.records import Instrument

SentMode = Literal["schema", "json", "text"]

TOP_LOGPROBS = 20  # the most that servers give

_LIST_OF_TEXTS = {"type": "array", "items": {"type": "string"}}
_FIELD_TYPES: dict[str, dict[str, Any]] = {
    "reasoning": {"type": "string"},
    "strengths": _LIST_OF_TEXTS,
    "weaknesses": _LIST_OF_TEXTS,
}
_FALL_BACK: dict[SentMode, SentMode] = {"schema": "json", "json": "text"}

_REFUSING = re.compile(
    r"support|unavailable|not available|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|deprecated"
    r"|extra|must be|invalid|only|instead|\buse\b",
    re.IGNORECASE,
)
_FORMAT_WORDS = re.compile(r"response_format|json_schema|json_object|json mode|structured output", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class RequestPlan:
    """Everything of a request but the messages. Two plans are equal when they send the same."""

    settings: JudgeSettings
    mode: SentMode
    dropped: frozenset[str] = frozenset()
    limit_name: LimitName = "max_tokens"

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The parameters that are sent, as the instrument records them."""
        wanted = {"temperature": self.settings.temperature, "seed": self.settings.seed}
        sent: dict[str, Any] = {
            name: value for name, value in wanted.items() if value is not None and name not in self.dropped
        }
        sent[self.limit_name] = self.settings.max_tokens
        if self.settings.logprobs and "logprobs" not in self.dropped:
            sent |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
        return {**sent, **self.settings.extra_body}

    @cached_property
    def _fixed_body(self) -> dict[str, Any]:
        body = {"model": self.settings.model, **self.parameters}
        if "response_format" in self.settings.extra_body:
            return body
        if self.mode == "schema":
            body["response_format"] = reply_schema(self.settings)
        elif self.mode == "json":
            body["response_format"] = {"type": "json_object"}
        return body

    def instrument(self, resolved_model: str | None, fingerprint: str | None) -> Instrument:
        """Return what answered. A doubled output limit is no other instrument: it is the same question once more."""
        return Instrument(
            resolved_model=resolved_model, fingerprint=fingerprint, output_mode=self.mode, parameters=self.parameters
        )

    def body(self, messages: Sequence[dict[str, str]], *, output_factor: int = 1) -> dict[str, Any]:
        """Return the body of one request; ``output_factor`` multiplies the output limit."""
        return {
            **self._fixed_body,
            "messages": messages,
            self.limit_name: self.settings.max_tokens * output_factor,
        }


def first_plan(settings: JudgeSettings) -> RequestPlan:
    """Return the request as it was asked for, before any server had a say.

    ``auto`` asks for a schema only where the template names the score's key: a prompt of one's own that wants
    ``Rating: [[4]]`` must get that.
    """
    limit_name = settings.output_limit
    if settings.output_mode != "auto":
        return RequestPlan(settings=settings, mode=settings.output_mode, limit_name=limit_name)
    names_keys = settings.score_pattern is None and bool(
        reply_keys(settings.prompt_template, score_field=settings.score_field)
    )
    return RequestPlan(settings=settings, mode="schema" if names_keys else "text", limit_name=limit_name)


def encode_body(body: Mapping[str, Any]) -> bytes:
    """Return a request's body as the bytes that are sent."""
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")


def reply_schema(settings: JudgeSettings) -> dict[str, Any]:
    """Return the strict JSON schema of a verdict, its keys in the order of the template.

    The score has no bounds in it: servers differ in which keywords they take, and the parser checks the scale anyway.
    """
    keys = reply_keys(settings.prompt_template, score_field=settings.score_field) or (settings.score_field,)
    schema = {
        "type": "object",
        "properties": {key: _FIELD_TYPES.get(key, {"type": "number"}) for key in keys},
        "required": list(keys),
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": schema}}


def adjust_plan(plan: RequestPlan, *, message: str, param: str | None) -> RequestPlan | None:
    """Return the plan that a refusal (400 or 422) asks for; None when it is about something else.

    Args:
        plan: What was sent.
        message: The server's text, with the error code.
        param: The parameter the server names, if it names one; then nothing else is tried.
    """
    if param is None and not _REFUSING.search(message):
        return None
    named = message if param is None else param
    if _FORMAT_WORDS.search(named):
        following = _FALL_BACK.get(plan.mode)
        is_free = plan.settings.output_mode == "auto" and following is not None
        return replace(plan, mode=following) if is_free and following is not None else None
    for name in ("temperature", "seed"):
        if _names(name, named) and name in plan.parameters:
            return replace(plan, dropped=plan.dropped | {name})
    if (_names("logprobs", named) or _names("top_logprobs", named)) and "logprobs" in plan.parameters:
        return replace(plan, dropped=plan.dropped | {"logprobs"})
    if _names("max_tokens", named) and plan.limit_name == "max_tokens" and _wants_new_name(message):
        return replace(plan, limit_name="max_completion_tokens")
    return None


def _names(parameter: str, text: str) -> bool:
    return re.search(rf"\b{parameter}\b", text) is not None


def _wants_new_name(message: str) -> bool:
    """A limit that is refused for its size must not be renamed."""
    return "max_completion_tokens" in message or re.search("unsupported|unknown|unrecogni", message, re.I) is not None
