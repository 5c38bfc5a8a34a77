"""The only place where a judge's words meet the network: one POST, one answer, through the ``openai`` client.

The client's own retries are off and its answers are taken raw, so that every odd body is read by ``replies`` and every
status by ``faults``. The library costs 0.6 s to import and is loaded by the first call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from evaluator.errors import ConfigError
from evaluator.judges.faults import excerpt, fault_of_status, read_error, server_wait, transient
from evaluator.judges.replies import Reply, read_reply
from evaluator.judges.settings import JudgeSettings
from evaluator.records import UnscoredReason

if TYPE_CHECKING:
    from httpx2 import Response
    from openai import AsyncOpenAI

_CONNECT_TIMEOUT_S = 10.0


class Transport:
    """One client with its connections, for one event loop.

    Raises:
        ConfigError: an address that is none.
    """

    def __init__(self, settings: JudgeSettings, *, now: Callable[[], datetime]) -> None:
        import httpx2
        import openai

        self._settings = settings
        self._now = now
        self._response_type = httpx2.Response
        self._unreachable = (httpx2.ConnectError, httpx2.ConnectTimeout)
        self._openai = openai
        self._client = self._open_client(openai, httpx2)

    def _open_client(self, openai: Any, httpx2: Any) -> AsyncOpenAI:
        settings = self._settings
        timeout = httpx2.Timeout(settings.timeout_s, connect=min(settings.timeout_s, _CONNECT_TIMEOUT_S))
        limits = httpx2.Limits(
            max_connections=settings.max_connections, max_keepalive_connections=settings.max_connections
        )
        try:
            client: AsyncOpenAI = openai.AsyncOpenAI(
                api_key=settings.api_key or "none",
                base_url=settings.base_url,
                max_retries=0,
                timeout=timeout,
                default_headers=settings.default_headers,
                default_query=settings.default_query,
                http_client=openai.DefaultAsyncHttpxClient(timeout=timeout, limits=limits),
            )
        except (httpx2.InvalidURL, ValueError) as error:
            raise ConfigError(f"base_url = {settings.base_url!r} is no address: {error}") from error
        return client

    async def post(self, body: Mapping[str, Any]) -> tuple[int | None, Reply]:
        """Send one request.

        Returns:
            The HTTP status, None when there was none, and the reply; its fault says why there is nothing to read.
        """
        # the client's time-outs hold for each read; a server that sends a byte now and then needs one for the whole
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                response = await self._client.post("/chat/completions", body=body, cast_to=self._response_type)
        except self._openai.APIStatusError as error:
            return error.status_code, self._refused(error.response)
        except (TimeoutError, self._openai.APITimeoutError) as error:
            return None, self._lost(UnscoredReason.TIMEOUT, f"no answer in {self._settings.timeout_s:g} s", error)
        except self._openai.APIConnectionError as error:
            return None, self._lost(UnscoredReason.CONNECTION, excerpt(repr(error.__cause__ or error)), error)
        except self._openai.OpenAIError as error:
            return None, self._lost(UnscoredReason.PROVIDER_ERROR, excerpt(str(error)), error)
        return response.status_code, read_reply(
            response.text,
            content_type=response.headers.get("content-type", ""),
            model=self._settings.model,
            base_url=self._settings.base_url,
        )

    def _refused(self, response: Response) -> Reply:
        fault = fault_of_status(
            response.status_code,
            read_error(response.text),
            model=self._settings.model,
            base_url=self._settings.base_url,
            wait_s=server_wait(response.headers, now=self._now()),
        )
        return Reply(fault=fault)

    def _lost(self, reason: UnscoredReason, message: str, error: Exception) -> Reply:
        """A call without an answer may be paid for, unless it never reached the server."""
        return Reply(fault=transient(reason, message, may_cost=not isinstance(error.__cause__, self._unreachable)))

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()
