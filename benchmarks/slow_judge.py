"""A judge that costs next to nothing: it gives every call the same verdict after a fixed time.

Plain asyncio, so that on a small machine the processor is left to the client that is measured. It understands just
enough HTTP for the openai client. ``python benchmarks/slow_judge.py SECONDS`` prints its port and serves until it is
ended.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VERDICT = {
    "reasoning": "The answer is right and says where to look; it leaves out what to do when the page is empty.",
    "strengths": ["names the page", "short"],
    "weaknesses": ["no second way"],
    "score": 4,
}
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_NUMBERS = itertools.count(1)


class JudgeProtocol(asyncio.Protocol):
    """One connection."""

    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s
        self._received = b""
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        if isinstance(transport, asyncio.WriteTransport):
            self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer every request that is complete, when its time has come."""
        self._received += data
        while (head_end := self._received.find(b"\r\n\r\n")) >= 0:
            length = _LENGTH.search(self._received, 0, head_end)
            request_end = head_end + 4 + (int(length[1]) if length else 0)
            if len(self._received) < request_end:
                return
            self._received = self._received[request_end:]
            asyncio.get_running_loop().call_later(self._delay_s, self._reply)

    def _reply(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(_response(next(_NUMBERS)))


def _response(number: int) -> bytes:
    body = json.dumps(
        {
            "id": f"completion-{number}",
            "object": "chat.completion",
            "created": 1_760_000_000,
            "model": "slow-judge",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": json.dumps(VERDICT)},
                }
            ],
            "usage": {"prompt_tokens": 800, "completion_tokens": 60, "total_tokens": 860},
        }
    ).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def serve(delay_s: float) -> None:
    """Serve on a free port of this machine."""
    server = await asyncio.get_running_loop().create_server(lambda: JudgeProtocol(delay_s), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def slow_judge(delay_s: float) -> Iterator[str]:
    """Run the server in a process of its own; yield its address."""
    command = [sys.executable, str(Path(__file__).resolve()), str(delay_s)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            port = server.stdout.readline().strip() if server.stdout else ""
            if not port:
                raise RuntimeError("the server of the benchmark did not start")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
