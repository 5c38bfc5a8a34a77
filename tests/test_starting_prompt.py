"""What is read off a prompt of one's own, or off replies: examples, scales, where the score stands."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import UsageError
from evaluator.judges.own_prompts import build_rubric
from evaluator.judges.parse import parse_reply
from evaluator.records import Rubric
from evaluator.starting.examples import Blank, find_examples, number_places
from evaluator.starting.own_prompt import check_own_flags, clear_scale, listed, read_prompt, settle_own_prompt
from evaluator.starting.scales import find_scales
from evaluator.starting.score_places import places_in_prompt, places_in_replies, shows_field
from tests.first_hour.house_judge import JUDGE_PROMPT

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def rubric(low: float = 0.0, high: float = 10.0) -> Rubric:
    """A scale of one's own."""
    return build_rubric(name="own", scale=(low, high), levels=None)


def paths(text: str) -> list[str]:
    """Where numbers stand in the objects of a text."""
    return [place.path for example in find_examples(text) for place in number_places(example.members)]


# ---------------------------------------------------------------- examples


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"points": 7, "comment": "one sentence"}', ["points"]),
        ('{"grading": {"points": 7}} and {{output}}', ["grading.points"]),
        ('{{ "points": <int 1-5>, "why": <string> }}', ["points"]),
        ('{"points": N} or {"points": [1-5]}', ["points", "points"]),
        ('{"a": [{"b": 1}, 2]}', ["a[0].b", "a[1]"]),
        ('{\n  "points": 1-5,  // whole, please\n  "ok": true,\n}', ["points"]),
        ('{"points": "7/10", "x": "<number>", "y": "1-2 sentences", "z": "7 days"}', ["points", "x"]),
        ('{"verdict": "yes" | "no", "points": 3, ...}', ["points"]),
        ('{"points": "a number from 1 to 5"}', ["points"]),
        ('{"points": null, "why": text, "quote": "C:\\dir"}', []),
        ("{{input}} {not json} {}", []),
        ('{"points": 7', []),
        ('{"points"', []),
        ('{"a": ' * 60 + "1" + "}" * 60, [".".join("a" * 41)]),
    ],
)
def test_examples_are_found_as_prompts_write_them(text: str, found: list[str]) -> None:
    """JSON, or nearly: blanks, remarks, choices, marks of a template; what is no object is none."""
    assert paths(text) == found


def test_schema_stands_for_what_it_asks_for() -> None:
    """With the ends of the scale, where it has them; bare or wrapped as providers want it."""
    schema = {
        "type": "object",
        "properties": {
            "why": {"type": "string", "maxLength": 200},
            "grade": {"type": "object", "properties": {"points": {"type": "integer", "minimum": 0, "maximum": 10}}},
            "parts": {"type": "array", "items": {"type": "number"}},
        },
    }
    for text in (json.dumps(schema), json.dumps({"name": "verdict", "strict": True, "schema": schema}, indent=2)):
        assert paths(text) == ["grade.points", "parts[0]"]
        assert find_scales(text) == ((0, 10),)
    assert paths('{"properties": 3, "schema": "x"}') == ["properties"]


def test_example_keeps_its_spelling_and_its_place() -> None:
    """Keys as they are written; what is to be filled in is told apart from a text."""
    (example,) = find_examples('say {"Points": <0-10>, "Why": "x"} only')
    assert example.members == {"Points": Blank(text="<0-10>"), "Why": "x"}
    assert (example.start, example.end) == (4, 34)


@given(st.text(alphabet='{}[]":,.<>\\/ \n0a', max_size=60))
def test_no_text_breaks_the_search_for_examples(text: str) -> None:
    """Whatever stands in a prompt."""
    for example in find_examples(text):
        list(number_places(example.members))


@given(st.dictionaries(st.text(max_size=4), JSON_VALUES, min_size=1, max_size=3))
def test_whole_json_is_read_as_json_reads_it(members: dict[str, object]) -> None:
    """The lenient reader is no other reader where nothing is lenient."""
    (example,) = find_examples(f"so: {json.dumps(members)}")
    assert example.members == members


