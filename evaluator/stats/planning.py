"""Before anything is graded: how small a change will be seen, and after how many runs, with so many anchors or answers.

The detector is followed along the path that a change takes when noise is at its average. It alarms where that path
crosses the threshold; half of all histories alarm sooner, half later. Nothing here looks at a score: what it needs to
know of the judge is how much a run's mean moves from run to run by chance, and the defaults say what was measured.

Units are points of a 1..5 scale; on another scale multiply by ``paired.units_per_point``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evaluator.stats.detector import BASELINE_RUNS, level_floor_sd
from evaluator.stats.evidence import DEFAULT_SETTINGS, MIN_REFERENCE_RUNS, DetectorSettings, log_bayes_factors
from evaluator.stats.numeric import FloatArray
from evaluator.stats.paired import MIN_ANCHORS

ANCHOR_SD = 0.2  # of one anchor about its own mean: one in five flips now and then
RUN_SHOCK_SD = 0.026  # common to all scores of a run
ANSWER_SD = 1.0  # of the scores of different answers of a day
MOST_RUNS = 365
MOST_ANCHORS = 5_000
MOST_ANSWERS = 100_000
LARGEST_CHANGE = 4.0  # from one end of the scale to the other
_STEPS = 40  # halvings: far below any digit that is shown


@dataclass(frozen=True, kw_only=True)
class Stream:
    """A daily number that is watched for a change.

    Attributes:
        spread: Standard deviation of its values between quiet runs, > 0.
        floor_sd: Least spread that the detector credits it with, > 0.
    """

    spread: float
    floor_sd: float


def anchor_stream(n_anchors: int, *, anchor_sd: float = ANCHOR_SD, run_shock_sd: float = RUN_SHOCK_SD) -> Stream:
    """The mean shift of the anchors: noise of each anchor shrinks with their number, a shock of the run does not.

    ``spread^2 = anchor_sd^2 / n_anchors + run_shock_sd^2``.

    Args:
        n_anchors: Anchors graded in every run, at least 10: a run with fewer is not counted.
        anchor_sd: Spread of one anchor's scores about its own mean, >= 0.
        run_shock_sd: Spread of what all scores of a run have in common, >= 0.

    Raises:
        ValueError: too few anchors, or a negative spread.
    Assumes: anchors err independently within a run; runs are independent. The defaults give 0.038 for 50 anchors;
        between 0.02 (a judge that hardly flips) and 0.06 (a restless one) is what judges at temperature 0 showed.
    """
    if n_anchors < MIN_ANCHORS:
        raise ValueError(f"n_anchors must be at least {MIN_ANCHORS}, got {n_anchors!r}")
    return _stream(n_anchors, anchor_sd, run_shock_sd)


def answer_stream(answers_per_day: int, *, answer_sd: float = ANSWER_SD, run_shock_sd: float = RUN_SHOCK_SD) -> Stream:
    """The mean score of a day's sample of answers: other answers every day, so their own spread counts.

    ``spread^2 = answer_sd^2 / answers_per_day + run_shock_sd^2``.

    Args:
        answers_per_day: Answers graded of each day, at least 1.
        answer_sd: Spread of scores between answers, >= 0; 1.0 is a wide 1..5 distribution. Answers of one conversation
            resemble one another: multiply by the root of their design effect.
        run_shock_sd: Spread of what all scores of a run have in common, >= 0.

    Raises:
        ValueError: no answers, or a negative spread.
    Assumes: the mix of questions is the same every day; a weekly rhythm makes the days differ by more.
    """
    if answers_per_day < 1:
        raise ValueError(f"answers_per_day must be at least 1, got {answers_per_day!r}")
    return _stream(answers_per_day, answer_sd, run_shock_sd)


def _stream(n: int, single_sd: float, run_shock_sd: float) -> Stream:
    if not (single_sd >= 0 and run_shock_sd >= 0):
        raise ValueError(f"spreads must not be negative, got {single_sd!r} and {run_shock_sd!r}")
    floor_sd = level_floor_sd(n)
    return Stream(spread=max(math.hypot(single_sd / math.sqrt(n), run_shock_sd), 1e-9), floor_sd=floor_sd)


def runs_to_alarm(
    change: float,
    stream: Stream,
    *,
    threshold: float,
    n_reference: int = BASELINE_RUNS,
    most: int = MOST_RUNS,
    settings: DetectorSettings = DEFAULT_SETTINGS,
) -> int | None:
    """Runs from a lasting change to its alarm, the first changed run included: the median.

    Args:
        change: Size of the change, either sign; it begins right after the reference.
        stream: What is watched.
        threshold: Evidence that fires the alarm, from ``detector.alarm_threshold``.
        n_reference: Counted runs before the change, at least 10; more of them make it visible sooner.
        most: Give up after so many runs.
        settings: Constants of the detector.

    Returns:
        Number of runs, None when the alarm does not come within ``most``.

    Raises:
        ValueError: a threshold that is not positive, or too short a reference.
    Source: the evidence of ``evidence.log_bayes_factors`` on the path 0, ..., 0, change, ..., change, with the sum of
        squares that noise adds on average, (n - 2) spread^2; the first changed run enters clipped, as the detector
        clips it. Within about a third of the median of simulated histories (tests).
    """
    if not (threshold > 0 and math.isfinite(threshold)):
        raise ValueError(f"threshold must be positive and finite, got {threshold!r}")
    if n_reference < MIN_REFERENCE_RUNS:
        raise ValueError(f"n_reference must be at least {MIN_REFERENCE_RUNS}, got {n_reference!r}")
    wanted = math.log(threshold)
    for n_changed in range(1, most + 1):
        if _log_evidence(abs(change), stream, n_reference, n_changed, settings) >= wanted:
            return n_changed
    return None


def _log_evidence(change: float, stream: Stream, n_reference: int, n_changed: int, settings: DetectorSettings) -> float:
    """Log evidence on the average path after ``n_changed`` runs of the change."""
    n = n_reference + n_changed
    values: FloatArray = np.zeros(n, dtype=np.float64)
    values[n_reference:] = change
    prior = settings.prior_runs
    known = ((n_reference - 1) * stream.spread**2 + prior * stream.floor_sd**2) / (n_reference - 1 + prior)
    values[n_reference] = min(change, settings.clip_sd * math.sqrt(known))
    # the path has no noise of its own: its squares are put where the formula adds those of the floor
    squares = prior * stream.floor_sd**2 + max(n - 2, 0) * stream.spread**2
    candidates = np.arange(max(n_reference, n - settings.window), n)
    logs = log_bayes_factors(values, candidates, floor_sd=math.sqrt(squares / prior), settings=settings)
    return float(np.logaddexp.reduce(logs))


def smallest_visible_change(
    n_runs: int,
    stream: Stream,
    *,
    threshold: float,
    n_reference: int = BASELINE_RUNS,
    settings: DetectorSettings = DEFAULT_SETTINGS,
) -> float | None:
    """The smallest lasting change whose alarm comes within ``n_runs`` runs, in half of all histories.

    Args:
        n_runs: Runs that may pass, at least 1.
        stream: What is watched.
        threshold: As for ``runs_to_alarm``.
        n_reference: As for ``runs_to_alarm``.
        settings: Constants of the detector.

    Returns:
        Size of the change; None when even one across the whole scale takes longer.

    Raises:
        ValueError: no runs, or as ``runs_to_alarm``.
    """
    if n_runs < 1:
        raise ValueError(f"n_runs must be at least 1, got {n_runs!r}")

    def is_seen(change: float) -> bool:
        runs = runs_to_alarm(
            change, stream, threshold=threshold, n_reference=n_reference, most=n_runs, settings=settings
        )
        return runs is not None

    low, high = 0.0, LARGEST_CHANGE
    if not is_seen(high):
        return None
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_seen(middle) else (middle, high)
    return high


def anchors_needed(
    change: float,
    n_runs: int,
    *,
    threshold: float,
    n_reference: int = BASELINE_RUNS,
    anchor_sd: float = ANCHOR_SD,
    run_shock_sd: float = RUN_SHOCK_SD,
    settings: DetectorSettings = DEFAULT_SETTINGS,
) -> int | None:
    """The fewest anchors with which a change is seen within ``n_runs`` runs, in half of all histories.

    Returns:
        At least 10; None when no number of anchors is enough, because the shocks of whole runs hide the change.

    Raises:
        ValueError: as ``anchor_stream`` and ``runs_to_alarm``.
    """

    def is_enough(n_anchors: int) -> bool:
        stream = anchor_stream(n_anchors, anchor_sd=anchor_sd, run_shock_sd=run_shock_sd)
        runs = runs_to_alarm(
            change, stream, threshold=threshold, n_reference=n_reference, most=n_runs, settings=settings
        )
        return runs is not None

    return _fewest(is_enough, MIN_ANCHORS, MOST_ANCHORS)


def answers_needed(
    change: float,
    n_days: int,
    *,
    threshold: float,
    n_reference: int = BASELINE_RUNS,
    answer_sd: float = ANSWER_SD,
    run_shock_sd: float = RUN_SHOCK_SD,
    settings: DetectorSettings = DEFAULT_SETTINGS,
) -> int | None:
    """The fewest answers a day with which a change is seen within ``n_days`` days, in half of all histories.

    Returns:
        At least 1; None when no number of answers is enough, because whole days differ by too much.

    Raises:
        ValueError: as ``answer_stream`` and ``runs_to_alarm``.
    """

    def is_enough(answers_per_day: int) -> bool:
        stream = answer_stream(answers_per_day, answer_sd=answer_sd, run_shock_sd=run_shock_sd)
        days = runs_to_alarm(
            change, stream, threshold=threshold, n_reference=n_reference, most=n_days, settings=settings
        )
        return days is not None

    return _fewest(is_enough, 1, MOST_ANSWERS)


def _fewest(is_enough: Callable[[int], bool], least: int, most: int) -> int | None:
    """The smallest number that is enough, when every larger one is too; None when not even the largest is."""
    low, high = least - 1, most
    if not is_enough(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
