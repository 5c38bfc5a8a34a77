"""A judge that moved on one kind of answer only, told from a change of quality there.

Anchors carry tags like answers do. The correction of all answers is one straight line over all anchors; where the
judge moved on one topic alone, that line takes out little of it, and the topic's answers seem to have changed. So the
anchors with a segment's tags are compared with their own baseline, on the corrected scale and over the runs that the
segment's own comparison rests on. What they moved there is the judge's doing.

It raises no alarm by itself: it explains one, or takes an error out of a comparison.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.analysis.judge import Judge
from evaluator.analysis.phrases import counted, segment_name, size_text
from evaluator.analysis.totals import Traffic
from evaluator.analysis.units import Scale
from evaluator.analysis.watching import FEW_VALUES, state_of
from evaluator.findings import Findings, SegmentFinding, SettingsUsed
from evaluator.stats.correction import JudgeMap
from evaluator.stats.intervals import classify
from evaluator.stats.multiplicity import holm
from evaluator.stats.numeric import BoolArray, FloatArray, mean_of_present, t_quantile, t_two_sided_p
from evaluator.stats.steadying import BLAME_LEVEL, MAP_ALLOWANCE

LEAST_TAGGED = 10  # anchors of a segment with which the judge can be seen there alone
FLIP_VARIANCE = 0.02  # of an anchor that flips by one point in one run of fifty: the least spread it is credited with

Tags = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, kw_only=True)
class Move:
    """How far the judge moved on some anchors beyond the common correction; 1..5 equivalents.

    Attributes:
        estimate: Mean over the anchors.
        se: Its standard error between anchors.
        n_anchors: Anchors that were graded before and after.
    """

    estimate: float
    se: float
    n_anchors: int

    @property
    def p_value(self) -> float:
        """Of "the judge did not move there alone", two-sided, Student's t."""
        return float(t_two_sided_p(self.estimate / self.se, self.n_anchors - 1))

    def half_width(self, level: float) -> float:
        """Half the width of the Student interval."""
        return float(t_quantile(self.n_anchors - 1, level)) * self.se


def tagged(row: SegmentFinding, item_ids: Sequence[str], tags: Tags) -> BoolArray:
    """Which anchors carry the tags of a segment, shape (anchors,)."""
    wanted = {row["key"]: row["value"]} | ({row["key2"]: row["value2"]} if row["key2"] else {})
    return np.array(
        [all(tags.get(item, {}).get(key) == value for key, value in wanted.items()) for item in item_ids],
        dtype=np.bool_,
    )


def corrected_anchors(judge: Judge) -> FloatArray:
    """Anchor scores taken back through each run's own map, shape (runs, anchors); nan for a run without one."""
    scores = judge.history.scores.copy()
    for place, run_id in enumerate(judge.history.run_ids):
        judge_map = judge.maps.get(run_id)
        if isinstance(judge_map, JudgeMap):
            scores[place] = (scores[place] - judge_map.intercept) / judge_map.slope
        else:
            scores[place] = np.nan
    return scores


def move_of(corrected: FloatArray, chosen: BoolArray, before: BoolArray, after: BoolArray) -> Move | None:
    """Compare some anchors with themselves.

    Args:
        corrected: Of ``corrected_anchors``.
        chosen: The anchors, shape (anchors,).
        before: The runs before, shape (runs,).
        after: The runs after.

    Returns:
        The move; None with fewer than two anchors graded on both sides.
    """
    sides = [mean_of_present(corrected[rows][:, chosen], axis=0)[0] for rows in (before, after)]
    difference = sides[1] - sides[0]
    difference = difference[~np.isnan(difference)]
    n = len(difference)
    if n < 2:
        return None
    least = FLIP_VARIANCE / max(1, min(int(before.sum()), int(after.sum())))
    variance = max(float(difference.var(ddof=1)), least) / n + MAP_ALLOWANCE**2
    return Move(estimate=float(difference.mean()), se=math.sqrt(variance), n_anchors=n)


def tell_judge_in_segments(
    rows: Sequence[SegmentFinding], traffic: Traffic, judge: Judge, tags: Tags, *, scale: Scale, settings: SettingsUsed
) -> None:
    """Put into every segment what its own anchors say of the judge, and take that out where they are sure of it."""
    corrected = corrected_anchors(judge)
    moves = []
    for row in rows:
        chosen = tagged(row, judge.history.item_ids, tags)
        n = int((chosen & judge.history.asked[-1]).sum()) if len(judge.history.asked) else 0
        before, after = (_runs_of(row, side, traffic, judge) for side in ("before", "after"))
        enough = n >= LEAST_TAGGED and before.any() and after.any()
        move = move_of(corrected, chosen, before, after) if enough else None
        moves.append(move if move is not None and move.n_anchors >= LEAST_TAGGED else None)
        row["judge_in_segment_n_anchors"] = n if moves[-1] is None else moves[-1].n_anchors
    # sure over all the segments that are looked at
    p_values = holm([np.nan if move is None else move.p_value for move in moves])
    for row, move, p_value in zip(rows, moves, p_values, strict=True):
        row["judge_in_segment"] = row["judge_in_segment_low"] = row["judge_in_segment_high"] = None
        row["judge_in_segment_used"] = False
        if move is None:
            row["judge_in_segment_note"] = _not_seen(row["judge_in_segment_n_anchors"])
        else:
            _tell(row, move, judge, scale, settings, is_sure=bool(p_value <= 1 - BLAME_LEVEL))


