"""How fast a file of answers gets into the store, beside the least that any import has to do.

The comparator reads the same file with ``json.loads`` and hands the same fields to ``executemany``, into the same two
tables with the same indexes, in one transaction. It checks nothing, hashes nothing, knows no duplicates, no versions.
Both run in processes of their own: ``python benchmarks/importing.py ours|bare FILE``.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from harness import Measurement, Options, budget, in_turns, run_apart

APP = "default"
BATCH = 5_000
TAGS = ("topic", "language", "product")


@budget("import of JSONL; beside: json.loads + executemany", 0.5, better="higher")
def import_of_answers(options: Options) -> Measurement:
    """Rows a second, from the first byte read to the commit."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.jsonl"
        write_answers(path, options.rows)
        ours, bare = in_turns(
            lambda: options.rows / run_apart("importing.py", "ours", path)["seconds"],
            lambda: options.rows / run_apart("importing.py", "bare", path)["seconds"],
            times=1 if options.full else 2,
        )
    return Measurement(ours=ours, comparator=bare, unit="rows/s")


def write_answers(path: Path, n_rows: int) -> None:
    """Write answers as a chat product logs them: random ids, 60 days, some 350 characters, three tags."""
    generator = random.Random(11)
    words = [f"word{number}" for number in range(500)]
    first = datetime(2026, 1, 1, tzinfo=UTC)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(n_rows):
            answered = first + timedelta(seconds=generator.randrange(60 * 86_400))
            row = {
                "item_id": f"{generator.getrandbits(128):032x}",
                "inputs": " ".join(generator.choices(words, k=12)),
                "outputs": " ".join(generator.choices(words, k=36)),
                "timestamp": answered.isoformat().replace("+00:00", "Z"),
                "conversation_id": f"c{generator.randrange(n_rows)}",
                "topic": f"topic {generator.randrange(12)}",
                "language": generator.choice(("en", "de", "fr")),
                "product": f"product {generator.randrange(8)}",
            }
            file.write(json.dumps(row) + "\n")


def import_ours(path: Path, store_path: Path) -> int:
    """Import as the command does; return the number of answers."""
    from evaluator.importing import import_files

    return import_files(store_path, [path], app=APP, now=datetime.now(UTC)).n_new


def import_bare(path: Path, store_path: Path) -> int:
    """Import with the least code; return the number of answers."""
    from evaluator.store.db import open_store

    columns = (
        "item_id, external_id, content_id, input, output, conversation_id, cluster_id, answered_utc, answered_day,"
        " sample_key, app, source"
    )
    n_rows = 0
    with open_store(store_path) as store, store.transaction() as connection:
        for rows in _batches(path):
            n_rows += len(rows)
            connection.executemany(
                f"INSERT INTO items ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'default', 'traffic')",
                [
                    (
                        row["item_id"], row["item_id"], row["item_id"], row["inputs"], row["outputs"],
                        row["conversation_id"], row["conversation_id"], row["timestamp"], row["timestamp"][:10],
                        int(row["item_id"][:12], 16) / 2**48,
                    )
                    for row in rows
                ],
            )  # fmt: skip
            connection.executemany(
                "INSERT INTO item_tags VALUES (?, ?, ?)",
                [(row["item_id"], tag, row[tag]) for row in rows for tag in TAGS],
            )
    return n_rows


def _batches(path: Path) -> Iterator[list[dict[str, Any]]]:
    with path.open("rb") as file:
        batch = []
        for line in file:
            batch.append(json.loads(line))
            if len(batch) == BATCH:
                yield batch
                batch = []
        yield batch


def main() -> None:
    """Import once and print how long it took."""
    way, path = sys.argv[1], Path(sys.argv[2])
    import_file = {"ours": import_ours, "bare": import_bare}[way]
    with tempfile.TemporaryDirectory() as folder:
        # a first, empty import pays for loading the modules and for the schema's compilation
        empty = Path(folder) / "one.jsonl"
        write_answers(empty, 1)
        import_file(empty, Path(folder) / "warm.db")
        started = time.perf_counter()
        n_rows = import_file(path, Path(folder) / "answers.db")
        seconds = time.perf_counter() - started
    print(json.dumps({"seconds": seconds, "rows": n_rows}))


if __name__ == "__main__":
    main()
