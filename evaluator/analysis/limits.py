"""Limits that people set: a mean they promised, a share of low answers or of missing scores they will not accept.

Each is watched for years with an equal part of the limits' share of the false-alarm budget. A raw mean that falls under
its limit because the judge became stricter is no broken promise: the mean that counts is the corrected one, and the
finding says what became of the raw one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from evaluator.analysis.events import shift_day
from evaluator.analysis.judge import Judge
from evaluator.analysis.limit_series import Daily, Levels, daily_series, equivalent, mean_series
from evaluator.analysis.limit_words import limit_sentence
from evaluator.analysis.series import watched_series
from evaluator.analysis.settings import LIMITS_WEIGHT, Limit
from evaluator.analysis.totals import Traffic
from evaluator.analysis.units import Scale
from evaluator.findings import LimitFinding, LimitState, QualityFinding, SettingsUsed
from evaluator.stats.detector import alarm_threshold
from evaluator.stats.limits import MIN_VALUES, LimitWatch, watch_limit
from evaluator.stats.multiplicity import evidence_needed

# a run grades the answers of the days before it, and a crossing is dated to a day or so
DAYS_BEFORE = 3


def limit_findings(
    limits: Sequence[Limit],
    traffic: Traffic,
    judge: Judge,
    assistant: QualityFinding,
    *,
    scale: Scale,
    settings: SettingsUsed,
    levels_of: Callable[[int], Levels],
    ignored: Sequence[str] = (),
) -> list[LimitFinding]:
    """One finding per limit, in the order they were set.

    Args:
        limits: What was set.
        traffic: The answers; days that do not count have no usable rows.
        judge: What corrects them.
        assistant: What is known of all answers: shares are explained with it.
        scale: Of the rubric.
        settings: The user's decisions.
        levels_of: How many scores of each level a segment had: day, level and sum_w, from the store.
        ignored: Days that do not count.
    """
    if not limits:
        return []
    alone = alarm_threshold(
        runs_per_year=settings["runs_per_year"], false_alarms_per_year=settings["false_alarms_per_year"]
    )
    thresholds = evidence_needed(alone, [LIMITS_WEIGHT / len(limits)] * len(limits)).tolist()
    found = []
    for limit, threshold in zip(limits, thresholds, strict=True):
        finding = _nothing_known(limit, threshold)
        finding["segment_id"] = segment_id = find_segment_id(traffic, limit.segment)
        if segment_id is not None:
            daily = daily_series(limit, segment_id, traffic, judge, scale, levels_of, ignored, settings["level"])
            _describe(finding, limit, daily, scale, settings, threshold)
            _explain(finding, limit, segment_id, traffic, judge, assistant, scale, settings, threshold)
        finding["sentence"] = limit_sentence(finding, judge.finding, scale)
        found.append(finding)
    return found


def find_segment_id(traffic: Traffic, written: str) -> int | None:
    """Id of a segment as it is written in the configuration; None when no answer was ever in it."""
    if not written:
        return traffic.everything if traffic.everything >= 0 else None
    parts = [part.partition("=") for part in written.split("*")]
    wanted = {(key.strip(), value.strip()) for key, _, value in parts}
    for segment_id, name in traffic.names.items():
        pairs = {(name["key"], name["value"])} | ({(name["key2"], name["value2"])} if name["key2"] else set())
        if pairs == wanted:
            return segment_id
    return None


# ---------------------------------------------------------------- the finding


def _describe(
    finding: LimitFinding, limit: Limit, daily: Daily, scale: Scale, settings: SettingsUsed, threshold: float
) -> None:
    watched = _watch(daily, settings, threshold)
    finding["state"] = _state(watched, daily)
    finding["evidence"] = watched.newest_evidence
    if watched.first_row is None or watched.estimate is None:
        return
    rows = slice(watched.first_row, None)
    low, high = _widened(watched, daily)
    is_mean = limit.kind == "mean_under"
    finding["value"] = scale.score(watched.estimate) if is_mean else watched.estimate
    finding["low"] = scale.drawn(low) if is_mean else _share_bound(low)
    finding["high"] = scale.drawn(high) if is_mean else _share_bound(high)
    finding["method"] = watched.method
    finding["n"], finding["days"] = int(daily.n[rows].sum()), len(daily.n[rows])
    finding["first_day"], finding["last_day"] = str(daily.first_day[rows][0]), str(daily.last_day[-1])
    if finding["state"] == "crossed":
        crossing = watched.crossings[-1]
        finding["since_day"] = str(daily.first_day[crossing.row])
        finding["alarm_day"] = str(daily.last_day[crossing.alarm_row])


def _watch(daily: Daily, settings: SettingsUsed, threshold: float) -> LimitWatch:
    return watch_limit(
        daily.value,
        limit=daily.bound,
        side=daily.side,
        threshold=threshold,
        floor_sd=daily.floor_sd,
        level=settings["level"],
        own_floor_sd=daily.own_floor_sd,
    )


def _widened(watched: LimitWatch, daily: Daily) -> tuple[float | None, float | None]:
    """The interval of the level with the error of the anchors in it."""
    if watched.low is None or watched.high is None or watched.estimate is None:
        return None, None
    half = math.hypot((watched.high - watched.low) / 2, daily.anchor_error)
    return watched.estimate - half, watched.estimate + half


def _state(watched: LimitWatch, daily: Daily) -> LimitState:
    """The word for it: crossed needs the alarm, and the whole interval beyond the limit."""
    if not watched.n:
        return "no_data"
    if watched.n < MIN_VALUES:
        return "learning"
    low, high = _widened(watched, daily)
    if low is None or high is None:
        return "cannot_tell"
    under, over = high < daily.bound, low > daily.bound
    is_beyond, is_inside = (under, over) if daily.side == "under" else (over, under)
    if watched.is_crossed and is_beyond:
        return "crossed"
    return "inside" if is_inside else "cannot_tell"


def _explain(
    finding: LimitFinding,
    limit: Limit,
    segment_id: int,
    traffic: Traffic,
    judge: Judge,
    assistant: QualityFinding,
    scale: Scale,
    settings: SettingsUsed,
    threshold: float,
) -> None:
    """Fold a crossing into the judge's drift where that explains it.

    Of a mean the corrected series is the judge's free one: where only the raw one crosses, the judge did it. A share
    cannot be corrected score by score: one that crossed no earlier than a judge became stricter, while the answers
    themselves are not known to have got worse, is put down to the judge.
    """
    is_stricter = judge.finding["state"] == "changed" and judge.finding["direction"] == "stricter"
    if limit.kind == "mean_under":
        totals = traffic.totals
        raw = watched_series(replace(totals, corrected=totals.raw), segment_id)
        bare = mean_series(raw, equivalent(limit.bound, scale), 0.0)
        watched = _watch(bare, settings, threshold)
        finding["raw_crossed"] = _state(watched, bare) == "crossed"
        finding["explained_by_judge"] = finding["raw_crossed"] and finding["state"] != "crossed" and is_stricter
    elif limit.kind == "share_at_or_under" and finding["state"] == "crossed" and is_stricter:
        finding["raw_crossed"] = True
        since, moved = finding["since_day"], judge.finding["since_first_day"]
        got_worse = assistant["state"] == "changed" and assistant["direction"] == "worse"
        came_with_it = since is not None and moved is not None and since >= shift_day(moved, -DAYS_BEFORE)
        if came_with_it and not got_worse:
            finding["explained_by_judge"], finding["state"] = True, "cannot_tell"
            finding["since_day"] = finding["alarm_day"] = None


def _share_bound(value: float | None) -> float | None:
    return None if value is None else min(max(value, 0.0), 1.0)


def _nothing_known(limit: Limit, threshold: float) -> LimitFinding:
    return LimitFinding(
        kind=limit.kind,
        bound=limit.bound,
        level=limit.level,
        segment=limit.segment,
        segment_id=None,
        state="no_data",
        value=None,
        low=None,
        high=None,
        method="",
        n=0,
        days=0,
        first_day=None,
        last_day=None,
        since_day=None,
        alarm_day=None,
        evidence=None,
        threshold=threshold,
        raw_crossed=False,
        explained_by_judge=False,
        sentence="",
    )
