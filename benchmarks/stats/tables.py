"""Tables in Markdown: they read in a terminal and go into the documentation as they are."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.stats.detection import Delay, Report
from benchmarks.stats.limits import RUNS_PER_YEAR
from evaluator.analysis.settings import JUDGE_WEIGHT

# median runs that the design promises for the base setting, and how far off a median may be
TARGET_DELAYS = {
    "+0.05": 8, "-0.05": 8, "+0.1": 3, "-0.1": 3, "+0.2": 2, "-0.2": 2,
    "creep 0.3/90": 18, "noise x3": 3, "one anchor": 5,
}  # fmt: skip
DELAY_SLACK = 1
FALSE_ALARMS = (1.0, JUDGE_WEIGHT)  # a year: our monitor, and with the analysis' share of the budget


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose columns stand under one another."""
    widths = [max(len(cell) for cell in column) for column in zip(head, *rows, strict=True)]
    lines = [head, ["-" * width for width in widths], *rows]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    )


def of_report(report: Report) -> str:
    """One setting: detectors by row, false alarms and delays by column."""
    changes = list(report.limits)
    head = ["detector", "streams", "false alarms/yr (se)", "worst tenth", "P(alarm in yr 1)", *changes]
    rows = [
        [
            row.name,
            f"{row.quiet.n}",
            f"{row.quiet.per_year:.2f} ({row.quiet.se:.2f})",
            f"{row.quiet.worst_tenth:.1f}",
            f"{row.quiet.in_first_year:.2f}",
            *(_delay(row.delays[change]) for change in changes),
        ]
        for row in report.rows
    ]
    return markdown(head, rows)


def ours_of(report: Report) -> str:
    """Our monitor in one setting, a change by row: delays with their error, beside the limit that none can beat."""
    head = ["change", "streams", "median", "mean (se)", "missed", "limit", "limit by mean only", "mean / limit"]
    ours = report.rows[0].delays
    rows = [
        [
            change,
            f"{delay.n}",
            f"{delay.median:g}",
            f"{delay.mean:.1f} ({delay.se:.1f})",
            f"{100 * delay.missed:.0f} %",
            _limit(report, change, "exact"),
            _limit(report, change, "mean_only"),
            _ratio(report, delay, change),
        ]
        for change, delay in ours.items()
    ]
    return markdown(head, rows)


def misses_of(report: Report) -> list[str]:
    """Which targets our monitor misses in this setting, in words; delays are promised for the base setting only."""
    ours = report.rows[0]
    found = []
    for row, budget in zip(report.rows, FALSE_ALARMS, strict=False):
        quiet = row.quiet
        if quiet.per_year > budget + 2 * quiet.se:
            found.append(
                f"{report.noise}: {row.name} {quiet.per_year:.2f} false alarms a year (se {quiet.se:.2f}),"
                f" budget {budget:g}"
            )
    if report.noise == "base":
        found += [
            f"base: {change} median {ours.delays[change].median:g} runs, target {target} +-{DELAY_SLACK},"
            f" so {'sooner' if ours.delays[change].median < target else 'later'}"
            for change, target in TARGET_DELAYS.items()
            if change in ours.delays and abs(ours.delays[change].median - target) > DELAY_SLACK
        ]
    return found


def _delay(delay: Delay) -> str:
    if delay.median >= RUNS_PER_YEAR:
        return f">{RUNS_PER_YEAR}"
    return f"{delay.median:g} / {delay.mean:.1f}"


def _limit(report: Report, change: str, name: str) -> str:
    limits = report.limits[change]
    return "" if limits is None else f"{getattr(limits, name):.1f}"


def _ratio(report: Report, delay: Delay, change: str) -> str:
    limits = report.limits[change]
    return "" if limits is None else f"{delay.mean / limits.exact:.1f}"
