"""The answers of production: raw means, the same as the baseline judge would have scored them, and whether they moved.

A traffic score is corrected by the anchors of the run that graded it. After the judge moved, the error of the anchor
sample is the same every day, so the days before and after that are watched apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evaluator.analysis.anchors import AnchorHistory, JudgeChange
from evaluator.findings import QualityFinding, QualityState, SettingsUsed, TrafficDay
from evaluator.records import Source
from evaluator.stats.correction import NoMap, correct_means
from evaluator.stats.detector import Detection, LevelChange, alarm_threshold, detect, level_floor_sd, level_since
from evaluator.stats.evidence import MIN_REFERENCE_RUNS
from evaluator.stats.intervals import SUM_NAMES, Finding, classify, means_from_sums
from evaluator.stats.numeric import FloatArray, t_quantile
from evaluator.stats.paired import units_per_point
from evaluator.store import read
from evaluator.store.db import Store

MOSTLY_SCORED = 0.5  # a day with a smaller share of scored answers has no mean: the rest is not a sample of it
ENOUGH_ANSWERS = 30  # answers that a value of a watched series is made of; thin days are joined until there are so many


@dataclass(frozen=True, kw_only=True, eq=False)
class Series:
    """One segment's totals by day and run, and the days that may enter a mean. Scores in 1..5 equivalents.

    ``rows`` holds a dictionary per (day, run) with ``SUM_NAMES``, day, run_id, slot_utc, n_unscored.
    """

    segment_id: int
    rows: tuple[read.Row, ...]

    @property
    def n(self) -> int:
        """Scored answers."""
        return sum(int(row["n"]) for row in self.rows)


@dataclass(frozen=True, kw_only=True, eq=False)
class Traffic:
    """All answers graded under one judge setup."""

    everything: Series
    segments: dict[int, Series]
    names: dict[int, read.Row]
    keys: tuple[tuple[str, str], ...]
    sampled: dict[str, read.Row]

    @property
    def days(self) -> list[str]:
        """Days with graded or sampled answers."""
        return sorted({row["day"] for row in self.everything.rows} | set(self.sampled))


@dataclass(frozen=True, kw_only=True, eq=False)
class Point:
    """One value of a watched series: corrected mean of some days, with what it is made of."""

    first_day: str
    last_day: str
    n: int
    value: float
    after_change: bool


def read_traffic(store: Store, *, app: str, ruler_id: str, criterion: str, scale: tuple[float, float]) -> Traffic:
    """Read the totals of every segment."""
    rows = read.segment_day_totals(store, app=app, ruler_id=ruler_id, criterion=criterion, source=Source.TRAFFIC)
    slots = {run["run_id"]: run["slot_utc"] for run in read.run_slots(store, app)}
    usable = _usable_days(store, app, rows)
    by_segment: dict[int, list[read.Row]] = {}
    for row in rows:
        prepared = _normalised(row, scale) | {
            "day": row["day"],
            "run_id": row["run_id"],
            "slot_utc": slots[row["run_id"]],
            "n_unscored": row["n_unscored"],
            "usable": row["day"] in usable,
        }
        by_segment.setdefault(row["segment_id"], []).append(prepared)
    series = {key: Series(segment_id=key, rows=tuple(found)) for key, found in by_segment.items()}
    names = {row["segment_id"]: row for row in read.segments(store, app)}
    everything = next((key for key, row in names.items() if row["key"] == ""), -1)
    return Traffic(
        everything=series.get(everything, Series(segment_id=everything, rows=())),
        segments={key: value for key, value in series.items() if key != everything},
        names=names,
        keys=tuple(read.segment_keys(store, app)),
        sampled=read.sampled_days(store, app, ruler_id),
    )


def _usable_days(store: Store, app: str, rows: Sequence[read.Row]) -> set[str]:
    """Days of which at least half of the verdicts have a score, over all segments."""
    everything = read.everything_segment(store, app)
    scored: dict[str, int] = {}
    tried: dict[str, int] = {}
    for row in rows:
        if row["segment_id"] == everything:
            scored[row["day"]] = scored.get(row["day"], 0) + row["n"]
            tried[row["day"]] = tried.get(row["day"], 0) + row["n"] + row["n_unscored"]
    return {day for day, n in tried.items() if n and scored[day] >= MOSTLY_SCORED * n}


def _normalised(row: Mapping[str, float], scale: tuple[float, float]) -> dict[str, float]:
    """Totals of scores on the rubric's scale as totals of 1..5 equivalents: y' = 1 + (y - min) * f."""
    f = 4.0 / (scale[1] - scale[0])
    b = 1.0 - scale[0] * f
    sums = {name: float(row[name]) for name in SUM_NAMES}
    if f == 1.0 and b == 0.0:
        return sums
    return sums | {
        "sum_wy": f * row["sum_wy"] + b * row["sum_w"],
        "sum_w2y": f * row["sum_w2y"] + b * row["sum_w2"],
        "sum_w2y2": f * f * row["sum_w2y2"] + 2 * f * b * row["sum_w2y"] + b * b * row["sum_w2"],
        "sum_t2": f * f * row["sum_t2"] + 2 * f * b * row["sum_tw"] + b * b * row["sum_ww"],
        "sum_tw": f * row["sum_tw"] + b * row["sum_ww"],
    }


def add_sums(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Totals of several rows together. A conversation over two days counts as two clusters."""
    return {name: float(sum(row[name] for row in rows)) for name in SUM_NAMES}


