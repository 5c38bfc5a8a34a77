"""Reads of rechecks: the newest finished one of an app."""

from __future__ import annotations

from dashboard.queries import Row, StoreKey, cached, opened
from evaluator.store import read

RESULT_VERSION = 1  # of the stored result that this page can read


@cached
def newest_recheck(key: StoreKey, app: str) -> Row | None:
    """The result of the newest finished recheck; None when there is none, or one of a later version."""
    with opened(key) as store:
        rows = read.rechecks(store, app)
        newest = next((row for row in rows if row["finished_utc"] is not None), None)
        if newest is None or newest["result"]["schema_version"] != RESULT_VERSION:
            return None
        result: Row = newest["result"]
        return {**result, "furthest": read.with_reasons(store, newest["recheck_id"], result["furthest"])}
