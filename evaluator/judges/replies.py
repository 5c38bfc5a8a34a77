"""Reads the body of an answer with status 200: the reply inside, or the fault it hides. Pure.

The body is read as plain JSON and every step is looked at before it is taken: compatible servers send errors, empty
lists, nulls, lists of parts and web pages under status 200.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from evaluator.judges.faults import Fault, error_of_value, excerpt, fault_of_page, fault_of_status, transient
from evaluator.judges.parse import safe_text
from evaluator.records import UnscoredReason


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a server sent. ``content`` is None when it sent no text; ``fault`` is set when there is no reply to read."""

    content: str | None = None
    finish_reason: str | None = None
    refusal: str | None = None
    thinking: str | None = None
    model: str | None = None
    fingerprint: str | None = None
    completion_id: str | None = None
    created: int | None = None  # Unix seconds
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    logprobs: object = None  # the list of the content's tokens, as it came
    fault: Fault | None = None


def read_reply(text: str, *, content_type: str, model: str, base_url: str) -> Reply:
    """Read a body.

    Args:
        text: The body.
        content_type: Of the answer; ``text/html`` is a page whatever the body holds.
        model: Model asked for, to be named in messages.
        base_url: Address, to be named in messages.
    """
    if content_type.startswith("text/html") or text[:200].lstrip().lower().startswith(("<!doctype", "<html")):
        return Reply(fault=fault_of_page(text, base_url=base_url))
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        return Reply(fault=_odd(f"the body is no JSON object: {excerpt(text, 80)}"))
    if body.get("error"):
        return Reply(fault=_hidden_error(body["error"], model=model, base_url=base_url), **_facts(body))
    if "choices" not in body:
        return Reply(fault=_odd(f"the body has no choices: {excerpt(text, 80)}"), **_facts(body))
    return _read_choices(body, model=model, base_url=base_url)


def _read_choices(body: dict[str, Any], *, model: str, base_url: str) -> Reply:
    choices = body["choices"]
    if not isinstance(choices, list) or not choices:
        return Reply(fault=transient(UnscoredReason.EMPTY_CHOICES, "the reply has no choices"), **_facts(body))
    choice = choices[0]
    if not isinstance(choice, dict):
        return Reply(fault=_odd("the first choice is no object"), **_facts(body))
    if choice.get("error"):
        return Reply(fault=_hidden_error(choice["error"], model=model, base_url=base_url), **_facts(body))
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    content, thinking, refusal = _read_content(message.get("content"))
    stated = _text(message.get("reasoning_content")) or _text(message.get("reasoning"))
    return Reply(
        content=content,
        finish_reason=_text(choice.get("finish_reason")),
        refusal=_text(message.get("refusal")) or refusal,
        thinking=stated or thinking,
        logprobs=_tokens(choice.get("logprobs")),
        **_facts(body),
    )


def _read_content(content: object) -> tuple[str | None, str | None, str | None]:
    """Return text, thinking and refusal of a message's content, a text or a list of parts."""
    if isinstance(content, str):
        return safe_text(content), None, None
    if not isinstance(content, list):
        return None, None, None
    found: dict[str, list[str]] = {"text": [], "thinking": [], "refusal": []}
    for part in content:
        if not isinstance(part, dict):
            continue
        for kind, texts in found.items():
            value = part.get(kind)
            inner = value if isinstance(value, list) else [value]
            texts.extend(text for text in (_part_text(entry) for entry in inner) if text)
    text, thinking, refusal = (safe_text("".join(texts)) or None for texts in found.values())
    return text, thinking, refusal


def _tokens(logprobs: object) -> object:
    return logprobs.get("content") if isinstance(logprobs, dict) else None


def _part_text(entry: object) -> str | None:
    return _text(entry.get("text")) if isinstance(entry, dict) else _text(entry)


def _facts(body: dict[str, Any]) -> dict[str, Any]:
    """Return what a body says about itself: model, fingerprint, id, when it was made, tokens."""
    usage = body.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return {
        "model": _text(body.get("model")),
        "fingerprint": _text(body.get("system_fingerprint")),
        "completion_id": _text(body.get("id")),
        "created": _seconds(body.get("created")),
        "prompt_tokens": _count(usage.get("prompt_tokens")),
        "completion_tokens": _count(usage.get("completion_tokens")),
    }


def _hidden_error(value: Any, *, model: str, base_url: str) -> Fault:
    error = error_of_value(value)
    return fault_of_status(error.status or 0, error, model=model, base_url=base_url)


def _odd(message: str) -> Fault:
    return transient(UnscoredReason.NOT_AN_API_REPLY, message)


def _text(value: object) -> str | None:
    return safe_text(value) if isinstance(value, str) and value else None


def _seconds(value: object) -> int | None:
    """A point in time; some servers send it with a fraction."""
    return _count(int(value)) if isinstance(value, float) and math.isfinite(value) else _count(value)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None
