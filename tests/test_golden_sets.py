"""Golden sets whose answers are generated anew are told from anchors, and refused before any call."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evaluator.errors import DataFileError
from evaluator.golden_sets import compare_answers
from evaluator.records import Anchor, Item
from evaluator.scoring.plan import preview_run
from tests.scoring.helpers import ScriptedJudge, Shop


def anchors(n: int, *, answered: int = 0, names: str = "a") -> list[Anchor]:
    """Anchors of which the first ``answered`` have another answer than usual."""
    return [
        Anchor(
            anchor_id=f"{names}{place}",
            item=Item(input=f"Question {place}?", output=f"Answer {place}{' anew' * (place < answered)}."),
            expected_score=None,
        )
        for place in range(n)
    ]


@pytest.mark.parametrize(
    ("n", "answered", "anew"),
    [(60, 27, True), (60, 12, True), (60, 11, False), (10, 3, True), (10, 2, False), (3, 3, True)],
)
def test_many_other_answers_to_the_same_questions_are_told_from_an_edit(n: int, answered: int, anew: bool) -> None:
    """Three and a fifth of them."""
    changes = compare_answers(anchors(n), anchors(n, answered=answered))
    assert (changes.n_shared, changes.n_changed, changes.generated_anew) == (n, answered, anew)


def test_ids_have_no_say() -> None:
    """A generator may number its rows anew each night."""
    assert compare_answers(anchors(20), anchors(20, answered=20, names="z")).generated_anew
    assert not compare_answers(anchors(20), anchors(20, names="z")).generated_anew


def test_several_answers_to_a_question_are_compared_as_a_set() -> None:
    """Adding or dropping one is no change, and neither is their order."""
    three = [Anchor(anchor_id=str(n), item=Item(input="Q", output=f"A{n}"), expected_score=None) for n in range(3)]
    assert compare_answers(three, three[:2]).n_changed == 0
    assert compare_answers(three[:1], three[::-1]).n_changed == 0
    other = [replace(one, item=replace(one.item, output="B")) for one in three[:2]]
    assert compare_answers(three, [*other, three[2]]).n_changed == 2


def test_new_questions_and_spaces_are_no_change() -> None:
    """Another set is another set."""
    spaced = [replace(one, item=replace(one.item, input=f" {one.item.input}\n")) for one in anchors(9)]
    assert compare_answers(anchors(9), spaced).n_changed == 0
    other = [replace(one, item=Item(input=f"Other {one.anchor_id}", output="x")) for one in anchors(9)]
    assert compare_answers(anchors(9), other).n_shared == 0


# ---------------------------------------------------------------- in a run


@pytest.fixture
async def shop(tmp_path: Path) -> Shop:
    """One run with sixty anchors lies behind."""
    made = Shop(tmp_path / "shop.db", anchors(60))
    await made.run(ScriptedJudge())
    return made


async def test_set_that_is_generated_anew_is_refused_before_any_call(shop: Shop) -> None:
    """By the preview and by the run; nothing is planned, and the way out is named."""
    shop.anchors = anchors(60, answered=27)
    judge = ScriptedJudge()
    said = (
        r"anchor set general: 27 of 60 anchors have the same question but another answer than in the set used on"
        r" 2026-02-28\. Answers that are generated anew measure the assistant as well; .* give its file a new name"
    )
    with pytest.raises(DataFileError, match=said):
        preview_run(shop.settings(days=1), judge)
    with pytest.raises(DataFileError, match=said):
        await shop.run(judge, days=1)
    assert judge.calls.total() == 0
    assert len(shop.runs()) == 1


async def test_traffic_alone_is_graded_all_the_same(shop: Shop) -> None:
    """A run without anchors does not look at them."""
    shop.anchors = anchors(60, answered=27)
    assert (await shop.run(ScriptedJudge(), days=1, kind="traffic")).status == "finished"


async def test_edit_of_a_few_anchors_is_allowed(shop: Shop) -> None:
    """A typing error mended in eleven of sixty."""
    shop.anchors = anchors(60, answered=11)
    assert (await shop.run(ScriptedJudge(), days=1)).n_anchors == 60


async def test_set_of_another_name_is_another_set(shop: Shop) -> None:
    """The way to replace one on purpose; the old one can come back too."""
    shop.anchors = anchors(60, answered=60)
    assert (await shop.run(ScriptedJudge(), days=1, anchor_set_name="own.jsonl")).n_anchors == 60
    shop.anchors = anchors(60)
    assert (await shop.run(ScriptedJudge(), days=2)).n_anchors == 60


async def test_run_that_was_cut_off_goes_on_with_its_own_set(shop: Shop) -> None:
    """What is planned is planned: the texts of its anchors are those stored."""
    shop.anchors = anchors(60, answered=27)
    report = await shop.run(ScriptedJudge())
    assert report.already_finished
