"""Reads: one function per question. The queries stand in ``queries/read``; rows come back as plain dictionaries.

Works on a writer's or a reader's store. Charts and analyses read the rollup (``scores``, ``anchors``); ``setups`` and
``runs`` tell what was used and done; ``answers`` lists rows, always with a limit; ``sampling`` is for the scorer.
"""

from evaluator.store.read.anchors import (
    anchor_names,
    anchor_runs,
    anchor_scores,
    anchors_of_set,
    load_anchor_set,
)
from evaluator.store.read.answers import (
    AnswerFilter,
    attempts_of_item,
    count_answers,
    find_item_ids,
    item,
    list_answers,
    load_items,
    load_to_grade,
    verdicts_of_item,
)
from evaluator.store.read.base import FIRST_DAY, LAST_DAY, Row
from evaluator.store.read.runs import (
    count_run,
    instrument_before,
    instruments_of_run,
    open_runs,
    run_at,
    run_counts,
    run_left,
    run_slots,
    runs,
)
from evaluator.store.read.sampling import answer_days, sampling_order, segment_size, times_planned, to_grade_again
from evaluator.store.read.scores import (
    day_levels,
    day_totals,
    everything_segment,
    newest_analysis,
    sampled_days,
    score_days,
    segment_day_totals,
    segment_keys,
    segments,
    unscored_reasons,
)
from evaluator.store.read.setups import apps, counts, events, newest_ruler, rulers

__all__ = [
    "FIRST_DAY",
    "LAST_DAY",
    "AnswerFilter",
    "Row",
    "anchor_names",
    "anchor_runs",
    "anchor_scores",
    "anchors_of_set",
    "answer_days",
    "apps",
    "attempts_of_item",
    "count_answers",
    "count_run",
    "counts",
    "day_levels",
    "day_totals",
    "events",
    "everything_segment",
    "find_item_ids",
    "instrument_before",
    "instruments_of_run",
    "item",
    "list_answers",
    "load_anchor_set",
    "load_items",
    "load_to_grade",
    "newest_analysis",
    "newest_ruler",
    "open_runs",
    "rulers",
    "run_at",
    "run_counts",
    "run_left",
    "run_slots",
    "runs",
    "sampled_days",
    "sampling_order",
    "score_days",
    "segment_day_totals",
    "segment_keys",
    "segment_size",
    "segments",
    "times_planned",
    "to_grade_again",
    "unscored_reasons",
    "verdicts_of_item",
]
