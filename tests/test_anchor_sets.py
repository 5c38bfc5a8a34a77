"""Anchor sets and rubrics from files: read exactly, refused whole, with file, line, field and fix."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.anchor_sets import load_anchors, load_rubric, parse_rubric
from evaluator.errors import DataFileError, UsageError
from evaluator.resources import anchor_set_names
from tests.builders import rubric

RUBRIC = rubric()
ROW: dict[str, Any] = {"anchor_id": "a", "inputs": "Question?", "outputs": "Answer."}
BODY: dict[str, Any] = {
    "name": "mine",
    "question": "Is it right?",
    "scale": {"min": 0, "max": 1},
    "levels": [
        {"score": 1, "name": "right", "description": "It is."},
        {"score": 0, "name": "wrong", "description": "It is not."},
    ],
}


def write_set(folder: Path, *rows: Any) -> Path:
    """An anchor file: rows as JSON, texts as they are."""
    path = folder / "set.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def fault_of(folder: Path, *rows: Any) -> str:
    """The message about an anchor file that cannot be used."""
    path = write_set(folder, *rows)
    with pytest.raises(DataFileError) as caught:
        load_anchors(path.name, RUBRIC, folder=folder)
    assert str(path) in str(caught.value)
    return str(caught.value)


# ---------------------------------------------------------------- anchor sets


@pytest.mark.parametrize("name", anchor_set_names())
def test_shipped_sets_fit_their_rubrics(name: str) -> None:
    """Enough anchors, each with a name of its own and a score on the scale, on every level."""
    own = load_rubric(name)
    anchors = load_anchors(name, own)
    assert len(anchors) >= 60
    assert len({anchor.item.content_id for anchor in anchors}) == len(anchors)
    assert {anchor.expected_score for anchor in anchors} >= {level.score for level in own.levels}


def test_every_field_is_read(tmp_path: Path) -> None:
    """As it stands in the file."""
    row = ROW | {
        "expected_output": "Reference.",
        "retrieved_contexts": ["one", "two"],
        "expected_score": 3.5,
        "why": "Half of it.",
        "tags": {"topic": "x"},
    }
    (anchor,) = load_anchors(write_set(tmp_path, row).name, RUBRIC, folder=tmp_path)
    assert (anchor.anchor_id, anchor.expected_score, anchor.why) == ("a", 3.5, "Half of it.")
    item = anchor.item
    assert (item.input, item.output, item.reference) == ("Question?", "Answer.", "Reference.")
    assert (item.contexts, item.tags) == (("one", "two"), {"topic": "x"})


def test_what_is_left_out_or_null_is_nothing(tmp_path: Path) -> None:
    """No expectation, no reference, no contexts, no tags."""
    empty = dict.fromkeys(("expected_output", "retrieved_contexts", "expected_score", "why", "tags"))
    first, second = load_anchors(
        write_set(tmp_path, ROW, ROW | empty | {"anchor_id": "b"}).name, RUBRIC, folder=tmp_path
    )
    for anchor in (first, second):
        assert (anchor.expected_score, anchor.why, anchor.item.reference) == (None, "", None)
        assert (anchor.item.contexts, anchor.item.tags) == ((), {})


def test_lines_end_at_line_feeds_only(tmp_path: Path) -> None:
    """Other line marks inside a text are part of it; a mark of the encoding, blank lines and CRLF are not."""
    text = "one\u2028two\u2029three\x85four\x0bfive\x1csix"
    path = tmp_path / "set.jsonl"
    line = json.dumps(ROW | {"outputs": text}, ensure_ascii=False)
    path.write_bytes(b"\xef\xbb\xbf" + f"\r\n{line}\r\n  \n".encode())
    (anchor,) = load_anchors("set.jsonl", RUBRIC, folder=tmp_path)
    assert anchor.item.output == text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"expected": 3}, "unknown field 'expected'; known are anchor_id, inputs, outputs"),
        ({"anchor_id": " "}, "anchor_id is needed: a name of its own"),
        ({"anchor_id": 5}, "anchor_id is needed"),
        ({"inputs": None}, "inputs is needed: the question"),
        ({"outputs": ["x"]}, "outputs is needed: the answer that is graded"),
        ({"expected_score": 6}, "expected_score 6 is off the scale of rubric 'general', 1 to 5"),
        ({"expected_score": 0.99}, "expected_score 0.99 is off the scale"),
        ({"expected_score": "4"}, "expected_score '4' is not a number"),
        ({"expected_score": True}, "expected_score True is not a number"),
        ({"expected_score": float("nan")}, "expected_score is not a finite number"),
        ({"expected_score": 10**400}, "expected_score is not a finite number"),
        ({"expected_output": 4}, "expected_output 4: a text or null is needed"),
        ({"retrieved_contexts": "one"}, "retrieved_contexts 'one': a list of texts is needed"),
        ({"retrieved_contexts": 5}, "retrieved_contexts 5: a list of texts is needed"),
        ({"retrieved_contexts": [1]}, "retrieved_contexts [1]: a list of texts is needed"),
        ({"tags": ["x"]}, "tags ['x']: an object of texts is needed"),
        ({"tags": {"a": 1}}, "tags {'a': 1}: an object of texts is needed"),
        ({"why": 5}, "why 5: a text or null is needed"),
    ],
)
def test_fault_names_line_field_and_fix(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    """The second of two lines is the one that is wrong."""
    message = fault_of(tmp_path, ROW, ROW | {"anchor_id": "b"} | change)
    assert f"line 2: {said}" in message
    assert "line 1" not in message


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"anchor_id": "b", "inputs": ', "not valid JSON (Expecting value, character"),
        ("[1, 2]", "an object is needed"),
        ('"text"', "an object is needed"),
        ("[" * 100_000, "nested too deeply"),
        ('{"anchor_id": "b", "inputs": "q", "outputs": "\\ud83d"}', "a text holds half of a character"),
        (
            '{"anchor_id": "b", "inputs": "q", "outputs": "x", "expected_score": ' + "1" * 5000 + "}",
            "Exceeds the limit",
        ),
    ],
    ids=["cut", "list", "text", "deep", "half", "digits"],
)
def test_line_that_is_no_anchor_is_named(tmp_path: Path, line: str, said: str) -> None:
    """Broken JSON, another kind of value, or what no database can hold."""
    assert f"line 2: {said}" in fault_of(tmp_path, ROW, line)


def test_duplicate_names_both_lines(tmp_path: Path) -> None:
    """Two anchors of one name would be one line of scores."""
    message = fault_of(tmp_path, ROW, ROW | {"anchor_id": "b"}, ROW | {"outputs": "Other."})
    assert "line 3: anchor_id 'a' stands in line 1 already" in message


def test_many_faults_are_told_and_the_rest_counted(tmp_path: Path) -> None:
    """Twenty at once, so that a file is put right in few rounds."""
    message = fault_of(tmp_path, *[{"anchor_id": str(n)} for n in range(25)])
    assert "line 20:" in message
    assert "line 21:" not in message
    assert message.endswith("(and 5 more)")


def test_empty_file_is_refused(tmp_path: Path) -> None:
    """Without anchors nobody can tell who moved."""
    assert "holds no anchors" in fault_of(tmp_path, "", "  ")


@pytest.mark.parametrize("name", ["missing.jsonl", "sub/missing"])
def test_missing_file_is_named(tmp_path: Path, name: str) -> None:
    """With the folder it was looked for in."""
    with pytest.raises(DataFileError, match=r"there is no file .*missing"):
        load_anchors(name, RUBRIC, folder=tmp_path)


def test_unknown_name_lists_the_shipped_ones() -> None:
    """A name without a suffix is a shipped set's."""
    with pytest.raises(UsageError, match=r"there is no anchor set 'specific'; shipped are: .*general"):
        load_anchors("specific", RUBRIC)


