"""The shared cases, each in a database filled by the store's own writes, against the numbers they give."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evaluator.analysis import AnalysisSettings, analyse
from evaluator.analysis.history import read_anchor_history
from evaluator.analysis.judge import find_judge
from evaluator.analysis.totals import raw_mean, read_traffic
from evaluator.analysis.units import Scale
from evaluator.records import UnscoredReason
from evaluator.store import write
from evaluator.store.db import open_store
from tests.analysis.simulate import SETTINGS
from tests.analysis.worlds import add_day, analysed, grade_anchors
from tests.builders import CRITERION, noon, plus_days, ruler, timed

REASONS = {
    "timeout": UnscoredReason.TIMEOUT,
    "500": UnscoredReason.SERVER_ERROR,
    "unparsed": UnscoredReason.UNPARSED,
}


class TestA04JudgeDownForPartOfARun:
    """Failures are neither zeros nor silence."""

    @pytest.fixture
    def found(self, cases: dict[str, Any], make_world: Any) -> dict[str, Any]:
        """Eleven runs as in the baseline, then the run of today."""
        case = cases["A04"]["input"]
        baseline, today = list(case["baseline_by_anchor"].values()), list(case["today"].values())
        world = make_world()
        anchors = world.add_anchors(baseline)
        grade_anchors(world, 11)
        scores = {item_id: REASONS.get(score, score) for (item_id, _), score in zip(anchors, today, strict=True)}
        world.run("2026-03-12", anchors=scores)
        return analysed(world)

    def test_mean_coverage_and_drift_are_those_of_the_case(self, found, cases):
        """The mean is of the six that were graded, the drift on the same six is zero."""
        expected, run = cases["A04"]["expected"], found["judge"]["runs"][-1]
        assert run["mean"] == pytest.approx(expected["mean_today"], abs=1e-6)
        assert (run["n"], run["n_anchors"]) == (expected["n_scored"], expected["n_expected"])
        assert run["n"] / run["n_anchors"] == pytest.approx(expected["coverage"])
        assert run["shift"] == pytest.approx(expected["drift_on_same_anchors"], abs=1e-9)
        assert found["judge"]["runs"][0]["mean"] == pytest.approx(expected["baseline_mean_all"])

    def test_availability_is_told_and_quality_is_not(self, found):
        """Six of ten are too few to count; the outage has its own line."""
        assert found["judge"]["state"] == "cannot_tell"
        assert found["judge"]["runs"][-1]["counted"] is False
        assert found["needs_a_look"] == [
            "The judge left 4 of 10 anchors without a score on 12 Mar: 2 timeout, 1 server error, 1 unparsed."
        ]
        assert not any(word in " ".join(found["sentences"]) for word in ("worse", "better", "stricter"))

    def test_a_day_on_which_all_fails_has_no_mean(self, cases, make_world):
        """Empty, not zero; marked; and said."""
        world = make_world()
        anchors = world.add_anchors(list(cases["A04"]["input"]["baseline_by_anchor"].values()))
        grade_anchors(world, 11)
        nothing = dict.fromkeys([item_id for item_id, _ in anchors], UnscoredReason.TIMEOUT)
        world.run("2026-03-12", anchors=nothing, status="failed")
        found = analysed(world)
        run = found["judge"]["runs"][-1]
        assert (run["n"], run["mean"], run["shift"], run["counted"]) == (0, None, None, False)
        assert found["needs_a_look"] == ["The judge left 10 of 10 anchors without a score on 12 Mar: 10 timeout."]


class TestJ01AnotherModelAnswers:
    """The judge moves by a point, production with it; then the prompt is edited."""

    @pytest.fixture
    def world(self, cases: dict[str, Any], make_world: Any) -> Any:
        """The days of the case; each of the five anchors twice, since a run needs ten to count."""
        case = cases["J01"]["input"]
        world = make_world(keys=[])
        world.add_anchors([float(score) for score in case["anchor_scores"][0]["scores"]] * 2)
        first = world.ruler
        for number, day in enumerate(case["anchor_scores"]):
            judge, slot_day = day["judge"], day["day"]
            if judge["prompt_sha"] == "p2":
                world.ruler = replace(first, prompt_template="Edited: {{output}}")
            production = [({}, float(score)) for score in case["production_same_days"][slot_day]]
            scores = zip((item_id for item_id, _ in world.anchors), day["scores"] * 2, strict=True)
            world.run(
                slot_day,
                anchors=dict(scores),
                answers=add_day(world, slot_day, production),
                sampled=(slot_day, 4),
                model=judge["model_answered"],
            )
            if number == 2:
                write.add_event(
                    world.store, app=world.app, at=noon(slot_day), kind="instrument", by_whom="scorer",
                    text="what answers changed", ruler_id=first.ruler_id,
                )  # fmt: skip
        return world

    def test_anchor_and_production_means_are_those_of_the_case(self, cases, world):
        """Both series, day by day, under the setup that graded them."""
        expected = cases["J01"]["expected"]
        second = analysed(world)
        world.ruler = replace(world.ruler, prompt_template=ruler().prompt_template)
        first = analysed(world)
        anchors = {run["day"]: run["mean"] for found in (first, second) for run in found["judge"]["runs"]}
        production = {day["day"]: day["mean"] for found in (first, second) for day in found["days"]}
        assert anchors == pytest.approx(expected["anchor_means"])
        assert production == pytest.approx(expected["production_means"])

    def test_the_judge_explains_all_of_it(self, world):
        """The judge's shift and the fall of production are both one point; corrected, nothing is left."""
        world.ruler = replace(world.ruler, prompt_template=ruler().prompt_template)
        found = analysed(world)
        shift = {run["day"]: run["shift"] for run in found["judge"]["runs"]}
        days = {day["day"]: day for day in found["days"]}
        judge = shift["2026-02-03"] - shift["2026-02-02"]
        production = days["2026-02-03"]["mean"] - days["2026-02-02"]["mean"]
        corrected = days["2026-02-03"]["corrected"] - days["2026-02-02"]["corrected"]
        assert (judge, production) == pytest.approx((-1.0, -1.0))
        assert corrected == pytest.approx(0.0, abs=1e-9)

    def test_changes_are_marked_and_no_fall_of_quality_is_said(self, world):
        """What answers changed is an event; the edited prompt starts a setup of its own, and says so."""
        edited = analysed(world)
        assert (edited["setup"], edited["judge"]["n_runs"]) == (2, 1)
        assert edited["events"] == [], "what answered under the first setup is no mark on the second"
        assert edited["headline"].startswith("Judge setup v2 is new, and its scores do not compare with those before.")
        world.ruler = replace(world.ruler, prompt_template=ruler().prompt_template)
        first = analysed(world)
        assert [(event["day"], event["kind"]) for event in first["events"]] == [("2026-02-03", "instrument")]
        for found in (first, edited):
            assert found["judge"]["state"] == "learning"
            assert not any(word in " ".join(found["sentences"]) for word in ("worse", "fell"))


