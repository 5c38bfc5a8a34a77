"""``judgewatch dashboard``: starts the page and stays with it until it ends."""

from __future__ import annotations

import ipaddress
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from click.core import ParameterSource

from evaluator.cli.output import one_line, say
from evaluator.cli.target import Target, target_options
from evaluator.errors import JudgewatchError

_DEFAULT_PORT = 8501
_FORWARDED = (signal.SIGTERM, signal.SIGINT)
_ENDED_BY_SIGNAL = frozenset({-signal.SIGTERM, -signal.SIGINT})


@click.command("dashboard")
@click.option("--port", type=click.IntRange(1, 65535), default=_DEFAULT_PORT, show_default=True)
@click.option("--address", default="127.0.0.1", show_default=True, help="The default is seen on this machine only.")
@click.option("--no-browser", is_flag=True, help="Open no browser.")
@target_options
@click.pass_context
def command(ctx: click.Context, *, target: Target, port: int, address: str, no_browser: bool) -> None:
    """Open the page that shows the database."""
    from dashboard import launch

    db = target.use_db()
    _say_if_unusable(db)
    if not _is_loopback(address):
        say(f"warning: the page has no password; whoever reaches {address} from another machine can read all answers")
    named = ctx.get_parameter_source("port") is ParameterSource.COMMANDLINE
    port = choose_port(port, address, named=named)
    say(f"the page is at http://{_shown(address)}:{port} (Ctrl-C ends it)")
    arguments = launch.command(db, port=port, address=address, headless=no_browser)
    with _running(arguments, launch.environment(db)) as process:
        code = process.wait()
    if code and code not in _ENDED_BY_SIGNAL:
        raise JudgewatchError(f"the page ended with code {code}; its own messages stand above")


def _say_if_unusable(db: Path) -> None:
    """Tell at once what the page would show: that there is no database, or that it cannot be read."""
    from evaluator.store.db import open_reader

    if not db.exists():
        say(f"note: there is no database at {db} yet; the page says how to make one")
        return
    try:
        with open_reader(db):
            return
    except JudgewatchError as error:
        say(f"note: the page cannot show this database: {one_line(error)}")


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:  # a name
        return address == "localhost"


def choose_port(port: int, address: str, *, named: bool) -> int:
    """Return the port, or a free one when it is taken and was not asked for by name.

    Raises:
        JudgewatchError: the port that was asked for is taken, or this machine does not have the address.
    """
    try:
        return _try_port(port, address)
    except OSError as error:
        if named:
            raise JudgewatchError(
                f"port {port} of {address} cannot be used ({error.strerror}); name another --port"
            ) from error
    try:
        free = _try_port(0, address)
    except OSError as error:
        raise JudgewatchError(f"--address {address!r} cannot be used: {error.strerror}") from error
    say(f"note: port {port} is taken, so the page takes {free}")
    return free


def _try_port(port: int, address: str) -> int:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        # as servers do it: a port that was in use a moment ago is free
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((address, port))
        return int(probe.getsockname()[1])


def _shown(address: str) -> str:
    if address in ("0.0.0.0", "::"):  # noqa: S104 - only shown
        return "localhost"
    return f"[{address}]" if ":" in address else address


@contextmanager
def _running(arguments: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Start the page and hand signals on to it; it then ends, and with it this command.

    The handlers stand before the page does: a signal in between would end this command and leave the page behind.
    """
    started: list[subprocess.Popen[bytes]] = []
    early: list[int] = []

    def hand_on(number: int, _frame: object) -> None:
        if started:
            started[0].send_signal(number)
        else:
            early.append(number)

    before = {number: signal.signal(number, hand_on) for number in _FORWARDED}
    try:
        process = subprocess.Popen(arguments, env=environment)  # noqa: S603 - our own command line
        started.append(process)
        for number in early:
            process.send_signal(number)
        yield process
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if started and started[0].poll() is None:
            started[0].terminate()
            started[0].wait()
