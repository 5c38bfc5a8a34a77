"""Nothing leaves the machine: a page on all addresses, and a stranger who knocks, make no connection to anyone."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard.launch import command, environment
from tests.conftest import find_free_port
from tests.dashboard.conftest import Database

# stands in for the network beyond this machine: writes down who was asked for, and refuses
WATCH = """
import os, socket

def _outside(address):
    host = str(address[0]) if isinstance(address, tuple) else ""
    return not (host == "" or host == "localhost" or host == "::1" or host.startswith("127."))

def _watched(real):
    def call(self, address):
        if _outside(address):
            _note(address)
        return real(self, address)
    return call

def _note(address):
    with open(os.environ["ASKED_FOR"], "a") as file:
        print(address, file=file)
    raise OSError("refused by the test")

def _resolve(host, *rest, **more):
    if host is not None and host != "0.0.0.0" and _outside((host,)):
        _note((host,))
    return _real_resolve(host, *rest, **more)

_real_resolve = socket.getaddrinfo
socket.getaddrinfo = _resolve
socket.socket.connect = _watched(socket.socket.connect)
socket.socket.connect_ex = _watched(socket.socket.connect_ex)
"""
STARTS_WITHIN_S = 60.0


@pytest.fixture
def asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file into which Python processes started from here write whom outside they ask for."""
    folder = tmp_path / "watch"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(WATCH, "utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]))
    monkeypatch.setenv("ASKED_FOR", str(tmp_path / "asked_for"))
    (tmp_path / "asked_for").touch()
    return tmp_path / "asked_for"


@pytest.fixture
def port(asked_for: Path, tmp_path: Path, database: Database) -> Iterator[int]:
    """The port of a page that listens on all addresses; ended by its pid. Its output is in ``tmp_path / "log"``."""
    found, path = find_free_port(), database("one_day")
    line = command(path, port=found, address="0.0.0.0", headless=True)
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(line, env=environment(path), stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait_until_up(server, found)
            yield found
        finally:
            server.terminate()
            server.wait(timeout=30)


def _wait_until_up(server: subprocess.Popen[bytes], port: int) -> None:
    give_up = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < give_up and server.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5) as reply:
                if reply.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"the page did not come up (exit code {server.poll()})")


def knock(port: int, origin: str) -> str:
    """Ask for the page's stream as a browser that shows a page of ``origin`` would; the first line of the reply."""
    request = (
        f"GET /_stcore/stream HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: {origin}\r\nConnection: Upgrade\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(request.encode())
        return connection.recv(200).decode("latin-1").partition("\r\n")[0]


def test_page_on_all_addresses_asks_nobody_outside(port: int, asked_for: Path, tmp_path: Path) -> None:
    """Not at its start, not for a visitor, not for a stranger's page, which stays outside; and no greeting."""
    assert " 101 " in knock(port, f"http://127.0.0.1:{port}")
    assert " 403 " in knock(port, "http://elsewhere.example")
    assert asked_for.read_text("utf-8") == ""
    assert "You can now view" not in (tmp_path / "log").read_text("utf-8")


@pytest.mark.parametrize(
    "code",
    [
        "import socket; socket.create_connection(('192.0.2.1', 80), timeout=1)",
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('192.0.2.1', 1))",
        "import urllib.request; urllib.request.urlopen('http://elsewhere.example', timeout=1)",
    ],
)
def test_watch_sees_who_asks_outside(code: str, asked_for: Path) -> None:
    """Else the test above would look at nothing."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=30, check=False)
    assert done.returncode != 0
    assert asked_for.read_text("utf-8") != ""
