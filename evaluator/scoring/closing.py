"""How a run ends: its status in words, what answered differently than before, the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from evaluator.clock import parse_utc
from evaluator.records import ParsedVerdict, StopReason
from evaluator.store import read, write
from evaluator.store.db import Store
from evaluator.store.write import RunPlan

MOSTLY_FAILED_BELOW = 0.5


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a run is."""

    n_planned: int
    n_done: int
    n_scored: int
    n_unscored: int
    n_calls: int
    spent_usd: float
    elapsed_s: float


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """What came of a run. ``status`` as stored; ``already_finished`` when there was nothing to do."""

    run_id: str
    slot_utc: str
    status: str
    stop_reason: StopReason | None
    message: str
    n_anchors: int
    n_traffic: int
    n_scored: int
    n_unscored: int
    n_left: int
    n_calls: int
    spent_usd: float
    elapsed_s: float
    already_finished: bool = False
    n_older_answers: int = 0
    reasons: dict[str, int] = field(default_factory=dict)


@dataclass(kw_only=True)
class RunTally:
    """What happened so far in this process; a run that was taken up again has more in the store."""

    started: float
    n_planned: int = 0
    n_scored: int = 0
    n_unscored: int = 0
    n_calls: int = 0
    spent_usd: float = 0.0
    reasons: dict[str, int] = field(default_factory=dict)
    stop_reason: StopReason | None = None
    stop_message: str = ""

    def stop(self, reason: StopReason, message: str) -> None:
        """Note why the run ends early; the first cause stands."""
        if self.stop_reason is None:
            self.stop_reason, self.stop_message = reason, message

    def count(self, verdict: ParsedVerdict) -> None:
        """Count one verdict."""
        if verdict.score is not None:
            self.n_scored += 1
            return
        self.n_unscored += 1
        reason = str(verdict.unscored_reason)
        self.reasons[reason] = self.reasons.get(reason, 0) + 1

    def progress(self, now: float) -> Progress:
        """How far the run is; ``now`` on the same clock as ``started``."""
        return Progress(
            n_planned=self.n_planned,
            n_done=self.n_scored + self.n_unscored,
            n_scored=self.n_scored,
            n_unscored=self.n_unscored,
            n_calls=self.n_calls,
            spent_usd=self.spent_usd,
            elapsed_s=now - self.started,
        )


def close_run(
    store: Store, plan: RunPlan, tally: RunTally, *, now: datetime, elapsed_s: float, n_older_answers: int
) -> RunReport:
    """Set the run's status, bring the totals up to date, and log what answered differently than before."""
    counts = read.run_counts(store, plan.run_id)
    status, message = _status(tally, counts)
    write.finish_run(store, plan.run_id, status=status, stop_reason=tally.stop_reason, message=message, now=now)
    _note_instrument_change(store, plan)
    n_planned = counts["n_anchors"] + counts["n_traffic"]
    return RunReport(
        run_id=plan.run_id,
        slot_utc=plan.slot_utc,
        status=status,
        stop_reason=tally.stop_reason,
        message=message,
        n_anchors=counts["n_anchors"],
        n_traffic=counts["n_traffic"],
        n_scored=counts["n_scored"],
        n_unscored=counts["n_unscored"],
        n_left=n_planned - counts["n_scored"] - counts["n_unscored"],
        n_calls=tally.n_calls,
        spent_usd=tally.spent_usd,
        elapsed_s=elapsed_s,
        n_older_answers=n_older_answers,
        reasons=tally.reasons,
    )


def _status(tally: RunTally, counts: Mapping[str, int]) -> tuple[str, str]:
    """Finished, stopped (goes on when started again), or failed (mostly without scores: it enters no mean)."""
    tried = counts["n_scored"] + counts["n_unscored"]
    if tried and counts["n_scored"] < MOSTLY_FAILED_BELOW * tried:
        worst = max(tally.reasons, key=lambda reason: tally.reasons[reason], default="unknown")
        return "failed", tally.stop_message or (
            f"{counts['n_unscored']} of {tried} verdicts have no score (mostly {worst}); the run enters no mean"
        )
    if tally.stop_reason is not None:
        return "stopped", tally.stop_message
    return "finished", ""


def _note_instrument_change(store: Store, plan: RunPlan) -> None:
    """Log when something else answered than in the run before: same model asked, another one returned, say."""
    rows = read.instruments_by_run(store, plan.app, plan.ruler_id)
    ours = [row for row in rows if row["run_id"] == plan.run_id]
    earlier = [row for row in rows if row["slot_utc"] < plan.slot_utc]
    if not ours or not earlier or any(event["run_id"] == plan.run_id for event in read.events(store, plan.app)):
        return
    last_slot = earlier[-1]["slot_utc"]
    before = max((row for row in earlier if row["slot_utc"] == last_slot), key=lambda row: row["n"])
    now = max(ours, key=lambda row: row["n"])
    if before["instrument_id"] == now["instrument_id"]:
        return
    names = {
        "resolved_model": "returned model",
        "fingerprint": "fingerprint",
        "output_mode": "output mode",
        "parameters_json": "parameters",
    }
    changes = [f"{names[key]} {before[key]} → {now[key]}" for key in names if before[key] != now[key]]
    write.add_event(
        store,
        app=plan.app,
        at=parse_utc(plan.slot_utc),
        kind="instrument",
        text="what answers changed: " + "; ".join(changes),
        by_whom="scorer",
        ruler_id=plan.ruler_id,
        run_id=plan.run_id,
    )


def nothing_to_do(plan: RunPlan) -> RunReport:
    """Report on a run that had finished before."""
    return RunReport(
        run_id=plan.run_id,
        slot_utc=plan.slot_utc,
        status="finished",
        stop_reason=None,
        message="",
        n_anchors=0,
        n_traffic=0,
        n_scored=0,
        n_unscored=0,
        n_left=0,
        n_calls=0,
        spent_usd=0.0,
        elapsed_s=0.0,
        already_finished=True,
    )
