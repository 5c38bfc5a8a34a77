"""What picking says: candidates and cost before, scores and levels after, the line for the configuration at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluator.cli.money_texts import at_most, budget_lines
from evaluator.cli.output import counted, number, put, put_json, put_table, say, signed
from evaluator.cli.progress import how_long

if TYPE_CHECKING:
    from evaluator.config import Config
    from evaluator.picking.grading import GradingPreview
    from evaluator.picking.review import PickSummary, ReviewItem
    from evaluator.picking.steps import PickPreview, PickRun, Review

_WHY = (
    "No score of this pick is a reference: what was picked for a high score was partly lucky and falls back when it is"
    " graded again. The reference will be the judge's own first runs on the frozen set."
)


# ---------------------------------------------------------------- before


def put_preview(preview: PickPreview, config: Config, *, as_json: bool) -> None:
    """Print what a pick would grade and what that can cost."""
    grading = preview.grading
    if as_json:
        payload = {key: value for key, value in asdict(preview).items() if key not in ("grading", "left_today", "pace")}
        put_json({**payload, **asdict(grading), "calls": grading.n_calls, **preview.left_today.as_dict()})
        return
    put(_drawn(preview.n_candidates, preview.n_looked_at, preview.left_out, preview.segment_key))
    if preview.n_flagged:
        flagged = counted(preview.n_flagged, "candidate")
        put(f"{flagged} may hold personal data; you decide on each, --yes leaves them out")
    if not preview.is_new:
        put("this pick is under way; what is left:")
    put(
        f"first grading {counted(grading.n_first, 'call')}, second {counted(grading.n_second, 'call')}: "
        f"{counted(grading.n_calls, 'call')}{at_most(grading.most_usd, config)}, without retries"
    )
    if grading.n_calls:
        put(how_long(preview.minutes, preview.pace))
    for line in budget_lines(preview.left_today, grading.n_calls, grading.most_usd):
        put(line)


def _drawn(n: int, n_looked_at: int, left_out: Mapping[str, int], segment_key: str | None) -> str:
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in left_out.items())
    spread = "" if segment_key is None else f", in equal shares of {segment_key!r} as far as they reach"
    return (
        f"{counted(n, 'candidate')} drawn at random from {counted(n_looked_at, 'answer')}{spread}"
        f"{f' (left out: {reasons})' if reasons else ''}"
    )


def cost_before(left: GradingPreview, config: Config) -> str:
    """What is about to be graded, in words."""
    again = f", then the {left.n_second:,} chosen of them again" if left.n_second and left.n_first else ""
    n = left.n_first or left.n_second
    return f"grading {counted(n, 'candidate')}{again}: {counted(left.n_calls, 'call')}{at_most(left.most_usd, config)}"


# ---------------------------------------------------------------- graded


def put_stopped(run: PickRun, config: Config, *, as_json: bool) -> None:
    """Tell that grading did not come to its end, and how to go on."""
    from evaluator.scoring.slot import explain_stop

    report = run.report
    if as_json:
        put_json({"pick": run.pick.request.name, "complete": False, **asdict(report)})
    message = explain_stop(report, config) if report.message else "stopped between the two gradings"
    say(f"error: grading stopped: {message}")
    say("the same command goes on where it stopped; what was graded is kept")


def put_picked(review: Review) -> None:
    """Print what came of grading: levels, jumps, what the set cannot see."""
    pick, summary = review.pick, review.summary
    put(_drawn(summary.n_candidates, pick.n_looked_at, pick.left_out, pick.segment_key))
    put_table(
        ("level", "name", "found", "chosen"),
        [(f"{score:g}", name, found, chosen) for score, name, found, chosen in summary.levels],
        numbers=("level", "found", "chosen"),
    )
    for line in _remarks(review):
        put(line)
    put(_WHY)


def _remarks(review: Review) -> list[str]:
    summary, wanted = review.summary, review.pick.request.n
    lines = []
    if summary.n_chosen < wanted:
        n_usable = summary.n_candidates - summary.n_unscored
        why = "there are no more that differ" if n_usable <= summary.n_chosen else "the others are left out"
        lines.append(f"only {summary.n_chosen} of the {wanted} anchors wanted: {why}")
    if summary.missing_levels:
        levels = _listed([f"{score:g} ({name})" for score, name in summary.missing_levels])
        n = summary.n_candidates - summary.n_unscored
        lines.append(f"no answers at level {levels} among {n:,}: the set cannot see moves there")
    if summary.n_unscored:
        lines.append(f"{counted(summary.n_unscored, 'candidate')} without a score in the first grading left out")
    if summary.n_gone:
        lines.append(f"{counted(summary.n_gone, 'chosen answer')} deleted since left out")
    if summary.n_second:
        lines.append(_jumps(summary))
    if summary.n_flagged:
        lines.append(f"{counted(summary.n_flagged, 'chosen answer')} may hold personal data")
    return lines


def _jumps(summary: PickSummary) -> str:
    visible = summary.visible_change(summary.n_chosen)
    shown = (
        ""
        if visible is None
        else f"; one grading of {summary.n_chosen} against another shows changes from about {number(visible)} on"
    )
    return (
        f"{summary.n_flips} of {summary.n_second} got two different scores; they may stay, that noise is part of the"
        f" judge{shown}. Second less first on average: {signed(summary.mean_jump)}, which includes what choosing by the"
        " first did"
    )


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def put_picked_json(review: Review, *, out: Path | None, n_flagged_out: int | None) -> None:
    """Print a graded pick for programs."""
    summary = review.summary
    put_json(
        {
            "pick": review.pick.request.name,
            "complete": True,
            "segment_key": review.pick.segment_key,
            "n_looked_at": review.pick.n_looked_at,
            "left_out": dict(review.pick.left_out),
            **asdict(summary),
            "levels": [
                {"level": score, "name": name, "found": found, "chosen": chosen}
                for score, name, found, chosen in summary.levels
            ],
            "missing_levels": [score for score, _ in summary.missing_levels],
            "n_flagged_left_out": n_flagged_out,
            "out": None if out is None else str(out),
            "items": [_item_payload(item) for item in review.items],
        }
    )


def _item_payload(item: ReviewItem) -> dict[str, Any]:
    return {
        "item_id": item.item_id,
        "input": item.item.input,
        "output": item.item.output,
        "tags": dict(item.tags),
        "first_score": item.first,
        "second_score": item.second,
        "personal_data": list(item.flags),
        "decision": item.decision,
    }


# ---------------------------------------------------------------- decided


def put_next_step(review: Review, *, out: Path | None, n_flagged_out: int | None, skipped_flagged: bool) -> None:
    """Tell how far the review is, and what comes next.

    Args:
        review: The review as it is.
        out: The table that was written.
        n_flagged_out: Chosen answers that --yes left undecided.
        skipped_flagged: Whether candidates that may hold personal data were left out before choosing.
    """
    name = review.pick.request.name
    named = "" if name == "own" else f" --name {name}"
    if skipped_flagged and not n_flagged_out:
        _put_passed_over(review)
    if n_flagged_out:
        put(
            f"{counted(n_flagged_out, 'flagged answer')} left undecided (likely personal data); look at them, or take"
            " them in with --accept-flagged"
        )
    if out is not None:
        put(f"{counted(len(review.items), 'answer')} written to {out}; write yes or no in its column keep, then")
        put(f"  judgewatch anchors freeze{named} --from {out}")
        return
    if review.pick.frozen_utc is not None:
        put(f"frozen on {review.pick.frozen_utc[:10]}; freeze with --force replaces that file after other decisions")
    n_yes, n_open = (sum(item.decision == mark for item in review.items) for mark in ("yes", None))
    put(f"{n_yes} kept, {len(review.items) - n_yes - n_open} left out, {n_open} undecided")
    if n_open and not n_yes:
        put(
            "to decide: the same command in a terminal, with --out FILE.csv as a table, or with --yes for all that are"
            " not flagged"
        )
    else:
        if not n_open:
            put_missing(review, n_yes)
        put(f"  judgewatch anchors freeze{named}   writes the kept ones as an anchor set")


def _put_passed_over(review: Review) -> None:
    """Tell how many candidates --yes did not choose from."""
    chosen = {item.item_id for item in review.items}
    n = sum(bool(item.flags) and item.item_id not in chosen for item in review.pick.items)
    if n:
        put(
            f"{counted(n, 'candidate')} not chosen, since likely personal data is in them; --accept-flagged --restart"
            " picks anew with them"
        )


def put_missing(review: Review, n_yes: int) -> None:
    """Tell how many are missing since they were left out, and what adds some."""
    wanted = review.pick.request.n
    if n_yes < wanted and any(item.decision == "no" for item in review.items):
        put(
            f"{wanted - n_yes} fewer than the {wanted} wanted; the same command in a terminal offers reserves while"
            " there are some, a larger --n with --restart draws and grades anew"
        )
