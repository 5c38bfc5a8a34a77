"""Stores outcomes while a run goes on: from a thread of its own, in small batches, at most a second late.

A verdict that was paid for is not dropped because the database is locked or the disk is full: the batch is kept and
tried again for ten minutes, and meanwhile the run grades no faster than the queue has room.
"""

from __future__ import annotations

import queue
import threading
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from evaluator.errors import DamagedStoreError, StoreError
from evaluator.records import GradeOutcome, ParsedVerdict
from evaluator.store import write
from evaluator.store.db import Store, StoreWarning, open_store
from evaluator.store.write import GradedItem, RunPlan

MOST_UNSTORED = 100  # outcomes that a kill can lose: those of the queue and those being stored
BATCH = MOST_UNSTORED // 2
FLUSH_EVERY_S = 0.5
TRY_AGAIN_FOR_S = 600.0
TRY_AGAIN_EVERY_S = 1.0
_END = None


def _without_reasons(outcome: GradeOutcome) -> GradeOutcome:
    """An outcome without the judge's words; a message of the server that refused a call says why, and stays."""
    verdict = outcome.verdict
    if verdict is not None:
        verdict = ParsedVerdict(score=verdict.score, unscored_reason=verdict.unscored_reason)
    calls = [replace(call, message="") if call.http_status in (None, 200) else call for call in outcome.attempts]
    return replace(outcome, verdict=verdict, attempts=tuple(calls), raw_reply="")


class OutcomeWriter:
    """A queue of outcomes with one thread that stores them; without ``keep_reasons``, of the judge's words none."""

    def __init__(self, path: Path, plan: RunPlan, criterion: str, *, keep_reasons: bool = True) -> None:
        self._path = path
        self._keep_reasons = keep_reasons
        self._plan = plan
        self._criterion = criterion
        # no longer than a batch: what waits here when the process is killed will be graded, and paid for, again
        self._queue: queue.Queue[GradedItem | None] = queue.Queue(maxsize=BATCH)
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
        self._put(item if self._keep_reasons else replace(item, outcome=_without_reasons(item.outcome)))
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """Store what is left and end the thread.

        Raises:
            BaseException: what kept it from storing.
        """
        self._put(_END)
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _put(self, item: GradedItem | None) -> None:
        """Wait for room in the queue, for as long as the thread works it off."""
        while self._failure is None:
            try:
                self._queue.put(item, timeout=0.2)
            except queue.Full:
                continue
            return

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
        is_told = False
        while True:
            try:
                write.save_outcomes(store, self._plan, self._criterion, batch)
            except DamagedStoreError:
                raise
            except StoreError as error:
                if time.monotonic() > give_up:
                    raise
                if not is_told:
                    warnings.warn(
                        f"{error}. Verdicts wait and are stored as soon as it works", StoreWarning, stacklevel=1
                    )
                    is_told = True
                time.sleep(TRY_AGAIN_EVERY_S)
            else:
                return
