"""How the promise of few false alarms is shared among the judge setups of an app."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from evaluator.analysis import AnalysisSettings, analyse
from evaluator.analysis.settings import (
    ASSISTANT_WEIGHT,
    JUDGE_WEIGHT,
    LIMITS_WEIGHT,
    RAW_WEIGHT,
    SEGMENTS_WEIGHT,
    n_watched,
)
from tests.analysis.worlds import TWELVE, grade_anchors
from tests.builders import World, ruler


def setup(position: int, first: str | None, last: str | None, mode: str = "json_schema") -> dict[str, Any]:
    """A judge setup as it is read."""
    return {"position": position, "first_day": first, "last_day": last, "output_mode": mode}


def test_parts_of_the_promise_add_up() -> None:
    """To all of it."""
    parts = (JUDGE_WEIGHT, ASSISTANT_WEIGHT, SEGMENTS_WEIGHT, LIMITS_WEIGHT, RAW_WEIGHT)
    assert sum(parts) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("setups", "n"),
    [
        ([], 1),
        ([setup(1, None, None)], 1),
        ([setup(1, "2026-03-01", "2026-03-31")], 1),
        ([setup(1, "2026-03-01", "2026-03-31"), setup(2, "2026-03-01", "2026-03-31")], 2),
        ([setup(1, "2026-03-01", "2026-03-29"), setup(2, "2026-03-01", "2026-03-31")], 2),
        ([setup(1, "2026-02-01", "2026-02-28"), setup(2, "2026-03-01", "2026-03-31")], 1),
        ([setup(1, "2026-02-01", "2026-03-30"), setup(2, "2026-03-31", "2026-03-31")], 1),
        ([setup(1, "2026-02-01", "2026-03-10"), setup(2, "2026-03-01", "2026-03-31")], 1),
        ([setup(1, "2026-02-01", "2026-03-31", "imported"), setup(2, "2026-03-01", "2026-03-31")], 1),
    ],
    ids=["none", "never run", "one", "two", "two, a day apart", "one, then another", "replaced yesterday",
         "given up weeks ago", "imported scores"],
)  # fmt: skip
def test_setups_that_are_watched_side_by_side_are_counted(setups: list[dict[str, Any]], n: int) -> None:
    """A setup that was replaced or given up takes no part of the promise."""
    assert n_watched(setups) == n


def test_two_setups_have_half_of_the_promise_each(make_world: Callable[..., World]) -> None:
    """Twice the evidence is needed; the user's own number stays what is shown."""
    world = make_world()
    world.add_anchors(TWELVE)
    grade_anchors(world, 12)
    alone = analyse(world.store, app=world.app, ruler_id=world.ruler.ruler_id, settings=AnalysisSettings())
    other = World(path=world.path, ruler=ruler(model="judge-small"))
    other.anchors, other.anchor_set_id = world.anchors, world.anchor_set_id
    grade_anchors(other, 12)
    other.store.close()
    both = analyse(world.store, app=world.app, ruler_id=world.ruler.ruler_id, settings=AnalysisSettings())
    assert both["judge"]["threshold"] == pytest.approx(2 * alone["judge"]["threshold"])
    assert both["settings"]["false_alarms_per_year"] == alone["settings"]["false_alarms_per_year"] == 1.0
    assert (alone["settings"]["n_watched"], both["settings"]["n_watched"]) == (1, 2)
