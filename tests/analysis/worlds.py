"""Small databases filled by the store's own writes, and their analysis."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluator.analysis import AnalysisSettings, analyse
from evaluator.findings import Findings
from evaluator.records import UnscoredReason
from tests.builders import Score, World, answer, plus_days

FIRST_DAY = "2026-03-01"
TWELVE = (1, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 2)


def analysed(world: World, **settings: Any) -> Findings:
    """The analysis of a world; what a page could not read as JSON is an error."""
    found = analyse(world.store, app=world.app, ruler_id=world.ruler.ruler_id, settings=AnalysisSettings(**settings))
    json.dumps(found, allow_nan=False)
    return found


def grade_anchors(
    world: World,
    n_runs: int,
    *,
    score: Callable[[int, int, float], Score] = lambda _run, _place, level: level,
    first_day: str = FIRST_DAY,
    **run: Any,
) -> list[str]:
    """Grade the world's anchors in daily runs; ``score`` knows run, place and expected score. Returns the days."""
    days = [plus_days(first_day, number) for number in range(n_runs)]
    for number, day in enumerate(days):
        scores = {
            item_id: score(number, place, anchor.expected_score or 3.0)
            for place, (item_id, anchor) in enumerate(world.anchors)
        }
        world.run(day, anchors=scores, **run)
    return days


def wobbling(run: int, place: int, level: float) -> float:
    """A score that flips now and then: every anchor one run in seven, never all in the same."""
    return min(5.0, max(1.0, level + (1.0 if (run * 5 + place * 3) % 7 == 0 else 0.0)))


def add_day(world: World, day: str, scores: Sequence[tuple[Mapping[str, str], Score]]) -> dict[str, Score]:
    """Import the answers of a day, one per (tags, score); returns their scores by item id."""
    items = [answer(number, day, tags=tags) for number, (tags, _) in enumerate(scores)]
    return dict(zip(world.add_answers(items), (score for _, score in scores), strict=True))


def reasons(*found: UnscoredReason | float) -> list[Score]:
    """Scores and reasons, as they come."""
    return list(found)
