"""The command line that starts the page, and the environment it needs. Starts nothing itself."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

DB_VARIABLE = "JUDGEWATCH_DB"
_HERE = Path(__file__).parent
_WILDCARDS = ("0.0.0.0", "::")  # noqa: S104 - only compared with


def command(db_path: Path | str, *, port: int = 8501, address: str = "127.0.0.1", headless: bool = False) -> list[str]:
    """Return the command line that serves the page of a database: ``streamlit run`` by way of ``serve.py``.

    Args:
        db_path: The database to show; also set ``environment(db_path)`` for the process.
        port: Port to listen on.
        address: Address to listen on; the default is reachable from this machine only.
        headless: True opens no browser.
    """
    options = {
        "server.port": port,
        "server.address": address,
        "server.headless": headless,
        # on a machine that never ran it, Streamlit would ask for an e-mail address, and end where nobody answers
        "server.showEmailPrompt": False,
        # unless told, Streamlit asks a server on the internet under which address this machine is known
        "browser.serverAddress": _named(address),
        **_configured(),
    }
    flags = [part for name, value in options.items() for part in (f"--{name}", _flag(value))]
    return [
        sys.executable,
        str(_HERE / "serve.py"),
        "run",
        str(_HERE / "app.py"),
        *flags,
        "--",
        str(Path(db_path).absolute()),
    ]


def environment(db_path: Path | str) -> dict[str, str]:
    """Return this process's environment with the database of the page set in it."""
    return {**os.environ, DB_VARIABLE: str(Path(db_path).absolute())}


def _named(address: str) -> str:
    """The address as a browser on this machine names it."""
    if address in _WILDCARDS:
        return "localhost"
    return f"[{address}]" if ":" in address else address


def _configured() -> dict[str, Any]:
    """Options of config.toml by their dotted names."""
    return dict(_flat(tomllib.loads((_HERE / ".streamlit" / "config.toml").read_text("utf-8"))))


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _flag(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(f'"{part}"' for part in value) + "]"
    return str(value)