def _runs_of(row: SegmentFinding, side: str, traffic: Traffic, judge: Judge) -> BoolArray:
    """The runs that graded a segment's answers before, or after, in the order of the anchors' history."""
    first, last = row.get(f"{side}_first_day"), row.get(f"{side}_last_day")
    if not isinstance(first, str) or not isinstance(last, str):
        return np.zeros(len(judge.history.run_ids), dtype=np.bool_)
    totals = traffic.totals
    own = (totals.segment_id == row["segment_id"]) & totals.correctable & (totals.day >= first) & (totals.day <= last)
    return np.asarray(np.isin(judge.history.run_ids, np.unique(totals.run_id[own])), dtype=np.bool_)


def _tell(
    row: SegmentFinding, move: Move, judge: Judge, scale: Scale, settings: SettingsUsed, *, is_sure: bool
) -> None:
    half = move.half_width(settings["level"])
    row["judge_in_segment"] = scale.change(move.estimate)
    row["judge_in_segment_low"] = scale.change(move.estimate - half)
    row["judge_in_segment_high"] = scale.change(move.estimate + half)
    anchors = counted(move.n_anchors, "anchor")
    if not is_sure:
        row["judge_in_segment_note"] = (
            f"The judge shows no move of its own on this segment's {anchors}; the correction of all answers was used."
        )
        return
    row["judge_in_segment_used"] = True
    how = "more generous" if move.estimate > 0 else "stricter"
    where = "beyond its change elsewhere" if judge.finding["state"] == "changed" else "and not on the others"
    size = size_text(row["judge_in_segment"] or 0.0, row["judge_in_segment_low"], row["judge_in_segment_high"])
    row["judge_in_segment_note"] = (
        f"The judge became {how} on this segment's {anchors}, {where}: {size}; that is taken out here."
    )
    _take_out(row, move, scale, settings)


def _take_out(row: SegmentFinding, move: Move, scale: Scale, settings: SettingsUsed) -> None:
    """Free a segment's comparison of what the judge did there. A change may go away with it; none is told by it."""
    if row["estimate"] is None or row["low"] is None or row["high"] is None:
        return
    was_changed = row["state"] == "changed"
    own_half = (row["high"] - row["low"]) / 2
    half = math.hypot(own_half, move.half_width(settings["level"]) * scale.unit)
    estimate = row["estimate"] - move.estimate * scale.unit
    row["estimate"], row["low"], row["high"] = estimate, estimate - half, estimate + half
    if row["after"] is not None:
        row["after"] -= move.estimate * scale.unit
    row["method"] = f"{row['method']}; less the judge's move on this segment's anchors"
    if was_changed or row["days_after"] >= FEW_VALUES:
        found = classify(estimate - half, estimate + half, settings["smallest_change"])
        row["state"] = state_of(found, is_alarm=was_changed)
    if row["state"] == "changed":
        row["direction"] = "better" if estimate > 0 else "worse"
    elif was_changed:
        row["direction"] = row["likely_cause"] = row["alarm_day"] = None
        row["since_day"] = row["since_first_day"] = row["since_last_day"] = None


def _not_seen(n_anchors: int) -> str:
    """Why the judge cannot be seen in a segment alone."""
    used = "the correction of all answers was used."
    if n_anchors >= LEAST_TAGGED:
        return f"This segment has too few days to see what the judge did on its anchors; {used}"
    carry = {0: "No anchor carries", 1: "Only 1 anchor carries"}.get(n_anchors, f"Only {n_anchors} anchors carry")
    return f"{carry} this segment's tags, {LEAST_TAGGED} are needed to see the judge here alone; {used}"


def judge_in_segment_looks(findings: Findings) -> list[tuple[int, str]]:
    """Segments in which the judge alone moved, as (segment id, sentence), the largest move first."""
    found = [row for row in findings["segments"] if row.get("judge_in_segment_used")]
    found.sort(key=lambda row: -abs(row.get("judge_in_segment") or 0.0))
    return [(row["segment_id"], f"{segment_name(row)}: {row['judge_in_segment_note']}") for row in found]
