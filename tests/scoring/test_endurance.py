"""A long run: memory that does not grow with it."""

from __future__ import annotations

import gc
import tracemalloc

from evaluator.judges.base import CallGate
from evaluator.records import GradeOutcome, Item
from tests.scoring.helpers import ScriptedJudge, Shop
from tests.store.helpers import answer


async def _peak_memory(shop: Shop, number: int, *, days: int) -> int:
    """Most memory that grading so many answers of one day takes."""
    day = f"2026-02-{20 + days}"
    shop.add_items([answer(n, day=day, output="x" * 500 + str(n)) for n in range(number)])
    # a day after the last answer, so that only this day is new
    judge = _Forgetful()
    gc.collect()
    tracemalloc.start()
    report = await shop.run(judge, days=days - 7, kind="traffic", concurrency=16)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert report.n_scored == number
    return peak


class _Forgetful(ScriptedJudge):
    """A judge that keeps no account of its calls, which would grow with the run."""

    async def grade(self, item: Item, *, item_id: str, gate: CallGate) -> GradeOutcome:
        """Grade, and forget."""
        outcome = await super().grade(item, item_id=item_id, gate=gate)
        self.calls.clear()
        return outcome


async def test_memory_does_not_grow_with_the_run(shop: Shop) -> None:
    """Beyond the ids of what is left: texts, outcomes and plans come and go."""
    small = await _peak_memory(shop, 500, days=1)
    large = await _peak_memory(shop, 3_000, days=2)
    assert large - small < 2_500 * 600
