"""Imported scores that stand beside a judge setup that can say nothing yet, and the command that shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from evaluator.cli.output import counted
from evaluator.store import read

if TYPE_CHECKING:
    from evaluator.findings import Findings
    from evaluator.store.db import Store

_YOUNG = frozenset({"learning", "no_data"})


class ImportedHistory(TypedDict):
    """One setup of imported scores: its number, judge and criterion, and the days that have scores."""

    setup: int
    judge: str
    criterion: str
    n_days: int


def imported_history(store: Store, app: str, findings: Findings | None) -> list[ImportedHistory]:
    """Return the imported setups of an app where the one that is asked about has learnt nothing yet; else none.

    Args:
        store: A store, read-only is enough.
        app: The app.
        findings: Of the setup that is asked about; None before its first analysis.
    """
    if findings is not None and (findings.get("imported") or findings["judge"]["state"] not in _YOUNG):
        return []
    found = []
    for row in read.rulers(store, app):
        whose = {"app": app, "ruler_id": row["ruler_id"], "criterion": row["criterion"]}
        analysis = read.newest_analysis(store, **whose)
        if analysis is None or not analysis["payload"].get("imported"):
            continue
        n_days = sum(day["n"] > 0 for day in analysis["payload"]["days"])
        if n_days:
            found.append(
                ImportedHistory(
                    setup=row["position"], judge=row["model_asked"], criterion=row["criterion"], n_days=n_days
                )
            )
    return found


def history_sentences(found: list[ImportedHistory]) -> list[str]:
    """Say where the imported scores stand, the command with it."""
    return [
        f"{counted(history['n_days'], 'day')} of imported scores {'stands' if history['n_days'] == 1 else 'stand'} in"
        f" setup {history['setup']}: `judgewatch check --setup {history['setup']}`."
        for history in found
    ]
