"""Measures budgets: a row per budget, our figure beside a comparator's of the same run on the same machine.

Absolute figures say more about the machine than about the code, so most budgets are on the ratio. A missed budget is
printed as such and is no failure: whoever reads the table decides.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

FOLDER = Path(__file__).resolve().parent
_WIDTHS = (44, 16, 16, 7, 10)


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the command line says: how large the work is."""

    rows: int
    calls: int
    full: bool


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One figure and its comparator, both in ``unit``."""

    ours: float
    comparator: float
    unit: str

    @property
    def ratio(self) -> float:
        """Ours over the comparator's."""
        return self.ours / self.comparator


@dataclass(frozen=True, kw_only=True)
class Row:
    """A measurement against its budget."""

    name: str
    measurement: Measurement
    limit: float
    better: Literal["higher", "lower"]
    on: Literal["ratio", "ours"]

    @property
    def is_met(self) -> bool:
        """Whether the figure that the budget is on keeps it."""
        figure = self.measurement.ratio if self.on == "ratio" else self.measurement.ours
        return figure >= self.limit if self.better == "higher" else figure <= self.limit

    def as_dict(self) -> dict[str, Any]:
        """Return the row as plain JSON."""
        return {**asdict(self), "ratio": self.measurement.ratio, "is_met": self.is_met}

    def as_line(self) -> str:
        """Return the row as one line of the table."""
        unit = self.measurement.unit
        sign = ">=" if self.better == "higher" else "<="
        cells = (
            self.name,
            f"{_figure(self.measurement.ours)} {unit}",
            f"{_figure(self.measurement.comparator)} {unit}",
            f"{self.measurement.ratio:.2f}",
            f"{sign} {self.limit:g}{'' if self.on == 'ratio' else ' ' + unit}",
        )
        return _align(cells, "ok" if self.is_met else "miss")


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A registered budget."""

    name: str
    limit: float
    better: Literal["higher", "lower"]
    on: Literal["ratio", "ours"]
    measure: Callable[[Options], Measurement]

    def run(self, options: Options) -> Row:
        """Measure it."""
        return Row(name=self.name, measurement=self.measure(options), limit=self.limit, better=self.better, on=self.on)


REGISTERED: list[Benchmark] = []


def budget(
    name: str, limit: float, *, better: Literal["higher", "lower"], on: Literal["ratio", "ours"] = "ratio"
) -> Callable[[Callable[[Options], Measurement]], Callable[[Options], Measurement]]:
    """Register a function that measures one budget.

    Args:
        name: What is measured, as the table names it.
        limit: The budget.
        better: Which way is better.
        on: Whether the budget is on the ratio (ours over the comparator's) or on our figure alone.
    """

    def register(measure: Callable[[Options], Measurement]) -> Callable[[Options], Measurement]:
        REGISTERED.append(Benchmark(name=name, limit=limit, better=better, on=on, measure=measure))
        return measure

    return register


def run_apart(script: str, *arguments: object) -> dict[str, float]:
    """Run a script of this folder in a process of its own; return the JSON object that it prints.

    A process apart starts with an empty memory and unspoilt caches, whatever was measured before.
    """
    command = [sys.executable, str(FOLDER / script), *map(str, arguments)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{finished.stderr}")
    figures: dict[str, float] = json.loads(finished.stdout)
    return figures


def in_turns(ours: Callable[[], float], comparator: Callable[[], float], *, times: int) -> tuple[float, float]:
    """Measure both in turns, so that a busy moment of the machine hits both; return the medians."""
    pairs = [(ours(), comparator()) for _ in range(times)]
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)


def header() -> str:
    """Return the head of the table."""
    return _align(("what", "ours", "comparator", "ratio", "budget"), "")


def _align(cells: Sequence[str], verdict: str) -> str:
    first, *rest = cells
    columns = [first.ljust(_WIDTHS[0]), *(cell.rjust(width) for cell, width in zip(rest, _WIDTHS[1:], strict=True))]
    return "  ".join([*columns, verdict]).rstrip()


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
