"""Runs that stand aside: answers named one by one are graded, kept under the run's slot, and enter no mean."""

from __future__ import annotations

from datetime import timedelta

from evaluator.records import Purpose, StopReason
from evaluator.store import read
from evaluator.store.db import open_store
from tests.scoring.helpers import SLOT, ScriptedJudge, Shop

ASIDE_SLOT = SLOT + timedelta(hours=3)


async def test_run_aside_grades_again_and_changes_no_mean(shop: Shop) -> None:
    """The answers it names get a second verdict; their first one, and every total, stay as they were."""
    ids = shop.add_answers(6)
    await shop.run(ScriptedJudge(lambda _: 4.0))
    totals = shop.query("SELECT * FROM daily_scores ORDER BY day, source")
    report = await shop.run(
        ScriptedJudge(lambda _: 2.0), slot=ASIDE_SLOT, purpose=Purpose.RECHECK, item_ids=sorted(ids)[:3]
    )
    assert (report.status, report.n_anchors, report.n_traffic, report.n_scored) == ("finished", 0, 3, 3)
    assert shop.query("SELECT * FROM daily_scores ORDER BY day, source") == totals
    aside = shop.query("SELECT item_id, score FROM verdicts WHERE score = 2 ORDER BY item_id")
    assert [row["item_id"] for row in aside] == sorted(ids)[:3]


async def test_next_scheduled_run_leaves_a_cut_off_run_aside_alone(shop: Shop) -> None:
    """It is not closed by a scheduled run, and goes on with what is left when it is started again."""
    ids = sorted(shop.add_answers(4))
    settings = {"slot": ASIDE_SLOT, "purpose": Purpose.RECHECK, "item_ids": ids}
    stopped = await shop.run(ScriptedJudge(lambda _: StopReason.QUOTA), **settings)
    assert (stopped.status, stopped.n_left) == ("stopped", 4)
    await shop.run(ScriptedJudge(), slot=SLOT + timedelta(days=1))
    again = await shop.run(ScriptedJudge(), **settings)
    assert (again.status, again.n_scored, again.n_left) == ("finished", 4, 0)


async def test_run_aside_is_no_scheduled_run(shop: Shop) -> None:
    """It is neither an anchor run, nor among the days of the judge setup."""
    ids = shop.add_answers(3)
    await shop.run(ScriptedJudge())
    with open_store(shop.path, create=False) as store:
        before = read.rulers(store, "shop")
    await shop.run(ScriptedJudge(), slot=ASIDE_SLOT, purpose=Purpose.PICK, item_ids=list(ids))
    with open_store(shop.path, create=False) as store:
        assert read.rulers(store, "shop") == before
        purposes = [run["purpose"] for run in read.runs(store, "shop")]
    assert purposes == ["pick", "scheduled"]
