"""The review of a pick in the terminal: one answer at a time, yes or no. Each decision is stored at once.

For one that is left out, a reserve of the same level and segment comes at the end, as long as there is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
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
    from evaluator.picking.review import load_reserves
    from evaluator.picking.steps import open_review
    from evaluator.store import write

    queue = _Queue(review.items, load_reserves(store, review.pick, review.rubric))
    decisions = queue.decisions
    place = queue.next_open(0)
    if place < len(queue.items):
        put()
        put(_HELP)
    while place < len(queue.items):
        item = queue.items[place]
        _show(item, place, len(queue.items), decisions)
        key = _ask()
        if key == "q":
            break
        if key == "b":
            place = max(0, place - 1)
            continue
        queue.decide(item, "yes" if key == "y" else "no")
        write.decide_picks(
            store, review.pick.pick_id, {item.item_id: decisions[item.item_id]}, by_whom=by_whom, now=clock.now()
        )
        place = queue.next_open(place + 1)
    return open_review(store, review.pick, review.rubric)


class _Queue:
    """The answers of a review in the order they are asked for, with a reserve for each that is left out.

    Args:
        items: The review.
        reserves: What can take the place of an answer, in order.
    """

    def __init__(self, items: Iterable[ReviewItem], reserves: Iterable[ReviewItem]) -> None:
        self.items = list(items)
        self.decisions: dict[str, str | None] = {item.item_id: item.decision for item in self.items}
        self._reserves = list(reserves)
        self._fill()

    def decide(self, item: ReviewItem, decision: str) -> None:
        """Note a decision; a reserve comes to the end, or goes when the answer it is for is kept after all."""
        self.decisions[item.item_id] = decision
        self._fill()

    def next_open(self, start: int) -> int:
        """The next place without a decision; the number of places when there is none."""
        places = range(start, len(self.items))
        return next((place for place in places if self.decisions[self.items[place].item_id] is None), len(self.items))

    def _fill(self) -> None:
        missing = Counter(item.place for item in self.items if self.decisions[item.item_id] == "no")
        missing.subtract(item.place for item in self.items if item.is_reserve)
        for place, n in missing.items():
            for _ in range(n):
                self._add(place)
            for _ in range(-n):
                self._take_back(place)

    def _add(self, place: tuple[float | None, str]) -> None:
        reserve = next((item for item in self._reserves if item.place == place), None)
        if reserve is not None:
            self._reserves.remove(reserve)
            self.items.append(reserve)
            self.decisions[reserve.item_id] = None

    def _take_back(self, place: tuple[float | None, str]) -> None:
        for item in reversed(self.items):
            if item.is_reserve and item.place == place and self.decisions[item.item_id] is None:
                self.items.remove(item)
                self._reserves.insert(0, item)
                return


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
    said = "" if decided is None else f" (decided before: {decided})"
    said += " (a reserve, graded once, for one that was left out)" if item.is_reserve else ""
    put(f"── {place + 1} of {n}, {n_yes} kept so far{said}")
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
