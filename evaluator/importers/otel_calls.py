"""One span of a model call as the fields of a row, after the conventions that instrumentations follow.

Texts are looked for where the newest convention puts them first. Attributes of an application's own become tags; those
of the conventions, which tell of tokens, servers and settings, do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluator.importers.otel_attributes import first_of, from_json, numbered, read_attributes, unwrap_all

_CALLS = frozenset({"chat", "text_completion", "generate_content", "completion"})
_KIND = "openinference.span.kind"
_OPERATION = ("gen_ai.operation.name", "llm.request.type")
_CONVERSATION = (
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
)
_USER = ("user.id", "enduser.id", "langfuse.user.id", "traceloop.association.properties.user_id")
_MODEL = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
_PROVIDER = ("gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system")
_RESOURCE_TAGS = ("service.name", "service.version", "deployment.environment.name", "deployment.environment")
_OWN_FIELDS = ("id", "input", "output", "answered_at", "conversation_id", "user_id", "model")
_CONVENTIONS = (
    "gen_ai.", "llm.", "input.", "output.", "openinference.", "openai.", "traceloop.", "langfuse.", "session.", "user.",
    "enduser.", "http.", "url.", "net.", "network.", "server.", "client.", "rpc.", "db.", "code.", "thread.",
    "telemetry.", "otel.", "error.", "exception.", "process.", "embedding.", "retrieval.", "reranker.", "tool.",
    "annotations.", "metadata.", "image.", "audio.",
)  # fmt: skip
_EVENT_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_EVENT_ATTRIBUTES = ("gen_ai.content.prompt", "gen_ai.content.completion", "gen_ai.client.inference.operation.details")
_FAILED = frozenset({2, "2", "STATUS_CODE_ERROR", "ERROR"})


class NoCallError(Exception):
    """The span is no call of a model, or one that failed before it had an answer."""


class UnusableCallError(ValueError):
    """The span is a call of a model whose texts cannot be used; the message says why."""


def read_call(attributes: dict[str, Any], span: Mapping[str, Any], resource: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the call that a span tells of, and its tags.

    Args:
        attributes: Attributes of the span, by their full names.
        span: The span itself.
        resource: Attributes of the resource that it comes from.

    Raises:
        NoCallError: no call, or a failed one without texts.
        UnusableCallError: a call without any text.
        ValueError: a text that is cut off.
    """
    attributes = {**_of_events(span.get("events")), **attributes}
    if not _is_call(attributes, span):
        raise NoCallError
    asked, answered = _asked(attributes), _answered(attributes)
    if answered is None and _has_failed(span):
        raise NoCallError
    if asked is None and answered is None:
        raise UnusableCallError(
            "the span holds no texts; let the instrumentation record them, like"
            " OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"
        )
    return {
        **_tags(attributes, span, resource),
        "input": asked,
        "output": answered,
        "conversation_id": first_of(attributes, _CONVERSATION),
        "user_id": first_of(attributes, _USER),
        "model": first_of(attributes, _MODEL),
    }


def _is_call(attributes: Mapping[str, Any], span: Mapping[str, Any]) -> bool:
    """Whether the span calls a model: what it says of itself counts, else what it holds."""
    kind = attributes.get(_KIND) or (span.get("span_kind") if "context" in span else None)
    operation = first_of(attributes, _OPERATION)
    if operation is not None:
        return str(operation).lower() in _CALLS
    if isinstance(kind, str) and kind.upper() not in ("UNKNOWN", "INTERNAL", "CLIENT"):
        return kind.upper() == "LLM"
    if any(name.startswith(("gen_ai.prompt", "gen_ai.completion", "llm.input_messages")) for name in attributes):
        return True
    if "gen_ai.input.messages" in attributes or "gen_ai.output.messages" in attributes:
        return True
    return "input.value" in attributes and "output.value" in attributes


def _has_failed(span: Mapping[str, Any]) -> bool:
    status = span.get("status")
    code = status.get("code", status.get("status_code")) if isinstance(status, dict) else span.get("status_code")
    return code in _FAILED


# ---------------------------------------------------------------- texts


def _asked(attributes: Mapping[str, Any]) -> Any:
    """What the model was asked, in the form that ``messages.input_text`` reads; None when it is not told."""
    messages = _messages(attributes, "gen_ai.input.messages", "llm.input_messages", "gen_ai.prompt")
    system = from_json(attributes.get("gen_ai.system_instructions"), "gen_ai.system_instructions")
    if system not in (None, "", []) and isinstance(messages, list):
        parts = system if isinstance(system, list) else [{"type": "text", "content": str(system)}]
        return [{"role": "system", "parts": parts}, *messages]
    return _value(attributes, "input") if messages is None else messages


