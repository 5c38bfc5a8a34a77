"""What a changed mix of questions does to the mean of all answers, so that it is not taken for a change of quality.

When more hard questions come in, the mean falls although no answer got worse. Each day's mean is therefore compared
with what its mix would give if every kind of question still scored as in the first days; that difference is taken out
before the answers are watched. The daily line that people see keeps it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from evaluator.analysis.totals import COLUMN, Totals, Traffic
from evaluator.stats.numeric import FloatArray, divide

MIX_VALUES = range(2, 31)  # a key with so many values can say what a changed mix did
ENOUGH_FOR_A_LEVEL = 30  # answers of the first days that give a kind of question its level


def mix_key(traffic: Traffic) -> str | None:
    """The first key of the breakdown that has between 2 and 30 values."""
    for key, key2 in traffic.keys:
        if not key2 and len(mix_cells(traffic, key)) in MIX_VALUES:
            return key
    return None


def mix_cells(traffic: Traffic, key: str | None) -> list[int]:
    """Segment ids of the values of a key."""
    return [
        segment_id
        for segment_id, name in traffic.names.items()
        if key is not None and name["key"] == key and name["key2"] == ""
    ]


def mix_effects(traffic: Traffic, baseline_runs: frozenset[str]) -> FloatArray:
    """How far the mix alone moves the mean of each row of all answers, 1..5 equivalents; 0 for every other row.

    A kind of question with too few answers in the first days has the level of all its days: one that is new says
    nothing about the assistant, so all of its effect is mix.

    Args:
        traffic: The answers.
        baseline_runs: The runs whose days are the first days.
    """
    totals = traffic.totals
    effects = np.zeros(len(totals.day))
    cells = mix_cells(traffic, mix_key(traffic))
    is_whole = (totals.segment_id == traffic.everything) & totals.correctable
    is_first = np.isin(totals.run_id, list(baseline_runs))
    if not cells or not (is_whole & is_first).any():
        return effects
    place_of = {segment_id: place for place, segment_id in enumerate(cells)}
    _, group = np.unique(np.char.add(totals.day, totals.run_id), return_inverse=True)
    tables = {
        name: _by_group_and_cell(totals, group, place_of, traffic.everything, COLUMN[name])
        for name in ("n", "sum_w", "sum_wy")
    }
    first = np.bincount(group, weights=is_whole & is_first) > 0
    level = _levels(tables, first)
    weight = tables["sum_w"]
    expected = divide(weight @ level, weight.sum(axis=1))
    usual = float(weight[first].sum(axis=0) @ level / weight[first].sum())
    effects[is_whole] = expected[group[is_whole]] - usual
    return effects


def _by_group_and_cell(
    totals: Totals, group: np.ndarray, place_of: Mapping[int, int], everything: int, column: int
) -> FloatArray:
    """One of the corrected sums by (day, run) and kind of question; the last column is answers without a kind."""
    table = np.zeros((int(group.max()) + 1, len(place_of) + 1))
    values = np.where(totals.correctable, totals.corrected[:, column], 0.0)
    for segment_id, place in place_of.items():
        rows = totals.segment_id == segment_id
        np.add.at(table[:, place], group[rows], values[rows])
    rows = totals.segment_id == everything
    np.add.at(table[:, -1], group[rows], values[rows])
    table[:, -1] = np.maximum(table[:, -1] - table[:, :-1].sum(axis=1), 0.0)
    # what rounding leaves of a difference is no answer
    table[:, -1] = np.where(table[:, -1] < 1e-9 * table.sum(axis=1), 0.0, table[:, -1])
    return table


def _levels(tables: Mapping[str, FloatArray], first: np.ndarray) -> FloatArray:
    """Mean of each kind of question in the first days, or in all when those hold too few; 0 for one without answers."""
    early = divide(tables["sum_wy"][first].sum(axis=0), tables["sum_w"][first].sum(axis=0))
    always = divide(tables["sum_wy"].sum(axis=0), tables["sum_w"].sum(axis=0))
    is_known = tables["n"][first].sum(axis=0) >= ENOUGH_FOR_A_LEVEL
    return np.nan_to_num(np.where(is_known, early, always))
