"""Columns and rows: which column means what, what becomes a tag, what is left out and said."""

from __future__ import annotations

from typing import Any

import pytest

from evaluator.errors import DataFileError, UsageError
from evaluator.importers import Limits
from evaluator.importers.columns import FIELD_NAMES, ColumnPlanner, normal_name
from evaluator.records import Item, ItemFlag
from tests.importers.conftest import Load

ATTRIBUTES = {"id": "external_id", "answered_at": "answered_utc"}
PLAIN = {"id": "r1", "input": "Open?", "output": "Yes.", "answered_at": "2026-01-05T09:00:00Z"}


def one(load: Load, row: dict[str, Any], **settings: Any) -> Item:
    loaded = load(row, **settings)
    assert not loaded.rejects
    return loaded.items[0].item


@pytest.mark.parametrize(("field", "name"), [(field, name) for field, names in FIELD_NAMES.items() for name in names])
def test_every_listed_name_is_read_as_its_field(load: Load, field: str, name: str) -> None:
    """Each name of the list fills its field, and is no tag."""
    value = "2026-01-05T09:00:00Z" if field == "answered_at" else "value"
    item = one(load, {"output": "Yes.", name: value} if field != "output" else {name: value})
    got = getattr(item, ATTRIBUTES.get(field, field))
    assert got == ((value,) if field == "contexts" else value)
    assert item.tags == {}


@pytest.mark.parametrize("name", ["actualOutput", "Actual Output", " ACTUAL-OUTPUT ", "actual_output"])
def test_names_are_compared_without_case_and_writing(load: Load, name: str) -> None:
    """Camel case, blanks and dashes are the writing of the exporter."""
    assert normal_name(name) == "actual_output"
    assert one(load, {name: "Yes."}).output == "Yes."


def test_the_first_name_of_the_list_wins_and_the_loser_is_noted(load: Load) -> None:
    """Whatever the order in the row; the note counts rows and names the way to choose."""
    loaded = load({"prompt": "full prompt", "question": "Open?", "output": "Yes."}, {"question": "Q", "output": "A"})
    assert [entry.item.input for entry in loaded.items] == ["Open?", "Q"]
    assert loaded.items[0].item.tags == {}
    assert loaded.notes == (
        "column 'prompt' was left out in 1 row: 'question' is the input; choose with --field input=prompt",
    )


def test_an_empty_first_column_gives_way_to_a_filled_second(load: Load) -> None:
    """A table that unites two sources fills one column or the other."""
    loaded = load({"input": None, "question": "Open?", "output": "Yes."}, {"input": "", "question": "Q", "output": "A"})
    assert [entry.item.input for entry in loaded.items] == ["Open?", "Q"]
    assert loaded.notes == ()


def test_a_named_column_is_used_and_serves_no_other_field(load: Load) -> None:
    """--field output=prompt makes the prompt the answer, and not the question, too."""
    item = one(load, {"Prompt": "Hello", "output": "Yes."}, field_map={"output": "prompt"})
    assert (item.input, item.output) == ("", "Hello")
    assert item.tags == {"output": "Yes."}


def test_an_empty_name_switches_a_field_off(load: Load) -> None:
    """A column 'time' that holds seconds of latency is no time of day."""
    row = {"output": "Yes.", "time": 3.2}
    assert "outside the years" in load(row).rejects[0].reason
    item = one(load, row, field_map={"answered_at": ""})
    assert item.answered_utc is None
    assert item.tags == {"time": "3.2"}


def test_an_unknown_field_is_refused_with_the_list(load: Load) -> None:
    """The message names the fields that there are."""
    with pytest.raises(UsageError, match=r"no field 'score'; fields are input, output"):
        load(PLAIN, field_map={"score": "x"})


def test_a_named_column_that_never_occurs_is_refused(load: Load) -> None:
    """A typing error in --field must not pass for a file without references."""
    with pytest.raises(DataFileError, match=r"no row has the column 'gold', named by --field reference.*'id', 'input'"):
        load(PLAIN, field_map={"reference": "gold"})
    with pytest.raises(DataFileError, match=r"no row has the column 'reply', named by --field output"):
        load(PLAIN, field_map={"output": "reply"})


