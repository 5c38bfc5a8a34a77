"""Starts the practice judge as a process of its own: ``python -m evaluator.judges.practice``.

It announces its two ports as one JSON object, ends on SIGTERM or Ctrl-C, and ends by itself when its parent is gone, so
that a demo that is killed leaves nothing behind.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sys
from pathlib import Path

from evaluator.judges.practice.server import listen, serve


def main(arguments: list[str] | None = None) -> None:
    """Listen, announce the ports, serve."""
    options = _parser().parse_args(arguments)
    judge_socket, control_socket = listen(options.port), listen(options.control_port)
    ports = {
        "port": judge_socket.getsockname()[1],
        "control_port": control_socket.getsockname()[1],
        "pid": os.getpid(),
    }
    with contextlib.suppress(KeyboardInterrupt):
        _announce(json.dumps(ports), options.announce)
        asyncio.run(serve(judge_socket, control_socket, api_key=options.api_key, parent_pid=options.parent_pid))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evaluator.judges.practice",
        description="An OpenAI-compatible judge for practice: it grades by the look of the text, on loopback only.",
    )
    parser.add_argument("--port", type=int, default=0, help="port of the endpoint; 0 takes a free one")
    parser.add_argument("--control-port", type=int, default=0, help="port to set mood and faults; 0 takes a free one")
    parser.add_argument("--announce", type=Path, help="file to write the ports to; standard output when left out")
    parser.add_argument("--api-key", help="ask for this key; any key passes when left out")
    parser.add_argument(
        "--parent-pid", type=int, default=os.getppid(), help="end when this is no longer the parent process"
    )
    return parser


def _announce(text: str, path: Path | None) -> None:
    """Tell the ports; a file appears whole or not at all."""
    if path is None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
        return
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


if __name__ == "__main__":
    main()
