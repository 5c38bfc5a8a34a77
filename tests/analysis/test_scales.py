"""Results are in the rubric's units, and nothing else about them depends on the scale."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator.findings import Findings
from tests.analysis.worlds import TWELVE, add_day, analysed, wobbling
from tests.builders import World, plus_days, ruler

N_DAYS, JUDGE_MOVES = 34, 20
FIFTEEN = (*TWELVE, 1, 3, 5)

# fields in units of the rubric: differences, and scores
CHANGES = ("estimate", "low", "high")
SCORES = ("mean", "low", "high", "corrected", "corrected_low", "corrected_high")


def story(path: Path, scale: tuple[float, float], change: Callable[[float], float]) -> Findings:
    """Thirty-four days under a judge that becomes stricter, every score written on another scale."""
    unit = (scale[1] - scale[0]) / 4
    with World(path=path, ruler=ruler(scale=scale), keys=[("topic", "")]) as world:
        world.add_anchors(FIFTEEN)
        for number in range(N_DAYS):
            day = plus_days("2026-03-01", number)
            loss = 0.5 if number >= JUDGE_MOVES else 0.0
            rows = [
                ({"topic": ("billing", "orders")[place % 2]}, change(wobbling(number, place, 2 + place % 3) - loss))
                for place in range(31)
            ]
            anchors = {
                item_id: change(max(1.0, wobbling(number, place, anchor.expected_score or 3) - loss))
                for place, (item_id, anchor) in enumerate(world.anchors)
            }
            answers = add_day(world, day, rows)
            world.run(plus_days(day, 1), anchors=anchors, answers=answers, sampled=(day, 31))
        return analysed(world, smallest_change=0.1 * unit)


@pytest.fixture(scope="module")
def one_to_five(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    """The story on the scale that the statistics run on."""
    return story(tmp_path_factory.mktemp("scale") / "world.db", (1, 5), lambda score: score)


def test_the_story_holds_what_is_to_be_compared(one_to_five):
    """A judge that became stricter by about half a point, and answers that did not change."""
    assert one_to_five["judge"]["direction"] == "stricter"
    assert one_to_five["judge"]["estimate"] == pytest.approx(-0.45, abs=0.06)
    assert one_to_five["assistant"]["state"] != "changed"
    assert one_to_five["shares"]["judge"] < -0.3
    assert abs(one_to_five["shares"]["assistant"]) < 0.1


@pytest.mark.parametrize("scale", [(0, 1), (0, 100), (1, 10), (-2, 2)])
def test_a_linear_change_of_scale_changes_the_units_only(tmp_path, one_to_five, scale):
    """0 to 1, per cent, 1 to 10, and one around zero."""
    low, unit = scale[0], (scale[1] - scale[0]) / 4
    found = story(tmp_path / "world.db", scale, lambda score: low + (score - 1) * unit)
    for name in ("state", "direction", "since_day", "since_first_day", "since_last_day", "alarm_day"):
        assert found["judge"][name] == one_to_five["judge"][name]
        assert found["assistant"][name] == one_to_five["assistant"][name]
    _same_changes(found["judge"], one_to_five["judge"], unit, CHANGES)
    _same_changes(found["assistant"], one_to_five["assistant"], unit, CHANGES)
    for run, expected in zip(found["judge"]["runs"], one_to_five["judge"]["runs"], strict=True):
        _same_changes(run, expected, unit, ("shift", "low", "high"))
        assert run["mean"] == pytest.approx(low + (expected["mean"] - 1) * unit)
        _same_changes(run, expected, 1.0, ("evidence",))
    for day, expected in zip(found["days"], one_to_five["days"], strict=True):
        for name in SCORES:
            assert day[name] == pytest.approx(low + (expected[name] - 1) * unit, abs=1e-9)
    for segment, expected in zip(found["segments"], one_to_five["segments"], strict=True):
        assert (segment["value"], segment["state"]) == (expected["value"], expected["state"])
        _same_changes(segment, expected, unit, ("against_rest", "against_rest_low"))
    shares, expected_shares = found["shares"], one_to_five["shares"]
    _same_changes(shares, expected_shares, unit, ("judge_low", "assistant_high", "mix_low"))
    assert shares["raw"] == pytest.approx(expected_shares["raw"] * unit, abs=0.0051 * (1 + unit))


def _same_changes(found: Any, expected: Any, unit: float, names: tuple[str, ...]) -> None:
    for name in names:
        if expected[name] is None:
            assert found[name] is None
        else:
            assert found[name] == pytest.approx(expected[name] * unit, rel=1e-5, abs=1e-9 * unit)


def test_pass_and_fail_is_a_scale_like_any_other(make_world):
    """Scores of 0 and 1 only: a judge that fails every third anchor it used to pass is found."""
    world = make_world(ruler=ruler(scale=(0, 1)), keys=[])
    world.add_anchors([0, 1] * 12)
    for number in range(30):
        day = plus_days("2026-03-01", number)
        anchors = {
            item_id: 0.0 if number >= 22 and place % 6 == 1 else float(anchor.expected_score or 0)
            for place, (item_id, anchor) in enumerate(world.anchors)
        }
        answers = add_day(world, day, [({}, float((place + number) % 3 > 0)) for place in range(30)])
        world.run(plus_days(day, 1), anchors=anchors, answers=answers, sampled=(day, 30))
    found = analysed(world, smallest_change=0.05)
    assert (found["judge"]["direction"], found["judge"]["since_day"]) == ("stricter", plus_days("2026-03-01", 23))
    assert found["judge"]["estimate"] == pytest.approx(-4 / 24)
    assert all(0 <= day["mean"] <= 1 and 0 <= day["corrected"] <= 1 for day in found["days"])
