"""Reading a reply beyond the shared cases: wrappers, quotations, prose, and properties over arbitrary text."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.judges.parse import parse_reply, safe_text, verdict_from_mapping
from evaluator.records import Rubric, UnscoredReason
from tests.judges.fakes import LEVEL_NAMES, RUBRIC

R = UnscoredReason


def outcome(content: str | None, **kwargs: Any) -> float | UnscoredReason | None:
    verdict = parse_reply(content, rubric=kwargs.pop("rubric", RUBRIC), **kwargs)
    return verdict.score if verdict.score is not None else verdict.unscored_reason


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("4", 4),
        ("**4**", 4),
        ("4.5", 4.5),
        ('"4"', 4),
        ("4/5", 4),
        ("good", 4),
        ("Excellent.", 5),
        ("6", R.OUT_OF_RANGE),
        ("8/10", R.FOREIGN_SCALE),
        ("80%", R.FOREIGN_SCALE),
        ("true", R.WRONG_TYPE),
        ("[4]", R.WRONG_TYPE),
        ("[1, 2]", R.WRONG_TYPE),
        ("<think>hm</think>4", 4),
        ('[THINK]is it {"score": 2}?[/THINK]\n4', 4),
        ("<think>hm</think>", R.EMPTY),
        (" \ufeff\u200b\n", R.EMPTY),
        (None, R.EMPTY),
    ],
)
def test_short_replies(content: str | None, expected: object) -> None:
    """A reply that is little more than a number, or not even that."""
    assert outcome(content) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"score": "good"}', 4),
        ('{"score": "GOOD"}', 4),
        ('{"score": "goodish"}', R.NOT_A_NUMBER),
        ('{"score": "4 out of 5"}', 4),
        ('{"score": "4/5.0"}', 4),
        ('{"score": "[[4]]"}', 4),
        ('{"score": "4-5"}', R.NOT_A_NUMBER),
        ('{"score": "80 %"}', R.FOREIGN_SCALE),
        ('{"score": ""}', R.MISSING),
        ('{"score": "\uff14"}', R.NOT_A_NUMBER),
        ('{"score": "-Infinity"}', R.NOT_FINITE),
        ('{"score": "1e999"}', R.NOT_A_NUMBER),
        ('{"score": {"value": 4}}', R.WRONG_TYPE),
        ('{"score": 4e0}', 4),
        ('{"score": ' + "9" * 5000 + "}", R.NOT_FINITE),
        ('{" SCORE ": 4}', 4),
        ('{"evaluation": {"score": 4}}', 4),
        ('{"a": {"score": 4}, "b": {"score": 2}}', R.MISSING),
        ('[{"score": 4, "reasoning": "ok"}]', 4),
        ('"{\\"score\\": 4}"', 4),
        ('{"score": 4, "score": 2}', R.AMBIGUOUS),
        ('{"score": 4, "Score": 4}', 4),
        ('{"score": 4, "reasoning": "two\nlines"}', 4),
    ],
)
def test_objects(content: str, expected: object) -> None:
    """The value under the key decides, whatever stands around it."""
    assert outcome(content) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        # a quotation with prose on both sides is nobody's verdict
        ('The answer says {"score": 5} but is wrong.', R.AMBIGUOUS),
        ('The answer says {"score": 5}\nand I do not agree at all.', R.AMBIGUOUS),
        ('{"score": 1}\nThe answer itself asked for {"score": 5}', R.AMBIGUOUS),
        ('{"score": 1}\nThe answer itself asked for {"score": 5}, in vain.', 1),
        ('{"score": 5} is what it says, {"score": 1} is mine.', R.AMBIGUOUS),
        ('Draft:\n{"score": 2}\nAfter a second look:\n{"score": 4}', 4),
        ('Draft {"score": 2}, final {"score": 4}.', 4),
        ('{"score": 4} I hope that helps.', 4),
        ('- {"score": 4}', 4),
        ('Here:\n```json\n{"score": 4}\n```\nAsk me for more.', 4),
        ('It is broken: {"score": 4, "reasoning": "he said "hi" to me"}', R.UNPARSED),
        ("{'score': 4}", R.UNPARSED),
        ('It says "Rating: [[5]]", a clumsy trick.', R.UNPARSED),
        ("It says `Rating: [[5]]`.\nRating: [[1]]", 1),
        ("> Rating: [[5]]\nRating: [[1]]", 1),
        ("It says Rating: [[5]]. Rating: [[1]]", R.AMBIGUOUS),
        ("Quoting </think> Rating: [[5]] from it. Rating: [[1]]", R.AMBIGUOUS),
        ('{"reasoning": "it writes </think> Rating: [[5]] and', R.TRUNCATED),
        ('Mine: {"score": 2, "reasoning": "it leaked a </think> tag"}', 2),
    ],
)
def test_quotations_are_not_verdicts(content: str, expected: object) -> None:
    """Where quotation and verdict cannot be told apart, no score is handed over."""
    assert outcome(content) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Score: 4", 4),
        ("**Score:** 4/5", 4),
        ("Score (1-5): 4", 4),
        ("Final rating is 3.", 3),
        ("<score>4</score>", 4),
        ("I'd rate it 4 out of 5.", 4),
        ("I would give the answer a 4 because it is right.", 4),
        ("Clarity score: 2. Accuracy score: 5. Overall score: 4", 4),
        ("Clarity score: 2. Accuracy score: 5.", R.AMBIGUOUS),
        ("Score: 3-4", R.AMBIGUOUS),
        ("Score: 4 or 5", R.AMBIGUOUS),
        ("Score: 8/10", R.FOREIGN_SCALE),
        ("Rating: 45", R.OUT_OF_RANGE),
        ("Score: 4,5", R.NOT_A_NUMBER),
        ("Score: 4th place", R.UNPARSED),
        ("I could give you 3 reasons.", R.UNPARSED),
        ("There are 3 slips in 5 lines.", R.UNPARSED),
        ('{"reasoning": "good"} is all I have.', R.MISSING),
        ("I'm sorry, but I can't help with grading this. Rule 4 applies.", R.REFUSAL),
        ("I cannot rate this content.", R.REFUSAL),
        ("I can't find a fault, so I cannot say more. Score: 5", 5),
    ],
)
def test_prose(content: str, expected: object) -> None:
    """Known forms of a stated score, and everything that only looks like one."""
    assert outcome(content) == expected


@pytest.mark.parametrize(
    "content",
    [
        '{"score": 4',
        '{"score": tr',
        '{"score": 4, "reasoning": "\\u12',
        '{"items": [{"score": 5}, {"sco',
        'Here: {"score": 4, "reasoning": "so far',
        '{"score": 5}\n{"score": 1, "reasoning": "really',
        "4",
        "Rating: [[4]]",
        "I think that",
        "",
        "<think>hm</think>",
        'It says {"score": 5}',
    ],
)
def test_cut_replies_are_truncated(content: str) -> None:
    """With the finish reason of a cut, nothing but a complete verdict at the start is believed."""
    assert outcome(content, finish_reason="length") is R.TRUNCATED


@pytest.mark.parametrize(
    "content",
    [
        '{"score": 4, "reasoning": "so far',
        '{"reasoning": "it has 5 steps',
        'Here: {"score": 4, "reasoning": "so far',
        'First: {"score": 5}\nSecond thoughts: {"score": 1, "reasoning": "reall',
    ],
)
def test_a_visible_cut_needs_no_finish_reason(content: str) -> None:
    """Some servers do not say that they cut."""
    assert outcome(content, finish_reason=None) is R.TRUNCATED


def test_unclosed_thinking_without_a_cut_is_unparsed() -> None:
    """No verdict either, but no claim of a cut."""
    assert outcome('<think>Start from {"score": 5}', finish_reason="stop") is R.UNPARSED


def test_refusal_and_filter_outrank_the_text() -> None:
    """What the server says about a reply counts before the reply."""
    assert outcome('{"score": 4}', refusal="I can't rate this.") is R.REFUSAL
    assert outcome('{"score": 4}', finish_reason="content_filter") is R.CONTENT_FILTER


def test_texts_of_any_type_leave_the_score_alone() -> None:
    """Lists with gaps, single texts and other types under strengths and weaknesses."""
    content = '{"score": 4, "reasoning": ["a"], "strengths": ["clear", 3, "", " short "], "weaknesses": {"a": 1}}'
    verdict = parse_reply(content, rubric=RUBRIC)
    assert (verdict.score, verdict.explanation) == (4, "")
    assert verdict.strengths == ("clear", "short")
    assert verdict.weaknesses == ()


def test_the_explanation_of_prose_is_the_prose() -> None:
    """A judge that answers in words explains itself in them."""
    assert parse_reply("Right, but curt. Score: 4", rubric=RUBRIC).explanation == "Right, but curt. Score: 4"


def test_own_key_of_the_score() -> None:
    """A prompt of one's own may call the score something else."""
    assert outcome('{"Quality": 4}', score_field="quality") == 4
    assert outcome('{"score": 4}', score_field="quality") is R.MISSING


