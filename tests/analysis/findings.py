"""Findings by hand, for the tests of the wording: a quiet analysis, and what a test changes of it."""

from __future__ import annotations

from typing import Any

from evaluator.findings import SCHEMA_VERSION, Findings, JudgeFinding, QualityFinding, SegmentFinding, Shares

QUIET_JUDGE = JudgeFinding(
    state="steady",
    direction=None,
    estimate=0.012,
    low=-0.034,
    high=0.058,
    method="time-uniform 95 % interval",
    n_anchors=60,
    n_runs=62,
    n_runs_counted=60,
    n_runs_after=40,
    since_day=None,
    since_first_day=None,
    since_last_day=None,
    alarm_day=None,
    earlier_days=[],
    against_first_runs=0.012,
    against_first_runs_low=-0.034,
    against_first_runs_high=0.058,
    evidence=0.8,
    threshold=1043.0,
    learning_runs_left=0,
    first_alarm_day=None,
    likely_cause=None,
    runs=[],
    moved=[],
    kind=None,
    ends=[],
    noise_ratio=1.02,
    noise_ratio_low=0.8,
    noise_ratio_high=1.3,
    broken=[],
    evidence_parts={"level": 0.3, "slope": 0.2, "spread": 0.2, "anchor": 0.1},
    baseline_trend=0.0,
    baseline_trend_p=0.6,
    accepted=None,
)
QUIET_ASSISTANT = QualityFinding(
    state="steady",
    direction=None,
    estimate=-0.004,
    low=-0.071,
    high=0.063,
    method="time-uniform 95 % interval",
    before=3.81,
    after=3.806,
    n_before=2220,
    n_after=4440,
    days_before=20,
    days_after=40,
    since_day=None,
    since_first_day=None,
    since_last_day=None,
    alarm_day=None,
    likely_cause=None,
    evidence=0.5,
    threshold=1043.0,
)
MOVED_JUDGE = {
    "state": "changed",
    "direction": "more generous",
    "estimate": 0.312,
    "low": 0.221,
    "high": 0.403,
    "since_day": "2026-10-12",
    "since_first_day": "2026-10-10",
    "since_last_day": "2026-10-13",
}
LEARNING_JUDGE = {
    "state": "learning",
    "estimate": None,
    "low": None,
    "high": None,
    "n_runs_counted": 6,
    "n_runs_after": 0,
    "learning_runs_left": 4,
    "first_alarm_day": "2026-11-14",
}
WORSE = {
    "state": "changed",
    "direction": "worse",
    "estimate": -0.31,
    "low": -0.45,
    "high": -0.17,
    "since_day": "2026-11-03",
    "since_first_day": "2026-11-03",
    "since_last_day": "2026-11-03",
}
SHARES = Shares(
    before_first_day="2026-09-01",
    before_last_day="2026-09-20",
    after_first_day="2026-10-12",
    after_last_day="2026-11-05",
    n_before=2220,
    n_after=2400,
    raw_before=3.81,
    raw_after=4.21,
    raw=0.40,
    judge=0.31,
    judge_low=0.22,
    judge_high=0.40,
    assistant=0.07,
    assistant_low=-0.04,
    assistant_high=0.18,
    mix=0.02,
    mix_low=0.01,
    mix_high=0.03,
    mix_key="topic",
    method="affine map of the anchors, HC3; Kitagawa split",
)


def findings(
    *,
    judge: dict[str, Any] | None = None,
    assistant: dict[str, Any] | None = None,
    segments: list[SegmentFinding] | None = None,
    **changes: Any,
) -> Findings:
    """A quiet analysis with some entries replaced."""
    found: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "app": "default",
        "ruler_id": "r",
        "setup": 1,
        "model_asked": "judge-large",
        "criterion": "overall",
        "zone": "UTC",
        "scale_min": 1.0,
        "scale_max": 5.0,
        "first_day": "2026-09-01",
        "last_day": "2026-11-05",
        "baseline_first_day": "2026-09-01",
        "baseline_last_day": "2026-09-20",
        "last_days": 14,
        "settings": {
            "level": 0.95,
            "false_alarms_per_year": 1.0,
            "runs_per_year": 365.0,
            "smallest_change": 0.1,
            "baseline_runs": 20,
            "learning_runs": 10,
        },
        "judge": {**QUIET_JUDGE, **(judge or {})},
        "assistant": {**QUIET_ASSISTANT, **(assistant or {})},
        "segments": segments or [],
        "shares": None,
        "days": [],
        "events": [],
        "headline": "",
        "tone": "unknown",
        "sentences": [],
        "needs_a_look": [],
        "look_segments": [],
    }
    return Findings(**(found | changes))  # type: ignore[typeddict-item]  # a test replaces any entry


def segment(
    segment_id: int, value: str, *, value2: str = "", key: str = "topic", key2: str = "language", **changes: Any
) -> SegmentFinding:
    """A quiet segment with some entries replaced; a second value crosses two keys."""
    quiet: dict[str, Any] = {
        **QUIET_ASSISTANT,
        "segment_id": segment_id,
        "key": key,
        "value": value,
        "key2": key2 if value2 else "",
        "value2": value2,
        "n": 143,
        "n_unscored": 0,
        "mean": 3.1,
        "mean_low": 2.8,
        "mean_high": 3.4,
        "corrected": 3.0,
        "corrected_low": 2.7,
        "corrected_high": 3.3,
        "against_rest": 0.02,
        "against_rest_low": -0.1,
        "against_rest_high": 0.14,
        "stands_out": False,
        "n_before": 400,
        "n_after": 400,
    }
    return SegmentFinding(**(quiet | changes))  # type: ignore[typeddict-item]  # a test replaces any entry
