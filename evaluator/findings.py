"""The shape of an analysis as it is stored and read: plain JSON with the types below (schema version 1).

``evaluator.analysis`` computes it at the end of a run; ``check``, the page and later the alerts read it. Scores and
changes are in the rubric's units; every interval is two-sided at ``settings.level``; days are calendar days of the
store's zone. A missing number is None, never NaN and never 0.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

SCHEMA_VERSION = 1

JudgeState = Literal["changed", "steady", "no_change_shown", "cannot_tell", "learning", "no_data"]
QualityState = Literal["changed", "steady", "no_change_shown", "cannot_tell", "learning", "no_data"]


class SettingsUsed(TypedDict):
    """What the analysis was told."""

    level: float
    false_alarms_per_year: float
    runs_per_year: float
    smallest_change: float
    baseline_runs: int
    learning_runs: int


class AnchorRun(TypedDict):
    """One run's anchors against their own baseline, item by item.

    ``not_counted`` says why a run that came to its end is no measurement; it is empty otherwise, also for one that has
    too few scores to be ``counted``.
    """

    run_id: str
    day: str
    slot_utc: str
    n: int
    n_anchors: int
    not_counted: str
    counted: bool
    in_baseline: bool
    mean: float | None
    shift: float | None
    low: float | None
    high: float | None
    evidence: float | None


class MovedAnchor(TypedDict):
    """One anchor before and after the change."""

    item_id: str
    anchor_id: str
    expected_score: float | None
    before: float
    after: float
    n_before: int
    n_after: int


class JudgeFinding(TypedDict):
    """Did the judge move? ``estimate`` is the lasting change since ``since_day`` (or since the baseline).

    ``since_*`` and ``alarm_day`` are set when ``state`` is "changed". A judge may move more than once: then they and
    the estimate are of the last time, ``earlier_days`` are the times before, and ``against_first_runs`` is what it
    gives now against its first runs.
    """

    state: JudgeState
    direction: Literal["more generous", "stricter"] | None
    estimate: float | None
    low: float | None
    high: float | None
    method: str
    n_anchors: int
    n_runs: int
    n_runs_counted: int
    n_runs_after: int
    since_day: str | None
    since_first_day: str | None
    since_last_day: str | None
    alarm_day: str | None
    earlier_days: list[str]
    against_first_runs: float | None
    against_first_runs_low: float | None
    against_first_runs_high: float | None
    evidence: float | None
    threshold: float
    learning_runs_left: int
    first_alarm_day: str | None
    likely_cause: str | None
    runs: list[AnchorRun]
    moved: list[MovedAnchor]


class TrafficDay(TypedDict):
    """One day's answers: raw mean, and the mean as the baseline judge would have scored it."""

    day: str
    n: int
    n_unscored: int
    n_planned: int | None
    n_answers: int | None
    finished: bool
    mean: float | None
    low: float | None
    high: float | None
    corrected: float | None
    corrected_low: float | None
    corrected_high: float | None
    note: str | None


class QualityFinding(TypedDict):
    """Did the answers get better or worse, once the judge's own move is taken out?

    ``before`` and ``after`` are corrected means of the two periods that ``since_day`` (or the end of the first days)
    separates; ``estimate`` is after minus before, at the mix of questions of the first days. ``since_*`` are set when
    ``state`` is "changed". Across a change of the judge there is one comparison and no day-by-day watch; then
    ``since_day`` is the judge's, and ``alarm_day`` and ``evidence`` are None.
    """

    state: QualityState
    direction: Literal["better", "worse"] | None
    estimate: float | None
    low: float | None
    high: float | None
    method: str
    before: float | None
    after: float | None
    n_before: int
    n_after: int
    days_before: int
    days_after: int
    since_day: str | None
    since_first_day: str | None
    since_last_day: str | None
    alarm_day: str | None
    likely_cause: str | None
    evidence: float | None
    threshold: float


class SegmentFinding(QualityFinding):
    """The same for one segment. ``n``, ``mean``, ``low_mean``... are its raw scores in the last ``last_days`` days."""

    segment_id: int
    key: str
    value: str
    key2: str
    value2: str
    n: int
    n_unscored: int
    mean: float | None
    mean_low: float | None
    mean_high: float | None
    corrected: float | None
    corrected_low: float | None
    corrected_high: float | None
    against_rest: float | None
    against_rest_low: float | None
    against_rest_high: float | None
    stands_out: bool


class Shares(TypedDict):
    """Where the raw change of the traffic mean comes from. The three shares add up to ``raw`` at two digits.

    Compares the traffic of the baseline days with the days since the judge changed (or the last 14 days).
    """

    before_first_day: str
    before_last_day: str
    after_first_day: str
    after_last_day: str
    n_before: int
    n_after: int
    raw_before: float
    raw_after: float
    raw: float
    judge: float
    judge_low: float | None
    judge_high: float | None
    assistant: float
    assistant_low: float | None
    assistant_high: float | None
    mix: float
    mix_low: float | None
    mix_high: float | None
    mix_key: str | None
    method: str


class EventMark(TypedDict):
    """Something logged that belongs on the time axis."""

    day: str
    kind: str
    text: str


class RawPeriod(TypedDict):
    """Mean of some days as the judge gave it, with its interval; rubric units."""

    first_day: str
    last_day: str
    n: int
    mean: float | None
    low: float | None
    high: float | None


class Findings(TypedDict):
    """One analysis. ``headline`` is the verdict in words, ``sentences`` all that is worth saying, in order.

    ``look_segments`` are the segments that the entries of ``needs_a_look`` speak of; None for one about no segment.
    ``imported`` tells that the scores were imported; then ``anchor_setup`` is the judge setup whose anchors speak for
    them, None without one, and ``raw_periods`` their first and last days.
    """

    schema_version: int
    app: str
    ruler_id: str
    setup: int
    model_asked: str
    criterion: str
    zone: str
    scale_min: float
    scale_max: float
    first_day: str | None
    last_day: str | None
    baseline_first_day: str | None
    baseline_last_day: str | None
    last_days: int
    settings: SettingsUsed
    judge: JudgeFinding
    assistant: QualityFinding
    segments: list[SegmentFinding]
    shares: Shares | None
    days: list[TrafficDay]
    events: list[EventMark]
    headline: str
    tone: Literal["quiet", "unknown", "look"]
    sentences: list[str]
    needs_a_look: list[str]
    look_segments: list[int | None]
    imported: NotRequired[bool]
    anchor_setup: NotRequired[int | None]
    raw_periods: NotRequired[list[RawPeriod]]
