"""``judgewatch dashboard``: which port, which database, and how it ends. The page itself is tested elsewhere."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard import launch
from evaluator.cli.dashboard import choose_port
from evaluator.errors import JudgewatchError
from tests.cli.conftest import invoke, refused

ROOT = Path(__file__).parents[2]
# stands in for the page: says what it was started with, and waits to be ended;
# takes a signal only where it waits for one: a handler that prints may interrupt the other print
PAGE = """
import os, signal, sys
awaited = {signal.SIGTERM, signal.SIGINT, signal.SIGALRM}
signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
signal.alarm(60)
print("page of", os.environ["JUDGEWATCH_DB"], *sys.argv[1:], flush=True)
print("page got", signal.sigwait(awaited).name, flush=True)
"""


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


def test_free_port_is_taken_as_it_is(free_port: int) -> None:
    """The usual case."""
    assert choose_port(free_port, "127.0.0.1", named=True) == free_port


def test_default_port_that_is_taken_is_replaced_and_told(taken: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Two pages on one machine just work."""
    port = choose_port(taken, "127.0.0.1", named=False)
    assert port != taken
    assert f"port {taken} is taken, so the page takes {port}" in capsys.readouterr().err


def test_port_that_was_asked_for_is_not_replaced(taken: int) -> None:
    """Whoever names a port has a reason, like a tunnel."""
    with pytest.raises(JudgewatchError, match=f"port {taken} of 127.0.0.1 cannot be used"):
        choose_port(taken, "127.0.0.1", named=True)


def test_address_of_another_machine_is_refused() -> None:
    """Named, instead of a page that nobody reaches."""
    with pytest.raises(JudgewatchError, match=r"--address '192\.0\.2\.1' cannot be used"):
        choose_port(8501, "192.0.2.1", named=False)


@pytest.mark.parametrize("port", ["0", "70000", "http"])
def test_port_that_is_none_is_wrong_usage(port: str) -> None:
    """64, with the range."""
    assert "Invalid value for '--port'" in refused("dashboard", "--port", port, code=64)


def test_missing_database_is_said_and_the_page_starts_all_the_same(
    monkeypatch: pytest.MonkeyPatch, free_port: int
) -> None:
    """The page shows what to do first."""
    monkeypatch.setattr(launch, "command", lambda *_, **__: [sys.executable, "-c", "pass"])
    result = invoke("dashboard", "--db", "none.db", "--port", str(free_port), "--no-browser")
    assert result.exit_code == 0
    assert "there is no database at none.db yet" in result.stderr
    assert f"the page is at http://127.0.0.1:{free_port}" in result.stderr
    assert not Path("none.db").exists()


def test_page_that_breaks_fails_the_command(monkeypatch: pytest.MonkeyPatch, free_port: int) -> None:
    """Its code is told, exit 1."""
    monkeypatch.setattr(launch, "command", lambda *_, **__: [sys.executable, "-c", "raise SystemExit(3)"])
    assert "ended with code 3" in refused("dashboard", "--port", str(free_port), code=1)


def test_options_reach_the_page(monkeypatch: pytest.MonkeyPatch, free_port: int) -> None:
    """Port, address, browser."""
    seen: dict[str, object] = {}

    def command(db: Path, **options: object) -> list[str]:
        seen.update(options, db=db)
        return [sys.executable, "-c", "pass"]

    monkeypatch.setattr(launch, "command", command)
    invoke("dashboard", "--db", "x.db", "--port", str(free_port), "--address", "0.0.0.0", "--no-browser")
    assert seen == {"db": Path("x.db"), "port": free_port, "address": "0.0.0.0", "headless": True}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_ends_the_page_and_the_command(number: signal.Signals, free_port: int) -> None:
    """No server is left behind."""
    Path("page.py").write_text(PAGE, encoding="utf-8")
    code = (
        "import sys; from dashboard import launch; from evaluator.cli import cli;"
        "launch.command = lambda *_, **o: [sys.executable, 'page.py', str(o['port'])];"
        f"cli.main(['dashboard', '--db', 'x.db', '--port', '{free_port}'])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert process.stdout is not None
    assert process.stdout.readline() == f"page of {Path('x.db').absolute()} {free_port}\n"
    process.send_signal(number)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert f"page got {number.name}" in out


def test_file_that_is_no_database_is_said_and_the_page_starts(monkeypatch: pytest.MonkeyPatch, free_port: int) -> None:
    """Not only in the browser."""
    Path("x.db").write_text("no database at all, but long enough to be read as one" * 20, encoding="utf-8")
    monkeypatch.setattr(launch, "command", lambda *_, **__: [sys.executable, "-c", "pass"])
    result = invoke("dashboard", "--db", "x.db", "--port", str(free_port), "--no-browser")
    assert result.exit_code == 0
    assert "note: the page cannot show this database: x.db" in result.stderr


@pytest.mark.parametrize(
    ("address", "warned"), [("0.0.0.0", True), ("127.0.0.1", False), ("127.0.0.2", False), ("localhost", False)]
)
def test_page_that_others_can_reach_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, free_port: int, address: str, warned: bool
) -> None:
    """There is no password."""
    monkeypatch.setattr(launch, "command", lambda *_, **__: [sys.executable, "-c", "pass"])
    result = invoke("dashboard", "--port", str(free_port), "--address", address, "--no-browser")
    assert ("warning: the page has no password" in result.stderr) is warned
