"""Reads: what a day has cost an app, what is taken out of its budget, and how many answers were graded in all."""

from __future__ import annotations

from evaluator.store.db import Store
from evaluator.store.read.base import Row, queries, to_row


def budget_day(store: Store, app: str, day: str) -> Row | None:
    """What was taken out of a day's budget, taken_usd and taken_calls; None when no scorer has asked for any."""
    return to_row(queries().budget_day(store.connection, app=app, day=day))


def cost_of_day(store: Store, app: str, day: str) -> Row:
    """What the runs scheduled for a day have cost: cost_usd, n_calls."""
    return dict(queries().cost_of_day(store.connection, app=app, day=day))


def n_graded_answers(store: Store, app: str) -> int:
    """How many answers of traffic have a score, under all judge setups."""
    return int(queries().graded_answers(store.connection, app=app)["n"])
