"""Stored scores graded again: does today's judge reproduce the recent ones, and did the old ones move beside them?

The same answers, graded then and now, need no model of what the answers are worth: only differences count. Which
answers are taken is decided elsewhere, at random and never by their score: answers chosen because their score was high
would come back lower without any drift (regression to the mean).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
from scipy import special

from evaluator.stats.clustered_means import (
    ROUNDING,
    RULE_OF_THREE,
    ClusterSums,
    Estimate,
    change_floor,
    clustered_mean,
    estimate_of,
    shared_covariance,
)
from evaluator.stats.intervals import Finding, Interval, classify
from evaluator.stats.numeric import as_scores, check_level

WELCH = "Welch between two parts, clusters respected, small-sample corrected"
WELCH_FLOOR = f"{WELCH}; at least three changed scores assumed where fewer changed"
POWER = 0.8


class RecheckFinding(StrEnum):
    """What a recheck says of the judge."""

    CHANGED = "changed"
    SMALL_CHANGE = "small_change"
    SAME = "same"
    NO_CHANGE_SHOWN = "no_change_shown"
    PARITY_ONLY = "parity_only"  # there are no old scores to compare with
    CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True, kw_only=True)
class PartShift:
    """One part of a recheck: the same answers, graded then and now.

    Attributes:
        n: Answers with both scores.
        n_unscored: Answers left out because one of the two is missing (nan).
        n_clusters: Clusters of the answers used.
        then: Mean of the stored scores, over the answers used.
        now: Mean of the new scores, over the same answers.
        shift: Mean of now - then.
        n_same: Answers whose two scores are equal.
    """

    n: int
    n_unscored: int
    n_clusters: int
    then: Estimate
    now: Estimate
    shift: Estimate
    n_same: int


@dataclass(frozen=True, kw_only=True)
class RecheckShift:
    """What grading stored scores again shows.

    Attributes:
        recent: The recent part; its shift is the parity: 0 when today's judge reproduces the recent scores.
        old: The old part; None when no old answers were given.
        drift: Shift of the old part minus that of the recent one: what the judge gives more now than it gave then for
            the same answers, beyond what another prompt or model would add to every score. None without an old part.
    """

    recent: PartShift
    old: PartShift | None
    drift: Estimate | None


def recheck_shift(
    recent_stored: npt.ArrayLike,
    recent_now: npt.ArrayLike,
    old_stored: npt.ArrayLike,
    old_now: npt.ArrayLike,
    *,
    recent_clusters: Sequence[Hashable] | None = None,
    old_clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    step: float = 1.0,
) -> RecheckShift:
    """Compare stored scores with the scores that the judge gives to the same answers now.

    parity = mean(now - stored) over recent answers, drift = mean(now - stored) over old answers - parity. The drift is
    positive when the judge gives more now than it gave then.

    The variance of each part's mean is the cluster-robust one with the CR2 correction, its degrees of freedom those of
    Bell and McCaffrey, the smaller of two working models (answers of a cluster independent, or moving as one). The
    difference has the Welch-Satterthwaite degrees of freedom, and never more than there are clusters. A cluster that
    has answers in both parts (a user, say) enters both, and its covariance is taken into account. Without clusters this
    is Welch's interval. No part counts as steadier than three changed scores would make it: "nothing changed" among n
    is compatible with a share of 3/n that changes.

    Args:
        recent_stored: Stored scores of the recent answers, shape (r,); nan is unscored.
        recent_now: Their scores now, shape (r,); nan is unscored.
        old_stored: Stored scores of the old answers, shape (o,); may be empty.
        old_now: Their scores now, shape (o,).
        recent_clusters: Cluster of each recent answer (conversation, else user, else the answer); None: each its own.
        old_clusters: The same for the old ones.
        level: Coverage of the intervals, in (0, 1).
        step: Distance of two neighbouring scores of the rubric, in the units of the scores, > 0.

    Returns:
        The result, in the units of the scores. A mean without scores is nan; a part of fewer than two clusters has no
        interval, and neither has the drift then.

    Raises:
        ValueError: shapes that do not fit, an infinite score, level outside (0, 1), step not positive.
    Assumes: answers were taken at random within their part, never by score; clusters are independent; a difference
        between the configured judge and the one of the recent scores was the same for the old ones.
    Source: Welch, Biometrika 34, 1947; Bell and McCaffrey, Survey Methodology 28, 2002 (CR2 and its degrees of
        freedom); Hanley and Lippman-Hand, JAMA 249, 1983 (three of n).
    """
    check_level(level)
    if not step > 0:
        raise ValueError(f"step must be positive, got {step!r}")
    recent, recent_sums = _part(recent_stored, recent_now, recent_clusters, "recent", level, step)
    old, old_sums = _part(old_stored, old_now, old_clusters, "old", level, step)
    if old.n + old.n_unscored == 0:
        return RecheckShift(recent=recent, old=None, drift=None)
    return RecheckShift(recent=recent, old=old, drift=_difference(old, old_sums, recent, recent_sums, level, step))


def recheck_finding(result: RecheckShift, smallest_change: float) -> RecheckFinding:
    """Say in one word what a recheck shows.

    "same" needs the whole interval inside +-smallest_change and wins over "changed" where a change is certain but too
    small to matter. An interval that leaves 0 out but whose estimate is under ``smallest_change`` is a small change.

    Args:
        result: What ``recheck_shift`` returned.
        smallest_change: The smallest change that matters, in the units of the scores, > 0.

    Raises:
        ValueError: smallest_change not positive.
    """
    if result.drift is None:
        return RecheckFinding.PARITY_ONLY
    interval = result.drift.interval
    found = classify(None, None, smallest_change) if interval is None else _classified(interval, smallest_change)
    if found is Finding.CANNOT_TELL:
        return RecheckFinding.CANNOT_TELL
    if found is Finding.STEADY:
        return RecheckFinding.SAME
    if found is Finding.NO_CHANGE_SHOWN:
        return RecheckFinding.NO_CHANGE_SHOWN
    return RecheckFinding.CHANGED if abs(result.drift.value) >= smallest_change else RecheckFinding.SMALL_CHANGE


def parity_is_off(result: RecheckShift, smallest_change: float) -> bool:
    """Whether today's judge clearly does not reproduce the recent scores: another prompt, model or scale, say.

    Raises:
        ValueError: smallest_change not positive.
    """
    interval = result.recent.shift.interval
    if interval is None:
        return False
    return _classified(interval, smallest_change) in (Finding.CHANGED_UP, Finding.CHANGED_DOWN)


def more_answers_needed(result: RecheckShift, smallest_change: float) -> int | None:
    """How many more answers would show a change of ``smallest_change`` four times in five.

    The half-width shrinks with the root of the number of answers; a change is shown with probability ``POWER`` when it
    is (z + z_power) / z half-widths, 1.43 at 95 %.

    Returns:
        Answers beyond those used, both parts together, 0 when there are enough; None without an interval.

    Raises:
        ValueError: smallest_change not positive.
    """
    if not smallest_change > 0:
        raise ValueError(f"smallest_change must be positive, got {smallest_change!r}")
    if result.drift is None or result.drift.interval is None or result.old is None:
        return None
    interval = result.drift.interval
    z = float(special.ndtri(0.5 + interval.level / 2))
    needed_half_width = smallest_change * z / (z + float(special.ndtri(POWER)))
    half_width = (interval.high - interval.low) / 2
    n = result.recent.n + result.old.n
    return max(0, math.ceil(n * (half_width / needed_half_width) ** 2) - n)


def _classified(interval: Interval, smallest_change: float) -> Finding:
    return classify(interval.low, interval.high, smallest_change)


# ---------------------------------------------------------------- one part


def _part(
    stored: npt.ArrayLike,
    now: npt.ArrayLike,
    clusters: Sequence[Hashable] | None,
    name: str,
    level: float,
    step: float,
) -> tuple[PartShift, ClusterSums]:
    before, after = as_scores(stored), as_scores(now)
    if before.ndim != 1 or before.shape != after.shape:
        raise ValueError(f"{name}: stored and new scores must be of one length, got {before.shape} and {after.shape}")
    labels = [(name, place) for place in range(len(before))] if clusters is None else list(clusters)
    if len(labels) != len(before):
        raise ValueError(f"{name}: {len(labels)} clusters for {len(before)} answers")
    usable = ~(np.isnan(before) | np.isnan(after))
    names = [label for label, keep in zip(labels, usable, strict=True) if keep]
    difference = (after - before)[usable]
    then, _ = clustered_mean(before[usable], names, level)
    today, _ = clustered_mean(after[usable], names, level)
    shift, sums = clustered_mean(difference, names, level, floor=change_floor(names, step))
    part = PartShift(
        n=len(names),
        n_unscored=len(labels) - len(names),
        n_clusters=len(sums.names),
        then=then,
        now=today,
        shift=shift,
        n_same=int((np.abs(difference) <= 1e-9).sum()),
    )
    return part, sums


# ---------------------------------------------------------------- the difference of two parts


def _difference(
    old: PartShift, old_sums: ClusterSums, recent: PartShift, recent_sums: ClusterSums, level: float, step: float
) -> Estimate:
    value = old.shift.value - recent.shift.value
    if old.shift.interval is None or recent.shift.interval is None:
        return Estimate(value=value, se=math.nan, df=math.nan, interval=None)
    old_variance, recent_variance = old.shift.se**2, recent.shift.se**2
    apart = old_variance + recent_variance
    together = apart - 2 * shared_covariance(old_sums, recent_sums)
    variance = together if together > ROUNDING * apart else apart
    df = apart**2 / (old_variance**2 / old.shift.df + recent_variance**2 / recent.shift.df)
    df = min(df, len({*old_sums.names, *recent_sums.names}) - 1)
    floored = any(
        float((sums.share**2).sum()) < RULE_OF_THREE * step**2 / len(sums.names) ** 2
        for sums in (old_sums, recent_sums)
    )
    return estimate_of(value, variance, df, level, WELCH_FLOOR if floored else WELCH)
