"""A run from its plan to its end: each item one verdict, a finished slot nothing more, and what ends a run early."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from evaluator.config import TrafficConfig
from evaluator.records import Item, StopReason, UnscoredReason
from evaluator.scoring import runner
from evaluator.scoring.budget import Limits
from evaluator.store.db import open_store
from tests.builders import ruler
from tests.scoring.helpers import ONE_DAY, ScriptedJudge, SetClock, Shop, assert_adds_up, by_output
from tests.store.helpers import anchor, answer

TIMEOUT, REFUSAL = UnscoredReason.TIMEOUT, UnscoredReason.REFUSAL


async def test_everything_planned_is_graded_once(shop: Shop) -> None:
    """Anchors and answers of the days before; the report, the stored run and the calls agree."""
    ids = shop.add_answers(30)
    judge = ScriptedJudge(cost_usd=0.25)
    report = await shop.run(judge)
    assert (report.status, report.stop_reason, report.message) == ("finished", None, "")
    assert (report.n_anchors, report.n_traffic, report.n_scored) == (4, 30, 34)
    assert (report.n_calls, report.spent_usd) == (34, 8.5)
    assert_adds_up(report, shop.runs()[0])
    assert set(judge.calls.values()) == {1}
    assert shop.scores() == dict.fromkeys(ids, 4.0)


async def test_calls_go_out_together_and_never_more_than_allowed(shop: Shop) -> None:
    """As many as configured; the first alone, so that a wrong key costs one call."""
    shop.add_answers(40)
    seen: list[int] = []
    judge = ScriptedJudge(delay_s=0.001)
    judge.script = lambda _: (seen.append(judge.in_flight), 4.0)[1]
    await shop.run(judge, concurrency=5)
    assert seen[0] == 1
    assert judge.most_in_flight == 5


async def test_finished_slot_makes_no_call(shop: Shop) -> None:
    """It says so and changes nothing, whatever was imported meanwhile."""
    shop.add_answers(3)
    await shop.run(ScriptedJudge())
    before = shop.runs()
    shop.add_answers(9)
    judge = ScriptedJudge()
    report = await shop.run(judge)
    assert (report.already_finished, report.status, judge.calls) == (True, "finished", {})
    assert shop.runs() == before


async def test_each_run_starts_by_asking_for_everything_again(shop: Shop) -> None:
    """What a server refused yesterday it may take today."""
    judge = ScriptedJudge()
    for days in (0, 1):
        await shop.run(judge, days=days)
    assert judge.n_runs == 2


async def test_answers_are_graded_once_and_anchors_in_every_run(shop: Shop) -> None:
    """The second day brings its own answers; those of the first stay graded."""
    first = shop.add_answers(5)
    await shop.run(ScriptedJudge())
    second = shop.add_answers(5, day="2026-02-28")
    judge = ScriptedJudge()
    report = await shop.run(judge, days=1)
    assert (report.n_anchors, report.n_traffic) == (4, 5)
    assert not set(judge.calls) & set(first)
    assert set(second) <= set(judge.calls)


@pytest.mark.parametrize(("kind", "n_anchors", "n_traffic"), [("all", 4, 6), ("anchors", 4, 0), ("traffic", 0, 6)])
async def test_kind_decides_what_is_graded(shop: Shop, kind: str, n_anchors: int, n_traffic: int) -> None:
    """A run of anchors leaves the days of answers for another."""
    shop.add_answers(6)
    report = await shop.run(ScriptedJudge(), kind=kind)
    assert (report.n_anchors, report.n_traffic, report.status) == (n_anchors, n_traffic, "finished")
    assert shop.runs()[0]["kind"] == kind


@pytest.mark.parametrize(("n_anchors", "n_answers"), [(0, 0), (1, 0), (0, 1), (3, 0), (0, 3)])
async def test_run_with_little_or_nothing_to_do_finishes(shop: Shop, n_anchors: int, n_answers: int) -> None:
    """Only anchors, only answers, one item, or none."""
    shop.anchors = shop.anchors[:n_anchors]
    shop.add_answers(n_answers)
    report = await shop.run(ScriptedJudge(), concurrency=64)
    assert (report.status, report.n_scored) == ("finished", n_anchors + n_answers)
    assert_adds_up(report, shop.runs()[0])


async def test_answer_without_text_costs_nothing_and_fails_nothing(shop: Shop) -> None:
    """It is unscored with its reason; even a day full of them is no failure of the judge."""
    shop.add_answers(9, output=" \n")
    report = await shop.run(ScriptedJudge(), kind="traffic")
    assert (report.status, report.n_unscored, report.n_calls) == ("finished", 9, 0)
    assert report.reasons == {"no_answer_text": 9}


@pytest.mark.parametrize("app", ["O'Brien; DROP", "日本 ✓", "a/b%_*", " ", "x" * 80])
async def test_app_may_have_any_name(shop: Shop, app: str) -> None:
    """Lease, plan, budget and totals are told apart by it."""
    report = await shop.run(ScriptedJudge(), app=app, limits=Limits(calls_per_day=10))
    assert report.n_scored == 4


async def test_two_apps_run_beside_each_other_in_one_database(shop: Shop) -> None:
    """Each has its own lease and its own runs."""
    reports = await asyncio.gather(
        *(shop.run(ScriptedJudge(delay_s=0.01), app=app, concurrency=2) for app in ("a", "b"))
    )
    assert [report.n_scored for report in reports] == [4, 4]


async def test_progress_counts_up_to_the_end(shop: Shop) -> None:
    """Called after every item, with money and calls so far."""
    shop.add_answers(6)
    seen: list[Any] = []
    await shop.run(ScriptedJudge(cost_usd=0.5), on_progress=seen.append, concurrency=1)
    assert [progress.n_done for progress in seen] == list(range(1, 11))
    assert {progress.n_planned for progress in seen} == {10}
    assert (seen[-1].n_calls, seen[-1].spent_usd, seen[-1].n_scored) == (10, 5.0, 10)


# ---------------------------------------------------------------- stopped from outside


@pytest.mark.parametrize("concurrency", [1, 8])
async def test_stopped_half_way_and_started_again_grades_each_item_once(shop: Shop, concurrency: int) -> None:
    """Ctrl-C: calls in flight come home, the rest waits; the next start goes on with the same plan."""
    ids = shop.add_answers(40)
    stop = asyncio.Event()
    judge = ScriptedJudge(delay_s=0.001)

    def stop_half_way(progress: Any) -> None:
        if progress.n_done == 20:
            stop.set()

    first = await shop.run(judge, stop=stop, on_progress=stop_half_way, concurrency=concurrency)
    assert (first.status, first.stop_reason) == ("stopped", StopReason.INTERRUPTED)
    assert "start it again to go on where it stopped" in first.message
    assert first.n_left > 0
    assert_adds_up(first, shop.runs()[0])
    second = await shop.run(judge, concurrency=concurrency)
    assert (second.status, second.n_scored, second.n_left) == ("finished", 44, 0)
    assert second.n_calls == 44 - first.n_scored
    assert set(judge.calls.values()) == {1}
    assert set(shop.scores()) == set(ids)


@pytest.mark.parametrize("concurrency", [1, 8])
async def test_stop_before_the_first_item_leaves_the_run_open(shop: Shop, concurrency: int) -> None:
    """A run that graded nothing is stopped, not finished."""
    shop.add_answers(5)
    stop = asyncio.Event()
    stop.set()
    judge = ScriptedJudge()
    report = await shop.run(judge, stop=stop, concurrency=concurrency)
    assert (report.status, report.stop_reason, report.n_left) == ("stopped", StopReason.INTERRUPTED, 9)
    assert judge.calls == {}


@pytest.mark.parametrize("after", [1, 2, 9])
async def test_stop_set_by_the_last_call_of_a_moment_is_noticed(shop: Shop, after: int) -> None:
    """When all workers end at the very moment of the stop, what is left is still left."""
    shop.add_answers(20)
    stop = asyncio.Event()
    report = await shop.run(ScriptedJudge(), stop=stop, on_progress=lambda p: stop.set() if p.n_done >= after else None)
    assert report.n_left > 0
    assert (report.status, report.stop_reason) == ("stopped", StopReason.INTERRUPTED)


async def test_call_that_does_not_come_home_is_given_up(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that hangs holds a stopped run for a grace period only, from its first call on."""
    monkeypatch.setattr(runner, "GRACE_S", 0.05)
    stop = asyncio.Event()
    asyncio.get_running_loop().call_later(0.05, stop.set)
    report = await asyncio.wait_for(shop.run(ScriptedJudge(delay_s=60), stop=stop), 10)
    assert (report.status, report.n_left) == ("stopped", 4)


