"""What a run plans: looked at without a trace, written before the first call, and what cut-off runs leave behind."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from evaluator.config import TrafficConfig
from evaluator.errors import UsageError
from evaluator.records import Item, StopReason, UnscoredReason
from evaluator.scoring.budget import Limits
from evaluator.scoring.plan import check_kind, preview_run
from evaluator.store.db import open_store
from tests.builders import ruler
from tests.scoring.helpers import ScriptedJudge, Shop, by_output
from tests.store.helpers import anchor

TIMEOUT, REFUSAL = UnscoredReason.TIMEOUT, UnscoredReason.REFUSAL
TEN = TrafficConfig(answers_per_day=10)


def stopped() -> asyncio.Event:
    """A signal that ends a run before its first item."""
    stop = asyncio.Event()
    stop.set()
    return stop


# ---------------------------------------------------------------- looking ahead


async def test_preview_tells_what_the_run_then_does(shop: Shop) -> None:
    """Items, days and the most it can cost; no plan is written, no call is made."""
    for day in ("2026-02-25", "2026-02-27"):
        shop.add_answers(30, day=day)
    judge = ScriptedJudge(cost_usd=0.5)
    preview = preview_run(shop.settings(traffic=TEN), judge)
    assert (preview.n_anchors, preview.n_traffic, preview.n_days, preview.most_usd) == (4, 20, 2, 12.0)
    assert not preview.already_finished
    assert (shop.runs(), judge.calls) == ([], {})
    report = await shop.run(judge, traffic=TEN)
    assert (report.n_anchors, report.n_traffic, report.spent_usd) == (4, 20, 12.0)


async def test_preview_of_a_run_that_was_cut_off_tells_the_rest(shop: Shop) -> None:
    """And of one that is over, that there is nothing to do."""
    shop.add_answers(10)
    judge = ScriptedJudge(by_output({"Anchor answer 1.": REFUSAL, "Anchor answer 2.": TIMEOUT}), cost_usd=1.0)
    await shop.run(judge, limits=Limits(calls_per_day=9), concurrency=1)
    preview = preview_run(shop.settings(), judge)
    assert (preview.n_anchors, preview.n_traffic, preview.most_usd) == (1, 5, 6.0)
    await shop.run(ScriptedJudge())
    over = preview_run(shop.settings(), judge)
    assert (over.n_anchors, over.n_traffic, over.most_usd, over.already_finished) == (0, 0, 0, True)


@pytest.mark.parametrize(("kind", "expected"), [("anchors", (4, 0)), ("traffic", (0, 30)), ("all", (4, 30))])
def test_preview_knows_the_kind(shop: Shop, kind: str, expected: tuple[int, int]) -> None:
    """Only what that kind grades."""
    shop.add_answers(30)
    preview = preview_run(shop.settings(kind=kind), ScriptedJudge())
    assert (preview.n_anchors, preview.n_traffic) == expected


def test_answers_before_the_window_are_told(shop: Shop) -> None:
    """So that nobody wonders where they are."""
    shop.add_answers(7, day="2025-12-01")
    shop.add_answers(3)
    preview = preview_run(shop.settings(), ScriptedJudge())
    assert (preview.n_traffic, preview.n_older_answers) == (3, 7)
    assert preview_run(shop.settings(since="2025-12-01"), ScriptedJudge()).n_traffic == 10


@pytest.mark.parametrize("kind", ["All", "", "anchor"])
def test_unknown_kind_is_refused(kind: str) -> None:
    """With the known ones."""
    with pytest.raises(UsageError, match=r"use all, anchors or traffic"):
        check_kind(kind)


async def test_run_of_an_unknown_kind_is_refused_before_anything_is_written(shop: Shop) -> None:
    """The message names the kinds; neither a run nor a plan is left behind."""
    with pytest.raises(UsageError, match=r"unknown kind of run 'anchor'"):
        await shop.run(ScriptedJudge(), kind="anchor")
    with pytest.raises(UsageError, match=r"unknown kind of run 'anchor'"):
        preview_run(shop.settings(kind="anchor"), ScriptedJudge())
    with open_store(shop.path) as store:
        assert store.connection.execute("SELECT count(*) FROM runs").fetchone()[0] == 0


# ---------------------------------------------------------------- the plan


async def test_anchors_come_first_then_answers_in_the_order_of_the_hash(shop: Shop) -> None:
    """A run that is cut off has its anchors, without which its answers could not be corrected."""
    ids = shop.add_answers(30)
    seen: list[Item] = []
    await shop.run(ScriptedJudge(lambda item: (seen.append(item), 4.0)[1]), concurrency=1)
    assert [item.output for item in seen[:4]] == [each.item.output for each in shop.anchors]
    rows = shop.query("SELECT item_id FROM planned_items WHERE source = 'traffic' ORDER BY position")
    keys = {row["item_id"]: row["sample_key"] for row in shop.query("SELECT item_id, sample_key FROM items")}
    assert [row["item_id"] for row in rows] == sorted(ids, key=lambda item_id: keys[item_id])


async def test_segment_keys_are_chosen_before_the_first_score(shop: Shop) -> None:
    """As configured, or the commonest."""
    shop.add_answers(3, tags={"topic": "a", "lang": "x"})
    shop.add_answers(3, day="2026-02-26", tags={"topic": "b", "lang": "x"})
    await shop.run(ScriptedJudge(), segment_keys=None)
    assert shop.query("SELECT key, key2 FROM segment_keys") == [{"key": "topic", "key2": ""}]
    await shop.run(ScriptedJudge(), days=1, segment_keys=[("lang", ""), ("lang", "topic")])
    assert len(shop.query("SELECT * FROM segment_keys")) == 2


# ---------------------------------------------------------------- what cut-off runs leave


async def test_interrupted_run_is_closed_by_the_next_slot(shop: Shop) -> None:
    """What it graded counts, what it did not start is counted, and its answers are not graded twice."""
    shop.add_answers(40)
    stop = asyncio.Event()
    await shop.run(
        ScriptedJudge(), stop=stop, on_progress=lambda p: stop.set() if p.n_done == 24 else None, concurrency=1
    )
    judge = ScriptedJudge()
    await shop.run(judge, days=1)
    closed = shop.runs()[1]
    assert (closed["status"], closed["stop_reason"]) == ("closed", "interrupted")
    assert (closed["n_scored_anchor"], closed["n_scored_traffic"], closed["n_not_started"]) == (4, 20, 20)
    assert judge.calls.total() == 4


async def test_killed_run_is_closed_by_the_next_slot_as_interrupted(shop: Shop) -> None:
    """It could not note its own end."""
    with pytest.raises(ZeroDivisionError):
        await shop.run(ScriptedJudge(by_output({"Anchor answer 3.": ZeroDivisionError()})), concurrency=1)
    assert shop.runs()[0]["status"] == "running"
    await shop.run(ScriptedJudge(), days=1)
    closed = shop.runs()[1]
    assert (closed["status"], closed["stop_reason"]) == ("closed", "interrupted")
    assert closed["message"] == "cut off, and not taken up again before the next scheduled run"
    assert closed["finished_utc"] is not None


@pytest.mark.parametrize("script", [TIMEOUT, StopReason.AUTH])
async def test_run_cut_off_without_scores_is_closed_as_failed(shop: Shop, script: Any) -> None:
    """It enters no mean, and keeps the cause it stopped for."""
    stop = asyncio.Event()
    await shop.run(
        ScriptedJudge(lambda _: script),
        stop=stop,
        on_progress=lambda p: stop.set() if p.n_done else None,
        concurrency=1,
    )
    await shop.run(ScriptedJudge(), days=1)
    closed = shop.runs()[1]
    assert closed["status"] == "failed"
    assert closed["stop_reason"] == ("auth" if script is StopReason.AUTH else "interrupted")


@pytest.mark.parametrize(("n_failed", "status"), [(1, "closed"), (2, "failed")])
async def test_run_cut_off_mostly_without_scores_is_closed_as_failed(shop: Shop, n_failed: int, status: str) -> None:
    """Of three anchors that were tried one survived an outage: by itself it would pass for a change."""
    failed = {f"Anchor answer {n}.": TIMEOUT for n in range(n_failed)}
    script = by_output({**failed, "Anchor answer 3.": ZeroDivisionError("killed")})
    with pytest.raises(ZeroDivisionError):
        await shop.run(ScriptedJudge(script), concurrency=1)
    await shop.run(ScriptedJudge(), days=1)
    assert shop.runs()[1]["status"] == status


async def test_outage_costs_no_day_its_answers(shop: Shop) -> None:
    """The judge was down at the scheduled time: the next run draws the day again, all of it, with the same chances."""
    shop.add_answers(60)
    rate = TrafficConfig(answers_per_day=30)
    first = await shop.run(ScriptedJudge(lambda _: UnscoredReason.CONNECTION), traffic=rate, concurrency=1)
    assert (first.stop_reason, first.n_left) == (StopReason.UNREACHABLE, 24)
    second = await shop.run(ScriptedJudge(), days=1, traffic=rate)
    assert (second.n_traffic, second.n_scored) == (30, 34)
    assert len(shop.scores()) == 30
    chances = shop.query(
        "SELECT DISTINCT p.inclusion_probability AS p FROM verdicts v JOIN planned_items p USING (run_id, item_id)"
        " WHERE v.slot_utc = ''"
    )
    assert chances == [{"p": 0.5}]
    assert shop.runs()[1]["status"] == "failed"
    assert shop.runs()[1]["message"] == first.message


async def test_wrong_key_costs_no_day_its_answers(shop: Shop) -> None:
    """Not one call was answered; the next slot grades the day as if nothing had been."""
    shop.add_answers(20)
    await shop.run(ScriptedJudge(lambda _: StopReason.AUTH))
    report = await shop.run(ScriptedJudge(), days=1)
    assert (report.n_traffic, report.n_scored) == (20, 24)


async def test_closed_slot_is_not_opened_again(shop: Shop) -> None:
    """Its sample has ended; grading the rest now would give answers the wrong weight."""
    shop.add_answers(30)
    await shop.run(ScriptedJudge(), limits=Limits(calls_per_day=20))
    await shop.run(ScriptedJudge(), days=1)
    judge = ScriptedJudge()
    report = await shop.run(judge)
    assert (report.already_finished, report.status, judge.calls.total()) == (True, "closed", 0)
    assert preview_run(shop.settings(), judge).already_finished


async def test_slot_of_the_past_leaves_a_newer_run_open(shop: Shop) -> None:
    """Filling in a missed day must not end today's run, which may go on tomorrow."""
    shop.add_answers(10)
    await shop.run(ScriptedJudge(), days=3, stop=stopped())
    await shop.run(ScriptedJudge(), days=0, kind="anchors")
    assert [run["status"] for run in shop.runs()] == ["stopped", "finished"]
    assert (await shop.run(ScriptedJudge(), days=3)).n_scored == 14