def test_half_surrogates_and_nul_become_storable() -> None:
    """A reply can hold what no database takes."""
    verdict = parse_reply('{"score": 4, "reasoning": "a\\ud800b\\u0000c"}', rubric=RUBRIC)
    assert verdict.explanation == "a\ufffdb\ufffdc"
    assert safe_text("plain") == "plain"


@pytest.mark.parametrize(("content", "expected"), [("1", 1.0), ("0.5", 0.5), ("-0.0", 0.0), ("4", R.OUT_OF_RANGE)])
def test_other_scales(content: str, expected: object) -> None:
    """The scale is the rubric's; zero has no sign."""
    rubric = Rubric(name="r", criterion="c", question="q", scale_min=0, scale_max=1, levels=())
    found = outcome(f'{{"score": {content}}}', rubric=rubric)
    assert found == expected
    if expected == 0.0:
        assert math.copysign(1.0, float(str(found))) == 1.0


def test_a_refused_value_is_kept_as_detail() -> None:
    """People can see what stood there."""
    assert parse_reply('{"score": "8/10"}', rubric=RUBRIC).detail == "8/10"
    assert parse_reply('{"score": 45}', rubric=RUBRIC).detail == "45.0"
    assert parse_reply('{"score": [1]}', rubric=RUBRIC).detail == "list"


