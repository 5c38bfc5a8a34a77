"""What is said about the anchors in use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from evaluator.analysis.health import SetHealth, set_health
from evaluator.records import UnscoredReason
from evaluator.store import read
from tests.analysis.worlds import grade_anchors, wobbling
from tests.builders import Score, World, ruler

LEVELS = [1.0, 2.0, 3.0, 4.0, 5.0] * 6


def health(world: World, since_day: str | None = None) -> SetHealth:
    """Of the world's only judge setup."""
    setup = read.newest_ruler(world.store, world.app)
    assert setup is not None
    found = set_health(world.store, app=world.app, setup=setup, since_day=since_day)
    assert found is not None
    return found


def graded(make_world: Callable[..., World], score: Callable[[int, int, float], Score], n_runs: int = 12) -> World:
    """Thirty anchors, six a level."""
    world = make_world()
    world.add_anchors(LEVELS)
    grade_anchors(world, n_runs, score=score)
    return world


def test_a_good_set_needs_nothing(make_world: Callable[..., World]) -> None:
    """Every level covered, a flip now and then, agreement with people told."""
    found = health(graded(make_world, wobbling))
    assert found.advice == ()
    assert (found.n_anchors, found.n_runs, sum(found.per_level)) == (30, 12, 30)
    assert found.agreement is not None
    assert found.agreement.value is not None
    assert found.agreement.value > 0.9


def test_restless_and_dead_anchors_come_first_and_are_advised_on(make_world: Callable[..., World]) -> None:
    """The fourth flips every second run, the seventh times out in two of three."""

    def score(run: int, place: int, level: float) -> Score:
        if place == 6 and run % 3:
            return UnscoredReason.TIMEOUT
        return 3.0 if place == 3 and run % 2 else wobbling(run, place, level)

    found = health(graded(make_world, score))
    assert {row.troubles for row in found.anchors[:2]} == {("no score",), ("restless",)}
    assert any("1 anchor is without a score" in sentence for sentence in found.advice)
    assert any("1 anchor is off the usual score" in sentence for sentence in found.advice)


def test_runs_before_the_judge_changed_do_not_count_against_an_anchor(make_world: Callable[..., World]) -> None:
    """Every anchor moved a level on the seventh day: no anchor is restless since."""
    world = graded(make_world, lambda run, _, level: min(level + (run >= 6), 5.0))
    found = health(world, since_day="2026-03-07")
    assert (found.n_runs, found.first_day) == (6, "2026-03-07")
    assert not any("usual score" in sentence for sentence in found.advice)


def test_a_drift_inside_the_first_runs_is_told(make_world: Callable[..., World]) -> None:
    """A norm that moves while it is made."""
    found = health(graded(make_world, lambda run, _, level: min(level + 0.02 * run, 5.0)))
    assert found.trend_p is None or found.trend_p < 0.01
    drifting = health(graded(make_world, lambda run, place, level: min(wobbling(run, place, level) + 0.1 * run, 5.0)))
    assert drifting.trend_p is not None
    assert drifting.trend_p < 0.01
    assert any("trend" in sentence for sentence in drifting.advice)


def test_a_judge_that_agrees_with_nobody_is_told(make_world: Callable[..., World]) -> None:
    """Steady, and wrong: scores run against people's."""
    found = health(graded(make_world, lambda _run, _place, level: 6.0 - level))
    assert any("agrees little" in sentence for sentence in found.advice)


def test_thin_levels_and_a_full_ceiling_are_told(make_world: Callable[..., World]) -> None:
    """A judge that gives everything the best score."""
    found = health(graded(make_world, lambda *_: 5.0))
    assert any("fifths of the scale: lowest (0)" in sentence for sentence in found.advice)
    assert any("always at the highest score" in sentence for sentence in found.advice)
    assert found.agreement is not None


def test_scales_are_treated_alike(make_world: Callable[..., World], tmp_path: Path) -> None:
    """A rubric of 0 to 100 with the same answers has the same health."""
    plain = health(graded(make_world, wobbling))
    world = World(path=tmp_path / "hundred.db", ruler=ruler(scale=(0, 100)))
    world.add_anchors([(level - 1) * 25 for level in LEVELS])
    grade_anchors(world, 12, score=lambda run, place, level: (wobbling(run, place, level / 25 + 1) - 1) * 25)
    hundred = health(world)
    world.store.close()
    assert hundred.per_level == plain.per_level
    assert hundred.agreement == plain.agreement
    assert hundred.advice == plain.advice


def test_nothing_is_said_before_a_run_counts(make_world: Callable[..., World]) -> None:
    """Nine anchors are too few for any run."""
    world = make_world()
    world.add_anchors([3.0] * 9)
    grade_anchors(world, 3)
    setup = read.newest_ruler(world.store, world.app)
    assert setup is not None
    assert set_health(world.store, app=world.app, setup=setup, since_day=None) is None
