"""Which intervals of a recheck say something, and how far they can reach. What they are is in ``recheck``."""

from __future__ import annotations

import math
from dataclasses import replace

from evaluator.stats.clustered_means import Estimate
from evaluator.stats.recheck import PartShift, RecheckShift

FEWEST = 5  # answers of a part; the interval of fewer is wider than most scales


def told_by_enough(result: RecheckShift, *, scale: tuple[float, float]) -> RecheckShift:
    """Return the result with the intervals that say something, within what scores can be.

    A part of fewer than ``FEWEST`` answers gets no interval, and neither does the drift then: with two or three answers
    the interval is about as wide as the scale, and rests on a spread that three numbers cannot tell. What reaches
    beyond a mean on the scale, or beyond its width for a change, is cut off there: nothing lies outside, so the
    coverage stays.

    Args:
        result: What ``recheck_shift`` returned.
        scale: Lowest and highest score.
    """
    low, high = scale
    width = high - low
    parts = [part for part in (result.recent, result.old) if part is not None]
    is_enough = all(part.n >= FEWEST for part in parts)

    def bounded(part: PartShift) -> PartShift:
        enough = part.n >= FEWEST
        return replace(
            part,
            then=_within(part.then, low, high, keep=enough),
            now=_within(part.now, low, high, keep=enough),
            shift=_within(part.shift, -width, width, keep=enough),
        )

    return RecheckShift(
        recent=bounded(result.recent),
        old=None if result.old is None else bounded(result.old),
        # two differences, each as large as the scale at the most
        drift=None if result.drift is None else _within(result.drift, -2 * width, 2 * width, keep=is_enough),
    )


def _within(found: Estimate, low: float, high: float, *, keep: bool) -> Estimate:
    interval = found.interval
    if interval is None or not keep:
        return replace(found, se=math.nan, df=math.nan, interval=None)
    return replace(found, interval=replace(interval, low=max(low, interval.low), high=min(high, interval.high)))
