"""What would have fired on a history."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import ok, ok_json, refused

Database = Callable[[str], Path]


@pytest.fixture
def sixty(database: Database) -> Path:
    """Sixty days of a support bot whose judge grows generous and whose German billing answers get worse."""
    db = database("sixty_days")
    ok("check", "--db", db)
    return db


def test_preview_lists_what_fired_with_days_and_sizes(sixty: Path) -> None:
    """The same changes that `check` tells, each with the day it fired and the day it is dated to."""
    alerts = ok_json("alerts", "preview", "--db", sixty)["alerts"]
    judge = ok_json("check", "--db", sixty)["judge"]
    (first, *_) = [alert for alert in alerts if alert["what"].startswith("judge more generous")]
    assert (first["fired_day"], first["since_day"]) == (judge["alarm_day"], judge["since_day"])
    assert first["estimate"] == judge["estimate"]
    text = ok("alerts", "preview", "--db", sixty)
    assert first["since_day"] in text
    assert "Nothing was sent" in text


def test_preview_tries_other_settings_and_keeps_nothing(sixty: Path) -> None:
    """A promise of one false alarm in a million years lets nothing fire; `check` still says what it said."""
    before = ok_json("check", "--db", sixty)
    strict = ok_json("alerts", "preview", "--false-alarms", "0.0000000000000000001", "--db", sixty)
    assert strict["alerts"] == []
    assert strict["settings"]["false_alarms_per_year"] == 1e-19
    loose = ok_json("alerts", "preview", "--smallest-change", "3", "--db", sixty)
    assert loose["alerts"] == []
    assert ok_json("check", "--db", sixty) == before


def test_preview_without_a_run_names_the_next_step(database: Database) -> None:
    """Nothing can have fired."""
    db = database("answers_only")
    assert ok_json("alerts", "preview", "--db", db)["alerts"] == []
    assert "judgewatch run once" in ok("alerts", "preview", "--db", db)


@pytest.mark.parametrize("option", ["--false-alarms", "--smallest-change"])
def test_preview_refuses_what_is_not_positive(sixty: Path, option: str) -> None:
    """Zero false alarms cannot be promised."""
    assert option in refused("alerts", "preview", option, "0", "--db", sixty, code=64)
