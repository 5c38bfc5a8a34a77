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
LimitState = Literal["crossed", "inside", "cannot_tell", "learning", "no_data"]
JudgeKind = Literal["level", "compression", "stretch", "low_end", "high_end", "noisier", "calmer", "single_anchor"]


class LimitUsed(TypedDict):
    """A limit that was set, as ``analysis.settings.Limit`` describes it."""

    kind: Literal["mean_under", "share_at_or_under", "unscored_share"]
    bound: float
    level: float | None
    segment: str


class SettingsUsed(TypedDict):
    """What the analysis was told.

    ``false_alarms_per_year`` is the user's number, for the whole app; each of its ``n_watched`` judge setups has an
    equal part of it.
    """

    level: float
    false_alarms_per_year: float
    runs_per_year: float
    smallest_change: float
    baseline_runs: int
    learning_runs: int
    n_watched: NotRequired[int]
    limits: NotRequired[list[LimitUsed]]


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


class EndShift(TypedDict):
    """How far the anchors of the lower or of the upper third of the scale moved since the change."""

    end: Literal["low", "high"]
    n_anchors: int
    estimate: float | None
    low: float | None
    high: float | None


class BrokenFinding(TypedDict):
    """An anchor that left its usual score for good; it is left out of everything from ``since_day`` on."""

    anchor: MovedAnchor
    since_day: str
    since_first_day: str
    since_last_day: str
    alarm_day: str
    likely_cause: str | None


class AcceptedBaseline(TypedDict):
    """A later normal that a person accepted."""

    from_day: str
    accepted_utc: str
    by_whom: str
    note: str


