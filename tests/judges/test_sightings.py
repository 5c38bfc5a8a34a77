"""Raw answers are shown to whoever watches, and to nobody else."""

from __future__ import annotations

from evaluator.judges.sightings import Sighting, note_answer, watching
from evaluator.records import Item
from tests.judges.conftest import MakeJudge, Serve
from tests.judges.fakes import FakeGate
from tests.judges.server import completion, failure


async def test_every_answer_of_a_call_is_shown_within_the_block(
    serve: Serve, make_judge: MakeJudge, item: Item
) -> None:
    """With status, headers in small letters, and the body; also one that is an error."""
    server = await serve(failure(500, headers={"X-Odd": "1"}, message="oh"), completion())
    judge = make_judge(server)
    seen: list[Sighting] = []
    with watching(seen.append):
        outcome = await judge.grade(item, item_id="i", gate=FakeGate())
    assert outcome.verdict is not None
    assert outcome.verdict.score == 4
    assert [sighting.status for sighting in seen] == [500, 200]
    assert seen[0].headers["x-odd"] == "1"
    assert '"score": 4' in seen[1].body.replace("\\", "")
    await judge.grade(item, item_id="i", gate=FakeGate())
    assert len(seen) == 2


def test_nobody_watching_is_well() -> None:
    """The usual case; and a watch that ended by an error is over."""
    note_answer(200, {}, "")
    seen: list[Sighting] = []
    try:
        with watching(seen.append):
            raise KeyError("x")
    except KeyError:
        note_answer(200, {}, "")
    assert seen == []
