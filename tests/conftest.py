"""What every test shares: a clean environment, time in UTC, no network beyond this machine, repeatable hypothesis."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.demo_fixture import demo_store

__all__ = ["demo_store"]  # a fixture for every folder of tests

# a test that passed must pass again: examples come from the test itself, and a busy machine is no failure
settings.register_profile("judgewatch", deadline=None, derandomize=True)
settings.load_profile("judgewatch")

# a real model takes a gigabyte and minutes: `make test-local`
collect_ignore = [] if os.environ.get("JUDGEWATCH_TEST_LOCAL") else ["local_model"]

FOREIGN_PREFIXES = ("JUDGEWATCH_", "OPENAI_", "AZURE_OPENAI_", "STREAMLIT_")
# proxies would catch calls to test servers; the others change how tables are printed
FOREIGN_NAMES = frozenset(
    {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "PYTHONPATH"}
)


@pytest.fixture(autouse=True, scope="session")
def clean_environment() -> Iterator[None]:
    """Hide keys and settings of whoever runs the tests, and count days in UTC; child processes inherit it."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(FOREIGN_PREFIXES) or name.upper() in FOREIGN_NAMES:
                patch.delenv(name)
        patch.setenv("STREAMLIT_BROWSER_GATHER_USAGE_STATS", "false")
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture(autouse=True)
def zone_of_this_test_only() -> Iterator[None]:
    """Take back the zone of a test that set TZ; set up first, so that it runs after monkeypatch has undone its work."""
    yield
    time.tzset()


@pytest.fixture(autouse=True, scope="session")
def loopback_only() -> Iterator[None]:
    """Refuse every connection that would leave this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", _guarded(socket.socket.connect))
        patch.setattr(socket.socket, "connect_ex", _guarded(socket.socket.connect_ex))
        yield


def _guarded(connect: Callable[..., Any]) -> Callable[..., Any]:
    def guarded_connect(self: socket.socket, address: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not is_loopback(address[0]):
            raise RuntimeError(f"tests reach this machine only, not {address[0]}")
        return connect(self, address)

    return guarded_connect


def is_loopback(host: str) -> bool:
    """Say whether an address, or the name localhost, is this machine."""
    try:
        return ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host == "localhost"


def can_mount() -> bool:
    """Whether a test may mount a small disk."""
    if os.geteuid() != 0 or not shutil.which("mount"):
        return False
    with tempfile.TemporaryDirectory() as folder:
        command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            return False
        subprocess.run(["umount", folder], check=True)
    return True


def as_another_user(command: list[str]) -> list[str]:
    """Return the command as a user that permissions bind: this one, or for root, whom they do not, nobody."""
    if os.geteuid() != 0:
        return command
    return ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", *command]


def can_be_another_user() -> bool:
    """Whether another user can run this interpreter with the project."""
    try:
        probe = subprocess.run(
            as_another_user([sys.executable, "-c", "import evaluator.cli"]),
            capture_output=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "HOME": "/nonexistent"},
        )
    except OSError:
        return False
    return probe.returncode == 0


def find_free_port() -> int:
    """Return a port of this machine on which nothing listens at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# what some tests need of the machine, and whether it is there; asked only when such a test was collected
NEEDS: dict[str, Callable[[], bool]] = {"small_disk": can_mount, "other_user": can_be_another_user}


def pytest_configure(config: pytest.Config) -> None:
    """Name the marks."""
    for name in NEEDS:
        config.addinivalue_line("markers", f"{name}: left out, and said so, where the machine does not allow it")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what this machine cannot run (a disk needs root), and report how many tests that are."""
    for name, is_there in NEEDS.items():
        wanting = [item for item in items if item.get_closest_marker(name)]
        if wanting and not is_there():
            config.hook.pytest_deselected(items=wanting)
            items[:] = [item for item in items if item not in wanting]


@pytest.fixture
def free_port() -> int:
    """Return a port for a server that the test starts, or for one that is not there."""
    return find_free_port()


@pytest.fixture(scope="session")
def chromium_path() -> str | None:
    """Return the system's Chromium for ``launch(executable_path=...)``; None lets playwright take its own."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    return None
