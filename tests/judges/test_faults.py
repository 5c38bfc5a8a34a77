"""What statuses, error bodies and waits mean. No server needed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.judges.costs import max_prompt_tokens
from evaluator.judges.faults import ErrorBody, Fault, fault_of_status, read_error, server_wait
from evaluator.judges.replies import read_reply
from evaluator.records import StopReason, UnscoredReason

NOW = datetime(2026, 1, 2, 10, 0, 0, tzinfo=UTC)


def fault(status: int, body: Any = None) -> Fault:
    text = body if isinstance(body, str) else json.dumps(body) if body is not None else ""
    return fault_of_status(status, read_error(text), model="judge-x", base_url="http://judge/v1")


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (400, {"error": {"message": "no", "code": "invalid_prompt"}}, UnscoredReason.INVALID_REQUEST),
        (400, {"error": {"message": "x", "code": "context_length_exceeded"}}, UnscoredReason.TOO_LONG),
        (400, {"error": {"message": "the request exceeds the available context size"}}, UnscoredReason.TOO_LONG),
        (413, "", UnscoredReason.TOO_LONG),
        (400, {"error": {"message": "x", "code": "content_filter"}}, UnscoredReason.CONTENT_FILTER),
        (403, {"error": {"message": "Your input was flagged", "code": 403}}, UnscoredReason.CONTENT_FILTER),
        (422, {"detail": [{"loc": ["body", "messages"]}]}, UnscoredReason.INVALID_REQUEST),
    ],
)
def test_faults_of_one_item_are_final(status: int, body: Any, expected: UnscoredReason) -> None:
    """The item is left, the run goes on, nothing is tried again."""
    found = fault(status, body)
    assert (found.unscored, found.can_retry, found.stop) == (expected, False, None)


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (429, "", UnscoredReason.RATE_LIMITED),
        (408, "", UnscoredReason.TIMEOUT),
        (409, "", UnscoredReason.SERVER_ERROR),
        (500, "<h1>Oops</h1>", UnscoredReason.SERVER_ERROR),
        (529, {"type": "error", "error": {"type": "overloaded_error"}}, UnscoredReason.SERVER_ERROR),
        (0, {"error": "upstream broke"}, UnscoredReason.PROVIDER_ERROR),
        (0, {"error": {"type": "rate_limit_error"}}, UnscoredReason.RATE_LIMITED),
    ],
)
def test_faults_that_waiting_heals_are_retried(status: int, body: Any, expected: UnscoredReason) -> None:
    """Time-outs, limits and server errors."""
    found = fault(status, body)
    assert (found.unscored, found.can_retry, found.stop) == (expected, True, None)


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (401, {"error": {"message": "wrong key"}}, StopReason.AUTH),
        (403, "", StopReason.AUTH),
        (402, {"error": {"message": "Insufficient Balance"}}, StopReason.QUOTA),
        (429, {"error": {"code": "insufficient_quota"}}, StopReason.QUOTA),
        (429, {"error": {"type": "insufficient_quota", "code": None}}, StopReason.QUOTA),
        (404, {"error": {"code": "model_not_found"}}, StopReason.MODEL_NOT_FOUND),
        (400, {"error": {"code": "model_decommissioned"}}, StopReason.MODEL_NOT_FOUND),
        (
            404,
            {"object": "error", "message": "The model `judge-x` does not exist.", "code": 404},
            StopReason.MODEL_NOT_FOUND,
        ),
        (404, "", StopReason.MODEL_NOT_FOUND),
        (404, {"detail": "Not Found"}, StopReason.NOT_AN_API),
        (404, "<html><title>Not here</title></html>", StopReason.NOT_AN_API),
        (405, "", StopReason.NOT_AN_API),
        (302, "", StopReason.NOT_AN_API),
    ],
)
def test_faults_of_the_judge_stop_the_run(status: int, body: Any, expected: StopReason) -> None:
    """Nothing that could heal by waiting; the item stays pending and the message names what to set."""
    found = fault(status, body)
    assert (found.stop, found.unscored, found.can_retry) == (expected, None, False)
    assert "http://judge/v1" in found.message or expected is StopReason.QUOTA


def test_messages_name_the_fix() -> None:
    """The model asked for; the version path that an address lacks."""
    assert "'judge-x'" in fault(404, {"error": {"code": "model_not_found"}}).message
    assert "/v1" in fault(404, "<html>").message


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "Fri, 02 Jan 2026 10:00:30 GMT"}, 30.0),
        ({"retry-after": "Fri, 02 Jan 2026 10:00:30"}, 30.0),
        ({"retry-after": "Fri, 02 Jan 2026 09:00:00 GMT"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_waits_a_server_asks_for(headers: dict[str, str], expected: float | None) -> None:
    """Seconds, milliseconds or a date; nonsense is no wait."""
    assert server_wait(headers, now=NOW) == expected


@given(st.text(max_size=60) | st.sampled_from(['{"error": ', "[" * 5000, '{"error": {"code": {}}}', '{"message": 5}']))
def test_any_error_body_can_be_read(text: str) -> None:
    """Never an exception, and a message of one bounded line."""
    found = read_error(text)
    assert isinstance(found, ErrorBody)
    assert len(found.message) <= 300
    assert "\n" not in found.message


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.integers(-9, 999),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "content", "error", "code", "text", "usage", "prompt_tokens", "id", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(_JSON)
def test_any_body_under_200_can_be_read(body: Any) -> None:
    """Never an exception, whatever a server sends as a success."""
    reply = read_reply(json.dumps(body), content_type="application/json", model="m", base_url="http://judge/v1")
    assert reply.fault is not None or reply.content is None or isinstance(reply.content, str)


def test_token_bound() -> None:
    """English stays below four times its usual count; digits and punctuation count whole."""
    words = max_prompt_tokens([{"content": "word " * 1000}]) - max_prompt_tokens([{"content": ""}])
    assert words == 2500
    digits = max_prompt_tokens([{"content": "0123456789" * 100}]) - max_prompt_tokens([{"content": ""}])
    assert digits == 1000
    chinese = max_prompt_tokens([{"content": "\u4f60" * 1000}]) - max_prompt_tokens([{"content": ""}])
    assert chinese == 1500
