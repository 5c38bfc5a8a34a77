"""Two apps in one database, from end to end: same anchors, same external ids, and nothing of one in the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.store import read
from evaluator.store.db import open_reader
from tests.cli.conftest import (
    CONFIG,
    in_a_folder_of_its_own,  # noqa: F401 - a fixture that is used by itself
    invoke,
    ok,
    ok_json,
    refused,
    some_answers,
    write_anchors,
    write_answers,
    write_config,
)

SLOT = "2026-03-02T06:00"
DB = Path("data/judgewatch.db")
SHOP, BOT = Path("shop.toml"), Path("bot.toml")


@pytest.fixture
def two_apps() -> None:
    """A shop with a budget of 15 calls and good answers; a bot with plenty and short ones. One day, one database."""
    write_anchors()
    write_config(CONFIG + "[budget]\ncalls_per_day = 15\n", path=SHOP)
    write_config(CONFIG + "[budget]\ncalls_per_day = 500\n", path=BOT, shop="bot")
    write_answers(Path("shop.jsonl"), some_answers(8, output="one two three four five"))
    write_answers(Path("bot.jsonl"), some_answers(8, output="one"))
    for config, answers in ((SHOP, "shop.jsonl"), (BOT, "bot.jsonl")):
        ok("import", answers, "--config", config)
        invoke("run", "once", "--config", config, "--slot", SLOT, "--quiet")


@pytest.mark.usefixtures("two_apps")
def test_each_app_has_its_own_runs_and_budget() -> None:
    """The shop's day ends after 15 calls; the bot's goes on, whatever the shop has spent."""
    with open_reader(DB) as store:
        assert read.apps(store) == ["bot", "shop"]
        (shop,), (bot,) = read.runs(store, "shop"), read.runs(store, "bot")
    assert (shop["status"], shop["stop_reason"], shop["n_calls"]) == ("stopped", "budget", 15)
    assert (bot["status"], bot["stop_reason"], bot["n_calls"]) == ("finished", None, 20)
    assert shop["run_id"] != bot["run_id"]


@pytest.mark.usefixtures("two_apps")
def test_same_outside_id_is_another_answer_in_another_app() -> None:
    """Neither text nor score of one shows in the other."""
    found = {app: ok_json("items", "show", "2026-03-01-0", "--app", app, "--db", DB) for app in ("shop", "bot")}
    assert found["shop"]["item"]["output"] == "one two three four five"
    assert found["bot"]["item"]["output"] == "one"
    assert found["shop"]["item"]["item_id"] != found["bot"]["item"]["item_id"]


@pytest.mark.usefixtures("two_apps")
def test_same_anchors_are_watched_in_each_app() -> None:
    """Twelve of each, graded by each."""
    with open_reader(DB) as store:
        for app in ("shop", "bot"):
            (setup,) = read.rulers(store, app)
            rows = read.anchor_scores(store, app=app, ruler_id=setup["ruler_id"], criterion=setup["criterion"])
            assert len({row["item_id"] for row in rows}) == 12


@pytest.mark.usefixtures("two_apps")
def test_days_of_one_app_hold_no_answer_of_the_other() -> None:
    """The bot's mean is that of its own short answers."""
    (day,) = ok_json("history", "--app", "bot", "--db", DB)["days"]
    assert day["mean"] == 1.0
    assert day["n"] == 8


@pytest.mark.usefixtures("two_apps")
def test_events_belong_to_an_app() -> None:
    """A deploy of the shop explains nothing in the bot."""
    ok("event", "add", "shop 2.0", "--day", "2026-03-01", "--kind", "deploy", "--app", "shop", "--db", DB)
    texts = {
        app: [event["text"] for event in ok_json("event", "list", "--app", app, "--db", DB)["events"]]
        for app in ("shop", "bot")
    }
    assert "shop 2.0" in texts["shop"]
    assert "shop 2.0" not in texts["bot"]


@pytest.mark.usefixtures("two_apps")
def test_state_of_the_database_lists_its_apps() -> None:
    """With how much each holds."""
    found = ok_json("db", "info", "--db", DB)["apps"]
    assert {app: counts["n_answers"] for app, counts in found.items()} == {"bot": 8, "shop": 8}
    assert {app: counts["n_scored"] for app, counts in found.items()} == {"bot": 20, "shop": 15}


@pytest.mark.usefixtures("two_apps")
@pytest.mark.parametrize("command", ["check", "history", "segments"])
def test_command_without_an_app_says_which_there_are(command: str) -> None:
    """Two, and no guess."""
    assert refused(command, "--db", DB, code=64).endswith("name one with --app: bot, shop")


@pytest.mark.usefixtures("two_apps")
def test_configured_app_needs_no_name() -> None:
    """The configuration says which one is meant; --app wins over it."""
    assert ok_json("check", "--config", SHOP)["app"] == "shop"
    assert ok_json("check", "--config", SHOP, "--app", "bot")["app"] == "bot"


@pytest.mark.usefixtures("two_apps")
def test_running_one_app_again_leaves_the_other_alone() -> None:
    """The slot is finished for the bot; the shop's rest is its own."""
    assert "finished already" in ok("run", "once", "--config", BOT, "--slot", SLOT)
    with open_reader(DB) as store:
        (shop,) = read.runs(store, "shop")
    assert shop["n_calls"] == 15
