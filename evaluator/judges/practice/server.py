"""The practice judge over HTTP: an OpenAI-compatible endpoint that grades by the look of the text. Loopback only.

It is for practice, not for judging: it makes the demo and the tests run without a key, a model or a network, and can be
made late, moody or broken on demand. Its scores say nothing about real answers.

    port           POST /v1/chat/completions   GET /v1/models
    control port   POST /set (some of the settings, as JSON)   GET /state (settings and counts)

The scorer is told the first port only. Both are served by one process, so the state needs no lock.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from secrets import compare_digest, token_hex

import uvicorn

from evaluator.judges.fences import read_fenced
from evaluator.judges.practice.asgi import (
    LOOPBACK,
    Receive,
    Reply,
    Request,
    Scope,
    Send,
    error_reply,
    json_reply,
    read_request,
    send_reply,
)
from evaluator.judges.practice.chat import RequestRefusedError, completion, model_list, read_object, read_prompt
from evaluator.judges.practice.grading import assess, score_on_day, text_key
from evaluator.judges.practice.state import PracticeState
from evaluator.judges.practice.wording import Explanation, explain

_TEXTS_REMEMBERED = 4096
_LOOK_AGAIN_S = 0.1
# Longer than any pause between two calls of a run: a connection closed under a caller would look like a fault.
_KEEP_ALIVE_S = 75
_SHUTDOWN_S = 2
_BACKLOG = 512

Handler = Callable[[Request], Awaitable[Reply | None]]
Routes = Mapping[str, tuple[str, Handler]]


@dataclass(frozen=True, kw_only=True)
class _Graded:
    """What stays the same about a text whatever the mood."""

    key: str
    latent: float
    explanation: Explanation


@lru_cache(maxsize=_TEXTS_REMEMBERED)
def _grade(question: str, answer: str, reference: str) -> _Graded:
    assessment = assess(question, answer, reference)
    return _Graded(key=text_key(question, answer, reference), latent=assessment.latent, explanation=explain(assessment))


class JudgeApi:
    """The endpoint that the scorer calls.

    Args:
        state: Settings and counts, shared with the control port.
        api_key: When given, every call must carry it as a bearer token.
    """

    def __init__(self, state: PracticeState, *, api_key: str | None = None) -> None:
        self._state = state
        self._authorization = None if api_key is None else f"Bearer {api_key}".encode()
        self._id_prefix = f"chatcmpl-practice-{token_hex(4)}"
        self._is_stopping = False
        self.routes: Routes = {
            "/v1/chat/completions": ("POST", self._complete),
            "/v1/models": ("GET", self._models),
        }

    def stop_waiting(self) -> None:
        """Let the calls go that wait for a latency or hang, because the server ends."""
        self._is_stopping = True

    async def _models(self, request: Request) -> Reply:
        return self._refusal_of_key(request) or model_list()

    async def _complete(self, request: Request) -> Reply | None:
        self._state.n_calls += 1
        try:
            reply = self._refusal_of_key(request) or await self._verdict(request, self._state.n_calls)
        except RequestRefusedError as error:
            reply = error.reply
        self._state.n_by_status["disconnected" if reply is None else str(reply.status)] += 1
        return reply

    async def _verdict(self, request: Request, call_number: int) -> Reply | None:
        """Return the reply to a call, None when the client did not wait for it."""
        prompt = read_prompt(request.body)
        parts = read_fenced(prompt)
        if "answer" not in parts:
            return error_reply(400, "The messages hold no fenced answer to grade.", param="messages")
        graded = _grade(parts.get("question", ""), parts["answer"], parts.get("reference", ""))
        self._state.count_text(graded.key)
        if not await self._wait(request):
            return None
        faults, mood = self._state.settings.faults, self._state.settings.mood
        if faults.fails(call_number):
            return error_reply(faults.fail_status, "The practice judge was told to fail.")
        content = graded.explanation.as_json(score_on_day(graded.latent, graded.key, mood))
        return completion(content, prompt=prompt, completion_id=f"{self._id_prefix}-{call_number}", mood=mood)

    async def _wait(self, request: Request) -> bool:
        """Wait out the set latency, and as long as the judge is set to hang; False when the client left meanwhile."""
        started = time.monotonic()

        def must_wait() -> float:
            faults = self._state.settings.faults
            if self._is_stopping:
                return 0.0
            if faults.hang:
                return _LOOK_AGAIN_S
            return min(_LOOK_AGAIN_S, faults.latency_ms / 1000 - (time.monotonic() - started))

        return await request.wait_while(must_wait)

    def _refusal_of_key(self, request: Request) -> Reply | None:
        if self._authorization is None or compare_digest(
            request.header(b"authorization").encode(), self._authorization
        ):
            return None
        return error_reply(401, "Incorrect API key provided.", code="invalid_api_key")


class ControlApi:
    """The side door through which a demo or a test sets the judge's mood and faults."""

    def __init__(self, state: PracticeState) -> None:
        self._state = state
        self.routes: Routes = {"/set": ("POST", self._set), "/state": ("GET", self._read)}

    async def _set(self, request: Request) -> Reply:
        try:
            self._state.settings = self._state.settings.changed(read_object(request.body))
        except RequestRefusedError as error:
            return error.reply
        except ValueError as error:
            return error_reply(400, str(error))
        return json_reply(200, self._state.settings.as_dict())

    async def _read(self, request: Request) -> Reply:
        del request
        return json_reply(200, self._state.as_dict())


