"""``judgewatch demo`` as it is typed; what the demo tells is tested with the demo itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.cli.demo import _too_short
from tests.cli.conftest import invoke, refused


def test_short_demo_says_so_and_the_kept_one_tells_its_length() -> None:
    """Two days hold no change; a second call for another length does not pretend to be it."""
    first = invoke("demo", "--dir", "d", "--days", "2", "--no-dashboard")
    assert first.exit_code == 0, first.output
    assert "A calendar of 2 days holds no change; for both it needs at least 60." in first.stdout
    other = invoke("demo", "--dir", "d", "--no-dashboard").stderr
    assert "is kept as it is, a calendar of 2 days and not of 60; --fresh grades a new one" in other
    assert "is kept as it is; --fresh" in invoke("demo", "--dir", "d", "--days", "2", "--no-dashboard").stderr


@pytest.mark.parametrize(
    ("days", "said"), [(36, "holds no change"), (40, "only the judge's"), (50, "may be too short")]
)
def test_short_calendar_says_what_it_leaves_out(days: int, said: str) -> None:
    """The two changes lie on fixed days."""
    assert said in _too_short(days)


def test_folder_with_a_database_is_refused_without_a_bar() -> None:
    """Nothing is graded, so nothing seems to be."""
    Path("d").mkdir()
    Path("d/judgewatch.db").touch()
    assert "exists already" in refused("demo", "--dir", "d", "--no-dashboard", code=64)
    assert "Grading" not in invoke("demo", "--dir", "d", "--no-dashboard").output
