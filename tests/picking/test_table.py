"""The review as a table: safe to open, read back by ids and marks alone, whatever a spreadsheet did to the rest."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from evaluator.errors import DataFileError, UsageError
from evaluator.picking.review import ReviewItem
from evaluator.picking.table import COLUMNS, MOST_CHARS, Marks, load_marks, save_review
from evaluator.records import Item

IDS = ["a1", "b2", "c3", "d4"]


def review_item(item_id: str, *, output: str = "An answer.", decision: str | None = None) -> ReviewItem:
    """One answer to decide on."""
    return ReviewItem(
        item_id=item_id,
        item=Item(input="A question?", output=output, reference="-1"),
        tags={"topic": "=cmd()"},
        first=4.0,
        second=3.5,
        flags=("email", "phone"),
        decision=decision,
    )


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows as a spreadsheet shows them."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def marks(tmp_path: Path, content: str | bytes) -> Marks:
    """The marks of a table with this content."""
    path = tmp_path / "picks.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return load_marks(path, IDS)


def test_table_shows_texts_scores_and_flags_with_an_empty_column_keep(tmp_path: Path) -> None:
    """Decisions made before stand in it."""
    save_review([review_item("a1"), review_item("b2", decision="no")], tmp_path / "p.csv")
    first, second = read_table(tmp_path / "p.csv")
    assert tuple(first) == COLUMNS
    assert (first["keep"], second["keep"]) == ("", "no")
    assert (first["first_score"], first["second_score"], first["personal_data"]) == ("4.0", "3.5", "email, phone")


def test_formulas_control_characters_and_long_texts_are_defused(tmp_path: Path) -> None:
    """Graded text comes from strangers."""
    texts = ["=HYPERLINK(1)", "red \x1b[31m\x00", "x" * (MOST_CHARS + 5)]
    save_review([review_item(str(place), output=text) for place, text in enumerate(texts)], tmp_path / "p.csv")
    rows = read_table(tmp_path / "p.csv")
    assert rows[0]["answer"] == "'=HYPERLINK(1)"
    assert rows[0]["reference"] == "'-1"
    assert rows[1]["answer"] == "red \ufffd[31m\ufffd"
    assert rows[2]["answer"].endswith("x… [5 more characters]")


def test_table_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    """It may hold an afternoon's work."""
    path = tmp_path / "p.csv"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="may hold somebody's marks"):
        save_review([], path)
    assert path.read_text("utf-8") == "mine"


def test_table_comes_back_as_it_was_marked(tmp_path: Path) -> None:
    """Written, marked, read."""
    path = tmp_path / "p.csv"
    save_review([review_item(item_id, output='two\r\nlines, "quoted"') for item_id in IDS], path)
    rows = read_table(path)
    for row, mark in zip(rows, ("yes", "no", "", "x"), strict=True):
        row["keep"] = mark
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    assert load_marks(path, IDS) == Marks(decisions={"a1": "yes", "b2": "no", "d4": "yes"}, n_blank=1, n_missing=0)


@pytest.mark.parametrize("mark", ["yes", "YES", " y ", "1", "x", "TRUE"])
def test_marks_for_yes(tmp_path: Path, mark: str) -> None:
    """As people and spreadsheets write it."""
    assert marks(tmp_path, f"keep,item_id\n{mark},a1\n").decisions == {"a1": "yes"}


@pytest.mark.parametrize("mark", ["no", "N", "0", "False"])
def test_marks_for_no(tmp_path: Path, mark: str) -> None:
    """The other answer."""
    assert marks(tmp_path, f"keep,item_id\n{mark},a1\n").decisions == {"a1": "no"}


@pytest.mark.parametrize(
    "content",
    [
        "item_id;keep;rest\r\na1;yes;1,5\r\nb2;;\r\n",
        "Item_ID\tKeep\na1\tyes\nb2\t\n",
        "\ufeffkeep,item_id\nyes,a1\n,b2\n,\n\n",
        "keep\titem_id\r\nyes\ta1\r\n\tb2\r\n".encode("utf-16"),
        "keep;item_id;answer\nyes;a1;für\n;b2;\n".encode("cp1252"),
    ],
    ids=["semicolons", "tabs", "mark and empty rows", "utf-16", "cp1252"],
)
def test_what_spreadsheets_write_is_understood(tmp_path: Path, content: str | bytes) -> None:
    """Other separators, encodings, column orders; rows of nothing."""
    assert marks(tmp_path, content) == Marks(decisions={"a1": "yes"}, n_blank=1, n_missing=2)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("keep,item_id\nyes,zz\n", "line 2: item_id 'zz' is not of this pick"),
        ("keep,item_id\nyes,a1\nno,a1\n", "line 3: item_id 'a1' stands in line 2 already"),
        ("keep,item_id\nmaybe,a1\n", "line 2: keep 'maybe'; write yes or no, or leave it empty"),
        ("keep,id\nyes,a1\n", "has no column 'item_id'"),
        ("", "has no column 'keep'"),
        ("keep,item_id\n" + "".join(f"yes,z{n}\n" for n in range(8)), r"'z4' is not of this pick \(and 3 more\)"),
        ("keep,item_id\nyes," + "x" * 200_000 + "\n", "line 2: not a table of cells"),
    ],
)
def test_table_with_a_fault_is_refused_by_line(tmp_path: Path, content: str, fault: str) -> None:
    """Nothing of it is taken in."""
    with pytest.raises(DataFileError, match=fault):
        marks(tmp_path, content)


def test_table_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """No file, or a folder."""
    with pytest.raises(DataFileError, match=r"none\.csv cannot be read: No such file"):
        load_marks(tmp_path / "none.csv", IDS)
    with pytest.raises(DataFileError, match="cannot be read: Is a directory"):
        load_marks(tmp_path, IDS)
