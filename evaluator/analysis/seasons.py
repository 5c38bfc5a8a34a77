"""The week in the answers, and days that do not count: what is taken out before the answers are watched."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from evaluator.analysis.phrases import counted, number, signed
from evaluator.analysis.series import ENOUGH_ANSWERS, Series
from evaluator.analysis.settings import ASSISTANT_WEIGHT
from evaluator.analysis.totals import COLUMN, TextArray, Totals, Traffic
from evaluator.analysis.units import Scale
from evaluator.findings import EventMark, Findings, SettingsUsed, TrafficDay, WeekdayFinding
from evaluator.stats.detector import alarm_threshold, level_floor_sd
from evaluator.stats.evidence import MIN_REFERENCE_RUNS
from evaluator.stats.numeric import FloatArray, IntArray, divide
from evaluator.stats.planning import Stream, smallest_visible_change
from evaluator.stats.seasons import DAYS, MIN_WEEKS, WeekdayPattern, weekday_pattern, whole_weeks

IGNORE = "ignore"  # kind of event whose day is left out of the statistics
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
# weeks that a series joined to weeks needs: those it takes as given, and some to compare with them
WEEKS_TO_JOIN = MIN_REFERENCE_RUNS + 5
_VISIBLE_WITHIN = {"day": 14, "until 30 answers": 14, "week": 8}  # values


@dataclass(frozen=True, kw_only=True, eq=False)
class Season:
    """The week in the answers.

    Attributes:
        taken_out: What is subtracted from the corrected mean of each row of the totals, shape (rows,).
        by_week: Whether days are joined to whole weeks.
        pattern: The weekday pattern.
        answers_per_day: Of a usual day; None without days.
    """

    taken_out: FloatArray
    by_week: bool
    pattern: WeekdayPattern
    answers_per_day: float | None


def find_season(totals: Totals, segment_id: int, taken_out: FloatArray) -> Season:
    """Find the weekday pattern of the answers, and whether their days have to be joined to weeks.

    With fewer than thirty answers a day no weekday can be told from chance; whole weeks hold every weekday once.

    Args:
        totals: The answers.
        segment_id: All of them, or a segment.
        taken_out: What is subtracted already, shape (rows,).
    """
    effects, pattern, n = weekday_effects(totals, segment_id, taken_out)
    n_per_day = float(np.median(n)) if len(n) else None
    is_thin = n_per_day is not None and n_per_day < ENOUGH_ANSWERS
    days = np.unique(totals.day[(totals.segment_id == segment_id) & totals.correctable])
    weeks = whole_weeks(_ordinals(days), np.zeros(len(days), dtype=np.int64))
    n_weeks = int(weeks.max()) + 1 if len(weeks) else 0
    return Season(
        taken_out=taken_out + effects,
        by_week=is_thin and n_weeks >= WEEKS_TO_JOIN,
        pattern=pattern,
        answers_per_day=n_per_day,
    )


def weekday_effects(
    totals: Totals, segment_id: int, taken_out: FloatArray | None = None
) -> tuple[FloatArray, WeekdayPattern, IntArray]:
    """What the weekday adds to the corrected mean of each row, 0 for every other row; the pattern; answers by day.

    Days with fewer than thirty answers tell nothing about weekdays.
    """
    rows = np.flatnonzero((totals.segment_id == segment_id) & totals.correctable)
    days, day_of = np.unique(totals.day[rows], return_inverse=True)
    n = np.bincount(day_of, weights=totals.n[rows], minlength=len(days)).astype(np.int64)
    weight, sum_wy = totals.corrected[rows, COLUMN["sum_w"]], totals.corrected[rows, COLUMN["sum_wy"]]
    if taken_out is not None:
        sum_wy = sum_wy - weight * taken_out[rows]
    mean = divide(np.bincount(day_of, weights=sum_wy, minlength=len(days)), np.bincount(day_of, weights=weight))
    ordinals = _ordinals(days)
    pattern = weekday_pattern(np.where(n >= ENOUGH_ANSWERS, mean, np.nan), ordinals)
    effects = np.zeros(len(totals.day))
    effects[rows] = pattern.effects[((ordinals - 1) % DAYS)[day_of]]
    return effects, pattern, n


def weekday_finding(season: Season, series: Series, *, scale: Scale, settings: SettingsUsed) -> WeekdayFinding:
    """Put the week into words and numbers, with the smallest change that the watch of all answers can see.

    Args:
        season: What was found.
        series: All answers as they are watched.
        scale: Of the rubric.
        settings: The user's decisions.
    """
    pattern = season.pattern
    is_thin = season.answers_per_day is not None and season.answers_per_day < ENOUGH_ANSWERS
    finding = WeekdayFinding(
        state="taken_out" if pattern.state == "found" else pattern.state,
        n_weeks=pattern.n_weeks,
        p_value=pattern.p_value,
        effects=[effect * scale.unit for effect in pattern.effects.tolist()] if pattern.state == "found" else None,
        pooled="week" if season.by_week else "until 30 answers" if is_thin else "day",
        answers_per_day=season.answers_per_day,
        visible_change=None,
        visible_within_days=None,
        sentence="",
    )
    visible = _visible_change(series, _VISIBLE_WITHIN[finding["pooled"]], settings)
    if visible is not None:
        days_per_value = DAYS if season.by_week else _days_per_value(series)
        finding["visible_change"] = visible * scale.unit
        finding["visible_within_days"] = round(_VISIBLE_WITHIN[finding["pooled"]] * days_per_value)
    finding["sentence"] = _sentence(finding)
    return finding


def season_sentences(findings: Findings) -> list[str]:
    """What the week had to do with the watch, when it had: a pattern that is taken out, or days joined to weeks."""
    finding = findings.get("weekdays")
    if finding is None or (finding["state"] != "taken_out" and finding["pooled"] != "week"):
        return []
    return [finding["sentence"]]


def _visible_change(series: Series, n_values: int, settings: SettingsUsed) -> float | None:
    """The smallest lasting change seen within so many values, by the spread of neighbours; None while it is unknown.

    Neighbours differ by the spread alone, whatever the level did meanwhile.
    """
    if len(series) <= MIN_REFERENCE_RUNS:
        return None
    steps = np.diff(series.value)
    spread = float(np.sqrt((steps**2).mean() / 2))
    floor_sd = level_floor_sd(max(1, int(np.median(series.n))))
    threshold = alarm_threshold(
        runs_per_year=settings["runs_per_year"],
        false_alarms_per_year=settings["false_alarms_per_year"],
        weight=ASSISTANT_WEIGHT,
    )
    stream = Stream(spread=max(spread, floor_sd), floor_sd=floor_sd)
    return smallest_visible_change(n_values, stream, threshold=threshold)


def _days_per_value(series: Series) -> float:
    first, last = (date.fromisoformat(str(day)) for day in (series.first_day[0], series.last_day[-1]))
    return max(1.0, ((last - first).days + 1) / len(series))


def _sentence(finding: WeekdayFinding) -> str:
    said = {
        "unknown": _unknown(finding),
        "none": f"The weekdays do not differ by more than chance ({counted(finding['n_weeks'], 'week')}).",
        "taken_out": _taken_out(finding),
    }[finding["state"]]
    n = finding["answers_per_day"]
    if finding["pooled"] == "day" or n is None:
        return said
    how = "by week" if finding["pooled"] == "week" else f"until {ENOUGH_ANSWERS} have gathered"
    seen = ""
    if finding["visible_change"] is not None and finding["visible_within_days"] is not None:
        seen = f"; a change of {number(finding['visible_change'])} is seen within {finding['visible_within_days']} days"
    return f"{said} With about {n:.0f} answers a day they are pooled {how}{seen}."


def _unknown(finding: WeekdayFinding) -> str:
    left = max(0, MIN_WEEKS - finding["n_weeks"])
    if not left or (finding["answers_per_day"] or 0) < ENOUGH_ANSWERS:
        return f"Weekday pattern not known: it takes days of {ENOUGH_ANSWERS} answers and more."
    return f"Weekday pattern not known yet: {counted(left, 'more week')} needed."


def _taken_out(finding: WeekdayFinding) -> str:
    effects = finding["effects"] or [0.0] * DAYS
    low, high = int(np.argmin(effects)), int(np.argmax(effects))
    return (
        f"A weekday pattern is taken out before changes are looked for: {WEEKDAYS[low]} {signed(effects[low])},"
        f" {WEEKDAYS[high]} {signed(effects[high])} ({counted(finding['n_weeks'], 'week')})."
    )


# ---------------------------------------------------------------- days that do not count


def ignored_days(events: Sequence[EventMark]) -> dict[str, str]:
    """Days that someone said do not count, with what was said."""
    return {event["day"]: event["text"] for event in events if event["kind"] == IGNORE}


def without_days(traffic: Traffic, days: Collection[str]) -> Traffic:
    """The answers without those of some days: they are kept, and take part in no mean."""
    if not days:
        return traffic
    kept = ~np.isin(traffic.totals.day, list(days))
    return replace(traffic, totals=replace(traffic.totals, usable=traffic.totals.usable & kept))


def grey_days(rows: Sequence[TrafficDay], ignored: Mapping[str, str]) -> list[TrafficDay]:
    """Mark the days that do not count, with the reason; their own means stay, to be drawn grey."""
    for row in rows:
        row["ignored"] = ignored.get(row["day"], "")
    return list(rows)


def _ordinals(days: TextArray) -> IntArray:
    return np.array([date.fromisoformat(str(day)).toordinal() for day in days], dtype=np.int64)
