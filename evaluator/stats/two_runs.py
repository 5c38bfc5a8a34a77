"""Two runs of the same anchors compared at once: all that can be said before there is a history.

Anchors are the units. What all of them share on one of the two days, a shock of the run, cannot be seen from two runs
and is not in the interval; a history measures it (``detector``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from evaluator.stats.clusters import Ids, answers_of, clustered_mean
from evaluator.stats.intervals import Finding, classify
from evaluator.stats.numeric import as_scores, check_level
from evaluator.stats.paired import MIN_ANCHORS

METHOD = "Student t between answers, a shock common to one of the two runs is not covered"
METHOD_CLUSTERED = "Student t between questions, a shock common to one of the two runs is not covered"
COPIES_FROM = 50
COPIES_SHARE = 0.95  # judges asked twice repeat 40 to 93 % of their scores to the digit
_SAME = 1e-9


@dataclass(frozen=True, kw_only=True)
class TwoRuns:
    """Scores of the second run less those of the first, item by item.

    Attributes:
        n: Items scored in both.
        n_only_before: Items scored in the first run alone.
        n_only_after: Items scored in the second alone.
        mean_before: Mean of the items scored in both; None without any.
        mean_after: The same in the second run.
        estimate: Mean difference, in the units of the scores; None without any.
        low: Lower bound; None under ten items (or clusters), or where no item differs from the others.
        high: Upper bound.
        method: Name of the interval.
        n_up: Items scored higher in the second run.
        n_down: Items scored lower.
        n_same: Items scored alike.
        sign_test_p: Two-sided exact p-value of as many ups against downs by chance; None when nothing moved.
        finding: What the interval says, given how much change matters. Never "steady": two runs cannot rule out that
            a shock of one of them hides a change.
        may_be_copies: Nearly all scores are the same to the digit, and yet some moved: part of the second run may be
            the first one's scores, from a cache or a file.
    """

    n: int
    n_only_before: int
    n_only_after: int
    mean_before: float | None
    mean_after: float | None
    estimate: float | None
    low: float | None
    high: float | None
    method: str
    n_up: int
    n_down: int
    n_same: int
    sign_test_p: float | None
    finding: Finding
    may_be_copies: bool


def compare_two_runs(
    before: npt.ArrayLike,
    after: npt.ArrayLike,
    *,
    smallest_change: float,
    clusters: Ids | None = None,
    level: float = 0.95,
) -> TwoRuns:
    """Compare two runs over the items that both scored.

    Args:
        before: Scores of the first run, shape (K,), nan where missing.
        after: Scores of the second, same items in the same order.
        smallest_change: Largest change that does not matter, in the units of the scores, > 0.
        clusters: Items that are alike, such as answers to one question, shape (K,); each its own by default.
        level: Coverage, in (0, 1).

    Returns:
        The mean difference with its interval between items, and a sign test beside it. Items that all moved alike (or
        not at all) leave no spread to measure: then there is no interval.

    Raises:
        ValueError: shapes differ, an infinite score, level outside (0, 1), or smallest_change not positive.
    """
    check_level(level)
    first, second = as_scores(before).ravel(), as_scores(after).ravel()
    if first.shape != second.shape:
        raise ValueError(f"both runs need one entry per item, got {len(first)} and {len(second)}")
    has_first, has_second = ~np.isnan(first), ~np.isnan(second)
    both = has_first & has_second
    difference = second[both] - first[both]
    n, n_up, n_down = len(difference), int((difference > _SAME).sum()), int((difference < -_SAME).sum())
    estimate = float(difference.mean()) if n else None
    alike = None if clusters is None else [each for each, used in zip(clusters, both, strict=True) if used]
    interval = clustered_mean(answers_of(difference, clusters=alike), level=level).interval if n else None
    n_independent = n if alike is None else len(set(alike))
    if interval is None or n_independent < MIN_ANCHORS:
        low = high = None
    else:
        low, high = interval.low, interval.high
    return TwoRuns(
        n=n,
        n_only_before=int((has_first & ~has_second).sum()),
        n_only_after=int((has_second & ~has_first).sum()),
        mean_before=float(first[both].mean()) if n else None,
        mean_after=float(second[both].mean()) if n else None,
        estimate=estimate,
        low=low,
        high=high,
        method=METHOD if n_independent == n else METHOD_CLUSTERED,
        n_up=n_up,
        n_down=n_down,
        n_same=n - n_up - n_down,
        sign_test_p=sign_test(n_up, n_down),
        finding=_finding(low, high, smallest_change),
        may_be_copies=n >= COPIES_FROM and COPIES_SHARE * n <= n - n_up - n_down < n,
    )


def _finding(low: float | None, high: float | None, smallest_change: float) -> Finding:
    found = classify(low, high, smallest_change)
    return Finding.NO_CHANGE_SHOWN if found is Finding.STEADY else found


def sign_test(n_up: int, n_down: int) -> float | None:
    """Two-sided exact p-value that ups and downs are equally likely; None when nothing moved.

    Raises:
        ValueError: a negative count.
    """
    if n_up < 0 or n_down < 0:
        raise ValueError(f"counts must not be negative, got {n_up!r} and {n_down!r}")
    n = n_up + n_down
    if n == 0:
        return None
    return min(1.0, 2.0 * float(special.bdtr(min(n_up, n_down), n, 0.5)))
