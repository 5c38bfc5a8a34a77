"""One scheduled run from end to end: what it would cost, what became of it, and when an analysis is due."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from evaluator import freshness, spool
from evaluator.config import Config, parse_config
from evaluator.errors import ConfigError, DataFileError
from evaluator.importing import import_files
from evaluator.records import StopReason
from evaluator.scoring import slot as slot_module
from evaluator.scoring.closing import RunReport
from evaluator.scoring.plan import PlanPreview
from evaluator.scoring.slot import (
    SlotReport,
    analysis_settings,
    check_setup,
    explain_stop,
    grade_slot,
    newest_finished_slot,
    refresh_analysis,
)
from evaluator.scoring.slot_preview import SlotPreview, preview_slot
from evaluator.store import read
from evaluator.store.db import open_reader, open_store

SLOT = datetime(2026, 3, 5, 6, tzinfo=UTC)
NOW = datetime(2026, 3, 5, 6, 1, tzinfo=UTC)


class Clock:
    """A clock that is set by hand."""

    def __init__(self, moment: datetime = NOW) -> None:
        self.moment = moment

    def now(self) -> datetime:
        """The moment it was set to."""
        return self.moment


def settings(folder: Path, **sections: Any) -> Config:
    """A configuration with a judge that is a function."""
    values: dict[str, Any] = {
        "app": {"name": "shop"},
        "judge": {"model": "m", "function": "python:tests.cli.graders:by_words"},
        "anchors": {"set": "anchors.jsonl"},
        "traffic": {"answers_per_day": 5, "spool": "spool"},
        "store": {"path": "jw.db"},
    }
    for name, changes in sections.items():
        values[name] = {**values.get(name, {}), **changes}
    return parse_config(values, folder=folder, name="test")


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """The configuration, four anchors, eight answers of one day."""
    anchors = [{"anchor_id": f"a{n}", "inputs": "q", "outputs": "word " * n} for n in range(1, 5)]
    (tmp_path / "anchors.jsonl").write_text("".join(json.dumps(row) + "\n" for row in anchors), encoding="utf-8")
    answers = [{"id": f"t{n}", "output": "word", "answered_at": f"2026-03-04T10:00:0{n}Z"} for n in range(8)]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers), encoding="utf-8")
    config = settings(tmp_path)
    import_files(config.store_path, [tmp_path / "t.jsonl"], app="shop", now=NOW, day_zone="UTC")
    return config


def grade(config: Config, slot: datetime = SLOT, **options: Any) -> SlotReport:
    """Grade a slot."""
    return asyncio.run(grade_slot(config, slot=slot, clock=Clock(slot + timedelta(minutes=1)), **options))


def run_report(**changes: Any) -> RunReport:
    """A run that was stopped."""
    fields: dict[str, Any] = {
        "run_id": "r", "slot_utc": "2026-03-05T06:00:00.000Z", "status": "stopped", "stop_reason": None,
        "message": "it said no", "n_anchors": 1, "n_traffic": 0, "n_scored": 0, "n_unscored": 0, "n_left": 1,
        "n_calls": 1, "spent_usd": 0.0, "elapsed_s": 1.0,
    }  # fmt: skip
    return RunReport(**{**fields, **changes})


# ---------------------------------------------------------------- grading


def test_slot_is_graded_with_what_was_recorded(config: Config, tmp_path: Path) -> None:
    """Recorded answers come in first and are part of the day's sample."""
    for number in range(2):
        spool.record(output="x y", item_id=f"s{number}", answered_at="2026-03-04T11:00:00Z", path=tmp_path / "spool")
    report = grade(config)
    assert report.spool is not None
    assert report.spool.n_new == 2
    assert (report.run.status, report.run.n_anchors, report.run.n_traffic) == ("finished", 4, 5)
    with open_reader(config.store_path) as store:
        assert read.sampled_days(store, "shop", report.ruler_id)["2026-03-04"]["n_answers"] == 10


def test_second_pass_finds_the_slot_finished(config: Config) -> None:
    """Nothing is called twice."""
    grade(config)
    again = grade(config)
    assert again.run.already_finished
    assert again.finished


def test_stop_of_the_outside_ends_the_run_and_only_the_run(config: Config) -> None:
    """The outer event is heard; a run never sets it."""

    async def main() -> tuple[SlotReport, bool, SlotReport]:
        stop = asyncio.Event()
        first = await grade_slot(config, slot=SLOT, clock=Clock(), stop=stop)
        was_set = stop.is_set()
        stop.set()
        later = SLOT + timedelta(days=1)
        return first, was_set, await grade_slot(config, slot=later, clock=Clock(later), stop=stop)

    first, was_set, second = asyncio.run(main())
    assert (first.run.status, was_set) == ("finished", False)
    assert second.run.stop_reason is StopReason.INTERRUPTED
    assert not second.finished


