"""The review of a pick in the terminal: one answer at a time, yes or no. Each decision is stored at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from evaluator.cli.output import number, one_line, put, visible

if TYPE_CHECKING:
    from evaluator.clock import Clock
    from evaluator.picking.review import ReviewItem
    from evaluator.picking.steps import Review
    from evaluator.store.db import Store

MOST_CHARS = 1_500
_HELP = "y = keep as an anchor, n = leave out, b = back, q = quit (what is decided is kept)"


def decide_in_terminal(store: Store, review: Review, *, by_whom: str, clock: Clock) -> Review:
    """Ask for a decision on each answer that has none; returns the review as it is then."""
    from evaluator.picking.steps import open_review
    from evaluator.store import write

    decisions: dict[str, str | None] = {item.item_id: item.decision for item in review.items}
    place = _next_open(review, decisions, 0)
    if place < len(review.items):
        put()
        put(_HELP)
    while place < len(review.items):
        item = review.items[place]
        _show(item, place, len(review.items), decisions)
        key = _ask()
        if key == "q":
            break
        if key == "b":
            place = max(0, place - 1)
            continue
        decisions[item.item_id] = "yes" if key == "y" else "no"
        write.decide_picks(
            store, review.pick.pick_id, {item.item_id: decisions[item.item_id]}, by_whom=by_whom, now=clock.now()
        )
        place = _next_open(review, decisions, place + 1)
    return open_review(store, review.pick, review.rubric)


def _next_open(review: Review, decisions: Mapping[str, str | None], start: int) -> int:
    """The next place without a decision; the number of places when there is none."""
    places = range(start, len(review.items))
    return next((place for place in places if decisions[review.items[place].item_id] is None), len(review.items))


def _ask() -> str:
    """One of the keys y, n, b, q; the end of the input is q."""
    while True:
        click.echo("keep? [y/n/b/q] ", nl=False)
        try:
            key = click.getchar()
        except EOFError:
            key = ""
        click.echo()
        if not key or key == "\x04":
            return "q"
        if key == "\x03":
            raise click.Abort
        if key.lower() in ("y", "n", "b", "q"):
            return key.lower()
        put(_HELP)


def _show(item: ReviewItem, place: int, n: int, decisions: Mapping[str, str | None]) -> None:
    decided = decisions[item.item_id]
    n_yes = sum(decision == "yes" for decision in decisions.values())
    put()
    put(f"── {place + 1} of {n}, {n_yes} kept so far{'' if decided is None else f' (decided before: {decided})'}")
    put("question:")
    put(_indented(item.item.input))
    put("answer:")
    put(_indented(item.item.output))
    if item.item.reference:
        put("reference:")
        put(_indented(item.item.reference))
    if item.tags:
        put("tags: " + one_line(", ".join(f"{key}={value}" for key, value in item.tags.items()), 200))
    jumped = " (two different scores)" if item.flipped else ""
    put(f"fresh scores, kept as no reference: {number(item.first) or 'none'}, {number(item.second) or 'none'}{jumped}")
    if item.flags:
        put(f"! likely personal data: {', '.join(item.flags)}")


def _indented(text: str) -> str:
    """The start of a text, without anything that steers a terminal, set in so that it cannot pass for our words."""
    start = visible(text[:MOST_CHARS])
    left_out = len(text) - MOST_CHARS
    more = f"\n… [{left_out:,} more characters]" if left_out > 0 else ""
    return "\n".join(f"  │ {line}" for line in f"{start}{more}".split("\n"))
