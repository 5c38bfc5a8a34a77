"""How many anchors, and how many answers a day, it takes to see a change, with the noise of this app's own runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.analysis.settings import ASSISTANT_WEIGHT, JUDGE_LEVEL_WEIGHT, JUDGE_WEIGHT, AnalysisSettings
from evaluator.analysis.units import Scale
from evaluator.findings import Findings
from evaluator.stats.detector import alarm_threshold
from evaluator.stats.numeric import FloatArray
from evaluator.stats.planning import (
    ANCHOR_SD,
    ANSWER_SD,
    RUN_SHOCK_SD,
    Stream,
    anchor_stream,
    anchors_needed,
    answer_stream,
    answers_needed,
    runs_to_alarm,
)
from evaluator.stats.reliability import reliability

ANCHOR_COUNTS = (20, 30, 50, 100, 200)
ANSWER_COUNTS = (20, 50, 100, 200, 500)
FEW_RUNS = 10  # own runs from which their noise is believed


@dataclass(frozen=True, kw_only=True)
class PowerRow:
    """A number of anchors (or answers a day) and the days after which each change is seen; None: over a year."""

    n: int
    days: tuple[int | None, ...]


@dataclass(frozen=True, kw_only=True)
class PowerTable:
    """Days to see a change of the judge (anchors) or of the assistant (answers).

    Attributes:
        what: What is seen, in words.
        noun: What is counted.
        n_now: How many there are a run now.
        spread_now: Spread of a run's mean with that many, rubric units.
        rows: One a number.
        needed: By change: the fewest with which it is seen within the days asked for; None where no number is enough.
    """

    what: str
    noun: str
    n_now: int
    spread_now: float
    rows: tuple[PowerRow, ...]
    needed: tuple[int | None, ...]


@dataclass(frozen=True, kw_only=True)
class Power:
    """What can be seen, with what it rests on. ``changes`` are in rubric units."""

    changes: tuple[float, ...]
    days: int
    basis: str
    budget: str
    anchors: PowerTable
    answers: PowerTable


@dataclass(frozen=True, kw_only=True)
class Noise:
    """Spreads in 1..5 equivalents, and whether they are this app's own."""

    single_sd: float
    shock_sd: float
    n_now: int
    is_own: bool


def planned(
    findings: Findings | None,
    anchor_scores: FloatArray,
    *,
    settings: AnalysisSettings,
    scale: Scale,
    change: float | None,
    days: int,
) -> Power:
    """Tell how many anchors and answers a change takes.

    Args:
        findings: The newest analysis; None before the first.
        anchor_scores: Scores of the anchors in use in the runs since the judge last changed, runs by anchors, 1..5
            equivalents; empty where there are none.
        settings: The user's decisions.
        scale: Of the rubric.
        change: The change that matters, rubric units; three sizes are told when it is None.
        days: Days within which it should be seen.
    """
    sizes = tuple(round(settings.smallest_change * factor, 6) for factor in (0.5, 1.0, 2.0))
    changes = sizes if change is None else (change,)
    points = tuple(each / scale.unit for each in changes)
    runs_per_year, alarms = settings.runs_per_year, settings.false_alarms_per_year
    runs = max(1, round(days * runs_per_year / 365.25))
    judge, assistant = anchor_noise(anchor_scores), answer_noise(findings, scale)
    threshold = alarm_threshold(runs_per_year=runs_per_year, false_alarms_per_year=alarms, weight=JUDGE_LEVEL_WEIGHT)
    day_threshold = alarm_threshold(runs_per_year=365.25, false_alarms_per_year=alarms, weight=ASSISTANT_WEIGHT)

    def of_anchors(n: int) -> Stream:
        return anchor_stream(n, anchor_sd=judge.single_sd, run_shock_sd=judge.shock_sd)

    def of_answers(n: int) -> Stream:
        return answer_stream(n, answer_sd=assistant.single_sd, run_shock_sd=assistant.shock_sd)

    return Power(
        changes=changes,
        days=days,
        basis=_basis(judge, assistant),
        budget=f"Half of such changes are seen sooner, half later; at {alarms:g} false alarms a year over all that is"
        f" watched, of which the judge and the assistant have {JUDGE_WEIGHT:.0%} each.",
        anchors=PowerTable(
            what="Days until a change of the judge is seen, by anchors in a run",
            noun="anchors",
            n_now=judge.n_now,
            spread_now=of_anchors(judge.n_now).spread * scale.unit,
            rows=_rows(ANCHOR_COUNTS, judge.n_now, points, threshold, of_anchors, 365.25 / runs_per_year),
            needed=tuple(
                anchors_needed(
                    each, runs, threshold=threshold, anchor_sd=judge.single_sd, run_shock_sd=judge.shock_sd
                )
                for each in points
            ),
        ),
        answers=PowerTable(
            what="Days until a change of the assistant is seen, by answers graded a day, while the judge is steady",
            noun="answers",
            n_now=assistant.n_now,
            spread_now=of_answers(assistant.n_now).spread * scale.unit,
            rows=_rows(ANSWER_COUNTS, assistant.n_now, points, day_threshold, of_answers, 1.0),
            needed=tuple(
                answers_needed(
                    each, days, threshold=day_threshold, answer_sd=assistant.single_sd, run_shock_sd=assistant.shock_sd
                )
                for each in points
            ),
        ),
    )  # fmt: skip


