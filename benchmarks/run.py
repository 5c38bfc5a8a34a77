"""Runs the benchmarks and prints one line for each budget: ``make bench``, or ``python benchmarks/run.py --help``.

A missed budget is printed, not raised: the exit code is 0 unless a benchmark could not run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from pathlib import Path

# each of these registers its budgets when it is imported; the order is that of the table
import analysis  # noqa: F401
import importing  # noqa: F401
import scorer  # noqa: F401
import startup  # noqa: F401
from harness import REGISTERED, Options, header


def main() -> None:
    """Measure what was asked for."""
    arguments = _parser().parse_args()
    options = Options(
        rows=1_000_000 if arguments.full else arguments.rows,
        calls=20_000 if arguments.full else arguments.calls,
        full=arguments.full,
    )
    wanted = [benchmark for benchmark in REGISTERED if arguments.only in benchmark.name]
    if not wanted:
        raise SystemExit(f"no benchmark has {arguments.only!r} in its name: {', '.join(b.name for b in REGISTERED)}")
    print(header(), flush=True)
    rows = []
    for benchmark in wanted:
        rows.append(benchmark.run(options))
        print(rows[-1].as_line(), flush=True)
    if arguments.json is not None:
        report = {"machine": _machine(), "rows": [row.as_dict() for row in rows]}
        arguments.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure the budgets.")
    parser.add_argument("--only", default="", metavar="TEXT", help="those whose name holds this text")
    parser.add_argument("--rows", type=int, default=200_000, help="rows of the import (default: %(default)s)")
    parser.add_argument("--calls", type=int, default=2_000, help="calls of the scorer (default: %(default)s)")
    parser.add_argument("--full", action="store_true", help="the sizes that the budgets are set for; takes minutes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to this file as well")
    return parser


def _machine() -> dict[str, object]:
    return {"python": platform.python_version(), "system": platform.platform(), "cores": os.cpu_count()}


if __name__ == "__main__":
    main()