async def test_what_failed_is_tried_again_in_three_runs_at_most(shop: Shop) -> None:
    """Then it stays unscored; every try is on record."""
    shop.add_answers(5)
    judge = ScriptedJudge(by_output({"Answer 2.": TIMEOUT, "Answer 3.": REFUSAL}))
    for days in range(5):
        await shop.run(judge, days=days)
    tries = shop.query("SELECT count(*) AS n, reason FROM attempts WHERE reason IS NOT NULL GROUP BY reason ORDER BY n")
    assert tries == [{"n": 1, "reason": "refusal"}, {"n": 3, "reason": "timeout"}]


# ---------------------------------------------------------------- what is marked


async def test_first_setup_is_no_change(shop: Shop) -> None:
    """There was nothing before it."""
    await shop.run(ScriptedJudge())
    assert shop.events() == []


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"model_asked": "other"}, "judge setup v2: model changed"),
        ({"prompt_template": "Other: {{output}}"}, "judge setup v2: prompt changed"),
        ({"parameters": {"temperature": 1}}, "judge setup v2: parameters changed"),
        ({"output_mode": "text", "model_asked": "other"}, "judge setup v2: model and parameters changed"),
        ({"rubric": replace(ruler().rubric, question="?")}, "judge setup v2: rubric changed"),
    ],
)
async def test_changed_setup_is_marked_on_its_day(shop: Shop, change: dict[str, Any], text: str) -> None:
    """What changed, in words; its runs are a series of their own."""
    await shop.run(ScriptedJudge())
    await shop.run(ScriptedJudge(ruler=replace(ruler(), **change)), days=1)
    assert shop.events() == [("setup", "2026-03-01", text)]
    assert [run["setup"] for run in shop.runs()] == [2, 1]


