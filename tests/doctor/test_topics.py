"""The checks that call nobody, topic by topic: each state of it gives its result, and what is amiss gives a fix."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from evaluator.anchor_sets import load_anchors
from evaluator.config import Config, load_config
from evaluator.doctor.anchors import check_anchors
from evaluator.doctor.base import Check, guarded, ok
from evaluator.doctor.budget import DayPlan, check_budget, plan_day
from evaluator.doctor.configuration import (
    check_alerts,
    check_configuration,
    check_key,
    check_price,
    check_privacy,
)
from evaluator.doctor.database import check_database, check_place
from evaluator.doctor.judge import rank_correlation
from evaluator.doctor.schedule import check_schedule
from evaluator.doctor.sources import check_rows, check_traffic
from evaluator.errors import ConfigError
from evaluator.records import Anchor
from evaluator.scoring.setup import configured_anchors, configured_rubric
from evaluator.store.db import open_reader, open_store
from tests.doctor.conftest import config_of, patient, write_anchors, write_config
from tests.scoring.helpers import ScriptedJudge, SetClock, Shop


def by_name(checks: object) -> dict[str, Check]:
    """Checks by name; of several of one name the last."""
    assert hasattr(checks, "__iter__")
    return {check.name: check for check in checks}


def anchors_of(folder: Path, n: int = 60, **options: int) -> tuple[Anchor, ...]:
    """The anchors of a new set."""
    write_anchors(folder, n, **options)
    config = config_of(folder)
    return tuple(load_anchors("anchors.jsonl", configured_rubric(config), folder=folder))


# ---------------------------------------------------------------- one check is one line


def test_error_with_a_fix_is_taken_apart() -> None:
    """What stands after the last semicolon is what to do."""

    def refuse() -> Check:
        raise ConfigError("this is wrong; and that; do so")

    (check,) = guarded("x", refuse)
    assert (check.status, check.found, check.fix) == ("fail", "this is wrong; and that", "do so")


def test_check_may_give_one_line_or_several() -> None:
    """And an error after the first is still a line."""

    def two() -> list[Check]:
        return [ok("x", "1"), ok("x", "2")]

    assert [check.found for check in guarded("x", two)] == ["1", "2"]
    assert [check.found for check in guarded("x", lambda: ok("x", "1"))] == ["1"]


# ---------------------------------------------------------------- configuration


def test_configuration_names_its_keys_and_no_value(folder: Path) -> None:
    """Values may be secret."""
    config_of(folder, judge='headers = { x-token = "abcdef" }')
    found = check_configuration(folder / "judgewatch.toml").found
    assert "judge.headers" in found
    assert "abcdef" not in found


@pytest.mark.parametrize(
    ("command", "status", "says"),
    [
        ('["printf", "sk-0123456789"]', "ok", "one of 13 characters"),
        ('["true"]', "fail", "printed no key"),
        ('["false"]', "fail", "exit code 1"),
        ('["no-such-program-here"]', "fail", "cannot be started"),
    ],
)
def test_key_command_is_run_and_its_key_is_not_shown(folder: Path, command: str, status: str, says: str) -> None:
    """Only how long it is."""
    text = "\n".join(line for line in ("model = 'm'", f"api_key_command = {command}"))
    path = folder / "judgewatch.toml"
    path.write_text(f"[judge]\n{text}\n[budget]\ncalls_per_day = 5\n")
    check = check_key(patient(load_config(path)))
    assert (check.status, says in check.found) == (status, True), check
    assert "sk-" not in check.found + check.fix


def test_price_is_needed_for_a_budget_in_dollars(folder: Path) -> None:
    """With calls alone it is a warning on a hosted server, and nothing on one's own."""
    assert check_price(patient(config_of(folder))).status == "ok"
    hosted = config_of(folder, judge='base_url = "https://judge.example/v1"')
    assert check_price(patient(hosted)).status == "warn"
    (check,) = guarded("price", lambda: check_price(patient(config_of(folder, budget="usd_per_day = 2"))))
    assert (check.status, "no known price" in check.found) == ("fail", True)


def test_known_price_is_shown_with_its_source(folder: Path) -> None:
    """As the configuration has it."""
    prices = {'prices."judge-2026-01-05"': "input_usd_per_million = 3\noutput_usd_per_million = 15"}
    check = check_price(patient(config_of(folder, **prices)))
    assert (check.status, "$3 in and $15 out per million" in check.found) == ("ok", True)


