"""The shared fault cases about reading a reply: P01 to P05 and X02, each variant a test."""

from __future__ import annotations

from typing import Any

import pytest

from evaluator.judges.parse import parse_reply
from evaluator.records import ParsedVerdict, Rubric
from tests.judges.fakes import RUBRIC, assert_best, case, name_of


def variants(case_id: str) -> list[Any]:
    given = case(case_id)["input"]
    listed = given.get("variants") or given["stub_judge_replies"]
    # the pairwise variant of P05 is about another format
    return [pytest.param(v, id=name_of(v)) for v in listed if v.get("best", {}).get("outcome") != "undecided"]


def read(variant: dict[str, Any], rubric: Rubric = RUBRIC) -> ParsedVerdict:
    message = variant.get("message") or {"content": variant["raw"]}
    return parse_reply(
        message["content"],
        rubric=rubric,
        finish_reason=variant.get("finish_reason"),
        reasoning=message.get("reasoning_content"),
    )


@pytest.mark.parametrize("variant", variants("P01"))
def test_p01_wrapped_verdicts(variant: dict[str, Any]) -> None:
    """A good verdict survives its wrapping, and quoted numbers stay text."""
    wanted = case("P01")["expected"]["all_variants"]
    verdict = read(variant)
    assert_best(verdict, variant, wanted["best"])
    assert verdict.score not in wanted["never_scores"]


@pytest.mark.parametrize("variant", variants("P02"))
def test_p02_unusual_numbers(variant: dict[str, Any]) -> None:
    """A number is taken as it stands or refused, never bent to fit."""
    assert_best(read(variant), variant)


@pytest.mark.parametrize("variant", variants("P03"))
def test_p03_values_that_are_no_numbers(variant: dict[str, Any]) -> None:
    """NaN, infinity, booleans and nothing at all are never a score."""
    verdict = read(variant)
    assert_best(verdict, variant)
    if "fields" in variant:
        assert list(verdict.strengths) == variant["fields"]["strengths"]
        assert list(verdict.weaknesses) == variant["fields"]["weaknesses"]
        assert list(verdict.strengths) != variant["never_fields"]["strengths"]


@pytest.mark.parametrize("variant", variants("P04"))
def test_p04_thinking_aloud(variant: dict[str, Any]) -> None:
    """Only what follows the thinking is the verdict."""
    assert_best(read(variant), variant)


@pytest.mark.parametrize("variant", variants("P04"))
def test_p04_thinking_is_kept_apart(variant: dict[str, Any]) -> None:
    """Thinking is never shown as the judge's explanation."""
    verdict = read(variant)
    assert "draft" not in verdict.explanation
    assert "guess" not in verdict.explanation
    thinks = "think" in variant["n"] or "tag" in variant["n"] or "reasoning-field" in variant["n"]
    assert bool(verdict.thinking) == (thinks and variant["n"] != "tag-inside-verdict")


@pytest.mark.parametrize("variant", variants("P05"))
def test_p05_cut_off_replies(variant: dict[str, Any]) -> None:
    """A reply that was cut off is told apart from a malformed one, and is not repaired."""
    assert_best(read(variant), variant)


@pytest.mark.parametrize("variant", variants("X02"))
def test_x02_the_answer_grades_itself(variant: dict[str, Any]) -> None:
    """What the judge quotes from the answer is not the judge's verdict."""
    assert_best(read(variant), variant)
