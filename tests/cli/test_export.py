"""``judgewatch export``: exact texts, safe spreadsheets, files that are whole or not there."""

from __future__ import annotations

import csv
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from evaluator import exporting
from evaluator.exporting import COLUMNS, export
from evaluator.records import UnscoredReason
from evaluator.store.db import open_reader
from tests.builders import World, answer
from tests.cli.conftest import ok, ok_json, refused

Database = Callable[[str], Path]
FORMATS = ("csv", "jsonl", "parquet")
WHATS = ("verdicts", "items", "days")
ODD = ["=1+1", " +2", "-3", "@x", "\tx", "\r=x", "plain", 'q"uo,te\nline', "日本 😀", "\x1b[31m"]


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """Answers that try to be formulas, one of them without a score."""
    db = tmp_path / "odd.db"
    with World(path=db, keys=[("kind", "")]) as world:
        anchors = world.add_anchors([1, 5])
        items = [
            answer(n, f"2026-11-{20 + n}", output=text, tags={"kind": text}, contexts=(text, "b"))
            for n, text in enumerate(ODD)
        ]
        ids = world.add_answers(items)
        scores: dict[str, Any] = {item_id: float(1 + n % 5) for n, item_id in enumerate(ids)}
        scores[ids[6]] = UnscoredReason.TIMEOUT
        world.run("2026-11-30", anchors={i: 3.5 for i, _ in anchors}, answers=scores, share=0.5)
    return db


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of an exported file."""
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
    if path.suffix == ".parquet":
        rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        return rows
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("what", WHATS)
@pytest.mark.parametrize("file_format", FORMATS)
def test_every_row_and_column_is_there(odd: Path, what: str, file_format: str) -> None:
    """The same rows in each format."""
    out = Path(f"x.{file_format}")
    payload = ok_json("export", "--db", odd, "--what", what, "--format", file_format, "--out", out)
    rows = read_rows(out)
    assert payload["n_rows"] == len(rows) == {"verdicts": 12, "items": 12, "days": 21}[what]
    assert list(rows[0]) == list(COLUMNS[what])  # type: ignore[index]  # one of the three
    assert payload["size_bytes"] == out.stat().st_size
    assert [path.name for path in Path().iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("file_format", ["jsonl", "parquet"])
def test_texts_come_back_exactly(odd: Path, file_format: str) -> None:
    """Code point for code point, also those that CSV defuses."""
    out = Path(f"x.{file_format}")
    ok("export", "--db", odd, "--what", "items", "--format", file_format, "--out", out)
    rows = [row for row in read_rows(out) if row["source"] == "traffic"]
    assert sorted(row["output"] for row in rows) == sorted(ODD)
    assert all(row["contexts"] == [row["output"], "b"] for row in rows)
    tags = [row["tags"] if file_format == "jsonl" else json.loads(row["tags"]) for row in rows]
    assert sorted(tag["kind"] for tag in tags) == sorted(ODD)


def test_no_text_of_the_csv_runs_as_a_formula(odd: Path) -> None:
    """In any column of any kind of rows; numbers stay numbers."""
    for what in WHATS:
        ok("export", "--db", odd, "--what", what, "--format", "csv", "--out", f"{what}.csv")
        for row in read_rows(Path(f"{what}.csv")):
            for name, cell in row.items():
                is_text = COLUMNS[what][name] not in ("number", "integer")  # type: ignore[index]  # one of the three
                assert not is_text or cell.lstrip()[:1] not in ("=", "+", "-", "@"), (name, cell)
                assert cell[:1] not in ("\t", "\r", "\n")
    outputs = {row["output"] for row in read_rows(Path("items.csv")) if row["source"] == "traffic"}
    assert "'=1+1" in outputs
    assert "plain" in outputs
    for row in read_rows(Path("verdicts.csv")):
        assert row["score"] == "" or 1 <= float(row["score"]) <= 5


def test_verdicts_say_what_was_asked_and_what_answered(odd: Path) -> None:
    """A row can be understood alone: setup, run, instrument, probability, reason."""
    ok("export", "--db", odd, "--format", "jsonl", "--out", "x.jsonl")
    rows = read_rows(Path("x.jsonl"))
    anchor = next(row for row in rows if row["source"] == "anchor")
    assert (anchor["anchor_id"], anchor["expected_score"], anchor["day"]) == ("gen-01", 1.0, "2026-11-30")
    graded = next(row for row in rows if row["source"] == "traffic" and row["score"] is not None)
    assert (graded["setup"], graded["model_asked"], graded["inclusion_probability"]) == (1, "judge-large", 0.5)
    assert graded["resolved_model"] == "judge-large-2026-07-18"
    assert graded["strengths"] == ["Answers the question."]
    assert graded["run_status"] == "finished"
    (failed,) = [row for row in rows if row["score"] is None]
    assert (failed["unscored_reason"], failed["raw_reply"]) == ("timeout", "")


def test_days_have_means_with_intervals_by_segment(database: Database) -> None:
    """The numbers of ``history`` and more."""
    db = database("sixty_days")
    ok("export", "--db", db, "--what", "days", "--format", "jsonl", "--out", "x.jsonl")
    rows = [row for row in read_rows(Path("x.jsonl")) if row["source"] == "traffic"]
    history = ok_json("history", "--db", db, "--segment", "topic=billing")["days"]
    mine = [row for row in rows if (row["key"], row["value"], row["key2"]) == ("topic", "billing", "")]
    names = ("day", "n", "n_unscored", "mean", "low", "high")
    assert [[row[name] for name in names] for row in mine] == [[day[name] for name in names] for day in history]
    assert {row["level"] for row in rows} == {0.95}
    assert all(row["method"] for row in rows)


def test_period_can_be_chosen(odd: Path) -> None:
    """Days of the answers; anchors by their run."""
    options = ["--since", "2026-11-22", "--until", "2026-11-24"]
    ok("export", "--db", odd, "--format", "jsonl", "--out", "x.jsonl", *options)
    assert [row["day"] for row in read_rows(Path("x.jsonl"))] == ["2026-11-22", "2026-11-23", "2026-11-24"]


def test_existing_file_is_kept_unless_forced(odd: Path) -> None:
    """A slip of the keyboard must not cost a file."""
    Path("x.csv").write_text("mine", encoding="utf-8")
    line = refused("export", "--db", odd, "--format", "csv", "--out", "x.csv", code=64)
    assert "x.csv exists already" in line
    assert Path("x.csv").read_text("utf-8") == "mine"
    ok("export", "--db", odd, "--format", "csv", "--out", "x.csv", "--force")
    assert len(read_rows(Path("x.csv"))) == 12


def test_place_that_cannot_be_written_is_named(odd: Path) -> None:
    """The file, the reason, exit 1."""
    line = refused("export", "--db", odd, "--format", "csv", "--out", "no/such/folder/x.csv", code=1)
    assert line == "no/such/folder/x.csv cannot be written: No such file or directory"


@pytest.mark.parametrize("file_format", FORMATS)
def test_export_that_fails_half_way_leaves_nothing(
    odd: Path, file_format: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither half a file nor a temporary one, and an older export stays."""
    original = exporting.stream.verdicts

    def failing(*args: Any, **options: Any) -> Any:
        for place, row in enumerate(original(*args, **options)):
            if place == 5:
                raise OSError(28, "No space left on device")
            yield row

    monkeypatch.setattr(exporting.stream, "verdicts", failing)
    out = Path(f"x.{file_format}")
    out.write_text("older", encoding="utf-8")
    line = refused("export", "--db", odd, "--format", file_format, "--out", out, "--force", code=1)
    assert line == f"{out} cannot be written: No space left on device"
    assert out.read_text("utf-8") == "older"
    assert [path.name for path in Path().iterdir() if "part" in path.name] == []


