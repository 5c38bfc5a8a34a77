"""``judgewatch run once`` with a judge that is a function, and against servers that are not what they should be."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from evaluator import spool
from evaluator.clock import SystemClock
from evaluator.scoring import slot as slot_module
from evaluator.store import locks, read
from evaluator.store.db import open_reader, open_store
from tests.cli.conftest import (
    invoke,
    ok,
    ok_json,
    refused,
    some_answers,
    write_anchors,
    write_answers,
    write_config,
)

DB = Path("data/judgewatch.db")
SLOT = "2026-03-05T06:00"
OPENAI = 'function = "python:tests.cli.graders:by_words"'


@pytest.fixture(autouse=True)
def shop() -> None:
    """A configuration, a dozen anchors, and four days of twelve answers each."""
    write_config()
    write_anchors()
    rows = [row for day in range(1, 5) for row in some_answers(12, f"2026-03-0{day}")]
    ok("import", write_answers(Path("answers.jsonl"), rows))


def use_server(url: str, *, key: str = "", budget: str = "calls_per_day = 1000") -> None:
    """Let an HTTP server grade instead of the function."""
    write_config(**{OPENAI: f'base_url = "{url}"\napi_key_env = "{key}"\nmax_attempts = 1\ntimeout_s = 5'})
    path = Path("judgewatch.toml")
    path.write_text(path.read_text("utf-8") + f"[budget]\n{budget}\n", encoding="utf-8")


def chat_reply(score: int) -> dict[str, Any]:
    """A reply of a chat API that holds a verdict."""
    content = json.dumps({"explanation": "fine", "strengths": [], "weaknesses": [], "score": score})
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "judge-1",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content, "refusal": None}}
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


# ---------------------------------------------------------------- a run


def test_run_grades_anchors_and_a_sample_and_tells_the_outcome() -> None:
    """Twelve anchors, ten of twelve answers of each of the last three days; the headline last."""
    result = invoke("run", "once", "--slot", SLOT)
    assert result.exit_code == 0
    first, headline = result.stdout.splitlines()
    assert first.startswith("run of 2026-03-05 06:00 UTC: finished, 12 anchors and 30 answers: 42 scored; 42 calls, ")
    assert headline.startswith("Learning: run 1 of 10")
    assert "$" not in first
    with open_reader(DB) as store:
        (run,) = read.runs(store, "shop")
    assert (run["status"], run["n_scored_anchor"], run["n_scored_traffic"]) == ("finished", 12, 30)


def test_run_prints_json() -> None:
    """The same for programs."""
    payload = ok_json("run", "once", "--slot", SLOT)
    assert (payload["status"], payload["n_scored"], payload["complete"]) == ("finished", 42, True)
    assert payload["headline"].startswith("Learning")


def test_finished_run_says_so_and_calls_nothing() -> None:
    """A cron job that fires twice costs once."""
    write_config(by_words="noting_calls")
    ok("run", "once", "--slot", SLOT)
    text = ok("run", "once", "--slot", SLOT)
    assert text == "the run of 2026-03-05 06:00 UTC is finished already; there is nothing to do\n"
    assert len(Path("calls.txt").read_text("utf-8").splitlines()) == 42


def test_last_scheduled_instant_is_the_default() -> None:
    """06:00 of today, or of yesterday before six."""
    payload = ok_json("run", "once")
    now = SystemClock().now()
    today = now.replace(hour=6, minute=0, second=0, microsecond=0)
    expected = today if today <= now else today - timedelta(days=1)
    assert datetime.fromisoformat(payload["slot_utc"]) == expected


@pytest.mark.parametrize(("kind", "counts"), [("anchors", (12, 0)), ("traffic", (0, 30)), ("all", (12, 30))])
def test_kind_chooses_what_is_graded(kind: str, counts: tuple[int, int]) -> None:
    """Anchors alone, answers alone, or both."""
    payload = ok_json("run", "once", "--slot", SLOT, "--kind", kind)
    assert (payload["n_anchors"], payload["n_traffic"]) == counts


def test_other_database_and_app_can_be_named() -> None:
    """``--db`` and ``--app`` win over the configuration."""
    ok("run", "once", "--slot", SLOT, "--db", "other.db", "--app", "bot", "--quiet")
    with open_reader("other.db") as store:
        assert [run["n_anchors"] for run in read.runs(store, "bot")] == [12]
    with open_reader(DB) as store:
        assert read.runs(store, "shop") == []


# ---------------------------------------------------------------- older answers


def test_older_answers_are_hinted_at() -> None:
    """What lies before the window is not silently left out."""
    result = invoke("run", "once", "--slot", SLOT)
    assert (
        "12 older answers (before the last 3 days with answers, traffic.lookback_days) are not graded" in result.stderr
    )
    assert "`judgewatch run once --since DAY`" in result.stderr


def test_since_takes_older_answers_in() -> None:
    """The whole of March."""
    assert ok_json("run", "once", "--slot", SLOT, "--since", "2026-03-01")["n_traffic"] == 40


def test_since_after_a_finished_run_makes_an_extra_one() -> None:
    """The hint of the run before works as it is printed."""
    ok("run", "once")
    before = SystemClock().now().replace(second=0, microsecond=0)
    payload = ok_json("run", "once", "--since", "2026-03-01")
    assert payload["n_traffic"] == 10
    assert datetime.fromisoformat(payload["slot_utc"]) >= before


# ---------------------------------------------------------------- dry run


def test_dry_run_counts_calls_and_makes_none() -> None:
    """Anchors and traffic apart, a day and a month."""
    write_config(by_words="noting_calls")
    text = ok("run", "once", "--slot", SLOT, "--dry-run")
    assert "would grade 12 anchors and 30 answers: 42 calls, at what the function spends" in text
    assert "a day, anchors: 12 calls" in text
    assert "a day, traffic: 10 calls" in text
    assert "$" not in text
    assert "12 older answers" in text
    assert not Path("calls.txt").exists()
    with open_reader(DB) as store:
        assert read.runs(store, "shop") == []


def test_dry_run_names_the_most_it_can_cost() -> None:
    """With a price there is an amount, for anchors and traffic apart, and the budget caps it."""
    use_server("http://127.0.0.1:9/v1", budget="usd_per_day = 0.001")
    path = Path("judgewatch.toml")
    price = '[prices."by-words"]\ninput_usd_per_million = 1\noutput_usd_per_million = 2\n'
    path.write_text(path.read_text("utf-8") + price, encoding="utf-8")
    payload = ok_json("run", "once", "--slot", SLOT, "--dry-run")
    assert payload["most_usd_anchors"] > 0.012
    assert payload["most_usd_traffic"] > payload["most_usd_anchors"]
    assert payload["most_usd"] == pytest.approx(payload["most_usd_anchors"] + payload["most_usd_traffic"])
    assert payload["most_usd_per_day"] == 0.001
    assert payload["most_usd_per_month"] == pytest.approx(0.001 * 365.25 / 12)
    assert "the budget ends a day at $0.0010" in ok("run", "once", "--slot", SLOT, "--dry-run")


def test_dry_run_says_when_the_price_is_unknown() -> None:
    """No amount is better than a wrong one."""
    use_server("http://127.0.0.1:9/v1")
    text = ok("run", "once", "--slot", SLOT, "--dry-run")
    assert "42 calls, price unknown" in text
    assert "the price of the judge is not known" in text
    assert "the budget ends a day at 1,000 calls" in text


def test_dry_run_of_a_finished_run_says_so() -> None:
    """There is nothing to pay."""
    ok("run", "once", "--slot", SLOT)
    assert "is finished; nothing is left to grade" in ok("run", "once", "--slot", SLOT, "--dry-run")


def test_dry_run_leaves_recorded_answers_where_they_are() -> None:
    """They are named, not fetched."""
    spool.record(output="an answer", path="spool")
    assert "1 file of recorded answers" in ok("run", "once", "--slot", SLOT, "--dry-run")
    assert len(list(Path("spool").iterdir())) == 1


# ---------------------------------------------------------------- recorded answers


def test_recorded_answers_are_fetched_first() -> None:
    """An answer recorded yesterday is graded today."""
    spool.record(output="one two three", input="q", answered_at="2026-03-04T10:00:00Z", item_id="r1", path="spool")
    result = invoke("run", "once", "--slot", SLOT)
    assert "recorded answers: 1 new, from 1 file" in result.stderr
    assert list(Path("spool").iterdir()) == []
    with open_reader(DB) as store:
        assert read.counts(store, "shop")["n_answers"] == 49


def test_recorded_line_that_cannot_be_used_is_told_and_kept() -> None:
    """The run goes on without it."""
    Path("spool").mkdir()
    Path("spool/x.open.jsonl").write_text("cut o\n", encoding="utf-8")
    result = invoke("run", "once", "--slot", SLOT)
    assert result.exit_code == 0
    assert "cannot be used and are kept in" in result.stderr
    assert next(path.name for path in Path("spool").iterdir()).endswith(".rejected.jsonl")


# ---------------------------------------------------------------- runs that do not finish


def test_budget_that_is_used_up_is_no_failure() -> None:
    """It was asked for: a note, and exit 0."""
    path = write_config()
    path.write_text(path.read_text("utf-8") + "[budget]\ncalls_per_day = 20\n", encoding="utf-8")
    result = invoke("run", "once", "--slot", SLOT)
    assert result.exit_code == 0
    assert "note: the day's budget of 20 calls is used up" in result.stderr
    assert "20 calls" in result.stdout
    assert "budget: 20 of 20 calls are left today\n" in result.stderr


def test_run_that_found_the_budget_used_up_says_first_that_nothing_was_graded() -> None:
    """By what, until when, and which setting; a dry run says what fits."""
    path = write_config()
    path.write_text(path.read_text("utf-8") + "[budget]\ncalls_per_day = 20\n", encoding="utf-8")
    ok("run", "once", "--slot", SLOT)
    result = invoke("run", "once", "--slot", SLOT)
    assert result.exit_code == 0
    first = result.stdout.splitlines()[0]
    assert "nothing more was graded, since today's budget is used up (budget.calls_per_day = 20)" in first
    tomorrow = (SystemClock().now() + timedelta(days=1)).date().isoformat()
    assert f"there is a new one from {tomorrow} on (UTC)" in first
    assert "budget: 0 of 20 calls are left today" in result.stderr
    path.write_text(path.read_text("utf-8").replace("calls_per_day = 20", "calls_per_day = 1"), encoding="utf-8")
    other = ok("run", "once", "--slot", "2026-03-04T06:00")
    assert ": nothing was graded, since today's budget is used up (budget.calls_per_day = 1)" in other


def test_dry_run_says_what_is_left_today_and_where_it_will_stop() -> None:
    """As text and as numbers; nothing is said where there is no limit."""
    assert "left today" not in ok("run", "once", "--slot", SLOT, "--dry-run")
    path = write_config()
    path.write_text(path.read_text("utf-8") + "[budget]\ncalls_per_day = 30\n", encoding="utf-8")
    text = ok("run", "once", "--slot", SLOT, "--dry-run")
    assert "budget: 30 of 30 calls are left today" in text
    assert "warning: this does not fit: it will stop after 30 of 42 calls" in text
    assert ok_json("run", "once", "--slot", SLOT, "--dry-run")["calls_left_today"] == 30


def test_dry_run_makes_no_database() -> None:
    """A look ahead leaves nothing behind."""
    ok("run", "once", "--dry-run", "--db", "elsewhere/new.db")
    assert not Path("elsewhere").exists()


def test_judge_that_fails_on_everything_fails_the_run() -> None:
    """The cause in one line, and how to go on."""
    write_config(by_words="broken")
    result = invoke("run", "once", "--slot", SLOT)
    assert result.exit_code == 1
    assert "error: the run failed: " in result.stderr
    assert "provider_error" in result.stderr
    assert f"`judgewatch run once --slot {SLOT}:00+00:00` goes on where it stopped" in result.stderr


def test_refused_key_names_its_variable(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """One call, and the place to look."""
    monkeypatch.setenv("SHOP_KEY", "wrong")
    httpserver.expect_request("/v1/chat/completions").respond_with_json({"error": {"message": "bad key"}}, status=401)
    use_server(httpserver.url_for("/v1"), key="SHOP_KEY")
    line = refused("run", "once", "--slot", SLOT, code=1)
    assert "refuses the judge's key" in line
    assert "SHOP_KEY" in line
    assert len(httpserver.log) == 1


def test_unknown_model_is_named(httpserver: HTTPServer) -> None:
    """The name asked for, and the setting."""
    httpserver.expect_request("/v1/chat/completions").respond_with_json(
        {"error": {"message": "no such model", "code": "model_not_found"}}, status=404
    )
    use_server(httpserver.url_for("/v1"))
    line = refused("run", "once", "--slot", SLOT, code=1)
    assert "'by-words'" in line
    assert "judge.model" in line


def test_web_page_instead_of_an_api_names_the_address(httpserver: HTTPServer) -> None:
    """A base URL without its version path answers with a page."""
    httpserver.expect_request("/chat/completions").respond_with_data("<html>Welcome</html>", content_type="text/html")
    use_server(httpserver.url_for("/"))
    line = refused("run", "once", "--slot", SLOT, code=1)
    assert httpserver.url_for("").rstrip("/") in line
    assert "judge.base_url" in line


def test_server_that_is_not_there_names_the_address(free_port: int) -> None:
    """After a few items, not after all of them."""
    url = f"http://127.0.0.1:{free_port}/v1"
    use_server(url)
    line = refused("run", "once", "--slot", SLOT, code=1)
    assert url in line
    assert "did not answer" in line


def test_run_that_was_cut_off_goes_on(httpserver: HTTPServer) -> None:
    """A server that refuses the key, then does not: what was planned is graded, once."""
    httpserver.expect_ordered_request("/v1/chat/completions").respond_with_json(
        {"error": {"message": "no"}}, status=401
    )
    use_server(httpserver.url_for("/v1"))
    assert invoke("run", "once", "--slot", SLOT).exit_code == 1
    httpserver.clear()
    httpserver.expect_request("/v1/chat/completions").respond_with_json(chat_reply(4))
    payload = ok_json("run", "once", "--slot", SLOT)
    assert (payload["status"], payload["n_scored"]) == ("finished", 42)


def test_other_scorer_is_left_alone() -> None:
    """Its name is told; with --no-wait this one ends at once, with 1."""
    with open_store(DB) as store:
        now = datetime.now(UTC)
        locks.acquire_lease(store, app="shop", holder="host:7", what="run of today", now=now)
    assert "another scorer (host:7, run of today)" in refused("run", "once", "--slot", SLOT, "--no-wait", code=1)


def test_scorer_waits_for_another_one() -> None:
    """A claim that ends by itself is waited for, said once; then the run is graded."""
    with open_store(DB) as store:
        almost_over = datetime.now(UTC) - locks.LEASE_TTL + timedelta(seconds=1)
        locks.acquire_lease(store, app="shop", holder="host:7", what="run of today", now=almost_over)
    result = invoke("run", "once", "--slot", SLOT)
    assert result.exit_code == 0
    assert result.stderr.count("another scorer (host:7, run of today)") == 1
    assert "42 scored" in result.stdout


def test_outcome_is_told_although_the_analysis_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was paid for must not vanish behind a fault of another part."""

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("in the analysis")

    monkeypatch.setattr(slot_module, "analyse_and_store", broken)
    result = invoke("run", "once", "--slot", SLOT)
    assert result.exit_code == 1
    assert "42 scored" in result.stdout
    assert "error: ZeroDivisionError: in the analysis" in result.stderr


