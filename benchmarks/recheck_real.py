"""Rechecks over the real scores that the tests hold: how often the judge change is found, how often one is made up.

Every figure is over random halves of the slices under ``tests/data/judge_switch``: answers that real judges graded
twice, with and without a change of the judge between. Prints a table: ``python benchmarks/recheck_real.py``.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evaluator.stats.recheck import RecheckFinding, RecheckShift, recheck_finding, recheck_shift

DATA = Path(__file__).resolve().parent.parent / "tests" / "data" / "judge_switch"
TRUE_SWITCH = -0.62  # paired, over all 6,133 answers that both judges graded
SIZES = (20, 40, 100, 200)

Row = dict[str, str]


def load_rows(name: str) -> list[Row]:
    """The rows of a slice."""
    with (DATA / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def recheck(rows: Sequence[Row], *, step: float = 1.0) -> RecheckShift:
    """Stored against now, by part."""
    part = {name: [row for row in rows if row["part"] == name] for name in ("recent", "old")}
    numbers = {
        (name, column): [float(row[column]) for row in part[name]] for name in part for column in ("stored", "now")
    }
    return recheck_shift(
        numbers["recent", "stored"],
        numbers["recent", "now"],
        numbers["old", "stored"],
        numbers["old", "now"],
        recent_clusters=[row["task"] for row in part["recent"]],
        old_clusters=[row["task"] for row in part["old"]],
        step=step,
    )


def draw(rows: Sequence[Row], n: int, rng: np.random.Generator) -> list[Row]:
    """n / 2 rows of each part, at random."""
    drawn: list[Row] = []
    for name in ("recent", "old"):
        of_part = [row for row in rows if row["part"] == name]
        drawn += [of_part[place] for place in rng.permutation(len(of_part))[: n // 2]]
    return drawn


def figures(name: str, n: int, *, truth: float, smallest: float, times: int, seed: int) -> dict[str, float]:
    """Shares of the draws: called changed, called steady, interval covers the truth; and the mean half-width."""
    rng = np.random.default_rng(seed)
    rows = load_rows(name)
    found = [recheck(draw(rows, n, rng)) for _ in range(times)]
    words = [recheck_finding(result, smallest) for result in found]
    intervals = [result.drift.interval for result in found if result.drift is not None]
    bounds = [(interval.low, interval.high) for interval in intervals if interval is not None]
    changed = (RecheckFinding.CHANGED, RecheckFinding.SMALL_CHANGE)
    return {
        "changed": sum(word in changed for word in words) / times,
        "steady": words.count(RecheckFinding.SAME) / times,
        "covers": sum(low <= truth <= high for low, high in bounds) / times,
        "half-width": float(np.mean([(high - low) / 2 for low, high in bounds])),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--times", type=int, default=400, help="draws of each size (default: %(default)s)")
    arguments = parser.parse_args()
    print(f"{'scores':<10} {'answers':>7} {'changed':>8} {'steady':>7} {'covers':>7} {'half-width':>11}")
    # the smallest change that matters is 0.1 points of 1 to 5, which is 0.225 of 1 to 10
    for name, truth, smallest in (("switch", TRUE_SWITCH, 0.225), ("repeats", 0.0, 0.1)):
        for n in SIZES:
            row = figures(name, n, truth=truth, smallest=smallest, times=arguments.times, seed=2026)
            print(
                f"{name:<10} {n:>7} {row['changed']:>8.1%} {row['steady']:>7.1%} {row['covers']:>7.1%}"
                f" {row['half-width']:>11.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
