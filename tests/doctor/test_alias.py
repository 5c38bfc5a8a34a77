"""Is the judge's model pinned? The name asked for against the name that answered."""

from __future__ import annotations

import pytest

from evaluator.doctor.alias import check_alias, is_dated, is_own_server

HOSTED = "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gpt-4o-2024-08-06", True),
        ("claude-sonnet-4-5-20250929", True),
        ("claude-3-5-sonnet@20240620", True),
        ("gpt-4-0613", True),
        ("gpt-4o", False),
        ("gpt-4.1", False),
        ("mixtral-8x22b", False),
        ("qwen2.5-72b-instruct", False),
        ("llama-3.1-405b", False),
        ("model-9999", False),
    ],
)
def test_date_in_a_name_is_found(model: str, expected: bool) -> None:
    """Sizes and versions are no dates."""
    assert is_dated(model) is expected


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        ("local", True),
        ("http://127.0.0.1:8000/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://10.1.2.3/v1", True),
        ("http://vllm:8000/v1", True),
        ("http://judge.internal/v1", True),
        (HOSTED, False),
        ("https://8.8.8.8/v1", False),
    ],
)
def test_own_servers_are_told_by_their_address(base_url: str, expected: bool) -> None:
    """Of this machine, of a private network, of a name without a domain."""
    assert is_own_server(base_url) is expected


@pytest.mark.parametrize("base_url", [HOSTED, "http://localhost:4000/v1"])
def test_alias_names_the_exact_string_to_pin(base_url: str) -> None:
    """Answered by a name with a date, one without will move one day; also behind a gateway of one's own."""
    found = check_alias("gpt-4o", "gpt-4o-2024-08-06", base_url=base_url)
    assert found.status == "warn"
    assert 'judge.model = "gpt-4o-2024-08-06"' in found.fix


@pytest.mark.parametrize(
    ("asked", "returned", "base_url"),
    [
        ("gpt-4o-2024-08-06", "gpt-4o-2024-08-06", HOSTED),
        ("openai/gpt-4o-2024-08-06", "gpt-4o-2024-08-06", HOSTED),
        ("mistral-large", "mistral-large", HOSTED),
        ("judge", "/models/qwen.gguf", "http://127.0.0.1:8080/v1"),
        ("qwen-latest", "qwen-latest", "http://10.0.0.5/v1"),
    ],
)
def test_pinned_names_and_own_servers_are_well(asked: str, returned: str, base_url: str) -> None:
    """One version, or nobody else who could change it."""
    assert check_alias(asked, returned, base_url=base_url).status == "ok"


@pytest.mark.parametrize(
    ("asked", "returned", "says"),
    [
        ("mistral-large-latest", "mistral-large-latest", "floats by its name"),
        ("gpt-4o-2024-08-06", "gpt-4o-2024-11-20", "gpt-4o-2024-11-20 answered, not gpt-4o-2024-08-06"),
        ("judge-of-the-team", "some-model", "stands for some-model today"),
        ("gpt-4o", None, "does not say which model answered"),
    ],
)
def test_what_may_move_is_warned_of(asked: str, returned: str | None, says: str) -> None:
    """Each with something to do."""
    found = check_alias(asked, returned, base_url=HOSTED)
    assert (found.status, says in found.found, bool(found.fix)) == ("warn", True, True)


def test_deployment_is_not_judged_by_its_name() -> None:
    """Its own settings decide what it serves."""
    found = check_alias("my-deployment", "gpt-4o-2024-08-06", base_url=HOSTED, is_deployment=True)
    assert (found.status, "gpt-4o-2024-08-06" in found.found) == ("ok", True)
