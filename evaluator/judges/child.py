"""Ends a process that serves a judge."""

from __future__ import annotations

import contextlib
import subprocess

_STOP_TIMEOUT_S = 5.0


def end_child(process: subprocess.Popen[bytes]) -> None:
    """End a child process and collect it; it is killed when it does not end by itself."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_STOP_TIMEOUT_S)
    if process.returncode is None:
        process.kill()
        process.wait()