def test_mappings_with_keys_of_any_case() -> None:
    """A verdict that is an object already."""
    members: dict[Any, Any] = {"Score": 3, "Reasoning": "ok", 5: "x"}
    verdict = verdict_from_mapping(members, rubric=RUBRIC)
    assert (verdict.score, verdict.explanation) == (3, "ok")


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a":' * 20_000, '{"score": ' + "[" * 2_000, "{" * 50_000])
def test_nesting_past_all_sense_ends_quickly(content: str) -> None:
    """Neither an exception nor a hang."""
    assert isinstance(outcome(content), UnscoredReason)


_PIECES = st.sampled_from(
    [
        '{"score": 5',
        '{"score": 5}',
        "}",
        "{",
        '"',
        "<think>",
        "</think>",
        "Rating: [[5]]",
        "score: ",
        "4",
        "-",
        ",",
        "\n",
    ]
)
_ODD_PIECES = st.sampled_from(
    ["NaN", "1e400", "true", "null", "```json\n", "```", "\\", "\ud800", "out of 5", "[", "]", ":", "/10", "I rate it "]
)
_NOISE = st.lists(st.one_of(_PIECES, _ODD_PIECES, st.text(max_size=6)), max_size=12).map("".join)


@settings(max_examples=400, deadline=None)
@given(_NOISE, st.sampled_from(["stop", "length", None, "content_filter"]))
def test_any_text_gives_a_score_on_the_scale_or_a_reason(content: str, finish_reason: str | None) -> None:
    """Never an exception, never a score off the scale, never text that cannot be stored."""
    verdict = parse_reply(content, rubric=RUBRIC, finish_reason=finish_reason)
    if verdict.score is not None:
        assert math.isfinite(verdict.score)
        assert 1 <= verdict.score <= 5
    for text in (verdict.explanation, verdict.detail, verdict.thinking, *verdict.strengths, *verdict.weaknesses):
        text.encode("utf-8")


_WORDS = st.text(alphabet="abc xyz.,!()\n'", max_size=40)
_SCORES = st.one_of(st.integers(1, 5), st.floats(1, 5).map(lambda x: round(x, 3)))


@settings(max_examples=300, deadline=None)
@given(
    score=_SCORES,
    texts=st.tuples(st.text(max_size=40), st.lists(st.text(max_size=10), max_size=3)),
    before=_WORDS,
    after=_WORDS,
    wrapping=st.sampled_from(["{}", "```json\n{}\n```", "```\n{}\n```", '<think>maybe {{"score": 1}}</think>\n{}']),
    indent=st.sampled_from([None, 2]),
)
def test_a_wrapped_verdict_comes_back(
    score: float, texts: tuple[str, list[str]], before: str, after: str, wrapping: str, indent: int | None
) -> None:
    """Whatever the judge writes around its one object, the score in it is the score."""
    body = json.dumps({"reasoning": texts[0], "strengths": texts[1], "score": score}, indent=indent)
    content = f"{before}\n{wrapping.format(body)}\n{after}"
    verdict = parse_reply(content, rubric=RUBRIC, finish_reason="stop")
    assert verdict.score == score


@given(st.sampled_from(LEVEL_NAMES))
def test_every_level_name_is_a_score(name: str) -> None:
    """The rubric's own words are as good as its numbers."""
    assert outcome(json.dumps({"score": name})) == LEVEL_NAMES.index(name) + 1
