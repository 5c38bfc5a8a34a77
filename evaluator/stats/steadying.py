"""What a comparison across a change of the judge needs beyond one day's correction: a steadier slope, an allowance.

The anchors are a sample, and their error is the same on every day after the change: it does not average out. So the
comparison uses the anchors' averages over all runs, draws the slope towards 1 as far as the data do not speak against
it, and blames the assistant only where the difference is far beyond that error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from evaluator.stats.correction import JudgeMap

MAP_ALLOWANCE = 0.02
"""The judge's move is not exactly a straight line: what any comparison across it allows for, 1..5 equivalents."""

BLAME_LEVEL = 0.985
"""Coverage with which the assistant's share must differ from zero after a change of the judge, Student's t."""

STEADIED = "{method}, slope drawn towards 1"


def steady_slope(judge_map: JudgeMap) -> JudgeMap:
    """Draw the slope of a map towards 1, the slope of a judge that moved by the same everywhere.

    Empirical Bayes with one slope: it varies about 1 with variance ``tau^2 = max((c - 1)^2 - var c, 0)``, so that
    ``tau^2 / (tau^2 + var c)`` of its distance from 1 is kept. The line turns about the anchors' centre, where it keeps
    its value: the mean shift of the anchors stays what it is. A slope that is surely off 1 is hardly touched.

    The variance is the error left, drawn distance included: ``var c``, or ``(c - 1)^2`` where that is less. Only what
    is kept of the variance, as usual for such means, would be too little for a slope a few errors off 1.

    Args:
        judge_map: From ``fit_judge_map``, of one run or of the averages of several; a map with the offset only comes
            back as it is.

    Returns:
        The steadied map, its covariance with it.
    Source: Morris, Journal of the American Statistical Association 78, 1983; how often it blames the wrong one was
        measured for the use made of it here.
    """
    variance, centre = judge_map.var_slope, judge_map.centre
    if not variance > 0:
        return judge_map
    distance = judge_map.slope - 1.0
    kept = max(distance**2 - variance, 0.0) / max(distance**2, variance)
    slope, var_slope = 1.0 + kept * distance, min(variance, distance**2)
    # variance of the value at the centre, and its covariance with the slope
    var_centre = judge_map.var_intercept + 2 * centre * judge_map.covariance + centre**2 * variance
    with_centre = math.sqrt(var_slope / variance) * (judge_map.covariance + centre * variance)
    return replace(
        judge_map,
        intercept=judge_map.intercept + (judge_map.slope - slope) * centre,
        slope=slope,
        var_intercept=max(var_centre, 0.0) - 2 * centre * with_centre + centre**2 * var_slope,
        covariance=with_centre - centre * var_slope,
        var_slope=var_slope,
        method=STEADIED.format(method=judge_map.method),
    )


def allowance(judge_map: JudgeMap, judge_share: float) -> float:
    """What the judge's move not being a straight line may add to the shares of judge and assistant.

    A tenth of a large move, 0.02 for one from 0.1 to 0.2, and less for less: a judge that did not move is no worse
    than a straight line. Measured with anchors whose levels differ from those of the answers.

    Args:
        judge_map: The map used.
        judge_share: What the judge adds to the mean, 1..5 equivalents.
    """
    move = math.hypot(judge_share, 1.0 - judge_map.slope)
    return max(min(move / 5, MAP_ALLOWANCE), move / 10)


def more_needed(n: int, part: float, rest: float, wanted: float) -> int | None:
    """How many more units it takes until a half-width is down to what is wanted.

    Args:
        n: Units there are: answers, days or anchors.
        part: The half-width that comes from them; its square shrinks as 1/n.
        rest: The half-width that does not, to be added in squares.
        wanted: Half-width to come to, > 0.

    Returns:
        More units, 0 when there are enough; None when no number of them would do, or the half-widths are unknown.
    """
    if not (math.isfinite(part) and math.isfinite(rest)):
        return None
    if math.hypot(part, rest) <= wanted:
        return 0
    room = wanted**2 - rest**2
    return math.ceil(n * (part**2 / room - 1) - 1e-9) if room > 0 else None


@dataclass(frozen=True, kw_only=True)
class Needed:
    """What it takes until a half-width is what is wanted, from two sources of it.

    Attributes:
        answers: More answers (or days); None when no number of them would do.
        anchors: More anchors; None when no number of them would do.
        together: Neither does alone, and both of these together do; otherwise each does alone.
    """

    answers: int | None
    anchors: int | None
    together: bool


def needed(
    answers: tuple[int, float],
    anchors: tuple[int, float],
    rest: float,
    wanted: float,
    *,
    most_answers: float = math.inf,
) -> Needed:
    """Say what more of two sources would do, each alone where that is possible, else both together.

    Args:
        answers: How many there are (answers or days), and the half-width that comes from them.
        anchors: How many there are, and the half-width that comes from them.
        rest: The half-width that comes from neither, to be added in squares.
        wanted: Half-width to come to, > 0.
        most_answers: More than these cannot be had.
    """
    (n_answers, by_answers), (n_anchors, by_anchors) = answers, anchors
    alone = more_needed(n_answers, by_answers, math.hypot(by_anchors, rest), wanted)
    alone = None if alone is None or alone > most_answers else alone
    instead = more_needed(n_anchors, by_anchors, math.hypot(by_answers, rest), wanted)
    if alone is not None or instead is not None:
        return Needed(answers=alone, anchors=instead, together=False)
    # both grow by the same factor
    both = math.hypot(by_answers, by_anchors)
    of_answers, of_anchors = (more_needed(n, both, rest, wanted) for n in (n_answers, n_anchors))
    if of_answers is None or of_anchors is None or of_answers > most_answers:
        return Needed(answers=None, anchors=None, together=False)
    return Needed(answers=of_answers, anchors=of_anchors, together=True)
