"""The runs' anchors compared with their own baseline, and that series watched; with its rows for charts and tables."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evaluator.analysis.history import AnchorHistory
from evaluator.analysis.units import Scale
from evaluator.analysis.watching import Watched, watch
from evaluator.findings import AnchorRun, MovedAnchor
from evaluator.stats.detector import level_floor_sd
from evaluator.stats.numeric import BoolArray, mean_of_present
from evaluator.stats.paired import RunShifts, run_shifts, today_interval

MOST_MOVED = 12


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """Shifts of the runs, in 1..5 equivalents, and what the watch saw in them. Rows are those of the history."""

    shifts: RunShifts
    watched: Watched
    baseline: BoolArray
    floor_sd: float


def compare_runs(history: AnchorHistory, *, threshold: float, level: float, tolerance: float) -> Comparison | None:
    """Compare every run with the baseline; None while no run has graded enough anchors."""
    baseline = history.baseline_mask()
    if not baseline.any():
        return None
    found = _compare(history, baseline, threshold, level, tolerance)
    if not found.watched.steps:
        return found
    earlier = history.baseline_mask(found.watched.steps[0].row)
    if np.array_equal(earlier, baseline):
        return found
    # the judge changed inside the baseline: only the runs before that are the norm
    again = _compare(history, earlier, threshold, level, tolerance)
    return again if again.watched.steps else found


def _compare(
    history: AnchorHistory, baseline: BoolArray, threshold: float, level: float, tolerance: float
) -> Comparison:
    shifts = run_shifts(history.scores, baseline, asked=history.asked)
    floor_sd = level_floor_sd(max(1, int(np.median(shifts.n[shifts.counted]))))
    watched = watch(shifts.stream, threshold=threshold, floor_sd=floor_sd, level=level, tolerance=tolerance)
    return Comparison(shifts=shifts, watched=watched, baseline=baseline, floor_sd=floor_sd)


# ---------------------------------------------------------------- rows


def anchor_runs(history: AnchorHistory, compared: Comparison | None, scale: Scale, level: float) -> list[AnchorRun]:
    """One row a run; without a comparison it has the mean of its anchors and nothing else."""
    found = [_bare_run(history, row, scale) for row in range(len(history.run_ids))]
    if compared is None:
        return found
    for row, run in enumerate(found):
        interval = today_interval(
            compared.shifts, row, reference=compared.baseline, floor_sd=compared.floor_sd, level=level
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


def moved_anchors(history: AnchorHistory, watched: Watched, scale: Scale) -> list[MovedAnchor]:
    """The anchors that the last change moved most."""
    before, n_before = mean_of_present(history.scores[watched.start : watched.split], axis=0)
    after, n_after = mean_of_present(history.scores[watched.split :], axis=0)
    order = np.argsort(-np.abs(np.nan_to_num(after - before)), kind="stable")
    compared = [column for column in order if n_before[column] and n_after[column]]
    found = []
    for column in compared[:MOST_MOVED]:
        item_id = history.item_ids[column]
        found.append(
            MovedAnchor(
                item_id=item_id,
                anchor_id=str(history.names[item_id]["anchor_id"]),
                expected_score=history.names[item_id]["expected_score"],
                before=scale.known_score(before[column]),
                after=scale.known_score(after[column]),
                n_before=int(n_before[column]),
                n_after=int(n_after[column]),
            )
        )
    return found


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
