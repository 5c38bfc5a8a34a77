"""What the tests of picking share: an app with answers that differ, and a pick from its beginning to its review."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from evaluator.picking.grading import grade_pick
from evaluator.picking.pick import Pick, PickRequest, open_pick
from evaluator.picking.review import ReviewItem, load_review
from evaluator.records import Item
from evaluator.scoring.closing import RunReport
from evaluator.store.db import Store, open_store
from tests.builders import rubric
from tests.scoring.helpers import APP, SLOT, Reply, Script, ScriptedJudge, SetClock, Shop
from tests.store.helpers import answer

MOST_CHARS = 10_000
RUBRIC = rubric()
_WORDS = tuple(f"{start}{end}" for start in "bcdfghklmnprst" for end in ("ara", "ilo", "emu", "ony", "uti", "ade"))


def words(seed: int, n: int = 12) -> str:
    """A text that is near to no other one."""
    return " ".join(random.Random(seed).choices(_WORDS, k=n))


def varied(number: int, **changes: Any) -> Item:
    """An answer that differs from the others; the topic changes with its number."""
    fields: dict[str, Any] = {
        "input": f"Question {number}: {words(number, 6)}?",
        "output": words(number + 100_000),
        "tags": {"topic": ("billing", "returns", "account")[number % 3]},
    }
    return answer(number, **(fields | changes))


@dataclass
class Desk:
    """One app with answers, and a clock that goes on by an hour a step."""

    path: Path
    judge: ScriptedJudge = field(default_factory=ScriptedJudge)
    now: datetime = SLOT + timedelta(hours=5)
    rubric: Any = RUBRIC

    @property
    def shop(self) -> Shop:
        """The same app for scheduled runs."""
        return Shop(self.path)

    def add(self, items: Sequence[Item]) -> list[str]:
        """Import answers; returns their ids."""
        return self.shop.add_items(items)

    def store(self) -> Store:
        """The database, to write."""
        return open_store(self.path, zone="UTC")

    def begin(self, *, restart: bool = False, judge: ScriptedJudge | None = None, **asked: Any) -> Pick:
        """Begin a pick, or go on with it."""
        self.now += timedelta(hours=1)
        with self.store() as store:
            return open_pick(
                store,
                PickRequest(**({"name": "own", "n": 10} | asked)),
                self.shop.settings(),
                judge or self.judge,
                most_chars=MOST_CHARS,
                now=self.now,
                restart=restart,
            )

    async def grade(self, pick: Pick, judge: ScriptedJudge | None = None, **changes: Any) -> RunReport:
        """Grade what is left of a pick."""
        return await grade_pick(pick, self.shop.settings(**changes), judge or self.judge, clock=SetClock(self.now))

    async def picked(self, **asked: Any) -> tuple[Pick, list[ReviewItem]]:
        """A pick that is graded, with its review."""
        pick = self.begin(**asked)
        assert (await self.grade(pick)).status == "finished"
        return pick, self.review(pick)

    def review(self, pick: Pick) -> list[ReviewItem]:
        """What there is to decide."""
        with self.store() as store:
            return load_review(store, pick, self.rubric)

    def query(self, sql: str, *values: object) -> list[dict[str, Any]]:
        """Rows of a query."""
        return self.shop.query(sql, *values)


def by_number(scores: Sequence[Reply]) -> Script:
    """A script that gives answers the scores in turn, by the number in their question."""
    return lambda item: scores[int(re.findall(r"\d+", item.input)[0]) % len(scores)]


__all__ = ["APP", "MOST_CHARS", "RUBRIC", "Desk", "by_number", "varied", "words"]
