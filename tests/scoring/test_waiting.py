"""Where recorded answers are looked for, and which stored answers wait for a run."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evaluator.config import Config, parse_config
from evaluator.importing import import_files
from evaluator.scoring.waiting import missing_spool, spool_path, waiting_answers

NOW = datetime(2026, 3, 5, 6, 1, tzinfo=UTC)
SLOT_UTC = "2026-03-05T06:00:00.000Z"


@pytest.fixture(autouse=True)
def no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable of the machine that runs the tests has no say."""
    monkeypatch.delenv("JUDGEWATCH_SPOOL", raising=False)


def settings(folder: Path, **traffic: Any) -> Config:
    """A configuration with these settings of traffic."""
    judge = {"model": "m", "function": "python:tests.cli.graders:by_words"}
    values = {"judge": judge, "traffic": traffic, "store": {"path": "jw.db"}}
    return parse_config(values, folder=folder, name="test")


def test_without_any_sign_of_recorded_answers_there_is_no_folder(tmp_path: Path) -> None:
    """Nobody called record()."""
    assert spool_path(settings(tmp_path)) is None


def test_default_folder_of_record_beside_the_configuration_is_found(tmp_path: Path) -> None:
    """What the README shows works without a setting."""
    (tmp_path / "judgewatch-spool").mkdir()
    assert spool_path(settings(tmp_path)) == tmp_path / "judgewatch-spool"


def test_variable_of_record_wins_over_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scorer reads the same variable as the application."""
    (tmp_path / "judgewatch-spool").mkdir()
    monkeypatch.setenv("JUDGEWATCH_SPOOL", "/elsewhere")
    assert spool_path(settings(tmp_path)) == Path("/elsewhere")


def test_setting_wins_over_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written down counts most."""
    monkeypatch.setenv("JUDGEWATCH_SPOOL", "/elsewhere")
    assert spool_path(settings(tmp_path, spool="here")) == tmp_path / "here"


def test_only_a_configured_folder_can_be_missing(tmp_path: Path) -> None:
    """A name with a typing error would otherwise be silent for ever."""
    assert missing_spool(settings(tmp_path)) is None
    assert missing_spool(settings(tmp_path, spool="here")) == tmp_path / "here"
    (tmp_path / "here").mkdir()
    assert missing_spool(settings(tmp_path, spool="here")) is None


def test_answers_wait_by_day_and_older_ones_are_left_out(tmp_path: Path) -> None:
    """Days that had ended are within the window; today and tomorrow go on."""
    lines = [
        f'{{"id": "{day}-{n}", "output": "x", "answered_at": "2026-03-0{day}T10:00:00Z"}}'
        for day, size in ((1, 5), (3, 4), (4, 3), (5, 2), (6, 1))
        for n in range(size)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    config = settings(tmp_path, lookback_days=2)
    import_files(config.store_path, [tmp_path / "a.jsonl"], app="default", now=NOW)
    waiting = waiting_answers(config, ruler_id="none", slot_utc=SLOT_UTC, now=NOW)
    assert waiting.ended == {"2026-03-03": 4, "2026-03-04": 3}
    assert (waiting.for_next, waiting.going_on) == ({}, {"2026-03-05": 2, "2026-03-06": 1})
    assert (waiting.next_run.isoformat(), waiting.run_after.isoformat()) == (
        "2026-03-06T06:00:00+00:00",
        "2026-03-07T06:00:00+00:00",
    )


def test_day_that_has_ended_since_the_run_waits_for_the_next_run_only(tmp_path: Path) -> None:
    """At a quarter to two at night, of the evening before; the zone is that of the schedule."""
    line = '{"id": "1", "output": "x", "answered_at": "2026-03-05T20:00:00Z"}'
    (tmp_path / "a.jsonl").write_text(line, encoding="utf-8")
    config = settings(tmp_path)
    import_files(config.store_path, [tmp_path / "a.jsonl"], app="default", now=NOW)
    at_night = datetime(2026, 3, 6, 1, 45, tzinfo=UTC)
    waiting = waiting_answers(config, ruler_id="none", slot_utc=SLOT_UTC, now=at_night)
    assert (waiting.for_next, waiting.going_on, waiting.ended) == ({"2026-03-05": 1}, {}, {})
    assert waiting.next_run == datetime(2026, 3, 6, 6, tzinfo=UTC)
