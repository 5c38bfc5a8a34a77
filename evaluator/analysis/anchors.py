"""The judge: its anchors run by run against their own baseline, and what that says. Anchors only, never traffic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

import numpy as np

from evaluator.findings import AnchorRun, EventMark, JudgeFinding, JudgeState, MovedAnchor, SettingsUsed
from evaluator.stats.correction import SLOPE_RUNS, JudgeMap, NoMap, fit_judge_map, fit_judge_maps
from evaluator.stats.detector import (
    BASELINE_RUNS,
    Detection,
    LevelChange,
    alarm_threshold,
    detect,
    level_floor_sd,
    level_since,
)
from evaluator.stats.evidence import MIN_REFERENCE_RUNS
from evaluator.stats.intervals import Finding, classify
from evaluator.stats.numeric import BoolArray, FloatArray, mean_of_present
from evaluator.stats.paired import RunShifts, enough_anchors, normalise, run_shifts, today_interval, units_per_point
from evaluator.store import read
from evaluator.store.db import Store

JUDGE_WEIGHT = 0.35  # share of the false-alarm budget (docs/architecture.md)
MOST_MOVED = 12
DAYS_AROUND = 1  # a cause may be logged a day before or after it shows


@dataclass(frozen=True, kw_only=True, eq=False)
class AnchorHistory:
    """The matrix run x anchor of one judge setup, in 1..5 equivalents.

    ``maps`` take raw traffic means of a run back to the baseline's scale; ``regime_map`` is that of all runs since the
    judge changed, taken together.
    """

    run_ids: tuple[str, ...]
    slots: tuple[str, ...]
    days: tuple[str, ...]
    item_ids: tuple[str, ...]
    names: dict[str, read.Row]
    scores: FloatArray
    asked: BoolArray
    n_planned: tuple[int, ...]

    @property
    def counted(self) -> BoolArray:
        """Runs in which enough anchors were graded to enter the statistics."""
        present = ~np.isnan(self.scores)
        return enough_anchors((present & self.asked).sum(axis=1), self.asked.sum(axis=1))

    def baseline_mask(self, change_run: int | None = None) -> BoolArray:
        """The first counted runs, those before a change if it came so early."""
        counted = np.flatnonzero(self.counted)
        if change_run is not None:
            counted = counted[counted < change_run]
        mask = np.zeros(len(self.run_ids), dtype=np.bool_)
        mask[counted[:BASELINE_RUNS]] = True
        return mask

    @property
    def baseline_days(self) -> list[str]:
        """Days of the baseline runs."""
        return [day for day, used in zip(self.days, self.baseline_mask(), strict=True) if used]


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgeChange:
    """What the anchors say, for those who correct traffic with it. Runs are rows of the history."""

    shifts: RunShifts | None
    detection: Detection | None
    change_run: int | None
    maps: tuple[JudgeMap | NoMap, ...]
    regime_map: JudgeMap | NoMap | None

    def map_of(self, history: AnchorHistory, run_id: str) -> JudgeMap | NoMap | None:
        """Map of the run that graded some traffic; None when that run graded no anchors."""
        return self.maps[history.run_ids.index(run_id)] if run_id in history.run_ids and self.maps else None

    def is_after(self, history: AnchorHistory, slot_utc: str) -> bool:
        """Whether a run lies after the judge's change."""
        return self.change_run is not None and slot_utc >= history.slots[self.change_run]


def read_anchor_history(
    store: Store, *, app: str, ruler_id: str, criterion: str, scale: tuple[float, float]
) -> AnchorHistory:
    """Read the matrix run x anchor of a judge setup."""
    runs = read.anchor_runs(store, app=app, ruler_id=ruler_id)
    sets = {run["anchor_set_id"]: read.anchors_of_set(store, run["anchor_set_id"]) for run in runs}
    item_ids = tuple(dict.fromkeys(row["item_id"] for rows in sets.values() for row in rows))
    column = {item_id: index for index, item_id in enumerate(item_ids)}
    row_of = {run["run_id"]: index for index, run in enumerate(runs)}
    scores = np.full((len(runs), len(item_ids)), np.nan)
    asked = np.zeros(scores.shape, dtype=np.bool_)
    for index, run in enumerate(runs):
        asked[index, [column[row["item_id"]] for row in sets[run["anchor_set_id"]]]] = True
    for verdict in read.anchor_scores(store, app=app, ruler_id=ruler_id, criterion=criterion):
        if verdict["score"] is not None and verdict["item_id"] in column:
            scores[row_of[verdict["run_id"]], column[verdict["item_id"]]] = verdict["score"]
    return AnchorHistory(
        run_ids=tuple(run["run_id"] for run in runs),
        slots=tuple(run["slot_utc"] for run in runs),
        days=tuple(run["slot_day"] for run in runs),
        item_ids=item_ids,
        names=read.anchor_names(store, app),
        scores=normalise(scores, scale),
        asked=asked,
        n_planned=tuple(run["n_anchors"] for run in runs),
    )


