"""The three formats: every line is a row, a reject with its number, or a counted blank."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import DataFileError, UsageError
from evaluator.importers import READERS, Limits, Reject, detect_format, iter_items, load_items, read_rows
from evaluator.importers.csv_table import sniff_delimiter
from tests.importers.conftest import SAMPLES, Load

ANSWER = b'{"id": "a", "output": "Yes."}\n'


def rejects(loaded_rejects: tuple[Reject, ...]) -> list[tuple[int, str]]:
    return [(reject.line_number, reject.reason) for reject in loaded_rejects]


@pytest.mark.parametrize("suffix", sorted(READERS))
def test_a_good_sample_of_each_format_is_read_whole(suffix: str) -> None:
    """Two items, nothing rejected."""
    loaded = load_items(SAMPLES / f"good.{suffix}")
    assert [entry.item.external_id for entry in loaded.items] == ["a1", "a2"]
    assert (loaded.n_rows, loaded.rejects) == (2, ())


@pytest.mark.parametrize("suffix", sorted(READERS))
def test_an_empty_sample_of_each_format_has_no_rows(suffix: str) -> None:
    """An empty file is no error and no item."""
    loaded = load_items(SAMPLES / f"empty.{suffix}")
    assert (loaded.items, loaded.rejects, loaded.n_rows, loaded.notes) == ((), (), 0, ())
    assert loaded.n_blank == (2 if suffix == "jsonl" else 0)


def test_the_broken_sample_of_json_lines() -> None:
    """The good line is read; four bad ones are named."""
    loaded = load_items(SAMPLES / "broken.jsonl")
    assert [entry.line_number for entry in loaded.items] == [1]
    assert rejects(loaded.rejects) == [
        (2, "broken JSON at character 1: Expecting value"),
        (3, "not a JSON object"),
        (4, "more text after the JSON object, from character 30"),
        (5, "broken JSON at character 14: Unterminated string"),
    ]
    assert loaded.rejects[0].text_start == "no json"


def test_the_broken_sample_of_a_table() -> None:
    """Rows with too many or too few cells and a quote that never closes are rejected."""
    loaded = load_items(SAMPLES / "broken.csv")
    assert [entry.item.external_id for entry in loaded.items] == ["a1"]
    assert rejects(loaded.rejects) == [
        (3, "3 cells, but the header names 2 columns"),
        (4, "1 cells, but the header names 2 columns"),
        (5, "broken row: unexpected end of data"),
    ]


def test_the_broken_sample_of_an_array_is_refused_as_a_whole() -> None:
    """There is no telling where a broken array goes on."""
    with pytest.raises(DataFileError, match=r"broken\.json: broken JSON at character 47: Unterminated string"):
        load_items(SAMPLES / "broken.json")


@pytest.mark.parametrize(
    ("name", "content", "format_name"),
    [
        ("a.jsonl", b"[1]", "jsonl"),
        ("a.NDJSON", b"", "jsonl"),
        ("a.csv", b"{", "csv"),
        ("a.tsv", b"", "csv"),
        ("a.json", b'\n [{"output": 1}]', "json"),
        ("a.json", b'{"output": 1}\n{"output": 2}', "jsonl"),
        ("a.json", b'{\n "output": 1}', "json"),
        ("a.json", b"", "json"),
        ("a.log", b'{"output": 1}', "jsonl"),
        ("a.log", b'\xef\xbb\xbf{"output": 1}', "jsonl"),
        ("a.txt", b"id,output", "csv"),
    ],
)
def test_the_format_is_found_by_suffix_then_by_content(
    tmp_path: Path, name: str, content: bytes, format_name: str
) -> None:
    """Suffixes that say enough are believed; .json may be either."""
    path = tmp_path / name
    path.write_bytes(content)
    assert detect_format(path) == format_name


def test_a_format_that_is_named_counts_and_an_unknown_one_is_refused(load: Load) -> None:
    """The option overrides the suffix."""
    assert len(load(ANSWER, name="rows.csv", format="jsonl").items) == 1
    with pytest.raises(UsageError, match="format 'xml' is unknown; formats are jsonl, json, csv"):
        load(ANSWER, format="xml")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (ANSWER.decode().encode("utf-16"), "UTF-16"),
        (b"\x1f\x8b\x08\x00", "gzip"),
        (b"PK\x03\x04rest", "spreadsheet"),
        (b"PAR1rest", "Parquet"),
        (b"SQLite format 3\x00", "database"),
    ],
)
def test_files_that_are_no_text_are_refused_with_the_fix(load: Load, content: bytes, problem: str) -> None:
    """One message for the file instead of a reject for each line."""
    with pytest.raises(DataFileError, match=problem):
        load(content)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    """The message names the path."""
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(DataFileError, match=f"{path.name}: cannot be read"):
            load_items(path)


def test_a_mark_crlf_and_blank_lines_are_no_part_of_the_rows(load: Load) -> None:
    """Blank lines are counted and keep the numbers of the others right."""
    loaded = load(b"\xef\xbb\xbf" + ANSWER.replace(b"\n", b"\r\n"), b"\r\n", b"  \n", ANSWER.rstrip())
    assert [entry.line_number for entry in loaded.items] == [1, 4]
    assert loaded.items[0].item.external_id == "a"
    assert (loaded.n_rows, loaded.n_blank) == (2, 2)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv"])
def test_bytes_that_are_no_utf8_reject_their_row_alone(load: Load, name: str) -> None:
    """Both formats alike, with the fix; the rows around it are read."""
    lines = [b"id,output\n", b"a,Yes.\n", b"b,sp\xe4t\n", b"c,No.\n"]
    if name == "rows.jsonl":
        lines = [ANSWER, ANSWER, b'{"output": "sp\xe4t"}\n', ANSWER]
    loaded = load(*lines, name=name)
    assert loaded.rejects[0].line_number == 3
    assert "--encoding cp1252" in loaded.rejects[0].reason
    assert "save the file as UTF-8" in loaded.rejects[0].reason
    assert loaded.items[-1].line_number == 4


def test_a_line_over_the_limit_is_rejected_and_the_rest_is_read(load: Load) -> None:
    """One endless line does not end the import, in either format."""
    long_line = b'{"output": "' + b"x" * 500 + b'"}\n'
    loaded = load(ANSWER, long_line, ANSWER, limits=Limits(row_bytes=100))
    assert [entry.line_number for entry in loaded.items] == [1, 3]
    assert rejects(loaded.rejects) == [(2, "the line is longer than 100 bytes")]
    table = load(b"output\n", b"x" * 500 + b"\n", b"Yes.\n", name="rows.csv", limits=Limits(row_bytes=100))
    assert [entry.line_number for entry in table.items] == [3]
    assert rejects(table.rejects) == [(2, "the line is longer than 100 bytes")]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"output": ' + b"[" * 200_000, "nested too deeply"),
        (b'{"output": ' + b"9" * 5000 + b"}", "too many digits"),
        (b'{"output": "a\tb"}', "Invalid control character"),
        (b"null", "not a JSON object"),
        (b"\x00", "broken JSON"),
    ],
)
def test_json_that_breaks_parsers_is_one_reject(load: Load, line: bytes, reason: str) -> None:
    """Depth, digits and control characters are the row's problem, not the program's."""
    loaded = load(line + b"\n", ANSWER)
    assert reason in loaded.rejects[0].reason
    assert len(loaded.items) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [(b"[\n", b"]\n"), (b'{"data": [\n', b"]}\n"), (b"\n [\n\n", b"]"), (b'{\n"next": null,\n"data": [\n', b"]}\n")],
)
def test_one_document_over_several_lines_is_no_json_lines(load: Load, before: bytes, after: bytes) -> None:
    """Its last object would pass for the only row, since no comma follows it."""
    row = ANSWER.rstrip()
    with pytest.raises(DataFileError, match=r"rows\.jsonl: one JSON document over several lines.*ending \.json"):
        load(before, row + b",\n", row + b",\n", row + b"\n", after, name="rows.jsonl")


def test_first_row_that_was_cut_off_is_one_reject(load: Load) -> None:
    """The row after it is whole, so these are lines."""
    loaded = load(b'{"output":\n', ANSWER, b'{"output": "x"},\n', ANSWER)
    assert [entry.line_number for entry in loaded.items] == [2, 4]
    assert [entry.line_number for entry in loaded.rejects] == [1, 3]


def test_numbers_that_are_none_are_missing(load: Load) -> None:
    """NaN and Infinity, which some writers put into JSON, are read as null."""
    item = load(b'{"output": NaN, "score": Infinity, "big": 1e999, "n": -Infinity}\n').items[0].item
    assert (item.output, item.tags) == ("", {})


def test_a_table_may_use_semicolons_or_tabs_and_quotes(load: Load) -> None:
    """The delimiter is read off the header, outside quotes."""
    assert sniff_delimiter('"a;b;c",d') == ","
    assert sniff_delimiter("output") == ","
    for delimiter in (",", ";", "\t"):
        header = delimiter.join(["id", '"a, b; c"', "output"]).encode() + b"\n"
        row = delimiter.join(["1", "x", '"He said ""no""' + delimiter + '\nand left."']).encode() + b"\n"
        item = load(header, row, name="rows.csv").items[0].item
        assert item.output == f'He said "no"{delimiter}\nand left.'
        assert item.tags == {"a, b; c": "x"}


def test_line_numbers_of_a_table_are_physical_lines(load: Load) -> None:
    """A record is named by the line on which it starts, blank lines and line breaks in cells included."""
    loaded = load(b"id,output\r\n", b'1,"a\r\nb\r\nc"\r\n', b"\r\n", b"2\r\n", b"3,x\r\n", name="rows.csv")
    assert [entry.line_number for entry in loaded.items] == [2, 7]
    assert [reject.line_number for reject in loaded.rejects] == [6]
    assert loaded.n_blank == 1


def test_quotes_that_are_not_csv_are_rejected_not_repaired(load: Load) -> None:
    """Reading on by guess would alter the text in silence."""
    loaded = load(b"id,output\n", b'1,"He said "hi" twice"\n', b"2,ok\n", name="rows.csv")
    assert [entry.item.external_id for entry in loaded.items] == ["2"]
    assert loaded.rejects[0].reason.startswith("broken row")
    assert loaded.rejects[0].text_start == '1,"He said "hi" twice"'


def test_the_header_is_read_past_a_mark_and_blank_lines(load: Load) -> None:
    """The first column is 'id', without an invisible mark; columns without a name are left out."""
    loaded = load(b"\xef\xbb\xbf\n", b"id,output,\n", b"1,Yes.,7\n", name="rows.csv")
    assert (loaded.items[0].item.external_id, loaded.items[0].item.tags) == ("1", {})
    assert loaded.n_blank == 1


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        (b"id,output,id\n", "'id' occurs twice"),
        (b'id,"out\n', "header cannot be read"),
        (b"id,\xff\n", "not UTF-8; name the file's encoding"),
    ],
)
def test_a_header_that_cannot_be_used_refuses_the_file(load: Load, header: bytes, problem: str) -> None:
    """Without a header no row means anything."""
    with pytest.raises(DataFileError, match=problem):
        load(header, name="rows.csv")


def test_an_array_names_the_position_of_a_bad_element(load: Load) -> None:
    """Elements count from one."""
    loaded = load(b'[{"output": "Yes."}, 5, {"output": "No."}]', name="rows.json")
    assert [entry.line_number for entry in loaded.items] == [1, 3]
    assert rejects(loaded.rejects) == [(2, "not a JSON object")]


def test_an_array_too_large_and_a_single_object_are_refused(load: Load) -> None:
    """Both messages say what to save instead."""
    with pytest.raises(DataFileError, match="more than 10 bytes; save it as JSON lines"):
        load(b'[{"output": "Yes."}]', name="rows.json", limits=Limits(json_bytes=10))
    with pytest.raises(DataFileError, match="an array of objects or JSON lines is needed"):
        load(b'{\n"output": "Yes."}', name="rows.json")


TABLES = st.lists(
    st.lists(
        st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\r")), min_size=2, max_size=2
    ),
    max_size=8,
)


@given(TABLES)
def test_a_table_written_by_the_csv_module_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]
) -> None:
    """Whatever text is in the cells, quotes, delimiters and line breaks included."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL)
    writer.writerows([["id", "output"], *rows])
    path = tmp_path_factory.mktemp("table") / "rows.csv"
    path.write_bytes(buffer.getvalue().encode("utf-8"))
    assert [entry.values for entry in read_rows(path)] == [{"id": a, "output": b} for a, b in rows]


def test_memory_stays_flat_over_many_rows(tmp_path: Path) -> None:
    """Thirty thousand rows of six megabytes are read in less than one."""
    path = tmp_path / "rows.jsonl"
    row = {"input": "Open on Sunday? " * 4, "output": "Yes, from 10 to 4. " * 5, "lang": "en"}
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": n, **row}) + "\n" for n in range(30_000))
    tracemalloc.start()
    try:
        n_items = sum(1 for _ in iter_items(path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert n_items == 30_000
    assert peak < 1_000_000
