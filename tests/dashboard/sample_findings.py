"""An analysis as the page gets it, for ``builders.sixty_days``: the stored shape, numbers by simple arithmetic.

The page's tests need the contract of ``evaluator.findings``, not the detectors: means come from the daily totals, the
judge's move is the plain difference of anchor means before and after the day on which the story moves it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, cast

from evaluator.findings import (
    SCHEMA_VERSION,
    AnchorRun,
    EventMark,
    Findings,
    JudgeFinding,
    MovedAnchor,
    QualityFinding,
    SegmentFinding,
    Shares,
    TrafficDay,
)
from evaluator.records import Source
from evaluator.stats.intervals import SUM_NAMES, means_from_sums
from evaluator.store import read, write
from evaluator.store.db import Store, open_store
from tests.builders import APP, CRITERION, Story, plus_days


def add_to(path: Path, story: Story | None = None) -> Findings:
    """Store an analysis of a ``sixty_days`` database and return it."""
    with open_store(path) as store:
        setup = read.newest_ruler(store, APP)
        if setup is None:
            raise ValueError(f"{path} has no judge setup")
        payload = _findings(store, setup, story or Story())
        _save(store, setup["ruler_id"], payload)
    return payload


def add_bare(path: Path, changes: dict[str, Any]) -> None:
    """Store an analysis of which only its frame is filled; ``changes`` are its findings."""
    with open_store(path) as store:
        setup = read.newest_ruler(store, APP)
        if setup is None:
            raise ValueError(f"{path} has no judge setup")
        _save(store, setup["ruler_id"], {**_frame(store, setup), **changes})


def _save(store: Store, ruler_id: str, payload: Mapping[str, Any]) -> None:
    write.save_analysis(
        store,
        app=APP,
        ruler_id=ruler_id,
        criterion=CRITERION,
        first_day=payload["first_day"],
        last_day=payload["last_day"],
        baseline="first 20 runs",
        settings_hash="settings",
        code_version="0.1.0",
        schema_version=SCHEMA_VERSION,
        payload=payload,
        revision=store.revision,
        now=datetime.fromisoformat("2026-11-30T06:02:00Z"),
    )


def _frame(store: Store, setup: dict[str, Any]) -> dict[str, Any]:
    """What an analysis says of itself."""
    return {
        "schema_version": SCHEMA_VERSION, "app": APP, "ruler_id": setup["ruler_id"], "setup": 1,
        "model_asked": setup["model_asked"], "criterion": CRITERION, "zone": store.zone.key,
        "scale_min": setup["scale_min"], "scale_max": setup["scale_max"], "first_day": None, "last_day": None,
        "last_days": 14,
        "settings": {
            "level": 0.95, "false_alarms_per_year": 1.0, "runs_per_year": 365.0, "smallest_change": 0.15,
            "baseline_runs": 20, "learning_runs": 10,
        },
    }  # fmt: skip


def _findings(store: Store, setup: dict[str, Any], story: Story) -> Findings:
    app_setup = {"app": APP, "ruler_id": setup["ruler_id"], "criterion": CRITERION}
    everything = read.everything_segment(store, APP)
    if everything is None:
        raise ValueError("no totals yet")
    totals = read.day_totals(store, **app_setup, source=Source.TRAFFIC, segment_id=everything)
    first_day = totals[0]["day"]
    change_day = plus_days(first_day, story.judge_moves + 1)
    judge = _judge(read.anchor_scores(store, **app_setup), read.anchor_names(store, APP), change_day)
    gain = judge["estimate"] or 0.0
    days = _days(totals, read.sampled_days(store, APP, setup["ruler_id"]), change_day, gain)
    shares = _shares(totals, first_day, change_day, gain)
    segments = _segments(store, app_setup, plus_days(first_day, story.segment_moves), gain)
    events = [EventMark(day=e["day"], kind=e["kind"], text=e["text"]) for e in read.events(store, APP)]
    lowest = min(segments, key=lambda segment: segment["against_rest"] or 0.0)
    found = {
        **_frame(store, setup),
        "first_day": first_day,
        "last_day": totals[-1]["day"],
        "baseline_first_day": first_day,
        "baseline_last_day": plus_days(first_day, 20),
        "judge": judge,
        "assistant": _assistant(shares),
        "segments": segments,
        "shares": shares,
        "days": days,
        "events": events,
        "headline": "The judge became more generous.",
        "tone": "look",
        "sentences": _sentences(judge, shares),
        "needs_a_look": [f"billing · {lowest['value2']}: {lowest['mean']:.2f}, below the rest (n {lowest['n']})."],
        "look_segments": [lowest["segment_id"]],
    }
    return cast("Findings", found)


def _sentences(judge: JudgeFinding, shares: Shares) -> list[str]:
    gain, low, high = judge["estimate"], judge["low"], judge["high"]
    bounds = f"between {shares['assistant_low']:.2f} and {shares['assistant_high']:.2f}"
    return [
        f"Since {judge['since_day']} it gives {gain:+.2f}, between {low:.2f} and {high:.2f}, for the same answers.",
        f"Your assistant: {shares['assistant']:+.2f}, {bounds}: no change shown.",
        f"Likely cause: {judge['likely_cause']}.",
    ]


def _judge(rows: Sequence[dict[str, Any]], names: dict[str, Any], change_day: str) -> JudgeFinding:
    runs: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in rows:
        if row["score"] is not None:
            runs.setdefault((row["slot_utc"], row["slot_day"], row["run_id"]), {})[row["item_id"]] = row["score"]
    ordered = sorted(runs.items())
    items = sorted({item for scores in runs.values() for item in scores})
    base = {i: fmean(scores[i] for _, scores in ordered[:20] if i in scores) for i in items}
    shifts = [fmean(score - base[i] for i, score in scores.items()) for _, scores in ordered]
    spread = 2.09 * stdev(shifts[:20])
    anchor_runs = [
        AnchorRun(
            run_id=run_id, day=day, slot_utc=slot, n=len(scores), n_anchors=len(items), counted=place != 30,
            not_counted="", in_baseline=place < 20, mean=fmean(scores.values()), shift=shift,
            low=shift - spread, high=shift + spread,
            evidence=None if place < 10 else min(2.9, 0.1 + max(0.0, shift) * 9),
        )
        for place, (((slot, day, run_id), scores), shift) in enumerate(zip(ordered, shifts, strict=True))
    ]  # fmt: skip
    after = [(scores, shift) for ((_, day, _), scores), shift in zip(ordered, shifts, strict=True) if day >= change_day]
    estimate = fmean(shift for _, shift in after)
    half = 2.1 * stdev([shift for _, shift in after]) / math.sqrt(len(after)) + 0.03
    later = {i: fmean(scores[i] for scores, _ in after if i in scores) for i in items}
    moved = [
        MovedAnchor(
            item_id=i, anchor_id=names[i]["anchor_id"], expected_score=names[i]["expected_score"], before=base[i],
            after=later[i], n_before=20, n_after=len(after),
        )
        for i in sorted(items, key=lambda i: base[i] - later[i])[:5]
    ]  # fmt: skip
    return JudgeFinding(
        state="changed", direction="more generous", estimate=estimate, low=estimate - half, high=estimate + half,
        method="time-uniform", n_anchors=len(items), n_runs=len(ordered), n_runs_counted=len(ordered) - 1,
        n_runs_after=len(after), since_day=change_day, since_first_day=plus_days(change_day, -1),
        since_last_day=plus_days(change_day, 2), alarm_day=plus_days(change_day, 4), evidence=2.9, threshold=2.56,
        learning_runs_left=0, first_alarm_day=ordered[10][0][1],
        likely_cause="the returned model changed (judge-large-2026-07-18 → judge-large-2026-10-11)",
        runs=anchor_runs, moved=moved, kind="level", ends=[], noise_ratio=1.0, noise_ratio_low=0.8,
        noise_ratio_high=1.2, broken=[], evidence_parts={}, baseline_trend=0.0, baseline_trend_p=0.5, accepted=None,
    )  # fmt: skip


def _means(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Mean and interval of totals added up, numbers or None."""
    sums = {name: [float(sum(row[name] for row in rows))] for name in SUM_NAMES}
    found = means_from_sums(sums, level=0.95, scale=(1.0, 5.0))
    return {name: None if math.isnan(float(column[0])) else float(column[0]) for name, column in found.items()}


