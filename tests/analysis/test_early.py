"""What may be said before there is much: no run, a few, runs that fail, days without anchors, nothing at all."""

from __future__ import annotations

import pytest

from evaluator.analysis import AnalysisSettings, analyse
from evaluator.records import StopReason, UnscoredReason
from evaluator.store import write
from tests.analysis.worlds import FIRST_DAY, TWELVE, add_day, analysed, grade_anchors, wobbling
from tests.builders import noon, plus_days


class TestFewRuns:
    """The judge is learned in ten counted runs and can alarm in the eleventh."""

    @pytest.mark.parametrize(
        ("n_runs", "state", "left", "first_alarm"),
        [(1, "learning", 9, 10), (2, "learning", 8, 10), (9, "learning", 1, 10), (10, "cannot_tell", 0, 10)],
    )
    def test_until_the_tenth_run_the_judge_is_learned(self, make_world, n_runs, state, left, first_alarm):
        """The day of the first possible alarm is that of the eleventh run, whenever one asks."""
        world = make_world()
        world.add_anchors(TWELVE)
        grade_anchors(world, n_runs, score=wobbling)
        judge = analysed(world)["judge"]
        assert (judge["state"], judge["learning_runs_left"]) == (state, left)
        assert judge["first_alarm_day"] == plus_days(FIRST_DAY, first_alarm)
        assert judge["estimate"] is None
        assert judge["n_runs_counted"] == n_runs

    def test_the_eleventh_run_is_compared_but_says_nothing_yet(self, make_world):
        """One run after the reference: an estimate without a useful interval."""
        world = make_world()
        world.add_anchors(TWELVE)
        grade_anchors(world, 11, score=wobbling)
        found = analysed(world)
        assert found["judge"]["state"] == "cannot_tell"
        assert found["judge"]["first_alarm_day"] is None
        assert found["judge"]["n_runs_after"] == 1
        assert found["headline"] == "Cannot tell yet whether the judge moved: about 4 more runs needed."

    def test_weekly_runs_move_the_first_alarm_by_weeks(self, make_world):
        """Ten more runs at 52 a year: ten weeks and a bit."""
        world = make_world()
        world.add_anchors(TWELVE)
        grade_anchors(world, 1)
        found = analysed(world, runs_per_year=52.18)
        assert found["judge"]["first_alarm_day"] == plus_days(FIRST_DAY, 70)

    def test_a_jump_in_the_first_ten_runs_is_no_alarm(self, make_world):
        """What "unchanged" means is not known yet."""
        world = make_world()
        world.add_anchors(TWELVE)
        grade_anchors(world, 9, score=lambda run, _place, level: level if run < 5 else max(1, level - 1))
        found = analysed(world)
        assert found["judge"]["state"] == "learning"
        assert found["judge"]["direction"] is None
        assert found["headline"] == "Learning: run 9 of 10; first alarm possible on 11 Mar."

    def test_an_early_change_is_measured_against_the_runs_before_it(self, make_world):
        """The judge changes in the thirteenth run: by the twentieth the baseline is the first twelve."""
        world = make_world()
        world.add_anchors(TWELVE)

        def score(run: int, place: int, level: float) -> float:
            return max(1.0, wobbling(run, place, level) - (1.0 if run >= 12 else 0.0))

        days = grade_anchors(world, 20, score=score)
        judge = analysed(world)["judge"]
        assert (judge["state"], judge["direction"]) == ("changed", "stricter")
        assert judge["since_day"] == days[12]
        assert [run["in_baseline"] for run in judge["runs"]] == [True] * 12 + [False] * 8
        # of twelve anchors one stands at the floor and cannot fall
        assert judge["estimate"] == pytest.approx(-11 / 12, abs=0.12)
        assert judge["low"] < judge["estimate"] < judge["high"]
        before = [run["shift"] for run in judge["runs"][:12]]
        assert sum(before) == pytest.approx(0.0, abs=1e-9)


