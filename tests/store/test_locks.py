"""What two processes must not do twice: work as the scorer of an app, spend the same money."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.errors import LeaseHeldError
from evaluator.store import locks
from evaluator.store.db import Store, open_store
from tests.store.helpers import APP, NOW, one, result_of, rows, start_python

DAY = "2026-03-01"
SECOND = timedelta(seconds=1)


def acquire(store: Store, holder: str, *, after: timedelta = timedelta(), app: str = APP) -> locks.Lease:
    """Take the lease some time after the start."""
    return locks.acquire_lease(store, app=app, holder=holder, what="run of today", now=NOW + after)


def test_second_scorer_is_told_who_works(store: Store) -> None:
    """Holder, what it does, which app, which file, and when its claim ends."""
    acquire(store, "host:1")
    with pytest.raises(LeaseHeldError) as caught:
        acquire(store, "host:2", after=SECOND)
    for part in ("host:1", "run of today", f"'{APP}'", "judgewatch.db", "within 30 seconds"):
        assert part in str(caught.value)


def test_scorer_that_gave_a_sign_of_life_keeps_the_lease(store: Store) -> None:
    """However long it works."""
    lease = acquire(store, "host:1")
    locks.renew_lease(store, lease, now=NOW + 25 * SECOND)
    with pytest.raises(LeaseHeldError):
        acquire(store, "host:2", after=40 * SECOND)


def test_dead_scorers_lease_is_taken_over(store: Store) -> None:
    """After half a minute of silence; the dead one, should it wake up, learns that it lost."""
    lost = acquire(store, "host:1")
    acquire(store, "host:2", after=locks.LEASE_TTL)
    with pytest.raises(LeaseHeldError, match=r"silent too long and another one took over"):
        locks.renew_lease(store, lost, now=NOW + locks.LEASE_TTL + SECOND)


def test_lost_lease_is_not_given_back_for_another(store: Store) -> None:
    """The one that lost it ends without taking it from the one that has it."""
    lost = acquire(store, "host:1")
    acquire(store, "host:2", after=locks.LEASE_TTL)
    locks.release_lease(store, lost)
    assert one(store, "SELECT holder FROM leases") == "host:2"


def test_lease_that_was_given_back_is_free_at_once(store: Store) -> None:
    """The next run need not wait."""
    locks.release_lease(store, acquire(store, "host:1"))
    acquire(store, "host:2")


def test_apps_have_leases_of_their_own(store: Store) -> None:
    """Two apps in one database are graded at the same time."""
    acquire(store, "host:1")
    acquire(store, "host:2", app="other")
    assert one(store, "SELECT count(*) FROM leases") == 2


def test_signs_of_life_are_no_news_for_pages(store: Store) -> None:
    """A heartbeat every few seconds must not make every page read again."""
    locks.renew_lease(store, acquire(store, "host:1"), now=NOW)
    locks.take_budget(store, app=APP, day=DAY, usd=1, calls=1, usd_per_day=5, calls_per_day=5)
    assert store.revision == 0


def test_of_many_processes_one_gets_the_lease(path: Path) -> None:
    """All ask at the same moment."""
    open_store(path).close()
    code = """
        import sys
        from evaluator.errors import LeaseHeldError
        from evaluator.store import locks
        from evaluator.store.db import open_store
        from tests.store.helpers import NOW
        with open_store(sys.argv[1]) as store:
            try:
                locks.acquire_lease(store, app="shop", holder=sys.argv[2], what="x", now=NOW)
                print("got it")
            except LeaseHeldError:
                print("held")
    """
    processes = [start_python(code, path, f"host:{number}") for number in range(4)]
    assert sorted(result_of(process).strip() for process in processes) == ["got it", "held", "held", "held"]


# ---------------------------------------------------------------- the day's budget


def take(store: Store, usd: float, calls: int, *, day: str = DAY) -> tuple[float, int]:
    """Take out of a day of 1 dollar and 10 calls."""
    return locks.take_budget(store, app=APP, day=day, usd=usd, calls=calls, usd_per_day=1.0, calls_per_day=10)


def test_budget_gives_what_is_left(store: Store) -> None:
    """The last portion is the rest, and then there is none."""
    assert take(store, 0.7, 8) == (0.7, 8)
    assert take(store, 0.7, 8) == (pytest.approx(0.3), 2)
    assert take(store, 0.7, 8) == (pytest.approx(0), 0)


def test_each_day_and_app_has_its_own_budget(store: Store) -> None:
    """Midnight brings a new one."""
    take(store, 1.0, 10)
    assert take(store, 0.5, 1, day="2026-03-02") == (0.5, 1)
    granted = locks.take_budget(store, app="other", day=DAY, usd=1, calls=1, usd_per_day=1, calls_per_day=1)
    assert granted == (1, 1)


def test_what_was_not_spent_can_be_taken_again(store: Store) -> None:
    """And no more than that, whatever is given back."""
    take(store, 0.6, 6)
    locks.return_budget(store, app=APP, day=DAY, usd=0.5, calls=5)
    assert take(store, 5, 50) == (pytest.approx(0.9), 9)
    locks.return_budget(store, app=APP, day=DAY, usd=99, calls=99)
    assert rows(store, "SELECT taken_usd, taken_calls FROM budget_days") == [{"taken_usd": 0, "taken_calls": 0}]


def test_no_limit_grants_everything_and_keeps_count(store: Store) -> None:
    """A limit that is set later counts what was spent before."""
    for _ in range(3):
        granted = locks.take_budget(store, app=APP, day=DAY, usd=9, calls=9, usd_per_day=None, calls_per_day=None)
        assert granted == (9, 9)
    assert take(store, 1, 1) == (0, 0)


@settings(max_examples=50)
@given(st.lists(st.tuples(st.floats(0, 0.5), st.integers(0, 4), st.booleans()), max_size=25))
def test_budget_is_never_exceeded_whatever_is_taken_and_given_back(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[float, int, bool]]
) -> None:
    """What is out at any moment is at most the day's budget."""
    out_usd, out_calls = 0.0, 0
    with open_store(tmp_path_factory.mktemp("budget") / "judgewatch.db") as store:
        for usd, calls, is_back in steps:
            if is_back:
                usd, calls = min(usd, out_usd), min(calls, out_calls)  # noqa: PLW2901 - no more than is out
                locks.return_budget(store, app=APP, day=DAY, usd=usd, calls=calls)
                out_usd, out_calls = out_usd - usd, out_calls - calls
            else:
                granted_usd, granted_calls = take(store, usd, calls)
                out_usd, out_calls = out_usd + granted_usd, out_calls + granted_calls
            assert out_usd <= 1.0 + 1e-9
            assert out_calls <= 10
