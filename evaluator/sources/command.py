"""Runs the command that prints answers: without a shell, within limits of time and size, its output in a file.

Only the process group that was started here is ever ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

MOST_BYTES = 4 * 1024**3
_LOOK_EVERY_S = 0.1
_STDERR_BYTES = 4_000
_STDERR_LINES = 5
_BLOCK = 1 << 20
_LONGEST_LINE = 64 << 20


@dataclass(frozen=True, kw_only=True)
class CommandEnd:
    """How a command ended. ``problem`` says what went wrong, None when it ended with status 0 within its limits.

    ``stderr`` are the last lines that it said there.
    """

    problem: str | None
    stderr: str
    elapsed_s: float


def run_command(
    words: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    output: Path,
    timeout_s: float,
    most_bytes: int = MOST_BYTES,
    stop: Callable[[], bool] = lambda: False,
) -> CommandEnd:
    """Run a command and keep what it prints in a file.

    Args:
        words: Program and arguments.
        folder: Where it runs.
        environment: All of its environment.
        output: Receives its standard output.
        timeout_s: The longest that it may take, by the clock on the wall.
        most_bytes: The most that it may print, on either output.
        stop: Whether to give up; asked ten times a second.
    """
    started = time.monotonic()
    with output.open("wb") as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(  # noqa: S603 - the words are the user's own configuration
                list(words),
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return CommandEnd(problem=_not_started(words[0], error), stderr="", elapsed_s=0.0)
        try:
            problem = _wait(process, (out, err), started + timeout_s, timeout_s, most_bytes, stop)
        finally:
            _end(process)
        if problem is None:
            problem = _bad_status(process.returncode)
        return CommandEnd(problem=problem, stderr=_last_lines(err), elapsed_s=time.monotonic() - started)


def _not_started(program: str, error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"there is no program {program!r} (or its folder is missing); name it with its full path"
    if isinstance(error, PermissionError):
        return f"{program!r} may not be run; make it executable (chmod +x), or put its interpreter in front"
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{program!r} cannot be started: {reason}"


def _wait(
    process: subprocess.Popen[bytes],
    files: tuple[IO[bytes], IO[bytes]],
    deadline: float,
    timeout_s: float,
    most_bytes: int,
    stop: Callable[[], bool],
) -> str | None:
    """Wait for the end; return why it was not waited for any longer, None when it came by itself."""
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK_EVERY_S)
        if max(os.fstat(file.fileno()).st_size for file in files) > most_bytes:
            return f"it printed more than {most_bytes:,} bytes; let it ask for new answers only (JUDGEWATCH_SINCE)"
        if process.returncode is not None:
            return None
        if time.monotonic() > deadline:
            return (
                f"it was not done after {timeout_s:g} seconds and was ended; make it faster, or raise"
                " traffic.command_timeout_s"
            )
        if stop():
            return "it was ended because the run was stopped"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command with all that it started, unless it has ended by itself."""
    if process.returncode is not None:
        return
    # not waited for yet, so that the number is still that of our own child and its group
    if hasattr(os, "killpg"):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            process.kill()
    else:
        process.kill()
    process.wait()


def _bad_status(status: int) -> str | None:
    if status == 0:
        return None
    if status < 0:
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = str(-status)
        return f"it was ended by the signal {name}"
    return f"it ended with status {status}"


def _last_lines(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _STDERR_BYTES))
    lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return " | ".join(lines[-_STDERR_LINES:])


def ends_in_a_line(path: Path) -> bool:
    """Whether the last line of a file has no end and starts like a JSON object without being a whole one."""
    tail = _last_line(path).strip()
    if not tail.startswith(b"{"):
        return False
    try:
        json.loads(tail)
    except (ValueError, RecursionError):
        return True
    return False


def _last_line(path: Path) -> bytes:
    """The bytes after the last line end."""
    with path.open("rb") as file:
        place = file.seek(0, os.SEEK_END)
        tail = b""
        while place > 0 and b"\n" not in tail and len(tail) < _LONGEST_LINE:
            n_bytes = min(_BLOCK, place)
            place -= n_bytes
            file.seek(place)
            tail = file.read(n_bytes) + tail
    return tail.rpartition(b"\n")[2]
