"""Seeded judges and assistants at the seam between store and analysis: months in milliseconds, no database.

Anchors come as the matrix that ``history`` reads, answers as the sums that the rollup keeps; what follows is the
product's own code. Every day has one run, which grades the anchors and the answers of the day before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evaluator.analysis.events import shift_day
from evaluator.analysis.history import AnchorHistory
from evaluator.analysis.judge import Judge, find_judge
from evaluator.analysis.mix import mix_effects
from evaluator.analysis.quality import Budget, quality_finding
from evaluator.analysis.segments import segment_findings
from evaluator.analysis.series import watched_series
from evaluator.analysis.shares import change_shares
from evaluator.analysis.totals import Totals, Traffic, correct_totals
from evaluator.analysis.units import Scale
from evaluator.findings import JudgeFinding, QualityFinding, SegmentFinding, SettingsUsed, Shares
from evaluator.stats.intervals import SUM_NAMES

FIRST_DAY = "2026-01-01"
EVERYTHING = 1
SCALE = Scale(low=1.0, high=5.0)
SETTINGS = SettingsUsed(
    level=0.95,
    false_alarms_per_year=1.0,
    runs_per_year=365.0,
    smallest_change=0.1,
    baseline_runs=20,
    learning_runs=10,
)


@dataclass(frozen=True, kw_only=True)
class World:
    """What happens, in points of 1..5. Days count from 0; None means never.

    Attributes:
        n_days: Length.
        n_anchors: Anchors in every run.
        answers: Answers a day, by segment.
        judge_day: First run with the changed judge.
        judge_until: First run after that; from then on it is as it was.
        judge_gain: What it gives more to an answer in the middle of the scale.
        judge_slope: What becomes of the distance from the middle.
        assistant_day: First run that grades worse answers.
        assistant_until: First run after that.
        assistant_loss: By how much they are worse, by segment.
        run_sd: Shock that the judge has on a day, common to anchors and answers.
        assistant_sd: Shock that the assistant has on a day.
    """

    n_days: int = 120
    n_anchors: int = 60
    answers: tuple[int, ...] = (50, 50, 50)
    judge_day: int | None = None
    judge_until: int | None = None
    judge_gain: float = 0.0
    judge_slope: float = 1.0
    assistant_day: int | None = None
    assistant_until: int | None = None
    assistant_loss: tuple[float, ...] = (0.0, 0.0, 0.0)
    run_sd: float = 0.026
    assistant_sd: float = 0.02


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What the analysis says of a simulated world."""

    judge: JudgeFinding
    assistant: QualityFinding
    segments: list[SegmentFinding]
    shares: Shares | None = field(default=None)


def see(world: World, rng: np.random.Generator) -> Seen:
    """Simulate a world and analyse it."""
    history, rows = simulate(world, rng)
    judge, traffic = prepare(history, rows, len(world.answers))
    assistant = quality_finding(
        watched_series(traffic.totals, EVERYTHING, taken_out=mix_effects(traffic, judge.baseline_runs)),
        judge.regimes,
        scale=SCALE,
        settings=SETTINGS,
        events=[],
        budget=Budget(weight=0.35),
    )
    return Seen(
        judge=judge.finding,
        assistant=assistant,
        segments=segment_findings(traffic, judge, scale=SCALE, settings=SETTINGS, events=[], last_days=14),
        shares=change_shares(traffic, judge, scale=SCALE, settings=SETTINGS, last_days=14),
    )


def prepare(history: AnchorHistory, rows: Sequence[dict[str, Any]], n_segments: int) -> tuple[Judge, Traffic]:
    """Find the judge's changes and correct the answers."""
    judge = find_judge(history, scale=SCALE, settings=SETTINGS, events=[])
    slots = dict(zip(history.run_ids, history.slots, strict=True))
    totals: Totals = correct_totals(rows, everything=EVERYTHING, slots=slots, scale=SCALE, judge=judge)
    names = {EVERYTHING: {"key": "", "value": "", "key2": "", "value2": ""}}
    names |= {
        EVERYTHING + 1 + place: {"key": "topic", "value": f"topic-{place}", "key2": "", "value2": ""}
        for place in range(n_segments)
    }
    return judge, Traffic(totals=totals, everything=EVERYTHING, names=names, keys=(("topic", ""),), sampled={})


def simulate(world: World, rng: np.random.Generator) -> tuple[AnchorHistory, list[dict[str, Any]]]:
    """Anchors that mostly repeat and some that flip, answers with a spread of one point, shocks common to a day."""
    days = [shift_day(FIRST_DAY, number) for number in range(world.n_days)]
    shock = rng.normal(0, world.run_sd, world.n_days)
    modal = rng.permutation(np.resize(np.arange(1.0, 6.0), world.n_anchors))
    flips = np.where(rng.random(world.n_anchors) < 0.2, rng.uniform(0.05, 0.5, world.n_anchors), 0.004)
    flipped = rng.random((world.n_days, world.n_anchors)) < flips
    opinions = modal + flipped * rng.choice([-1.0, 1.0], world.n_anchors)
    scores = np.array([_judged(world, number, opinions[number]) for number in range(world.n_days)]) + shock[:, None]
    items = tuple(f"anchor-{number:03d}" for number in range(world.n_anchors))
    history = AnchorHistory(
        run_ids=tuple(f"run-{day}" for day in days),
        slots=tuple(f"{day}T06:00:00.000Z" for day in days),
        days=tuple(days),
        item_ids=items,
        names={item: {"anchor_id": item, "expected_score": None} for item in items},
        scores=scores,
        asked=np.ones(scores.shape, dtype=np.bool_),
        n_planned=(world.n_anchors,) * world.n_days,
    )
    rows = [row for number in range(world.n_days) for row in _rows_of(world, number, days[number], shock[number], rng)]
    return history, rows


def _judged(world: World, number: int, opinions: np.ndarray) -> np.ndarray:
    """What the judge makes of opinions on a day, before the day's shock."""
    if not _is_between(number, world.judge_day, world.judge_until):
        return opinions
    return 3.0 + world.judge_gain + world.judge_slope * (opinions - 3.0)


def _is_between(number: int, first: int | None, until: int | None) -> bool:
    return first is not None and first <= number and (until is None or number < until)


def _rows_of(world: World, number: int, slot_day: str, shock: float, rng: np.random.Generator) -> list[dict[str, Any]]:
    """The sums of the answers of the day before, graded in one run: of everything, and of each segment."""
    assistant_shock = rng.normal(0, world.assistant_sd)
    is_worse = _is_between(number, world.assistant_day, world.assistant_until)
    parts = []
    for place, n in enumerate(world.answers):
        loss = world.assistant_loss[place] if is_worse else 0.0
        opinions = 3.5 - loss + assistant_shock + rng.normal(0, 1.0, n)
        parts.append(_judged(world, number, opinions) + shock)
    rows = [_row(EVERYTHING + 1 + place, slot_day, scores) for place, scores in enumerate(parts)]
    return [_row(EVERYTHING, slot_day, np.concatenate(parts)), *rows]


def _row(segment_id: int, slot_day: str, scores: np.ndarray) -> dict[str, Any]:
    n, total, squares = float(len(scores)), float(scores.sum()), float((scores**2).sum())
    sums = dict.fromkeys(SUM_NAMES, n) | {"sum_wy": total, "sum_w2y": total, "sum_tw": total}
    sums |= {"sum_w2y2": squares, "sum_t2": squares}
    return sums | {
        "segment_id": segment_id,
        "day": shift_day(slot_day, -1),
        "run_id": f"run-{slot_day}",
        "n": len(scores),
        "n_unscored": 0,
    }
