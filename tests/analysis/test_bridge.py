"""Imported scores corrected by another setup's anchors: only the correction is shared, and what is unknown is said."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evaluator.analysis import AnalysisSettings, analyse
from evaluator.errors import UsageError
from evaluator.findings import Findings
from evaluator.freshness import newest_analysis
from evaluator.importing.verdict_scale import ScaleFound, imported_ruler
from evaluator.importing.verdicts import VerdictReading, import_verdicts, refresh_bridged
from evaluator.records import Ruler
from evaluator.store import read, write
from tests.analysis.worlds import FIRST_DAY, TWELVE, grade_anchors
from tests.builders import World, answer, plus_days, ruler

NOW = datetime(2026, 5, 1, tzinfo=UTC)
PER_DAY = 40
MOVE = 0.6
Score = Callable[[int, int], float]
MakeWorld = Callable[..., World]


def steady(day: int, place: int) -> float:
    """About 3.3 every day, with a small wobble from day to day."""
    return (2.0, 3.0, 4.0, 4.2)[place % 4] + 0.05 * ((day * 7 + place) % 3 - 1)


def anchors_move_at(change: int) -> Callable[[int, int, float], float]:
    """Anchors that keep their level until a run and are graded higher from then on."""

    def score(run: int, place: int, level: float) -> float:
        wobble = 0.5 if (run * 5 + place * 3) % 7 == 0 else 0.0
        return min(5.0, 0.8 * level + wobble + (MOVE if run >= change else 0.0))

    return score


def import_days(world: World, days: Sequence[str], score: Score, *, same_judge: Ruler | None = None) -> str:
    """Import scores of some days; returns the id of the imported setup."""
    path = Path(world.path).with_suffix(".jsonl")
    rows = [
        {
            "id": f"{day}-{place}",
            "answer": f"Answer {place}.",
            "score": score(number, place),
            "topic": ("refund", "billing")[place % 2],
            "graded_at": f"{day}T23:30:{place:02d}Z",
        }
        for number, day in enumerate(days)
        for place in range(PER_DAY)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = import_verdicts(
        world.path,
        [path],
        app=world.app,
        now=NOW,
        reading=VerdictReading(judge="judge-large", scale=(1.0, 5.0)),
        settings=AnalysisSettings(),
        same_judge=same_judge,
    )
    assert report.judges[0].ruler_id is not None
    return report.judges[0].ruler_id


def found_of(world: World, ruler_id: str) -> Findings:
    """The analysis of a setup; what a page could not read as JSON is an error."""
    found = analyse(world.store, app=world.app, ruler_id=ruler_id, settings=AnalysisSettings())
    json.dumps(found, allow_nan=False)
    return found


@pytest.fixture
def world(make_world: MakeWorld) -> World:
    """A world with twelve anchors."""
    made = make_world()
    made.add_anchors(TWELVE)
    return made


def test_a_move_of_the_judge_is_told_from_the_bridged_anchors(world: World) -> None:
    """Scores and anchors rise together: the judge is named, the assistant is not, the corrected line stays."""
    days = grade_anchors(world, 40, score=anchors_move_at(20))
    ruler_id = import_days(
        world, days, lambda day, place: steady(day, place) + (MOVE if day >= 20 else 0.0), same_judge=world.ruler
    )
    found = found_of(world, ruler_id)
    assert found["judge"]["state"] == "changed"
    assert found["judge"]["since_day"] is not None
    assert found["judge"]["estimate"] == pytest.approx(MOVE, abs=0.15)
    assert found["assistant"]["state"] != "changed"
    raw = [day["mean"] or 0.0 for day in found["days"]]
    corrected = [day["corrected"] or 0.0 for day in found["days"]]
    assert raw[-1] - raw[0] == pytest.approx(MOVE, abs=0.1)
    assert corrected[-1] - corrected[0] == pytest.approx(0.0, abs=0.2)
    assert found["imported"] is True
    assert found["anchor_setup"] == 1
    assert "the anchors of judge setup v1 speak for their judge" in " ".join(found["sentences"])


def test_without_a_bridge_the_same_scores_stay_uncorrected(world: World) -> None:
    """Nothing is assumed: whose judge it was is a person's word."""
    days = grade_anchors(world, 15, score=anchors_move_at(99))
    found = found_of(world, import_days(world, days, steady))
    assert found["judge"]["state"] == "no_data"
    assert all(day["corrected"] is None for day in found["days"])
    assert {day["note"] for day in found["days"]} == {"not corrected: imported, without anchors"}


def test_scores_of_the_two_setups_never_mix(world: World) -> None:
    """The imported days hold imported answers only, and the anchors' setup none of them."""
    days = grade_anchors(world, 12, score=anchors_move_at(99))
    ruler_id = import_days(world, days, steady, same_judge=world.ruler)
    assert {day["n"] for day in found_of(world, ruler_id)["days"]} == {PER_DAY}
    assert found_of(world, world.ruler.ruler_id)["days"] == []


def test_days_before_the_first_anchors_have_no_correction_and_say_so(world: World) -> None:
    """They keep their raw mean."""
    days = grade_anchors(world, 12, score=anchors_move_at(99))
    early = [plus_days(FIRST_DAY, -number) for number in (3, 2, 1)]
    found = found_of(world, import_days(world, [*early, *days], steady, same_judge=world.ruler))
    assert [day["corrected"] is None for day in found["days"]] == [True] * 3 + [False] * 12
    assert all(day["mean"] is not None for day in found["days"])
    assert found["days"][0]["note"] == (
        "not corrected: no anchors of this judge were graded on that day or in the 31 days before"
    )


