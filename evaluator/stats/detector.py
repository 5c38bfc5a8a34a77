"""Whether a stream of run statistics has changed, when, and by how much since then.

Replays a history through the evidence of ``evidence`` and puts thresholds, dates and intervals to it. What a run's
statistic is, and which streams are watched together, is decided in ``monitor``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evaluator.stats.evidence import (
    DEFAULT_SETTINGS,
    MIN_REFERENCE_RUNS,
    ChangeDate,
    DetectorSettings,
    EvidenceStream,
    from_log,
    guarding_correlation,
)
from evaluator.stats.numeric import BoolArray, FloatArray, IntArray, as_scores, check_level

BASELINE_RUNS = 20
OWN_PRIOR_RUNS = 4  # that a stretch's own spread is shrunk by
TIME_UNIFORM = "time-uniform {percent:g} % interval"


@dataclass(frozen=True, kw_only=True, eq=False)
class Detection:
    """What ``detect`` saw. Indices count the rows of the stream as given, runs that do not count included.

    Attributes:
        learning: Fewer counted runs than the reference needs: nothing can alarm yet.
        n_counted: Runs that entered.
        evidence: Evidence after each run, shape (R,); nan in the reference and for runs that do not count.
        threshold: Evidence at which the alarm fires.
        outlier: Runs whose value was clipped, shape (R,): far off, waiting for a second such run.
        alarm_index: Run in which the alarm fired first; None without alarm.
        change_index: First run after the change, by all runs up to now; None without alarm.
        change_low: First run of the 95 % posterior set of the change; None without alarm.
        change_high: Last run of that set; None without alarm.
        autocorrelation: Lag-1 correlation used for the last run.
    """

    learning: bool
    n_counted: int
    evidence: FloatArray
    threshold: float
    outlier: BoolArray
    alarm_index: int | None
    change_index: int | None
    change_low: int | None
    change_high: int | None
    autocorrelation: float


@dataclass(frozen=True, kw_only=True)
class LevelChange:
    """Level after a change less the level before it.

    Attributes:
        estimate: Difference of the two means, in units of the stream; None when one side has no run.
        low: Lower bound; None while no finite interval can be given.
        high: Upper bound; None while no finite interval can be given.
        level: Coverage, however often one looks.
        method: Name of the interval, to be shown with it.
        n_before: Counted runs before the change.
        n_after: Counted runs from the change on.
    """

    estimate: float | None
    low: float | None
    high: float | None
    level: float
    method: str
    n_before: int
    n_after: int


def alarm_threshold(*, runs_per_year: float, false_alarms_per_year: float, weight: float = 1.0) -> float:
    """Evidence at which a stream alarms: ``runs_per_year / false_alarms_per_year / weight``.

    Args:
        runs_per_year: Counted runs in a year, > 0.
        false_alarms_per_year: What the user accepts, on average, when nothing changes, > 0.
        weight: Share of that budget which this stream may use, in (0, 1].

    Raises:
        ValueError: a value outside its range.
    """
    if not (runs_per_year > 0 and false_alarms_per_year > 0 and 0 < weight <= 1):
        raise ValueError(
            "runs_per_year and false_alarms_per_year must be positive and weight in (0, 1], got "
            f"{runs_per_year!r}, {false_alarms_per_year!r} and {weight!r}"
        )
    return runs_per_year / false_alarms_per_year / weight


def level_floor_sd(n_anchors: int) -> float:
    """Least spread between runs that a mean over anchors is credited with, in 1..5 equivalents.

    It is what independent flips by one point with probability 0.02 would leave.

    Raises:
        ValueError: no anchors.
    """
    if n_anchors < 1:
        raise ValueError(f"n_anchors must be at least 1, got {n_anchors!r}")
    return math.sqrt(0.02 / n_anchors)


def detect(
    stream: npt.ArrayLike,
    *,
    threshold: float,
    floor_sd: float,
    n_reference: int = BASELINE_RUNS,
    settings: DetectorSettings = DEFAULT_SETTINGS,
) -> Detection:
    """Replay a stream of run statistics and find its first change.

    Args:
        stream: One value per run in slot order, shape (R,); nan for runs that do not count.
        threshold: Evidence that fires the alarm, from ``alarm_threshold``.
        floor_sd: Least spread of the stream, > 0, in its units (``level_floor_sd`` for the shift of the mean).
        n_reference: Counted runs before which no change is looked for, at least 10.
        settings: Constants of the method.

    Returns:
        Evidence after every run, the alarm and the date of the change; ``learning`` while there are fewer counted
        runs than n_reference.

    Raises:
        ValueError: n_reference under 10, threshold or floor_sd not positive, an infinite value.
    Assumes: quiet runs are exchangeable up to a lag-1 correlation; the bound on false alarms is exact for Gaussian
        runs without clipping and correlation guard, and was measured with them.
    Source: module docstring.
    """
    values = as_scores(stream).ravel()
    if n_reference < MIN_REFERENCE_RUNS:
        raise ValueError(f"n_reference must be at least {MIN_REFERENCE_RUNS}, got {n_reference!r}")
    if not (threshold > 0 and math.isfinite(threshold)):
        raise ValueError(f"threshold must be positive and finite, got {threshold!r}")
    rows = np.flatnonzero(~np.isnan(values))
    evidence = np.full(len(values), np.nan)
    outlier = np.zeros(len(values), dtype=np.bool_)
    if len(rows) < n_reference:
        return _detection(evidence, outlier, rows, threshold, learning=True)
    state = EvidenceStream(values[rows[:n_reference]], floor_sd=floor_sd, settings=settings)
    at_alarm: tuple[int, float] | None = None
    for row in rows[n_reference:]:
        evidence[row] = from_log(state.update(float(values[row])))
        outlier[row] = state.last_was_clipped
        if at_alarm is None and evidence[row] >= threshold:
            at_alarm = (state.n, state.autocorrelation)
    rho = state.autocorrelation
    if at_alarm is None:
        return _detection(evidence, outlier, rows, threshold, autocorrelation=rho)
    date = state.change_date(*at_alarm)
    alarm_row = int(rows[at_alarm[0] - 1])
    return _detection(evidence, outlier, rows, threshold, alarm_index=alarm_row, date=date, autocorrelation=rho)


def change_date(
    stream: npt.ArrayLike,
    *,
    floor_sd: float,
    alarm_index: int | None = None,
    n_reference: int = BASELINE_RUNS,
    level: float = 0.95,
    settings: DetectorSettings = DEFAULT_SETTINGS,
) -> ChangeDate:
    """Date a change that is known to have happened: the most probable first run after it, and a set around that.

    Args:
        stream: One value per run in slot order, shape (R,); nan for runs that do not count.
        floor_sd: Least spread of the stream, > 0, in its units.
        alarm_index: Run by which the change was noticed: only earlier runs can have begun it, later ones sharpen the
            date. The last run by default.
        n_reference: Counted runs that are taken for unchanged, at least 10.
        level: Mass of the posterior set, in (0, 1).
        settings: Constants of the method.

    Returns:
        Indices of the stream as given. Of a stream that never changed it says when it would have, not whether.

    Raises:
        ValueError: no counted run between the reference and the alarm, floor_sd or level out of range, an infinite
            value.
    """
    values = as_scores(stream).ravel()
    rows = np.flatnonzero(~np.isnan(values))
    n_at_alarm = len(rows) if alarm_index is None else int((rows <= alarm_index).sum())
    if n_at_alarm <= n_reference:
        raise ValueError(
            f"a date needs counted runs after the {n_reference} of the reference and up to the alarm, "
            f"got {max(n_at_alarm - n_reference, 0)}"
        )
    state = EvidenceStream(values[rows[:n_reference]], floor_sd=floor_sd, settings=settings)
    autocorrelation = state.autocorrelation
    for place, row in enumerate(rows[n_reference:], start=n_reference + 1):
        state.take_in(float(values[row]))
        if place == n_at_alarm:
            autocorrelation = state.autocorrelation
    date = state.change_date(n_at_alarm, autocorrelation, level=level)
    return replace(date, index=int(rows[date.index]), low=int(rows[date.low]), high=int(rows[date.high]))


def level_since(
    stream: npt.ArrayLike,
    change_index: int,
    *,
    floor_sd: float,
    level: float = 0.95,
    settings: DetectorSettings = DEFAULT_SETTINGS,
) -> LevelChange:
    """Level from a given run on, less the level before it, with an interval valid however often one looks.

    The interval inverts the e-process of the detector with g = 1. Runs that follow each other too closely are weighed
    down by the correlation left within the two stretches; the largest of the pooled spread and the two stretches' own
    is used, because a judge that moved is often noisier. Each is shrunk by four runs to the pooled one, the stretch
    after to the floor where that is more: other anchors lie near a boundary now, of which long calm before says
    nothing.

    Args:
        stream: One value per run, shape (R,); nan for runs that do not count. Not clipped.
        change_index: First run after the change: from ``detect``, or the end of the baseline where nothing changed.
        floor_sd: Least spread of the stream, > 0.
        level: Coverage, in (0, 1).
        settings: Constants of the method.

    Returns:
        Estimate and bounds in units of the stream; no bounds while too few runs are there.

    Raises:
        ValueError: level outside (0, 1), change_index outside the stream, floor_sd not positive.
    Assumes: change_index was not itself chosen to make the difference large; for dates from ``detect`` coverage was
        measured.
    Source: Wang and Ramdas, arXiv 2310.03722, inverted for two samples.
    """
    check_level(level)
    values = as_scores(stream).ravel()
    if not 0 <= change_index <= len(values):
        raise ValueError(f"change_index must lie within the stream of {len(values)} runs, got {change_index!r}")
    if not floor_sd > 0:
        raise ValueError(f"floor_sd must be positive, got {floor_sd!r}")
    before, after = values[:change_index], values[change_index:]
    before, after = before[~np.isnan(before)], after[~np.isnan(after)]
    estimate = float(after.mean() - before.mean()) if len(before) and len(after) else None
    radius = _time_uniform_radius(before, after, floor_sd, 1 - level, settings) if estimate is not None else math.inf
    known = estimate is not None and math.isfinite(radius)
    return LevelChange(
        estimate=estimate,
        low=estimate - radius if estimate is not None and known else None,
        high=estimate + radius if estimate is not None and known else None,
        level=level,
        method=TIME_UNIFORM.format(percent=round(100 * level, 6)),
        n_before=len(before),
        n_after=len(after),
    )


def _time_uniform_radius(
    before: FloatArray, after: FloatArray, floor_sd: float, alpha: float, settings: DetectorSettings
) -> float:
    """Half-width of the inverted e-process; inf while no finite one exists."""
    k, m, prior = len(before), len(after), settings.prior_runs
    n, size = k + m, k * m / (k + m)
    ratio = (math.sqrt(1 + size) / alpha) ** (2 / (n - 1 + prior))
    if n < 3 or ratio >= 1 + size:
        return math.inf
    residual = np.concatenate([before - before.mean(), after - after.mean()])
    rho = guarding_correlation(residual, floor_sd=floor_sd, settings=settings)
    whitened = residual.copy()
    whitened[1:] = (residual[1:] - rho * residual[:-1]) / (1 - rho)
    squares_before, squares_after = _sum_of_squares(whitened[:k]), _sum_of_squares(whitened[k:])
    pooled = (squares_before + squares_after + prior * floor_sd**2) / (n - 2 + prior)
    own_before = (squares_before + OWN_PRIOR_RUNS * pooled) / (k - 1 + OWN_PRIOR_RUNS)
    own_after = (squares_after + OWN_PRIOR_RUNS * max(pooled, floor_sd**2)) / (m - 1 + OWN_PRIOR_RUNS)
    squares = (n - 2 + prior) * max(pooled, own_before, own_after)
    return math.sqrt(squares * (ratio - 1) / (size * (1 - ratio / (1 + size))))


def _sum_of_squares(values: FloatArray) -> float:
    return float(((values - values.mean()) ** 2).sum())


def _detection(
    evidence: FloatArray,
    outlier: BoolArray,
    rows: IntArray,
    threshold: float,
    *,
    learning: bool = False,
    alarm_index: int | None = None,
    date: ChangeDate | None = None,
    autocorrelation: float = 0.0,
) -> Detection:
    """Assemble the result; a date counts the runs that entered, the result all rows of the stream."""
    return Detection(
        learning=learning,
        n_counted=len(rows),
        evidence=evidence,
        threshold=threshold,
        outlier=outlier,
        alarm_index=alarm_index,
        change_index=None if date is None else int(rows[date.index]),
        change_low=None if date is None else int(rows[date.low]),
        change_high=None if date is None else int(rows[date.high]),
        autocorrelation=autocorrelation,
    )
