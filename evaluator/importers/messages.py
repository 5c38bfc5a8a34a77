"""Turns chat messages, content parts and reply objects into the text that a judge reads.

A judge should read the conversation, not its serialisation: quotes, braces and role keys change scores. How it looks:

- one user message: its bare text; anything longer: ``System: ...``, ``User: ...``, ``Assistant: ...``, ``Tool: ...``
  with a blank line between messages;
- an object of inputs: the value of its only key, the conversation under ``messages``, or else ``key: value`` lines;
- content parts: their text, one part a line; a picture is ``[image]``, a sound ``[audio]``, a file ``[file]``, a call
  of a tool ``[tool call: name]``; a model's private reasoning is left out;
- an answer that only calls a tool is empty text, marked; an answer that is a string stays as it was written, even when
  it looks like messages; an object or list that is no message is the answer itself, and is shown as JSON.

Nothing here reads files or knows of rows.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_LABELS = {
    "system": "System",
    "developer": "System",
    "user": "User",
    "human": "User",
    "assistant": "Assistant",
    "ai": "Assistant",
    "model": "Assistant",
    "tool": "Tool",
    "function": "Tool",
}
_PLACEHOLDERS = (("image", "[image]"), ("audio", "[audio]"), ("video", "[video]"), ("file", "[file]"))
_CALL_PARTS = ("tool_use", "tool_call", "function_call", "server_tool_use")
_REASONING_PARTS = ("thinking", "redacted_thinking", "reasoning")
_TEXT_PARTS = ("text", "input_text", "output_text", "refusal", "tool_result", "tool_call_response")
_MEDIA_PARTS = ("image", "image_url", "input_image", "audio", "input_audio", "file", "input_file", "video", "video_url")
_KNOWN_PARTS = frozenset((*_TEXT_PARTS, *_MEDIA_PARTS, *_CALL_PARTS, *_REASONING_PARTS))
_TEXT_KEYS = ("text", "content", "value", "output", "result", "response", "refusal")
_ENVELOPE_KEYS = frozenset(("type", "id", "index", "role", "name", "model", "object", "created", "usage"))
_ENVELOPE_KEYS |= {"finish_reason", "stop_reason", "logprobs", "text", "content"}
_MAX_DEPTH = 6
_MAX_STORED_CHARS = 4_000_000


def render_messages(messages: Sequence[Any]) -> str:
    """Write a conversation as a transcript; one user message alone as its bare text."""
    parts = [(_label(message), _message_text(message)) for message in messages]
    parts = [(label, text) for label, text in parts if text]
    if len(parts) == 1 and parts[0][0] == "User":
        return parts[0][1]
    return "\n\n".join(f"{label}: {text}" for label, text in parts)


def input_text(value: object) -> str:
    """Return what the assistant was asked, as text: of a string, messages (stored as JSON, too), or an object."""
    if isinstance(value, str):
        stored = stored_messages(value)
        return value if stored is None else render_messages(stored)
    return _input_text(value, 0)


def output_text(value: object, names: Sequence[str]) -> tuple[str, bool]:
    """Return the answer as text, and whether it is a call of a tool without text.

    Args:
        value: A string (kept as written), a message, messages (the last of the assistant counts), a reply object with
            ``choices``, content parts, or any other JSON value.
        names: Lower-case keys under which an object may hold the answer, best first.
    """
    text = _output_text(value, names, 0)
    return text, not text.strip() and _calls_tool(value, 0)


def split_answer(value: object) -> tuple[list[Any], Any] | None:
    """Return a conversation without its last message, and that message, when it is the assistant's; else None."""
    if isinstance(value, str):
        value = stored_messages(value)
    if not isinstance(value, list) or len(value) < 2 or not all(_is_message(part) for part in value):
        return None
    return (value[:-1], value[-1]) if _label(value[-1]) == "Assistant" else None


def plain_text(value: object) -> str:
    """Return any JSON value as text: strings as written, lists of strings a line each, the rest as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    if isinstance(value, dict):
        known = next((value[key] for key in ("page_content", *_TEXT_KEYS) if isinstance(value.get(key), str)), None)
        if known is not None:
            return str(known)
    return json_text(value)


def json_text(value: object) -> str:
    """Return a JSON value as JSON text, in the writing of the reader: no escapes, keys in their order."""
    return json.dumps(value, ensure_ascii=False, default=str)


def stored_messages(text: str) -> list[Any] | None:
    """Return the messages that a string holds as JSON, or as a Python literal; None when it is ordinary text."""
    start = text.lstrip()[:1]
    if start not in ("[", "{") or "role" not in text or len(text) > _MAX_STORED_CHARS:
        return None
    value = stored_json(text)
    if isinstance(value, dict):
        value = value.get("messages", [value])
    return value if _are_messages(value) else None


def stored_json(text: str) -> Any:
    """Return the list or object that a string holds as JSON or as a Python literal; None when it holds neither.

    Tables written with Python hold lists as ``['a', 'b']``; the reader of literals runs no code.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = _python_literal(text)
    return value if isinstance(value, dict | list) else None


def _python_literal(text: str) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of '\d' in somebody's text; nobody here can do anything about it
        try:
            return ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return None


def _is_message(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("role"), str):
        return any(key in value for key in ("content", "parts", "tool_calls", "function_call", "refusal"))
    return _kind(value) in _LABELS and "content" in value


