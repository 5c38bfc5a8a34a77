"""Where one's own judge puts its score: under a key, at the end of a path, where a pattern says, as a level's name."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.judges.own_prompts import build_rubric
from evaluator.judges.parse import parse_reply, verdict_from_mapping
from evaluator.judges.score_fields import ScoreField
from evaluator.records import ParsedVerdict, Rubric, UnscoredReason
from tests.judges.fakes import RUBRIC

PASS_FAIL = build_rubric(name="pf", scale=None, levels={"fail": 0.0, "pass": 1.0})
TRUE_FALSE = build_rubric(name="tf", scale=None, levels={"false": 0.0, "true": 1.0})


def found(verdict: ParsedVerdict) -> float | UnscoredReason | None:
    """The score, or the reason why there is none."""
    return verdict.score if verdict.score is not None else verdict.unscored_reason


def read(reply: Any, rubric: Rubric = RUBRIC, **how: Any) -> float | UnscoredReason | None:
    """What a reply says; anything but a text is sent as JSON."""
    text = reply if isinstance(reply, str) else json.dumps(reply)
    return found(parse_reply(text, rubric=rubric, **how))


# ---------------------------------------------------------------- paths


@pytest.mark.parametrize(
    ("field", "reply", "expected"),
    [
        ("grade", {"grade": 4}, 4),
        ("Grade", {" GRADE ": 4}, 4),
        ("result.grade.score", {"result": {"grade": {"score": 4}}}, 4),
        ("Result.Score", {"RESULT": {"score": "4/5"}}, 4),
        ("scores[0].value", {"scores": [{"value": 2}, {"value": 5}]}, 2),
        ("scores[1]", {"scores": [1, 5]}, 5),
        ("a[0][1]", {"a": [[1, 3]]}, 3),
        ("a.b", {"a.b": 2, "a": {"b": 5}}, 2),  # a key spelled like a path wins
        ("a[0]", {"a[0]": 2, "a": [5]}, 2),
        ("a.b", {"verdict": {"a": {"b": 3}}}, 3),  # in the only object inside a wrapper
        ("a.b", {"a": {"c": 3}}, UnscoredReason.MISSING),
        ("a.b", {"a": 3}, UnscoredReason.MISSING),
        ("a[2]", {"a": [3]}, UnscoredReason.MISSING),
        ("a[0]", {"a": {"0": 3}}, UnscoredReason.MISSING),
        ("a.b", {"a": {"b": 9}}, UnscoredReason.OUT_OF_RANGE),
        ("a.b", {"a": {"b": [4]}}, UnscoredReason.WRONG_TYPE),
        ("a.b", '{"a": {"b": 4, "b": 2}}', UnscoredReason.AMBIGUOUS),
        ("a.b", '{"a": {"b": 4}, "a": {"b": 2}}', UnscoredReason.AMBIGUOUS),
        ("..", {"..": 4}, 4),
        ("a[b]", {"a[b]": 4}, 4),
    ],
)
def test_score_stands_where_the_field_says(field: str, reply: Any, expected: object) -> None:
    """As the whole reply, and as an object in prose."""
    assert read(reply, score_field=field) == expected
    text = reply if isinstance(reply, str) else json.dumps(reply)
    assert read(f"Here is my verdict.\n```json\n{text}\n```", score_field=field) in (expected, UnscoredReason.UNPARSED)


def test_other_scores_in_the_reply_are_not_taken() -> None:
    """A score of one aspect is not the score."""
    assert read({"score": 5, "overall": {"score": 2}}, score_field="overall.score") == 2
    assert read({"score": 5}, score_field="overall.score") is UnscoredReason.MISSING


def test_reasons_may_stand_around_the_score() -> None:
    """The innermost counts."""
    reply = {"reasoning": "outer", "strengths": ["s"], "result": {"reasoning": "inner", "score": 3}}
    verdict = parse_reply(json.dumps(reply), rubric=RUBRIC, score_field="result.score")
    assert (verdict.explanation, verdict.strengths) == ("inner", ("s",))


def test_path_that_is_cut_off_is_said_to_be() -> None:
    """Not to be missing."""
    reply = '{"result": {"why": "because", "score": 4'
    assert read(reply, score_field="result.score", finish_reason="length") is UnscoredReason.TRUNCATED
    assert read(reply, score_field="result.score") is UnscoredReason.TRUNCATED


def test_function_may_return_nested_keys_of_any_case() -> None:
    """The same paths as in a reply."""
    assert found(verdict_from_mapping({"Result": {"Score": 4}}, rubric=RUBRIC, score_field="result.score")) == 4


@given(
    st.text(max_size=20),
    st.recursive(
        st.none() | st.integers(0, 6),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab.[0]", max_size=4), inner, max_size=3),
    ),
)
def test_no_field_and_no_reply_is_an_error(field: str, reply: Any) -> None:
    """Whatever is asked for and comes, there is a score on the scale or a reason."""
    score = read(reply, score_field=field or "score")
    assert isinstance(score, UnscoredReason) or 1 <= (score or 0) <= 5


@given(
    st.lists(
        st.tuples(st.text("abcxyz", min_size=1, max_size=4), st.lists(st.integers(0, 2), max_size=2)),
        min_size=1,
        max_size=4,
    )
)
def test_path_leads_to_what_was_put_there(steps: list[tuple[str, list[int]]]) -> None:
    """Built from the inside out, found from the outside in."""
    value: Any = 4
    for name, places in reversed(steps):
        for place in reversed(places):
            value = [None] * place + [value]
        value = {name: value}
    path = ".".join(name + "".join(f"[{place}]" for place in places) for name, places in steps)
    here = ScoreField.parse(path).find(value)
    assert here is not None
    assert here.value == 4


# ---------------------------------------------------------------- patterns


@pytest.mark.parametrize(
    ("pattern", "reply", "expected"),
    [
        (r"Score: (\d)", "Score: 2\nOn reflection:\nScore: 4", 4),  # the last one
        (r"Score: (\S+)", "Score: 4/5", 4),
        (r"Score: (\S+)", "Score: 9", UnscoredReason.OUT_OF_RANGE),
        (r"Score: (\S+)", "Score: 4/10", UnscoredReason.FOREIGN_SCALE),
        (r"Score: (\S+)", "Score: high", UnscoredReason.NOT_A_NUMBER),
        (r"Score:(.*)", "Score:", UnscoredReason.MISSING),
        (r"Score:(x)?", "Score:", UnscoredReason.MISSING),
        (r"Score: (\d)", "No score.", UnscoredReason.UNPARSED),
        (r"Score: (\d)", "", UnscoredReason.EMPTY),
        (r"Score: (\d)", "I'm sorry, I cannot grade this answer.", UnscoredReason.REFUSAL),
        (r"Score: (\d)", "<think>\nScore: 1\n</think>\nScore: 3", 3),
        (r"Score: (\d)", "<think>\nScore: 1\n</think>\nNone.", UnscoredReason.UNPARSED),
        (r"Score: (\d)", "<think>\nScore: 1", UnscoredReason.UNPARSED),
        (r'"grade": (\d)', '{"grade": 3, "score": 5}', 3),  # only the pattern counts
        (r"(?i)rating: (\w+)", "RATING: Good", 4),
        (r"(?m)^(\d)$", "4\n5\nwords", 5),
    ],
)
def test_last_match_outside_the_thinking_is_the_score(pattern: str, reply: str, expected: object) -> None:
    """And nothing else in the reply is looked at."""
    assert read(reply, score_pattern=pattern) == expected


def test_reply_that_was_cut_off_has_no_last_match() -> None:
    """The judge may have gone on to another."""
    assert read("Score: 4", score_pattern=r"Score: (\d)", finish_reason="length") is UnscoredReason.TRUNCATED


def test_words_around_the_match_are_the_explanation() -> None:
    """People want to read why."""
    verdict = parse_reply("Clear and true.\nScore: 4", rubric=RUBRIC, score_pattern=r"Score: (\d)")
    assert "Clear and true." in verdict.explanation


@pytest.mark.parametrize(
    ("pattern", "reply"),
    [(r"(a+)+$", "a" * 5_000 + "!"), (r"(?:a|aa)+(x)$", "a" * 200 + "!"), (r"(.*)*=.*=.*\d$", "=" * 20_000)],
)
def test_pattern_that_comes_to_no_end_costs_a_reply_its_score_and_not_the_run(pattern: str, reply: str) -> None:
    """Some patterns can be matched in more ways than there is time for."""
    started = time.monotonic()
    verdict = parse_reply(f"Score: 4\n{reply}", rubric=RUBRIC, score_pattern=pattern)
    assert time.monotonic() - started < 20
    assert verdict.unscored_reason in (UnscoredReason.UNPARSED, UnscoredReason.MISSING)


def test_reply_says_that_the_pattern_was_too_slow() -> None:
    """Or nobody would find out what to change."""
    verdict = parse_reply("a" * 200 + "!", rubric=RUBRIC, score_pattern=r"(?:a|aa)+(x)$")
    assert verdict.unscored_reason is UnscoredReason.UNPARSED
    assert verdict.detail.startswith("score_pattern came to no end in 1 s")


# ---------------------------------------------------------------- names of levels


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("pass", 1.0),
        (" PASS ", 1.0),
        ("**Pass**", 1.0),
        ("[[fail]]", 0.0),
        ("Fail.", 0.0),
        ("pass!", 1.0),
        ("1", 1.0),
        ("not pass", UnscoredReason.NOT_A_NUMBER),
        ("no pass", UnscoredReason.NOT_A_NUMBER),
        ("pass or fail", UnscoredReason.NOT_A_NUMBER),
        ("pass/fail", UnscoredReason.NOT_A_NUMBER),
        ("passed", UnscoredReason.NOT_A_NUMBER),
        ("pas", UnscoredReason.NOT_A_NUMBER),
        ("fail pass", UnscoredReason.NOT_A_NUMBER),
        ("", UnscoredReason.MISSING),
    ],
)
def test_name_of_a_level_is_its_score(said: str, expected: object) -> None:
    """Alone, in any case; under a key and where a pattern says. A negation or two names are no score."""
    assert read({"verdict": said}, PASS_FAIL, score_field="verdict") == expected
    assert read(f"Well.\nVerdict: {said}\n", PASS_FAIL, score_pattern=r"Verdict:(.*)") == expected


def test_reply_that_is_only_a_name_is_a_score() -> None:
    """A judge that was asked for one word."""
    assert read("PASS", PASS_FAIL) == 1.0
    assert read("Fail.", PASS_FAIL) == 0.0
    assert read("not pass", PASS_FAIL) is UnscoredReason.UNPARSED


def test_true_and_false_count_only_where_levels_are_called_so() -> None:
    """Else True would pass for 1."""
    assert (read({"score": True}, TRUE_FALSE), read({"score": False}, TRUE_FALSE)) == (1.0, 0.0)
    assert read({"score": "TRUE"}, TRUE_FALSE) == 1.0
    assert read({"score": True}, PASS_FAIL) is UnscoredReason.WRONG_TYPE


@pytest.mark.parametrize("name", ["reasoning", "comment", "Justification", "critique"])
def test_reasons_beside_the_score_are_kept(name: str) -> None:
    """Judges of one's own have their own word for why."""
    reply = json.dumps({"grading": {"points": 3, name: "one sentence"}})
    verdict = parse_reply(reply, rubric=RUBRIC, score_field="grading.points")
    assert (verdict.score, verdict.explanation) == (3, "one sentence")
