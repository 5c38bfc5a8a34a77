"""What an unusable answer of a server means: try again, leave the item, or stop the run. Pure.

Retried are only time-outs, lost connections, 429, 5xx and odd bodies; what cannot heal by waiting ends at once.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from evaluator.records import StopReason, UnscoredReason

_MESSAGE_CHARS = 300
_QUOTA_WORDS = frozenset({"insufficient_quota", "billing_hard_limit_reached", "insufficient_balance"})
_MODEL_WORDS = frozenset({"model_not_found", "model_decommissioned", "deploymentnotfound", "invalid_model"})
_LENGTH_WORDS = frozenset({"context_length_exceeded", "exceed_context_size_error", "request_too_large"})
_FILTER_WORDS = frozenset(
    {"content_filter", "content_policy_violation", "data_inspection_failed", "moderation_blocked"}
)
_RATE_WORDS = frozenset({"rate_limit_exceeded", "rate_limit_error", "too_many_requests"})
_TOO_LONG = re.compile(
    r"context (?:length|window|size)|prompt is too long|input (?:is too long|length)|too many tokens", re.IGNORECASE
)
_FLAGGED = re.compile(r"\bflagged\b|\bmoderation\b", re.IGNORECASE)
_MARKUP = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>|<[^>]*>", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class ErrorBody:
    """What the body of an error says. ``is_api`` tells an API's own error from a page or an unknown address."""

    message: str
    words: frozenset[str] = frozenset()
    param: str | None = None
    status: int | None = None
    is_api: bool = False


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Why a call gave no reply, and what to do about it.

    ``reason`` names it in the attempt. ``unscored`` is the verdict when no retry is left; None leaves the item pending.
    ``wait_s`` is the wait that the server asks for. ``may_cost``: the call may be paid for although no answer came.
    """

    reason: str
    message: str
    unscored: UnscoredReason | None
    can_retry: bool = False
    stop: StopReason | None = None
    wait_s: float | None = None
    may_cost: bool = False
    error: ErrorBody | None = None


def transient(reason: UnscoredReason, message: str, *, wait_s: float | None = None, may_cost: bool = False) -> Fault:
    """Return a fault that waiting may heal."""
    return Fault(
        reason=reason.value, message=message, unscored=reason, can_retry=True, wait_s=wait_s, may_cost=may_cost
    )


def fault_of_status(status: int, error: ErrorBody, *, model: str, base_url: str, wait_s: float | None = None) -> Fault:
    """Return what an HTTP status with its error body means.

    Args:
        status: 3xx to 5xx, or what an error inside a 200 names as its code; 0 when it names none.
        error: The body, from ``read_error``.
        model: Model asked for, to be named in the message.
        base_url: Address, to be named in the message.
        wait_s: The wait that the server asks for, from ``server_wait``.
    """
    fault = _lasting_fault(status, error, model=model, base_url=base_url)
    if fault is not None:
        return fault
    if status == 429 or error.words & _RATE_WORDS:
        return transient(UnscoredReason.RATE_LIMITED, error.message, wait_s=wait_s)
    if status == 408:
        return transient(UnscoredReason.TIMEOUT, error.message)
    if status >= 500 or status in (409, 425):
        return transient(UnscoredReason.SERVER_ERROR, error.message, wait_s=wait_s)
    if status == 0:
        return transient(UnscoredReason.PROVIDER_ERROR, error.message)
    if error.words & _LENGTH_WORDS or status == 413 or _TOO_LONG.search(error.message):
        return _final(UnscoredReason.TOO_LONG, error)
    return _final(UnscoredReason.INVALID_REQUEST, error)


def _lasting_fault(status: int, error: ErrorBody, *, model: str, base_url: str) -> Fault | None:
    """Return the fault of a judge that can answer no item, or of an item that was filtered."""
    said = error.message or f"HTTP {status}"
    is_filtered = error.words & _FILTER_WORDS or (status == 403 and _FLAGGED.search(error.message))
    if is_filtered and status < 500:
        return _final(UnscoredReason.CONTENT_FILTER, error)
    if error.words & _QUOTA_WORDS or status == 402:
        return _stop(StopReason.QUOTA, f"the judge's account has no quota left ({said}); raise its limit", error)
    if status in (401, 403):
        return _stop(StopReason.AUTH, f"{base_url} refuses the judge's key ({said}); set a valid key", error)
    if error.words & _MODEL_WORDS or (status == 404 and (error.is_api or not error.message)):
        return _stop(
            StopReason.MODEL_NOT_FOUND,
            f"{base_url} does not offer the model {model!r} ({said}); check judge.model, and that judge.base_url is"
            " complete, often with /v1 at its end",
            error,
        )
    if 300 <= status < 400 or status in (404, 405):
        return _stop(StopReason.NOT_AN_API, _address_hint(base_url, said), error)
    return None


def fault_of_page(text: str, *, base_url: str) -> Fault:
    """Return the fault of a web page that came with status 200: the address is not an API's."""
    hint = _address_hint(base_url, f"a web page: {excerpt(_MARKUP.sub(' ', text), 80)}")
    return Fault(
        reason=UnscoredReason.NOT_AN_API_REPLY.value,
        message=hint,
        unscored=UnscoredReason.NOT_AN_API_REPLY,
        stop=StopReason.NOT_AN_API,
    )


