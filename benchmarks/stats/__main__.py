"""Runs the benchmarks of the statistics and prints their tables: ``make bench-stats``, or with ``--help``."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.stats import coverage, shares, timing
from benchmarks.stats.detection import Report, run_detection
from benchmarks.stats.detectors import own_detectors, rules
from benchmarks.stats.libraries import library_detectors, versions
from benchmarks.stats.settings import CHANGES, DEFAULT_SEED, NOISES, SIZES, Sizes
from benchmarks.stats.simulator import Change
from benchmarks.stats.tables import misses_of, of_report, ours_of

PARTS = ("detection", "coverage", "timing")


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the command line says."""

    sizes: Sizes
    noises: tuple[str, ...]
    seed: int
    changes: tuple[Change, ...] = CHANGES
    jobs: int = 1


def main(words: Sequence[str] | None = None) -> None:
    """Run what was asked for."""
    arguments = _parser().parse_args(words)
    size = "quick" if arguments.quick else "full" if arguments.full else "default"
    sizes = SIZES[size]
    noises = tuple(arguments.env or sizes.noises)
    options = Options(sizes=sizes, noises=noises, seed=arguments.seed, changes=CHANGES, jobs=arguments.jobs)
    print(f"# Statistics: {size} sizes, seed {options.seed}\n", flush=True)
    run = {"detection": _detection, "coverage": _coverage, "timing": _timing}
    report: dict[str, Any] = {"seed": options.seed, "size": size, "cores": os.cpu_count(), "versions": versions()}
    for part in [arguments.only] if arguments.only else PARTS:
        started = time.perf_counter()
        report[part] = run[part](options)
        print(f"({part}: {time.perf_counter() - started:.0f} s)\n", flush=True)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stats", description="Benchmarks of the statistics.")
    how_much = parser.add_mutually_exclusive_group()
    how_much.add_argument("--quick", action="store_true", help="about 3 minutes on one core, two settings")
    how_much.add_argument("--full", action="store_true", help="hours: standard errors fit for quoting")
    parser.add_argument("--only", choices=PARTS, help="one part (default: all; about 20 minutes)")
    parser.add_argument("--env", choices=tuple(NOISES), action="append", help="one noise setting; may be repeated")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="of all streams (default: %(default)s)")
    parser.add_argument(
        "--jobs", type=_at_least_one, default=1, metavar="N", help="settings run side by side (default: %(default)s)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to this file as well")
    return parser


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of processes; give 1 or more")
    return int(text)


def _detection(options: Options) -> dict[str, Any]:
    print(
        "## Detection\n\nDelays in runs, median / mean; a stream without an alarm within a year counts as 365."
        f" Other packages: {versions()}.\n",
        flush=True,
    )
    reports, misses = {}, []
    for name, report in zip(options.noises, _reports(options), strict=True):
        print(f"### {name}\n\n{of_report(report)}\n\nOur monitor, by change:\n\n{ours_of(report)}\n", flush=True)
        reports[name] = report.as_dict()
        misses += misses_of(report)
    print("Targets missed: " + ("; ".join(misses) or "none") + ".\n", flush=True)
    return {"settings": reports, "misses": misses}


def _reports(options: Options) -> Iterator[Report]:
    """One report a setting, in order; every stream has its own seed, so the processes change no figure."""
    n = min(options.jobs, len(options.noises))
    # spawned, since a fork beside the threads of a numeric library is not safe
    with ProcessPoolExecutor(n, get_context("spawn")) if n > 1 else nullcontext() as pool:
        yield from (pool.map if pool else map)(_report, options.noises, [options] * len(options.noises))


def _report(name: str, options: Options) -> Report:
    detectors = [*own_detectors(), *rules(), *library_detectors()]
    return run_detection(name, NOISES[name], detectors, options.sizes, seed=options.seed, changes=options.changes)


def _coverage(options: Options) -> dict[str, Any]:
    print("## Coverage of 95 % intervals\n", flush=True)
    return coverage.run(options.noises, options.sizes, options.seed) | shares.run(options.sizes, options.seed)


def _timing(_options: Options) -> dict[str, Any]:
    print("## Timing\n", flush=True)
    return timing.run()


if __name__ == "__main__":
    main()