def test_a_file_without_answers_is_refused_with_columns_and_fix(load: Load) -> None:
    """The message shows what the file has and which option helps."""
    with pytest.raises(DataFileError, match=r"columns seen: 'id', 'reply_text'.*--field output=NAME"):
        load({"id": 1, "reply_text": "Yes."}, {"id": 2, "reply_text": "No."})


def test_a_row_without_an_answer_field_is_rejected_among_others(load: Load) -> None:
    """A line of another kind in a log is not an empty answer."""
    loaded = load(PLAIN, {"event": "startup"})
    assert len(loaded.items) == 1
    assert [(reject.line_number, reject.reason) for reject in loaded.rejects] == [(2, "no field for the answer")]
    assert loaded.rejects[0].text_start == "event: startup"


def test_a_file_without_questions_is_read_and_said(load: Load) -> None:
    """Grading without the question is possible, but rarely meant."""
    loaded = load({"output": "Yes.", "instruct": "Open?"})
    assert ItemFlag.EMPTY_INPUT in loaded.items[0].item.flags
    assert "--field input=NAME" in loaded.notes[0]


def test_other_plain_values_are_tags_in_their_json_writing(load: Load) -> None:
    """Numbers and truth values as JSON writes them; empty ones are none."""
    row = {
        "output": "Yes.",
        " lang ": " en ",
        "n": 3,
        "x": 0.5,
        "ok": True,
        "no": None,
        "blank": " ",
        "nan": float("nan"),
    }
    assert one(load, row).tags == {"lang": "en", "n": "3", "x": "0.5", "ok": "true"}


def test_tags_and_metadata_are_flattened_one_level(load: Load) -> None:
    """Columns of the row come before entries of the same name; JSON in a cell is read; lists of words are joined."""
    row = {"output": "Yes.", "lang": "en", "tags": {"lang": "de", "team": "a"}, "metadata": '{"site": "x", "deep": {}}'}
    loaded = load(row, {"output": "No.", "tags": ["rag", "beta"], "metadata": "plain"})
    assert [entry.item.tags for entry in loaded.items] == [
        {"lang": "en", "team": "a", "site": "x"},
        {"tags": "rag, beta", "metadata": "plain"},
    ]
    assert loaded.notes[0] == "column 'deep' was left out in 1 row: a list or an object is no tag"


def test_long_text_is_no_tag_and_is_noted(load: Load) -> None:
    """Two hundred characters are a tag, one more is not."""
    row = {"input": "Open?", "output": "Yes.", "fits": "x" * 200, "long": "x" * 201, "nested": [1]}
    loaded = load(row, row)
    assert set(loaded.items[0].item.tags) == {"fits"}
    assert loaded.notes == (
        "column 'long' was left out in 2 rows: longer than 200 characters",
        "column 'nested' was left out in 2 rows: a list or an object is no tag",
    )


def test_the_number_of_tags_is_bounded(load: Load) -> None:
    """A row with thousands of columns fills neither memory nor store."""
    loaded = load({"output": "Yes.", **{f"k{n}": n for n in range(5)}}, limits=Limits(n_tags=3))
    assert list(loaded.items[0].item.tags) == ["k0", "k1", "k2"]
    assert len([note for note in loaded.notes if "more than 3 tags" in note]) == 2


def test_ids_are_text_and_empty_ones_are_none(load: Load) -> None:
    """Numbers are written as JSON; an id that is an object is its JSON text."""
    ids = [7, 1.5, "  r1 ", "", None, {"oid": "a"}]
    loaded = load(*({"id": value, "output": "Yes."} for value in ids))
    assert [entry.item.external_id for entry in loaded.items] == ["7", "1.5", "r1", None, None, '{"oid": "a"}']
    assert [entry.ordinal for entry in loaded.items] == [0, 0, 0, 0, 1, 0]


