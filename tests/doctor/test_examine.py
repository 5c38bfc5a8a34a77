"""The doctor as a whole against a judge over HTTP: what it finds, what it costs, and that it leaves nothing behind."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluator.config import load_config
from evaluator.doctor import MOST_CALLS, Check, examine, has_failed
from tests.doctor.conftest import WallClock, config_of, examined, good_replies, write_anchors
from tests.judges.caching_proxy import CachingProxy
from tests.judges.server import SILENT, Answer, FakeServer, Request, Script, failure, json_answer

Serve = Callable[[Script], FakeServer]
PRICES = 'prices."judge-2026-01-05"'
OF_A_REPLY = ("replies", "gateway cache", "model version")


def at(server: FakeServer | str) -> str:
    """The line of the configuration that names a judge's address."""
    return f'base_url = "{server if isinstance(server, str) else server.base_url}"'


def states(found: dict[str, Check], *names: str) -> list[str]:
    """Results of some checks."""
    return [found[name].status for name in names]


def test_setup_that_is_well_has_nothing_to_mend(folder: Path, serve: Serve) -> None:
    """Six calls, six different prompts but one, and not a file more than before."""
    server = serve(good_replies())
    config_of(folder, judge=at(server))
    before = sorted(folder.rglob("*"))
    found = examined(folder)
    assert [check.name for check in found.values() if check.status == "fail"] == []
    assert "5 of 5 answers got a score" in found["replies"].found
    assert "rank correlation +1.00" in found["replies"].found
    assert "status 200, judge-2026-01-05 answered in" in found["judge call"].found
    assert len(server.requests) == MOST_CALLS == 6
    sent = [json.dumps(request.body, sort_keys=True) for request in server.requests]
    assert len(set(sent)) == 5
    assert sent[0] == sent[-1]
    assert sorted(folder.rglob("*")) == before
    assert "will be created" in found["database"].found


def test_cost_is_said_before_the_first_call(folder: Path, serve: Serve) -> None:
    """With the number of calls, and the most they can cost."""
    server = serve(good_replies())
    config_of(folder, judge=at(server), **{PRICES: "input_usd_per_million = 1\noutput_usd_per_million = 2"})
    said: list[tuple[int, float | None, int]] = []

    def note(n_calls: int, usd: float | None) -> None:
        said.append((n_calls, usd, len(server.requests)))

    path = folder / "judgewatch.toml"
    list(examine(lambda: load_config(path), path, clock=WallClock(), before_calls=note))
    (n_calls, usd, n_before), *more = said
    assert (n_calls, n_before, more) == (6, 0, [])
    assert usd is not None
    assert 6 * 700 * 2 / 1e6 < usd < 1


def test_no_call_calls_nothing(folder: Path, serve: Serve) -> None:
    """What only a call can tell is not looked at, and does not fail."""
    server = serve(good_replies())
    config_of(folder, judge=at(server))
    found = examined(folder, ask_judge=False)
    assert server.requests == []
    assert set(states(found, "judge call", *OF_A_REPLY, "clock")) == {"skipped"}
    assert not has_failed(list(found.values()))


@pytest.mark.parametrize(
    ("text", "status", "words"),
    [
        ("Rate {{output}}, please.", "ok", "24 characters"),
        ("Rate it.", "fail", "the prompt has no {{output}}"),
        ("Rate {{output}} and {{outptu}}.", "fail", "an unknown placeholder {{outptu}}"),
        (None, "fail", "there is no such file"),
    ],
)
def test_prompt_of_ones_own_is_looked_at_without_a_call(
    folder: Path, text: str | None, status: str, words: str
) -> None:
    """Nor with a key that is missing; the rest is looked at as well."""
    if text is not None:
        (folder / "own.txt").write_text(text, "utf-8")
    config_of(folder, judge='prompt_file = "own.txt"\nscale = [1, 5]\napi_key_env = "NO_SUCH_KEY_HERE"')
    found = examined(folder, ask_judge=False)
    assert found["prompt"].status == status
    assert words in found["prompt"].found
    assert states(found, "key", "schedule") == ["fail", "ok"]


