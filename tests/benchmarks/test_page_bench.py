"""The page's clock finds every query, and a missed budget is said."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.page import __main__ as command
from benchmarks.page.queries import Times, View, clock_views, default_views
from dashboard import queries
from tests import builders


def test_every_page_but_the_index_of_apps_is_looked_at() -> None:
    assert {"now", "segments", "answers"} <= {view.page for view in default_views()}
    assert all(view.page != "apps" for view in default_views())


def test_each_query_of_a_page_is_clocked_cold_each_time(tmp_path: Path) -> None:
    db = tmp_path / "some.db"
    builders.sixty_days(db)
    original, script = queries.opened, sys.modules["__main__"]
    (found,) = clock_views([db], [View(page="now", params={}, name="now")], times=2)
    assert {"apps", "setups", "findings", "events"} <= {name for _, name in found.queries}
    assert len(found.queries["now", "setups"]) == 2
    assert all(
        0 < seconds < page for seconds, page in zip(found.queries["now", "setups"], found.pages["now"], strict=True)
    )
    assert queries.opened is original
    assert sys.modules["__main__"] is script


def test_a_page_that_fails_is_no_measurement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = tmp_path / "some.db"
    builders.sixty_days(db)

    def fail(*_: object, **__: object) -> None:
        raise ValueError("no such thing")

    monkeypatch.setattr(queries, "events", fail)
    with pytest.raises(RuntimeError, match="no such thing"):
        clock_views([db], [View(page="now", params={}, name="now")], times=1)


def test_median_and_95th_percentile_are_of_each_query() -> None:
    times = Times(pages={}, queries={("now", "slow"): [0.1 * n for n in range(21)], ("now", "quick"): [0.01]})
    assert times.median() == pytest.approx({("now", "slow"): 1.0, ("now", "quick"): 0.01})
    assert times.p95() == pytest.approx({("now", "slow"): 1.9, ("now", "quick"): 0.01})


@pytest.mark.parametrize(
    ("seconds", "ratio", "good"), [(0.099, 1.5, True), (0.101, 1.0, False), (0.06, 1.51, False), (0.06, None, True)]
)
def test_a_missed_budget_is_said(
    seconds: float, ratio: float | None, good: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command._line("now: some", seconds, command.MOST_S, ratio) is good
    assert ("MISSED" in capsys.readouterr().out) is not good


def test_a_negligible_query_is_not_compared() -> None:
    assert command._ratio(0.004, 0.001) is None
    assert command._ratio(0.06, None) is None
    assert command._ratio(0.06, 0.03) == pytest.approx(2.0)
