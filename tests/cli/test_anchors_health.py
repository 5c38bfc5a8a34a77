"""Whether the anchors can do their work, and how many it takes, from the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import ok, ok_json, refused

Database = Callable[[str], Path]


@pytest.fixture
def sixty(database: Database) -> Path:
    """Sixty days of a support bot."""
    db = database("sixty_days")
    ok("check", "--db", db)
    return db


def test_health_looks_at_the_runs_since_the_judge_moved(sixty: Path) -> None:
    """With the levels covered, how repeatable the judge is, and agreement with people."""
    found = ok_json("anchors", "health", "--db", sixty)["health"]
    assert found["first_day"] == ok_json("check", "--db", sixty)["judge"]["since_day"]
    assert sum(found["per_level"]) == found["n_anchors"] == 20
    text = ok("anchors", "health", "--db", sixty)
    assert "Agreement with people on 20 anchors" in text
    assert "What to do:" in text  # five levels, twenty anchors: some level is thin


def test_health_lists_every_anchor_when_asked(sixty: Path) -> None:
    """One row an anchor, with n."""
    rows = [line for line in ok("anchors", "health", "--all", "--db", sixty).splitlines() if line.startswith("gen-")]
    assert len(rows) == len(ok_json("anchors", "health", "--db", sixty)["health"]["anchors"]) == 20


def test_health_without_runs_names_the_next_step(database: Database) -> None:
    """And as JSON: null with the step."""
    db = database("answers_only")
    assert "judgewatch run once" in ok("anchors", "health", "--db", db)
    assert ok_json("anchors", "health", "--db", db)["health"] is None


def test_power_rests_on_own_runs_and_more_anchors_see_sooner(sixty: Path) -> None:
    """Days fall with the number of anchors and with the size of the change."""
    found = ok_json("anchors", "power", "--db", sixty)
    assert "your own runs" in found["basis"]
    days = [[cell or 1000 for cell in row["days"]] for row in found["anchors"]["rows"]]
    assert all(list(row) == sorted(row, reverse=True) for row in days)
    assert all(list(column) == sorted(column, reverse=True) for column in zip(*days, strict=True))
    assert found["anchors"]["n_now"] == 20


def test_power_before_the_first_run_says_that_the_noise_is_not_yours(database: Database) -> None:
    """Usual noise, named as such."""
    assert "too few own runs" in ok("anchors", "power", "--db", database("answers_only"))


def test_power_for_one_change_within_so_many_days(sixty: Path) -> None:
    """A larger change within more days takes fewer anchors."""
    small = ok_json("anchors", "power", "--change", "0.2", "--days", "10", "--db", sixty)["anchors"]["needed"]
    large = ok_json("anchors", "power", "--change", "0.4", "--days", "20", "--db", sixty)["anchors"]["needed"]
    assert len(small) == len(large) == 1
    assert large[0] <= (small[0] or 10_000)


@pytest.mark.parametrize("words", [("--change", "0"), ("--days", "0"), ("--days", "400")])
def test_power_refuses_what_makes_no_sense(sixty: Path, words: tuple[str, str]) -> None:
    """No change, no day, over a year."""
    assert words[0] in refused("anchors", "power", *words, "--db", sixty, code=64)
