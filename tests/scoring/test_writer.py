"""Storing while a run goes on: in small batches, soon, and never dropped because the database has to be waited for."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from evaluator.clock import utc_text
from evaluator.errors import DamagedStoreError, StoreError
from evaluator.records import Source
from evaluator.scoring import writer as writer_module
from evaluator.scoring.writer import BATCH, OutcomeWriter
from evaluator.store import write
from evaluator.store.db import StoreWarning, open_store
from tests.builders import CRITERION, scored
from tests.scoring.helpers import SLOT, ScriptedJudge, Shop
from tests.store.helpers import begin, plan_of

PLAN = plan_of()
Save = Callable[..., None]


@pytest.fixture
def written(shop: Shop) -> Callable[[], int]:
    """How many verdicts the database holds."""
    with open_store(shop.path) as store:
        begin(store, PLAN)
    return lambda: len(shop.query("SELECT 1 FROM verdicts"))


@pytest.fixture
def writer(shop: Shop, written: Callable[[], int]) -> OutcomeWriter:
    """A writer at work."""
    del written
    writer = OutcomeWriter(shop.path, PLAN, CRITERION)
    writer.start()
    return writer


def graded(number: int) -> write.GradedItem:
    """One outcome."""
    return write.GradedItem(
        item_id=f"item {number}", source=Source.TRAFFIC, outcome=scored(4), graded_utc=utc_text(SLOT)
    )


def put_and_close(writer: OutcomeWriter, number: int) -> None:
    """Hand over some outcomes and wait until they are stored."""
    for place in range(number):
        writer.put(graded(place))
    writer.close()


def put_until_failure(writer: OutcomeWriter) -> None:
    """Hand over an outcome and wait until the writer gives up."""
    writer.put(graded(1))
    while writer.failure is None:
        time.sleep(0.01)


def failing(save: Save, error: Exception, times: int) -> tuple[Save, list[int]]:
    """A save that fails some times before it works, and the sizes of the batches it was asked to save."""
    sizes: list[int] = []

    def save_or_fail(store: Any, plan: Any, criterion: str, batch: Sequence[Any]) -> None:
        sizes.append(len(batch))
        if len(sizes) <= times:
            raise error
        save(store, plan, criterion, batch)

    return save_or_fail, sizes


def test_all_is_stored_at_the_end(writer: OutcomeWriter, written: Callable[[], int]) -> None:
    """Closing waits for what is left."""
    put_and_close(writer, 3 * BATCH + 7)
    assert written() == 3 * BATCH + 7


def test_outcome_is_stored_within_a_second(writer: OutcomeWriter, written: Callable[[], int]) -> None:
    """Also when no other follows."""
    writer.put(graded(1))
    started = time.monotonic()
    while not written():
        time.sleep(0.01)
    assert time.monotonic() - started < 1.0
    writer.close()


def test_writer_without_work_ends_at_once(writer: OutcomeWriter, written: Callable[[], int]) -> None:
    """A run that was stopped before its first item."""
    started = time.monotonic()
    writer.close()
    assert time.monotonic() - started < 1.0
    assert written() == 0


def test_batches_are_of_a_size_that_may_be_paid_twice(writer: OutcomeWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits in memory is never more than a batch in work and a batch in the queue."""
    gate = threading.Event()
    save = write.save_outcomes
    sizes: list[int] = []

    def save_late(store: Any, plan: Any, criterion: str, batch: Sequence[Any]) -> None:
        sizes.append(len(batch))
        gate.wait(10)
        save(store, plan, criterion, batch)

    monkeypatch.setattr(write, "save_outcomes", save_late)
    n_taken = 0
    while not writer.is_full():
        writer.put(graded(n_taken))
        n_taken += 1
        if n_taken == 1:
            while not sizes and writer.failure is None:
                time.sleep(0.005)
    assert n_taken <= 2 * BATCH
    gate.set()
    writer.close()
    assert max(sizes) <= BATCH