def test_file_that_appears_meanwhile_is_not_replaced(odd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two exports to one name: the second says so."""
    original = exporting.stream.verdicts

    def while_another_writes(*args: Any, **options: Any) -> Any:
        yield from original(*args, **options)
        Path("x.jsonl").write_text("theirs", encoding="utf-8")

    monkeypatch.setattr(exporting.stream, "verdicts", while_another_writes)
    assert "meanwhile" in refused("export", "--db", odd, "--format", "jsonl", "--out", "x.jsonl", code=64)
    assert Path("x.jsonl").read_text("utf-8") == "theirs"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--format", "xlsx"], "'xlsx' is not one of"),
        (["--format", "csv", "--since", "May"], "--since 'May' is not a day"),
        (["--format", "csv", "--what", "runs"], "'runs' is not one of"),
        ([], "Missing option '--format'"),
    ],
)
def test_wrong_option_is_refused(odd: Path, args: list[str], message: str) -> None:
    """64, and no file."""
    assert message in refused("export", "--db", odd, "--out", "x.csv", *args, code=64)
    assert not Path("x.csv").exists()


@pytest.mark.parametrize("file_format", FORMATS)
def test_memory_stays_flat(tmp_path: Path, file_format: Any) -> None:
    """Twenty megabytes of texts go through a few."""
    db = tmp_path / "big.db"
    with World(path=db, keys=[]) as world:
        for day in range(1, 6):
            world.add_answers([answer(n, f"2026-11-0{day}", output=f"{n} " * 1000) for n in range(1500)])
    with open_reader(db) as store:
        options: dict[str, Any] = {"app": "support-bot", "what": "items", "file_format": file_format}
        export(store, out=tmp_path / "warm", **{**options, "what": "days"})
        tracemalloc.start()
        report = export(store, out=tmp_path / "out", **options)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert report.n_rows == 7500
    assert peak < 16_000_000
