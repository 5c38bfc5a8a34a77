"""A small HTTP server on loopback that answers as it is told: well, badly, late or not at all."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a client sent."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    raw: bytes = b""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the server sends. ``promised_bytes`` lies about the length, to cut the answer off."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    promised_bytes: int | None = None
    delay_s: float = 0.0


class Reset:
    """The connection is reset before any byte."""


class Silent:
    """The request is taken and never answered."""


class Dripping:
    """The head of an answer, then a byte now and then, for ever."""


Step = Answer | Reset | Silent | Dripping
Script = Callable[[Request], Step]

RESET, SILENT, DRIPPING = Reset(), Silent(), Dripping()


def completion(
    content: Any = '{"reasoning": "ok", "strengths": [], "weaknesses": [], "score": 4}',
    *,
    finish_reason: str | None = "stop",
    model: str = "judge-x-2026",
    fingerprint: str | None = "fp_1",
    usage: tuple[int, int] | None = (300, 40),
    completion_id: str = "c1",
    **message: Any,
) -> Answer:
    """A chat completion with one choice."""
    body: dict[str, Any] = {
        "id": completion_id,
        "object": "chat.completion",
        "created": 1767225600,
        "model": model,
        "system_fingerprint": fingerprint,
        "choices": [
            {
                "index": 0,
                "finish_reason": finish_reason,
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
    }
    if usage is not None:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return json_answer(body)


def json_answer(body: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    """Any JSON body."""
    head = {"content-type": "application/json", **(headers or {})}
    return Answer(status=status, body=json.dumps(body).encode("utf-8"), headers=head)


def failure(status: int, *, headers: dict[str, str] | None = None, **error: Any) -> Answer:
    """An error as the API words it; without words an empty body."""
    if not error:
        return Answer(status=status, headers=headers or {})
    return json_answer({"error": error}, status=status, headers=headers)


class FakeServer:
    """Serves one script and keeps what it was asked. Use as an asynchronous context manager.

    With ``tls`` it speaks HTTPS. It serves as a proxy as well: then paths are whole addresses.
    """

    def __init__(self, script: Script, *, tls: ssl.SSLContext | None = None) -> None:
        self.script = script
        self._tls = tls
        self.requests: list[Request] = []
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.base_url = ""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self._tls)
        port = self._server.sockets[0].getsockname()[1]
        self.base_url = f"http{'s' if self._tls else ''}://127.0.0.1:{port}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await self._serve_one(reader, writer):
                pass
        writer.close()
        with contextlib.suppress(ConnectionError, asyncio.CancelledError):
            await writer.wait_closed()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:]) if name}
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        request = Request(path=head[0].split(" ")[1], headers=headers, body=json.loads(raw) if raw else {}, raw=raw)
        self.requests.append(request)
        step = self.script(request)
        if isinstance(step, Reset):
            writer.transport.abort()
            return False
        if isinstance(step, Silent):
            await asyncio.Event().wait()
        if isinstance(step, Dripping):
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n")
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.005)
        if isinstance(step, Answer):
            return await self._send(writer, step)
        return False

    async def _send(self, writer: asyncio.StreamWriter, answer: Answer) -> bool:
        if answer.delay_s:
            await asyncio.sleep(answer.delay_s)
        length = len(answer.body) if answer.promised_bytes is None else answer.promised_bytes
        lines = [f"HTTP/1.1 {answer.status} X", f"content-length: {length}"]
        lines += [f"{name}: {value}" for name, value in answer.headers.items()]
        writer.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + answer.body)
        await writer.drain()
        return answer.promised_bytes is None


def in_turn(*steps: Step) -> Script:
    """A script that gives one step after the other and stays at the last."""
    queue = list(steps)

    def script(_request: Request) -> Step:
        return queue.pop(0) if len(queue) > 1 else queue[0]

    return script
