"""Stand-ins for what a judge is given: a rubric, a gate, a pause; and the shared cases."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from evaluator.judges.base import BudgetReachedError
from evaluator.records import ParsedVerdict, Rubric, RubricLevel, UnscoredReason

CASES = Path(__file__).parent.parent / "cases" / "cases.jsonl"
LEVEL_NAMES = ("unacceptable", "poor", "acceptable", "good", "excellent")
RUBRIC = Rubric(
    name="general",
    criterion="overall",
    question="How well does the answer serve the person who asked?",
    scale_min=1,
    scale_max=5,
    levels=tuple(
        RubricLevel(score=score, name=name, description=f"what is {name}")
        for score, name in enumerate(LEVEL_NAMES, start=1)
    ),
    aspects=(("accurate", "No false statement."), ("clear", "Easy to follow.")),
)


@cache
def _cases() -> dict[str, dict[str, Any]]:
    return {case["id"]: case for case in map(json.loads, CASES.read_text("utf-8").splitlines())}


def case(case_id: str) -> dict[str, Any]:
    """One case of the collection."""
    return _cases()[case_id]


def name_of(variant: dict[str, Any]) -> str:
    """A name for a variant of a case, for the test's id."""
    return str(variant.get("n") or variant["raw"])[:60]


def assert_best(verdict: ParsedVerdict | None, variant: dict[str, Any], best: dict[str, Any] | None = None) -> None:
    """Hold a verdict against the best outcome of a variant and against what must never come of it."""
    best = best or variant["best"]
    assert verdict is not None
    if best["outcome"] == "scored":
        assert verdict.score == best["score"]
        assert verdict.unscored_reason is None
    else:
        assert verdict.score is None
        assert verdict.unscored_reason in {UnscoredReason(name) for name in best["reason_any_of"] if _is_ours(name)}
    assert verdict.score not in variant.get("never_scores", [])


def _is_ours(name: str) -> bool:
    return name in {reason.value for reason in UnscoredReason}


class FakeSleep:
    """Notes pauses instead of making them."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


class FakeReservation:
    """Money set aside for one call."""

    def __init__(self, gate: FakeGate, max_cost_usd: float) -> None:
        self._gate = gate
        self.max_cost_usd = max_cost_usd

    def settle(self, cost_usd: float) -> None:
        self._gate.settled.append(cost_usd)


class FakeGate:
    """Lets ``n_calls`` calls pass, then says that the budget is used up."""

    def __init__(self, n_calls: int = 1000) -> None:
        self.n_calls = n_calls
        self.reserved: list[float] = []
        self.settled: list[float] = []
        self.pauses: list[float] = []

    async def reserve(self, max_cost_usd: float) -> FakeReservation:
        if len(self.reserved) >= self.n_calls:
            raise BudgetReachedError("the day's budget is used up")
        self.reserved.append(max_cost_usd)
        return FakeReservation(self, max_cost_usd)

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
