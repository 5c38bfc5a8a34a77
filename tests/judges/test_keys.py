"""A key that a command prints: kept, renewed in time and when it is refused, never shown."""

from __future__ import annotations

import asyncio
import json
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from evaluator.judges.hiding import hide_secrets, hide_tokens
from evaluator.judges.keys import CommandKey, KeyCommandError, read_key
from evaluator.records import Item, StopReason
from tests.judges.conftest import MakeJudge, Serve
from tests.judges.fakes import FakeGate
from tests.judges.server import Answer, FakeServer, Request, Script, completion, failure

NOW_S = 1_800_000_000.0
# prints token-1, token-2, ...; the file beside it says how often it ran
COUNTING = """
import pathlib, sys, time
path = pathlib.Path("runs.txt")
n = len(path.read_text()) + 1 if path.exists() else 1
path.write_text("x" * n)
time.sleep(float(sys.argv[1]) if len(sys.argv) > 1 else 0)
print(f"token-{n}")
"""


class Ticks:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Ticks:
    """A clock for the lifetime of keys."""
    return Ticks()


def key_of(folder: Path, script: str, *args: str, clock: Ticks | None = None, **options: Any) -> CommandKey:
    """A key printed by a Python script."""
    (folder / "key.py").write_text(textwrap.dedent(script))
    command = [sys.executable, "-I", "key.py", *args]
    return CommandKey(command, ttl_s=options.pop("ttl_s", 600.0), folder=folder, monotonic=clock or Ticks(), **options)


def runs(folder: Path) -> int:
    """How often the counting script ran."""
    return len((folder / "runs.txt").read_text())


# ---------------------------------------------------------------- what a command prints


@pytest.mark.parametrize(
    ("printed", "key", "seconds"),
    [
        ("abc\n", "abc", None),
        ("  abc  \nsecond line\n", "abc", None),
        ('"abc"\n', "abc", None),
        ('{"accessToken": "abc", "expiresOn": "2026-01-01 10:00:00.0"}', "abc", None),
        ('{\n  "access_token": "abc",\n  "expires_in": 3599\n}\n', "abc", 3599.0),
        ('{"token": "abc", "expires_on": "1800000900"}', "abc", 900.0),
        ('{"token": "abc", "expires_on": 1800000900}', "abc", 900.0),
        ('{"accessToken": "abc", "expires_in": null}', "abc", None),
    ],
)
def test_key_is_the_first_line_or_stands_in_json(printed: str, key: str, seconds: float | None) -> None:
    """As the tools of clouds print it."""
    assert read_key(printed, now_s=NOW_S) == (key, seconds)


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("", "printed no key"),
        (" \n\n", "printed no key"),
        ("Please log in first", "holds blanks"),
        ("schlüssel", "holds blanks or characters"),
        ("{", "JSON that cannot be read"),
        ('{"secret": "abc-hidden"}', "without a key under accessToken or access_token or token"),
        ('{"token": 5}', "without a key under"),
        ('""', "printed no key"),
    ],
)
def test_what_is_no_key_is_said_without_showing_it(printed: str, said: str) -> None:
    """It may be a key in another form."""
    with pytest.raises(KeyCommandError, match=said) as caught:
        read_key(printed, now_s=NOW_S)
    assert "abc-hidden" not in str(caught.value)
    assert "schlüssel" not in str(caught.value)


# ---------------------------------------------------------------- keeping and renewing


async def test_key_is_kept_and_renewed_when_its_time_is_up(tmp_path: Path, clock: Ticks) -> None:
    """One call of the command for as long as the key is good."""
    key = key_of(tmp_path, COUNTING, ttl_s=100.0, clock=clock)
    assert [await key(), await key()] == ["token-1", "token-1"]
    clock.seconds = 99.9
    assert await key() == "token-1"
    clock.seconds = 100.0
    assert [await key(), await key()] == ["token-2", "token-2"]
    assert runs(tmp_path) == 2


