"""How long a command takes to start, beside the interpreter alone."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from harness import Measurement, Options, budget, in_turns

TIMES = 7


@budget("judgewatch --help; beside: python alone", 0.3, better="lower", on="ours")
def start_of_the_command(_options: Options) -> Measurement:
    """Median wall clock of the installed command, after one start that warms the file cache."""
    command = [str(Path(sys.executable).with_name("judgewatch")), "--help"]
    _seconds(command)
    ours, alone = in_turns(lambda: _seconds(command), lambda: _seconds([sys.executable, "-c", "pass"]), times=TIMES)
    return Measurement(ours=ours, comparator=alone, unit="s")


def _seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started
