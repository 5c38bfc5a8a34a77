"""What two processes must not do twice: the scorer's lease, and the day's budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from evaluator.clock import parse_utc, utc_text
from evaluator.errors import LeaseHeldError
from evaluator.store.db import Store

LEASE_TTL = timedelta(seconds=30)  # a scorer that was silent for so long is taken to be dead


@dataclass(frozen=True, kw_only=True)
class Lease:
    """The right to write as the one scorer of an app."""

    name: str
    holder: str


def acquire_lease(
    store: Store,
    *,
    app: str,
    holder: str,
    what: str,
    now: datetime,
    is_dead: Callable[[str], bool] = lambda _holder: False,
) -> Lease:
    """Take the scorer's lease of an app.

    Args:
        store: A writable store.
        app: The app.
        holder: Who takes it.
        what: What for, in words.
        now: Wall clock.
        is_dead: Whether a holder is known to be gone; its lease is taken over at once.

    Raises:
        LeaseHeldError: another scorer holds it and gave a sign of life in the last half minute.
    """
    name = f"scorer:{app}"
    with store.transaction(visible=False) as connection:
        row = connection.execute("SELECT holder, what, expires_utc FROM leases WHERE name = ?", (name,)).fetchone()
        taken = row is not None and row["holder"] != holder and parse_utc(row["expires_utc"]) > now
        if taken and not is_dead(row["holder"]):
            raise LeaseHeldError(
                f"another scorer ({row['holder']}, {row['what']}) works on app {app!r} in {store.path};"
                " it is left alone. If it is dead, its claim ends by itself within"
                f" {int(LEASE_TTL.total_seconds())} seconds"
            )
        connection.execute(
            "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?)",
            (name, holder, what, utc_text(now), utc_text(now + LEASE_TTL)),
        )
    return Lease(name=name, holder=holder)


def renew_lease(store: Store, lease: Lease, *, now: datetime) -> None:
    """Give a sign of life.

    Raises:
        LeaseHeldError: the lease was lost, because this process was silent too long and another one took over.
    """
    with store.transaction(visible=False) as connection:
        changed = connection.execute(
            "UPDATE leases SET heartbeat_utc = ?, expires_utc = ? WHERE name = ? AND holder = ?",
            (utc_text(now), utc_text(now + LEASE_TTL), lease.name, lease.holder),
        ).rowcount
    if not changed:
        raise LeaseHeldError("this scorer was silent too long and another one took over; it stops here")


def release_lease(store: Store, lease: Lease) -> None:
    """Give the lease back; a lease that was lost meanwhile is left alone."""
    with store.transaction(visible=False) as connection:
        connection.execute("DELETE FROM leases WHERE name = ? AND holder = ?", (lease.name, lease.holder))


def take_budget(
    store: Store,
    *,
    app: str,
    day: str,
    usd: float,
    calls: int,
    usd_per_day: float | None,
    calls_per_day: int | None,
) -> tuple[float, int]:
    """Take a portion out of the day's budget before it is spent, as much as is left of it.

    A scorer that is killed loses its portion, so the budget can be under-used but never exceeded.

    Returns:
        (usd, calls) that may be spent; zeros when nothing is left.
    """
    with store.transaction(visible=False) as connection:
        connection.execute("INSERT OR IGNORE INTO budget_days VALUES (?, ?, 0, 0)", (app, day))
        taken_usd, taken_calls = connection.execute(
            "SELECT taken_usd, taken_calls FROM budget_days WHERE app = ? AND day = ?", (app, day)
        ).fetchone()
        granted_usd = usd if usd_per_day is None else max(0.0, min(usd, usd_per_day - taken_usd))
        granted_calls = calls if calls_per_day is None else max(0, min(calls, calls_per_day - taken_calls))
        connection.execute(
            "UPDATE budget_days SET taken_usd = taken_usd + ?, taken_calls = taken_calls + ? WHERE app = ? AND day = ?",
            (granted_usd, granted_calls, app, day),
        )
    return granted_usd, granted_calls


def return_budget(store: Store, *, app: str, day: str, usd: float, calls: int) -> None:
    """Give back what was taken and not spent."""
    with store.transaction(visible=False) as connection:
        connection.execute(
            "UPDATE budget_days SET taken_usd = max(0, taken_usd - ?), taken_calls = max(0, taken_calls - ?)"
            " WHERE app = ? AND day = ?",
            (usd, calls, app, day),
        )