async def test_another_model_that_answers_is_marked(shop: Shop) -> None:
    """Same model asked, another one returned: an event of that run, once, however often it is closed."""
    shop.add_answers(4)
    await shop.run(ScriptedJudge(model="judge-2025-11"))
    await shop.run(ScriptedJudge(model="judge-2026-02"), days=1, limits=Limits(calls_per_day=2))
    await shop.run(ScriptedJudge(model="judge-2026-02"), days=1)
    await shop.run(ScriptedJudge(model="judge-2026-02"), days=2)
    assert shop.events() == [
        ("instrument", "2026-03-01", "what answers changed: returned model judge-2025-11 → judge-2026-02")
    ]


async def test_run_in_which_nothing_answered_hides_no_change(shop: Shop) -> None:
    """An outage between the old and the new model."""
    await shop.run(ScriptedJudge(model="old"))
    await shop.run(ScriptedJudge(lambda _: TIMEOUT), days=1)
    await shop.run(ScriptedJudge(model="new"), days=2)
    assert [(kind, day) for kind, day, _ in shop.events()] == [("instrument", "2026-03-02")]


async def test_anchor_set_name_is_no_part_of_the_series(shop: Shop) -> None:
    """A renamed set with the same anchors goes on with the same items."""
    await shop.run(ScriptedJudge())
    shop.anchors = [anchor(n) for n in range(4)]
    await shop.run(ScriptedJudge(), days=1, anchor_set_name="renamed")
    assert {row["n"] for row in shop.query("SELECT count(*) AS n FROM verdicts GROUP BY item_id")} == {2}
