"""Statistics of a judge watched over time: pure functions, arrays in, frozen results out.

No input or output, no clock, no global random state. The names users of the library may rely on are imported from
their modules when they are first used; the product itself imports from the modules.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluator.stats.attribution import attribute
    from evaluator.stats.corrected import corrected_mean
    from evaluator.stats.correction import correct_means, fit_judge_map
    from evaluator.stats.detector import change_date, detect, level_since
    from evaluator.stats.intervals import classify, mean_interval, means_from_sums
    from evaluator.stats.monitor import JudgeMonitor, MonitorState
    from evaluator.stats.paired import run_shifts
    from evaluator.stats.segments import segment_table
    from evaluator.stats.shares import decompose_change

__all__ = [
    "JudgeMonitor",
    "MonitorState",
    "attribute",
    "change_date",
    "classify",
    "correct_means",
    "corrected_mean",
    "decompose_change",
    "detect",
    "fit_judge_map",
    "level_since",
    "mean_interval",
    "means_from_sums",
    "run_shifts",
    "segment_table",
]

_MODULE_OF = {
    "JudgeMonitor": "monitor",
    "MonitorState": "monitor",
    "attribute": "attribution",
    "change_date": "detector",
    "classify": "intervals",
    "correct_means": "correction",
    "corrected_mean": "corrected",
    "decompose_change": "shares",
    "detect": "detector",
    "fit_judge_map": "correction",
    "level_since": "detector",
    "mean_interval": "intervals",
    "means_from_sums": "intervals",
    "run_shifts": "paired",
    "segment_table": "segments",
}


def __getattr__(name: str) -> object:
    """Import a public name from its module at first use."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
