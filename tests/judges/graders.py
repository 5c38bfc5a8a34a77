"""Functions that a function judge can be pointed at."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable
from fractions import Fraction
from typing import Any

from evaluator.records import Item

NOT_A_FUNCTION = 4
threads: list[str] = []


def by_length(item: Item) -> float:
    threads.append(threading.current_thread().name)
    return min(5.0, 1.0 + len(item.output) / 10)


async def with_words(item: Item) -> dict[str, Any]:
    await asyncio.sleep(0)
    return {"Score": "4/5", "reasoning": f"about {item.input}", "strengths": ["short"], "weaknesses": []}


def in_prose(_item: Item) -> str:
    return "Not bad. Overall score: 3"


def deferred(item: Item) -> Awaitable[dict[str, Any]]:
    return with_words(item)


def a_fraction(_item: Item) -> Fraction:
    return Fraction(7, 2)


def nothing(_item: Item) -> None:
    return None


def yes(_item: Item) -> bool:
    return True


def off_scale(_item: Item) -> int:
    return 10**400


def not_a_number(_item: Item) -> float:
    return float("nan")


def broken(_item: Item) -> float:
    raise RuntimeError("no such \ud800 model")


def unprintable(_item: Item) -> int:
    return 10**5000


async def hanging(_item: Item) -> float:
    await asyncio.Event().wait()
    return 1.0
