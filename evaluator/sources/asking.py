"""Asks the configured command for answers and takes them in, if it came to a good end: half a pull is no pull."""

from __future__ import annotations

import os
import tempfile
from datetime import datetime
from pathlib import Path

from evaluator.clock import Clock, utc_text
from evaluator.config import Config
from evaluator.importing.file_set import Stop
from evaluator.sources.base import PullOutcome, Taken, command_text, import_one, number_of
from evaluator.sources.command import MOST_BYTES, ends_in_a_line, run_command
from evaluator.sources.intake import notes_of
from evaluator.store import read
from evaluator.store.db import open_reader

SINCE_VARIABLE = "JUDGEWATCH_SINCE"
UNTIL_VARIABLE = "JUDGEWATCH_UNTIL"
OUTPUT_NAME = "traffic.command.jsonl"


def pull_command(config: Config, slot: datetime, clock: Clock, stop: Stop) -> PullOutcome:
    """Run the command and take in what it printed.

    Args:
        config: The configuration.
        slot: The scheduled instant; answers up to it are asked for.
        clock: Wall clock.
        stop: Whether to give up; asked often.

    Raises:
        UsageError: a setting that cannot be used.
        StoreError: the database cannot be used.
    """
    name = command_text(config)
    with tempfile.TemporaryDirectory(prefix="judgewatch-") as folder:
        output = Path(folder) / OUTPUT_NAME
        problem = fetch_output(config, slot, output, stop)
        if problem is not None:
            return _failed(name, problem)
        if not output.stat().st_size:
            return PullOutcome(
                key="traffic.command", source=name, status="nothing_new", message="the command printed nothing"
            )
        taken = import_one(config, output, name="its output", now=clock.now(), stop=stop)
    return _outcome_of(taken, name)


def fetch_output(config: Config, slot: datetime, output: Path, stop: Stop) -> str | None:
    """Run the configured command; return why what it printed must not be used, None when all went well.

    Args:
        config: The configuration.
        slot: The scheduled instant.
        output: Receives what it prints.
        stop: Whether to give up; asked often.

    Raises:
        StoreError: the database cannot be used.
    """
    end = run_command(
        config.traffic.command or (),
        folder=config.folder.absolute(),
        environment=_environment(config, slot),
        output=output,
        timeout_s=config.traffic.command_timeout_s,
        most_bytes=MOST_BYTES,
        stop=stop,
    )
    if end.problem is not None:
        return f"{end.problem}. It said: {end.stderr}" if end.stderr else f"{end.problem}. It said nothing on stderr"
    if ends_in_a_line(output):
        return (
            "its output ends in the middle of a line; it must print one whole JSON object a line, and end with another"
            " status than 0 when it cannot"
        )
    return None


def _environment(config: Config, slot: datetime) -> dict[str, str]:
    """The environment of this process, and the span of time that the command is asked for."""
    since = None
    if config.store_path.exists() and config.store_path.stat().st_size:
        with open_reader(config.store_path) as store:
            since = read.newest_answered(store, config.app.name, until=slot)
    return {**os.environ, SINCE_VARIABLE: since or "", UNTIL_VARIABLE: utc_text(slot)}


def _failed(name: str, problem: str, n_rejected: int = 0) -> PullOutcome:
    message = f"{problem}. Nothing of it was taken in; `judgewatch source test` runs it again and shows what comes"
    return PullOutcome(key="traffic.command", source=name, status="failed", message=message, n_rejected=n_rejected)


def _outcome_of(taken: Taken, name: str) -> PullOutcome:
    if taken.problem is not None:
        return _failed(name, taken.problem, taken.n_rejected)
    if not taken.n_usable and taken.n_rows:
        problem = f"its output cannot be read as JSON lines; {taken.first_reject}; print one JSON object a line"
        return _failed(name, problem, taken.n_rejected)
    repeated = f"the source repeated what is stored: {number_of(taken.n_known, 'row')}, 0 new"
    quiet = repeated if taken.n_known else "the command printed no answer"
    return PullOutcome(
        key="traffic.command",
        source=name,
        status="ok" if taken.n_new else "nothing_new",
        message="" if taken.n_new else quiet,
        n_rows=taken.n_rows,
        n_new=taken.n_new,
        n_known=taken.n_known,
        n_rejected=taken.n_rejected,
        notes=tuple(notes_of([("its output", taken)])),
    )