class JudgeFinding(TypedDict):
    """Did the judge move? ``estimate`` is the lasting change since ``since_day`` (or since the baseline).

    ``since_*`` and ``alarm_day`` are set when ``state`` is "changed". A judge may move more than once: then they and
    the estimate are of the last time, ``earlier_days`` are the times before, and ``against_first_runs`` is what it
    gives now against its first runs.

    ``kind`` says in which way it changed. ``direction`` is told where the mean is shown to have moved; ``ends`` are the
    lower and the upper third of the anchors, with intervals that hold together. ``noise_ratio`` is the spread of the
    anchors about their baseline now over what it was. For a "single_anchor", the last of ``broken``, the estimate is
    that of all other anchors. ``evidence`` is that of the moment the alarm fired. ``baseline_trend`` is the slope per
    run of the baseline itself, in rubric units, with its p-value: a norm that moved while it was made.
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
    kind: JudgeKind | None
    ends: list[EndShift]
    noise_ratio: float | None
    noise_ratio_low: float | None
    noise_ratio_high: float | None
    broken: list[BrokenFinding]
    evidence_parts: dict[str, float]
    baseline_trend: float | None
    baseline_trend_p: float | None
    accepted: AcceptedBaseline | None


class TrafficDay(TypedDict):
    """One day's answers: raw mean, and the mean as the baseline judge would have scored it.

    ``ignored`` says why a day is left out of the statistics, and is empty otherwise; such a day is drawn grey.
    """

    day: str
    n: int
    n_unscored: int
    n_planned: int | None
    n_answers: int | None
    finished: bool
    ignored: NotRequired[str]
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
    ``since_day`` is the answers' own where the ten days before allow one, else the judge's, and ``alarm_day`` and
    ``evidence`` are None.

    ``more_days`` is about how many more days, and ``more_anchors`` how many anchors instead, it takes until the
    interval is no wider than ``settings.smallest_change`` to either side: 0 when it is, None when they never make it
    so, or after a change; both are needed when ``more_together``. For ``open_days`` more days the finding may still be
    revised: 5 days after an alarm the judge may turn out to have moved, and a comparison across its change takes in 20.
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
    more_days: NotRequired[int | None]
    more_anchors: NotRequired[int | None]
    more_together: NotRequired[bool]
    open_days: NotRequired[int]
    before_first_day: NotRequired[str | None]
    before_last_day: NotRequired[str | None]
    after_first_day: NotRequired[str | None]
    after_last_day: NotRequired[str | None]


class SegmentFinding(QualityFinding):
    """The same for one segment. ``n``, ``mean``, ``low_mean``... are its raw scores in the last ``last_days`` days.

    Two tables of a fixed day, each corrected for the number of segments it holds (``SegmentLooks``): ``against_rest``
    compares with all other answers of the last days, ``recent_change`` the last days with the first ones, the judge's
    own move taken out. ``*_p`` is the p-value of one look, ``*_p_adjusted`` that after the correction.

    ``shrunk_mean`` and ``shrunk_change`` rank and are no estimates; ``is_lowest`` and ``is_most_moved`` mark one
    segment each. ``suspect`` is one that stands out beside those that changed, without being sure enough by itself.

    ``judge_in_segment`` is how far the judge moved on the anchors with this segment's tags beyond what the correction
    of all answers takes out; where it is ``judge_in_segment_used``, ``estimate`` and its interval are free of it.
    """

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
    against_rest_p: NotRequired[float | None]
    against_rest_p_adjusted: NotRequired[float | None]
    recent_change: NotRequired[float | None]
    recent_change_low: NotRequired[float | None]
    recent_change_high: NotRequired[float | None]
    recent_change_p: NotRequired[float | None]
    recent_change_p_adjusted: NotRequired[float | None]
    recent_change_stands_out: NotRequired[bool]
    n_first_days: NotRequired[int]
    shrunk_mean: NotRequired[float | None]
    shrunk_change: NotRequired[float | None]
    is_lowest: NotRequired[bool]
    is_most_moved: NotRequired[bool]
    suspect: NotRequired[bool]
    judge_in_segment: NotRequired[float | None]
    judge_in_segment_low: NotRequired[float | None]
    judge_in_segment_high: NotRequired[float | None]
    judge_in_segment_n_anchors: NotRequired[int]
    judge_in_segment_used: NotRequired[bool]
    judge_in_segment_note: NotRequired[str]


class SegmentLooks(TypedDict):
    """How many segments were looked at, and what is left of what was seen after correcting for that."""

    n_segments: int
    n_against_rest: int
    n_below_the_rest: int
    n_recent_change: int
    n_recent_change_stands_out: int
    n_watched: int
    n_changed: int
    n_suspects: int
    lowest: int | None
    most_moved: int | None
    first_days_first_day: str | None
    first_days_last_day: str | None
    last_days_first_day: str | None
    last_days_last_day: str | None
    false_share: float
    method: str


class LimitFinding(TypedDict):
    """A limit someone set, and where the level lies. Means in rubric units, shares in 0..1.

    ``value`` with its interval is the level from ``first_day`` to ``last_day``: since it was crossed, or of the last
    days. ``raw_crossed`` tells that the raw mean lies under the limit; ``explained_by_judge`` that the crossing came
    with a change of the judge that explains it: then the state is not "crossed".
    """

    kind: Literal["mean_under", "share_at_or_under", "unscored_share"]
    bound: float
    level: float | None
    segment: str
    segment_id: int | None
    state: LimitState
    value: float | None
    low: float | None
    high: float | None
    method: str
    n: int
    days: int
    first_day: str | None
    last_day: str | None
    since_day: str | None
    alarm_day: str | None
    evidence: float | None
    threshold: float
    raw_crossed: bool
    explained_by_judge: bool
    sentence: str


class WeekdayFinding(TypedDict):
    """The weekday pattern of all answers, Monday first in ``effects`` (rubric units; None unless it is taken out).

    ``pooled`` is how days are joined: "day", "until 30 answers" or "week". ``visible_change`` is the smallest lasting
    change that would be seen within ``visible_within_days`` days.
    """

    state: Literal["unknown", "none", "taken_out"]
    n_weeks: int
    p_value: float | None
    effects: list[float] | None
    pooled: Literal["day", "until 30 answers", "week"]
    answers_per_day: float | None
    visible_change: float | None
    visible_within_days: int | None
    sentence: str


class Shares(TypedDict):
    """Where the raw change of the traffic mean comes from. The three shares add up to ``raw`` at two digits.

    Compares the traffic of the baseline days with the days since the judge changed (or the last 14 days). ``more_days``
    and ``more_anchors`` say what it takes, each alone (or both, when ``more_together``), until the assistant's interval
    is no wider than ``settings.smallest_change`` to either side; 0 when it is, None when they never make it so.
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
    verdict: NotRequired[Literal["judge", "assistant", "both", "mix", "undecided", "nothing"]]
    more_days: NotRequired[int | None]
    more_anchors: NotRequired[int | None]
    more_together: NotRequired[bool]


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


class Rechecked(TypedDict):
    """What the newest recheck of these scores found of their judge; ``day`` is when. Units of the configured judge."""

    day: str
    finding: str
    value: float | None
    low: float | None
    high: float | None


class Findings(TypedDict):
    """One analysis. ``headline`` is the verdict in words, ``sentences`` all that is worth saying, in order.

    ``look_segments`` are the segments that the entries of ``needs_a_look`` speak of; None for one about no segment.
    ``imported`` tells that the scores were imported; then ``anchor_setup`` is the judge setup whose anchors speak for
    them, None without one, ``raw_periods`` their first and last days, and ``rechecked`` the newest recheck of them.
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
    rechecked: NotRequired[Rechecked | None]
    segment_looks: NotRequired[SegmentLooks]
    limits: NotRequired[list[LimitFinding]]
    weekdays: NotRequired[WeekdayFinding]
