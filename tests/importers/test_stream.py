"""Counts and positions: whatever is in a file, each row is an item or a reject, and the sums are right."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.importers import ImportedItem, Reject, iter_items, load_items
from evaluator.importers.columns import FIELD_NAMES
from evaluator.importers.fields import RowConverter
from evaluator.records import Item
from tests.importers.conftest import Load

KEYS = st.sampled_from([name for names in FIELD_NAMES.values() for name in names]) | st.text(max_size=8)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)
JSON_ROWS = st.dictionaries(KEYS, JSON_VALUES, max_size=8).map(lambda row: json.dumps(row).encode())
LINES = st.one_of(JSON_ROWS, st.binary(max_size=40).map(lambda line: b"~" + line.replace(b"\n", b"")), st.just(b" \t"))


def test_counts_grow_while_the_stream_is_read(tmp_path: Path) -> None:
    """An importer can show progress; the stream is read once."""
    path = tmp_path / "rows.jsonl"
    path.write_text('{"output": "a"}\n\nbroken\n{"output": "b"}\n', encoding="utf-8")
    stream = iter_items(path)
    seen = [(stream.n_rows, stream.n_items, stream.n_rejected, stream.n_blank) for _ in stream]
    assert seen == [(1, 1, 0, 0), (2, 1, 1, 1), (3, 2, 1, 1)]
    assert list(stream) == []


def test_equal_rows_without_an_id_are_numbered(load: Load) -> None:
    """Two users who got the same answer at the same second are two items; another time starts again."""
    rows = [{"output": "Yes.", "time": at} for at in (1767603600, 1767603600, 1767603601)]
    assert [entry.ordinal for entry in load(*rows).items] == [0, 1, 0]


def test_broken_lines_alone_are_no_missing_column(load: Load) -> None:
    """A file of broken lines gives rejects; its columns are unknown, so nothing is said about them."""
    loaded = load(b"broken\n", b"{\n")
    assert (loaded.n_rows, len(loaded.rejects)) == (2, 2)


def test_a_value_nested_too_deep_to_write_is_one_reject(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON that parses may still be too deep to write as text; how deep differs between versions of Python."""
    real_convert = RowConverter.convert

    def convert(self: RowConverter, values: Mapping[str, Any]) -> Item:
        if values["output"] == "deep":
            raise RecursionError
        return real_convert(self, values)

    monkeypatch.setattr(RowConverter, "convert", convert)
    loaded = load({"output": "Yes."}, {"output": "deep"}, {"output": "No."})
    assert [entry.line_number for entry in loaded.items] == [1, 3]
    assert [(reject.line_number, reject.reason) for reject in loaded.rejects] == [(2, "nested too deeply")]


@given(st.lists(LINES, max_size=12))
def test_every_line_is_an_item_a_reject_or_blank(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]) -> None:
    """Any bytes and any JSON: nothing raises, numbers rise, sums add up, all text is safe."""
    path = tmp_path_factory.mktemp("any") / "rows.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in [*lines, b'{"output": "Yes."}']))
    stream = iter_items(path)
    entries: list[ImportedItem | Reject] = list(stream)
    numbers = [entry.line_number for entry in entries]
    assert numbers == sorted(set(numbers))
    assert stream.n_rows == len(entries) == stream.n_items + stream.n_rejected
    assert stream.n_rows + stream.n_blank == len(lines) + 1
    for entry in entries:
        repr(entry).encode("utf-8")
        if isinstance(entry, ImportedItem):
            check_item(entry.item)


@given(st.lists(st.dictionaries(KEYS.filter(str.strip), JSON_VALUES, max_size=6), max_size=6))
def test_an_array_and_lines_of_the_same_rows_give_the_same_items(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    """The format is a wrapping, no more."""
    folder = tmp_path_factory.mktemp("same")
    rows = [{**row, "output": "Yes."} for row in rows]
    (folder / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    array, lines = load_items(folder / "rows.json"), load_items(folder / "rows.jsonl")
    assert array.items == lines.items
    assert [reject.reason for reject in array.rejects] == [reject.reason for reject in lines.rejects]


def check_item(item: Item) -> None:
    """Every field is of its type, and none holds what a database refuses."""
    assert isinstance(item.input, str)
    assert isinstance(item.output, str)
    texts = [item.input, item.output, item.reference, *item.contexts, item.external_id, item.model]
    texts += [*item.tags, *item.tags.values(), item.conversation_id, item.user_id]
    for text in texts:
        assert text is None or "\0" not in text
    assert item.answered_utc is None or item.answered_utc.endswith("Z")
    assert all(0 < len(value) <= 200 for value in item.tags.values())
    assert len(item.content_id) == 32
