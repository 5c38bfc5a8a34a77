"""Keeps the scorer's lease while a run goes on, and notices when the run has lost the ground it stands on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import TracebackType
from typing import Self

from evaluator.clock import Clock
from evaluator.errors import LeaseHeldError, StoreError
from evaluator.store import locks
from evaluator.store.db import open_store

HEARTBEAT_S = 5.0


class LeaseKeeper:
    """Gives a sign of life every few seconds, from a connection of its own. Use as an asynchronous context manager.

    ``lost`` is set when the run must not go on: another scorer took over, or the database is gone. A database that is
    only locked or full is waited for; while nobody can write to it, nobody can take the lease either.

    Args:
        path: The database.
        lease: The lease, already acquired.
        clock: Wall clock.
    """

    def __init__(self, path: Path, lease: locks.Lease, clock: Clock) -> None:
        self._path = path
        self._lease = lease
        self._clock = clock
        self._file = _identity(path)
        self._task: asyncio.Task[None] | None = None
        self.lost = asyncio.Event()
        self.failure: StoreError | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._keep())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def check(self) -> None:
        """Do nothing while all is well.

        Raises:
            LeaseHeldError: another scorer took over.
            StoreError: the database was removed or replaced.
        """
        self.failure = self.failure or self._find_file()
        if self.failure is not None:
            raise self.failure

    async def _keep(self) -> None:
        while self.failure is None:
            await asyncio.sleep(HEARTBEAT_S)
            self.failure = await asyncio.to_thread(self._renew)
        self.lost.set()

    def _renew(self) -> StoreError | None:
        """Give one sign of life; return what makes it impossible for good."""
        if gone := self._find_file():
            return gone
        try:
            with open_store(self._path, create=False) as store:
                locks.renew_lease(store, self._lease, now=self._clock.now())
        except LeaseHeldError as error:
            return error
        except StoreError:
            return None  # locked, or the disk is full: the writer waits as well, and says so
        return None

    def _find_file(self) -> StoreError | None:
        if _identity(self._path) == self._file:
            return None
        return StoreError(
            f"{self._path} was removed or replaced while the scorer worked on it; put it back, or start again with the"
            " new one (what was graded last is in the old file)"
        )


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file lies at a path; None when there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