def _answered(attributes: Mapping[str, Any]) -> Any:
    """What the model answered, in the form that ``messages.output_text`` reads; None when it is not told."""
    messages = _messages(attributes, "gen_ai.output.messages", "llm.output_messages", "gen_ai.completion")
    return _value(attributes, "output") if messages is None else messages


def _messages(attributes: Mapping[str, Any], newest: str, openinference: str, old: str) -> Any:
    """The messages of one side of a call, from the newest of the conventions that tells them."""
    for name in (newest, openinference, old):
        value = attributes.get(name)
        if value not in (None, "", []):
            return unwrap_all(from_json(value, name))
        if listed := numbered(attributes, name):
            return [_with_parts(message, name) for message in listed]
    return None


def _with_parts(message: Any, name: str) -> Any:
    """A message whose list of parts was written as text, with the list."""
    if not isinstance(message, dict) or not isinstance(message.get("content"), str):
        return message
    if message["content"].lstrip()[:3].replace(" ", "") not in ("[{", '[{"', "[\n{"):
        return message
    try:
        parts = from_json(message["content"], name)
    except ValueError:
        return message  # what a person wrote may start like a list
    is_parts = isinstance(parts, list) and all(isinstance(part, dict) and "type" in part for part in parts)
    return {**message, "content": parts} if is_parts else message


def _value(attributes: Mapping[str, Any], side: str) -> Any:
    """``input.value`` or ``output.value``, read as the type that it names."""
    name = f"{side}.value"
    value = attributes.get(name)
    if "json" in str(attributes.get(f"{side}.mime_type", "")).lower():
        return unwrap_all(from_json(value, name))
    return value


def _of_events(events: object) -> dict[str, Any]:
    """What the events of a span tell: texts under the names of attributes, messages as lists."""
    found: dict[str, Any] = {}
    asked: list[dict[str, Any]] = []
    for event in events if isinstance(events, list) else []:
        name = event.get("name") if isinstance(event, dict) else None
        if name in _EVENT_ATTRIBUTES:
            found.update(read_attributes(event.get("attributes")))
        elif name in _EVENT_ROLES:
            asked.append({"role": _EVENT_ROLES[name], **_event_body(event)})
        elif name == "gen_ai.choice":
            body = _event_body(event)
            message = body.get("message", body)
            message = from_json(message, name)
            message = message if isinstance(message, dict) else {"content": message}
            found.setdefault("gen_ai.output.messages", [{"role": "assistant", "content": None, **message}])
    return {"gen_ai.input.messages": asked, **found} if asked else found


def _event_body(event: Mapping[str, Any]) -> dict[str, Any]:
    """The content of an event that is a message."""
    body = event.get("body")
    if isinstance(body, dict):
        return dict(body)
    attributes = read_attributes(event.get("attributes"))
    names = ("content", "message", "tool_calls", "refusal")
    found = {name: from_json(attributes[name], name) for name in names if name in attributes}
    if not found and "message.content" in attributes:
        return {"message": {"content": attributes["message.content"]}}
    return found or {"content": attributes.get("gen_ai.event.content")}


# ---------------------------------------------------------------- tags


def _tags(attributes: Mapping[str, Any], span: Mapping[str, Any], resource: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes that may be segments, with the name of the span and of its service."""
    tags = {name: resource[name] for name in _RESOURCE_TAGS if resource.get(name)}
    if span.get("name"):
        tags["span"] = span["name"]
    if provider := first_of(attributes, _PROVIDER):
        tags["provider"] = provider
    for name, value in attributes.items():
        is_own = not name.startswith(_CONVENTIONS) and name not in _OWN_FIELDS and name != "metadata"
        if is_own and isinstance(value, str | int | float | bool):
            tags.setdefault(name, value)
    return {**tags, **_metadata(attributes)}


def _metadata(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Labels and metadata of OpenInference, under the names from which rows take tags."""
    found: dict[str, Any] = {}
    if "metadata" in attributes:
        found["metadata"] = attributes["metadata"]
    elif inner := {name[9:]: value for name, value in attributes.items() if name.startswith("metadata.")}:
        found["metadata"] = inner
    labels = attributes.get("tag.tags")
    if isinstance(labels, list):
        found["tags"] = labels
    return found
