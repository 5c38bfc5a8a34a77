"""How often detectors alarm when nothing changed, and how soon when something did; all see the same streams.

Every stream begins with a hundred baseline runs, of which a detector takes as many of the last as it wants. After an
alarm it starts anew with the same baseline. A stream without an alarm within a year counts as a year.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from benchmarks.stats.detectors import Detector
from benchmarks.stats.limits import RUNS_PER_YEAR, Limits, limits_of
from benchmarks.stats.settings import CHANGES, Sizes
from benchmarks.stats.simulator import (
    NO_CHANGE,
    Change,
    FloatArray,
    Judge,
    Noise,
    draw_anchors,
    generator,
    simulate_runs,
)

BASELINE = 100
LEAST_BEFORE, MOST_BEFORE = 40, 100
SLOW_SHARE = 4
STREAMS_A_LIMIT = 4


@dataclass(frozen=True, kw_only=True)
class Quiet:
    """Alarms without a change.

    Attributes:
        per_year: Mean over streams.
        se: Its standard error, between streams.
        worst_tenth: Alarms a year that a tenth of the baselines exceeds.
        in_first_year: Share of streams with an alarm in the first year.
        n: Streams.
        years: Years watched, all streams together.
    """

    per_year: float
    se: float
    worst_tenth: float
    in_first_year: float
    n: int
    years: float


@dataclass(frozen=True, kw_only=True)
class Delay:
    """Runs from a change to the alarm, 1 for the first changed run.

    Attributes:
        median: Of the streams.
        mean: Of the streams; those without an alarm count as a year.
        se: Standard error of the mean.
        missed: Share without an alarm within a year.
        n: Streams.
    """

    median: float
    mean: float
    se: float
    missed: float
    n: int


@dataclass(frozen=True, kw_only=True)
class Row:
    """One detector in one setting."""

    name: str
    quiet: Quiet
    delays: dict[str, Delay] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Report:
    """One setting: all detectors, and the limits that none can beat."""

    noise: str
    rows: tuple[Row, ...]
    limits: dict[str, Limits | None]

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return asdict(self)


def run_detection(
    name: str,
    noise: Noise,
    detectors: Sequence[Detector],
    sizes: Sizes,
    *,
    seed: int,
    changes: Iterable[Change] = CHANGES,
) -> Report:
    """Run all detectors in one setting.

    Args:
        name: The setting's name; other than "base" it gets a share of the streams.
        noise: The setting.
        detectors: Who is compared.
        sizes: How many streams.
        seed: Of all streams.
        changes: What happens to the judge.
    """
    part = 1.0 if name == "base" else sizes.other
    n_quiet, n_changed = (max(1, round(n * part)) for n in (sizes.quiet, sizes.changed))
    quiet = _quiet(name, noise, detectors, n_quiet, sizes.quiet_runs, seed)
    delays: list[dict[str, Delay]] = [{} for _ in detectors]
    limits = {}
    for change in changes:
        for found, delay in zip(delays, _changed(name, noise, change, detectors, n_changed, seed), strict=True):
            found[change.name] = delay
        limits[change.name] = limits_of(noise, change, n=max(1, n_changed // STREAMS_A_LIMIT), seed=seed, name=name)
    rows = [
        Row(name=detector.name, quiet=of_quiet, delays=of_changes)
        for detector, of_quiet, of_changes in zip(detectors, quiet, delays, strict=True)
    ]
    return Report(noise=name, rows=tuple(rows), limits=limits)


# ---------------------------------------------------------------- without a change


def _quiet(
    name: str, noise: Noise, detectors: Sequence[Detector], n: int, n_runs: int, seed: int
) -> list[Quiet]:  # fmt: skip
    alarms: list[list[list[int]]] = [[] for _ in detectors]
    for number in range(n):
        rng = generator(seed, "quiet", name, number)
        judge = Judge(noise, draw_anchors(noise, rng), NO_CHANGE, rng)
        stream = simulate_runs(judge, BASELINE + n_runs, BASELINE + n_runs, rng)
        for found, detector in zip(alarms, detectors, strict=True):
            if is_shown(detector, number, n):
                found.append(alarms_in(detector, stream))
    return [_summary(found, n_runs) for found in alarms]


def is_shown(detector: Detector, number: int, n: int) -> bool:
    """Whether a detector sees this stream: slow ones see the first quarter."""
    return not detector.is_slow or number * SLOW_SHARE < n


def alarms_in(detector: Detector, stream: FloatArray) -> list[int]:
    """Runs with an alarm, the first watched run being 1; the detector starts anew after each."""
    baseline = stream[BASELINE - detector.n_baseline : BASELINE]
    detector.start(baseline)
    found = []
    for run, scores in enumerate(stream[BASELINE:], start=1):
        if detector.update(scores):
            found.append(run)
            detector.start(baseline)
    return found


def _summary(alarms: Sequence[Sequence[int]], n_runs: int) -> Quiet:
    years = n_runs / RUNS_PER_YEAR
    rates = np.array([len(found) / years for found in alarms])
    return Quiet(
        per_year=float(rates.mean()),
        se=_error(rates),
        worst_tenth=float(np.quantile(rates, 0.9)),
        in_first_year=float(np.mean([bool(found) and found[0] <= RUNS_PER_YEAR for found in alarms])),
        n=len(alarms),
        years=years * len(alarms),
    )


# ---------------------------------------------------------------- with one


def _changed(
    name: str, noise: Noise, change: Change, detectors: Sequence[Detector], n: int, seed: int
) -> list[Delay]:  # fmt: skip
    delays: list[list[int]] = [[] for _ in detectors]
    for number in range(n):
        rng = generator(seed, "change", name, change.name, number)
        judge = Judge(noise, draw_anchors(noise, rng), change, rng)
        before = int(rng.integers(LEAST_BEFORE, MOST_BEFORE))
        stream = simulate_runs(judge, BASELINE + before + RUNS_PER_YEAR, BASELINE + before, rng)
        for found, detector in zip(delays, detectors, strict=True):
            if is_shown(detector, number, n):
                found.append(delay_in(detector, stream, before))
    return [_delay(np.array(found)) for found in delays]


def delay_in(detector: Detector, stream: FloatArray, before: int) -> int:
    """Runs from the change, which comes after ``before`` watched runs, to the alarm; a year without one."""
    baseline = stream[BASELINE - detector.n_baseline : BASELINE]
    detector.start(baseline)
    for run, scores in enumerate(stream[BASELINE:], start=1 - before):
        if detector.update(scores):
            if run >= 1:
                return run
            detector.start(baseline)
    return RUNS_PER_YEAR


def _delay(found: FloatArray) -> Delay:
    return Delay(
        median=float(np.median(found)),
        mean=float(found.mean()),
        se=_error(found),
        missed=float((found >= RUNS_PER_YEAR).mean()),
        n=len(found),
    )


def _error(values: FloatArray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
