"""What every test relies on: the environment, the network and the zone are the same wherever the tests run."""

from __future__ import annotations

import os
import socket
import time

import pytest

from tests.conftest import FOREIGN_PREFIXES, find_free_port, is_loopback

LATER_ZONE = "Etc/GMT-14"


def test_no_key_and_no_setting_of_the_user_is_left() -> None:
    """A test must not pass or fail, or spend money, because of a variable of whoever runs it."""
    left = [name for name in os.environ if name.startswith(FOREIGN_PREFIXES)]
    assert left == ["STREAMLIT_BROWSER_GATHER_USAGE_STATS"]
    assert "PYTHONPATH" not in os.environ


def test_zone_of_a_test_holds_within_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test may move to another zone with TZ and tzset."""
    monkeypatch.setenv("TZ", LATER_ZONE)
    time.tzset()
    assert time.localtime(0).tm_hour == 14


def test_zone_is_utc_after_a_test_that_moved() -> None:
    """The test above leaves no trace."""
    assert time.localtime(0).tm_hour == 0
    assert os.environ["TZ"] == "UTC"


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("example.org", 443)])
@pytest.mark.parametrize("method", ["connect", "connect_ex"])
def test_connection_beyond_this_machine_is_refused(method: str, address: tuple[str, int]) -> None:
    """A test that would reach the network fails at once, on a plane as well as in an office."""
    with socket.socket() as client, pytest.raises(RuntimeError, match="this machine only"):
        getattr(client, method)(address)


@pytest.mark.parametrize(
    ("host", "is_ours"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True), ("2001:db8::1", False), ("", False)],
)
def test_addresses_of_this_machine_are_known(host: str, is_ours: bool) -> None:
    """Both versions of the protocol, and the one name that needs no look-up."""
    assert is_loopback(host) is is_ours


def test_server_on_this_machine_is_reached(free_port: int) -> None:
    """Servers of tests work; the port handed out is free."""
    with (
        socket.create_server(("127.0.0.1", free_port)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        assert client.getpeername()[1] == free_port


def test_free_ports_have_no_listener() -> None:
    """A test of an unreachable judge can rely on it."""
    with socket.socket() as client:
        assert client.connect_ex(("127.0.0.1", find_free_port())) != 0