def test_shipped_prompt_is_not_spoken_of(folder: Path) -> None:
    """There is nothing about it to mend."""
    config_of(folder)
    assert "prompt" not in examined(folder, ask_judge=False)


def test_caching_gateway_fails(folder: Path, serve: Serve) -> None:
    """Whether it says so in a header or not."""
    for marks in ({}, {"cf-aig-cache-status": "HIT"}):
        with CachingProxy(serve(good_replies()).base_url, marks=marks) as proxy:
            config_of(folder, judge=at(proxy.base_url))
            found = examined(folder)["gateway cache"]
        assert found.status == "fail"
        assert ("cf-aig-cache-status" in found.found) is bool(marks)


@pytest.mark.parametrize(
    ("answer", "says", "fix"),
    [
        (failure(401, message="bad key", code="invalid_api_key"), "status 401", "check the key"),
        (failure(404, message="no such model", code="model_not_found"), "status 404", "judge.model"),
        (failure(500, message="oh no"), "status 500", "server is up"),
        (Answer(body=b"<!doctype html><p>hello", headers={"content-type": "text/html"}), "status 200", "base_url"),
    ],
)
def test_judge_that_does_not_grade_fails_once(folder: Path, serve: Serve, answer: Answer, says: str, fix: str) -> None:
    """With its status and what to do; what needs a reply is not looked at."""
    server = serve(lambda _: answer)
    config_of(folder, judge=at(server))
    found = examined(folder)
    assert found["judge call"].status == "fail"
    assert says in found["judge call"].found
    assert fix in found["judge call"].fix
    assert set(states(found, *OF_A_REPLY)) == {"skipped"}
    assert len(server.requests) <= 5


def test_nobody_at_the_address_fails_and_the_rest_is_looked_at(folder: Path) -> None:
    """A connection that is refused costs nothing, and stops no other check."""
    found = examined(folder)
    assert found["judge call"].status == "fail"
    call = found["judge call"]
    assert call.found == "nothing answers at judge.base_url = 'http://127.0.0.1:9/v1': All connection attempts failed"
    assert call.fix == "start the judge's server, or correct judge.base_url; it usually ends in /v1"
    assert states(found, "clock", "anchors", "schedule") == ["skipped", "ok", "ok"]


def test_judge_that_never_answers_is_given_up(folder: Path, serve: Serve) -> None:
    """After the configured time, once for each of the answers."""
    server = serve(lambda _: SILENT)
    config_of(folder, judge=at(server) + "\ntimeout_s = 0.2")
    found = examined(folder)["judge call"]
    assert (found.status, "0.2 s" in found.found) == ("fail", True)


def test_replies_that_cannot_be_read_are_shown(folder: Path, serve: Serve) -> None:
    """How many, why, and how one begins."""
    server = serve(good_replies(score=lambda _: "splendid"))
    config_of(folder, judge=at(server))
    found = examined(folder)
    assert found["judge call"].status == "ok"
    replies = found["replies"]
    assert (replies.status, "0 of 5 answers got a score" in replies.found) == ("fail", True)
    assert "5 not_a_number" in replies.found or "5 wrong_type" in replies.found
    assert "splendid" in replies.found
    assert "output_mode" in replies.fix
    assert "score_field" not in replies.fix  # the shipped prompt knows no such setting


def own_judge(folder: Path, serve: Serve, reply: Callable[[int], str], setting: str = "") -> Check:
    """What is said of the replies of a judge with a prompt of one's own, on 0 to 10."""
    numbers = itertools.count()

    def script(request: Request) -> Answer:
        answer = good_replies()(request)
        assert isinstance(answer, Answer)
        body = json.loads(answer.body)
        body["choices"][0]["message"]["content"] = reply(next(numbers))
        return json_answer(body)

    (folder / "p.txt").write_text("{{input}} {{output}}", "utf-8")
    config_of(folder, judge=f'{at(serve(script))}\nprompt_file = "p.txt"\nscale = [0, 10]\n{setting}')
    return examined(folder)["replies"]