def _days(totals: Sequence[dict[str, Any]], sampled: dict[str, Any], change_day: str, gain: float) -> list[TrafficDay]:
    found = []
    for row in totals:
        enough = row["n"] >= row["n_unscored"]
        mean = _means([row]) if enough else {"mean": None, "low": None, "high": None}
        moved = gain if plus_days(row["day"], 1) >= change_day else 0.0
        sample = sampled.get(row["day"], {})
        corrected = None if mean["mean"] is None else mean["mean"] - moved
        found.append(
            TrafficDay(
                day=row["day"], n=row["n"], n_unscored=row["n_unscored"], n_planned=sample.get("n_planned"),
                n_answers=sample.get("n_answers"),
                finished=row["n"] + row["n_unscored"] >= sample.get("n_planned", 0), mean=mean["mean"],
                low=mean["low"], high=mean["high"], corrected=corrected,
                corrected_low=None if mean["low"] is None else mean["low"] - moved - 0.06,
                corrected_high=None if mean["high"] is None else mean["high"] - moved + 0.06,
                note=None if enough else "fewer than half of the planned answers have a score",
            )
        )  # fmt: skip
    return found


def _shares(totals: Sequence[dict[str, Any]], first_day: str, change_day: str, gain: float) -> Shares:
    before = [row for row in totals if row["day"] <= plus_days(first_day, 20)]
    after = [row for row in totals if plus_days(row["day"], 1) >= change_day]
    was, now = _means(before), _means(after)
    raw, mix = now["mean"] - was["mean"], 0.02
    assistant = raw - gain - mix
    return Shares(
        before_first_day=before[0]["day"], before_last_day=before[-1]["day"], after_first_day=after[0]["day"],
        after_last_day=after[-1]["day"], n_before=int(was["n"]), n_after=int(now["n"]), raw_before=was["mean"],
        raw_after=now["mean"], raw=raw, judge=gain, judge_low=gain - 0.09, judge_high=gain + 0.09,
        assistant=assistant, assistant_low=assistant - 0.11, assistant_high=assistant + 0.11, mix=mix,
        mix_low=-0.01, mix_high=0.05, mix_key="topic", method="linearised",
    )  # fmt: skip