async def test_end_that_the_issuer_names_counts_if_it_is_earlier(tmp_path: Path, clock: Ticks) -> None:
    """A minute before it, so that no call is made with a key that ends on the way."""
    script = COUNTING.replace('print(f"token-{n}")', 'print(\'{"token": "t-%d", "expires_in": 300}\' % n)')
    key = key_of(tmp_path, script, ttl_s=600.0, clock=clock)
    assert await key() == "t-1"
    clock.seconds = 239.0
    assert await key() == "t-1"
    clock.seconds = 240.0
    assert await key() == "t-2"


async def test_one_renewal_serves_all_who_wait(tmp_path: Path, clock: Ticks) -> None:
    """Fifty calls at once run the command once; so do fifty refusals of the same key."""
    key = key_of(tmp_path, COUNTING, "0.05", clock=clock)
    assert set(await asyncio.gather(*(key() for _ in range(50)))) == {"token-1"}
    assert set(await asyncio.gather(*(key.renew("token-1") for _ in range(50)))) == {"token-2"}
    assert await key.renew("token-1") == "token-2"  # refused before the others had renewed it
    assert runs(tmp_path) == 2


def test_key_outlives_the_event_loop(tmp_path: Path, clock: Ticks) -> None:
    """A scorer that watches has one loop a run."""
    key = key_of(tmp_path, COUNTING, "0.02", ttl_s=10.0, clock=clock)

    async def twice() -> set[str]:
        return set(await asyncio.gather(key(), key()))

    assert asyncio.run(twice()) == {"token-1"}
    key.close()
    assert asyncio.run(twice()) == {"token-1"}
    clock.seconds = 11.0
    assert asyncio.run(twice()) == {"token-2"}


# ---------------------------------------------------------------- commands that fail


async def test_failure_names_exit_code_and_last_words(tmp_path: Path) -> None:
    """Without what may be a token in them."""
    script = """
    import sys
    print("sk-printed-by-mistake")
    print("first line", file=sys.stderr)
    print("login expired for eyJhbGciOiJIUzI1NiJ9.payload and Qm9yaW5nTG9uZ1Rva2VuVmFsdWU0Mg", file=sys.stderr)
    sys.exit(3)
    """
    with pytest.raises(KeyCommandError) as caught:
        await key_of(tmp_path, script)()
    message = str(caught.value)
    assert "ended with exit code 3 (login expired for *** and ***)" in message
    assert "printed-by-mistake" not in message
    assert "first line" not in message


async def test_failure_without_words_is_still_told(tmp_path: Path) -> None:
    """The exit code is all there is."""
    with pytest.raises(KeyCommandError, match=r"judge\.api_key_command \(.*\) ended with exit code 1$"):
        await key_of(tmp_path, "import sys; sys.exit(1)")()


async def test_command_that_is_not_there_is_said(tmp_path: Path) -> None:
    """With its name."""
    with pytest.raises(KeyCommandError, match=r"\(no-such-command\) cannot be started: No such file"):
        await CommandKey(["no-such-command", "-v"], ttl_s=5.0, folder=tmp_path)()


async def test_command_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    """Also where a child of it holds the pipe open."""
    script = """
    import subprocess, sys, time
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    time.sleep(60)
    """
    started = time.perf_counter()
    with pytest.raises(KeyCommandError, match=r"gave no key in 0\.3 s"):
        await key_of(tmp_path, script, time_limit_s=0.3)()
    assert time.perf_counter() - started < 10


# ---------------------------------------------------------------- through a server


def accepts(good: set[str]) -> Script:
    """A server that takes some keys and refuses all others."""

    def script(request: Request) -> Answer:
        if request.headers["authorization"].removeprefix("Bearer ") in good:
            return completion()
        return failure(401, message="token expired")

    return script


