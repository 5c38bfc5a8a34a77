"""What freezing a pick says: the set that was written, how much it can see, the line that uses it; checks of sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from evaluator.cli.output import counted, number, one_line, put, put_json, say
from evaluator.cli.pick_texts import put_missing

if TYPE_CHECKING:
    from evaluator.config import Config
    from evaluator.golden_sets import AnswerChanges
    from evaluator.picking.freezing import FrozenSet
    from evaluator.picking.review import PickSummary
    from evaluator.picking.steps import Review
    from evaluator.picking.table import Marks

FEW_ANCHORS = 50


def put_frozen(frozen: FrozenSet, review: Review, marks: Marks | None, config: Config, *, as_json: bool) -> None:
    """Tell what was written and which line makes it count."""
    in_use = config.anchors.set == frozen.path.name
    if as_json:
        put_json(
            {
                **asdict(frozen),
                "path": str(frozen.path),
                "set": frozen.path.name,
                "in_use": in_use,
                "marks": None if marks is None else {"n_blank": marks.n_blank, "n_missing": marks.n_missing},
                "visible_change": review.summary.visible_change(frozen.n_anchors),
            }
        )
        return
    if marks is not None and (marks.n_blank or marks.n_missing):
        put(
            f"the table leaves {marks.n_blank} blank and {marks.n_missing} out; these are as they were decided before,"
            " undecided ones do not become anchors"
        )
    written = "written to" if frozen.is_new else "stand already in"
    put(f"{counted(frozen.n_anchors, 'anchor')} {written} {frozen.path}")
    if frozen.n_flips:
        put(f"{frozen.n_flips} of them got two different scores when picked; that noise is part of the judge")
    if frozen.n_flagged:
        put(f"{frozen.n_flagged} of them may hold personal data and were accepted all the same")
    put_missing(review, frozen.n_anchors)
    _warn_if_few(frozen, review.summary)
    if in_use:
        put("the configuration names this set already")
    else:
        put("to use it, write in the configuration:")
        put(f'  [anchors]\n  set = "{frozen.path.name}"')
    put("No score of the pick is in it; the judge's own first runs with it become the baseline.")


def _warn_if_few(frozen: FrozenSet, summary: PickSummary) -> None:
    if frozen.n_anchors >= FEW_ANCHORS:
        return
    few, many = summary.visible_change(frozen.n_anchors), summary.visible_change(2 * FEW_ANCHORS)
    said = (
        "; 50 to 100 show smaller changes"
        if few is None
        else f": one run against another shows changes from about {number(few)} on, with {2 * FEW_ANCHORS} anchors from"
        f" {number(many)} on"
    )
    say(f"warning: {frozen.n_anchors} anchors are few{said}")


def put_checked(
    sets: Sequence[tuple[str, int]], pairs: Sequence[tuple[str, str, AnswerChanges]], *, as_json: bool
) -> None:
    """Tell what was found in anchor sets and between them."""
    from evaluator.golden_sets import why_no_anchors

    if as_json:
        put_json(
            {
                "sets": [{"set": name, "n_anchors": n} for name, n in sets],
                "pairs": [
                    {"before": before, "now": now, **asdict(found), "generated_anew": found.generated_anew}
                    for before, now, found in pairs
                ],
            }
        )
        return
    for name, n in sets:
        put(f"{one_line(name)}: {counted(n, 'anchor')}, all can be read")
    for before, now, found in pairs:
        put(
            f"{one_line(before)} and {one_line(now)}: {counted(found.n_shared, 'shared question')}, {found.n_changed}"
            " of them answered otherwise"
        )
        if found.generated_anew:
            put(f"this is one golden set whose answers are generated anew. {why_no_anchors()}")