@pytest.mark.parametrize("content", [b"\xff\xfe{\x00", None])
def test_unreadable_file_is_said(tmp_path: Path, content: bytes | None) -> None:
    """Another encoding, or a folder of that name."""
    path = tmp_path / "set.jsonl"
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(DataFileError, match=r"set.jsonl cannot be read"):
        load_anchors("set.jsonl", RUBRIC, folder=tmp_path)


# ---------------------------------------------------------------- rubrics


def test_rubric_is_read_with_its_levels_in_order() -> None:
    """From the lowest up, however they stand in the file."""
    found = parse_rubric(BODY | {"criterion": "right", "aspects": [{"name": "x", "description": "y"}]}, "here")
    assert [(level.score, level.name) for level in found.levels] == [(0, "wrong"), (1, "right")]
    assert (found.criterion, found.aspects) == ("right", (("x", "y"),))
    assert parse_rubric(BODY, "here").criterion == "overall"


def _with_levels(*scores: float) -> dict[str, Any]:
    return BODY | {"levels": [{"score": score, "name": "n", "description": "d"} for score in scores]}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (BODY | {"levles": []}, "unknown field 'levles'; known are aspects, criterion, levels"),
        ({key: value for key, value in BODY.items() if key != "question"}, "the field 'question' is missing"),
        (BODY | {"scale": {"min": 0}}, "the field 'max' is missing"),
        (BODY | {"scale": 5}, "rubric here: "),
        (BODY | {"scale": {"min": 1, "max": 1}}, "scale.min 1 must be less than scale.max 1"),
        (BODY | {"scale": {"min": "0", "max": 1}}, "scale.min '0' is not a number"),
        (BODY | {"name": None}, "name None: a text is needed"),
        (BODY | {"question": ["?"]}, "question ['?']: a text is needed"),
        (BODY | {"levels": [{"score": 0, "name": "n"}]}, "the field 'description' is missing"),
        (_with_levels(0), "at least two levels are needed, there are 1"),
        (_with_levels(0, 1, 1), "each level needs a score of its own"),
        (_with_levels(0, 2), "level 'n' has score 2, off the scale 0 to 1"),
        (_with_levels(0, float("inf")), "levels.score is not a finite number"),
        (BODY | {"aspects": [{"name": "x"}]}, "the field 'description' is missing"),
    ],
)
def test_rubric_with_a_fault_is_refused(body: dict[str, Any], said: str) -> None:
    """The message names the field."""
    with pytest.raises(DataFileError) as caught:
        parse_rubric(body, "here")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"), [("{", "not valid JSON"), ("[]", "an object with name"), ("[" * 100_000, "deeply")]
)
def test_rubric_file_that_is_none_is_refused(tmp_path: Path, text: str, said: str) -> None:
    """With its path."""
    (tmp_path / "mine.json").write_text(text)
    with pytest.raises(DataFileError, match=r"mine\.json") as caught:
        load_rubric("mine.json", folder=tmp_path)
    assert said in str(caught.value)


def test_rubric_is_found_by_name_and_by_file(tmp_path: Path) -> None:
    """A shipped one, one beside the configuration, and neither."""
    assert load_rubric("general").name
    (tmp_path / "mine.json").write_text(json.dumps(BODY), encoding="utf-8-sig")
    assert load_rubric("mine.json", folder=tmp_path).name == "mine"
    with pytest.raises(UsageError, match=r"there is no rubric 'mine'"):
        load_rubric("mine", folder=tmp_path)
    with pytest.raises(DataFileError, match=r"there is no file"):
        load_rubric("other.json", folder=tmp_path)
