"""Judges for the tests of commands, as a configuration names them: ``python:tests.cli.graders:by_words``."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from evaluator.records import Item


def by_words(item: Item) -> dict[str, Any]:
    """One point a word, five at most."""
    score = max(1, min(5, len(item.output.split())))
    return {"score": score, "reasoning": f"{score} words", "strengths": ["short"], "weaknesses": ["dull"]}


def slowly(item: Item) -> dict[str, Any]:
    """The same, a tenth of a second later."""
    time.sleep(0.1)
    return by_words(item)


def broken(item: Item) -> float:
    """Fail on every item."""
    raise RuntimeError(f"cannot grade {len(item.output)} characters")


def noting_calls(item: Item) -> dict[str, Any]:
    """Grade, and leave a line in a file for each call."""
    with Path("calls.txt").open("a", encoding="utf-8") as file:
        file.write("call\n")
    return by_words(item)


async def very_slowly(item: Item) -> dict[str, Any]:
    """The same at once for the first answers, then never within a test's patience."""
    with Path("calls.txt").open("a+", encoding="utf-8") as file:
        file.write("call\n")
        file.seek(0)
        n_calls = len(file.readlines())
    if n_calls > 3:
        await asyncio.sleep(30)
    return by_words(item)