def one_of(replies: list[str], n: int) -> str:
    """The n-th reply of those that a judge gives in turn, a number that varies filled in."""
    reply = replies[n % len(replies)]
    return reply % n if "%d" in reply else reply


@pytest.mark.parametrize(
    ("reply", "setting", "fix"),
    [
        ('{"grading": {"points": %d, "words": 120}}', "", 'set judge.score_field = "grading.points":'),
        ('{"grading": {"points": %d}}', "score_pattern = 'S: (.)'", '"grading.points", without judge.score_pattern:'),
        ('{"style": %d, "facts": 3}', "", 'judge.score_field = "style" or judge.score_field = "facts"'),
        ("Good.\nPoints: %d", "", r"set judge.score_pattern = '(?i)\bpoints\**"),
        ("Good.\nPoints: %d", 'score_field = "x"', ", without judge.score_field:"),
        ('{"score": 9%d}', "", "off the scale 0 to 10; set judge.scale"),
        ('{"score": 5}|{"points": 3}', "", "check judge.score_field or judge.score_pattern"),
        ("quite good", "", "check judge.score_field or judge.score_pattern"),
    ],
)
def test_setting_that_would_read_the_replies_is_named(
    folder: Path, serve: Serve, reply: str, setting: str, fix: str
) -> None:
    """Tried on the replies themselves."""
    found = own_judge(folder, serve, lambda n: one_of(reply.split("|"), n), setting)
    assert found.status in ("fail", "warn")
    assert fix in found.fix


def test_named_setting_reads_the_replies(folder: Path, serve: Serve) -> None:
    """Copied into the configuration it mends it: a path, and a pattern as TOML reads it."""
    for reply in ('{"grading": {"points": %d}}', "It is fine.\n**Points:** %d / 10"):
        fix = own_judge(folder, serve, lambda n, reply=reply: reply % n).fix
        setting = fix.removeprefix("set judge.").partition(": every reply")[0]
        mended = own_judge(folder, serve, lambda n, reply=reply: reply % n, setting)
        assert (mended.status, "5 of 5" in mended.found) == ("ok", True), setting


def test_shipped_anchors_are_read_on_any_scale(folder: Path, serve: Serve) -> None:
    """Expected scores of 1 to 5 do not fit 0 to 1, and need not."""
    (folder / "p.txt").write_text("{{input}} {{output}}", "utf-8")
    server = serve(good_replies(score=lambda _: 0.5))
    config_of(folder, judge=f'{at(server)}\nprompt_file = "p.txt"\nscale = [0, 1]', anchors='set = "general"')
    found = examined(folder)
    assert states(found, "anchors", "own anchors", "anchor levels", "replies") == ["ok", "warn", "skipped", "ok"]


def test_few_unread_replies_are_a_warning(folder: Path, serve: Serve) -> None:
    """Most of them are well."""
    n_calls = iter(range(100))
    server = serve(good_replies(score=lambda _: 9 if next(n_calls) == 2 else 3))
    config_of(folder, judge=at(server))
    replies = examined(folder)["replies"]
    assert (replies.status, "1 out_of_range" in replies.found) == ("warn", True)


def test_alias_is_warned_of_on_a_hosted_server_only(folder: Path, serve: Serve) -> None:
    """A server of one's own may call its model what it likes."""
    server = serve(good_replies(model="judge-2026-02-02"))
    config_of(folder, judge=at(server))
    assert examined(folder)["model version"].status == "ok"


def test_refused_parameters_are_told_and_cost_nothing(folder: Path, serve: Serve) -> None:
    """Every one is refused once, and the six calls are made all the same."""
    good = good_replies()

    def script(request: Request) -> Answer:
        if "temperature" in request.body:
            return failure(400, message="Unsupported parameter: 'temperature'", param="temperature")
        answer = good(request)
        assert isinstance(answer, Answer)
        return answer

    server = serve(script)
    config_of(folder, judge=at(server))
    found = examined(folder)
    assert "1 of the parameters asked for is refused" in found["judge call"].found
    assert states(found, "replies", "gateway cache") == ["ok", "ok"]
    assert len(server.requests) == 7