class PracticeApp:
    """ASGI application for both ports; which one a request came in by decides what it can reach."""

    def __init__(self, *, judge: JudgeApi, control: ControlApi, control_port: int) -> None:
        self._judge_routes = judge.routes
        self._control_routes = control.routes
        self._control_port = control_port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; what has no route gets an error in the same form as any other."""
        request = await read_request(scope, receive)
        routes = self._control_routes if scope["server"][1] == self._control_port else self._judge_routes
        reply = await _dispatch(routes, request)
        if reply is not None:
            await send_reply(reply, send)


async def _dispatch(routes: Routes, request: Request) -> Reply | None:
    if request.path not in routes:
        return error_reply(404, f"Unknown request URL: {request.method} {request.path}.", code="unknown_url")
    method, handle = routes[request.path]
    if request.method != method:
        return error_reply(405, f"Not allowed: {request.method} {request.path}; use {method}.")
    return await handle(request)


def listen(port: int) -> socket.socket:
    """Return a socket that listens on loopback; port 0 takes a free one. Calls that come early wait in its queue."""
    # The protocol is named because asyncio sets TCP_NODELAY only then; without it a reply waits 40 ms for the client.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind((LOOPBACK, port))
    listening.listen(_BACKLOG)
    return listening


async def serve(
    judge_socket: socket.socket, control_socket: socket.socket, *, api_key: str | None, parent_pid: int
) -> None:
    """Serve both ports until a signal ends it or the parent process is gone."""
    state = PracticeState()
    judge = JudgeApi(state, api_key=api_key)
    app = PracticeApp(judge=judge, control=ControlApi(state), control_port=control_socket.getsockname()[1])
    config = uvicorn.Config(
        app,
        lifespan="off",
        ws="none",
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_SHUTDOWN_S,
    )
    server = uvicorn.Server(config)
    watch = asyncio.create_task(_end_with_parent(server, judge, parent_pid))
    await server.serve(sockets=[judge_socket, control_socket])
    await watch


async def _end_with_parent(server: uvicorn.Server, judge: JudgeApi, parent_pid: int) -> None:
    """Ask the server to end once the parent is gone, and let waiting calls go whatever ends it."""
    while not server.should_exit:
        await asyncio.sleep(_LOOK_AGAIN_S)
        if os.getppid() != parent_pid:
            server.should_exit = True
    judge.stop_waiting()