def test_privacy_says_what_is_masked_and_kept(folder: Path) -> None:
    """A hook that cannot be loaded fails."""
    settings = 'redact = ["email", "phone"]\nstore_text = false'
    check = check_privacy(patient(config_of(folder, traffic=settings)))
    assert "email, phone" in check.found
    assert "texts of answers are not kept" in check.found
    broken = config_of(folder, traffic='redact_hook = "python:no.such:thing"')
    assert guarded("privacy", lambda: check_privacy(patient(broken)))[0].status == "fail"


def test_alerts_are_said_not_to_be_sent(folder: Path) -> None:
    """And what does instead; the address may hold a token, so it is not shown."""
    assert check_alerts(patient(config_of(folder))).status == "ok"
    check = check_alerts(patient(config_of(folder, alerts='url = "slack://token"')))
    assert (check.status, "check --fail-on" in check.fix, "token" in str(check)) == ("warn", True, False)


# ---------------------------------------------------------------- budget


PLAN = DayPlan(anchors=100, answers=50, usd_per_call=0.01)


@pytest.mark.parametrize(
    ("budget", "status", "says"),
    [
        ("calls_per_day = 150", "ok", "a day needs 150 calls"),
        ("calls_per_day = 149", "warn", "sample would end early"),
        ("calls_per_day = 99", "fail", "not even the anchors fit (100)"),
        ("usd_per_day = 1.6", "ok", "a day needs 1.5 dollars at most"),
        ("usd_per_day = 1.4", "warn", "sample would end early"),
        ("usd_per_day = 0.9", "warn", "not even the anchors fit (1)"),
    ],
)
def test_budget_is_held_against_a_day(folder: Path, budget: str, status: str, says: str) -> None:
    """Dollars are the most that could be spent, so they warn where calls fail."""
    prices = {'prices."judge-2026-01-05"': "input_usd_per_million = 3\noutput_usd_per_million = 15"}
    check = check_budget(patient(config_of(folder, budget=budget, **prices)), PLAN)
    if "usd" in budget:
        config = config_of(folder, budget=f"{budget}\ncalls_per_day = 10000", **prices)
        check = check_budget(patient(config), PLAN)
    assert (check.status, says in check.found) == (status, True), check


def test_day_is_told_from_schedule_anchors_and_the_newest_answers(folder: Path, shop: Shop) -> None:
    """Two runs a day grade the anchors twice; a day with few answers is not taken for more."""
    config = config_of(folder, schedule='cron = "0 6,18 * * *"')
    anchors = anchors_of(folder, 60)
    config = config_of(folder, schedule='cron = "0 6,18 * * *"')
    plan = plan_day(patient(config, anchors=anchors), 0.6)
    assert (plan.anchors, plan.answers, plan.calls) == (pytest.approx(120), 10, pytest.approx(130))
    assert plan.usd == pytest.approx(1.3)
    shop.add_answers(4)
    with open_reader(shop.path) as store:
        assert plan_day(patient(config, anchors=anchors, store=store), None).answers == 4
        only_anchors = config_of(folder, traffic="grade = false")
        assert plan_day(patient(only_anchors, anchors=anchors, store=store), None).answers == 0


def test_unknown_number_of_answers_is_said(folder: Path) -> None:
    """Before the first import, with a rate."""
    check = check_budget(patient(config_of(folder)), replace(PLAN, answers=None, usd_per_call=None))
    assert (check.status, "not known yet" in check.found) == ("ok", True)


# ---------------------------------------------------------------- database


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """An app in a new database."""
    shop = Shop(path=tmp_path / "data" / "judgewatch.db")
    shop.path.parent.mkdir()
    open_store(shop.path, zone="UTC").close()
    return shop


def test_database_that_is_there_is_looked_into(folder: Path, shop: Shop) -> None:
    """It opens, keeps a write-ahead log, and counts days as configured."""
    with open_reader(shop.path) as store:
        found = by_name(check_database(patient(config_of(folder), store=store)))
        assert [check.status for check in found.values()] == ["ok"] * 3
        other = by_name(check_database(patient(config_of(folder, schedule='zone = "Asia/Tokyo"'), store=store)))
    assert other["zone"].status == "fail"
    assert "db rebuild --zone Asia/Tokyo" in other["zone"].fix


def test_database_without_write_ahead_log_is_warned_of(folder: Path, shop: Shop) -> None:
    """As on a network share."""
    with open_store(shop.path) as store:
        store.connection.execute("PRAGMA journal_mode = DELETE")
    with open_reader(shop.path) as store:
        found = by_name(check_database(patient(config_of(folder), store=store)))
    assert (found["write-ahead log"].status, "delete" in found["write-ahead log"].found) == ("warn", True)