def means(sums: Sequence[Mapping[str, float]], level: float) -> dict[str, FloatArray]:
    """Means with intervals of several totals, as arrays."""
    columns = {name: np.array([row[name] for row in sums], dtype=np.float64) for name in SUM_NAMES}
    found = means_from_sums(columns, level=level)
    return {name: np.asarray(values, dtype=np.float64) for name, values in found.items()}


def to_scale(value: float, scale: tuple[float, float]) -> float | None:
    """A 1..5 equivalent in rubric units; None for nan."""
    return None if not np.isfinite(value) else scale[0] + (float(value) - 1.0) * units_per_point(scale)


# ---------------------------------------------------------------- the daily line


@dataclass(frozen=True, kw_only=True)
class CorrectedMean:
    """A mean on the baseline's scale, 1..5 equivalents; nan where there is none."""

    mean: float
    low: float
    high: float
    se: float
    note: str | None


NO_MEAN = CorrectedMean(mean=np.nan, low=np.nan, high=np.nan, se=np.nan, note=None)


def correct_rows(rows: Sequence[read.Row], history: AnchorHistory, change: JudgeChange, level: float) -> CorrectedMean:
    """Corrected mean of some (day, run) totals, each through the map of its own run."""
    parts: list[tuple[float, float, float, float]] = []
    note = None
    for row in rows:
        judge_map = change.map_of(history, row["run_id"])
        if judge_map is None or isinstance(judge_map, NoMap):
            note = "not corrected: " + ("no anchors in that run" if judge_map is None else judge_map.reason)
            continue
        raw = means([row], level)
        corrected = correct_means(raw["mean"], raw["se"], raw["df"], judge_map, level=level)
        if np.isfinite(corrected.mean[0]):
            parts.append((row["sum_w"], float(corrected.mean[0]), float(corrected.se[0]), float(corrected.df[0])))
    if not parts or note is not None:
        return CorrectedMean(mean=np.nan, low=np.nan, high=np.nan, se=np.nan, note=note)
    weights = np.array([part[0] for part in parts]) / sum(part[0] for part in parts)
    mean = float(weights @ np.array([part[1] for part in parts]))
    se = float(np.sqrt(weights**2 @ np.array([part[2] for part in parts]) ** 2))
    half_width = float(t_quantile(np.nanmin([part[3] for part in parts]), level)) * se
    return CorrectedMean(mean=mean, low=mean - half_width, high=mean + half_width, se=se, note=None)


def traffic_days(
    traffic: Traffic, history: AnchorHistory, change: JudgeChange, *, scale: tuple[float, float], level: float
) -> list[TrafficDay]:
    """The daily line: every day with a sample, whether or not it has a mean."""
    rows_of: dict[str, list[read.Row]] = {}
    for row in traffic.everything.rows:
        rows_of.setdefault(row["day"], []).append(row)
    return [_traffic_day(day, rows_of.get(day, []), traffic, history, change, scale, level) for day in traffic.days]


