"""What came of grading: every call is kept, a verdict without a score may become one with, a score is final."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Any

import pytest

from evaluator.records import Attempt, GradeOutcome, Instrument, ParsedVerdict, Source, UnscoredReason
from evaluator.store import read, write
from evaluator.store.db import Store
from tests.builders import CRITERION, scored
from tests.store.helpers import answer, begin, finish, grade, ids_of, import_items, one, plan_of, rows

ITEM = answer(1)
(ID,) = ids_of([ITEM])
TIMEOUT, REFUSAL = UnscoredReason.TIMEOUT, UnscoredReason.REFUSAL


@pytest.fixture
def plan(store: Store) -> write.RunPlan:
    """A run with one answer in it, begun."""
    import_items(store, [ITEM])
    plan = plan_of([ID])
    begin(store, plan)
    return plan


def save(store: Store, plan: write.RunPlan, outcome: GradeOutcome) -> None:
    """Store one outcome for the answer."""
    item = write.GradedItem(item_id=ID, source=Source.TRAFFIC, outcome=outcome, graded_utc="2026-03-01T06:00:00.000Z")
    write.save_outcomes(store, plan, CRITERION, [item])


def full_outcome() -> GradeOutcome:
    """An outcome in which no part is left out."""
    attempts = (
        Attempt(
            started_utc="t1", duration_ms=5.0, http_status=500, reason="server_error", message="busy", cost_usd=0.0
        ),
        Attempt(
            started_utc="t2",
            duration_ms=812.5,
            http_status=200,
            reason=None,
            prompt_tokens=610,
            completion_tokens=74,
            cost_usd=0.0011,
            completion_id="c-1",
        ),
    )
    verdict = ParsedVerdict(
        score=3.5,
        unscored_reason=None,
        explanation='Clear, but "half" of it is missing — ✓',
        strengths=("clear", "short"),
        weaknesses=("one part missing",),
        thinking="first I look at ...",
        detail="from the last object",
    )
    instrument = Instrument(
        resolved_model="judge-2026", fingerprint="fp_9", output_mode="json_schema", parameters={"temperature": 0}
    )
    return GradeOutcome(
        verdict=verdict,
        attempts=attempts,
        instrument=instrument,
        raw_reply='{"score": 3.5}',
        finish_reason="stop",
        prompt_cut=True,
    )


def test_everything_of_an_outcome_is_kept(store: Store, plan: write.RunPlan) -> None:
    """Verdict, calls and instrument come back as they went in."""
    outcome = full_outcome()
    save(store, plan, outcome)
    (found,) = read.verdicts_of_item(store, ID)
    assert outcome.verdict is not None
    assert (found["score"], found["unscored_reason"]) == (3.5, None)
    for name in ("explanation", "thinking", "detail"):
        assert found[name] == getattr(outcome.verdict, name)
    assert (found["strengths"], found["weaknesses"]) == (["clear", "short"], ["one part missing"])
    assert (found["raw_reply"], found["finish_reason"], found["prompt_cut"]) == ('{"score": 3.5}', "stop", 1)
    assert (found["prompt_tokens"], found["completion_tokens"], found["latency_ms"]) == (610, 74, 812.5)
    assert (found["resolved_model"], found["fingerprint"]) == ("judge-2026", "fp_9")
    second, first = read.attempts_of_item(store, ID)
    assert (first["reason"], first["http_status"], first["message"]) == ("server_error", 500, "busy")
    assert (second["reason"], second["cost_usd"], second["prompt_tokens"]) == (None, 0.0011, 610)


def test_cost_of_a_verdict_is_that_of_all_its_calls(store: Store, plan: write.RunPlan) -> None:
    """A retry is paid for as well."""
    outcome = full_outcome()
    save(store, plan, replace(outcome, attempts=tuple(replace(call, cost_usd=0.25) for call in outcome.attempts)))
    assert one(store, "SELECT cost_usd FROM verdicts") == 0.5


def test_pending_item_leaves_its_calls_and_no_verdict(store: Store, plan: write.RunPlan) -> None:
    """A call was paid for; the item waits for the next run."""
    save(store, plan, replace(full_outcome(), verdict=None))
    assert one(store, "SELECT count(*) FROM verdicts") == 0
    assert one(store, "SELECT count(*) FROM attempts") == 2
    assert [row["item_id"] for row in read.run_left(store, plan.run_id)] == [ID]


def test_unscored_becomes_scored_and_no_column_is_left_over(store: Store, plan: write.RunPlan) -> None:
    """The later outcome replaces the earlier one whole: no detail of the failure stays beside the score."""
    failed = ParsedVerdict(score=None, unscored_reason=TIMEOUT, detail="no answer in 60 s")
    save(store, plan, GradeOutcome(verdict=failed, attempts=(), raw_reply="<html>", finish_reason="length"))
    save(store, plan, full_outcome())
    (found,) = read.verdicts_of_item(store, ID)
    assert (found["score"], found["unscored_reason"], found["detail"]) == (3.5, None, "from the last object")
    assert (found["raw_reply"], found["finish_reason"]) == ('{"score": 3.5}', "stop")


def test_unscored_takes_another_reason(store: Store, plan: write.RunPlan) -> None:
    """The newest reason stands."""
    grade(store, plan, {ID: TIMEOUT})
    grade(store, plan, {ID: REFUSAL})
    assert rows(store, "SELECT score, unscored_reason FROM verdicts") == [{"score": None, "unscored_reason": "refusal"}]


@pytest.mark.parametrize("later", [5.0, 4.0, TIMEOUT])
def test_d02_second_outcome_never_replaces_a_score(store: Store, plan: write.RunPlan, later: Any) -> None:
    """Case D02: the score of before is still there, with its explanation; the second call is on record."""
    save(store, plan, scored(4, explanation="r1"))
    save(store, plan, scored(later, explanation="r2"))
    assert rows(store, "SELECT score, explanation FROM verdicts") == [{"score": 4.0, "explanation": "r1"}]
    assert one(store, "SELECT count(*) FROM attempts") == 2


@pytest.mark.parametrize(
    "change",
    [
        "score = 5",
        "score = NULL, unscored_reason = 'timeout'",
        "explanation = ''",
        "run_id = 'other'",
        "raw_reply = 'x'",
    ],
)
def test_d02_scored_verdict_refuses_every_change(store: Store, plan: write.RunPlan, change: str) -> None:
    """Whoever writes, by whatever statement: the database itself refuses."""
    grade(store, plan, {ID: 4})
    with pytest.raises(sqlite3.IntegrityError, match=r"a scored verdict is final"), store.transaction() as connection:
        connection.execute(f"UPDATE verdicts SET {change}")
    assert one(store, "SELECT score FROM verdicts") == 4


def test_d02_partial_update_keeps_the_other_columns(store: Store, plan: write.RunPlan) -> None:
    """Case D02: what a write does not name stays; a rerun of setup and end leaves the plan's columns alone."""
    grade(store, plan, {ID: 4})
    before = rows(store, "SELECT * FROM items JOIN planned_items USING (item_id)")
    finish(store, plan, status="stopped")
    write.reopen_run(store, plan.run_id)
    finish(store, plan)
    import_items(store, [replace(ITEM, conversation_id="later", tags={"topic": "x"})])
    assert rows(store, "SELECT * FROM items JOIN planned_items USING (item_id)") == before
    run = rows(store, "SELECT started_utc, n_traffic, slot_day, kind FROM runs")
    assert run == [{"started_utc": "2026-03-01T06:00:00.000Z", "n_traffic": 1, "slot_day": "2026-02-28", "kind": "all"}]


