"""What the tests of the scorer share: a judge that does as it is told, a clock, and an app to grade."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from evaluator.clock import utc_text
from evaluator.config import TrafficConfig
from evaluator.judges.base import BudgetReachedError, CallGate
from evaluator.records import (
    Anchor,
    Attempt,
    GradeOutcome,
    Instrument,
    Item,
    ParsedVerdict,
    Ruler,
    StopReason,
    UnscoredReason,
)
from evaluator.scoring.budget import Limits
from evaluator.scoring.closing import RunReport
from evaluator.scoring.plan import RunSettings
from evaluator.scoring.runner import run_once
from evaluator.store import read
from evaluator.store.db import open_reader, open_store
from tests.builders import ruler
from tests.store.helpers import anchor, answer, ids_of, import_items

APP = "shop"
DAY = "2026-02-27"
SLOT = datetime(2026, 2, 28, 6, tzinfo=UTC)
ONE_DAY = timedelta(days=1)

Reply = float | UnscoredReason | StopReason | Exception
Script = Callable[[Item], Reply]


@dataclass
class SetClock:
    """A clock that tells what it is set to."""

    instant: datetime = SLOT

    def now(self) -> datetime:
        """The time it is set to."""
        return self.instant


@dataclass
class ScriptedJudge:
    """A judge whose replies are a function of the item: a score, a reason, a stop, or an error it raises.

    ``calls`` counts by item id; ``cost_usd`` is set aside and paid for each call; ``delay_s`` is how long one takes.
    """

    script: Script = lambda _: 4.0
    ruler: Ruler = field(default_factory=ruler)
    model: str = "judge-2026"
    cost_usd: float = 0.0
    delay_s: float = 0.0
    calls: Counter[str] = field(default_factory=Counter)
    in_flight: int = 0
    most_in_flight: int = 0
    n_runs: int = 0

    async def grade(self, item: Item, *, item_id: str, gate: CallGate) -> GradeOutcome:
        """Do as the script says."""
        if not item.output.strip():
            return GradeOutcome(
                verdict=ParsedVerdict(score=None, unscored_reason=UnscoredReason.NO_ANSWER_TEXT), attempts=()
            )
        try:
            reservation = await gate.reserve(self.cost_usd)
        except BudgetReachedError as error:
            return GradeOutcome(verdict=None, attempts=(), stop=StopReason.BUDGET, stop_message=str(error))
        self.calls[item_id] += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self.delay_s)
            return self._outcome(self.script(item))
        finally:
            self.in_flight -= 1
            reservation.settle(self.cost_usd)

    def _outcome(self, reply: Reply) -> GradeOutcome:
        if isinstance(reply, Exception):
            raise reply
        reason = None if isinstance(reply, float | int) else str(reply)
        call = Attempt(
            started_utc=utc_text(SLOT), duration_ms=1.0, http_status=None, reason=reason, cost_usd=self.cost_usd
        )
        if isinstance(reply, StopReason):
            return GradeOutcome(verdict=None, attempts=(call,), stop=reply, stop_message=f"told to stop: {reply}")
        failed = isinstance(reply, UnscoredReason)
        verdict = ParsedVerdict(
            score=None if isinstance(reply, UnscoredReason) else float(reply),
            unscored_reason=reply if isinstance(reply, UnscoredReason) else None,
        )
        instrument = Instrument(resolved_model=self.model, fingerprint=None, output_mode="text", parameters={})
        return GradeOutcome(verdict=verdict, attempts=(call,), instrument=None if failed else instrument)

    def plan_cost(self, items: Sequence[Item]) -> float | None:
        """What grading these items costs."""
        return len(items) * self.cost_usd

    def forget_adjustments(self) -> None:
        """Count the runs that began."""
        self.n_runs += 1

    async def close(self) -> None:
        """Nothing to release."""


def by_output(replies: dict[str, Reply], otherwise: Reply = 4.0) -> Script:
    """A script that looks the reply up by the text of the answer."""
    return lambda item: replies.get(item.output, otherwise)


@dataclass
class Shop:
    """One app in one database, with anchors, ready to be graded."""

    path: Path
    anchors: list[Anchor] = field(default_factory=lambda: [anchor(number) for number in range(4)])
    zone: str | None = "UTC"

    def add_answers(self, number: int, *, day: str = DAY, **changes: Any) -> list[str]:
        """Import answers of a day; returns their ids."""
        items = [answer(place, day=day, **changes) for place in range(number)]
        return self.add_items(items)

    def add_items(self, items: Sequence[Item]) -> list[str]:
        """Import these answers; returns their ids."""
        with open_store(self.path, zone=self.zone) as store:
            import_items(store, items, app=APP)
        return ids_of(items, app=APP)

    def settings(self, *, days: int = 0, **changes: Any) -> RunSettings:
        """A run of the slot some days after the first."""
        values: dict[str, Any] = {
            "store_path": self.path,
            "app": APP,
            "zone": self.zone,
            "anchor_set_name": "general",
            "anchors": self.anchors,
            "traffic": TrafficConfig(),
            "limits": Limits(),
            "concurrency": 8,
            "slot": SLOT + days * ONE_DAY,
            "segment_keys": (),
        }
        return RunSettings(**(values | changes))

    async def run(
        self,
        judge: ScriptedJudge,
        *,
        days: int = 0,
        stop: asyncio.Event | None = None,
        clock: SetClock | None = None,
        on_progress: Callable[[Any], None] | None = None,
        **changes: Any,
    ) -> RunReport:
        """Grade one slot."""
        return await run_once(
            self.settings(days=days, **changes),
            judge,
            clock=clock or SetClock(SLOT + days * ONE_DAY),
            stop=stop,
            on_progress=on_progress,
        )

    def runs(self) -> list[dict[str, Any]]:
        """The runs, newest first."""
        with open_reader(self.path) as store:
            return read.runs(store, APP)

    def events(self) -> list[tuple[str, str, str]]:
        """Kind, day and text of what was logged."""
        with open_reader(self.path) as store:
            return [(event["kind"], event["day"], event["text"]) for event in read.events(store, APP)]

    def query(self, sql: str, *values: object) -> list[dict[str, Any]]:
        """Rows of a query."""
        with open_reader(self.path) as store:
            return [dict(row) for row in store.connection.execute(sql, values)]

    def scores(self, *, source: str = "traffic") -> dict[str, float | None]:
        """Score by item id, None for a verdict without."""
        rows = self.query(
            "SELECT v.item_id, v.score FROM verdicts v JOIN items i USING (item_id) WHERE source = ?", source
        )
        return {row["item_id"]: row["score"] for row in rows}


def assert_adds_up(report: RunReport, run: dict[str, Any]) -> None:
    """Planned is scored, unscored and not started; the report says the same as the stored run."""
    assert report.n_scored + report.n_unscored + report.n_left == report.n_anchors + report.n_traffic
    assert report.n_scored == run["n_scored_anchor"] + run["n_scored_traffic"]
    assert report.n_unscored == run["n_unscored_anchor"] + run["n_unscored_traffic"]
    assert (report.n_left, report.status, report.reasons) == (run["n_not_started"], run["status"], run["reasons"])
