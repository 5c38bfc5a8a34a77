"""Where answers come from: files that appear in a folder, and a command that prints them. Asked before every run.

``pull_sources`` takes in what is new; ``waiting_sources`` says what a run would ask, ``try_sources`` shows how the rows
of the sources are read; both store nothing. What goes wrong with a source is told and kept, and never ends a run: it
goes on with what is stored.
"""

from __future__ import annotations

from evaluator.sources.base import WARN_AFTER, PullOutcome, check_reading, has_sources
from evaluator.sources.probe import ReadRow, RefusedRow, SourceTrial, try_sources
from evaluator.sources.pull import WaitingSources, pull_sources, waiting_sources

__all__ = [
    "WARN_AFTER",
    "PullOutcome",
    "ReadRow",
    "RefusedRow",
    "SourceTrial",
    "WaitingSources",
    "check_reading",
    "has_sources",
    "pull_sources",
    "try_sources",
    "waiting_sources",
]