def test_missing_database_is_no_fault(folder: Path) -> None:
    """The first import makes it; nothing is made now."""
    (check,) = check_database(patient(config_of(folder)))
    assert (check.status, "will be created" in check.found) == ("ok", True)
    assert [check.status for check in check_place(folder / "a" / "b" / "x.db")] == ["ok"]
    assert not (folder / "a").exists()


@pytest.mark.parametrize(("free", "status"), [(50e6, "fail"), (500e6, "warn"), (5e9, "ok")])
def test_room_on_the_disk(folder: Path, monkeypatch: pytest.MonkeyPatch, free: float, status: str) -> None:
    """Verdicts that are paid for must be stored."""
    usage = type("Usage", (), {"free": free})
    monkeypatch.setattr("evaluator.doctor.database.shutil.disk_usage", lambda _: usage)
    assert [check.status for check in check_place(folder / "x.db")] == [status]


def test_folder_that_cannot_be_written_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named."""
    monkeypatch.setattr("evaluator.doctor.database.os.access", lambda *_: False)
    found = by_name(check_place(folder / "x.db"))
    assert (found["database"].status, str(folder) in found["database"].found) == ("fail", True)


# ---------------------------------------------------------------- anchors


@pytest.mark.parametrize(("n", "status"), [(9, "fail"), (10, "warn"), (49, "warn"), (50, "ok")])
def test_anchors_are_counted(folder: Path, n: int, status: str) -> None:
    """Ten make a run count, fifty see small changes; how soon is said."""
    anchors = anchors_of(folder, n)
    found = by_name(check_anchors(patient(config_of(folder), anchors=anchors)))
    assert found["anchors"].status == status
    assert ("is seen after about" in found["anchors"].found) is (status != "fail")


def test_level_without_an_anchor_is_named(folder: Path) -> None:
    """A judge may change at one end of the scale alone."""
    anchors = anchors_of(folder, 60, levels=4)
    rubric = configured_rubric(config_of(folder))
    levels = by_name(check_anchors(patient(config_of(folder), anchors=anchors, rubric=rubric)))["anchor levels"]
    assert (levels.status, "no anchor is expected at 5" in levels.found) == ("warn", True)
    unknown = tuple(replace(anchor, expected_score=None) for anchor in anchors)
    without = by_name(check_anchors(patient(config_of(folder), anchors=unknown, rubric=rubric)))["anchor levels"]
    assert (without.status, "no expected scores" in without.found) == ("ok", True)


def own_judge(folder: Path, scale: str) -> Config:
    """A configuration with a prompt of one's own and the anchors that ship."""
    (folder / "p.txt").write_text("{{input}} {{output}}", "utf-8")
    path = write_config(folder, judge=f'prompt_file = "p.txt"\nscale = {scale}', anchors='set = "general"')
    return load_config(path)


@pytest.mark.parametrize(("scale", "change"), [("[0, 10]", "0.5"), ("[0, 1]", "0.05"), ("[0, 100]", "5")])
def test_shipped_scores_do_not_apply_on_another_scale(folder: Path, scale: str, change: str) -> None:
    """No level is missed then; what is seen is told on the scale that is graded on."""
    config = own_judge(folder, scale)
    rubric = configured_rubric(config)
    anchors = tuple(configured_anchors(config, rubric))
    found = by_name(check_anchors(patient(config, anchors=anchors, rubric=rubric)))
    assert found["anchor levels"].status == "skipped"
    assert "do not apply" in found["anchor levels"].found
    assert f"a change of {change} points that stays" in found["anchors"].found


def test_shipped_anchors_under_a_prompt_of_ones_own_are_warned_of(folder: Path) -> None:
    """Not on the shipped rubric, and not with a file of one's own."""
    config = own_judge(folder, "[1, 5]")
    rubric = configured_rubric(config)
    anchors = tuple(configured_anchors(config, rubric))
    found = by_name(check_anchors(patient(config, anchors=anchors, rubric=rubric)))
    assert (found["own anchors"].status, "anchors pick" in found["own anchors"].fix) == ("warn", True)
    assert found["anchor levels"].status == "ok"
    shipped = load_config(write_config(folder, anchors='set = "general"'))
    assert "own anchors" not in by_name(check_anchors(patient(shipped, anchors=anchors, rubric=rubric)))
    write_anchors(folder)
    filed = load_config(write_config(folder, judge='prompt_file = "p.txt"\nscale = [1, 5]'))
    own = tuple(configured_anchors(filed, configured_rubric(filed)))
    assert "own anchors" not in by_name(check_anchors(patient(filed, anchors=own)))


