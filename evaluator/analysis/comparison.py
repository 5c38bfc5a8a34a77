"""The runs' anchors compared with their own baseline, and that series watched; with its rows for charts and tables."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evaluator.analysis.history import AnchorHistory
from evaluator.analysis.judge_search import BrokenAnchor
from evaluator.analysis.judge_watch import JudgeWatched, watch_judge
from evaluator.analysis.units import Scale
from evaluator.findings import AnchorRun, MovedAnchor
from evaluator.stats.detector import level_floor_sd
from evaluator.stats.numeric import BoolArray, FloatArray, IntArray, mean_of_present
from evaluator.stats.paired import RunShifts, today_interval

MOST_MOVED = 12


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """Shifts of the runs, in 1..5 equivalents, and what the watch saw in them. Rows are those of the history."""

    watched: JudgeWatched
    baseline: BoolArray
    floor_sd: float

    def stretch_until(self, row: int) -> BoolArray:
        """The runs from the last change before a run up to it, shape (R,)."""
        start = max((step.row for step in self.watched.steps if step.row <= row), default=0)
        rows = np.arange(len(self.shifts.shift))
        return np.asarray((rows >= start) & (rows <= row), dtype=np.bool_)

    @property
    def shifts(self) -> RunShifts:
        """Shifts of the runs, broken anchors left out from their change on."""
        return self.watched.shifts


def compare_runs(
    history: AnchorHistory, *, threshold: float, level: float, tolerance: float, accepted_day: str | None = None
) -> Comparison | None:
    """Compare every run with the baseline; None while no run has graded enough anchors.

    Args:
        history: The anchors of a judge setup.
        threshold: Evidence that fires the alarm.
        level: Coverage of the intervals.
        tolerance: Largest change that does not matter, 1..5 equivalents.
        accepted_day: First day of a new normal that a person accepted.
    """
    baseline = history.baseline_mask()
    if not baseline.any():
        return None

    def compared(norm: BoolArray) -> Comparison:
        watched = watch_judge(
            history.scores,
            history.asked,
            norm,
            threshold=threshold,
            level=level,
            tolerance=tolerance,
            accepted_row=_accepted_row(history, accepted_day),
        )
        n_anchors = max(1, int(np.median(watched.shifts.n[watched.shifts.counted])))
        return Comparison(watched=watched, baseline=norm, floor_sd=level_floor_sd(n_anchors))

    found = compared(baseline)
    if not found.watched.boundaries:
        return found
    earlier = history.baseline_mask(found.watched.boundaries[0].row)
    if np.array_equal(earlier, baseline) or not earlier.any():
        return found
    # the judge changed inside the baseline: only the runs before that are the norm
    again = compared(earlier)
    return again if again.watched.boundaries else found


def _accepted_row(history: AnchorHistory, accepted_day: str | None) -> int | None:
    """First run of an accepted new normal; None without one, or when it would be every run or none."""
    if accepted_day is None:
        return None
    row = next((row for row, day in enumerate(history.days) if day >= accepted_day), 0)
    return row or None


# ---------------------------------------------------------------- rows


def anchor_runs(history: AnchorHistory, compared: Comparison | None, scale: Scale, level: float) -> list[AnchorRun]:
    """One row a run; without a comparison it has the mean of its anchors and nothing else."""
    found = [_bare_run(history, row, scale) for row in range(len(history.run_ids))]
    if compared is None:
        return found
    for row, run in enumerate(found):
        interval = today_interval(
            compared.shifts,
            row,
            reference=compared.baseline,
            floor_sd=compared.floor_sd,
            level=level,
            beside=compared.stretch_until(row),
        )
        run["counted"] = bool(compared.shifts.counted[row])
        run["in_baseline"] = bool(compared.baseline[row])
        run["shift"] = scale.change(compared.shifts.shift[row])
        run["low"] = None if interval is None else scale.change(interval.low)
        run["high"] = None if interval is None else scale.change(interval.high)
        run["evidence"] = _known(compared.watched.evidence[row])
    return found


def _bare_run(history: AnchorHistory, row: int, scale: Scale) -> AnchorRun:
    scored = history.scores[row][~np.isnan(history.scores[row])]
    return AnchorRun(
        run_id=history.run_ids[row],
        day=history.days[row],
        slot_utc=history.slots[row],
        n=len(scored),
        n_anchors=history.n_planned[row],
        not_counted=history.not_counted.get(history.run_ids[row], ""),
        counted=False,
        in_baseline=False,
        mean=scale.known_score(scored.mean()) if len(scored) else None,
        shift=None,
        low=None,
        high=None,
        evidence=None,
    )


def moved_anchors(history: AnchorHistory, watched: JudgeWatched, scale: Scale) -> list[MovedAnchor]:
    """The anchors that the last change moved most."""
    before, n_before = mean_of_present(history.scores[watched.start : watched.split], axis=0)
    after, n_after = mean_of_present(history.scores[watched.split :], axis=0)
    order = np.argsort(-np.abs(np.nan_to_num(after - before)), kind="stable")
    compared = [int(column) for column in order if n_before[column] and n_after[column]]
    return [
        _moved(history, column, (before, n_before), (after, n_after), scale) for column in compared[:MOST_MOVED]
    ]  # fmt: skip


def broken_anchor(history: AnchorHistory, broken: BrokenAnchor, scale: Scale) -> MovedAnchor:
    """An anchor before and after it left its usual score."""
    before = mean_of_present(history.scores[: broken.row], axis=0)
    return _moved(history, broken.column, before, mean_of_present(history.scores[broken.row :], axis=0), scale)


def _moved(
    history: AnchorHistory,
    column: int,
    before: tuple[FloatArray, IntArray],
    after: tuple[FloatArray, IntArray],
    scale: Scale,
) -> MovedAnchor:
    item_id = history.item_ids[column]
    return MovedAnchor(
        item_id=item_id,
        anchor_id=str(history.names[item_id]["anchor_id"]),
        expected_score=history.names[item_id]["expected_score"],
        before=scale.known_score(before[0][column]),
        after=scale.known_score(after[0][column]),
        n_before=int(before[1][column]),
        n_after=int(after[1][column]),
    )


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