class TestRunsThatDoNotCount:
    """Failed runs, partial runs, too few anchors."""

    def test_without_any_run_the_judge_is_not_watched(self, make_world):
        """A setup is known, nothing ran."""
        world = make_world()
        world.add_anchors(TWELVE)
        write.register_ruler(world.store, app=world.app, ruler=world.ruler, now=noon(FIRST_DAY))
        found = analysed(world)
        assert found["judge"]["state"] == found["assistant"]["state"] == "no_data"
        assert (found["first_day"], found["baseline_first_day"], found["shares"]) == (None, None, None)
        assert found["headline"] == "The judge is not watched: no run has graded anchors."
        assert found["tone"] == "unknown"

    def test_nine_anchors_are_too_few_but_their_means_are_shown(self, make_world):
        """Ten is the least; the table of runs is there all the same."""
        world = make_world()
        world.add_anchors(TWELVE[:9])
        grade_anchors(world, 3)
        found = analysed(world)
        assert found["judge"]["state"] == "no_data"
        assert found["headline"] == "The judge is not watched yet: no run has graded enough anchors."
        assert found["sentences"][0].endswith("so far none of 3 runs has.")
        runs = found["judge"]["runs"]
        assert [run["mean"] for run in runs] == pytest.approx([26 / 9] * 3)
        assert [(run["n"], run["counted"], run["shift"]) for run in runs] == [(9, False, None)] * 3

    def test_failed_and_half_graded_runs_are_shown_and_do_not_count(self, make_world):
        """A failed run has no mean at all; one with 5 of 12 anchors has one, and no say."""
        world = make_world()
        anchors = [item_id for item_id, _ in world.add_anchors(TWELVE)]
        grade_anchors(world, 5)
        failed = {"status": "failed", "stop": StopReason.AUTH, "message": "the key was refused"}
        world.run("2026-03-06", anchors=dict.fromkeys(anchors[:3], 5.0), untried=anchors[3:], **failed)
        world.run("2026-03-07", anchors=dict.fromkeys(anchors[:5], 5.0), untried=anchors[5:], status="stopped")
        grade_anchors(world, 1, first_day="2026-03-08")
        judge = analysed(world)["judge"]
        assert (judge["n_runs"], judge["n_runs_counted"]) == (8, 6)
        assert [run["counted"] for run in judge["runs"]] == [True] * 5 + [False, False, True]
        assert (judge["runs"][5]["n"], judge["runs"][5]["mean"]) == (0, None)
        assert judge["runs"][6]["mean"] == 5.0
        assert judge["runs"][7]["shift"] == pytest.approx(0.0)

    def test_a_run_with_some_anchors_missing_is_compared_with_the_same_anchors(self, make_world):
        """The two hardest fail: the mean rises, the shift does not."""
        world = make_world()
        anchors = world.add_anchors(TWELVE)
        grade_anchors(world, 10)
        easy = {item_id: anchor.expected_score for item_id, anchor in anchors if anchor.expected_score > 2}
        hard = {item_id: UnscoredReason.TIMEOUT for item_id, anchor in anchors if anchor.expected_score <= 2}
        easy |= dict.fromkeys(list(hard)[1:], 2.0)
        world.run("2026-03-11", anchors=easy | {next(iter(hard)): UnscoredReason.TIMEOUT})
        run = analysed(world)["judge"]["runs"][-1]
        assert (run["n"], run["n_anchors"], run["counted"]) == (11, 12, True)
        assert run["mean"] > 3.1
        assert run["shift"] == pytest.approx(0.0)

    def test_unknown_setup_is_refused(self, make_world):
        """Another app's, or none."""
        world = make_world()
        with pytest.raises(KeyError, match="no judge setup"):
            analyse(world.store, app=world.app, ruler_id="nothing", settings=AnalysisSettings())


class TestAnchorsThatComeAndGo:
    """Anchors are compared one by one."""

    def test_a_new_anchor_set_keeps_the_shared_anchors_and_learns_the_new_ones(self, make_world):
        """Four harder anchors join in the eleventh run: the shift stays at zero and they join ten runs later."""
        world = make_world()
        world.add_anchors(TWELVE)
        grade_anchors(world, 10)
        world.add_anchors((*TWELVE, 1, 1, 1, 1))
        grade_anchors(world, 12, first_day="2026-03-11")
        judge = analysed(world)["judge"]
        assert judge["n_anchors"] == 16
        assert [run["n"] for run in judge["runs"]] == [12] * 10 + [16] * 12
        assert [run["shift"] for run in judge["runs"]] == pytest.approx([0.0] * 22)
        assert judge["state"] != "changed"

    def test_anchors_that_leave_blind_nothing(self, make_world):
        """Two of twelve leave; a judge that turns stricter afterwards is found."""
        world = make_world()
        world.add_anchors(TWELVE)
        grade_anchors(world, 15, score=wobbling)
        world.add_anchors(TWELVE[:10])
        days = grade_anchors(
            world, 8, score=lambda run, place, level: max(1, wobbling(run, place, level) - 1), first_day="2026-03-16"
        )
        judge = analysed(world)["judge"]
        assert judge["state"] == "changed"
        assert judge["since_day"] == days[0]
        assert judge["n_anchors"] == 10


