"""What the practice judge reads from a chat request and writes into a chat completion; no network here."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from evaluator.judges.practice.asgi import Reply, error_reply, json_reply
from evaluator.judges.practice.grading import Mood

MODEL_NAME = "practice-judge"

_CHARS_PER_TOKEN = 4


class RequestRefusedError(Exception):
    """A request that gets no verdict; carries the reply it gets."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.body.decode())
        self.reply = reply


def read_prompt(body: bytes) -> str:
    """Return the text of all messages of a chat request; any response format and parameter is accepted.

    Raises:
        RequestRefusedError: not a JSON object, another model, no messages, or a streamed or manifold reply asked for.
    """
    request = read_object(body)
    model = request.get("model")
    if not isinstance(model, str) or not model:
        raise _refusal("you must provide a model parameter", param="model")
    if model != MODEL_NAME:
        message = f"The model `{model}` does not exist; the practice judge is called `{MODEL_NAME}`."
        raise RequestRefusedError(error_reply(404, message, param="model", code="model_not_found"))
    if request.get("stream"):
        raise _refusal("The practice judge does not stream; leave `stream` out.", param="stream")
    if request.get("n") not in (None, 1):
        raise _refusal("The practice judge gives one reply; leave `n` out.", param="n")
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        raise _refusal("`messages` must be a list with at least one message.", param="messages")
    return "\n".join(_message_text(message) for message in messages)


def read_object(body: bytes) -> dict[str, Any]:
    """Return the JSON object in a body.

    Raises:
        RequestRefusedError: something else is in it.
    """
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise _refusal("The body of the request is not a JSON object.")
    return content


def completion(content: str, *, prompt: str, completion_id: str, mood: Mood) -> Reply:
    """Return a chat completion with one choice; tokens are estimated at four characters each."""
    n_prompt, n_reply = -(-len(prompt) // _CHARS_PER_TOKEN), -(-len(content) // _CHARS_PER_TOKEN)
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content, "refusal": None},
        "logprobs": None,
        "finish_reason": "stop",
    }
    return json_reply(
        200,
        {
            "id": completion_id,
            "object": "chat.completion",
            "created": int(time.time()),
            "model": mood.resolved_model,
            "system_fingerprint": mood.fingerprint,
            "choices": [choice],
            "usage": {
                "prompt_tokens": n_prompt,
                "completion_tokens": n_reply,
                "total_tokens": n_prompt + n_reply,
            },
        },
    )


def model_list() -> Reply:
    """Return the list of models: the one there is."""
    model = {"id": MODEL_NAME, "object": "model", "created": 0, "owned_by": "judgewatch"}
    return json_reply(200, {"object": "list", "data": [model]})


def _refusal(message: str, *, param: str | None = None) -> RequestRefusedError:
    return RequestRefusedError(error_reply(400, message, param=param))


def _message_text(message: object) -> str:
    """Text of one message; a list of text parts is joined."""
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "\n".join(text for text in texts if isinstance(text, str))
    raise _refusal("Every message must have a text as its content.", param="messages")
