"""The few parts of HTTP that the practice judge needs on top of ASGI: one request in, one JSON reply out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

LOOPBACK = "127.0.0.1"

_ERROR_TYPES = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}
_ASK_AGAIN_AFTER_S = b"1"


@dataclass(frozen=True, kw_only=True)
class Reply:
    """Status and JSON body of one reply."""

    status: int
    body: bytes


class Request:
    """One HTTP request whose body has been read."""

    def __init__(self, scope: Scope, body: bytes, receive: Receive) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.body = body
        self._headers: list[tuple[bytes, bytes]] = scope["headers"]
        self._receive = receive

    def header(self, name: bytes) -> str:
        """Return a header by its lower-case name; empty when it is not there."""
        return next((value.decode("latin-1") for key, value in self._headers if key == name), "")

    async def wait_while(self, must_wait: Callable[[], float]) -> bool:
        """Wait as long as there is a reason to, or until the client goes away.

        Args:
            must_wait: Seconds to wait at most before it is asked again; 0 or less ends the wait.
        Returns:
            Whether the client is still there.
        """
        if must_wait() <= 0:
            return True
        gone = asyncio.ensure_future(self._receive())
        try:
            while not gone.done() and (seconds := must_wait()) > 0:
                await asyncio.wait({gone}, timeout=seconds)
            return not gone.done()
        finally:
            gone.cancel()


async def read_request(scope: Scope, receive: Receive) -> Request:
    """Read the body of a request to its end."""
    chunks: list[bytes] = []
    while True:
        message = await receive()
        chunks.append(message.get("body", b""))
        if not message.get("more_body", False):
            return Request(scope, b"".join(chunks), receive)


async def send_reply(reply: Reply, send: Send) -> None:
    """Send a whole reply; a client that is asked to come back is told when."""
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(reply.body)).encode())]
    if reply.status in (429, 503):
        headers.append((b"retry-after", _ASK_AGAIN_AFTER_S))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})


def json_reply(status: int, content: object) -> Reply:
    """Return a reply with the content as JSON."""
    return Reply(status=status, body=json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"))


def error_reply(status: int, message: str, *, param: str | None = None, code: str | None = None) -> Reply:
    """Return an error in the form OpenAI's API gives it."""
    kind = _ERROR_TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return json_reply(status, {"error": {"message": message, "type": kind, "param": param, "code": code}})
