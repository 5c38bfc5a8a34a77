"""The newest finished recheck of imported scores, as an input of their analysis. Reads only."""

from __future__ import annotations

from typing import Any

from evaluator.analysis.bridging import IMPORTED
from evaluator.clock import day_of, parse_utc
from evaluator.findings import Rechecked
from evaluator.store import read
from evaluator.store.db import Store

NOT_NAMED = "(not named)"  # the judge of stored scores whose file names none


def newest_recheck_of(store: Store, app: str, setup: dict[str, Any]) -> Rechecked | None:
    """What the newest finished recheck of the scores of an imported judge setup found; None without one.

    A recheck is of these scores when its file named the same judge and criterion. Where the app has scores of one
    judge and criterion only, every recheck is of them, whatever they were called on the import.

    Args:
        store: A store, read-only is enough.
        app: The app.
        setup: A row of ``read.rulers``.
    """
    if setup["output_mode"] != IMPORTED:
        return None
    is_only_one = sum(row["output_mode"] == IMPORTED for row in read.rulers(store, app)) == 1
    for row in read.rechecks(store, app):
        result = row["result"]
        if row["finished_utc"] is not None and (is_only_one or _is_of(result, setup)):
            drift = result["drift"] or {}
            return Rechecked(
                day=day_of(parse_utc(row["finished_utc"]), store.zone).isoformat(),
                finding=result["finding"],
                value=drift.get("value"),
                low=drift.get("low"),
                high=drift.get("high"),
            )
    return None


def _is_of(result: dict[str, Any], setup: dict[str, Any]) -> bool:
    names = {NOT_NAMED, setup["model_asked"]}
    is_judge = result["stored_judge"] in names or not names.isdisjoint(result["stored_judge"].split(", "))
    return is_judge and bool(result["stored_criterion"] == setup["criterion"])