def test_a_day_without_a_run_is_corrected_by_the_last_one_before(world: World) -> None:
    """Up to a month; beyond that the judge is not known."""
    days = grade_anchors(world, 12, score=anchors_move_at(99))
    later = [plus_days(days[-1], number) for number in (1, 31, 32)]
    found = found_of(world, import_days(world, later, steady, same_judge=world.ruler))
    assert [day["corrected"] is None for day in found["days"]] == [False, False, True]


def test_a_failed_anchor_run_is_passed_over(world: World) -> None:
    """The one before it stands in, rather than leaving the day without a correction."""
    days = grade_anchors(world, 11, score=anchors_move_at(99))
    bad = plus_days(days[-1], 1)
    world.run(bad, anchors=dict.fromkeys((item_id for item_id, _ in world.anchors), 5.0), status="failed")
    found = found_of(world, import_days(world, [days[-1], bad], steady, same_judge=world.ruler))
    assert all(day["corrected"] is not None for day in found["days"])
    assert found["days"][0]["corrected"] == pytest.approx(found["days"][1]["corrected"], abs=0.1)


def test_a_bridge_before_any_anchor_says_what_is_awaited(world: World) -> None:
    """The headline names the setup whose anchors are to come."""
    found = found_of(world, import_days(world, [FIRST_DAY, plus_days(FIRST_DAY, 1)], steady, same_judge=world.ruler))
    assert "the anchors of judge setup v2 speak for their judge; no run has graded enough" in found["headline"]


def test_a_bridge_between_two_scales_is_refused(world: World) -> None:
    """And nothing of the import is stored."""
    with pytest.raises(UsageError, match=r"are on 1 to 5, the configured judge grades on 0 to 1"):
        import_days(world, [FIRST_DAY], steady, same_judge=ruler(scale=(0, 1)))
    assert read.counts(world.store, world.app)["n_answers"] == 0


def test_one_of_several_criteria_has_to_be_named(world: World, tmp_path: Path) -> None:
    """The message lists them; --only chooses."""
    path = tmp_path / "wide.csv"
    path.write_text("id,answer,faithfulness,coherence,graded_at\n1,a,2,4,2026-03-01\n2,b,3,5,2026-03-01\n")

    def take(only: tuple[str, ...]) -> Any:
        return import_verdicts(
            world.path,
            [path],
            app=world.app,
            now=NOW,
            reading=VerdictReading(only=only),
            settings=AnalysisSettings(),
            same_judge=world.ruler,
        )

    with pytest.raises(UsageError, match=r"there are 2: unknown judge, faithfulness; unknown judge, coherence.*--only"):
        take(())
    assert [judge.is_bridged for judge in take(("coherence",)).judges] == [True]


def test_a_bridge_said_twice_is_one_and_a_new_word_replaces_it(world: World) -> None:
    """The newest word counts."""
    imported = imported_ruler("judge-large", "score", ScaleFound(low=1.0, high=5.0, how=""))
    write.register_ruler(world.store, app=world.app, ruler=imported, now=NOW)
    for anchors in (world.ruler, world.ruler, ruler(model="judge-small")):
        write.save_bridge(world.store, app=world.app, imported=imported, anchors=anchors, by_whom="me", now=NOW)
    bridge = read.bridge_of(world.store, world.app, imported.ruler_id)
    assert bridge is not None
    assert bridge["anchor_ruler_id"] == ruler(model="judge-small").ruler_id
    assert read.bridged_rulers(world.store, world.app, world.ruler.ruler_id) == []


def test_a_newer_anchor_run_makes_the_imported_analysis_due_and_it_is_made_anew(world: World) -> None:
    """By whoever reads it next, or at once by the scorer."""
    days = grade_anchors(world, 12, score=anchors_move_at(99))
    ruler_id = import_days(world, days, steady, same_judge=world.ruler)
    whose = {"app": world.app, "ruler_id": ruler_id, "criterion": "score"}
    assert not newest_analysis(world.store, **whose)[1]
    world.run("2026-05-02", anchors={item_id: float(anchor.expected_score or 3) for item_id, anchor in world.anchors})
    assert newest_analysis(world.store, **whose)[1]
    later = datetime(2026, 5, 3, tzinfo=UTC)
    done = refresh_bridged(world.path, world.app, world.ruler.ruler_id, AnalysisSettings(), later)
    assert done == [ruler_id]
    row, is_due = newest_analysis(world.store, **whose)
    assert not is_due
    assert row is not None
    assert row["payload"]["judge"]["n_runs"] == 13


# ---------------------------------------------------------------- what is shown first


def shown(world: World) -> str:
    """Output mode of the setup that is shown unless another is chosen."""
    newest = read.newest_ruler(world.store, world.app)
    assert newest is not None
    return str(newest["output_mode"])


def test_a_setup_of_anchors_only_yields_to_imported_scores(world: World) -> None:
    """It is there to measure their judge; its newer run does not hide their days."""
    import_days(world, [FIRST_DAY, plus_days(FIRST_DAY, 1)], steady, same_judge=world.ruler)
    grade_anchors(world, 3, first_day="2026-04-01")
    assert shown(world) == "imported"


def test_a_setup_that_grades_answers_is_shown_when_its_run_is_newer(world: World) -> None:
    """Newer days win; older ones do not."""
    import_days(world, ["2026-03-10"], steady)
    first, second = world.add_answers([answer(1, "2026-03-04"), answer(2, "2026-03-19")])
    world.run("2026-03-05", answers={first: 4.0}, sampled=("2026-03-04", 1))
    assert shown(world) == "imported"
    world.run("2026-03-20", answers={second: 4.0}, sampled=("2026-03-19", 1))
    assert shown(world) != "imported"
