"""Writes what the store holds to a file: verdicts, answers or daily means, as JSON lines, CSV or Parquet.

JSON lines and Parquet hold the exact texts. CSV is for spreadsheets: texts that would run as a formula are defused.
Rows are written as they are read, so memory stays flat; the file appears whole or not at all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evaluator.day_means import day_means
from evaluator.errors import JudgewatchError, UsageError
from evaluator.export import write_csv
from evaluator.records import Source
from evaluator.store import read, stream
from evaluator.store.db import Store
from evaluator.store.read import FIRST_DAY, LAST_DAY

if TYPE_CHECKING:
    import pyarrow as pa

What = Literal["verdicts", "items", "days"]
FileFormat = Literal["jsonl", "csv", "parquet"]
Kind = Literal["text", "integer", "number", "flag", "list", "object"]
Row = Mapping[str, Any]

_BATCH_ROWS = 2_000
_BATCH_CHARS = 2_000_000  # some answers are longer than two thousand others together

_VERDICTS: Mapping[str, Kind] = {
    "item_id": "text", "source": "text", "external_id": "text", "anchor_id": "text", "day": "text",
    "answered_utc": "text", "slot_utc": "text", "run_id": "text", "run_status": "text", "setup": "integer",
    "ruler_id": "text", "model_asked": "text", "rubric": "text", "criterion": "text", "scale_min": "number",
    "scale_max": "number", "score": "number", "expected_score": "number", "unscored_reason": "text",
    "explanation": "text", "strengths": "list", "weaknesses": "list", "detail": "text", "raw_reply": "text",
    "inclusion_probability": "number", "resolved_model": "text", "fingerprint": "text", "output_mode": "text",
    "finish_reason": "text", "prompt_cut": "flag", "latency_ms": "number", "prompt_tokens": "integer",
    "completion_tokens": "integer", "cost_usd": "number", "graded_utc": "text",
}  # fmt: skip
_ITEMS: Mapping[str, Kind] = {
    "item_id": "text", "source": "text", "external_id": "text", "version": "integer", "answered_utc": "text",
    "day": "text", "conversation_id": "text", "user_id": "text", "model": "text", "input": "text", "output": "text",
    "reference": "text", "contexts": "list", "tags": "object", "flags": "text", "content_id": "text",
}  # fmt: skip
_DAYS: Mapping[str, Kind] = {
    "day": "text", "source": "text", "setup": "integer", "ruler_id": "text", "criterion": "text", "key": "text",
    "value": "text", "key2": "text", "value2": "text", "n": "integer", "n_unscored": "integer",
    "n_clusters": "integer", "mean": "number", "low": "number", "high": "number", "level": "number", "method": "text",
}  # fmt: skip
COLUMNS: Mapping[What, Mapping[str, Kind]] = {"verdicts": _VERDICTS, "items": _ITEMS, "days": _DAYS}


@dataclass(frozen=True, kw_only=True)
class ExportReport:
    """What was written."""

    path: str
    n_rows: int
    size_bytes: int


def export(
    store: Store,
    *,
    app: str,
    what: What,
    file_format: FileFormat,
    out: Path,
    since: str | None = None,
    until: str | None = None,
    force: bool = False,
) -> ExportReport:
    """Write rows of an app to a file.

    Args:
        store: A store, read-only is enough.
        app: The app.
        what: "verdicts", "items" (answers and anchors with their texts) or "days" (daily means by segment).
        file_format: "jsonl", "csv" or "parquet".
        out: The file.
        since, until: First and last day; None for all.
        force: Whether a file of that name may be replaced.

    Raises:
        UsageError: the file exists and ``force`` is not set.
        JudgewatchError: the file cannot be written; none is left behind.
    """
    if out.exists() and not force:
        raise UsageError(f"{out} exists already; name another file, or replace it with --force")
    unfinished = out.with_name(f".{out.name}.part-{os.getpid()}")
    try:
        with closing(_rows(store, app, what, since or FIRST_DAY, until or LAST_DAY)) as rows:
            n_rows = _WRITERS[file_format](rows, COLUMNS[what], unfinished)
        size_bytes = unfinished.stat().st_size
        _put_in_place(unfinished, out, force=force)
    except OSError as error:
        raise JudgewatchError(f"{out} cannot be written: {error.strerror or error}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return ExportReport(path=str(out), n_rows=n_rows, size_bytes=size_bytes)


def _put_in_place(unfinished: Path, out: Path, *, force: bool) -> None:
    if force:
        unfinished.replace(out)
        return
    try:
        os.link(unfinished, out)
    except FileExistsError as error:
        raise UsageError(f"{out} was made by another program meanwhile; name another file") from error
    except OSError:  # a file system without links
        unfinished.replace(out)


# ---------------------------------------------------------------- rows


def _rows(store: Store, app: str, what: What, first_day: str, last_day: str) -> Generator[Row, None, None]:
    if what == "verdicts":
        return stream.verdicts(store, app, first_day=first_day, last_day=last_day)
    if what == "items":
        return stream.items(store, app, first_day=first_day, last_day=last_day)
    return _day_rows(store, app, first_day, last_day)


def _day_rows(store: Store, app: str, first_day: str, last_day: str) -> Generator[Row, None, None]:
    """Daily means of each judge setup, source and segment; key "" is everything."""
    segments = {row["segment_id"]: row for row in read.segments(store, app)}
    for ruler in read.rulers(store, app):
        scale = (ruler["scale_min"], ruler["scale_max"])
        about = {"setup": ruler["position"], "ruler_id": ruler["ruler_id"], "criterion": ruler["criterion"]}
        for source in Source:
            totals = read.segment_day_totals(
                store,
                app=app,
                ruler_id=ruler["ruler_id"],
                criterion=ruler["criterion"],
                source=source,
                first_day=first_day,
                last_day=last_day,
            )
            for row in day_means(totals, scale=scale):
                yield {**about, "source": str(source), **segments[row["segment_id"]], **row}


# ---------------------------------------------------------------- formats


def _write_jsonl(rows: Iterable[Row], columns: Mapping[str, Kind], path: Path) -> int:
    n_rows = 0
    with path.open("w", encoding="utf-8") as target:
        for row in rows:
            target.write(json.dumps({name: row[name] for name in columns}, ensure_ascii=False, allow_nan=False) + "\n")
            n_rows += 1
    return n_rows


def _write_csv(rows: Iterable[Row], columns: Mapping[str, Kind], path: Path) -> int:
    # the mark at the start tells spreadsheets that the file is UTF-8
    with path.open("w", encoding="utf-8-sig", newline="") as target:
        return write_csv(target, (_as_cells(row, columns) for row in rows), list(columns))


def _as_cells(row: Row, columns: Mapping[str, Kind]) -> Row:
    """Lists and objects as JSON text."""
    return {
        name: json.dumps(row[name], ensure_ascii=False) if kind in ("list", "object") else row[name]
        for name, kind in columns.items()
    }


def _write_parquet(rows: Iterable[Row], columns: Mapping[str, Kind], path: Path) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(name, _arrow_type(kind)) for name, kind in columns.items()])
    n_rows = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in _batches(rows, columns):
            writer.write_batch(pa.RecordBatch.from_pylist(batch, schema=schema))
            n_rows += len(batch)
    return n_rows


def _arrow_type(kind: Kind) -> pa.DataType:
    import pyarrow as pa

    if kind == "list":
        return pa.list_(pa.string())
    return {"integer": pa.int64(), "number": pa.float64(), "flag": pa.bool_()}.get(kind, pa.string())


def _batches(rows: Iterable[Row], columns: Mapping[str, Kind]) -> Iterator[list[dict[str, Any]]]:
    """Rows in groups; objects, whose names differ from row to row, as JSON text."""
    batch: list[dict[str, Any]] = []
    n_chars = 0
    for row in rows:
        cells = {
            name: json.dumps(row[name], ensure_ascii=False) if kind == "object" else row[name]
            for name, kind in columns.items()
        }
        batch.append(cells)
        n_chars += sum(len(cell) for cell in cells.values() if isinstance(cell, str))
        if len(batch) >= _BATCH_ROWS or n_chars >= _BATCH_CHARS:
            yield batch
            batch, n_chars = [], 0
    if batch:
        yield batch


_WRITERS: Mapping[FileFormat, Callable[[Iterable[Row], Mapping[str, Kind], Path], int]] = {
    "jsonl": _write_jsonl,
    "csv": _write_csv,
    "parquet": _write_parquet,
}