# ---------------------------------------------------------------- scales


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (JUDGE_PROMPT, [(0, 10)]),
        ("Score it from 0 to 10.", [(0, 10)]),
        ("a rating (1-5)", [(1, 5)]),
        ("rate between 0 and 1", [(0, 1)]),
        ("from 0 (worst) to 100 (best) points", [(0, 100)]),
        ("Skala von 1 bis 6", [(1, 6)]),
        ("a scale of -1 to 1", [(-1, 1)]),
        ("grade: 0.0\u20131.0", [(0, 1)]),
        ('{"x": <1-5>}', [(1, 5)]),
        ('{"verdict": 0 or 1}', [(0, 1)]),
        ("1: bad\n2: so so\n5: good", [(1, 5)]),
        ("Score 1: bad\nScore 2: better", [(1, 2)]),
        ("0 points: no. 5 points: half. 10 points: all. Score from 0 to 10.", [(0, 10)]),
        ("Score style from 1 to 5 and facts from 0 to 10", [(1, 5), (0, 10)]),
        ("Score from 1 to 5, again: rate 1-5", [(1, 5)]),
        ("Give a score. Answer in 2-3 sentences.", []),
        ("the rates of 2019-2024", []),
        ("grade page 5-1", []),
        ("2 points: correct. 3 points: complete.", []),
        ("1. Read. 2. Rate.", []),
        ("score 10-20%", []),
        ("the opening hours are 9-5", []),
        ("", []),
    ],
)
def test_scale_is_read_as_prompts_name_it(text: str, found: list[tuple[float, float]]) -> None:
    """Ranges of scores and lists of levels; ranges of other things are none."""
    assert list(find_scales(text)) == found


def test_scale_is_clear_only_where_the_example_is_on_it() -> None:
    """An example of 7 speaks against 1 to 5, and for one of two."""
    assert clear_scale('Score 1-5. {"points": 7}', {}) is None
    assert clear_scale('Style score 1-5, facts score 0-10. {"points": 7}', {}) == (0, 10)
    assert clear_scale('Score 1-5. {"points": 4, "order": 77}', {"score_field": "points"}) == (1, 5)
    assert clear_scale("Say how good it is.", {}) is None


# ---------------------------------------------------------------- places in a prompt


def test_only_number_of_the_example_is_the_field() -> None:
    """As a company's prompt has it."""
    places = places_in_prompt(JUDGE_PROMPT)
    assert (places.fields, places.is_default, places.patterns) == (("grading.points",), False, ())
    assert places.numbers == {"grading.points": (7,)}


def test_score_is_where_it_is_looked_for_anyway() -> None:
    """Also in the only object inside."""
    assert places_in_prompt('{"score": 4, "n": 2}').is_default
    assert places_in_prompt('{"result": {"Score": 4}}').is_default
    assert not places_in_prompt('{"score": {"value": 4}}').is_default
    assert places_in_prompt('{"score": {"value": 4}}').fields == ("score.value",)


def test_numbers_off_the_scale_are_no_scores() -> None:
    """Where another is on it; else they are all there is."""
    text = 'Order: {"order": 4711}. {"quality": 4}'
    assert places_in_prompt(text).fields == ("order", "quality")
    assert places_in_prompt(text, scale=(1, 5)).fields == ("quality",)
    assert places_in_prompt('{"order": 4711}', scale=(1, 5)).fields == ("order",)


def test_path_that_a_setting_cannot_name_is_left_out() -> None:
    """A key with a dot inside another key."""
    assert places_in_prompt('{"a": {"b.c": 1}}').fields == ()
    assert places_in_prompt('{"b.c": 1}').fields == ("b.c",)


FORMS = [
    ('end with "Rating: [[rating]]"', "Rating: [[7]]"),
    ("Rating: N", "Good.\n**Rating:** 7"),
    ("Points: 7/10", "Points: 7/10"),
    ("Total rating: (your rating, a number between 1 and 10)", "Total rating: 7"),
    ("Style score: 3\nOverall score: <0-10>", "style score: 3\noverall score: 7"),
    ("Bewertung: ___", "bewertung = 7"),
    ("<rating>N</rating>", "<Rating> 7 </Rating>"),
    ("Verdict: [a number]", "Verdict: 3 at first.\nVerdict: [7]"),
]


