"""Writes: one transaction per unit of work, each repeatable.

``answers`` takes imports, ``setups`` anchor sets and judge setups, ``runs`` plans and their ends, ``verdicts`` what
came of grading, ``log`` events and analyses. Leases and budgets are in ``store.locks``, the totals that pages read in
``store.rollup``.
"""

from evaluator.store.write.answers import ImportCounts, import_answers
from evaluator.store.write.baselines import accept_baseline, undo_baseline
from evaluator.store.write.bridges import check_bridge, save_bridge
from evaluator.store.write.deletions import blank_texts, delete_items, scrub, scrub_log
from evaluator.store.write.imported import (
    ImportedScore,
    ScoresTaken,
    finish_scores,
    stage_scores,
    take_scores,
)
from evaluator.store.write.imported_rows import PairCounts
from evaluator.store.write.item_rows import sample_key
from evaluator.store.write.log import add_event, save_analysis
from evaluator.store.write.picks import PickedItem, PickPlan, begin_pick, decide_picks, note_frozen
from evaluator.store.write.rechecks import RecheckItem, RecheckPlan, begin_recheck, finish_recheck, recheck_item_id
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
from evaluator.store.write.settings import save_app_settings
from evaluator.store.write.setups import anchor_item_id, register_ruler, save_anchor_set
from evaluator.store.write.sources import FileKind, PullKind, PullStatus, add_pull, save_source_file
from evaluator.store.write.verdicts import GradedItem, save_outcomes

__all__ = [
    "FileKind",
    "GradedItem",
    "ImportCounts",
    "ImportedScore",
    "PairCounts",
    "PickPlan",
    "PickedItem",
    "PlannedItem",
    "PullKind",
    "PullStatus",
    "RecheckItem",
    "RecheckPlan",
    "RunPlan",
    "SampledDay",
    "ScoresTaken",
    "accept_baseline",
    "add_event",
    "add_pull",
    "anchor_item_id",
    "begin_pick",
    "begin_recheck",
    "begin_run",
    "blank_texts",
    "check_bridge",
    "close_abandoned_run",
    "decide_picks",
    "delete_items",
    "finish_recheck",
    "finish_run",
    "finish_scores",
    "give_up_rest",
    "import_answers",
    "note_frozen",
    "recheck_item_id",
    "register_ruler",
    "reopen_run",
    "sample_key",
    "save_analysis",
    "save_anchor_set",
    "save_app_settings",
    "save_bridge",
    "save_outcomes",
    "save_source_file",
    "scrub",
    "scrub_log",
    "stage_scores",
    "take_scores",
    "undo_baseline",
]