def _are_messages(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_message(message) for message in value)


def _is_part(value: object) -> bool:
    return _kind(value) in _KNOWN_PARTS


def _kind(value: object) -> str:
    """The type that a message or a part names, in lower case; empty when it names none."""
    kind = value.get("type") if isinstance(value, Mapping) else None
    return kind.strip().lower() if isinstance(kind, str) else ""


def _role(message: object) -> str:
    if not isinstance(message, Mapping):
        return "user"
    role = message.get("role")
    return role.strip().lower() if isinstance(role, str) else _kind(message)


def _label(message: object) -> str:
    role = _role(message)
    return _LABELS.get(role) or re.sub(r"\W+", " ", role).strip().capitalize()[:40] or "User"


def _message_text(message: object) -> str:
    if not isinstance(message, Mapping):
        return plain_text(message)
    lines = [_content_text(message.get("content", message.get("parts")), with_calls=True)]
    if not lines[0] and isinstance(message.get("refusal"), str):
        lines.append(message["refusal"])
    lines.extend(f"[tool call: {name}]" for name in _call_names(message))
    return "\n".join(line for line in lines if line)


def _call_names(message: Mapping[str, Any]) -> Iterable[str]:
    calls = message.get("tool_calls")
    calls = list(calls) if isinstance(calls, list) else []
    if message.get("function_call"):
        calls.append(message["function_call"])
    for call in calls:
        inner = call.get("function", call) if isinstance(call, dict) else call
        name = inner.get("name") if isinstance(inner, dict) else None
        yield str(name) if name else "unnamed"


def _content_text(content: object, *, with_calls: bool) -> str:
    """Text of a message's content; ``with_calls`` names calls of tools: part of a history, not of an answer."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    parts = content if isinstance(content, list) else [content]
    texts = [_part_text(part, with_calls=with_calls) for part in parts]
    return "\n".join(text for text in texts if text)


def _part_text(part: object, *, with_calls: bool) -> str:
    if not isinstance(part, dict):
        return plain_text(part)
    kind = _kind(part)
    if kind in _REASONING_PARTS:
        return ""
    if kind in _CALL_PARTS:
        return f"[tool call: {part.get('name') or 'unnamed'}]" if with_calls else ""
    for mark, placeholder in _PLACEHOLDERS:
        if mark in kind or f"{mark}_url" in part:
            return placeholder
    for key in _TEXT_KEYS:
        if isinstance(part.get(key), str):
            return str(part[key])
        if isinstance(part.get(key), dict | list):
            return _content_text(part[key], with_calls=with_calls)
    return f"[{kind}]" if kind else json_text(part)


def _input_text(value: object, depth: int) -> str:
    if isinstance(value, list) and value:
        if any(_is_message(part) for part in value):
            return render_messages(value)
        return _content_text(value, with_calls=True)
    if not isinstance(value, dict) or depth >= _MAX_DEPTH:
        return plain_text(value)
    if _is_message(value):
        return render_messages([value])
    if _are_messages(value.get("messages")):
        return render_messages(value["messages"])
    if len(value) == 1:
        return _input_text(next(iter(value.values())), depth + 1)
    return "\n".join(f"{key}: {_input_text(part, depth + 1)}" for key, part in value.items())


def _output_text(value: object, names: Sequence[str], depth: int) -> str:
    if isinstance(value, list):
        return _output_of_list(value, names, depth) if value else ""
    if not isinstance(value, dict):
        return plain_text(value)
    if _is_message(value):
        return _answer_text(value)
    inner = _answer_inside(value, names) if depth < _MAX_DEPTH else None
    return json_text(value) if inner is None else _output_text(inner, names, depth + 1)


def _output_of_list(parts: list[Any], names: Sequence[str], depth: int) -> str:
    messages = [part for part in parts if _is_message(part)]
    if messages:
        answers = [part for part in messages if _label(part) == "Assistant"]
        return _answer_text(answers[-1]) if answers else ""
    if all(_is_part(part) for part in parts):
        return _content_text(parts, with_calls=False)
    if len(parts) == 1 and isinstance(parts[0], dict) and depth < _MAX_DEPTH:
        return _output_text(parts[0], names, depth + 1)
    return plain_text(parts)


def _answer_text(message: Mapping[str, Any]) -> str:
    text = _content_text(message.get("content", message.get("parts")), with_calls=False)
    return text or (message["refusal"] if isinstance(message.get("refusal"), str) else "")


def _answer_inside(value: Mapping[str, Any], names: Sequence[str]) -> object:
    """The part of a reply object that holds the answer, of ``choices`` the first; None: the object is the answer."""
    for key in ("choices", "candidates", "generations"):
        options = value.get(key)
        if isinstance(options, list) and options:
            return options[0]
    keys = ["message", "messages", *names]
    if _ENVELOPE_KEYS.issuperset(value):
        keys += ["content", "text"]
    return next((value[key] for key in keys if value.get(key) is not None), None)


def _calls_tool(value: object, depth: int) -> bool:
    if depth > _MAX_DEPTH:
        return False
    if isinstance(value, list):
        return any(_calls_tool(part, depth + 1) for part in value)
    if not isinstance(value, dict):
        return False
    if value.get("tool_calls") or value.get("function_call") or _kind(value) in _CALL_PARTS:
        return True
    return any(_calls_tool(part, depth + 1) for part in value.values() if isinstance(part, dict | list))
