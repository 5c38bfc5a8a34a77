"""The breakdown: each segment's recent level against the rest, and whether it moved once the judge is taken out.

Every segment is watched with an equal part of the segments' share of the false-alarm budget; the tables of a fixed day
beside that are ``segment_tables``, and a judge that moved in one segment alone is ``judge_in_segments``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluator.analysis.judge import Judge
from evaluator.analysis.judge_in_segments import Tags, tell_judge_in_segments
from evaluator.analysis.quality import Budget, quality_finding
from evaluator.analysis.seasons import weekday_effects
from evaluator.analysis.segment_tables import (
    FALSE_SHARE,
    Tables,
    days_of,
    first_rows,
    recent_period,
    segment_tables,
)
from evaluator.analysis.series import Series, watched_series
from evaluator.analysis.settings import SEGMENTS_WEIGHT
from evaluator.analysis.totals import Traffic, corrected_mean, raw_mean
from evaluator.analysis.units import Scale
from evaluator.findings import EventMark, QualityFinding, SegmentFinding, SegmentLooks, SettingsUsed
from evaluator.stats.evidence import MIN_REFERENCE_RUNS
from evaluator.stats.multiplicity import suspects
from evaluator.stats.numeric import BoolArray

METHOD = (
    "tables: Welch t between clusters, Benjamini-Hochberg; alarms: e-detectors with equal shares of the segments'"
    " budget; ranks: means drawn together (normal-normal, DerSimonian-Laird)"
)


def segment_findings(
    traffic: Traffic,
    judge: Judge,
    *,
    scale: Scale,
    settings: SettingsUsed,
    events: Sequence[EventMark],
    last_days: int,
    tags: Tags | None = None,
) -> list[SegmentFinding]:
    """One row per segment that has answers, the lowest of the last days first.

    Args:
        traffic: The answers.
        judge: What corrects them.
        scale: Of the rubric.
        settings: The user's decisions.
        events: What was logged.
        last_days: Length of the recent period.
        tags: Tags of the anchors by item id; without any the correction of all answers is used throughout.
    """
    ids = _segment_ids(traffic)
    if not ids:
        return []
    period = recent_period(traffic, last_days)
    tables = segment_tables(traffic, judge, ids, last_days=last_days, level=settings["level"])
    series = [watched_series(traffic.totals, each, taken_out=weekday_effects(traffic.totals, each)[0]) for each in ids]
    budget = _budget(series)
    rows = []
    for place, segment_id in enumerate(ids):
        quality = quality_finding(
            series[place], judge.regimes, scale=scale, settings=settings, events=events, budget=budget
        )
        rows.append(_segment(traffic, segment_id, period, quality, tables, place, scale, settings["level"]))
    tell_judge_in_segments(rows, traffic, judge, tags or {}, scale=scale, settings=settings)
    mark_suspects(rows)
    return sorted(rows, key=lambda row: (row["mean"] is None, row["mean"] or 0.0))


def segment_looks(rows: Sequence[SegmentFinding], traffic: Traffic, judge: Judge, *, last_days: int) -> SegmentLooks:
    """How many segments were looked at, and how many stand out after correcting for that."""
    first = days_of(traffic, first_rows(traffic, judge))
    last = days_of(traffic, recent_period(traffic, last_days) & traffic.totals.usable)
    return SegmentLooks(
        n_segments=len(rows),
        n_against_rest=sum(row.get("against_rest_p") is not None for row in rows),
        n_below_the_rest=sum(row["stands_out"] for row in rows),
        n_recent_change=sum(row.get("recent_change_p") is not None for row in rows),
        n_recent_change_stands_out=sum(row.get("recent_change_stands_out", False) for row in rows),
        n_watched=sum(row["state"] not in ("no_data", "learning") for row in rows),
        n_changed=sum(row["state"] == "changed" for row in rows),
        n_suspects=sum(row.get("suspect", False) for row in rows),
        lowest=next((row["segment_id"] for row in rows if row.get("is_lowest")), None),
        most_moved=next((row["segment_id"] for row in rows if row.get("is_most_moved")), None),
        first_days_first_day=first.first,
        first_days_last_day=first.last,
        last_days_first_day=last.first,
        last_days_last_day=last.last,
        false_share=FALSE_SHARE,
        method=METHOD,
    )


def _segment_ids(traffic: Traffic) -> list[int]:
    """Segments of the keys in force; those of keys that were dropped keep their old totals and are not shown."""
    keys, names = set(traffic.keys), traffic.names
    found = (int(segment_id) for segment_id in np.unique(traffic.totals.segment_id))
    return [key for key in found if key in names and (names[key]["key"], names[key]["key2"]) in keys]


def _budget(series: Sequence[Series]) -> Budget:
    """The share of each segment; one that is too thin to alarm takes nothing from the others."""
    n_watched = max(1, sum(len(each) > MIN_REFERENCE_RUNS for each in series))
    return Budget(weight=SEGMENTS_WEIGHT / n_watched, n_looks=n_watched)


def _segment(
    traffic: Traffic,
    segment_id: int,
    period: BoolArray,
    quality: QualityFinding,
    tables: Tables,
    place: int,
    scale: Scale,
    level: float,
) -> SegmentFinding:
    totals, name = traffic.totals, traffic.names[segment_id]
    own = (totals.segment_id == segment_id) & period
    used = own & totals.usable
    raw, corrected = raw_mean(totals, used, level), corrected_mean(totals, used, level)
    rest, recent = tables.against_rest[place], tables.recent[place]
    return SegmentFinding(
        **quality,
        segment_id=segment_id,
        key=name["key"],
        value=name["value"],
        key2=name["key2"],
        value2=name["value2"],
        n=int(totals.n[used].sum()),
        n_unscored=int(totals.n_unscored[own].sum()),
        mean=scale.score(raw.mean),
        mean_low=scale.drawn(raw.low),
        mean_high=scale.drawn(raw.high),
        corrected=scale.drawn(corrected.mean),
        corrected_low=scale.drawn(corrected.low),
        corrected_high=scale.drawn(corrected.high),
        against_rest=scale.change(rest.change),
        against_rest_low=scale.change(rest.change_low),
        against_rest_high=scale.change(rest.change_high),
        against_rest_p=rest.p_value,
        against_rest_p_adjusted=rest.p_adjusted,
        stands_out=rest.flagged and (rest.change or 0.0) < 0,
        recent_change=scale.change(recent.change),
        recent_change_low=scale.change(recent.change_low),
        recent_change_high=scale.change(recent.change_high),
        recent_change_p=recent.p_value,
        recent_change_p_adjusted=recent.p_adjusted,
        recent_change_stands_out=recent.flagged,
        n_first_days=recent.before.n,
        shrunk_mean=scale.score(float(tables.shrunk_mean[place])),
        shrunk_change=scale.change(float(tables.shrunk_change[place])),
        is_lowest=place == tables.lowest,
        is_most_moved=place == tables.most_moved,
        suspect=False,
        judge_in_segment=None,
        judge_in_segment_low=None,
        judge_in_segment_high=None,
        judge_in_segment_n_anchors=0,
        judge_in_segment_used=False,
        judge_in_segment_note="",
    )


def mark_suspects(rows: Sequence[SegmentFinding]) -> None:
    """Mark segments that stand out together with those that changed: worth a look, not sure enough for an alarm.

    The evidence of all is compared with what m segments need together. One that lies steadily within the smallest
    change that matters is none.
    """
    alarmed = [row for row in rows if row["state"] == "changed"]
    evidence = [np.nan if row["evidence"] is None else row["evidence"] for row in rows]
    found = suspects(evidence, threshold=rows[0]["threshold"]) if alarmed else np.zeros(len(rows), dtype=np.bool_)
    for row, is_found in zip(rows, found, strict=True):
        row["suspect"] = bool(is_found) and row["state"] in ("cannot_tell", "no_change_shown")