def judge_finding(
    history: AnchorHistory, *, scale: tuple[float, float], settings: SettingsUsed, events: Sequence[EventMark]
) -> tuple[JudgeFinding, JudgeChange]:
    """Decide whether the judge moved: the finding, and what corrects traffic."""
    threshold = alarm_threshold(
        runs_per_year=settings["runs_per_year"],
        false_alarms_per_year=settings["false_alarms_per_year"],
        weight=JUDGE_WEIGHT,
    )
    if not history.counted.any():
        nothing = JudgeChange(shifts=None, detection=None, change_run=None, maps=(), regime_map=None)
        return _without_runs(history, threshold), nothing
    change, level = _watch(history, threshold, settings)
    unit = units_per_point(scale)
    detection = change.detection
    state = _state(history, change, level, settings["smallest_change"] / unit)
    estimate = _times(level.estimate, unit)
    finding = JudgeFinding(
        state=state,
        direction=_direction(state, estimate),
        estimate=estimate,
        low=_times(level.low, unit),
        high=_times(level.high, unit),
        method=level.method,
        n_anchors=int((history.asked.any(axis=0)).sum()),
        n_runs=len(history.run_ids),
        n_runs_counted=int(history.counted.sum()),
        n_runs_after=level.n_after,
        since_day=_day(history, change.change_run),
        since_first_day=_day(history, None if detection is None else detection.change_low),
        since_last_day=_day(history, None if detection is None else detection.change_high),
        alarm_day=_day(history, None if detection is None else detection.alarm_index),
        evidence=_last_evidence(detection),
        threshold=threshold,
        learning_runs_left=max(0, MIN_REFERENCE_RUNS - int(history.counted.sum())),
        first_alarm_day=_first_alarm_day(history, settings),
        likely_cause=_likely_cause(history, detection, events),
        runs=_run_rows(history, change, scale),
        moved=_moved(history, change, scale) if state == "changed" else [],
    )
    return finding, change


def _watch(history: AnchorHistory, threshold: float, settings: SettingsUsed) -> tuple[JudgeChange, LevelChange]:
    """Compare, detect, and estimate the level since the change (or since the baseline's end)."""
    shifts, detection = _detect(history, None, threshold)
    if detection.change_index is not None and detection.change_index < _end_of(history.baseline_mask()):
        # a change inside the baseline: only the runs before it are the norm
        shifts, detection = _detect(history, detection.change_index, threshold)
    change_run = detection.change_index
    counted = np.flatnonzero(history.counted)
    start = _counted_before(counted, change_run) if change_run is not None else _reference_length(len(counted))
    level = level_since(
        shifts.stream[counted], min(start, len(counted)), floor_sd=_floor(history), level=settings["level"]
    )
    maps = fit_judge_maps(history.scores, shifts.anchor_mean, slope_runs=SLOPE_RUNS, change_index=change_run)
    regime_map = None
    if change_run is not None:
        regime, _ = mean_of_present(history.scores[change_run:], axis=0)
        regime_map = fit_judge_map(regime, shifts.anchor_mean)
    change = JudgeChange(shifts=shifts, detection=detection, change_run=change_run, maps=maps, regime_map=regime_map)
    return change, level


def _detect(history: AnchorHistory, change_run: int | None, threshold: float) -> tuple[RunShifts, Detection]:
    shifts = run_shifts(history.scores, history.baseline_mask(change_run), asked=history.asked)
    detection = detect(
        shifts.stream,
        threshold=threshold,
        floor_sd=_floor(history),
        n_reference=MIN_REFERENCE_RUNS,
    )
    return shifts, detection


def _floor(history: AnchorHistory) -> float:
    return level_floor_sd(max(1, history.scores.shape[1]))


