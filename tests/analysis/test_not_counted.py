"""Runs that came to their end and are no measurement: seen, said, and without any say in what the judge did."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from evaluator.analysis.headlines import headline, tone
from evaluator.analysis.wording import left_out_sentences
from evaluator.findings import Findings
from evaluator.store import write
from tests.analysis.findings import findings
from tests.analysis.worlds import TWELVE, add_day, analysed, grade_anchors, wobbling
from tests.builders import World, plus_days

WHY = "a gateway answered 12 of 12 anchors from its cache (repeated completion ids)"

MakeWorld = Callable[..., World]


def leave_out(world: World, run_id: str) -> None:
    """Close a run as one that does not count."""
    now = datetime.fromisoformat("2026-03-30T06:30:00+00:00")
    write.finish_run(world.store, run_id, status="finished", stop_reason=None, message="", now=now, not_counted=WHY)


def cached_runs(world: World, n: int, *, first_day: str, value: float = 5.0) -> list[str]:
    """Runs whose anchors all got one score, and which do not count; returns their days."""
    days = [plus_days(first_day, number) for number in range(n)]
    for day in days:
        leave_out(world, world.run(day, anchors={item_id: value for item_id, _ in world.anchors}))
    return days


def test_run_that_does_not_count_has_no_mean_and_no_say(make_world: MakeWorld) -> None:
    """It is among the runs, with its reason; the judge did nothing."""
    world = make_world()
    world.add_anchors(TWELVE)
    grade_anchors(world, 12, score=wobbling)
    (day,) = cached_runs(world, 1, first_day="2026-03-13")
    grade_anchors(world, 1, score=wobbling, first_day="2026-03-14")
    judge = analysed(world)["judge"]
    assert (judge["n_runs"], judge["n_runs_counted"], judge["state"] == "changed") == (14, 13, False)
    run = judge["runs"][12]
    assert (run["day"], run["not_counted"], run["counted"]) == (day, WHY, False)
    assert (run["n"], run["mean"], run["shift"]) == (0, None, None)
    assert [other["not_counted"] for other in judge["runs"] if other is not run] == [""] * 13


def test_learning_stands_still_meanwhile(make_world: MakeWorld) -> None:
    """Replayed scores teach nothing about the judge."""
    world = make_world()
    world.add_anchors(TWELVE)
    grade_anchors(world, 6)
    before = analysed(world)["judge"]["learning_runs_left"]
    cached_runs(world, 3, first_day="2026-03-07")
    found = analysed(world)
    assert found["judge"]["learning_runs_left"] == before == 4
    assert found["headline"].startswith("Learning: run 6 of 10;")


def test_replayed_runs_never_raise_or_end_an_alarm(make_world: MakeWorld) -> None:
    """A judge that moved stays moved, whatever a cache says afterwards."""
    world = make_world()
    world.add_anchors(TWELVE)
    grade_anchors(world, 12, score=wobbling)

    def generous(run: int, place: int, level: float) -> float:
        return min(5.0, wobbling(run, place, level) + 0.5)

    grade_anchors(world, 12, score=generous, first_day="2026-03-13")
    before = analysed(world)["judge"]
    assert before["state"] == "changed"
    cached_runs(world, 8, first_day="2026-03-25", value=1.0)
    after = analysed(world)["judge"]
    for name in ("state", "since_day", "estimate", "low", "high", "evidence", "n_runs_counted"):
        assert after[name] == before[name]


def test_traffic_of_such_a_run_is_not_corrected_like_that_of_a_failed_one(make_world: MakeWorld) -> None:
    """The raw mean stands: those answers were new to the cache. What would correct it is not known."""
    world = make_world()
    world.add_anchors(TWELVE)
    grade_anchors(world, 11, score=wobbling)
    corrected = {}
    for number, is_cached in enumerate((False, True)):
        answered, slot = plus_days("2026-03-11", number), plus_days("2026-03-12", number)
        answers = add_day(world, answered, [({"topic": "a"}, float(3 + place % 2)) for place in range(12)])
        anchors = {item_id: wobbling(number, place, a.expected_score or 3.0) for place, (item_id, a) in
                   enumerate(world.anchors)}  # fmt: skip
        run_id = world.run(slot, anchors=anchors, answers=answers, sampled=(answered, 12))
        if is_cached:
            leave_out(world, run_id)
        day = next(row for row in analysed(world)["days"] if row["day"] == answered)
        assert day["mean"] == pytest.approx(3.5)
        corrected[is_cached] = day["corrected"]
    assert corrected[False] is not None
    assert corrected[True] is None


# ---------------------------------------------------------------- words


def said(*not_counted: str, **changes: Any) -> Findings:
    """Findings whose newest runs are these."""
    world = {
        "run_id": "r", "slot_utc": "2026-03-02T06:00:00.000Z", "n": 12, "n_anchors": 12, "counted": True,
        "in_baseline": False, "mean": 3.0, "shift": 0.0, "low": -0.1, "high": 0.1, "evidence": 0.1,
    }  # fmt: skip
    runs = [{**world, "day": plus_days("2026-03-01", place), "not_counted": why} for place, why in
            enumerate(not_counted)]  # fmt: skip
    return findings(judge={"runs": runs, **changes})


def words(found: Findings) -> tuple[str, list[str], str]:
    """Headline, what needs a look because of the newest runs, and tone."""
    return headline(found), left_out_sentences(found), tone(found)


def test_newest_run_that_does_not_count_is_in_the_headline() -> None:
    """And why, with what follows, among what needs a look; the page is not green."""
    quiet, nothing, calm = words(said("", ""))
    assert (nothing, calm) == ([], "quiet")
    line, sentences, look = words(said("", WHY))
    assert line == f"{quiet} The run of 2 Mar does not count."
    unseen = "As long as that goes on, a change of the judge cannot be seen; `judgewatch doctor` says what to do."
    assert sentences == [f"The run of 2 Mar does not count: {WHY}. {unseen}"]
    assert look == "unknown"


def test_several_in_a_row_are_counted() -> None:
    """From the first of them; those before a run that counts are history."""
    line, sentences, _ = words(said(WHY, "", WHY, WHY, WHY))
    assert line.endswith(" The last 3 runs, since 3 Mar, do not count.")
    assert sentences[0].startswith(f"The last 3 runs, since 3 Mar, do not count: {WHY}.")


def test_run_that_counted_again_ends_it() -> None:
    """Nothing is said any more."""
    quiet = words(said(""))
    assert words(said(WHY, WHY, "")) == quiet


def test_analysis_puts_it_before_what_else_needs_a_look(make_world: MakeWorld) -> None:
    """It is about no segment."""
    world = make_world()
    world.add_anchors(TWELVE)
    grade_anchors(world, 12, score=wobbling)
    cached_runs(world, 2, first_day="2026-03-13")
    found = analysed(world)
    assert found["needs_a_look"][0].startswith("The last 2 runs, since 13 Mar, do not count: a gateway answered")
    assert found["look_segments"][0] is None
    assert len(found["look_segments"]) == len(found["needs_a_look"])
    assert found["headline"].endswith("The last 2 runs, since 13 Mar, do not count.")
