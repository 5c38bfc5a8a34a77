"""Calls the judge for the doctor: five anchors of different levels, then the first of them once more. Stores nothing.

The judge is built with a database of its own that is thrown away: graded text is fenced with another salt than in runs,
so a gateway keeps no reply of these calls that a run could get. (A prompt of one's own is sent as it is, unsalted.)
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evaluator.clock import Clock, parse_utc
from evaluator.config import BudgetConfig, Config
from evaluator.doctor.gateway import Reply
from evaluator.judges.base import BudgetReachedError, Judge
from evaluator.judges.sightings import Sighting, watching
from evaluator.records import Anchor, Attempt, GradeOutcome, Item, UnscoredReason
from evaluator.scoring.cached import Call
from evaluator.scoring.setup import build_judge, without_secrets

N_ANCHORS = 5
MOST_CALLS = N_ANCHORS + 1
MOST_REFUSED = 5  # calls more that a server may refuse, for nothing, until it is asked in a way it knows
CALL_FAILED = frozenset(
    {
        UnscoredReason.PROVIDER_ERROR,
        UnscoredReason.RATE_LIMITED,
        UnscoredReason.SERVER_ERROR,
        UnscoredReason.TIMEOUT,
        UnscoredReason.CONNECTION,
        UnscoredReason.INVALID_REQUEST,
    }
)
_TINY = Anchor(anchor_id="tiny", item=Item(input="What is 2 + 2?", output="4"), expected_score=None)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One anchor with what came of grading it, and the newest raw answer; None where no HTTP was spoken."""

    anchor: Anchor
    outcome: GradeOutcome
    sighting: Sighting | None
    seen_s: float | None  # when the raw answer came, Unix seconds by this machine's clock

    @property
    def last(self) -> Attempt | None:
        """The last call; None when nothing was sent."""
        return self.outcome.attempts[-1] if self.outcome.attempts else None

    @property
    def has_reply(self) -> bool:
        """Whether the judge said anything, be it unreadable."""
        verdict = self.outcome.verdict
        failed = verdict is None or verdict.unscored_reason in CALL_FAILED
        return self.last is not None and self.outcome.instrument is not None and not failed

    @property
    def reply(self) -> Reply | None:
        """What is compared with another reply; None without one."""
        last = self.last
        if last is None or not self.has_reply:
            return None
        tokens = (last.prompt_tokens, last.completion_tokens)
        call = Call(
            item_id=self.anchor.anchor_id,
            started_s=parse_utc(last.started_utc).timestamp(),
            duration_ms=last.duration_ms,
            completion_id=last.completion_id,
            created=last.completion_created,
            reply=self.outcome.raw_reply,
            n_tokens=None if None in tokens else sum(n or 0 for n in tokens),
        )
        seen = self.sighting
        return Reply(call=call, headers={} if seen is None else seen.headers, body="" if seen is None else seen.body)


@dataclass(frozen=True, kw_only=True)
class Interview:
    """All that the judge answered: different anchors in order, and the first of them again."""

    asked: tuple[Asked, ...]
    again: Asked | None


def choose_anchors(anchors: Sequence[Anchor], n: int = N_ANCHORS) -> list[Anchor]:
    """Anchors spread over the levels, the shortest first; without anchors a tiny one."""
    if not anchors:
        return [_TINY]
    known = sorted(
        (anchor for anchor in anchors if anchor.expected_score is not None),
        key=lambda anchor: (anchor.expected_score or 0.0, anchor.anchor_id),
    )
    pool = known if len(known) >= n else list(anchors)
    places = [round(place * (len(pool) - 1) / max(1, n - 1)) for place in range(n)]
    chosen = [pool[place] for place in dict.fromkeys(places)]
    return sorted(chosen, key=lambda anchor: len(anchor.item.input) + len(anchor.item.output))


def most_cost(config: Config, anchors: Sequence[Anchor], *, repeat_first: bool) -> float | None:
    """The most that grading these anchors once can cost, in USD; None when no price is known.

    Raises:
        JudgewatchError: the judge cannot be built.
    """
    if config.price is None:
        return None
    asked = (*anchors, *anchors[:1]) if repeat_first else anchors
    return asyncio.run(_cost_of(config, [anchor.item for anchor in asked]))


async def _cost_of(config: Config, items: Sequence[Item]) -> float | None:
    with tempfile.TemporaryDirectory(prefix="judgewatch-") as folder:
        judge = _build(without_secrets(config), Path(folder))
        try:
            return judge.plan_cost(items)
        finally:
            await judge.close()


def interview(config: Config, anchors: Sequence[Anchor], *, clock: Clock) -> Interview:
    """Ask the judge.

    Raises:
        JudgewatchError: the judge cannot be built: no key, a rubric with a fault.
    """
    return asyncio.run(_interview(config, anchors, clock))


async def _interview(config: Config, anchors: Sequence[Anchor], clock: Clock) -> Interview:
    with tempfile.TemporaryDirectory(prefix="judgewatch-") as folder:
        judge = _build(config, Path(folder))
        asking = _Asking(judge, clock)
        try:
            asked: list[Asked] = []
            for anchor in anchors:
                asked.append(await asking.ask(anchor))
                if asked[-1].outcome.stop is not None:
                    break  # the key is refused, the model is not there: asking on helps nobody
            is_usable = bool(asked) and asked[0].reply is not None and asked[-1].outcome.stop is None
            again = await asking.ask(anchors[0]) if is_usable else None
        finally:
            await judge.close()
    return Interview(asked=tuple(asked), again=again)


def _build(config: Config, folder: Path) -> Judge:
    """The judge as it is configured, but with one try for each item, and no budget that could keep it from asking."""
    changes: dict[str, object] = {
        "judge": config.judge.model_copy(update={"max_attempts": 1}),
        "store": config.store.model_copy(update={"path": str(folder / "doctor.db")}),
        "budget": BudgetConfig(calls_per_day=MOST_CALLS + MOST_REFUSED),
    }
    judge, _ = build_judge(config.model_copy(update=changes))
    return judge


@dataclass(kw_only=True)
class _Gate:
    """Lets a bounded number of calls pass, whatever asks for them."""

    left: int = MOST_CALLS + MOST_REFUSED
    spent_usd: float = field(default=0.0)

    async def reserve(self, max_cost_usd: float) -> _Gate:
        del max_cost_usd
        if self.left == 0:
            raise BudgetReachedError("the doctor makes no more calls")
        self.left -= 1
        return self

    def settle(self, cost_usd: float) -> None:
        self.spent_usd += cost_usd

    async def pause(self, seconds: float) -> None:
        """Nothing waits: each item is tried once."""


class _Asking:
    def __init__(self, judge: Judge, clock: Clock) -> None:
        self._judge = judge
        self._clock = clock
        self._gate = _Gate()

    async def ask(self, anchor: Anchor) -> Asked:
        """Grade one anchor, and keep the last raw answer that came meanwhile."""
        seen: list[tuple[Sighting, float]] = []
        with watching(lambda sighting: seen.append((sighting, self._clock.now().timestamp()))):
            outcome = await self._judge.grade(anchor.item, item_id=anchor.anchor_id, gate=self._gate)
        sighting, seen_s = seen[-1] if seen else (None, None)
        return Asked(anchor=anchor, outcome=outcome, sighting=sighting, seen_s=seen_s)