# ---------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--slot", "soon"], "--slot 'soon' is not a time"),
        (["--slot", "2199-01-01T06:00"], "lies in the future"),
        (["--since", "March"], "--since 'March' is not a day"),
        (["--kind", "some"], "'some' is not one of"),
    ],
)
def test_wrong_option_is_refused(args: list[str], message: str) -> None:
    """64, before anything is graded."""
    assert message in refused("run", "once", *args, code=64)
    with open_reader(DB) as store:
        assert read.runs(store, "shop") == []


def test_progress_is_told_in_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """One every ten seconds of the run, with rate, cost and time left; a new run starts anew."""
    from evaluator.cli.progress import lines
    from evaluator.scoring.closing import Progress

    update = lines()
    for second in range(31):
        update(
            Progress(
                n_planned=100, n_done=second, n_scored=second, n_unscored=0, n_calls=second, spent_usd=0.01,
                elapsed_s=float(second),
            )
        )  # fmt: skip
    told = capsys.readouterr().err.splitlines()
    assert told == [
        "10 of 100, 1.0 a second, $0.0100 so far, 90 s left",
        "20 of 100, 1.0 a second, $0.0100 so far, 80 s left",
        "30 of 100, 1.0 a second, $0.0100 so far, 70 s left",
    ]