async def test_changed_anchor_is_told(folder: Path, shop: Shop) -> None:
    """Against those of the last run, by their texts."""
    anchors = anchors_of(folder, 60)
    await shop.run(ScriptedJudge(), anchors=list(anchors))
    with open_reader(shop.path) as store:
        same = by_name(check_anchors(patient(config_of(folder), anchors=anchors, store=store)))
        changed = (replace(anchors[0], item=replace(anchors[0].item, output="another")), *anchors[1:])
        other = by_name(check_anchors(patient(config_of(folder), anchors=changed, store=store)))
    assert same["anchor texts"].status == "ok"
    assert other["anchor texts"].status == "warn"
    assert "1 new (a000), 1 gone (a000)" in other["anchor texts"].found


# ---------------------------------------------------------------- schedule


def test_next_run_is_named_in_the_zone_of_the_schedule(folder: Path) -> None:
    """Before the first run that is all."""
    found = by_name(check_schedule(patient(config_of(folder, schedule='zone = "Asia/Tokyo"'))))
    assert "next at 2026-03-11 06:00" in found["schedule"].found
    assert (found["last run"].status, "none yet" in found["last run"].found) == ("ok", True)


async def test_missed_run_is_warned_of(folder: Path, shop: Shop) -> None:
    """Nothing seems to call the scorer; right after a run all is well."""
    await shop.run(ScriptedJudge())
    config = config_of(folder)
    with open_reader(shop.path) as store:
        missed = by_name(check_schedule(patient(config, store=store)))["last run"]
        fresh = by_name(check_schedule(patient(config, store=store, now=SetClock().now() + timedelta(hours=3))))
        late = by_name(check_schedule(patient(config, store=store, now=SetClock().now() + timedelta(hours=24.5))))
    assert (missed.status, "finished, 10 days ago" in missed.found) == ("warn", True)
    assert "run watch" in missed.fix
    assert [found["last run"].status for found in (fresh, late)] == ["ok", "ok"]


async def test_run_that_does_not_count_is_told_again(folder: Path, shop: Shop) -> None:
    """With its reason."""
    await shop.run(ScriptedJudge())
    with open_store(shop.path) as store, store.transaction() as connection:
        connection.execute("UPDATE runs SET not_counted = 'a gateway answered 9 of 9 anchors from its cache'")
    with open_reader(shop.path) as store:
        found = by_name(check_schedule(patient(config_of(folder), store=store)))
    assert (found["counted runs"].status, "9 of 9" in found["counted runs"].found) == ("warn", True)


# ---------------------------------------------------------------- traffic


def test_ways_in_are_looked_at(folder: Path) -> None:
    """Files that match, a command that is there, the folder of recorded answers."""
    (folder / "logs").mkdir()
    (folder / "logs" / "a.jsonl").write_text("{}\n")
    settings = 'files = ["logs/*.jsonl", "none/*.csv"]\ncommand = "python3 pull.py"\nspool = "spool"'
    found = list(check_traffic(patient(config_of(folder, traffic=settings))))
    assert [check.status for check in found] == ["ok", "warn", "ok", "warn", "ok"]
    assert "logs/*.jsonl: 1 file" in found[0].found
    gone = list(check_traffic(patient(config_of(folder, traffic='command = "no-such-program-here x"'))))
    assert (gone[0].status, "no-such-program-here" in gone[0].found) == ("fail", True)


def test_no_way_in_is_warned_of_until_there_are_answers(folder: Path, shop: Shop) -> None:
    """An import by hand is a way too; grading anchors alone needs none."""
    (check,) = check_traffic(patient(config_of(folder)))
    assert (check.status, "judgewatch import" in check.fix) == ("warn", True)
    shop.add_answers(3)
    with open_reader(shop.path) as store:
        (stored,) = check_traffic(patient(config_of(folder), store=store))
    assert (stored.status, "3 stored" in stored.found) == ("ok", True)
    (none,) = check_traffic(patient(config_of(folder, traffic="grade = false")))
    assert none.status == "ok"