def _reference_length(n_counted: int) -> int:
    """Runs that stand for "before" while nothing changed: the whole baseline, or its first part while it is short."""
    return min(BASELINE_RUNS, max(MIN_REFERENCE_RUNS, n_counted // 2))


def _end_of(mask: BoolArray) -> int:
    rows = np.flatnonzero(mask)
    return int(rows[-1]) + 1 if len(rows) else 0


def _counted_before(counted: np.ndarray[tuple[int, ...], np.dtype[np.int64]], run: int) -> int:
    return int((counted < run).sum())


def _state(history: AnchorHistory, change: JudgeChange, level: LevelChange, tolerance: float) -> JudgeState:
    if int(history.counted.sum()) < MIN_REFERENCE_RUNS:
        return "learning"
    if change.change_run is not None:
        return "changed"
    verdict = classify(level.low, level.high, tolerance)
    if verdict is Finding.STEADY:
        return "steady"
    # an interval off zero without an alarm is not sure enough yet, over all the looks of a year
    return "no_change_shown" if verdict is Finding.NO_CHANGE_SHOWN else "cannot_tell"


def _direction(state: JudgeState, estimate: float | None) -> Literal["more generous", "stricter"] | None:
    if state != "changed" or estimate is None:
        return None
    return "more generous" if estimate > 0 else "stricter"


def _without_runs(history: AnchorHistory, threshold: float) -> JudgeFinding:
    return JudgeFinding(
        state="no_data",
        direction=None,
        estimate=None,
        low=None,
        high=None,
        method="",
        n_anchors=int(history.asked.any(axis=0).sum()) if history.asked.size else 0,
        n_runs=len(history.run_ids),
        n_runs_counted=0,
        n_runs_after=0,
        since_day=None,
        since_first_day=None,
        since_last_day=None,
        alarm_day=None,
        evidence=None,
        threshold=threshold,
        learning_runs_left=MIN_REFERENCE_RUNS,
        first_alarm_day=None,
        likely_cause=None,
        runs=_bare_rows(history),
        moved=[],
    )


def _bare_rows(history: AnchorHistory) -> list[AnchorRun]:
    return [
        AnchorRun(
            run_id=run_id, day=day, slot_utc=slot, n=0, n_anchors=n_anchors, counted=False, in_baseline=False,
            mean=None, shift=None, low=None, high=None, evidence=None,
        )
        for run_id, day, slot, n_anchors in zip(
            history.run_ids, history.days, history.slots, history.n_planned, strict=True
        )
    ]  # fmt: skip


def _run_rows(history: AnchorHistory, change: JudgeChange, scale: tuple[float, float]) -> list[AnchorRun]:
    """One row a run, for the chart and the table."""
    shifts, detection, unit = change.shifts, change.detection, units_per_point(scale)
    if shifts is None or detection is None:
        return _bare_rows(history)
    baseline = history.baseline_mask(change.change_run)
    rows = []
    for index, bare in enumerate(_bare_rows(history)):
        interval = today_interval(shifts, index, reference=baseline, floor_sd=_floor(history))
        scored = history.scores[index][~np.isnan(history.scores[index])]
        rows.append(
            AnchorRun(
                run_id=bare["run_id"],
                day=bare["day"],
                slot_utc=bare["slot_utc"],
                n=len(scored),
                n_anchors=bare["n_anchors"],
                counted=bool(shifts.counted[index]),
                in_baseline=bool(baseline[index]),
                mean=scale[0] + (float(scored.mean()) - 1.0) * unit if len(scored) else None,
                shift=_times(_known(shifts.shift[index]), unit),
                low=None if interval is None else interval.low * unit,
                high=None if interval is None else interval.high * unit,
                evidence=_known(detection.evidence[index]),
            )
        )
    return rows


def _moved(history: AnchorHistory, change: JudgeChange, scale: tuple[float, float]) -> list[MovedAnchor]:
    """Anchors that moved most since the change, in rubric units."""
    if change.shifts is None or change.change_run is None:
        return []
    unit = units_per_point(scale)
    before, n_before = mean_of_present(history.scores[: change.change_run], axis=0)
    after, n_after = mean_of_present(history.scores[change.change_run :], axis=0)
    order = np.argsort(-np.abs(np.nan_to_num(after - before)), kind="stable")[:MOST_MOVED]
    return [
        MovedAnchor(
            item_id=history.item_ids[column],
            anchor_id=str(history.names[history.item_ids[column]]["anchor_id"]),
            expected_score=history.names[history.item_ids[column]]["expected_score"],
            before=scale[0] + (float(before[column]) - 1.0) * unit,
            after=scale[0] + (float(after[column]) - 1.0) * unit,
            n_before=int(n_before[column]),
            n_after=int(n_after[column]),
        )
        for column in order
        if n_before[column] and n_after[column]
    ]


def _likely_cause(history: AnchorHistory, detection: Detection | None, events: Sequence[EventMark]) -> str | None:
    """The logged event that lies in the interval of the change date; the latest one of several."""
    if detection is None or detection.change_low is None or detection.change_high is None:
        return None
    first = shift_day(history.days[detection.change_low], -DAYS_AROUND)
    last = shift_day(history.days[detection.change_high], DAYS_AROUND)
    inside = [event for event in events if first <= event["day"] <= last and event["kind"] != "note"]
    # what answers is the likelier cause of a judge that moved than a deploy of the assistant
    inside.sort(key=lambda event: (event["kind"] in ("instrument", "setup"), event["day"]))
    return f"{inside[-1]['text']} (logged on {inside[-1]['day']})" if inside else None


def _first_alarm_day(history: AnchorHistory, settings: SettingsUsed) -> str | None:
    """Day on which the eleventh counted run can come, while the judge is being learned."""
    left = MIN_REFERENCE_RUNS - int(history.counted.sum())
    if left < 0 or not history.days:
        return None
    return shift_day(history.days[-1], math.ceil((left + 1) * 365.25 / settings["runs_per_year"]))


def shift_day(day: str, n_days: int) -> str:
    """Return the day so many days later."""
    return (date.fromisoformat(day) + timedelta(days=n_days)).isoformat()


def _last_evidence(detection: Detection | None) -> float | None:
    if detection is None:
        return None
    known = detection.evidence[~np.isnan(detection.evidence)]
    return _known(known[-1]) if len(known) else None


def _day(history: AnchorHistory, run: int | None) -> str | None:
    return None if run is None else history.days[run]


def _times(value: float | None, unit: float) -> float | None:
    return None if value is None else value * unit


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
