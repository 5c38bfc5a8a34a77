"""The only place where a judge's words meet the network: one POST, one answer, through the ``openai`` client.

The client's own retries are off and its answers are taken raw, so that every odd body is read by ``replies`` and every
status by ``faults``. The library costs 0.6 s to import and is loaded by the first call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from evaluator.judges.clients import open_client
from evaluator.judges.faults import excerpt, fault_of_status, read_error, server_wait, transient
from evaluator.judges.replies import Reply, read_reply
from evaluator.judges.settings import JudgeSettings
from evaluator.judges.sightings import note_answer
from evaluator.records import UnscoredReason

if TYPE_CHECKING:
    from httpx2 import Response


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
        self._client = open_client(settings)

    async def post(self, content: bytes) -> tuple[int | None, Reply]:
        """Send one request, its body to the byte.

        Returns:
            The HTTP status, None when there was none, and the reply; its fault says why there is nothing to read.
        """
        # the client's time-outs hold for each read; a server that sends a byte now and then needs one for the whole
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                response = await self._client.post("/chat/completions", content=content, cast_to=self._response_type)
        except self._openai.APIStatusError as error:
            note_answer(error.status_code, error.response.headers, error.response.text)
            return error.status_code, self._refused(error.response)
        except (TimeoutError, self._openai.APITimeoutError) as error:
            return None, self._lost(UnscoredReason.TIMEOUT, f"no answer in {self._settings.timeout_s:g} s", error)
        except self._openai.APIConnectionError as error:
            return None, self._lost(UnscoredReason.CONNECTION, _why(error), error)
        except self._openai.OpenAIError as error:
            return None, self._lost(UnscoredReason.PROVIDER_ERROR, excerpt(str(error)), error)
        note_answer(response.status_code, response.headers, response.text)
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


def _why(error: Exception) -> str:
    said = repr(error.__cause__ or error)
    hint = "; judge.ca_file names certificates to trust" if "CERTIFICATE_VERIFY_FAILED" in said else ""
    return excerpt(said) + hint