def _traffic_day(
    day: str,
    rows: Sequence[read.Row],
    traffic: Traffic,
    history: AnchorHistory,
    change: JudgeChange,
    scale: tuple[float, float],
    level: float,
) -> TrafficDay:
    sample = traffic.sampled.get(day)
    n, n_unscored = sum(int(row["n"]) for row in rows), sum(int(row["n_unscored"]) for row in rows)
    usable = bool(rows) and bool(rows[0]["usable"]) and n > 0
    raw = means([add_sums(rows)], level) if usable else None
    corrected = correct_rows([row for row in rows if row["n"]], history, change, level) if usable else NO_MEAN
    note = corrected.note
    if n_unscored and not usable:
        note = f"mostly unscored: {n_unscored} of {n + n_unscored} answers have no score, so the day has no mean"
    clip = (scale[0], scale[1])
    return TrafficDay(
        day=day,
        n=n,
        n_unscored=n_unscored,
        n_planned=None if sample is None else int(sample["n_planned"]),
        n_answers=None if sample is None else int(sample["n_answers"]),
        finished=sample is not None and n + n_unscored >= int(sample["n_planned"]),
        mean=None if raw is None else to_scale(float(raw["mean"][0]), scale),
        low=None if raw is None else clipped(to_scale(float(raw["low"][0]), scale), clip),
        high=None if raw is None else clipped(to_scale(float(raw["high"][0]), scale), clip),
        corrected=clipped(to_scale(corrected.mean, scale), clip),
        corrected_low=clipped(to_scale(corrected.low, scale), clip),
        corrected_high=clipped(to_scale(corrected.high, scale), clip),
        note=note,
    )


def clipped(value: float | None, scale: tuple[float, float]) -> float | None:
    """Cut a bound to the scale, for drawing."""
    return None if value is None else min(max(value, scale[0]), scale[1])


# ---------------------------------------------------------------- did they move?


def points(series: Series, history: AnchorHistory, change: JudgeChange, level: float) -> list[Point]:
    """The watched series: corrected means of days, thin days joined until there are enough answers."""
    found: list[Point] = []
    waiting: list[read.Row] = []
    for row in sorted(series.rows, key=lambda row: (row["day"], row["slot_utc"])):
        if not row["usable"] or not row["n"]:
            continue
        if waiting and change.is_after(history, row["slot_utc"]) != change.is_after(history, waiting[0]["slot_utc"]):
            waiting = []  # a value never spans the judge's change
        waiting.append(row)
        if sum(int(part["n"]) for part in waiting) >= ENOUGH_ANSWERS:
            point = _point(waiting, history, change, level)
            if point is not None:
                found.append(point)
            waiting = []
    return found