async def test_refused_key_is_renewed_once(serve: Serve, make_judge: MakeJudge, item: Item, tmp_path: Path) -> None:
    """The refusal stands on record; the item is graded with the next key."""
    server: FakeServer = await serve(script=accepts({"token-2"}))
    judge = make_judge(server, api_key=key_of(tmp_path, COUNTING))
    outcome = await judge.grade(item, item_id="i", gate=FakeGate())
    assert outcome.verdict is not None
    assert outcome.verdict.score == 4
    assert [attempt.http_status for attempt in outcome.attempts] == [401, 200]
    assert [r.headers["authorization"] for r in server.requests] == ["Bearer token-1", "Bearer token-2"]


async def test_key_that_is_refused_again_stops_the_run(
    serve: Serve, make_judge: MakeJudge, item: Item, tmp_path: Path
) -> None:
    """Two calls for twenty items, and no third try."""
    server = await serve(script=accepts(set()))
    judge = make_judge(server, api_key=key_of(tmp_path, COUNTING))
    outcomes = await asyncio.gather(*(judge.grade(item, item_id=f"i{n}", gate=FakeGate()) for n in range(20)))
    assert {outcome.stop for outcome in outcomes} == {StopReason.AUTH}
    assert {outcome.verdict for outcome in outcomes} == {None}
    assert len(server.requests) == 2


async def test_many_items_share_one_renewal(serve: Serve, make_judge: MakeJudge, item: Item, tmp_path: Path) -> None:
    """When the key ends in the middle of a run."""
    good = {"token-1"}
    server = await serve(script=accepts(good))
    judge = make_judge(server, api_key=key_of(tmp_path, COUNTING))
    await judge.grade(item, item_id="i", gate=FakeGate())
    good.remove("token-1")
    good.add("token-2")
    outcomes = await asyncio.gather(*(judge.grade(item, item_id=f"i{n}", gate=FakeGate()) for n in range(20)))
    assert all(outcome.verdict is not None and outcome.verdict.score == 4 for outcome in outcomes)
    assert runs(tmp_path) == 2


async def test_command_that_fails_stops_the_run_before_a_call(
    serve: Serve, make_judge: MakeJudge, item: Item, tmp_path: Path
) -> None:
    """Nothing is sent, nothing is set aside, and those who wait hear the same."""
    server = await serve(completion())
    gate = FakeGate()
    judge = make_judge(server, api_key=key_of(tmp_path, "import sys; sys.exit('not logged in')"))
    outcomes = await asyncio.gather(*(judge.grade(item, item_id=f"i{n}", gate=gate) for n in range(5)))
    assert {outcome.stop for outcome in outcomes} == {StopReason.AUTH}
    assert {"ended with exit code 1 (not logged in)" in outcome.stop_message for outcome in outcomes} == {True}
    assert (server.requests, gate.reserved) == ([], [])


async def test_no_record_holds_the_key(serve: Serve, make_judge: MakeJudge, item: Item, tmp_path: Path) -> None:
    """Neither the attempts nor the settings, whatever the server repeats."""
    secret = "eyJhbGciOiJIUzI1NiJ9.c2VjcmV0.c2ln"
    server = await serve(failure(401, message=f"bad token {secret}"))
    judge = make_judge(server, api_key=key_of(tmp_path, f"print({json.dumps(secret)})"))
    outcome = await judge.grade(item, item_id="i", gate=FakeGate())
    assert server.requests[0].headers["authorization"] == f"Bearer {secret}"
    assert secret not in repr((outcome, judge.settings, judge.ruler))


# ---------------------------------------------------------------- hiding


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("key sk-abcd1234 refused", "key *** refused"),
        ("Authorization: Bearer abc.def", "Authorization: ***"),
        ("via http://me:secret@proxy:1/x", "via http://***@proxy:1/x"),
        ("my-own-secret-word is wrong", "*** is wrong"),
        ("nothing to hide here", "nothing to hide here"),
    ],
)
def test_secrets_are_hidden_and_words_are_not(text: str, hidden: str) -> None:
    """The known one, and what looks like one."""
    assert hide_secrets(text, "my-own-secret-word", "none") == hidden
    assert hide_tokens("ERROR: tenant 72f988bf-86f1-41af-91ab-2d7cd011db47 gone") == "ERROR: tenant *** gone"
