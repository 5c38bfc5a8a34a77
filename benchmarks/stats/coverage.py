"""Whether intervals hold what they promise: the level since a change, the single day, and the date of a change.

Truths are exact, from the simulator's law and the anchors at hand. What is said of traffic is ``shares``'.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from benchmarks.stats.detection import BASELINE, LEAST_BEFORE, MOST_BEFORE
from benchmarks.stats.detectors import Monitor
from benchmarks.stats.limits import RUNS_PER_YEAR
from benchmarks.stats.settings import NOISES, Sizes
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
from benchmarks.stats.tables import markdown
from evaluator.stats.detector import level_since
from evaluator.stats.paired import RunShifts, run_shifts, today_interval
from evaluator.stats.streams import stream_floors

WATCHED_NOISES = ("base", "quiet", "noisy", "heavy", "ar1")
BASELINES = (20, 60)
WATCHED_STEP = Change(name="+0.15", kind="step", size=0.15)
SHOWN_RADII = (5, 30, RUNS_PER_YEAR)
DATED_STEPS = (0.05, 0.1, 0.2, 0.5)
RUNS_AFTER_ALARM = (0, 10)


@dataclass(frozen=True, kw_only=True)
class Watched:
    """One setting and length of baseline, watched every day for a year after a step.

    Attributes:
        ever_missed: Share of streams in which the interval for the level since the change misses at least once.
        t_ever_missed: The same for an ordinary t interval of the two stretches.
        se: Standard error of ``ever_missed``.
        radii: Median half-widths after some numbers of runs.
        days_missed: Share of single days after the step whose interval misses the level.
        days_se: Its standard error, between streams.
        still_missed: Share of single days whose interval misses the level when the judge did not move.
        still_se: Its standard error, between streams.
        n: Streams.
    """

    ever_missed: float
    t_ever_missed: float
    se: float
    radii: dict[int, float]
    days_missed: float
    days_se: float
    still_missed: float
    still_se: float
    n: int


@dataclass(frozen=True, kw_only=True)
class Dated:
    """One step and number of runs after the alarm: how often the 95 % set holds the change, how wide it is."""

    holds: float
    se: float
    median_width: float
    median_error: float
    n: int


def share_error(share: float, n: int) -> float:
    """Standard error of a share of n."""
    return math.sqrt(share * (1 - share) / n)


def run(noises: Sequence[str], sizes: Sizes, seed: int) -> dict[str, Any]:
    """Run both tables and print them."""
    watched = {
        f"{name}, B = {n_baseline}": watch(name, NOISES[name], n_baseline, sizes.watched, seed)
        for name in WATCHED_NOISES
        if name in noises
        for n_baseline in BASELINES
    }
    if watched:
        print(
            f"### Level since a change of +0.15, looked at daily for a year\n\n{_watched_table(watched)}\n", flush=True
        )
    dated = {
        f"{step:+g}, {later} runs after the alarm": found
        for step in DATED_STEPS
        for later, found in date(step, sizes.dated, seed).items()
    }
    print(f"### Date of a change, base setting\n\n{_dated_table(dated)}\n", flush=True)
    return {
        "level": {name: asdict(row) for name, row in watched.items()},
        "date": {name: asdict(row) for name, row in dated.items()},
    }


# ---------------------------------------------------------------- the level since a change


def watch(name: str, noise: Noise, n_baseline: int, n: int, seed: int) -> Watched:
    """Watch n streams whose judge moves right after the baseline.

    Args:
        name: The setting's name.
        noise: The setting.
        n_baseline: Runs before the change.
        n: Streams.
        seed: Of all streams.
    """
    missed, t_missed, days_missed, still_missed = [], [], [], []
    radii: dict[int, list[float]] = {shown: [] for shown in SHOWN_RADII}
    for number in range(n):
        rng = generator(seed, "watched", name, n_baseline, number)
        judge = Judge(noise, draw_anchors(noise, rng), WATCHED_STEP, rng)
        stream = simulate_runs(judge, n_baseline + RUNS_PER_YEAR, n_baseline, rng)
        shifts, truth = run_shifts(stream, slice(0, n_baseline)), judge.true_shift(0)
        ours, by_t = _levels(shifts, n_baseline)
        missed.append(_ever_misses(ours, truth))
        t_missed.append(_ever_misses(by_t, truth))
        days_missed.append(_days_missed(shifts, n_baseline, truth))
        still_missed.append(_still_missed(judge, n_baseline, generator(seed, "still", name, n_baseline, number)))
        for shown in SHOWN_RADII:
            radii[shown].append(float(ours[shown - 1, 1]))
    share, days, still = float(np.mean(missed)), np.array(days_missed), np.array(still_missed)
    return Watched(
        ever_missed=share,
        t_ever_missed=float(np.mean(t_missed)),
        se=share_error(share, n),
        radii={shown: float(np.median(found)) for shown, found in radii.items()},
        days_missed=float(days.mean()),
        days_se=float(days.std() / math.sqrt(n)),
        still_missed=float(still.mean()),
        still_se=float(still.std() / math.sqrt(n)),
        n=n,
    )


def _levels(shifts: RunShifts, n_baseline: int) -> tuple[FloatArray, FloatArray]:
    """Middle and half-width after each run, ours and the ordinary one, shape (R, 2); infinite while there is none."""
    floor = stream_floors(shifts.anchor_mean)["level"]
    stream = shifts.stream
    ours, by_t = np.full((2, RUNS_PER_YEAR, 2), math.inf)
    for run_number in range(RUNS_PER_YEAR):
        seen = stream[: n_baseline + run_number + 1]
        found = level_since(seen, n_baseline, floor_sd=floor)
        if found.estimate is None:
            continue
        ours[run_number, 0] = by_t[run_number, 0] = found.estimate
        if found.low is not None:
            ours[run_number, 1] = found.estimate - found.low
        by_t[run_number, 1] = _t_radius(seen[:n_baseline], seen[n_baseline:])
    return ours, by_t


def _t_radius(before: FloatArray, after: FloatArray) -> float:
    """Half-width of the ordinary 95 % interval for the difference of two means with one spread."""
    before, after = before[~np.isnan(before)], after[~np.isnan(after)]
    df = len(before) + len(after) - 2
    squares = ((before - before.mean()) ** 2).sum() + ((after - after.mean()) ** 2).sum()
    return float(stdtrit(df, 0.975) * math.sqrt(squares / df * (1 / len(before) + 1 / len(after))))


def _ever_misses(levels: FloatArray, truth: float) -> bool:
    known = np.isfinite(levels[:, 1])
    return bool((np.abs(levels[known, 0] - truth) > levels[known, 1]).any())


def _days_missed(shifts: RunShifts, n_baseline: int, truth: float) -> float:
    """Share of the counted runs after the baseline whose own interval misses the level."""
    reference = np.arange(len(shifts.shift)) < n_baseline
    floor = stream_floors(shifts.anchor_mean)["level"]
    misses = []
    for run_number in np.flatnonzero(shifts.counted & ~reference):
        found = today_interval(shifts, int(run_number), reference=reference, floor_sd=floor)
        if found is not None:
            misses.append(not found.low <= truth <= found.high)
    return float(np.mean(misses))


def _still_missed(moved: Judge, n_baseline: int, rng: np.random.Generator) -> float:
    """The same for a judge like this one that never moves."""
    judge = Judge(moved.noise, moved.anchors, NO_CHANGE, rng)
    stream = simulate_runs(judge, n_baseline + RUNS_PER_YEAR, n_baseline + RUNS_PER_YEAR, rng)
    return _days_missed(run_shifts(stream, slice(0, n_baseline)), n_baseline, 0.0)


# ---------------------------------------------------------------- the date of a change


def date(step: float, n: int, seed: int) -> dict[int, Dated]:
    """Date a step at the alarm and some runs after it; streams that alarm too early are begun anew.

    Args:
        step: Size of the change.
        n: Streams.
        seed: Of all streams.
    """
    change = Change(name=f"{step:+g}", kind="step", size=step)
    found: dict[int, list[tuple[bool, int, int]]] = {later: [] for later in RUNS_AFTER_ALARM}
    for number in range(n):
        rng = generator(seed, "dated", change.name, number)
        judge = Judge(NOISES["base"], draw_anchors(NOISES["base"], rng), change, rng)
        before = int(rng.integers(LEAST_BEFORE, MOST_BEFORE))
        stream = simulate_runs(judge, BASELINE + before + RUNS_PER_YEAR, BASELINE + before, rng)
        for later, dated in _dates(stream, before).items():
            found[later].append(dated)
    return {later: _dated(dates) for later, dates in found.items() if dates}


def _dates(stream: FloatArray, before: int) -> dict[int, tuple[bool, int, int]]:
    """For each number of runs after the alarm: whether the set holds the change, its width, and the date's error."""
    monitor = Monitor()
    baseline, watched = stream[BASELINE - monitor.n_baseline : BASELINE], stream[BASELINE:]
    monitor.start(baseline)
    began, alarm, alarm_run = 0, None, 0
    found = {}
    for run_number, scores in enumerate(watched):
        fired = monitor.update(scores)
        if alarm is None and fired:
            if run_number < before:
                monitor.start(baseline)
                began = run_number + 1
                continue
            alarm, alarm_run = monitor.judge.alarm(), run_number
        if alarm is not None and run_number - alarm_run in RUNS_AFTER_ALARM:
            middle, low, high = (began + row for row in monitor.as_rows(monitor.judge.change(alarm)))
            # a run that does not count cannot date anything: the first counted one after the change is right
            right = _first_counted(watched, before)
            found[run_number - alarm_run] = (low <= right <= high, high - low + 1, middle - right)
        if len(found) == len(RUNS_AFTER_ALARM):
            break
    return found