@pytest.mark.parametrize(("prompt", "reply"), FORMS)
def test_form_in_prose_becomes_a_pattern_that_reads_it(prompt: str, reply: str) -> None:
    """One group, the score; tried on a reply of that form."""
    (pattern,) = places_in_prompt(f"Grade. {prompt}\n{{{{output}}}}").patterns
    assert re.compile(pattern).groups == 1
    assert parse_reply(reply, rubric=rubric(), score_pattern=pattern).score == 7


@pytest.mark.parametrize("reply", ["Rating: 7,5", "Rating: 6-7", "Rating: 70%", "Rating: 7/100", "Rating: x7", "7"])
def test_pattern_reads_no_half_of_a_number(reply: str) -> None:
    """A gap, not a wrong number."""
    (pattern,) = places_in_prompt("Rating: N {{output}}").patterns
    assert parse_reply(reply, rubric=rubric(), score_pattern=pattern).score is None


@pytest.mark.parametrize(
    "prompt", ["", "Score: {{output}}", "[[A]] or [[B]]", "Verdict: [pass or fail]", "Score: 5 is good, and 1 bad."]
)
def test_prompt_without_a_form_of_numbers_gives_no_pattern(prompt: str) -> None:
    """Nothing is made up."""
    assert places_in_prompt(prompt).patterns == ()


def test_field_is_looked_up_in_the_example() -> None:
    """As a reply would be; without an example nobody knows."""
    assert shows_field('{"grading": {"points": 7}}', "points") is True
    assert shows_field('{"grading": {"points": 7}}', "grading.score") is False
    assert shows_field("no example", "points") is None


# ---------------------------------------------------------------- places in replies


def test_field_that_reads_every_reply_is_found() -> None:
    """On the scale in each: a count of words is none, nor what only some have."""
    replies = [
        '{"grading": {"points": 7, "words": 120}, "n": 1}',
        'Sure:\n```json\n{"grading": {"points": 3, "words": 95}}\n```',
        '<think>{"points": 1}</think>{"grading": {"points": 0, "words": 8}}',
    ]
    assert places_in_replies(replies, rubric=rubric()) == (("grading.points",), ())
    assert places_in_replies([*replies, "no"], rubric=rubric()) == ((), ())
    assert places_in_replies([*replies, ""], rubric=rubric()) == ((), ())


def test_all_fields_that_do_are_named() -> None:
    """Which of them is the score a person has to say."""
    found, _ = places_in_replies(['{"style": 2, "facts": 3}', '{"style": 1, "facts": 4}'], rubric=rubric())
    assert found == ("style", "facts")


def test_pattern_that_reads_every_reply_is_found() -> None:
    """From a label that stands before a number, in any words."""
    replies = ["Line 1: fine.\nMy points = 7", "Nice.\nmy points: **3**"]
    fields, (pattern,) = places_in_replies(replies, rubric=rubric())
    assert fields == ()
    assert [parse_reply(reply, rubric=rubric(), score_pattern=pattern).score for reply in replies] == [7, 3]


def test_without_replies_nothing_is_found() -> None:
    """None came."""
    assert places_in_replies([], rubric=rubric()) == ((), ())


def test_judge_that_goes_on_for_a_megabyte_is_not_searched_to_its_end() -> None:
    """Every brace of it could begin an example."""
    started = time.monotonic()
    assert places_in_replies(['{"a":' * 200_000], rubric=rubric()) == ((), ())
    assert time.monotonic() - started < 10


# ---------------------------------------------------------------- what goes into the configuration


def settle(folder: Path, text: str, **given: object) -> tuple[dict[str, object], list[str]]:
    """Settle the choices of a prompt with this text."""
    (folder / "p.txt").write_text(text, "utf-8")
    choices, notes = settle_own_prompt({"prompt_file": "p.txt", **given}, folder)
    del choices["prompt_file"]
    return choices, notes


def test_what_the_prompt_says_is_taken_and_told(tmp_path: Path) -> None:
    """Both settings, each with the flag that says otherwise."""
    choices, notes = settle(tmp_path, JUDGE_PROMPT)
    assert choices == {"scale": (0, 10), "score_field": "grading.points"}
    assert "from 0 to 10" in notes[0]
    assert "--scale" in notes[0]
    assert notes[1].startswith('score_field = "grading.points": ')


