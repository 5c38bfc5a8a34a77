"""Which runs are a judge's normal: a person's word, and taking it back."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from evaluator.errors import UsageError
from evaluator.freshness import newest_analysis
from evaluator.store import read, write
from tests.builders import APP, World, one_day, ruler

NOW = datetime(2026, 12, 1, 8, tzinfo=UTC)
RULER_ID = ruler().ruler_id


@pytest.fixture
def world(path: Path) -> World:
    """One app with one graded day."""
    one_day(path)
    return World(path=path)


def accept(world: World, day: str, note: str = "new model, as planned", now: datetime = NOW) -> int:
    """Accept a day."""
    return write.accept_baseline(
        world.store, app=APP, ruler_id=RULER_ID, from_day=day, by_whom="ada", note=note, now=now
    )


def undo(world: World, note: str = "") -> str:
    """Take the newest back."""
    return write.undo_baseline(world.store, app=APP, ruler_id=RULER_ID, by_whom="bob", note=note, now=NOW)


def holding(world: World) -> str | None:
    """The day that holds."""
    row = read.accepted_baseline(world.store, APP, RULER_ID)
    return None if row is None else row["from_day"]


def test_the_newest_word_holds_and_taking_it_back_brings_the_one_before(world: World) -> None:
    """Two words, taken back one after the other, down to the first runs."""
    assert holding(world) is None
    accept(world, "2026-11-06")
    accept(world, "2026-11-20")
    assert holding(world) == "2026-11-20"
    assert undo(world) == "2026-11-20"
    assert holding(world) == "2026-11-06"
    assert undo(world) == "2026-11-06"
    assert holding(world) is None


def test_nothing_is_forgotten(world: World) -> None:
    """Who, when and why of both stay."""
    accept(world, "2026-11-06")
    undo(world, "it was a fault of the gateway")
    (row,) = read.accepted_baselines(world.store, APP, RULER_ID)
    assert (row["by_whom"], row["note"], row["undone_by"]) == ("ada", "new model, as planned", "bob")
    assert row["undone_note"] == "it was a fault of the gateway"


def test_a_word_needs_a_reason_and_says_something_new(world: World) -> None:
    """No reason, the same day again, nothing to take back: each refused, nothing written."""
    with pytest.raises(UsageError, match="reason"):
        accept(world, "2026-11-06", note="  ")
    with pytest.raises(UsageError, match="first runs"):
        undo(world)
    accept(world, "2026-11-06")
    with pytest.raises(UsageError, match="2026-11-06"):
        accept(world, "2026-11-06")
    assert len(read.accepted_baselines(world.store, APP, RULER_ID)) == 1


def test_an_analysis_made_before_the_word_is_out_of_date(world: World) -> None:
    """So is one made before it was taken back."""
    findings = {"criterion": "", "first_day": None, "last_day": None}
    criterion = read.newest_ruler(world.store, APP)["criterion"]  # type: ignore[index]  # there is one

    def analysed(now: datetime) -> bool:
        write.save_analysis(
            world.store, app=APP, ruler_id=RULER_ID, criterion=criterion, first_day=None, last_day=None, baseline="",
            settings_hash="", code_version="", schema_version=1, payload=findings, revision=world.store.revision,
            now=now,
        )  # fmt: skip
        return newest_analysis(world.store, app=APP, ruler_id=RULER_ID, criterion=criterion)[1]

    assert not analysed(NOW)
    later = datetime(2026, 12, 1, 9, tzinfo=UTC)
    accept(world, "2026-11-06", now=later)
    assert newest_analysis(world.store, app=APP, ruler_id=RULER_ID, criterion=criterion)[1]
    assert not analysed(datetime(2026, 12, 1, 10, tzinfo=UTC))
