"""Names of lease holders: a dead process of this machine is recognised, anything else is not."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evaluator.errors import LeaseHeldError
from evaluator.scoring.holder import holder_name, is_dead
from evaluator.store.db import open_store
from evaluator.store.locks import acquire_lease

NOW = datetime(2026, 3, 1, 6, tzinfo=UTC)


def _name_of_a_dead_process() -> str:
    script = "from evaluator.scoring.holder import holder_name; print(holder_name())"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return found.stdout.strip()


def test_this_process_is_alive() -> None:
    """A living holder is never taken for dead."""
    assert not is_dead(holder_name())


def test_two_runs_of_one_process_are_two_holders() -> None:
    """The names differ, so one run cannot renew the other's lease."""
    assert holder_name() != holder_name()


def test_ended_process_is_dead() -> None:
    """A process of this machine that ended is recognised."""
    assert is_dead(_name_of_a_dead_process())


@pytest.mark.parametrize("name", ["", "host:7", "elsewhere/7/ab", f"elsewhere/{2**70}/ab", "elsewhere/-1/ab"])
def test_unknown_holder_is_not_dead(name: str) -> None:
    """What cannot be told is left alone."""
    assert not is_dead(name)


def test_number_no_process_can_have_is_left_alone() -> None:
    """A damaged name does not break the scorer."""
    assert not is_dead(holder_name().replace(f"/{os.getpid()}/", f"/{2**70}/"))


def test_lease_of_a_dead_scorer_is_taken_over_at_once(tmp_path: Path) -> None:
    """Nobody waits for a process that is gone; a living one keeps its lease."""
    with open_store(tmp_path / "scores.db") as store:
        acquire_lease(store, app="a", holder=_name_of_a_dead_process(), what="run", now=NOW, is_dead=is_dead)
        taken = acquire_lease(store, app="a", holder=holder_name(), what="run", now=NOW, is_dead=is_dead)
        with pytest.raises(LeaseHeldError, match=r"another scorer"):
            acquire_lease(store, app="a", holder="elsewhere/7/ab", what="run", now=NOW, is_dead=is_dead)
    assert taken.name == "scorer:a"