async def test_days_that_wait_are_counted(folder: Path, shop: Shop) -> None:
    """Answers that came in after the last run."""
    shop.add_answers(3)
    await shop.run(ScriptedJudge())
    shop.add_answers(2, day="2026-02-26")
    with open_reader(shop.path) as store:
        (check,) = check_traffic(patient(config_of(folder), store=store))
    assert "2 answers of 1 day wait for the next run" in check.found


def rows_of(folder: Path, *rows: object, **traffic: str) -> list[Check]:
    """What is found in the rows of one file."""
    (folder / "logs").mkdir(exist_ok=True)
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    (folder / "logs" / "a.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    settings = {"files": '"logs/*.jsonl"', **traffic}
    lines_of_config = "\n".join(f"{key} = {value}" for key, value in settings.items())
    return list(check_rows(patient(config_of(folder, traffic=lines_of_config))))


GOOD_ROW = {"id": "1", "question": "Where?", "answer": "Here, by secret door.", "created_at": "2026-03-01T08:00:00Z"}


def test_rows_are_read_as_a_run_would(folder: Path) -> None:
    """With the columns; no text of them is shown, and nothing is stored."""
    (check,) = rows_of(folder, *[GOOD_ROW | {"id": str(n)} for n in range(50)])
    assert check.status == "ok", check
    assert (
        "20 of 20 rows looked at can be read (input = question, output = answer, answered_at = created_at"
        in check.found
    )
    assert "secret" not in str(check)
    assert not (folder / "data").exists()


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"id": 1, "reply_to_user": "x", "created_at": "2026-03-01T08:00:00Z"}, "no row has a field for the answer"),
        ({"question": "x", "answer": "", "created_at": "2026-03-01T08:00:00Z"}, "has an answer"),
        ("{broken", "none of the 3 rows looked at can be used"),
    ],
)
def test_rows_without_an_answer_fail(folder: Path, row: object, says: str) -> None:
    """Nothing of them can be graded; the command that shows more is named."""
    (check,) = rows_of(folder, row, row, row)
    assert (check.status, says in check.found) == ("fail", True), check
    assert "judgewatch source test" in check.fix


@pytest.mark.parametrize(
    ("gone", "says"), [(("question",), "none has a question"), (("created_at",), "none has a time")]
)
def test_rows_without_time_or_question_are_warned_of(folder: Path, gone: tuple[str, ...], says: str) -> None:
    """They can be read, and would not be graded as they should be."""
    row = {name: value for name, value in GOOD_ROW.items() if name not in gone}
    (check,) = rows_of(folder, row, row | {"id": "2"})
    assert (check.status, says in check.found) == ("warn", True), check
    assert "judgewatch source test" in check.fix


def test_rows_that_mostly_cannot_be_used_are_warned_of(folder: Path) -> None:
    """One bad row among many is said by the import."""
    (check,) = rows_of(folder, GOOD_ROW, "{", "{")
    assert (check.status, "2 cannot be used: " in check.found) == ("warn", True), check
    (well,) = rows_of(folder, GOOD_ROW, GOOD_ROW | {"id": "2"}, GOOD_ROW | {"id": "3"}, "{")
    assert well.status == "ok"


def test_empty_files_hold_no_rows(folder: Path) -> None:
    """A first export may be empty."""
    (check,) = rows_of(folder)
    assert (check.status, "no rows" in check.found) == ("warn", True)


def test_command_is_never_run_and_nothing_is_read_that_is_not_graded(folder: Path) -> None:
    """Only files, and only where traffic is graded."""
    (check,) = rows_of(folder, GOOD_ROW, command='["touch", "was-run"]')
    assert check.status == "ok"
    assert not (folder / "was-run").exists()
    assert rows_of(folder, GOOD_ROW, grade="false") == []
    assert rows_of(folder, GOOD_ROW, files='"none/*.csv"') == []
    assert list(check_rows(patient(config_of(folder)))) == []


# ---------------------------------------------------------------- order


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1, 2, 3, 4], [1, 2, 3, 4], 1.0),
        ([1, 2, 3, 4], [4, 3, 2, 1], -1.0),
        ([1, 2, 3, 4, 5], [2, 2, 3, 3, 5], 0.9486832980505138),
        ([1, 2, 3], [4, 4, 4], None),
    ],
)
def test_rank_correlation_is_spearmans(first: list[float], second: list[float], expected: float | None) -> None:
    """With mean ranks for ties, as scipy has it; none when one side does not vary."""
    found = rank_correlation(first, second)
    assert found == (None if expected is None else pytest.approx(expected))
