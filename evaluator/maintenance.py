"""Builds what the store derives from its facts anew: daily totals, days, analyses. Nothing else may work on it then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from evaluator.scoring.holder import holder_name
from evaluator.store import locks, read, rollup
from evaluator.store.db import Store, open_store
from evaluator.store.zone import change_zone


@dataclass(frozen=True, kw_only=True)
class RebuildReport:
    """What was built anew: number of days by app, counted over answers and anchors; and the zone of the days."""

    n_days: Mapping[str, int]
    zone: str


def rebuild(path: Path, *, zone: str | None, now: datetime) -> RebuildReport:
    """Build the daily totals of every app anew, in another zone of days if one is named.

    Args:
        path: The database.
        zone: The new zone; None keeps the present one.
        now: Wall clock.

    Raises:
        LeaseHeldError: a scorer works on the database.
        StoreError: there is none, or it cannot be written.
        UsageError: an unknown zone.
    """
    with open_store(path, create=False) as store, _alone(store, now):
        if zone is not None and zone != store.zone.key:
            change_zone(store, zone)
        n_days = {app: rollup.rebuild_everything(store, app) for app in read.apps(store)}
        return RebuildReport(n_days=n_days, zone=store.meta("zone") or "UTC")


@contextmanager
def _alone(store: Store, now: datetime) -> Iterator[None]:
    """Hold the scorer's lease of every app."""
    leases = []
    try:
        for app in read.apps(store):
            lease = locks.acquire_lease(store, app=app, holder=f"{holder_name()}:rebuild", what="db rebuild", now=now)
            leases.append(lease)
        yield
    finally:
        for lease in leases:
            locks.release_lease(store, lease)