@pytest.mark.parametrize(
    ("status", "reason", "expected"),
    [
        ("finished", None, True),
        ("stopped", StopReason.BUDGET, True),
        ("stopped", StopReason.AUTH, False),
        ("failed", StopReason.BUDGET, False),
        ("failed", None, False),
    ],
)
def test_budget_is_the_only_stop_that_is_as_planned(status: str, reason: StopReason | None, expected: bool) -> None:
    """It decides on exit codes and on whether to try again."""
    report = SlotReport(run=run_report(status=status, stop_reason=reason), ruler_id="x", criterion="c", spool=None)
    assert report.finished is expected


@pytest.mark.parametrize(
    ("reason", "message", "named"),
    [
        (StopReason.AUTH, "no", "SHOP_KEY"),
        (StopReason.MODEL_NOT_FOUND, "no", "judge.model = 'm'"),
        (StopReason.MODEL_NOT_FOUND, "no m here", "no m here"),
        (StopReason.UNREACHABLE, "no", "judge.base_url = 'http://127.0.0.1:9/v1'"),
        (StopReason.NOT_AN_API, "no", "judge.base_url = 'http://127.0.0.1:9/v1'"),
        (StopReason.NOT_AN_API, "http://127.0.0.1:9/v1 is a page", "http://127.0.0.1:9/v1 is a page"),
        (StopReason.BUDGET, "used up", "used up"),
    ],
)
def test_cause_names_the_setting_behind_it(tmp_path: Path, reason: StopReason, message: str, named: str) -> None:
    """Once, and only where the judge's own message does not."""
    config = settings(tmp_path, judge={"base_url": "http://127.0.0.1:9/v1", "api_key_env": "SHOP_KEY"})
    text = explain_stop(run_report(stop_reason=reason, message=message), config)
    assert named in text
    assert text.count("judge.base_url") <= 1


