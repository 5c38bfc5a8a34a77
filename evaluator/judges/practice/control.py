"""Starts the practice judge beside a demo or a test, and works its control port."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from evaluator.errors import JudgewatchError
from evaluator.judges.child import end_child
from evaluator.judges.practice.asgi import LOOPBACK
from evaluator.judges.practice.chat import MODEL_NAME

_START_TIMEOUT_S = 30.0
_CONTROL_TIMEOUT_S = 10.0
_LOOK_AGAIN_S = 0.02


class PracticeJudge:
    """A practice judge in a process of its own, for as long as the context lasts.

        with PracticeJudge() as judge:
            judge.set(day=3, generosity=0.35)
            ...  # a client talks to judge.base_url, model judge.model

    The process also ends when this one dies, however that happens.

    Args:
        api_key: When given, the judge answers only calls that carry it.
    """

    model = MODEL_NAME

    def __init__(self, *, api_key: str | None = None) -> None:
        self._api_key = api_key
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0
        self._control_port = 0

    @property
    def base_url(self) -> str:
        """Address for an OpenAI-compatible client."""
        return f"http://{LOOPBACK}:{self._port}/v1"

    @property
    def pid(self) -> int:
        """Id of the judge's process.

        Raises:
            JudgewatchError: it is not running.
        """
        if self._process is None:
            raise JudgewatchError("the practice judge is not running; use it inside its with block")
        return self._process.pid

    def __enter__(self) -> Self:
        with tempfile.TemporaryDirectory(prefix="practice-judge-") as folder:
            announcement = Path(folder) / "ports.json"
            self._process = self._start(announcement)
            try:
                ports = self._wait_for(announcement)
            except BaseException:
                self._stop()
                raise
        self._port, self._control_port = ports["port"], ports["control_port"]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop()

    def set(self, **changes: object) -> dict[str, Any]:
        """Change some of the settings (see ``Mood`` and ``Faults``) and return all of them.

        Raises:
            ValueError: an unknown setting or a bad value; nothing was changed.
            JudgewatchError: the judge is not running or does not answer.
        """
        return self._call("POST", "/set", json.dumps(changes))

    def state(self) -> dict[str, Any]:
        """Return the settings and counts: ``calls``, ``calls_by_status``, ``calls_by_text``.

        Raises:
            JudgewatchError: the judge is not running or does not answer.
        """
        return self._call("GET", "/state")

    def _start(self, announcement: Path) -> subprocess.Popen[bytes]:
        command = [
            sys.executable,
            "-m",
            "evaluator.judges.practice",
            "--announce",
            str(announcement),
            "--parent-pid",
            str(os.getpid()),
        ]
        if self._api_key is not None:
            command += ["--api-key", self._api_key]
        # A session of its own: Ctrl-C reaches the parent only, which then ends the judge in order. S603: nothing in the
        # command comes from outside, and no shell reads it.
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)  # noqa: S603

    def _wait_for(self, announcement: Path) -> dict[str, int]:
        give_up_at = time.monotonic() + _START_TIMEOUT_S
        while time.monotonic() < give_up_at:
            if announcement.exists():
                ports: dict[str, int] = json.loads(announcement.read_text(encoding="utf-8"))
                return ports
            if self._process is not None and self._process.poll() is not None:
                raise JudgewatchError(f"the practice judge ended at its start with code {self._process.returncode}")
            time.sleep(_LOOK_AGAIN_S)
        raise JudgewatchError(f"the practice judge did not start within {_START_TIMEOUT_S:g} seconds")

    def _stop(self) -> None:
        """End the process and collect it; it is killed when it does not end by itself."""
        process, self._process = self._process, None
        if process is not None:
            end_child(process)

    def _call(self, method: str, path: str, body: str | None = None) -> dict[str, Any]:
        connection = http.client.HTTPConnection(LOOPBACK, self._control_port, timeout=_CONTROL_TIMEOUT_S)
        try:
            connection.request(method, path, body=body)
            response = connection.getresponse()
            answer: dict[str, Any] = json.loads(response.read())
        except (OSError, http.client.HTTPException) as error:
            raise JudgewatchError(f"the practice judge (process {self.pid}) does not answer: {error}") from error
        finally:
            connection.close()
        if response.status != 200:
            raise ValueError(answer["error"]["message"])
        return answer
