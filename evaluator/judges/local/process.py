"""Starts and ends the process that serves a local model."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from evaluator.errors import ConfigError, JudgewatchError
from evaluator.judges.child import end_child

START_TIMEOUT_S = 180.0
_LOOK_AGAIN_S = 0.05
_LINES_SHOWN = 3


class LocalServer:
    """A model behind an OpenAI-compatible address on loopback, for as long as the context lasts.

    Args:
        gguf: The model file.
        name: Name it answers to.
        threads: Threads of the model; one, on a machine that does other work too.
        note: A note that the server adds to every request without saying so: how a provider changes a model's manners.
        port: Where to listen; 0 takes a free port.

    Raises:
        ConfigError: the package that serves models is not installed.
        JudgewatchError: the server does not start.
    """

    def __init__(self, gguf: Path, *, name: str = "local", threads: int = 1, note: str = "", port: int = 0) -> None:
        self._command = [
            *(sys.executable, "-m", "evaluator.judges.local", str(gguf), "--name", name),
            *("--threads", str(threads), "--note", note, "--port", str(port), "--parent-pid", str(os.getpid())),
        ]
        self._process: subprocess.Popen[bytes] | None = None
        self._address = ""

    @property
    def base_url(self) -> str:
        """Address for an OpenAI-compatible client."""
        return f"{self._address}/v1"

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._address.rpartition(":")[2])

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start the process and wait until the model is loaded; a few seconds, more from a cold disk."""
        check_installed()
        with tempfile.TemporaryDirectory(prefix="local-judge-") as folder:
            announcement, log = Path(folder) / "address.json", Path(folder) / "log"
            self._process = _launch([*self._command, "--announce", str(announcement)], log)
            try:
                self._address = self._wait_for(announcement, log)
            except BaseException:
                self.stop()
                raise

    def stop(self) -> None:
        """End the process and collect it; it is killed when it does not end by itself."""
        process, self._process = self._process, None
        if process is not None:
            end_child(process)

    def _wait_for(self, announcement: Path, log: Path) -> str:
        give_up_at = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < give_up_at:
            if announcement.exists():
                return str(json.loads(announcement.read_text(encoding="utf-8"))["address"])
            if self._process is not None and self._process.poll() is not None:
                raise JudgewatchError(
                    f"the local model ended at its start with code {self._process.returncode}: {_end_of(log)}"
                )
            time.sleep(_LOOK_AGAIN_S)
        raise JudgewatchError(f"the local model was not ready within {START_TIMEOUT_S:g} seconds: {_end_of(log)}")


def check_installed() -> None:
    """Refuse to go on without the package that serves models.

    Raises:
        ConfigError: it is not installed.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        raise ConfigError(
            "a local judge needs the extra 'local': pip install 'judgewatch[local]' (in a checkout: make env-local);"
            " or run Ollama and set judge.base_url to its address"
        )


def _launch(command: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    # A session of its own: Ctrl-C reaches the parent only, which then ends the server in order. S603: nothing in the
    # command comes from outside but the path of a file, and no shell reads it.
    with log.open("wb") as target:
        return subprocess.Popen(  # noqa: S603
            list(command), stdin=subprocess.DEVNULL, stdout=target, stderr=target, start_new_session=True
        )


def _end_of(log: Path) -> str:
    lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return " / ".join(lines[-_LINES_SHOWN:]) or "it said nothing"