def anchor_noise(scores: FloatArray) -> Noise:
    """Noise of one anchor and shock of a run, from quiet runs; the usual ones where there are too few.

    The spread of a run's mean and the pooled spread of single anchors are two equations:
    ``sd_mean^2 = anchor^2 / K + shock^2`` and ``sd_single^2 = anchor^2 + shock^2``.
    """
    n_runs, n_anchors = scores.shape if scores.ndim == 2 else (0, 0)
    single = reliability(scores).noise_sd if n_runs >= FEW_RUNS and n_anchors else None
    if single is None:
        return Noise(single_sd=ANCHOR_SD, shock_sd=RUN_SHOCK_SD, n_now=max(n_anchors, 50), is_own=False)
    means = np.nanmean(scores - np.nanmean(scores, axis=0), axis=1)
    of_mean = float(means.var(ddof=1))
    anchor = max(single**2 - of_mean, 0.0) / (1 - 1 / n_anchors) if n_anchors > 1 else single**2
    shock = max(of_mean - anchor / n_anchors, 0.0)
    return Noise(single_sd=math.sqrt(anchor), shock_sd=math.sqrt(shock), n_now=n_anchors, is_own=True)


def answer_noise(findings: Findings | None, scale: Scale) -> Noise:
    """Spread of single answers and of whole days, from the finished days since the judge last changed."""
    since = "" if findings is None else (findings["judge"]["since_day"] or "")
    days = [] if findings is None else [
        day for day in findings["days"]
        if day["finished"] and day["day"] >= since and day["corrected"] is not None and day["n"] >= 2
        and day["mean"] is not None and day["low"] is not None
    ]  # fmt: skip
    if len(days) < FEW_RUNS or findings is None:
        return Noise(single_sd=ANSWER_SD, shock_sd=RUN_SHOCK_SD, n_now=100, is_own=False)
    n = float(np.median([day["n"] for day in days]))
    errors = [((day["mean"] or 0.0) - (day["low"] or 0.0)) / 1.96 / scale.unit for day in days]
    single = float(np.mean([error**2 * day["n"] for error, day in zip(errors, days, strict=True)]))
    of_days = float(np.var([(day["corrected"] or 0.0) / scale.unit for day in days], ddof=1))
    shock = max(of_days - single / n, 0.0)
    return Noise(single_sd=math.sqrt(single), shock_sd=math.sqrt(shock), n_now=round(n), is_own=True)


def _rows(
    counts: Sequence[int],
    n_now: int,
    points: Sequence[float],
    threshold: float,
    stream: Callable[[int], Stream],
    days_per_run: float,
) -> tuple[PowerRow, ...]:
    def days(point: float, n: int) -> int | None:
        runs = runs_to_alarm(point, stream(n), threshold=threshold)
        return None if runs is None else math.ceil(runs * days_per_run)

    return tuple(
        PowerRow(n=n, days=tuple(days(point, n) for point in points)) for n in sorted({*counts, n_now})
    )  # fmt: skip


def _basis(judge: Noise, assistant: Noise) -> str:
    def words(noise: Noise, what: str) -> str:
        return f"noise of {what} from your own runs" if noise.is_own else f"usual noise of {what}: too few own runs"

    return f"Rests on: {words(judge, 'the judge')}; {words(assistant, 'the answers')}."