async def test_calls_in_flight_at_a_stop_are_stored(shop: Shop) -> None:
    """They are paid for."""
    shop.add_answers(20)
    stop = asyncio.Event()
    judge = ScriptedJudge(delay_s=0.05)
    asyncio.get_running_loop().call_later(0.08, stop.set)
    report = await shop.run(judge, stop=stop, concurrency=8)
    assert 1 < report.n_scored == sum(judge.calls.values()) < 24


async def test_cancelled_run_keeps_what_it_graded(shop: Shop) -> None:
    """A second Ctrl-C ends at once; nothing that came home is lost, and the next start goes on."""
    shop.add_answers(20)
    judge = ScriptedJudge(delay_s=0.01)
    task = asyncio.create_task(shop.run(judge, concurrency=2))
    while sum(judge.calls.values()) < 8:
        await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    kept = len(shop.query("SELECT 1 FROM verdicts"))
    assert kept >= 5
    report = await shop.run(judge)
    assert (report.status, report.n_scored) == ("finished", 24)
    assert sum(judge.calls.values()) <= 24 + 2


# ---------------------------------------------------------------- stopped by the judge


async def test_wrong_key_costs_one_call(shop: Shop) -> None:
    """Two hundred answers wait; the run stops with what to do, and nothing is counted as failed."""
    shop.add_answers(200)
    judge = ScriptedJudge(lambda _: StopReason.AUTH)
    report = await shop.run(judge, concurrency=64)
    assert (report.status, report.stop_reason) == ("stopped", StopReason.AUTH)
    assert report.message == "told to stop: auth"
    assert sum(judge.calls.values()) == 1
    assert (report.n_scored, report.n_unscored, report.n_left) == (0, 0, 204)
    assert (await shop.run(ScriptedJudge())).n_scored == 204


