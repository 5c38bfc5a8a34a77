"""Who holds the scorer's lease: a process, named so that another one of this machine can see whether it still lives.

A scorer that was killed cannot give its lease back. On the same machine nobody has to wait until the lease ends.
"""

from __future__ import annotations

import os
import secrets
import socket
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_PID_NAMESPACE = Path("/proc/self/ns/pid")


def holder_name() -> str:
    """Return a name for one run of this process: machine, process number, and a mark, since a process may run two."""
    return f"{_machine()}/{os.getpid()}/{secrets.token_hex(4)}"


def is_dead(holder: str) -> bool:
    """Whether a holder is a process of this machine that is gone; False whenever that cannot be told."""
    machine, _, rest = holder.partition("/")
    number = rest.partition("/")[0]
    if machine != _machine() or not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)  # signal 0 only asks whether the process is there
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False  # there, but another user's, or no process number at all
    return False


def _machine() -> str:
    """Name of the machine; process numbers mean something only within one boot and one container of it."""
    parts = [socket.gethostname().replace("/", "-")]
    try:
        parts.append(_BOOT.read_text("ascii").strip()[:8])
        parts.append("".join(filter(str.isdigit, _PID_NAMESPACE.readlink().name)))
    except (OSError, NotImplementedError):
        parts.append("unknown")  # not Linux: the host's name has to do
    return "-".join(parts)
