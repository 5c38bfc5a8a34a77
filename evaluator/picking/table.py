"""A review as a spreadsheet: written with an empty column ``keep``, read back with a person's marks in it.

Only ids and marks are read back; texts are those of the database, whatever a spreadsheet made of them.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluator.errors import DataFileError, UsageError
from evaluator.export import csv_bytes
from evaluator.picking.review import ReviewItem

COLUMNS = ("keep", "item_id", "question", "answer", "reference", "tags", "first_score", "second_score", "personal_data")
MOST_CHARS = 8_000  # of a text; spreadsheets take some 32,000 in a cell
_YES = frozenset({"yes", "y", "1", "x", "true"})
_NO = frozenset({"no", "n", "0", "false"})
_NAMED = 5
_MOST_MARK_CHARS = 1_000
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


@dataclass(frozen=True, kw_only=True)
class Marks:
    """What a table says: "yes" or "no" by item id; how many rows are blank, how many are not there."""

    decisions: dict[str, str]
    n_blank: int
    n_missing: int


def save_review(items: Iterable[ReviewItem], path: Path) -> None:
    """Write a review as CSV; decisions made before stand in ``keep``.

    Raises:
        UsageError: the file exists: somebody may have filled it in.
    """
    rows = [
        {
            "keep": item.decision,
            "item_id": item.item_id,
            "question": _cut(item.item.input),
            "answer": _cut(item.item.output),
            "reference": None if item.item.reference is None else _cut(item.item.reference),
            "tags": "; ".join(f"{key}={value}" for key, value in item.tags.items()),
            "first_score": item.first,
            "second_score": item.second,
            "personal_data": ", ".join(item.flags),
        }
        for item in items
    ]
    try:
        with path.open("xb") as file:
            file.write(csv_bytes(rows, COLUMNS))
    except FileExistsError as error:
        raise UsageError(
            f"{path} exists already and may hold somebody's marks; name another file with --out, or read it with"
            f" `judgewatch anchors freeze --from {path}`"
        ) from error


def _cut(text: str) -> str:
    """The start of a text; control characters are shown as a mark, since it is only read, never taken back."""
    text = _CONTROL.sub("\ufffd", text)
    left_out = len(text) - MOST_CHARS
    return text if left_out <= 0 else f"{text[:MOST_CHARS]}… [{left_out} more characters]"


def load_marks(path: Path, known_ids: Sequence[str]) -> Marks:
    """Read the marks of a table; commas, semicolons and tabs between cells are understood.

    Raises:
        DataFileError: no table, a mark that is neither yes nor no, an id that is not of this pick or stands twice.
    """
    rows = _read_rows(path)
    known, decisions, n_blank = set(known_ids), {}, 0
    faults: list[str] = []
    seen: dict[str, int] = {}
    for line, row in rows:
        item_id, mark = row["item_id"].strip(), row["keep"].strip().casefold()
        if not item_id and not mark:
            continue
        if item_id not in known:
            faults.append(f"line {line}: item_id {item_id!r} is not of this pick")
        elif item_id in seen:
            faults.append(f"line {line}: item_id {item_id!r} stands in line {seen[item_id]} already")
        elif mark in _YES or mark in _NO:
            decisions[item_id] = "yes" if mark in _YES else "no"
        elif mark:
            faults.append(f"line {line}: keep {row['keep'].strip()!r}; write yes or no, or leave it empty")
        else:
            n_blank += 1
        seen.setdefault(item_id, line)
    if faults:
        more = f" (and {len(faults) - _NAMED} more)" if len(faults) > _NAMED else ""
        raise DataFileError(f"{path}: " + "; ".join(faults[:_NAMED]) + more)
    return Marks(decisions=decisions, n_blank=n_blank, n_missing=len(known - set(seen)))


def _read_rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    """Rows with the line they end in; at least the columns keep and item_id are there."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataFileError(f"{path} cannot be read: {error.strerror or error}") from error
    # ids and marks are plain letters in every encoding that spreadsheets write; only UTF-16 spells them otherwise
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    text = content.decode(encoding, "replace").replace("\0", "")
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, restval="")
    try:
        names = {name.strip().casefold(): name for name in reader.fieldnames or () if name}
        for needed in ("keep", "item_id"):
            if needed not in names:
                raise DataFileError(f"{path} has no column {needed!r}; it should be the file that --out wrote")
        rows = [(reader.line_num, {key: row[names[key]] or "" for key in ("keep", "item_id")}) for row in reader]
    except csv.Error as error:
        raise DataFileError(f"{path}, line {reader.line_num + 1}: not a table of cells ({error})") from error
    for number, cells in rows:
        if max(map(len, cells.values())) > _MOST_MARK_CHARS:
            raise DataFileError(f"{path}, line {number}: not a table of cells (a mark or an id has whole texts in it)")
    return rows