@pytest.mark.parametrize("score", [float("nan"), None])
def test_d02_verdict_without_score_and_reason_is_refused(
    store: Store, plan: write.RunPlan, score: float | None
) -> None:
    """Case D02: NaN would be stored as nothing; the whole batch is refused, its calls included."""
    broken = ParsedVerdict(score=4, unscored_reason=None)
    object.__setattr__(broken, "score", score)
    with pytest.raises(sqlite3.IntegrityError):
        save(store, plan, replace(full_outcome(), verdict=broken))
    assert one(store, "SELECT count(*) FROM verdicts") == 0
    assert one(store, "SELECT count(*) FROM attempts") == 0
    assert not store.connection.in_transaction


def test_infinite_parameter_is_refused_whole(store: Store, plan: write.RunPlan) -> None:
    """What JSON cannot hold is an error, not a text that no program reads."""
    outcome = full_outcome()
    assert outcome.instrument is not None
    odd = replace(outcome.instrument, parameters={"temperature": float("inf")})
    with pytest.raises(ValueError, match=r"not JSON compliant"):
        save(store, plan, replace(outcome, instrument=odd))
    assert one(store, "SELECT count(*) FROM attempts") == 0


def test_anchor_has_a_verdict_a_slot_and_an_answer_one_for_all_slots(store: Store, plan: write.RunPlan) -> None:
    """Anchors are graded again and again, answers once."""
    later = plan_of([ID], slot_day="2026-03-01")
    begin(store, later)
    for each in (plan, later):
        grade(store, each, {"anchor-1": 3}, anchors=True)
        grade(store, each, {ID: 4})
    assert one(store, "SELECT count(*) FROM verdicts WHERE slot_utc <> ''") == 2
    assert rows(store, "SELECT item_id, run_id FROM verdicts WHERE slot_utc = ''") == [
        {"item_id": ID, "run_id": plan.run_id}
    ]


def test_same_instrument_is_stored_once(store: Store, plan: write.RunPlan) -> None:
    """What answered is a row of its own, shared by all verdicts."""
    for _ in range(3):
        save(store, plan, full_outcome())
    assert one(store, "SELECT count(*) FROM instruments") == 1


def test_endless_reply_does_not_swell_the_database(store: Store, plan: write.RunPlan) -> None:
    """Megabytes of reasons are cut, and the cut is said; the score is kept."""
    endless = "x" * 1_000_000
    verdict = ParsedVerdict(
        score=4.0,
        unscored_reason=None,
        explanation=endless,
        strengths=(endless,) * 100,
        thinking=endless,
    )
    save(store, plan, GradeOutcome(verdict=verdict, attempts=(), raw_reply=endless))
    (kept,) = read.verdicts_of_item(store, ID)
    assert kept["score"] == 4.0
    for text in (kept["explanation"], kept["thinking"], kept["raw_reply"]):
        assert len(text) < 21_000
        assert text.endswith("… [980000 more characters were not kept]")
    assert sum(map(len, kept["strengths"])) < 70_000
