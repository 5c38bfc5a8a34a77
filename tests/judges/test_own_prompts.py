"""A prompt file of one's own: sent to the byte, refused with the fix, graded on the scale that was set."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import ConfigError
from evaluator.judges.own_prompts import build_rubric, load_prompt
from evaluator.judges.prompts import PromptRenderer
from evaluator.judges.templates import split_roles
from evaluator.records import Item, Rubric

SCALE = build_rubric(name="mine", scale=(1, 5), levels=None)
ITEM = Item(input="q?", output="a!", reference="r", contexts=("c1", "c2"))


def messages(template: str, item: Item = ITEM, rubric: Rubric = SCALE) -> list[tuple[str, str]]:
    """What is sent of a verbatim template, as (role, content)."""
    renderer = PromptRenderer(template, rubric=rubric, fence_secret=None, verbatim=True)
    return [(message["role"], message["content"]) for message in renderer.render(item, item_id="i").messages]


# ---------------------------------------------------------------- to the byte


def test_file_without_roles_is_the_user_message_to_the_byte() -> None:
    """Blanks, line ends of any kind and braces stay as they are."""
    template = '\r\n  Rate {this}.\t\r\nQ:{{input}}\rA:{{ output }}\n{"score": 1}\n\n'
    assert messages(template) == [("user", '\r\n  Rate {this}.\t\r\nQ:q?\rA:a!\n{"score": 1}\n\n')]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_only_the_lines_of_the_roles_go_away(end: str) -> None:
    """And one line end before the next of them."""
    template = end.join(["=== system ===", " Be strict. ", "", "=== user ===  ", "{{output}}", "", "Score:", ""])
    assert messages(template) == [("system", f" Be strict. {end}"), ("user", f"a!{end}{end}Score:{end}")]


def test_text_before_the_first_role_is_the_users() -> None:
    """Nothing that was written is dropped; blank lines alone are no message."""
    assert messages("first {{output}}\n=== system ===\nsecond") == [("user", "first a!"), ("system", "second")]
    assert messages("\n\n=== user ===\n{{output}}") == [("user", "a!")]


def test_message_without_text_is_not_sent() -> None:
    """Servers refuse one."""
    assert messages("=== system ===\n=== user ===\n{{output}}\n=== system ===") == [("user", "a!")]


@given(
    before=st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="{=")),
    after=st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="{=")),
    answer=st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), min_size=1),
)
def test_whatever_lies_around_the_placeholders_is_sent_as_it_is(before: str, after: str, answer: str) -> None:
    """Also where the answer looks like a placeholder or a role."""
    template = before + "{{output}}" + after
    assert messages(template, Item(input="q", output=answer)) == [("user", before + answer + after)]


@given(st.lists(st.tuples(st.sampled_from(["system", "user"]), st.text("ab \t\r\n", min_size=1)), min_size=1))
def test_roles_come_apart_as_they_were_put_together(parts: list[tuple[str, str]]) -> None:
    """Joined by one line end each, every text comes back whole."""
    template = "\n".join(f"=== {role} ===\n{text}" for role, text in parts)
    expected = [
        (role, text.removesuffix("\r") if place < len(parts) - 1 else text) for place, (role, text) in enumerate(parts)
    ]
    assert split_roles(template, verbatim=True) == [(role, text) for role, text in expected if text]


def test_every_placeholder_has_its_text() -> None:
    """The four of an item and those of a rubric; what an item lacks is said."""
    text = messages("{{input}}|{{output}}|{{reference}}|{{contexts}}|{{scale_min}}-{{scale_max}}|{{levels}}")[0][1]
    assert text == "q?|a!|r|c1\nc2|1-5|1\n2\n3\n4\n5"
    assert messages("{{output}}|{{reference}}|{{contexts}}", Item(input="q", output="a")) == [
        ("user", "a|(none)|(none)")
    ]


def test_levels_of_ones_own_show_their_names() -> None:
    """In the order of their scores."""
    rubric = build_rubric(name="m", scale=None, levels={"pass": 1, "fail": 0})
    assert messages("{{output}} {{levels}}", rubric=rubric) == [("user", "a! 0 (fail)\n1 (pass)")]


# ---------------------------------------------------------------- the file


def test_file_is_loaded_to_the_byte(tmp_path: Path) -> None:
    """Only a mark of the encoding goes."""
    path = tmp_path / "judge.md"
    path.write_bytes("\ufeffÜ {{output}}\r\n\n ".encode())
    assert load_prompt(path, rubric=SCALE) == "Ü {{output}}\r\n\n "


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"Grade this.", "the prompt has no {{output}}; put it where the answer to grade belongs"),
        (b"", "the prompt has no {{output}}; put it where"),
        (b"Grade {output}", "it holds {output}: write {{output}} instead"),
        (b"Grade {answer}", "it holds {answer}: write {{output}} instead"),
        (b"Grade <output>x</output>", "it holds <output>: write {{output}} instead"),
        (b"Grade ${response}", "it holds ${response}: write {{output}} instead"),
        (b'Grade {answer}, reply {{"score": 1}}', "single braces where a brace is meant"),
        (b"Grade {{answer}}", "unknown placeholder {{answer}}; did you mean {{output}}? Known are aspects, "),
        (b"{{output}} {{question}}", "unknown placeholder {{question}}; did you mean {{input}}?"),
        (b"{{output}} {{referense}}", "unknown placeholder {{referense}}; did you mean {{reference}}?"),
        (b"{{output}} {{context}}", "unknown placeholder {{context}}; did you mean {{contexts}}?"),
        (b"{{output}} {{zebra}}", "unknown placeholder {{zebra}}; known are aspects, "),
        (b"{{output}} \xff", "is not UTF-8 (byte 12); save it as UTF-8"),
    ],
)
def test_file_that_cannot_work_is_refused_with_the_fix(tmp_path: Path, content: bytes, said: str) -> None:
    """Before anything is sent, with the file and what to write."""
    path = tmp_path / "judge.md"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_prompt(path, rubric=SCALE)
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"judge.prompt_file {path}")
    assert "\n" not in str(caught.value)


def test_missing_file_names_the_one_that_may_be_meant(tmp_path: Path) -> None:
    """A slip of the pen is the usual reason."""
    (tmp_path / "judge_prompt.md").write_text("{{output}}")
    with pytest.raises(ConfigError, match=r"there is no such file; did you mean 'judge_prompt\.md'\?"):
        load_prompt(tmp_path / "judge-prompt.md", rubric=SCALE)
    with pytest.raises(ConfigError, match=r"there is no such file; there is no folder"):
        load_prompt(tmp_path / "prompts" / "judge.md", rubric=SCALE)
    with pytest.raises(ConfigError, match=r"cannot be read"):
        load_prompt(tmp_path, rubric=SCALE)


# ---------------------------------------------------------------- the scale


@pytest.mark.parametrize(
    ("scale", "names"),
    [
        ((1, 5), ["1", "2", "3", "4", "5"]),
        ((0, 10), ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]),
        ((0, 1), ["0", "1"]),
        ((-1, 1), ["-1", "0", "1"]),
        ((0, 100), ["0", "100"]),
        ((0, 1.5), ["0", "1.5"]),
    ],
)
def test_levels_of_a_scale_are_its_whole_numbers_or_its_ends(scale: tuple[float, float], names: list[str]) -> None:
    """Where there are few."""
    rubric = build_rubric(name="mine", scale=(float(scale[0]), float(scale[1])), levels=None)
    assert [level.name for level in rubric.levels] == names
    assert [level.score for level in rubric.levels] == [float(name) for name in names]
    assert (rubric.scale_min, rubric.scale_max, rubric.criterion, rubric.question) == (*scale, "overall", "")


def test_named_levels_make_the_scale_unless_it_is_wider() -> None:
    """In the order of their scores."""
    rubric = build_rubric(name="mine", scale=None, levels={"good": 2.0, "bad": -1.0}, criterion="tone")
    assert (rubric.scale_min, rubric.scale_max, rubric.criterion) == (-1.0, 2.0, "tone")
    assert [level.name for level in rubric.levels] == ["bad", "good"]
    wider = build_rubric(name="mine", scale=(-5.0, 5.0), levels={"good": 2.0, "bad": -1.0})
    assert (wider.scale_min, wider.scale_max) == (-5.0, 5.0)
    assert wider.rubric_id != rubric.rubric_id


def test_rubric_without_a_scale_is_refused() -> None:
    """Nobody could tell a good score from a bad one."""
    with pytest.raises(ValueError, match="a scale or levels are needed"):
        build_rubric(name="mine", scale=None, levels=None)
