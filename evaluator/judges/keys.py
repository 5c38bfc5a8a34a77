"""A judge's key that a command prints, for keys that expire: run when needed, kept for a while, never shown.

The command runs without a shell. It prints the key in its first line, or JSON with the key under ``accessToken``,
``access_token`` or ``token``, as the command line tools of clouds do. Of what it prints nothing is kept but the key.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.clock import SystemClock
from evaluator.judges.hiding import hide_tokens
from evaluator.judges.settings import KEY_WAIT_S

KEY_FIELDS = ("accessToken", "access_token", "token")
_MARGIN_S = 60.0  # a key is renewed so long before the end that its issuer names
_SHORTEST_USE_S = 5.0
_STDERR_CHARS = 200


class KeyCommandError(Exception):
    """The command gave no key; the message says how it ended, never what it printed as the key."""


@dataclass(frozen=True, kw_only=True)
class _Key:
    text: str
    until: float  # on the monotonic clock


class CommandKey:
    """Calls a command for a key and keeps it. One call at a time, however many wait for the key.

    Args:
        command: The program and its arguments.
        ttl_s: Most seconds a key is used; an earlier end named in JSON (``expires_in``, ``expires_on``) counts too.
        folder: Where the command runs.
        time_limit_s: Most seconds the command may take.
        monotonic: Seconds of a clock that never goes back.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        ttl_s: float,
        folder: Path,
        time_limit_s: float = KEY_WAIT_S,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._command = tuple(command)
        self._ttl_s = ttl_s
        self._folder = folder
        self._time_limit_s = time_limit_s
        self._monotonic = monotonic
        self._lock = asyncio.Lock()
        self._key: _Key | None = None

    async def __call__(self) -> str:
        """Return a key that is not used up.

        Raises:
            KeyCommandError: the command gave none.
        """
        key = self._key
        if key is not None and self._monotonic() < key.until:
            return key.text
        return await self._renew(stale=key)

    async def renew(self, refused: str) -> str:
        """Return another key than one that the server refused; who comes later shares what the first one got.

        Raises:
            KeyCommandError: the command gave none.
        """
        key = self._key
        if key is not None and key.text != refused:
            return key.text
        return await self._renew(stale=key)

    def close(self) -> None:
        """Forget the event loop, not the key."""
        self._lock = asyncio.Lock()

    async def _renew(self, *, stale: _Key | None) -> str:
        async with self._lock:
            if self._key is not None and self._key is not stale:
                return self._key.text
            started = self._monotonic()
            text, seconds = read_key(await asyncio.to_thread(self._run), now_s=SystemClock().now().timestamp())
            use_s = self._ttl_s if seconds is None else min(self._ttl_s, max(_SHORTEST_USE_S, seconds - _MARGIN_S))
            self._key = _Key(text=text, until=started + use_s)
            return text

    def _run(self) -> str:
        """Return what the command prints. Blocks, so it runs in a thread: then no event loop has to see it end."""
        try:
            with subprocess.Popen(  # noqa: S603 - the command is the user's own, and no shell reads it
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self._folder,
                start_new_session=True,
            ) as process:
                stdout, stderr = self._wait(process)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise KeyCommandError(f"{self._name} cannot be started: {reason}") from error
        if process.returncode != 0:
            said = _last_line(stderr)
            raise KeyCommandError(f"{self._name} ended with exit code {process.returncode}" + (said and f" ({said})"))
        return stdout.decode("utf-8", "replace")

    def _wait(self, process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
        try:
            return process.communicate(timeout=self._time_limit_s)
        except subprocess.TimeoutExpired as error:
            # with everything it started: a child may hold the pipe open
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            raise KeyCommandError(f"{self._name} gave no key in {self._time_limit_s:g} s") from error

    @property
    def _name(self) -> str:
        return f"judge.api_key_command ({Path(self._command[0]).name})"


def read_key(printed: str, *, now_s: float) -> tuple[str, float | None]:
    """Return the key in what a command printed, and the seconds it is good for where that is said.

    Args:
        printed: A key in the first line, or JSON.
        now_s: Unix time, to count from.

    Raises:
        KeyCommandError: there is no key, or nothing that a header could carry.
    """
    text = printed.strip()
    seconds: float | None = None
    if text.startswith(("{", '"')):
        text, seconds = _read_json(text, now_s)
    key = text.split("\n", 1)[0].strip()
    if not key:
        raise KeyCommandError("judge.api_key_command printed no key; its first line of output has to be the key")
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise KeyCommandError(
            "judge.api_key_command printed a first line that is no key (it holds blanks or characters that no header"
            " carries); let it print the key alone"
        )
    return key, seconds


def _read_json(text: str, now_s: float) -> tuple[str, float | None]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise KeyCommandError("judge.api_key_command printed JSON that cannot be read") from error
    if isinstance(value, str):
        return value, None
    key = next((value[name] for name in KEY_FIELDS if isinstance(value.get(name), str)), None)
    if key is None:
        raise KeyCommandError(f"judge.api_key_command printed JSON without a key under {' or '.join(KEY_FIELDS)}")
    return key, _seconds_left(value, now_s)


def _seconds_left(value: dict[str, Any], now_s: float) -> float | None:
    for name, since in (("expires_in", 0.0), ("expires_on", now_s)):
        with contextlib.suppress(TypeError, ValueError):
            return float(value.get(name, "")) - since
    return None


def _last_line(stderr: bytes) -> str:
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    return hide_tokens(lines[-1])[:_STDERR_CHARS] if lines else ""