@pytest.mark.parametrize(("off_s", "status"), [(0.0, "ok"), (30.0, "ok"), (300.0, "warn"), (-300.0, "warn")])
def test_clock_is_held_against_the_server(folder: Path, serve: Serve, off_s: float, status: str) -> None:
    """A minute is too much; which of the two is behind is said."""
    good = good_replies()

    def dated(request: Request) -> Answer:
        answer = good(request)
        assert isinstance(answer, Answer)
        date = WallClock().now().strftime("%a, %d %b %Y %H:%M:%S GMT")
        return json_answer(json.loads(answer.body), headers={"date": date})

    config_of(folder, judge=at(serve(dated)))
    found = examined(folder, off_s=off_s)["clock"]
    assert found.status == status
    if status == "warn":
        assert ("ahead of" if off_s > 0 else "behind") in found.found


def test_function_of_ones_own_is_called_and_not_asked_over_http(folder: Path) -> None:
    """The checks of HTTP are left out; its replies are read like any other."""
    config_of(folder, judge='function = "python:tests.cli.graders:by_words"')
    found = examined(folder)
    assert states(found, "judge call", "replies") == ["ok", "ok"]
    assert states(found, *OF_A_REPLY[1:], "clock") == ["skipped"] * 3
    assert not has_failed(list(found.values()))


def test_function_that_raises_fails_in_words(folder: Path) -> None:
    """With what it said."""
    config_of(folder, judge='function = "python:tests.cli.graders:broken"')
    found = examined(folder)
    assert found["judge call"].status == "fail"
    assert "cannot grade" in found["judge call"].found


def test_without_configuration_only_that_is_said(tmp_path: Path) -> None:
    """And how to get one."""
    path = tmp_path / "judgewatch.toml"
    (check,) = examine(lambda: load_config(path), path, clock=WallClock())
    assert (check.status, check.fix) == ("fail", "write one with `judgewatch init`")


def test_broken_configuration_is_named_key_by_key(folder: Path) -> None:
    """The faults as the configuration tells them."""
    path = folder / "judgewatch.toml"
    path.write_text('[judge]\nmodel = "x"\nmodell = "y"\n')
    (check,) = examine(lambda: load_config(path), path, clock=WallClock())
    assert (check.status, "modell" in check.found) == ("fail", True)


def test_missing_key_fails_twice_and_is_never_shown(
    folder: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it there is no call; with it, it is in no line."""
    server = serve(good_replies())
    config_of(folder, judge=at(server) + '\napi_key_env = "DOCTOR_KEY"')
    monkeypatch.delenv("DOCTOR_KEY", raising=False)
    found = examined(folder)
    assert states(found, "key", "judge call", "clock") == ["fail", "fail", "skipped"]
    assert server.requests == []
    monkeypatch.setenv("DOCTOR_KEY", "sk-very-secret-value-0123")
    well = examined(folder)
    assert well["key"].found == "the environment variable DOCTOR_KEY is set"
    assert "very-secret" not in str(well)


def test_broken_anchor_set_is_a_line_and_the_judge_is_asked_all_the_same(folder: Path, serve: Serve) -> None:
    """With a small question of the doctor's own."""
    (folder / "anchors.jsonl").write_text("{}\n")
    server = serve(good_replies(score=lambda _: 4))
    config_of(folder, judge=at(server))
    found = examined(folder)
    assert states(found, "anchors", "judge call", "replies") == ["fail", "ok", "ok"]
    assert len(server.requests) == 2


def test_check_that_breaks_stops_no_other(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It becomes a line that fails, in words."""
    write_anchors(folder)

    def burst(_: object) -> Check:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("evaluator.doctor.schedule.check_schedule", burst)
    found = examined(folder, ask_judge=False)
    assert found["schedule"].status == "fail"
    assert "ZeroDivisionError: division by zero" in found["schedule"].found
    assert states(found, "privacy", "alerts") == ["ok", "ok"]
