"""Whether the level of a daily series lies beyond a limit that a person named, watched for years.

The same idea as ``evidence``, against a fixed number: for every day from which the level may lie beyond the limit, a
one-sided t Bayes factor of "beyond" against "at the limit", with the days before it for the spread; their sum over
these days reaches a threshold A on average no sooner than after A days at the limit, and later inside it. What the
series is, and what a judge's drift explains of it, is not decided here.

Sources: Shin, Ramdas and Rinaldo, arXiv 2203.03532 (sums over start times); Wang and Ramdas, arXiv 2310.03722 (mixture
with unknown spread, and the interval that inverts it).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from evaluator.stats.detector import TIME_UNIFORM
from evaluator.stats.evidence import DEFAULT_SETTINGS, MIN_REFERENCE_RUNS, from_log, shrunk_autocorrelation
from evaluator.stats.numeric import FloatArray, IntArray, as_scores, check_level

MIN_VALUES = 5  # values before which nothing is told: their spread is not known
RECENT_VALUES = 14  # the level is that of so many values while nothing is told
_WINDOW = 120  # first days looked back on
_MOST_CORRELATION = 0.8
_BEFORE = 30  # values before such a day that tell the spread: what moved longer ago is forgotten

Side = Literal["under", "over"]


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """A stretch beyond the limit. Rows count the values as given.

    Attributes:
        row: The likeliest first value beyond.
        alarm_row: Where it was told.
        back_row: Where it was told that the level is back inside; None while it is not.
    """

    row: int
    alarm_row: int
    back_row: int | None


@dataclass(frozen=True, kw_only=True, eq=False)
class LimitWatch:
    """What the watch saw.

    Attributes:
        n: Values that are there.
        crossings: Oldest first.
        is_crossed: Whether the newest one is not over.
        evidence: For lying beyond, or, after that was told, for being back; shape (R,), nan where there is none.
        estimate: Level since the crossing, or of the last values; None without values.
        low: Lower bound; None while no finite interval can be given.
        high: Upper bound.
        first_row: First row of those values; None without values.
        method: Name of the interval.
    """

    n: int
    crossings: tuple[Crossing, ...]
    is_crossed: bool
    evidence: FloatArray
    estimate: float | None
    low: float | None
    high: float | None
    first_row: int | None
    method: str

    @property
    def newest_evidence(self) -> float | None:
        """Evidence after the last value."""
        known = self.evidence[~np.isnan(self.evidence)]
        return float(known[-1]) if len(known) else None


def watch_limit(
    values: npt.ArrayLike,
    *,
    limit: float,
    side: Side,
    threshold: float,
    floor_sd: float,
    level: float = 0.95,
    own_floor_sd: float | None = None,
) -> LimitWatch:
    """Watch a series against a limit from its beginning.

    Coming back is told with as much evidence as crossing, so that a level close to the limit does not flicker.

    Args:
        values: In order of time, shape (R,); nan for a day that does not count.
        limit: In units of the values.
        side: On which side of the limit it is crossed.
        threshold: Evidence that tells, > 0: days a year / false alarms a year that this limit may have.
        floor_sd: Least spread of the series at the limit, > 0.
        level: Coverage of the interval, in (0, 1).
        own_floor_sd: Least spread at the level where the series is, for its interval; ``floor_sd`` by default. A share
            far under its limit varies less than one at it.

    Raises:
        ValueError: a number outside its range, or an infinite value.
    Assumes: days about a common level, correlated with the day before at most; Gaussian for the bound to be exact.
        False alarms were measured with shares of few answers as well.
    """
    check_level(level)
    if not (threshold > 0 and floor_sd > 0 and math.isfinite(limit)):
        raise ValueError(
            f"threshold and floor_sd must be positive and limit finite, got {threshold!r}, {floor_sd!r}, {limit!r}"
        )
    series = as_scores(values).ravel()
    rows = np.flatnonzero(~np.isnan(series))
    sign = 1.0 if side == "over" else -1.0
    excess = sign * (series[rows] - limit)
    crossings, known = _crossings(excess, threshold, floor_sd)
    evidence = np.full(len(series), np.nan)
    evidence[rows] = known
    is_crossed = bool(crossings) and crossings[-1].back_row is None
    ends = [each.back_row for each in crossings if each.back_row is not None]
    start = ends[-1] if ends else 0
    first = crossings[-1].row if is_crossed else max(start, len(rows) - RECENT_VALUES)
    start = max(start, first - _BEFORE)
    low, high = _interval(excess[start:], first - start, own_floor_sd or floor_sd, 1 - level)
    if sign < 0:
        low, high = (None if high is None else -high), (None if low is None else -low)
    return LimitWatch(
        n=len(rows),
        crossings=tuple(_as_given(each, rows.tolist()) for each in crossings),
        is_crossed=is_crossed,
        evidence=evidence,
        estimate=float(series[rows[first:]].mean()) if len(rows) else None,
        low=None if low is None else limit + low,
        high=None if high is None else limit + high,
        first_row=int(rows[first]) if len(rows) else None,
        method=TIME_UNIFORM.format(percent=round(100 * level, 6)),
    )


def _crossings(excess: FloatArray, threshold: float, floor_sd: float) -> tuple[list[Crossing], FloatArray]:
    """Every crossing with its end, and the evidence after each value; the direction asked about changes with each.

    Only evidence that would tell is worth the guard against correlation, and it tells if it stands with it.
    """
    found: list[Crossing] = []
    evidence = np.full(len(excess), np.nan)
    start, is_beyond = 0, False
    for n in range(MIN_VALUES, len(excess) + 1):
        if n <= start:
            continue
        # another level that was told before is no part of the spread
        asked = _clipped(-excess[start:n] if is_beyond else excess[start:n], floor_sd)
        k = np.arange(max(0, len(asked) - _WINDOW), len(asked))
        logs = _log_factors(asked, k, floor_sd)
        if from_log(float(np.logaddexp.reduce(logs))) >= threshold:
            logs = _log_factors(_guarded(asked, int(k[logs.argmax()]), floor_sd), k, floor_sd)
        evidence[n - 1] = from_log(float(np.logaddexp.reduce(logs)))
        if evidence[n - 1] < threshold:
            continue
        row = start + int(k[logs.argmax()])
        if is_beyond:
            found[-1] = Crossing(row=found[-1].row, alarm_row=found[-1].alarm_row, back_row=row)
        else:
            found.append(Crossing(row=row, alarm_row=n - 1, back_row=None))
        start, is_beyond = row, not is_beyond
    return found, evidence


def _guarded(values: FloatArray, split: int, floor_sd: float) -> FloatArray:
    """Values freed of their correlation with the day before.

    The correlation is that of what is left when the likeliest change of level is taken out: a lasting change looks
    like correlation, and guarding against it would hide it for weeks. But the split that looks likeliest also takes
    correlation out, so the days before it are asked alone too, and a standard error is added to the larger answer:
    without it, days with a correlation of 0.3 told twice as often as promised.
    """
    before, after = values[max(0, split - _WINDOW) : split], values[split:]
    left = np.concatenate([before - before.mean() if split else before, after - after.mean()])
    rho = shrunk_autocorrelation(left, floor_sd=floor_sd)
    if len(before) >= MIN_REFERENCE_RUNS:
        rho = max(rho, shrunk_autocorrelation(before, floor_sd=floor_sd))
    rho = min(rho + 1 / math.sqrt(len(left)), _MOST_CORRELATION)
    guarded = values.copy()
    guarded[1:] = (values[1:] - rho * values[:-1]) / (1 - rho)
    return guarded


def _log_factors(values: FloatArray, k: IntArray, floor_sd: float) -> FloatArray:
    """Log Bayes factors of "beyond from value k on" against "at the limit from value k on"; values are the excess.

    With m values after k of mean D, W the squares of b values before k about their mean and of those after k about
    theirs, and nu = b - 1 + m + nu0: ``(1 + m g)^(-1/2) [(W + m D^2) / (W + m D^2/(1 + m g))]^(nu/2)``, twice the part
    of it that lies beyond the limit, averaged over g.
    """
    settings = DEFAULT_SETTINGS
    m = (len(values) - k).astype(np.float64)
    sums, squares = np.cumsum(values), np.cumsum(values**2)
    sums, squares = np.concatenate([[0.0], sums]), np.concatenate([[0.0], squares])
    first = np.maximum(k - _BEFORE, 0)
    sum_before, square_before = sums[k] - sums[first], squares[k] - squares[first]
    mean_after = (sums[-1] - sums[k]) / m
    within = square_before - sum_before**2 / np.maximum(k - first, 1) + squares[-1] - squares[k] - m * mean_after**2
    within = np.maximum(within, 0.0) + settings.prior_runs * floor_sd**2
    freedom = np.maximum(k - first - 1, 0) + m + settings.prior_runs
    distance = m * mean_after**2
    logs = []
    for g in settings.effect_variances:
        left = within + distance / (1 + m * g)
        two_sided = -0.5 * np.log1p(m * g) + 0.5 * freedom * np.log((within + distance) / left)
        position = mean_after * m * np.sqrt(g * freedom / ((1 + m * g) * left))
        logs.append(two_sided + np.log(2 * np.maximum(special.stdtr(freedom, position), 1e-300)))
    return np.asarray(np.logaddexp.reduce(np.array(logs), axis=0) - math.log(len(logs)), dtype=np.float64)


def _clipped(excess: FloatArray, floor_sd: float) -> FloatArray:
    """Values at most four standard deviations beyond the limit: one freak day never tells by itself.

    The spread is that of the values before each. On the inner side nothing is cut: a day far inside speaks for itself.
    """
    settings = DEFAULT_SETTINGS
    count = np.arange(len(excess))
    before, before_squares = np.cumsum(excess) - excess, np.cumsum(excess**2) - excess**2
    squares = np.maximum(before_squares - before**2 / np.maximum(count, 1), 0.0)
    spread = np.sqrt((squares + settings.prior_runs * floor_sd**2) / (np.maximum(count - 1, 0) + settings.prior_runs))
    return np.asarray(np.minimum(excess, settings.clip_sd * spread), dtype=np.float64)


def _interval(excess: FloatArray, first: int, floor_sd: float, alpha: float) -> tuple[float | None, float | None]:
    """Bounds of the level from a value on, however often one looks; the values before it help to know the spread."""
    before, after = excess[:first], excess[first:]
    m, prior = len(after), DEFAULT_SETTINGS.prior_runs
    if not m:
        return None, None
    freedom = max(first - 1, 0) + m - 1 + prior
    ratio = (math.sqrt(1 + m) / alpha) ** (2 / (freedom + 1))
    if m < 2 or ratio >= 1 + m:
        return None, None
    residual = np.concatenate([before - before.mean() if first else before, after - after.mean()])
    rho = shrunk_autocorrelation(residual, floor_sd=floor_sd)
    residual[1:] = (residual[1:] - rho * residual[:-1]) / (1 - rho)
    pooled = (float(residual @ residual) + prior * floor_sd**2) / freedom
    own = (float(residual[first:] @ residual[first:]) + 4 * pooled) / (m - 1 + 4)
    squares = freedom * max(pooled, own)
    radius = math.sqrt(squares * (ratio - 1) / (m * (1 - ratio / (1 + m))))
    centre = float(after.mean())
    return centre - radius, centre + radius


def _as_given(found: Crossing, rows: Sequence[int]) -> Crossing:
    """A crossing by rows of the series as it was given."""
    back = None if found.back_row is None else rows[found.back_row]
    return Crossing(row=rows[found.row], alarm_row=rows[found.alarm_row], back_row=back)