def _address_hint(base_url: str, said: str) -> str:
    return f"{base_url} does not answer like a chat API ({said}); check judge.base_url, it often ends in /v1"


def _stop(stop: StopReason, message: str, error: ErrorBody) -> Fault:
    return Fault(reason=stop.value, message=message, unscored=None, stop=stop, error=error)


def _final(reason: UnscoredReason, error: ErrorBody) -> Fault:
    return Fault(reason=reason.value, message=error.message, unscored=reason, error=error)


def read_error(text: str) -> ErrorBody:
    """Read the body of an error, in any of the shapes that compatible servers use."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return ErrorBody(message=excerpt(_MARKUP.sub(" ", text)))
    if not isinstance(body, dict):
        return ErrorBody(message=excerpt(text))
    if "error" in body:
        return error_of_value(body["error"])
    if isinstance(body.get("message"), str):
        return error_of_value(body)
    return ErrorBody(message=excerpt(text))


def error_of_value(value: Any) -> ErrorBody:
    """Read the value of an ``error`` key: an object with message, code, type and param, or a text."""
    if not isinstance(value, dict):
        return ErrorBody(message=excerpt(str(value)), is_api=True)
    code = value.get("code")
    words = frozenset(str(word).strip().casefold() for word in (code, value.get("type")) if word is not None)
    param = value.get("param")
    message = str(value.get("message") or "").strip()
    if isinstance(code, str) and not code.isdigit():
        # without a mark between them the two read as one sentence
        message = f"{message.rstrip('.:')}: {code}" if message else code
    return ErrorBody(
        message=excerpt(message),
        words=words,
        param=param if isinstance(param, str) and param else None,
        status=_status_of(code),
        is_api=True,
    )


def _status_of(code: object) -> int | None:
    text = str(code)
    return int(text) if re.fullmatch(r"[345]\d\d", text, re.ASCII) else None


def server_wait(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Return the seconds a server asks to wait, 0 or more; None when it asks for nothing readable.

    Source: RFC 9110, 10.2.3 (seconds or a date); ``retry-after-ms`` is a custom of some providers.
    """
    for name, unit_s in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit_s
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    until = until if until.tzinfo is not None else until.replace(tzinfo=UTC)
    return max((until - now).total_seconds(), 0.0)


def excerpt(text: str, n_chars: int = _MESSAGE_CHARS) -> str:
    """Return the start of a text on one line."""
    return " ".join(text[: 4 * n_chars].split())[:n_chars]
