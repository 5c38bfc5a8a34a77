"""A new normal accepted from the command line, and taken back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evaluator.cli.check import exit_code
from tests.analysis.findings import findings
from tests.cli.conftest import invoke, ok, ok_json, refused

Database = Callable[[str], Path]


@pytest.fixture
def sixty(database: Database) -> Path:
    """Sixty days of a support bot whose judge grows generous on the forty-first."""
    db = database("sixty_days")
    ok("check", "--db", db)
    return db


def test_accepting_the_day_the_judge_changed_ends_the_alert_and_undo_brings_it_back(sixty: Path) -> None:
    """`check` says so at once, both times; what was accepted stays in the list, with who and why."""
    before = ok_json("check", "--db", sixty)["judge"]
    assert before["state"] == "changed"
    done = ok_json("baseline", "accept", "--note", "the provider's new snapshot", "--db", sixty)
    assert done["from_day"] == before["since_day"]
    after = ok_json("check", "--db", sixty)["judge"]
    assert after["state"] != "changed"
    assert after["accepted"]["note"] == "the provider's new snapshot"
    assert invoke("check", "--fail-on", "judge", "--db", sixty).exit_code == 0
    assert "are the normal no more" in ok("baseline", "undo", "--note", "it was a mistake", "--db", sixty)
    assert ok_json("check", "--db", sixty)["judge"]["state"] == "changed"
    (row,) = ok_json("baseline", "list", "--db", sixty)["accepted"]
    assert (row["note"], row["undone_note"]) == ("the provider's new snapshot", "it was a mistake")
    listed = ok("baseline", "list", "--db", sixty)
    assert "it was a mistake" in listed
    assert before["since_day"] in listed


def test_corrected_days_keep_the_scale_of_the_first_runs(sixty: Path) -> None:
    """Accepting moves the alarm's reference, not the corrected line."""
    before = [day["corrected"] for day in ok_json("check", "--db", sixty)["days"]]
    ok("baseline", "accept", "--note", "planned", "--db", sixty)
    assert [day["corrected"] for day in ok_json("check", "--db", sixty)["days"]] == pytest.approx(before)


def test_what_cannot_be_a_normal_is_refused(sixty: Path) -> None:
    """Each with the days there are, or the word that is missing; nothing is changed."""
    days = ok_json("check", "--db", sixty)
    for day, said in (("2031-01-01", "after the last"), (days["judge"]["runs"][0]["day"], "not after the first")):
        assert said in refused("baseline", "accept", day, "--note", "x", "--db", sixty, code=64)
    assert "is not a day" in refused("baseline", "accept", "yesterday", "--note", "x", "--db", sixty, code=64)
    assert "reason" in refused("baseline", "accept", "--note", " ", "--db", sixty, code=64)
    assert "--note" in refused("baseline", "accept", "--db", sixty, code=64)
    assert "first runs are the normal" in refused("baseline", "undo", "--db", sixty, code=64)
    assert ok_json("baseline", "list", "--db", sixty)["accepted"] == []


def test_without_a_change_the_day_has_to_be_named(database: Database) -> None:
    """Nothing is guessed; without any run there is nothing to accept."""
    assert "no graded run" in refused("baseline", "list", "--db", database("answers_only"), code=64)
    message = refused("baseline", "accept", "--note", "x", "--db", database("one_day"), code=64)
    assert "the day has to be named" in message


def test_an_event_logged_later_explains_the_change_at_once(sixty: Path) -> None:
    """`check` and the page need no new run to know of it."""
    day = ok_json("check", "--db", sixty)["judge"]["since_day"]
    ok("event", "add", "judge provider moved to a new data centre", "--kind", "deploy", "--day", day, "--db", sixty)
    events = ok_json("check", "--db", sixty)["events"]
    assert "judge provider moved to a new data centre" in [event["text"] for event in events]


def test_a_crossed_limit_counts_as_quality() -> None:
    """It is what someone asked to be told of; one that is not crossed does not."""
    quality = frozenset({"quality"})
    assert exit_code(findings(limits=[{"state": "crossed"}]), quality) == 3
    assert exit_code(findings(limits=[{"state": "inside"}]), quality) == 0