class TestS01DaysWithFewScores:
    """None, one, two, all equal."""

    @pytest.fixture
    def world(self, cases: dict[str, Any], make_world: Any) -> Any:
        """All days graded in one run without anchors; the empty day has no answers to import."""
        world = make_world(keys=[])
        scores: dict[str, Any] = {}
        for day, values in cases["S01"]["input"]["days"].items():
            scores |= add_day(world, day, [({}, float(value)) for value in values])
        world.run("2026-01-07", answers=scores)
        return world

    def test_means_counts_and_intervals_are_those_of_the_case(self, cases, world):
        """What is drawn stays on the scale; one score, and equal scores, have no interval."""
        expected = cases["S01"]["expected"]
        days = {day["day"]: day for day in analysed(world)["days"]}
        for day, interval in expected["ci_student_t"].items():
            if expected["n"][day] == 0:
                assert day not in days
                continue
            found = days[day]
            assert (found["mean"], found["n"]) == (pytest.approx(expected["mean"][day]), expected["n"][day])
            if isinstance(interval, list):
                low, high = max(1.0, interval[0]), min(5.0, interval[1])
                assert (found["low"], found["high"]) == pytest.approx((low, high), abs=expected["tolerance"])
            else:
                assert (found["low"], found["high"]) == (None, None)

    def test_the_mean_of_the_week_weighs_every_score_once(self, cases, world):
        """Sixteen scores, not five daily means."""
        expected = cases["S01"]["expected"]["week_mean_of_scores"]
        whose = {"app": world.app, "ruler_id": world.ruler.ruler_id, "criterion": CRITERION}
        history = read_anchor_history(world.store, **whose, scale=(1.0, 5.0))
        scale = Scale(low=1.0, high=5.0)
        judge = find_judge(history, scale=scale, settings=SETTINGS, events=[])
        totals = read_traffic(world.store, **whose, scale=scale, judge=judge).totals
        assert raw_mean(totals, totals.usable, 0.95).mean == pytest.approx(expected["value"])
        assert totals.n.sum() == expected["n"]