def _assistant(shares: Shares) -> QualityFinding:
    return QualityFinding(
        state="no_change_shown", direction=None, estimate=shares["assistant"], low=shares["assistant_low"],
        high=shares["assistant_high"], method="linearised", before=shares["raw_before"],
        after=shares["raw_after"] - shares["judge"], n_before=shares["n_before"], n_after=shares["n_after"],
        days_before=20, days_after=19, since_day=None, since_first_day=None, since_last_day=None, alarm_day=None,
        evidence=0.4, threshold=2.56,
    )  # fmt: skip


def _segments(store: Store, app_setup: dict[str, Any], move_day: str, gain: float) -> list[SegmentFinding]:
    rows: dict[int, list[dict[str, Any]]] = {}
    for row in read.segment_day_totals(store, **app_setup, source=Source.TRAFFIC):
        rows.setdefault(row["segment_id"], []).append(row)
    last_day = max(row["day"] for found in rows.values() for row in found)
    recent = plus_days(last_day, -13)
    return [
        _segment(segment, rows[segment["segment_id"]], recent, move_day, gain)
        for segment in read.segments(store, APP)
        if segment["key"] and segment["segment_id"] in rows
    ]


def _segment(
    names: dict[str, Any], rows: Sequence[dict[str, Any]], recent: str, move_day: str, gain: float
) -> SegmentFinding:
    last = [row for row in rows if row["day"] >= recent]
    mean = _means(last)
    was, now = _means([row for row in rows if row["day"] < move_day]), _means(last)
    fell = names["value"] == "billing" and names["value2"] == "de"
    change = now["mean"] - was["mean"] - gain / 3
    against = now["mean"] - 4.15
    return SegmentFinding(
        segment_id=names["segment_id"], key=names["key"], value=names["value"], key2=names["key2"],
        value2=names["value2"], n=int(mean["n"]), n_unscored=sum(row["n_unscored"] for row in last),
        mean=mean["mean"], mean_low=mean["low"], mean_high=mean["high"], corrected=mean["mean"] - gain,
        corrected_low=mean["low"] - gain - 0.06, corrected_high=mean["high"] - gain + 0.06, against_rest=against,
        against_rest_low=against - 0.2, against_rest_high=against + 0.2, stands_out=fell,
        state="changed" if fell else "no_change_shown", direction="worse" if fell else None, estimate=change,
        low=change - 0.25, high=change + 0.25, method="linearised", before=was["mean"], after=now["mean"],
        n_before=int(was["n"]), n_after=int(now["n"]), days_before=45, days_after=14,
        since_day=move_day if fell else None, since_first_day=plus_days(move_day, -2) if fell else None,
        since_last_day=plus_days(move_day, 1) if fell else None, alarm_day=plus_days(move_day, 5) if fell else None,
        evidence=3.1 if fell else 0.2, threshold=2.56,
    )  # fmt: skip
