"""Case J01 at the judge: who answered is stored with every score, what was asked is the ruler, and they differ."""

from __future__ import annotations

import itertools
from typing import Any

from evaluator.records import Item
from tests.judges.conftest import MakeJudge, Serve
from tests.judges.fakes import FakeGate, case
from tests.judges.server import completion

DAYS = case("J01")["input"]["anchor_scores"]


async def test_j01_identity_changes_are_marked(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """Another model behind the alias is another instrument on the same ruler; an edited prompt is another ruler."""
    marks: list[tuple[Any, str, str | None]] = []
    for day in DAYS:
        judge_of_day = day["judge"]
        reply = completion(f'{{"score": {day["scores"][0]}}}', model=judge_of_day["model_answered"])
        server = await serve(reply)
        template = f'{judge_of_day["prompt_sha"]}: {{{{input}}}} {{{{output}}}} "score"'
        judge = make_judge(server, model=judge_of_day["model_asked"], prompt_template=template)
        outcome = await judge.grade(item, item_id="a1", gate=FakeGate())
        assert outcome.instrument is not None
        assert outcome.verdict is not None
        assert outcome.verdict.score == day["scores"][0]
        assert outcome.instrument.resolved_model == judge_of_day["model_answered"]
        assert judge.ruler.model_asked == judge_of_day["model_asked"]
        marks.append((day["day"], judge.ruler.ruler_id, outcome.instrument.instrument_id))
    changes = [
        (later[0], "prompt" if later[1] != earlier[1] else "model answered")
        for earlier, later in itertools.pairwise(marks)
        if later[1:] != earlier[1:]
    ]
    assert [f"{day} ({what})" for day, what in changes] == case("J01")["expected"]["identity_changes_marked"]


async def test_model_fingerprint_and_id_are_kept(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """The id shows a gateway that answers from its memory."""
    server = await serve(completion(model="judge-2026-02", fingerprint="fp_9", completion_id="c77"))
    outcome = await make_judge(server).grade(item, item_id="i1", gate=FakeGate())
    assert outcome.instrument is not None
    assert (outcome.instrument.resolved_model, outcome.instrument.fingerprint) == ("judge-2026-02", "fp_9")
    assert outcome.attempts[0].completion_id == "c77"
    assert outcome.attempts[0].started_utc == "2026-01-02T10:00:00.000Z"
    assert outcome.attempts[0].duration_ms > 0


async def test_an_unscored_reply_has_its_instrument_too(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """A new model that answers off the scale must show as a new model; a lost call shows nobody."""
    server = await serve(completion('{"score": 9}', model="judge-new"), completion([]))
    outcome = await make_judge(server).grade(item, item_id="i1", gate=FakeGate())
    assert outcome.instrument is not None
    assert outcome.instrument.resolved_model == "judge-new"
    lost = await make_judge("http://127.0.0.1:9/v1").grade(item, item_id="i1", gate=FakeGate())
    assert lost.instrument is None


async def test_same_item_same_request(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """An anchor is asked with the same bytes in every run, by every instance."""
    server = await serve(completion())
    for _ in range(2):
        await make_judge(server).grade(item, item_id="a1", gate=FakeGate())
    assert server.requests[0].body == server.requests[1].body
