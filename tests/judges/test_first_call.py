"""The door that the first caller opens for the rest."""

from __future__ import annotations

import asyncio

from evaluator.judges.first_call import FirstCall, StopNotice
from evaluator.records import StopReason

NOTICE = StopNotice(reason=StopReason.AUTH, message="wrong key")


async def queue_behind(door: FirstCall) -> list[asyncio.Task[StopNotice | None]]:
    """One caller ahead, three behind it that wait."""
    assert await door.enter() is None
    waiting = [asyncio.ensure_future(door.enter()) for _ in range(3)]
    await asyncio.sleep(0)
    assert not any(task.done() for task in waiting)
    return waiting


async def test_others_wait_until_the_door_opens() -> None:
    """And nobody waits afterwards."""
    door = FirstCall(wait_s=60)
    waiting = await queue_behind(door)
    door.open()
    assert await asyncio.gather(*waiting) == [None] * 3
    assert await door.enter() is None


async def test_a_notice_sends_those_who_wait_away() -> None:
    """Who comes later goes ahead again: the fault may be mended."""
    door = FirstCall(wait_s=60)
    waiting = await queue_behind(door)
    door.stop(NOTICE)
    assert await asyncio.gather(*waiting) == [NOTICE] * 3
    later = await queue_behind(door)
    door.open()
    assert await asyncio.gather(*later) == [None] * 3


async def test_leaving_without_a_word_frees_the_rest() -> None:
    """A caller that was cancelled or had no budget holds nobody up."""
    door = FirstCall(wait_s=60)
    waiting = await queue_behind(door)
    door.leave()
    assert await asyncio.gather(*waiting) == [None] * 3


async def test_a_slow_first_call_does_not_hold_the_rest_up() -> None:
    """It was accepted, or it would be back."""
    door = FirstCall(wait_s=0.01)
    waiting = await queue_behind(door)
    assert await asyncio.gather(*waiting) == [None] * 3


async def test_closing_starts_again() -> None:
    """A new run has a first call of its own."""
    door = FirstCall(wait_s=60)
    await door.enter()
    door.open()
    door.close()
    waiting = await queue_behind(door)
    door.open()
    assert await asyncio.gather(*waiting) == [None] * 3