def _point(rows: Sequence[read.Row], history: AnchorHistory, change: JudgeChange, level: float) -> Point | None:
    corrected = correct_rows(rows, history, change, level)
    if not np.isfinite(corrected.mean):
        return None
    return Point(
        first_day=rows[0]["day"],
        last_day=rows[-1]["day"],
        n=sum(int(row["n"]) for row in rows),
        value=corrected.mean,
        after_change=change.is_after(history, rows[0]["slot_utc"]),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Watched:
    """One stretch of a series (before or after the judge's change) and what the detector saw in it."""

    points: Sequence[Point]
    detection: Detection
    level: LevelChange


def quality_finding(
    series: Series,
    history: AnchorHistory,
    change: JudgeChange,
    *,
    scale: tuple[float, float],
    settings: SettingsUsed,
    weight: float,
) -> QualityFinding:
    """Whether the answers of a series got better or worse, once the judge's own move is taken out.

    Args:
        series: All answers, or those of a segment.
        history: The anchors.
        change: What they say of the judge.
        scale: Of the rubric.
        settings: The user's decisions.
        weight: Share of the false-alarm budget that this series may use.
    """
    threshold = alarm_threshold(
        runs_per_year=settings["runs_per_year"],
        false_alarms_per_year=settings["false_alarms_per_year"],
        weight=weight,
    )
    found = points(series, history, change, settings["level"])
    stretches = [[p for p in found if not p.after_change], [p for p in found if p.after_change]]
    watched = [_watch(stretch, threshold, settings) for stretch in stretches if stretch]
    alarmed = [part for part in watched if part.detection.change_index is not None]
    # the newest change is the one to act on; without any, the newest stretch says how things stand
    part = alarmed[-1] if alarmed else (watched[-1] if watched else None)
    if part is None:
        return _no_quality("no_data", threshold)
    return _quality(part, threshold, scale, settings, is_alarm=bool(alarmed))


def _watch(stretch: Sequence[Point], threshold: float, settings: SettingsUsed) -> _Watched:
    values = np.array([point.value for point in stretch])
    floor_sd = level_floor_sd(max(1, int(np.median([point.n for point in stretch]))))
    detection = detect(values, threshold=threshold, floor_sd=floor_sd, n_reference=MIN_REFERENCE_RUNS)
    start = detection.change_index
    if start is None:
        start = max(MIN_REFERENCE_RUNS, len(values) // 2)
    level = level_since(values, min(start, len(values)), floor_sd=floor_sd, level=settings["level"])
    return _Watched(points=stretch, detection=detection, level=level)


def _quality(
    part: _Watched, threshold: float, scale: tuple[float, float], settings: SettingsUsed, *, is_alarm: bool
) -> QualityFinding:
    unit = units_per_point(scale)
    level, detection = part.level, part.detection
    n_before = level.n_before
    before, after = part.points[:n_before], part.points[n_before:]
    state = _quality_state(part, settings["smallest_change"] / unit, is_alarm=is_alarm)
    estimate = None if level.estimate is None else level.estimate * unit
    return QualityFinding(
        state=state,
        direction=_better_or_worse(state, estimate),
        estimate=estimate,
        low=None if level.low is None else level.low * unit,
        high=None if level.high is None else level.high * unit,
        method=level.method,
        before=to_scale(float(np.mean([point.value for point in before])), scale) if before else None,
        after=to_scale(float(np.mean([point.value for point in after])), scale) if after else None,
        n_before=sum(point.n for point in before),
        n_after=sum(point.n for point in after),
        days_before=len(before),
        days_after=len(after),
        since_day=_first(part, detection.change_index),
        since_first_day=_first(part, detection.change_low),
        since_last_day=_first(part, detection.change_high),
        alarm_day=None if detection.alarm_index is None else part.points[detection.alarm_index].last_day,
        evidence=_last(detection.evidence),
        threshold=threshold,
    )


def _first(part: _Watched, index: int | None) -> str | None:
    return None if index is None else part.points[index].first_day


def _last(evidence: FloatArray) -> float | None:
    known = evidence[np.isfinite(evidence)]
    return float(known[-1]) if len(known) else None


def _quality_state(part: _Watched, tolerance: float, *, is_alarm: bool) -> QualityState:
    if part.detection.learning:
        return "learning"
    if is_alarm:
        return "changed"
    verdict = classify(part.level.low, part.level.high, tolerance)
    if verdict is Finding.STEADY:
        return "steady"
    return "no_change_shown" if verdict is Finding.NO_CHANGE_SHOWN else "cannot_tell"


def _better_or_worse(state: QualityState, estimate: float | None) -> Literal["better", "worse"] | None:
    if state != "changed" or estimate is None:
        return None
    return "better" if estimate > 0 else "worse"


def _no_quality(state: QualityState, threshold: float) -> QualityFinding:
    return QualityFinding(
        state=state,
        direction=None,
        estimate=None,
        low=None,
        high=None,
        method="",
        before=None,
        after=None,
        n_before=0,
        n_after=0,
        days_before=0,
        days_after=0,
        since_day=None,
        since_first_day=None,
        since_last_day=None,
        alarm_day=None,
        evidence=None,
        threshold=threshold,
    )


def period_rows(series: Series, first_day: str, last_day: str) -> list[read.Row]:
    """Usable totals of a period."""
    return [row for row in series.rows if row["usable"] and row["n"] and first_day <= row["day"] <= last_day]
