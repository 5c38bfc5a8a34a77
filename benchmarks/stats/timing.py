"""How long the analysis of a long year takes, by the same measurement as ``make bench``, in a process of its own."""

from __future__ import annotations

from benchmarks.harness import run_apart

LIMIT_S = 5.0


def run() -> dict[str, float]:
    """Measure it, print one line, return the figures in seconds."""
    figures = run_apart("analysis.py")
    verdict = "ok" if figures["analysis_s"] <= LIMIT_S else "missed"
    print(
        f"analysis of 400 runs x 100 anchors and 50 segments: {figures['analysis_s']:.2f} s"
        f" (budget {LIMIT_S:g} s: {verdict}); reading the rows alone: {figures['reading_s']:.2f} s\n",
        flush=True,
    )
    return figures
