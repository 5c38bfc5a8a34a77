"""Stores outcomes while a run goes on: from a thread of its own, in small batches, at most a second late.

A verdict that was paid for is never dropped: while the database is locked or the disk is full the batch is kept and
tried again; only a fault that waiting cannot heal ends the run, with the batch still first in line.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from evaluator.errors import StoreError
from evaluator.store import write
from evaluator.store.db import Store, open_store
from evaluator.store.write import GradedItem, RunPlan

BATCH = 100
FLUSH_EVERY_S = 0.5
TRY_AGAIN_FOR_S = 600.0
_END = None


class OutcomeWriter:
    """A queue of outcomes with one thread that stores them."""

    def __init__(self, path: Path, plan: RunPlan, criterion: str) -> None:
        self._path = path
        self._plan = plan
        self._criterion = criterion
        # bounded, so that a blocked database slows the run down instead of filling the memory
        self._queue: queue.Queue[GradedItem | None] = queue.Queue(maxsize=20 * BATCH)
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="judgewatch-writer", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    @property
    def failure(self) -> BaseException | None:
        """What ended the thread early; None while all is well."""
        return self._failure

    def is_full(self) -> bool:
        """Whether the caller should wait before it grades more."""
        return self._queue.full()

    def put(self, item: GradedItem) -> None:
        """Hand over an outcome.

        Raises:
            BaseException: what ended the thread.
        """
        while self._failure is None:
            try:
                self._queue.put(item, timeout=0.2)
            except queue.Full:
                continue
            return
        raise self._failure

    def close(self) -> None:
        """Store what is left and end the thread.

        Raises:
            BaseException: what kept it from storing.
        """
        if self._thread.is_alive():
            while self._failure is None:
                try:
                    self._queue.put(_END, timeout=0.2)
                    break
                except queue.Full:
                    continue
            self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        try:
            with open_store(self._path, create=False) as store:
                more = True
                while more:
                    batch, more = self._next_batch()
                    if batch:
                        self._save(store, batch)
        except BaseException as error:  # noqa: BLE001 - handed to the run, which raises it
            self._failure = error

    def _next_batch(self) -> tuple[list[GradedItem], bool]:
        """Collect outcomes until there are enough or they are old enough; False when the queue was closed."""
        batch: list[GradedItem] = []
        deadline = time.monotonic() + FLUSH_EVERY_S
        while len(batch) < BATCH:
            try:
                item = self._queue.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                return batch, True
            if item is _END:
                return batch, False
            batch.append(item)
        return batch, True

    def _save(self, store: Store, batch: Sequence[GradedItem]) -> None:
        give_up = time.monotonic() + TRY_AGAIN_FOR_S
        while True:
            try:
                write.save_outcomes(store, self._plan, self._criterion, batch)
            except StoreError:
                if time.monotonic() > give_up:
                    raise
                time.sleep(1.0)
            else:
                return
