"""judgewatch: watches an LLM judge. What users of the library may rely on is named here and loaded on first use."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluator.records import Rubric
    from evaluator.spool import record
    from evaluator.stats.attribution import attribute
    from evaluator.stats.corrected import corrected_mean
    from evaluator.stats.monitor import JudgeMonitor

__all__ = ["JudgeMonitor", "Rubric", "attribute", "corrected_mean", "record"]

# record() runs inside other people's applications: importing it must not bring numpy along
_PLACES = {
    "JudgeMonitor": "evaluator.stats.monitor",
    "Rubric": "evaluator.records",
    "attribute": "evaluator.stats.attribution",
    "corrected_mean": "evaluator.stats.corrected",
    "record": "evaluator.spool",
}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_PLACES[name]), name)