def test_an_id_too_long_to_be_one_is_rejected(load: Load) -> None:
    """A text in the id column is a mapping error, not an id."""
    assert load({"id": "x" * 501, "output": "Yes."}).rejects[0].reason == "id is longer than 500 characters"


def test_a_span_is_a_better_id_than_its_trace(load: Load) -> None:
    """One trace may hold several answers."""
    assert one(load, {"trace_id": "t", "span_id": "s", "output": "Yes."}).external_id == "s"


@pytest.mark.parametrize(
    ("value", "contexts"),
    [
        (["a", "b"], ("a", "b")),
        ("one text", ("one text",)),
        ('["a", "b"]', ("a", "b")),
        ("['a', 'b']", ("a", "b")),
        ("[see note]", ("[see note]",)),
        ([{"page_content": "a"}, {"text": "b"}, None, ""], ("a", "b")),
        (None, ()),
        ("", ()),
    ],
)
def test_contexts_are_read_from_lists_objects_and_cells(load: Load, value: object, contexts: tuple[str, ...]) -> None:
    """A table holds a list as JSON or as Python wrote it."""
    assert one(load, {"output": "Yes.", "contexts": value}).contexts == contexts


def test_a_reference_may_be_a_message_and_an_empty_one_is_none(load: Load) -> None:
    """What is read for an answer is read for a reference answer."""
    assert one(load, {"output": "A", "reference": {"role": "assistant", "content": "Yes."}}).reference == "Yes."
    assert one(load, {"output": "A", "reference": {"target": "Yes."}}).reference == "Yes."
    assert one(load, {"output": "A", "reference": ""}).reference is None


def test_times_set_their_flags(load: Load) -> None:
    """Naive and missing times are marked; good ones carry nothing."""
    loaded = load(PLAIN, {**PLAIN, "answered_at": "2026-01-05 09:00"}, {**PLAIN, "answered_at": None})
    assert [entry.item.flags for entry in loaded.items] == [
        frozenset(),
        frozenset({ItemFlag.NAIVE_TIME}),
        frozenset({ItemFlag.NO_TIME}),
    ]


def test_a_default_time_fills_rows_without_one(load: Load) -> None:
    """Only those, and marked; a default that is no time is refused before the file is read."""
    row = {key: value for key, value in PLAIN.items() if key != "answered_at"}
    item = one(load, row, default_answered_utc="2026-02-01T00:00:00Z")
    assert (item.answered_utc, item.flags) == ("2026-02-01T00:00:00Z", frozenset({ItemFlag.GIVEN_TIME}))
    kept = one(load, PLAIN, default_answered_utc="2026-02-01T00:00:00Z")
    assert (kept.answered_utc, kept.flags) == ("2026-01-05T09:00:00Z", frozenset())
    with pytest.raises(UsageError, match="rows without one"):
        load(PLAIN, default_answered_utc="soon")


def test_unsafe_text_is_repaired_in_every_field_and_marked(load: Load) -> None:
    """Half a surrogate pair reaches neither texts, ids nor tags; the rest of the text stays."""
    row = {"id": "a\ud83d", "input": "b\0", "output": "c", "contexts": ["d\udc00"], "lang": "e\ud83d", "k\ud83d": "f"}
    item = one(load, row)
    assert (item.external_id, item.input, item.contexts) == ("a\ufffd", "b\ufffd", ("d\ufffd",))
    assert item.tags == {"lang": "e\ufffd", "k\ufffd": "f"}
    assert ItemFlag.ALTERED_TEXT in item.flags
    repr(item).encode("utf-8")


def test_rows_of_countless_shapes_do_not_fill_the_memory() -> None:
    """Columns are remembered up to a bound, and the plan of a row is the same beyond it."""
    planner = ColumnPlanner()
    for n in range(3000):
        assert planner.plan((f"column {n}", "output")).output == ("output",)
    assert len(planner.columns) <= 1001
