"""Lets one call of a run go ahead of the others.

Without it, a wrong key or a refused parameter costs one call for each call in flight; with it, one. Knows nothing of
what is called.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from evaluator.records import StopReason


@dataclass(frozen=True, kw_only=True)
class StopNotice:
    """Why nobody needs to call."""

    reason: StopReason
    message: str


class FirstCall:
    """A door that the first caller passes and opens for the rest.

    Args:
        wait_s: Longest wait behind the first caller. A refusal comes fast, so a call that is out for longer was
            accepted and is only slow.
    """

    def __init__(self, *, wait_s: float) -> None:
        self._wait_s = wait_s
        self._is_open = False
        self._ahead: _Ahead | None = None

    async def enter(self) -> StopNotice | None:
        """Wait for one's turn.

        Returns:
            None: go ahead; a notice: the call ahead found that no call can succeed.
        """
        if self._is_open:
            return None
        if self._ahead is None:
            self._ahead = _Ahead()
            return None
        ahead = self._ahead
        try:
            await asyncio.wait_for(ahead.is_back.wait(), self._wait_s)
        except TimeoutError:
            return None
        return ahead.notice

    def open(self) -> None:
        """Let everybody pass: the server took the request."""
        self._is_open = True
        self.leave()

    def stop(self, notice: StopNotice) -> None:
        """Send those who wait away. Who comes later may try again."""
        if self._ahead is not None:
            self._ahead.notice = notice
        self.leave()

    def leave(self) -> None:
        """End the wait of those behind, with whatever was found out."""
        if self._ahead is not None:
            self._ahead.is_back.set()
            self._ahead = None

    def close(self) -> None:
        """Start again: the next caller goes ahead alone."""
        self.leave()
        self._is_open = False


class _Ahead:
    """The call that went ahead."""

    def __init__(self) -> None:
        self.is_back = asyncio.Event()
        self.notice: StopNotice | None = None