@pytest.mark.parametrize(("seconds", "text"), [(5.4, "5 s"), (150, "2 min"), (7200, "2.0 h")])
def test_time_left_is_told_as_people_say_it(seconds: float, text: str) -> None:
    """Seconds, minutes, hours."""
    from evaluator.cli.progress import duration

    assert duration(seconds) == text


# ---------------------------------------------------------------- what a new user meets


PRICE = '[prices."by-words"]\ninput_usd_per_million = 1\noutput_usd_per_million = 2\n'


def use_priced_server(*, key: str = "") -> None:
    """A judge with a price that is never called; its key may be missing."""
    use_server("http://127.0.0.1:9/v1", key=key, budget="usd_per_day = 5")
    path = Path("judgewatch.toml")
    path.write_text(path.read_text("utf-8") + PRICE, encoding="utf-8")


def test_dry_run_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is called; the run itself asks for it."""
    monkeypatch.delenv("SHOP_KEY", raising=False)
    use_priced_server(key="SHOP_KEY")
    assert "42 calls, at most $" in ok("run", "once", "--slot", SLOT, "--dry-run")
    assert "SHOP_KEY is not set" in refused("run", "once", "--slot", SLOT, code=64)


def test_dry_run_tells_the_cost_of_a_day_although_no_answer_is_left_to_grade() -> None:
    """Price and answers are known: the newest day stands for an ordinary one."""
    use_priced_server()
    text = ok("run", "once", "--slot", SLOT, "--since", "2026-03-05", "--dry-run")
    assert "would grade 12 anchors and 0 answers" in text
    assert "a day, traffic: 10 calls, at most $" in text
    assert "together at most $" in text
    assert "unknown" not in text


def test_dry_run_says_exactly_what_is_missing() -> None:
    """A price without answers is not an unknown price."""
    use_priced_server()
    text = ok("run", "once", "--slot", SLOT, "--dry-run", "--app", "new")
    assert "a day, traffic: 10 calls, at a cost that the first answers will tell" in text
    assert "there are no answers yet to tell the cost of a day's traffic from" in text
    assert "not known" not in text


def test_configured_spool_folder_that_is_missing_is_told() -> None:
    """A note; the run goes on."""
    result = invoke("run", "once", "--slot", SLOT)
    assert result.exit_code == 0
    assert "note: traffic.spool names spool, and there is no such folder" in result.stderr
    Path("spool").mkdir()
    assert "traffic.spool" not in invoke("run", "once", "--slot", SLOT).stderr


def test_answers_recorded_without_any_setting_are_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """The three lines of the README work together."""
    monkeypatch.delenv("JUDGEWATCH_SPOOL", raising=False)
    write_config(**{'spool = "spool"\n': ""})
    assert spool.record(output="one two", input="q")
    assert "1 file of recorded answers is not fetched yet" in ok("run", "once", "--slot", SLOT, "--dry-run")
    assert "recorded answers: 1 new, from 1 file" in invoke("run", "once", "--slot", SLOT).stderr


def test_answers_of_a_day_that_ended_since_wait_for_the_next_run() -> None:
    """Whoever sees none of theirs graded knows when they will be."""
    ok("run", "once", "--slot", SLOT)
    ok("import", write_answers(Path("today.jsonl"), some_answers(3, "2026-03-05")))
    result = invoke("run", "once", "--slot", SLOT)
    assert "finished already" in result.stdout
    assert "3 answers of 2026-03-05 wait for the next scheduled run, " in result.stderr
    assert " 06:00 UTC; or now `judgewatch run once --since 2026-03-05`\n" in result.stderr


def test_answers_of_today_are_said_to_wait_for_the_run_after_it() -> None:
    """With the instant at which that is."""
    ok("run", "once")
    now = SystemClock().now()
    ok("import", write_answers(Path("today.jsonl"), some_answers(1, now.date().isoformat())))
    result = invoke("run", "once")
    day_after = (now + timedelta(days=1)).date().isoformat()
    words = f"1 answer of {now.date()} waits until the day has ended; the run of {day_after} 06:00 UTC takes it\n"
    assert words in result.stderr


def test_answers_of_a_day_that_ended_can_be_taken_at_once() -> None:
    """Imported after the run of their day."""
    ok("run", "once", "--slot", "2026-03-04T06:00")
    ok("run", "once", "--slot", "2026-03-06T06:00")
    ok("import", write_answers(Path("late.jsonl"), some_answers(1, "2026-03-05")))
    err = invoke("run", "once", "--slot", "2026-03-06T06:00").stderr
    assert "1 answer of 2026-03-05 not taken by a run yet; the next run takes them" in err
    assert "`judgewatch run once --since 2026-03-05`" in err


def test_one_older_answer_is_told_in_the_singular() -> None:
    """Words fit their number."""
    ok("import", write_answers(Path("old.jsonl"), some_answers(1, "2026-02-01")), "--app", "bot")
    ok("import", write_answers(Path("new.jsonl"), some_answers(2, "2026-03-04")), "--app", "bot")
    err = invoke("run", "once", "--slot", SLOT, "--app", "bot").stderr
    assert "1 older answer (before the last 3 days with answers, traffic.lookback_days) is not graded" in err


def test_code_of_a_refused_key_stands_apart(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Message and code are two things."""
    monkeypatch.setenv("SHOP_KEY", "wrong")
    body = {"error": {"message": "Incorrect API key provided.", "code": "invalid_api_key"}}
    httpserver.expect_request("/v1/chat/completions").respond_with_json(body, status=401)
    use_server(httpserver.url_for("/v1"), key="SHOP_KEY")
    assert "(Incorrect API key provided: invalid_api_key)" in refused("run", "once", "--slot", SLOT, code=1)