class TestS04ChangedMixOfQuestions:
    """Every segment improved, the mean fell: more hard questions came in."""

    @pytest.fixture
    def found(self, mix_shift_counts: Any, make_world: Any) -> dict[str, Any]:
        """Twenty days like the first week, twelve like the second, under a judge that repeats exactly."""
        world = make_world(keys=[("segment", "")])
        world.add_anchors([1, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 2, 1, 4, 3, 2])
        for number in range(32):
            day = plus_days("2026-03-01", number)
            week, share = ("week1", 5) if number < 20 else ("week2", 2)
            # the greatest share of the file that holds each of its scores a whole number of times
            rows = [
                ({"segment": name}, score)
                for (name, score), n in mix_shift_counts[week].items()
                for _ in range(2 * n // share)
            ]
            scores = add_day(world, day, rows)
            anchors = {item_id: anchor.expected_score for item_id, anchor in world.anchors}
            world.run(plus_days(day, 1), anchors=anchors, answers=scores, sampled=(day, len(rows)))
        return analysed(world, smallest_change=0.3)

    def test_shares_are_those_of_the_case(self, found, cases):
        """Of -0.5 the mix has -0.6 and the assistant +0.1; the judge nothing."""
        expected, shares = cases["S04"]["expected"], found["shares"]
        assert shares["raw_before"] == pytest.approx(expected["mean"]["week1"]["all"])
        assert shares["raw_after"] == pytest.approx(expected["mean"]["week2"]["all"])
        assert shares["raw"] == expected["change_all"]
        assert shares["mix"] == expected["change_due_to_mix"]
        assert shares["assistant"] == expected["change_within_segments_at_week1_mix"]
        assert shares["judge"] == 0.0
        assert shares["mix_key"] == "segment"

    def test_no_fall_of_quality_is_said(self, found):
        """Neither of the assistant nor of a segment; the mix is told as its own kind."""
        assert found["assistant"]["state"] in ("steady", "no_change_shown", "cannot_tell")
        assert found["assistant"]["estimate"] == pytest.approx(0.1)
        assert [row["direction"] for row in found["segments"]] == [None, None]
        assert "a changed mix of questions moved the mean score by −0.60" in found["headline"]
        assert "worse" not in " ".join([found["headline"], *found["sentences"]])

    def test_segment_with_one_answer_has_its_value_and_no_interval(self, make_world):
        """It cannot stand out by itself."""
        world = make_world(keys=[("segment", "")])
        rows = [({"segment": "easy"}, 5.0), ({"segment": "easy"}, 4.0), ({"segment": "hard"}, 1.0)]
        world.run("2026-03-02", answers=add_day(world, "2026-03-01", [*rows, *rows[:2]]))
        rows_of = {row["value"]: row for row in analysed(world)["segments"]}
        hard = rows_of["hard"]
        assert (hard["n"], hard["mean"], hard["mean_low"]) == (1, 1.0, None)
        assert (hard["against_rest"], hard["against_rest_low"]) == (None, None)
        assert hard["stands_out"] is False
        assert hard["state"] == "no_data"


@pytest.mark.parametrize(("zone", "expected"), [("UTC", "utc"), ("America/Los_Angeles", "los_angeles")])
def test_u02_days_are_those_of_the_stores_zone(tmp_path, cases, zone, expected):
    """The same three answers fall on different days in Los Angeles."""
    case = cases["U02"]
    scores = [(row["created_at"], float(row["score"])) for row in case["input"]["scores"]]
    path = timed(tmp_path / "world.db", scores, zone=zone)
    with open_store(path) as store:
        found = analyse(store, app="support-bot", ruler_id=ruler().ruler_id, settings=AnalysisSettings())
    days = {day["day"]: {"n": day["n"], "mean": day["mean"]} for day in found["days"]}
    assert days == case["expected"][expected]
    assert found["zone"] == zone
