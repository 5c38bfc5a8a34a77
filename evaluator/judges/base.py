"""The seam between the scorer and whatever grades: one protocol for the judge, one for the permission to call it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from evaluator.records import GradeOutcome, Item, Ruler


class Reservation(Protocol):
    """Permission for one call, with the most it may cost set aside."""

    def settle(self, cost_usd: float) -> None:
        """Replace what was set aside by what the call did cost; every reservation is settled, whatever came of it.

        A call whose cost is unknown (it timed out, say) is settled with all that was set aside for it.
        """


class CallGate(Protocol):
    """Decides when a call may be made: how many at once, how many a minute, how much a day."""

    async def reserve(self, max_cost_usd: float) -> Reservation:
        """Wait for the rate limit and set money aside.

        Raises:
            BudgetReachedError: the day's money or calls do not cover this call; it must not be made.
        """

    async def pause(self, seconds: float) -> None:
        """Hold back all calls for a while, because the server asked for it."""


class BudgetReachedError(Exception):
    """The day's budget does not cover another call. The item stays pending; this is not a failure of the judge."""


class Judge(Protocol):
    """Grades one item on the ruler's scale."""

    ruler: Ruler

    async def grade(self, item: Item, *, item_id: str, gate: CallGate) -> GradeOutcome:
        """Grade one item; never raises for anything the server or the reply does wrong."""

    def plan_cost(self, items: Sequence[Item]) -> float | None:
        """Return the most that grading these items once could cost, in USD; None when no price is known."""

    def forget_adjustments(self) -> None:
        """Try again what the server refused in an earlier run: parameters, the output mode."""

    async def close(self) -> None:
        """Release connections."""