def _first_counted(watched: FloatArray, before: int) -> int:
    graded = (~np.isnan(watched[before:])).mean(axis=1) >= 0.5
    return before + int(np.argmax(graded))


def _dated(dates: Sequence[tuple[bool, int, int]]) -> Dated:
    holds, widths, errors = (np.array(column, dtype=np.float64) for column in zip(*dates, strict=True))
    share = float(holds.mean())
    return Dated(
        holds=share,
        se=share_error(share, len(dates)),
        median_width=float(np.median(widths)),
        median_error=float(np.median(np.abs(errors))),
        n=len(dates),
    )


# ---------------------------------------------------------------- tables


def _watched_table(rows: dict[str, Watched]) -> str:
    head = ["setting", "streams", "ever misses in a year (se)", "t interval ever misses",
            "half-width after 5 / 30 / 365 runs", "single day misses (se)", "same, judge unmoved (se)"]  # fmt: skip
    return markdown(head, [
        [name, f"{row.n}", f"{100 * row.ever_missed:.1f} % ({100 * row.se:.1f})", f"{100 * row.t_ever_missed:.0f} %",
         " / ".join(f"{radius:.3f}" for radius in row.radii.values()),
         f"{100 * row.days_missed:.1f} % ({100 * row.days_se:.1f})",
         f"{100 * row.still_missed:.1f} % ({100 * row.still_se:.1f})"]
        for name, row in rows.items()
    ])  # fmt: skip


def _dated_table(rows: dict[str, Dated]) -> str:
    head = ["step", "streams", "set holds the change (se)", "median width, runs", "median error, runs"]
    return markdown(head, [
        [name, f"{row.n}", f"{100 * row.holds:.1f} % ({100 * row.se:.1f})", f"{row.median_width:g}",
         f"{row.median_error:g}"]
        for name, row in rows.items()
    ])  # fmt: skip