async def test_quota_in_the_middle_leaves_the_rest_pending(shop: Shop) -> None:
    """What was graded stays, what was in flight is tried again."""
    shop.add_answers(30)
    replies = iter([4.0] * 10 + [StopReason.QUOTA] * 100)
    report = await shop.run(ScriptedJudge(lambda _: next(replies)), concurrency=4)
    assert (report.status, report.stop_reason, report.n_scored) == ("stopped", StopReason.QUOTA, 10)
    assert report.n_calls <= 14
    assert_adds_up(report, shop.runs()[0])
    assert (await shop.run(ScriptedJudge())).n_left == 0


@pytest.mark.parametrize("reason", [UnscoredReason.CONNECTION, TIMEOUT, UnscoredReason.SERVER_ERROR])
async def test_judge_that_is_down_ends_the_run_after_few_items(shop: Shop, reason: UnscoredReason) -> None:
    """Ten items in a row without an answer are enough; the rest is not tried in vain."""
    shop.add_answers(200)
    judge = ScriptedJudge(lambda _: reason)
    report = await shop.run(judge, concurrency=8)
    assert (report.status, report.stop_reason) == ("failed", StopReason.UNREACHABLE)
    assert "did not answer 10 items in a row" in report.message
    assert "check judge.base_url and whether the server is up" in report.message
    assert sum(judge.calls.values()) <= runner.UNREACHABLE_AFTER + 8
    assert report.n_scored == 0


async def test_server_that_only_says_slower_ends_the_run(shop: Shop) -> None:
    """It answers, but grades nothing: the message names the setting for it."""
    shop.add_answers(200)
    report = await shop.run(ScriptedJudge(lambda _: UnscoredReason.RATE_LIMITED), concurrency=4)
    assert report.stop_reason is StopReason.RATE_LIMITED
    assert "set judge.calls_per_minute" in report.message
    assert report.n_left > 150


async def test_answers_between_failures_keep_a_run_going(shop: Shop) -> None:
    """Nine failures, a score, nine failures: the judge is there."""
    shop.add_answers(56)
    replies = iter(([TIMEOUT] * 9 + [4.0]) * 6)
    report = await shop.run(ScriptedJudge(lambda _: next(replies)), concurrency=1)
    assert (report.stop_reason, report.n_left) == (None, 0)


async def test_mostly_failed_run_enters_no_mean(shop: Shop) -> None:
    """Its message says how many failed, and of what; a run with half of its scores is one."""
    for failures, status in ((3, "failed"), (2, "finished")):
        replies = iter([REFUSAL] * failures + [4.0] * 4)
        report = await shop.run(ScriptedJudge(lambda _, r=replies: next(r)), days=failures, concurrency=1)
        assert report.status == status
    assert "3 of 4 verdicts have no score (mostly refusal); the run enters no mean" in shop.runs()[0]["message"]


