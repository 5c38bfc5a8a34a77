"""Runs: the plan, what came of it, and the numbers that add up in every ending."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.clock import utc_text
from evaluator.records import Source, StopReason, UnscoredReason
from evaluator.store import read, write
from evaluator.store.db import Store
from tests.builders import CRITERION, Score, ruler, scored
from tests.store.helpers import (
    APP,
    DAY,
    NOW,
    answer,
    begin,
    finish,
    grade,
    ids_of,
    import_items,
    one,
    plan_of,
    rows,
)

TIMEOUT, REFUSAL = UnscoredReason.TIMEOUT, UnscoredReason.REFUSAL
ITEMS = [answer(number) for number in range(6)]
IDS = ids_of(ITEMS)


@pytest.fixture
def plan(store: Store) -> write.RunPlan:
    """Two anchors and six answers, begun."""
    import_items(store, ITEMS)
    plan = plan_of(IDS, anchors=["x", "y"], sampled={DAY: (60, 6)})
    begin(store, plan)
    return plan


def the_run(store: Store) -> dict[str, object]:
    """The newest run, as pages see it."""
    return read.runs(store, APP)[0]


def test_plan_is_written_before_the_first_call(store: Store, plan: write.RunPlan) -> None:
    """Order, source and probability of each item, and the days it samples."""
    left = list(read.run_left(store, plan.run_id))
    assert [row["item_id"] for row in left] == ["x", "y", *IDS]
    assert [row["source"] for row in left] == ["anchor"] * 2 + ["traffic"] * 6
    assert read.sampled_days(store, APP, plan.ruler_id) == {
        DAY: {"answered_day": DAY, "run_id": plan.run_id, "n_answers": 60, "n_planned": 6}
    }
    run = the_run(store)
    assert (run["status"], run["n_anchors"], run["n_traffic"], run["n_not_started"]) == ("running", 2, 6, 8)


def test_plan_goes_in_whole_or_not_at_all(store: Store, plan: write.RunPlan) -> None:
    """A second plan for a day that is sampled already is refused with all it brings."""
    other = plan_of(["z"], slot_day="2026-03-05", sampled={DAY: (60, 1)})
    with pytest.raises(Exception, match=r"UNIQUE constraint failed: sampled_days"):
        begin(store, other)
    assert read.run_at(store, APP, other.ruler_id, other.slot_utc) is None
    assert list(read.run_left(store, other.run_id)) == []


@pytest.mark.parametrize("probability", [0.0, -0.1, 1.01])
def test_impossible_probability_is_refused(store: Store, probability: float) -> None:
    """Every answer in a plan had a chance to be in it."""
    with pytest.raises(Exception, match=r"CHECK constraint failed"):
        begin(store, plan_of({IDS[0]: probability}))


@pytest.mark.parametrize("status", ["running", "finished", "stopped", "failed", "closed"])
@pytest.mark.parametrize(
    "scores",
    [{}, {IDS[0]: 4, IDS[1]: TIMEOUT}, dict.fromkeys(IDS, 3), dict.fromkeys(IDS, REFUSAL), {IDS[5]: TIMEOUT}],
    ids=["none", "some", "all", "refused", "last"],
)
def test_planned_is_scored_and_unscored_and_not_started(
    store: Store, plan: write.RunPlan, status: str, scores: dict[str, Score]
) -> None:
    """In every ending, and while the run goes on."""
    grade(store, plan, {"x": 4}, anchors=True)
    if scores:
        grade(store, plan, scores)
    if status != "running":
        finish(store, plan, status=status)
    run = read.runs(store, APP)[0]
    n_scored = sum(not isinstance(score, UnscoredReason) for score in scores.values())
    assert (run["n_scored_anchor"], run["n_unscored_anchor"]) == (1, 0)
    assert (run["n_scored_traffic"], run["n_unscored_traffic"]) == (n_scored, len(scores) - n_scored)
    assert run["n_not_started"] == 8 - 1 - len(scores)
    assert sum(run["reasons"].values()) == len(scores) - n_scored


def test_calls_tokens_and_money_are_those_of_all_calls(store: Store, plan: write.RunPlan) -> None:
    """Retries within the run and calls without a verdict included."""
    outcome = scored(4)
    pending = write.GradedItem(
        item_id=IDS[0],
        source=Source.TRAFFIC,
        outcome=type(outcome)(verdict=None, attempts=outcome.attempts * 3),
        graded_utc=utc_text(NOW),
    )
    write.save_outcomes(store, plan, CRITERION, [pending])
    grade(store, plan, {IDS[1]: 4})
    finish(store, plan, status="stopped")
    run = the_run(store)
    assert (run["n_calls"], run["prompt_tokens"], run["completion_tokens"]) == (4, 4 * 610, 4 * 74)
    assert run["cost_usd"] == pytest.approx(4 * 0.0011)


def test_later_retry_leaves_the_numbers_of_the_first_run(store: Store, plan: write.RunPlan) -> None:
    """What failed in a run and was graded by a later one was tried there: it is unscored, not "not started"."""
    grade(store, plan, {**dict.fromkeys(IDS[:5], 3), IDS[5]: TIMEOUT})
    finish(store, plan)
    later = plan_of([IDS[5]], slot_day="2026-03-01")
    begin(store, later)
    grade(store, later, {IDS[5]: 4})
    finish(store, later)
    second, first = read.runs(store, APP)
    assert (first["n_scored_traffic"], first["n_unscored_traffic"], first["n_not_started"]) == (5, 1, 2)
    assert (second["n_scored_traffic"], second["n_unscored_traffic"], second["n_not_started"]) == (1, 0, 0)
    assert read.counts(store, APP)["n_scored"] == 6
    assert read.counts(store, APP)["n_verdicts"] == 6


def test_end_keeps_status_cause_and_time(store: Store, plan: write.RunPlan) -> None:
    """A page can say how and why a run ended."""
    write.finish_run(store, plan.run_id, status="stopped", stop_reason=StopReason.BUDGET, message="spent", now=NOW)
    run = the_run(store)
    assert (run["status"], run["stop_reason"], run["message"], run["finished_utc"]) == (
        "stopped",
        "budget",
        "spent",
        "2026-03-01T06:00:00.000Z",
    )


@pytest.mark.parametrize(
    ("status", "after"),
    [
        ("stopped", "running"),
        ("failed", "running"),
        ("running", "running"),
        ("finished", "finished"),
        ("closed", "closed"),
    ],
)
def test_only_runs_that_are_not_over_are_opened_again(
    store: Store, plan: write.RunPlan, status: str, after: str
) -> None:
    """A finished run stays finished, a closed one closed."""
    finish(store, plan, status=status, stop=StopReason.AUTH)
    write.reopen_run(store, plan.run_id)
    run = the_run(store)
    assert run["status"] == after
    assert (run["stop_reason"] is None) == (after == "running")


def test_run_cut_off_for_good_keeps_its_cause_and_end(store: Store, plan: write.RunPlan) -> None:
    """What was noted when it stopped is not written over by the run that closes it."""
    finish(store, plan, status="stopped", stop=StopReason.QUOTA)
    write.close_abandoned_run(
        store,
        plan.run_id,
        status="closed",
        stop_reason=StopReason.INTERRUPTED,
        message="closed",
        now=NOW.replace(year=2027),
    )
    run = the_run(store)
    assert (run["status"], run["stop_reason"], run["finished_utc"]) == ("closed", "quota", "2026-03-01T06:00:00.000Z")


def test_open_runs_are_those_of_earlier_slots_that_did_not_end(store: Store) -> None:
    """Also one that failed with answers it never came to; not those that ended, nor those of later slots."""
    import_items(store, ITEMS)
    states = {"finished": 1, "stopped": 2, "running": 3, "failed": 4, "closed": 5, "later": 9}
    for (status, day), item_id in zip(states.items(), IDS, strict=True):
        plan = plan_of([item_id], slot_day=f"2026-03-0{day}")
        begin(store, plan)
        if status not in ("running", "later"):
            finish(store, plan, status=status)
    found = read.open_runs(store, APP, before_slot_utc="2026-03-08T00:00:00.000Z")
    assert [row["status"] for row in found] == ["stopped", "running", "failed"]


def test_failed_run_that_tried_everything_is_not_open(store: Store, plan: write.RunPlan) -> None:
    """Its sample is complete; what failed is tried again as such."""
    grade(store, plan, dict.fromkeys(IDS, TIMEOUT))
    finish(store, plan, status="failed")
    assert read.open_runs(store, APP, before_slot_utc="2027") == []


def test_slot_of_a_setup_has_one_run(store: Store, plan: write.RunPlan) -> None:
    """Two runs of one slot cannot be begun; another setup has its own."""
    with pytest.raises(Exception, match=r"UNIQUE constraint failed: runs"):
        write.begin_run(store, plan_of(["z"]), now=NOW)
    use = ruler(model="other")
    begin(store, plan_of(["z"], use=use), use=use)
    assert len(read.run_slots(store, APP)) == 2


def test_runs_are_listed_newest_first_and_at_most_so_many(store: Store) -> None:
    """A page asks for as many as it shows."""
    for day in range(1, 6):
        plan = plan_of(slot_day=f"2026-03-0{day}")
        begin(store, plan)
        finish(store, plan)
    assert [run["slot_day"] for run in read.runs(store, APP, most=2)] == ["2026-03-05", "2026-03-04"]


def test_listing_runs_reads_no_verdicts_and_no_calls(store: Store, plan: write.RunPlan) -> None:
    """What a run came to is kept with it: the list costs the same after millions of verdicts."""
    grade(store, plan, dict.fromkeys(IDS, 4))
    finish(store, plan)
    before = read.runs(store, APP)
    with store.transaction() as connection:
        connection.execute("DELETE FROM verdicts")
        connection.execute("DELETE FROM attempts")
    assert read.runs(store, APP) == before


# ---------------------------------------------------------------- what answered


def _run_answered_by(store: Store, day: str, *models: str) -> write.RunPlan:
    plan = plan_of(IDS[: len(models)], slot_day=day)
    begin(store, plan)
    graded = [
        write.GradedItem(
            item_id=f"{day}{place}", source=Source.ANCHOR, outcome=scored(4, model=model), graded_utc=utc_text(NOW)
        )
        for place, model in enumerate(models)
    ]
    write.save_outcomes(store, plan, CRITERION, graded)
    finish(store, plan)
    return plan


def test_instruments_of_a_run_commonest_first(store: Store) -> None:
    """A run during which the model changed has two."""
    plan = _run_answered_by(store, "2026-03-01", "old", "new", "new")
    assert [(row["resolved_model"], row["n"]) for row in read.instruments_of_run(store, plan.run_id)] == [
        ("new", 2),
        ("old", 1),
    ]


def test_instrument_before_is_that_of_the_last_run_in_which_anything_answered(store: Store) -> None:
    """Runs without an answer between are passed over; later runs and the run itself are not before it."""
    _run_answered_by(store, "2026-03-01", "first")
    _run_answered_by(store, "2026-03-02", "second")
    _run_answered_by(store, "2026-03-03")
    third = _run_answered_by(store, "2026-03-04", "third")
    _run_answered_by(store, "2026-03-05", "fourth")
    found = read.instrument_before(store, app=APP, ruler_id=third.ruler_id, slot_utc=third.slot_utc)
    assert found is not None
    assert found["resolved_model"] == "second"
    assert read.instrument_before(store, app=APP, ruler_id=third.ruler_id, slot_utc="2026-03-01") is None


def test_unfinished_counts_are_seen_by_a_reader(path: Path, store: Store, plan: write.RunPlan) -> None:
    """A page shows a run that goes on as it goes on."""
    grade(store, plan, {IDS[0]: 4})
    counts = read.run_counts(store, plan.run_id)
    assert (counts["n_anchors"], counts["n_traffic"], counts["n_scored"], counts["n_unscored"]) == (2, 6, 1, 0)
    assert read.counts(store, APP)["n_scored"] == 1
    assert one(store, "SELECT n_scored_traffic FROM runs") == 0
    assert rows(store, "SELECT status FROM runs") == [{"status": "running"}]
