"""Asks the sources before a run: takes in what is new, keeps what came of it, and lets nothing end the run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from evaluator.clock import Clock
from evaluator.config import Config
from evaluator.importing.file_set import Stop, never
from evaluator.importing.redacting import open_redactor, redacted_text
from evaluator.sources.asking import pull_command
from evaluator.sources.base import PullOutcome, command_text, import_one
from evaluator.sources.intake import Intake, count_unknown
from evaluator.sources.notes import shown_notes
from evaluator.sources.scores import import_scores
from evaluator.store import read, write
from evaluator.store.db import open_store

if TYPE_CHECKING:
    from evaluator.analysis import AnalysisSettings

_MESSAGE_CHARS = 2_000
_LOOK_BACK = 200


@dataclass(frozen=True, kw_only=True)
class WaitingSources:
    """What a run would ask: files that are new or have changed, and whether a command would be run."""

    n_files: int = 0
    n_score_files: int = 0
    command: str | None = None


def pull_sources(
    config: Config,
    *,
    slot: datetime,
    clock: Clock,
    settings: AnalysisSettings | None = None,
    judge_scale: tuple[float, float] | None = None,
    stop: Stop = never,
    pause: Callable[[float], None] = time.sleep,
) -> tuple[PullOutcome, ...]:
    """Take in what the configured sources have for a scheduled run, and keep what came of it.

    Args:
        config: The configuration.
        slot: The scheduled instant; answers up to it are asked for.
        clock: Wall clock.
        settings: What the user decided about alarms, for the analysis of stored scores; without it files of scores are
            not looked for.
        judge_scale: Lowest and highest score of the configured judge, for scores of which nothing else tells the scale.
        stop: Whether to give up; asked often.
        pause: Waits so many seconds.

    Returns:
        One outcome for each source; none when there is none.

    Raises:
        UsageError: a setting that cannot be used.
        StoreError: the database cannot be used.
    """
    outcomes = []
    for ask in _asked(config, slot, clock, settings, judge_scale, stop, pause):
        if stop():
            break
        started = clock.now()
        outcomes.append(_keep(config, ask(), slot=slot, started=started, clock=clock))
    return tuple(outcomes)


def _asked(
    config: Config,
    slot: datetime,
    clock: Clock,
    settings: AnalysisSettings | None,
    judge_scale: tuple[float, float] | None,
    stop: Stop,
    pause: Callable[[float], None],
) -> list[Callable[[], PullOutcome]]:
    """What is to be asked, in order: answers come before the scores that belong to them."""
    traffic = config.traffic
    asked: list[Callable[[], PullOutcome]] = []
    if traffic.files:
        files = Intake(
            config=config,
            key="traffic.files",
            kind="traffic",
            patterns=traffic.files,
            take=lambda file: import_one(config, file.path, name=str(file.path), now=clock.now(), stop=stop),
            clock=clock,
            pause=pause,
        )
        asked.append(files.run)
    if traffic.command:
        asked.append(lambda: pull_command(config, slot, clock, stop))
    if traffic.verdicts and settings is not None:
        scores = Intake(
            config=config,
            key="traffic.verdicts",
            kind="verdicts",
            patterns=traffic.verdicts,
            take=lambda file: import_scores(
                config, file.path, settings=settings, now=clock.now(), judge_scale=judge_scale, stop=stop
            ),
            clock=clock,
            pause=pause,
        )
        asked.append(scores.run)
    return asked


def waiting_sources(config: Config) -> WaitingSources:
    """Say what a run would ask; nothing is read or run.

    Raises:
        StoreError: the database cannot be used.
    """
    traffic = config.traffic
    return WaitingSources(
        n_files=count_unknown(config, traffic.files, "traffic.files", "traffic"),
        n_score_files=count_unknown(config, traffic.verdicts, "traffic.verdicts", "verdicts"),
        command=command_text(config) if traffic.command else None,
    )


def _keep(config: Config, outcome: PullOutcome, *, slot: datetime, started: datetime, clock: Clock) -> PullOutcome:
    """Store an outcome, and return it with the number of runs that the source has been quiet for."""
    said = "; ".join(text for text in (outcome.message, *shown_notes(outcome.notes)) if text)
    said = redacted_text(said[:_MESSAGE_CHARS], open_redactor(config.traffic))
    with open_store(config.store_path, zone=config.schedule.zone) as store:
        write.add_pull(
            store,
            app=config.app.name,
            kind=outcome.kind,
            source=_source_name(outcome),
            slot=slot,
            status=outcome.status,
            message=said,
            n_rows=outcome.n_rows,
            n_new=outcome.n_new,
            n_rejected=outcome.n_rejected,
            started=started,
            finished=clock.now(),
        )
        rows = read.pulls(store, config.app.name, most=_LOOK_BACK)
    return replace(outcome, n_quiet=_runs_without_news(rows, outcome))


def _source_name(outcome: PullOutcome) -> str:
    """The name that a source is kept under; files of scores are told from files of answers."""
    return f"scores: {outcome.source}" if outcome.key == "traffic.verdicts" else outcome.source


def _runs_without_news(rows: list[read.Row], outcome: PullOutcome) -> int:
    """Scheduled runs in a row to which this source brought nothing; a run that is tried again counts once."""
    slots: set[str] = set()
    for row in rows:
        if (row["kind"], row["source"]) != (outcome.kind, _source_name(outcome)):
            continue
        if row["status"] != "nothing_new":
            break
        slots.add(row["slot_utc"])
    return len(slots)
