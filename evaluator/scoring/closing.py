"""How a run ends: its status in words, what answered differently than before, the report."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluator.clock import Clock, parse_utc
from evaluator.records import ParsedVerdict, StopReason, UnscoredReason
from evaluator.scoring.cached import why_not_counted
from evaluator.store import read, write
from evaluator.store.db import Store
from evaluator.store.write import RunPlan

MOSTLY_FAILED_BELOW = 0.5
_WHAT_TO_DO = "switch its cache off for the judge; `judgewatch doctor` names the settings and shows whether it is off"


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
    """What came of a run. ``status`` as stored; ``already_finished`` when there was nothing to do.

    ``not_counted`` says why its anchors are no measurement, and what to do; empty when they are one.
    """

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
    not_counted: str = ""


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


def close_run(store: Store, plan: RunPlan, tally: RunTally, clock: Clock, *, n_older_answers: int) -> RunReport:
    """Set the run's status, bring the totals up to date, and log what answered differently than before."""
    counts = read.run_counts(store, plan.run_id)
    status, message = _status(tally, counts)
    # a run that stands aside grades nothing twice, and one that failed enters no mean anyway
    not_counted = "" if plan.purpose.is_aside or status == "failed" else why_not_counted(store, plan.run_id)
    write.finish_run(
        store,
        plan.run_id,
        status=status,
        stop_reason=tally.stop_reason,
        message=message,
        now=clock.now(),
        not_counted=not_counted,
    )
    if not plan.purpose.is_aside:
        _note_instrument_change(store, plan)
    if not_counted:
        _note_not_counted(store, plan, not_counted)
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
        elapsed_s=time.monotonic() - tally.started,
        n_older_answers=n_older_answers,
        reasons=counts["reasons"],
        not_counted=f"{not_counted}; {_WHAT_TO_DO}" if not_counted else "",
    )


def mostly_failed(counts: Mapping[str, Any]) -> bool:
    """Whether a run has too few scores to enter a mean; an answer without text is no failure of the judge."""
    n_tried = counts["n_scored"] + counts["n_unscored"] - counts["reasons"].get(UnscoredReason.NO_ANSWER_TEXT, 0)
    return bool(counts["n_scored"] < MOSTLY_FAILED_BELOW * n_tried)


def _status(tally: RunTally, counts: Mapping[str, Any]) -> tuple[str, str]:
    """Finished, stopped (goes on when started again), or failed (mostly without scores: it enters no mean)."""
    n_tried = counts["n_scored"] + counts["n_unscored"]
    if mostly_failed(counts):
        reasons = counts["reasons"]
        worst = max(reasons, key=lambda reason: reasons[reason])
        return "failed", tally.stop_message or (
            f"{counts['n_unscored']} of {n_tried} verdicts have no score (mostly {worst}); the run enters no mean"
        )
    if tally.stop_reason is not None:
        return "stopped", tally.stop_message
    return "finished", ""


def _note_instrument_change(store: Store, plan: RunPlan) -> None:
    """Log when something else answered than in the run before: same model asked, another one returned, say."""
    ours = read.instruments_of_run(store, plan.run_id)
    before = read.instrument_before(store, app=plan.app, ruler_id=plan.ruler_id, slot_utc=plan.slot_utc)
    if not ours or before is None or before["instrument_id"] == ours[0]["instrument_id"]:
        return
    if _is_logged(store, plan, "instrument"):
        return  # when this run was closed the first time
    now = ours[0]
    changes = [f"{name} {before[key]} → {now[key]}" for key, name in _PARTS.items() if before[key] != now[key]]
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


def _note_not_counted(store: Store, plan: RunPlan, why: str) -> None:
    """Log the first of the runs in a row that do not count; the others need no mark of their own."""
    before = read.run_before(store, plan.run_id)
    if (before is not None and before["not_counted"]) or _is_logged(store, plan, "note"):
        return
    write.add_event(
        store,
        app=plan.app,
        at=parse_utc(plan.slot_utc),
        kind="note",
        text=f"anchors do not count from this run on: {why}",
        by_whom="scorer",
        ruler_id=plan.ruler_id,
        run_id=plan.run_id,
    )


def _is_logged(store: Store, plan: RunPlan, kind: str) -> bool:
    """Whether an event of a kind stands for this run already."""
    events = read.events(store, plan.app, first_day=plan.slot_day)
    return any(event["run_id"] == plan.run_id and event["kind"] == kind for event in events)


_PARTS = {
    "resolved_model": "returned model",
    "fingerprint": "fingerprint",
    "output_mode": "output mode",
    "parameters_json": "parameters",
}


def nothing_to_do(plan: RunPlan, status: str) -> RunReport:
    """Report on a run that was over before: finished, or closed when a later one began."""
    return RunReport(
        run_id=plan.run_id,
        slot_utc=plan.slot_utc,
        status=status,
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
