"""The same request sent twice: what proves a cache, what only looks like one, and what is no sign of one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evaluator.doctor.gateway import Reply, cache_header, check_cache, ids_carry_information
from evaluator.scoring.cached import Call

NOW = 1_767_225_600


def reply(number: int = 0, *, headers: dict[str, str] | None = None, body: str | None = None, **call: Any) -> Reply:
    """A reply to the number-th request; calls are three seconds apart and take 900 ms."""
    values: dict[str, Any] = {
        "item_id": f"a{number}",
        "started_s": NOW + 3.0 * number,
        "duration_ms": 900.0,
        "completion_id": f"chatcmpl-{chr(97 + number) * 24}",
        "created": NOW + 3 * number,
        "reply": f"score {number}",
        "n_tokens": 300,
    }
    made = Call(**(values | call))
    return Reply(call=made, headers=headers or {}, body=f"{made}" if body is None else body)


OTHERS = [reply(number) for number in range(1, 5)]


def again(**changes: Any) -> Reply:
    """The second reply to the first request, made anew."""
    return reply(6, **{"item_id": "a0", "reply": "score 0"} | changes)


def test_reply_made_anew_in_the_same_words_is_well() -> None:
    """At temperature 0 that is what it should be; other words are well too."""
    found = check_cache(reply(), again(), OTHERS)
    assert (found.status, found.found) == ("ok", "the same request was answered anew, in the same words")
    assert check_cache(reply(), again(reply="other"), OTHERS).status == "ok"


def test_same_id_twice_is_a_cache_and_says_how_to_switch_it_off() -> None:
    """The line names the id, what follows from it, and the setting of each common gateway."""
    found = check_cache(reply(), again(completion_id=reply().call.completion_id, created=NOW), OTHERS)
    assert found.status == "fail"
    assert "the same completion id, chatcmpl-aaaaaaaaaaaaaaaaaaaaaaaa, twice" in found.found
    assert "drift could never be seen" in found.found
    for name in ("no-cache", "cf-aig-skip-cache", "x-portkey-cache-force-refresh", "Helicone-Cache-Enabled"):
        assert name in found.fix


def test_short_id_that_comes_again_needs_a_second_sign() -> None:
    """One of a thousand comes again by chance; with the same second or the same bytes it is a cache."""
    others = [reply(number, completion_id=f"chatcmpl-{number}") for number in range(1, 5)]
    first = reply(completion_id="chatcmpl-7")
    assert check_cache(first, again(completion_id="chatcmpl-7"), others).status == "ok"
    assert check_cache(first, again(completion_id="chatcmpl-7", created=NOW), others).status == "fail"
    assert check_cache(first, again(completion_id="chatcmpl-7", created=None, body=first.body), others).status == "fail"


@pytest.mark.parametrize("constant", ["chatcmpl-0", None])
def test_one_id_for_all_requests_is_no_sign(constant: str | None) -> None:
    """Nor is having none."""
    others = [reply(number, completion_id=constant) for number in range(1, 5)]
    assert check_cache(reply(completion_id=constant), again(completion_id=constant), others).status == "ok"


def test_second_reply_of_the_same_second_is_suspicious_without_ids() -> None:
    """It was made before it was asked for; a server whose time is always the same tells nothing."""
    others = [reply(number, completion_id=None) for number in range(1, 5)]
    found = check_cache(reply(completion_id=None), again(completion_id=None, created=NOW), others)
    assert (found.status, "18 s before it was asked for" in found.found) == ("warn", True)
    for constant in (0, 1_600_000_000):
        first = reply(completion_id=None, created=constant)
        assert check_cache(first, again(completion_id=None, created=constant), others).status == "ok"


def test_next_to_no_time_is_suspicious_only_against_what_calls_take() -> None:
    """The first call may be slow because it opens the connection."""
    fast = again(duration_ms=4.0)
    found = check_cache(reply(), fast, OTHERS)
    assert (found.status, "in 4 ms, where calls take 900 ms" in found.found) == ("warn", True)
    assert check_cache(reply(), again(duration_ms=4.0, reply="other"), OTHERS).status == "ok"
    all_fast = [reply(number, duration_ms=5.0) for number in range(1, 5)]
    assert check_cache(reply(), fast, all_fast).status == "ok"


def test_same_words_for_no_tokens_are_a_cache() -> None:
    """A gateway that gives a cached reply a new id does not charge for it."""
    assert check_cache(reply(), again(n_tokens=0), OTHERS).status == "fail"
    assert check_cache(reply(n_tokens=0), again(n_tokens=0), OTHERS).status == "ok"


def test_different_answers_with_one_reply_are_suspicious() -> None:
    """A gateway that looks for similar requests, or a server that does not read them."""
    one = [reply(number, body="{}") for number in range(5)]
    found = check_cache(one[0], again(), one[1:])
    assert (found.status, "5 different answers got one and the same reply" in found.found) == ("warn", True)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"cf-aig-cache-status": "HIT"}, "cf-aig-cache-status: HIT"),
        ({"x-portkey-cache-status": "SEMANTIC HIT"}, "x-portkey-cache-status: SEMANTIC HIT"),
        ({"x-cache": "Hit from cloudfront"}, "x-cache: Hit from cloudfront"),
        ({"cf-aig-cache-status": "MISS"}, None),
        ({"x-portkey-cache-status": "DISABLED"}, None),
        ({"cf-cache-status": "DYNAMIC"}, None),
        ({}, None),
    ],
)
def test_gateways_that_say_so_are_believed(headers: dict[str, str], expected: str | None) -> None:
    """Whatever the ids are; a miss is no hit."""
    assert cache_header(headers) == expected
    assert (check_cache(reply(), again(headers=headers), OTHERS).status == "fail") is (expected is not None)


def test_ids_carry_information_when_all_differ() -> None:
    """A single one shows nothing."""
    assert ids_carry_information(OTHERS)
    assert not ids_carry_information(OTHERS[:1])
    assert not ids_carry_information([OTHERS[0], replace(OTHERS[0])])
