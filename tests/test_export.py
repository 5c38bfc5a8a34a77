"""CSV that a spreadsheet may open: text never runs, numbers stay numbers."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from evaluator.export import csv_bytes, safe_cell, write_csv

CASES = Path(__file__).parent / "cases" / "inputs" / "x01_cells.jsonl"
RUNS_AS_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def read_back(raw: bytes) -> list[list[str]]:
    """The cells of a downloaded file, header first."""
    return list(csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline="")))


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-2+3", "@SUM(1)", "\t=1", "\r=1", " =1", "\n=1", "  -x", "\u00a0=1", " \tx"]
)
def test_text_like_a_formula_gets_an_apostrophe(text: str) -> None:
    """White space in front of the sign does not hide it; behind the apostrophe only line ends change."""
    assert safe_cell(text) == "'" + text.replace("\r", "\n")


@pytest.mark.parametrize("text", ["one\r=2+2", "one\r\ntwo\r", "\r\r=1", "a\r"])
def test_carriage_return_starts_no_row_of_its_own(text: str) -> None:
    """A lone carriage return inside a cell would end the row, and what follows it could run."""
    assert len(read_back(csv_bytes([{"a": text, "b": 1}], ["a", "b"]))) == 2
    assert b"\r" not in csv_bytes([{"a": text, "b": 1}], ["a", "b"])


@pytest.mark.parametrize("text", ["", "help", "a=b", "1-2", "'=1", "$5", "   ", "é", "…=1"])
def test_plain_text_is_left_alone(text: str) -> None:
    """Nothing is added where nothing can run."""
    assert safe_cell(text) == text


@pytest.mark.parametrize("value", [-0.5, 3, 0, None, True, float("-1e-9")])
def test_values_that_are_no_text_are_left_alone(value: object) -> None:
    """A difference of -0.5 stays a number."""
    assert safe_cell(value) is value


def test_negative_number_is_written_as_a_number_and_missing_as_empty() -> None:
    """A column of differences can be summed in the spreadsheet."""
    rows = [{"name": "a", "change": -0.5}, {"name": "b", "change": None}, {"name": "c"}]
    assert read_back(csv_bytes(rows, ["name", "change"])) == [["name", "change"], ["a", "-0.5"], ["b", ""], ["c", ""]]


def test_case_x01_has_no_cell_that_runs() -> None:
    """Case X01: neither response nor segment starts like a formula; "-3.5" as a text is neutralised too."""
    rows = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    cells = read_back(csv_bytes(rows, ["id", "response", "segment"]))
    assert len(cells) == len(rows) + 1
    assert not [cell for row in cells for cell in row if cell.lstrip(" ").startswith(RUNS_AS_FORMULA)]
    assert [row[1] for row in cells if row[0] == "o5"] == ["'-3.5"]
    assert [row[1].removeprefix("'") for row in cells[1:]] == [row["response"] for row in rows]


def test_column_name_from_a_tag_is_neutralised() -> None:
    """Tag keys become column names; they are text like any other."""
    assert read_back(csv_bytes([{"=k": 1}], ["=k"])) == [["'=k"], ["1"]]


def test_line_breaks_commas_and_quotes_survive() -> None:
    """One cell stays one cell."""
    text = 'a,"b"\nc'
    assert read_back(csv_bytes([{"t": text}], ["t"]))[1] == [text]


def test_write_csv_counts_the_rows() -> None:
    """The number of rows is what the caller reports; the header does not count."""
    target = io.StringIO(newline="")
    assert write_csv(target, ({"a": n} for n in range(3)), ["a"]) == 3
    assert target.getvalue() == "a\n0\n1\n2\n"


def test_download_says_that_it_is_utf8() -> None:
    """Spreadsheets read UTF-8 without a mark as another encoding."""
    assert csv_bytes([{"a": "é"}], ["a"]).startswith(b"\xef\xbb\xbf")