class TestTrafficAlone:
    """Answers without anchors, anchors without answers, no scores."""

    def test_answers_graded_without_anchors_have_raw_means_only(self, make_world):
        """The note says why nothing is corrected."""
        world = make_world(keys=[])
        scores = add_day(world, FIRST_DAY, [({}, float(score)) for score in (4, 5, 3, 4)])
        world.run(plus_days(FIRST_DAY, 1), answers=scores, sampled=(FIRST_DAY, 4))
        found = analysed(world)
        (day,) = found["days"]
        assert (day["mean"], day["corrected"], day["finished"]) == (4.0, None, True)
        assert day["note"] == "not corrected: no anchors in that run"
        assert found["assistant"]["state"] == "no_data"
        assert found["judge"]["state"] == "no_data"

    def test_anchors_without_answers_watch_the_judge(self, make_world):
        """No traffic at all: the judge is known, the assistant is not."""
        world = make_world()
        world.add_anchors(TWELVE)
        grade_anchors(world, 26, score=wobbling)
        found = analysed(world, smallest_change=0.5)
        assert found["judge"]["state"] == "steady"
        assert found["assistant"]["state"] == "no_data"
        assert (found["days"], found["segments"], found["shares"]) == ([], [], None)
        assert found["headline"] == "The judge is steady."
        assert found["tone"] == "quiet"

    def test_a_day_that_is_mostly_unscored_has_no_mean_and_says_why(self, make_world):
        """Two of five answers have a score: less than half."""
        world = make_world(keys=[])
        timeout, refusal = UnscoredReason.TIMEOUT, UnscoredReason.REFUSAL
        scores = add_day(world, FIRST_DAY, [({}, score) for score in (5.0, 4.0, timeout, timeout, refusal)])
        world.run(plus_days(FIRST_DAY, 1), answers=scores, sampled=(FIRST_DAY, 5))
        found = analysed(world)
        (day,) = found["days"]
        assert (day["n"], day["n_unscored"], day["mean"], day["low"]) == (2, 3, None, None)
        assert day["note"] == (
            "mostly unscored: 3 of 5 answers have no score (2 timeout, 1 refusal), so the day has no mean"
        )
        assert found["needs_a_look"] == [
            "The judge left 3 of 5 answers of 1 Mar without a score: 2 timeout, 1 refusal."
        ]
        assert found["look_segments"] == [None]

    def test_half_of_the_scores_are_enough_for_a_mean(self, make_world):
        """The rule counts exactly half in."""
        world = make_world(keys=[])
        scores = add_day(world, FIRST_DAY, [({}, score) for score in (5.0, 4.0, *[UnscoredReason.TIMEOUT] * 2)])
        world.run(plus_days(FIRST_DAY, 1), answers=scores, sampled=(FIRST_DAY, 4))
        (day,) = analysed(world)["days"]
        assert (day["mean"], day["n_unscored"], day["finished"]) == (4.5, 2, True)

    @pytest.mark.parametrize(("n_scored", "topic_of", "mean"), [(5, "unscored", 4.0), (4, "scored", None)])
    def test_the_rule_looks_at_all_answers_of_the_day_once(self, make_world, n_scored, topic_of, mean):
        """Five of nine, four of nine: that some of them share a topic does not count them twice."""
        world = make_world(keys=[("topic", "")])
        tags = {name: {"topic": "billing"} if name == topic_of else {} for name in ("scored", "unscored")}
        rows = [(tags["scored"], 4.0)] * n_scored + [(tags["unscored"], UnscoredReason.TIMEOUT)] * (9 - n_scored)
        world.run(plus_days(FIRST_DAY, 1), answers=add_day(world, FIRST_DAY, rows), sampled=(FIRST_DAY, 9))
        assert analysed(world)["days"][0]["mean"] == mean

    def test_an_unfinished_day_is_marked(self, make_world):
        """Three of five planned answers are tried."""
        world = make_world(keys=[])
        scores = add_day(world, FIRST_DAY, [({}, float(score)) for score in (5, 4, 3, 2, 1)])
        ids = list(scores)
        tried = {item_id: scores[item_id] for item_id in ids[:3]}
        world.run(
            plus_days(FIRST_DAY, 1), answers=tried, untried=ids[3:], sampled=(FIRST_DAY, 9), status="stopped",
            stop=StopReason.BUDGET,
        )  # fmt: skip
        (day,) = analysed(world)["days"]
        assert (day["finished"], day["n"], day["n_planned"], day["n_answers"]) == (False, 3, 5, 9)
        assert day["mean"] == 4.0