async def test_failed_run_taken_up_again_counts_what_it_failed_of(shop: Shop) -> None:
    """Refusals are not tried again; a later start finds nothing to do and says the same."""
    judge = ScriptedJudge(lambda _: REFUSAL)
    first = await shop.run(judge)
    again = await shop.run(judge)
    assert (first.status, again.status, again.n_calls) == ("failed", "failed", 0)
    assert again.message == first.message
    assert again.reasons == {"refusal": 4}


async def test_defect_of_a_judge_ends_the_run_with_everything_so_far(shop: Shop) -> None:
    """An error that no judge should raise is raised; what was graded before is kept, and the run can go on."""
    shop.add_answers(10)
    script = by_output({"Answer 7.": ZeroDivisionError("defect")})
    with pytest.raises(ZeroDivisionError):
        await shop.run(ScriptedJudge(script), concurrency=1)
    assert 0 < len(shop.query("SELECT 1 FROM verdicts")) < 14
    assert (await shop.run(ScriptedJudge())).n_left == 0


# ---------------------------------------------------------------- the budget


async def test_budget_ends_the_run_and_the_next_day_samples_anew(shop: Shop) -> None:
    """A used-up budget is a lower rate: what was graded of the day is its sample, with a chance as small as that."""
    shop.add_answers(100)
    first = await shop.run(ScriptedJudge(), limits=Limits(calls_per_day=54), traffic=TrafficConfig(answers_per_day=80))
    assert (first.status, first.stop_reason, first.n_calls) == ("stopped", StopReason.BUDGET, 54)
    assert "the day's budget of 54 calls is used up" in first.message
    await shop.run(ScriptedJudge(), days=1)
    assert shop.runs()[1]["status"] == "closed"
    chances = shop.query(
        "SELECT DISTINCT inclusion_probability AS p FROM planned_items WHERE source = 'traffic' AND run_id = ?",
        shop.runs()[1]["run_id"],
    )
    assert chances == [{"p": pytest.approx(0.5)}]
    assert shop.query("SELECT sum_w FROM daily_scores WHERE source = 'traffic'") == [{"sum_w": pytest.approx(100.0)}]


async def test_stopped_run_goes_on_within_its_slot(shop: Shop) -> None:
    """More budget on the same slot: the same plan, no second sample."""
    shop.add_answers(40)
    first = await shop.run(ScriptedJudge(), limits=Limits(calls_per_day=20))
    second = await shop.run(ScriptedJudge(), limits=Limits(calls_per_day=100))
    assert (first.n_left, second.n_left, second.status) == (24, 0, "finished")


async def test_dollars_are_never_exceeded(shop: Shop) -> None:
    """With many calls in flight."""
    shop.add_answers(100)
    judge = ScriptedJudge(cost_usd=0.011, delay_s=0.001)
    report = await shop.run(judge, limits=Limits(usd_per_day=0.5), concurrency=32)
    assert report.stop_reason is StopReason.BUDGET
    assert 0.5 - 0.011 < report.spent_usd <= 0.5
    assert shop.query("SELECT taken_usd FROM budget_days") == [{"taken_usd": pytest.approx(report.spent_usd)}]


# ---------------------------------------------------------------- what changes under a run


async def test_answer_deleted_before_its_turn_is_passed_over(shop: Shop) -> None:
    """The run goes on; the answer counts as not started."""
    ids = shop.add_answers(6)
    stop = asyncio.Event()
    stop.set()
    await shop.run(ScriptedJudge(), stop=stop)
    with open_store(shop.path) as store, store.transaction() as connection:
        connection.execute("DELETE FROM items WHERE item_id IN (?, ?)", (ids[0], ids[4]))
    report = await shop.run(ScriptedJudge())
    assert (report.status, report.n_scored, report.n_left) == ("finished", 8, 2)
    assert_adds_up(report, shop.runs()[0])


async def test_anchor_set_may_grow_and_shrink_between_runs(shop: Shop) -> None:
    """Each run grades its own set, and each anchor keeps its line."""
    for days, number in enumerate((4, 6, 2)):
        shop.anchors = [anchor(n) for n in range(number)]
        assert (await shop.run(ScriptedJudge(), days=days)).n_anchors == number
    counts = shop.query("SELECT count(*) AS n FROM verdicts GROUP BY item_id ORDER BY n DESC")
    assert [row["n"] for row in counts] == [3, 3, 2, 2, 1, 1]