def test_judge_is_closed_whatever_happens(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections of a judge do not outlive its run."""
    closed: list[bool] = []
    original = slot_module.build_judge

    def watched(config: Config) -> Any:
        judge, rubric = original(config)

        async def close() -> None:
            closed.append(True)

        monkeypatch.setattr(judge, "close", close)
        return judge, rubric

    monkeypatch.setattr(slot_module, "build_judge", watched)
    monkeypatch.setattr(slot_module, "run_once", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        grade(config)
    assert closed == [True]


# ---------------------------------------------------------------- before


def preview(**changes: Any) -> SlotPreview:
    """Sixty anchors and a hundred answers of five days, one run a day."""
    plan = PlanPreview(
        n_anchors=60, n_traffic=100, n_days=5, n_older_answers=0, most_usd=1.6, already_finished=False
    )  # fmt: skip
    fields: dict[str, Any] = {
        "slot": SLOT, "plan": plan, "anchors_usd": 0.6, "traffic_usd": 1.0, "runs_per_day": 1.0,
        "traffic_per_day": 20.0, "usd_per_day": None, "calls_per_day": None, "n_spooled_files": 0,
        "usd_per_answer": 0.01,
    }  # fmt: skip
    return SlotPreview(**{**fields, **changes})


def test_cost_of_a_day_is_that_of_its_own_answers() -> None:
    """A first run that takes in five days is not what every day costs."""
    found = preview()
    assert found.anchors_usd_a_day == pytest.approx(0.6)
    assert found.traffic_usd_a_day == pytest.approx(0.2)
    assert found.usd_a_day == pytest.approx(0.8)


def test_more_runs_a_day_cost_more_anchors_and_no_more_answers() -> None:
    """Anchors are graded in every run, an answer once."""
    found = preview(runs_per_day=4.0)
    assert found.anchor_calls_a_day == 240
    assert found.anchors_usd_a_day == pytest.approx(2.4)
    assert found.traffic_usd_a_day == pytest.approx(0.2)


def test_budget_caps_the_cost_of_a_day() -> None:
    """More than that is never spent."""
    assert preview(usd_per_day=0.5).usd_a_day == 0.5
    assert preview(usd_per_day=5.0).usd_a_day == pytest.approx(0.8)


@pytest.mark.parametrize("changes", [{"anchors_usd": None, "traffic_usd": None}, {"traffic_per_day": None}])
def test_total_is_not_named_while_a_part_is_unknown(changes: dict[str, Any]) -> None:
    """None, not a sum of what is known."""
    assert preview(**changes).usd_a_day is None


def test_preview_counts_without_writing_or_calling(config: Config, tmp_path: Path) -> None:
    """The plan, the spool, the budget; no run appears and no file moves."""
    spool.record(output="x", path=tmp_path / "spool")
    found = asyncio.run(preview_slot(config, slot=SLOT, now=NOW))
    assert (found.plan.n_anchors, found.plan.n_traffic, found.plan.n_days) == (4, 5, 1)
    assert (found.traffic_per_day, found.n_spooled_files) == (5.0, 1)
    assert found.runs_per_day == pytest.approx(1.0)
    with open_reader(config.store_path) as store:
        assert read.runs(store, "shop") == []


def test_preview_without_answers_takes_the_configured_rate(config: Config) -> None:
    """A new installation still gets its number."""
    found = asyncio.run(preview_slot(config, slot=SLOT - timedelta(days=30), now=NOW))
    assert (found.plan.n_traffic, found.traffic_per_day) == (0, 5)


# ---------------------------------------------------------------- setup


def test_setup_that_works_is_passed(config: Config) -> None:
    """No run, no error."""
    asyncio.run(check_setup(config, now=NOW))


def test_setup_that_cannot_work_is_refused(config: Config, tmp_path: Path) -> None:
    """A missing function, a missing file."""
    with pytest.raises(ConfigError, match=r"judge\.function"):
        asyncio.run(check_setup(settings(tmp_path, judge={"function": "python:no.such:thing"}), now=NOW))
    (tmp_path / "anchors.jsonl").unlink()
    with pytest.raises(DataFileError, match=r"there is no file"):
        asyncio.run(check_setup(config, now=NOW))


def test_folder_of_the_database_is_made(tmp_path: Path, config: Config) -> None:
    """Also for a judge that needs no salt."""
    changed = settings(tmp_path, store={"path": "new/folder/jw.db"})
    assert grade(changed).run.status == "finished"


def test_newest_finished_slot_is_where_a_watcher_goes_on(config: Config, tmp_path: Path) -> None:
    """Unfinished runs do not count."""
    assert newest_finished_slot(config) is None
    grade(config)
    assert newest_finished_slot(config) == SLOT
    broken = settings(tmp_path, judge={"function": "python:tests.cli.graders:broken"})
    assert grade(broken, SLOT + timedelta(days=1)).run.status == "failed"
    assert newest_finished_slot(config) == SLOT


# ---------------------------------------------------------------- the analysis


def test_analysis_is_made_once_per_run(config: Config) -> None:
    """After a run it is due, after that no more."""
    report = grade(config)
    findings = refresh_analysis(config, report, now=NOW + timedelta(hours=1))
    assert findings is not None
    assert findings["app"] == "shop"
    assert refresh_analysis(config, report, now=NOW + timedelta(hours=2)) is None


def test_analysis_that_failed_is_made_up_for(config: Config) -> None:
    """A later pass finds the run finished and the analysis due."""
    grade(config)
    assert refresh_analysis(config, grade(config), now=NOW + timedelta(hours=1)) is not None


def test_run_without_a_score_needs_no_analysis(config: Config, tmp_path: Path) -> None:
    """There is nothing new to say."""
    broken = settings(tmp_path, judge={"function": "python:tests.cli.graders:broken"})
    assert refresh_analysis(broken, grade(broken), now=NOW) is None


def test_analysis_is_due_when_a_run_ended_after_it(config: Config) -> None:
    """By the clock of the machine, not by the slot."""
    report = grade(config)
    refresh_analysis(config, report, now=NOW + timedelta(hours=1))
    names = {"app": "shop", "ruler_id": report.ruler_id, "criterion": report.criterion}
    with open_store(config.store_path) as store:
        assert freshness.newest_analysis(store, **names)[1] is False
        with store.transaction() as connection:
            connection.execute("UPDATE runs SET finished_utc = '2026-03-05T09:00:00.000Z'")
        assert freshness.newest_analysis(store, **names)[1] is True
        assert freshness.newest_analysis(store, app="shop", ruler_id="other", criterion="x") == (None, False)


def test_settings_of_the_analysis_come_from_the_configuration(tmp_path: Path) -> None:
    """Alarms and the number of runs a year."""
    config = settings(
        tmp_path,
        alarms={"false_alarms_per_year": 0.5, "smallest_change": 0.2},
        schedule={"cron": "0 6 * * 1"},
    )
    found = analysis_settings(config, NOW)
    assert (found.false_alarms_per_year, found.smallest_change) == (0.5, 0.2)
    assert found.runs_per_year == pytest.approx(365.25 / 7)
