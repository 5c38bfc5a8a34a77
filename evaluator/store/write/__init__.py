"""Writes: one transaction per unit of work, each repeatable.

``answers`` takes imports, ``setups`` anchor sets and judge setups, ``runs`` plans and their ends, ``verdicts`` what
came of grading, ``log`` events and analyses. Leases and budgets are in ``store.locks``, the totals that pages read in
``store.rollup``.
"""

from evaluator.store.write.answers import ImportCounts, import_answers, sample_key
from evaluator.store.write.log import add_event, save_analysis
from evaluator.store.write.runs import (
    PlannedItem,
    RunPlan,
    SampledDay,
    begin_run,
    close_abandoned_run,
    finish_run,
    give_up_rest,
    reopen_run,
)
from evaluator.store.write.setups import anchor_item_id, register_ruler, save_anchor_set
from evaluator.store.write.verdicts import GradedItem, save_outcomes

__all__ = [
    "GradedItem",
    "ImportCounts",
    "PlannedItem",
    "RunPlan",
    "SampledDay",
    "add_event",
    "anchor_item_id",
    "begin_run",
    "close_abandoned_run",
    "finish_run",
    "give_up_rest",
    "import_answers",
    "register_ruler",
    "reopen_run",
    "sample_key",
    "save_analysis",
    "save_anchor_set",
    "save_outcomes",
]