def test_full_disk_keeps_verdicts_and_stores_them_later(
    writer: OutcomeWriter, written: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Said once; the same batch is tried until it is in, in order, and the rest follows."""
    save, sizes = failing(write.save_outcomes, StoreError("the disk is full"), 3)
    monkeypatch.setattr(write, "save_outcomes", save)
    monkeypatch.setattr(writer_module, "TRY_AGAIN_EVERY_S", 0.01)
    with pytest.warns(StoreWarning, match=r"the disk is full\. Verdicts wait") as said:
        put_and_close(writer, BATCH + 20)
    assert len(said) == 1
    assert len(set(sizes[:4])) == 1
    assert written() == BATCH + 20


def test_disk_that_stays_full_is_an_error_in_the_end(writer: OutcomeWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    """After ten minutes the run learns of it, whether it hands something over or closes."""
    monkeypatch.setattr(writer_module, "TRY_AGAIN_FOR_S", 0.05)
    monkeypatch.setattr(writer_module, "TRY_AGAIN_EVERY_S", 0.01)
    save, _ = failing(write.save_outcomes, StoreError("the disk is full"), 10_000)
    monkeypatch.setattr(write, "save_outcomes", save)
    with pytest.warns(StoreWarning, match=r"the disk is full"):
        put_until_failure(writer)
    with pytest.raises(StoreError, match=r"the disk is full"):
        writer.put(graded(2))
    with pytest.raises(StoreError, match=r"the disk is full"):
        writer.close()


@pytest.mark.parametrize("error", [DamagedStoreError("damaged"), ValueError("defect")])
def test_what_waiting_cannot_heal_ends_the_run_at_once(
    writer: OutcomeWriter, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """A damaged file or a defect is not tried again for ten minutes."""
    save, sizes = failing(write.save_outcomes, error, 10_000)
    monkeypatch.setattr(write, "save_outcomes", save)
    writer.put(graded(1))
    with pytest.raises(type(error)):
        writer.close()
    assert len(sizes) == 1


# ---------------------------------------------------------------- in a run


async def test_database_locked_during_a_run_loses_nothing(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Longer than SQLite and the store are patient: the run slows down, and every verdict is stored once."""
    monkeypatch.setattr("evaluator.store.sqlite.BUSY_TIMEOUT_S", 0.05)
    monkeypatch.setattr("evaluator.store.db.LOCK_RETRY_FOR_S", 0.1)
    monkeypatch.setattr(writer_module, "TRY_AGAIN_EVERY_S", 0.05)
    shop.add_answers(500)
    judge = ScriptedJudge()
    blocker = sqlite3.connect(shop.path, isolation_level=None, check_same_thread=False)
    locked = asyncio.Event()

    def lock_soon(progress: Any) -> None:
        if progress.n_done >= 50 and not locked.is_set():
            blocker.execute("PRAGMA busy_timeout = 5000")
            blocker.execute("BEGIN IMMEDIATE")
            locked.set()
            asyncio.get_running_loop().call_later(1.0, blocker.execute, "ROLLBACK")

    with pytest.warns(StoreWarning, match=r"is locked by another program"):
        report = await shop.run(judge, on_progress=lock_soon, concurrency=4)
    blocker.close()
    assert (report.status, report.n_scored) == ("finished", 504)
    assert set(judge.calls.values()) == {1}


async def test_full_disk_during_a_run_loses_nothing(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Verdicts that were paid for are kept until there is room."""
    monkeypatch.setattr(writer_module, "TRY_AGAIN_EVERY_S", 0.02)
    save, _ = failing(write.save_outcomes, StoreError("the disk that holds it is full"), 5)
    monkeypatch.setattr(write, "save_outcomes", save)
    shop.add_answers(300)
    judge = ScriptedJudge()
    with pytest.warns(StoreWarning, match=r"is full"):
        report = await shop.run(judge)
    assert (report.status, report.n_scored) == ("finished", 304)
    assert set(judge.calls.values()) == {1}


async def test_run_that_cannot_store_ends_and_can_go_on(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its patience it stops grading; what was stored before counts, what was not is graded again."""
    monkeypatch.setattr(writer_module, "TRY_AGAIN_FOR_S", 0.05)
    monkeypatch.setattr(writer_module, "TRY_AGAIN_EVERY_S", 0.01)
    shop.add_answers(300)
    judge = ScriptedJudge()
    with monkeypatch.context() as patch:
        patch.setattr(write, "save_outcomes", failing(write.save_outcomes, StoreError("the disk is full"), 10_000)[0])
        with pytest.warns(StoreWarning), pytest.raises(StoreError, match=r"the disk is full"):
            await shop.run(judge)
    assert judge.calls.total() <= 2 * BATCH + 8 + 1
    assert (await shop.run(judge)).n_scored == 304