def test_what_was_given_stands(tmp_path: Path) -> None:
    """Nothing is read off, and nothing is told."""
    given = {"scale": (0, 20), "score_field": "points"}
    assert settle(tmp_path, JUDGE_PROMPT, **given) == (given, [])
    pattern = {"scale": (0, 20), "score_pattern": "(.)"}
    assert settle(tmp_path, JUDGE_PROMPT, **pattern) == (pattern, [])


def test_field_that_the_example_lacks_is_doubted(tmp_path: Path) -> None:
    """Kept, since a judge may do otherwise than it is shown."""
    choices, (note,) = settle(tmp_path, JUDGE_PROMPT, scale=(0, 10), score_field="grading.score")
    assert choices["score_field"] == "grading.score"
    assert "no number at 'grading.score', but at grading.points" in note


def test_prompt_that_asks_for_score_needs_nothing(tmp_path: Path) -> None:
    """It is looked for there anyway."""
    assert settle(tmp_path, '{{output}} {"score": 3, "n": 2}', scale=(1, 5)) == ({"scale": (1, 5)}, [])


def test_form_in_prose_is_taken_and_told(tmp_path: Path) -> None:
    """As a pattern."""
    choices, (note,) = settle(tmp_path, "{{output}} Rating: [[N]]", scale=(1, 5))
    assert str(choices["score_pattern"]).startswith(r"\[\[")
    assert note.startswith("score_pattern = '")


def test_prompt_that_shows_nothing_is_told_of(tmp_path: Path) -> None:
    """Where the score is looked for then."""
    choices, (note,) = settle(tmp_path, "{{output}} How good?", scale=(1, 5))
    assert choices == {"scale": (1, 5)}
    assert 'looked for under "score"' in note
    assert "judgewatch doctor" in note


@pytest.mark.parametrize(
    ("text", "given", "said"),
    [
        ("{{output}} How good?", {}, "--scale MIN MAX"),
        ("{{output}} Score style 1-5 and facts 0-9", {}, "1 to 5 and 0 to 9, and which is meant is not clear"),
        ('{{output}} Score 1-5: {"points": 7}', {}, "1 to 5, and which is meant is not clear"),
        ('{{output}} {"a": 1, "b": {"c": 2}}', {"scale": (1, 5)}, "at a, b.c; say which is the score"),
        ("How good?", {"scale": (1, 5)}, "p.txt has no {{output}}"),
    ],
)
def test_what_is_not_clear_is_refused(tmp_path: Path, text: str, given: dict[str, object], said: str) -> None:
    """With what was seen, and the flag."""
    with pytest.raises(UsageError, match=re.escape(said)):
        settle(tmp_path, text, **given)


def test_without_a_prompt_nothing_of_it_may_be_said(tmp_path: Path) -> None:
    """The flags belong to it."""
    assert settle_own_prompt({"model": "m"}, tmp_path) == ({"model": "m"}, [])
    for name in ("scale", "score_field", "score_pattern"):
        with pytest.raises(UsageError, match=f"--{name.replace('_', '-')} belongs to"):
            check_own_flags({name: "x"})
    with pytest.raises(UsageError, match="give one of them"):
        check_own_flags({"prompt_file": "p", "score_field": "x", "score_pattern": "(.)"})


def test_prompt_file_is_read_as_text(tmp_path: Path) -> None:
    """With or without the mark of its encoding; named as it was given."""
    path = tmp_path / "p.txt"
    path.write_bytes(b"\xef\xbb\xbf{{ output }}")
    assert read_prompt(path) == "{{ output }}"
    path.write_bytes(b"\xff\xfe{")
    with pytest.raises(UsageError, match="mine cannot be read as text"):
        read_prompt(path, called="mine")
    with pytest.raises(UsageError, match=r"there is no prompt file .*gone"):
        read_prompt(tmp_path / "gone")


def test_many_paths_are_cut_short() -> None:
    """A line stays a line."""
    assert listed(("a", "b")) == "a, b"
    assert listed(tuple("abcdefghij")) == "a, b, c, d, e, f, g, h and 2 more"