async def test_anchor_set_that_changed_within_a_slot_waits_for_the_next(shop: Shop) -> None:
    """A run that was cut off goes on with the plan it has."""
    stop = asyncio.Event()
    stop.set()
    await shop.run(ScriptedJudge(), stop=stop)
    shop.anchors = [anchor(n) for n in range(9)]
    assert (await shop.run(ScriptedJudge())).n_scored == 4
    assert (await shop.run(ScriptedJudge(), days=1)).n_scored == 9


async def test_clock_that_jumps_back_during_a_run_does_no_harm(shop: Shop) -> None:
    """Two days back: the run goes on, no day's budget is exceeded, times are as the clock told them."""
    shop.add_answers(20)
    clock = SetClock()

    def jump(progress: Any) -> None:
        if progress.n_done == 10:
            clock.instant -= 2 * ONE_DAY

    report = await shop.run(
        ScriptedJudge(), clock=clock, on_progress=jump, limits=Limits(calls_per_day=14), concurrency=1
    )
    assert (report.status, report.n_scored) == ("finished", 24)
    taken = {row["day"]: row["taken_calls"] for row in shop.query("SELECT * FROM budget_days")}
    assert set(taken) == {"2026-02-26", "2026-02-28"}
    assert max(taken.values()) <= 14


async def test_runs_of_different_slots_do_not_mix(shop: Shop) -> None:
    """A slot of the past graded later has anchors of its own and leaves the newer run alone."""
    await shop.run(ScriptedJudge(lambda _: 2.0), days=3)
    await shop.run(ScriptedJudge(lambda _: 5.0), days=0)
    assert [(run["slot_day"], run["status"]) for run in shop.runs()] == [
        ("2026-03-03", "finished"),
        ("2026-02-28", "finished"),
    ]
    means = shop.query("SELECT day, sum_wy / sum_w AS mean FROM daily_scores WHERE source = 'anchor' ORDER BY day")
    assert [row["mean"] for row in means] == [5.0, 2.0]


async def test_slot_belongs_to_the_day_of_the_zone(shop: Shop) -> None:
    """06:00 UTC is still yesterday in Honolulu, whose today has not ended."""
    shop.path.unlink()
    shop.zone = "Pacific/Honolulu"
    shop.add_items([answer(1, day="2026-02-26"), answer(2, day="2026-02-27")])
    report = await shop.run(ScriptedJudge())
    assert shop.runs()[0]["slot_day"] == "2026-02-27"
    assert report.n_traffic == 1


async def test_texts_reach_the_judge_as_they_were_imported(shop: Shop) -> None:
    """Contexts and reference included; tags never do."""
    item = replace(
        answer(1), reference="r", contexts=("c1", "c2"), tags={"secret": "x"}, conversation_id="k", model="m"
    )
    shop.add_items([item])
    seen: list[Item] = []
    await shop.run(ScriptedJudge(lambda found: (seen.append(found), 4.0)[1]), kind="traffic")
    assert seen == [replace(item, tags={})]


async def test_other_setup_grades_the_same_answers_anew(shop: Shop) -> None:
    """A second judge takes the same sample; neither touches the other's verdicts."""
    shop.add_answers(50)
    rate = TrafficConfig(answers_per_day=10)
    judges = [ScriptedJudge(ruler=ruler(model=name)) for name in ("a", "b")]
    for judge in judges:
        await shop.run(judge, traffic=rate, kind="traffic")
    assert set(judges[0].calls) == set(judges[1].calls)
    assert len(shop.query("SELECT 1 FROM verdicts")) == 20


# ---------------------------------------------------------------- replies that hold no score


@pytest.mark.parametrize("reason", [UnscoredReason.UNPARSED, UnscoredReason.OUT_OF_RANGE, UnscoredReason.MISSING])
async def test_judge_that_never_gives_a_usable_score_ends_the_run(shop: Shop, reason: UnscoredReason) -> None:
    """Prose, or scores of another scale: nobody pays for a whole run of those."""
    shop.add_answers(200)
    judge = ScriptedJudge(lambda _: reason)
    report = await shop.run(judge, concurrency=8)
    assert (report.status, report.stop_reason) == ("failed", StopReason.UNREADABLE)
    assert str(reason) in report.message
    assert sum(judge.calls.values()) <= runner.UNREADABLE_AFTER + 8


async def test_one_usable_score_keeps_the_run_going(shop: Shop) -> None:
    """A judge that can be read now and then is tried on everything."""
    shop.add_answers(56)
    replies = iter([4.0] + [UnscoredReason.UNPARSED] * 59)
    report = await shop.run(ScriptedJudge(lambda _: next(replies)), concurrency=1)
    assert (report.stop_reason, report.n_left) == (None, 0)
