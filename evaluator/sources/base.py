"""Shared words of the sources: what came of asking one, and how its rows are read by the configuration."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from evaluator.config import Config
from evaluator.errors import ConfigError, DataFileError, UsageError
from evaluator.importers.fields import RowConverter
from evaluator.importers.verdicts.columns import VERDICT_FIELDS
from evaluator.importing import ImportReport, Reading, RejectLog, import_files
from evaluator.importing.file_set import Stop, never
from evaluator.importing.redacting import open_redactor
from evaluator.sources.notes import Note, count_note
from evaluator.store.write import PullKind, PullStatus

SourceKey = Literal["traffic.files", "traffic.command", "traffic.verdicts"]

# what is said of one answer, and of more
_COMPLETED = ("1 answer that came with scores: completed", "{n} answers that came with scores: completed")
_VERSIONS = (
    "1 answer came with another text under a known id, and is kept beside it",
    "{n} answers came with other texts under known ids, and are kept beside them",
)
_NAME_TIME = 'name the column of the time: traffic.fields = {answered_at = "NAME"}'
_WITHOUT_TIME = (
    f"1 answer without a time: no day counts it and no run grades it; {_NAME_TIME}",
    "{n} answers without a time: no day counts them and no run grades them; " + _NAME_TIME,
)
_AHEAD = (
    "1 answer more than a day in the future; is traffic.naive_zone right?",
    "{n} answers more than a day in the future; is traffic.naive_zone right?",
)
WARN_AFTER = 3  # runs in a row that brought nothing new
_SHOWN_CHARS = 300


@dataclass(frozen=True, kw_only=True)
class PullOutcome:
    """What came of asking one source for a run.

    Attributes:
        key: The key of the configuration that names it.
        source: Its name: the patterns of the files, or the words of the command.
        status: "ok" with new answers, "nothing_new", or "failed" where some or all of it could not be taken in.
        message: Why it failed, or how it had nothing new; empty when all went well.
        n_files: Files that were read.
        n_rows, n_new, n_known, n_rejected: Rows read; of these new, stored before, and not usable.
        notes: What else a person should know, a sentence each.
        n_quiet: Scheduled runs in a row, this one included, to which this source brought nothing new.
    """

    key: SourceKey
    source: str
    status: PullStatus
    message: str = ""
    n_files: int = 0
    n_rows: int = 0
    n_new: int = 0
    n_known: int = 0
    n_rejected: int = 0
    notes: tuple[str, ...] = ()
    n_quiet: int = 0

    @property
    def kind(self) -> PullKind:
        """Whether files were looked for or a command was run."""
        return "command" if self.key == "traffic.command" else "files"

    @property
    def is_quiet(self) -> bool:
        """Whether the source has had nothing new for so long that somebody should look at it."""
        return self.n_quiet >= WARN_AFTER


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What came of importing one file. ``problem`` is set when nothing of it could be taken in.

    ``first_reject`` names the first row that cannot be used, without its text: what is said here is stored.
    """

    n_rows: int = 0
    n_new: int = 0
    n_known: int = 0
    n_rejected: int = 0
    n_usable: int = 0
    first_reject: str = ""
    notes: tuple[Note, ...] = ()
    problem: str | None = None


def has_sources(config: Config) -> bool:
    """Whether the configuration names files or a command."""
    return bool(config.traffic.files or config.traffic.command or config.traffic.verdicts)


def command_text(config: Config) -> str:
    """The configured command as one would type it, cut to what fits a message."""
    text = shlex.join(config.traffic.command or ())
    return text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 1] + "…"


def reading_of(config: Config) -> Reading:
    """How rows of the sources are read."""
    traffic = config.traffic
    return Reading(
        field_map=answer_fields(config),
        naive_zone=traffic.naive_zone,
        time_format=traffic.time_format,
        redactor=open_redactor(traffic),
    )


def answer_fields(config: Config) -> dict[str, str]:
    """``traffic.fields`` without those that only rows with scores have."""
    only_of_scores = VERDICT_FIELDS.keys() if config.traffic.verdicts else ()
    return {name: column for name, column in config.traffic.fields.items() if name not in only_of_scores}


def check_reading(config: Config) -> None:
    """Refuse settings by which no row can be read, before anything waits for one.

    Raises:
        ConfigError: ``traffic.fields`` names a field that does not exist, or ``traffic.time_format`` cannot be used.
    """
    traffic = config.traffic
    try:
        RowConverter(naive_zone=traffic.naive_zone, field_map=answer_fields(config))
    except UsageError as error:
        raise ConfigError(f"traffic.fields = {traffic.fields!r}: {error}") from error
    try:
        RowConverter(naive_zone=traffic.naive_zone, time_format=traffic.time_format)
    except UsageError as error:
        raise ConfigError(f"traffic.time_format: {error}") from error


def in_words_of_config(text: str) -> str:
    """A message of an importer with the keys of the configuration in the place of the options of ``import``."""
    text = re.sub(
        r"--field (\w+)=(?:'([^']*)'|(\S+?)(?=[\s,;)]|\.(?:\s|$)|$))", r'traffic.fields = {\1 = "\2\3"}', text
    )
    text = re.sub(r"--field (\w+)", r"traffic.fields.\1", text)
    return re.sub(r"--time-format ", "traffic.time_format = ", text)


def import_one(config: Config, path: Path, *, name: str, now: datetime, stop: Stop = never) -> Taken:
    """Import what can be used of one file.

    Args:
        config: Says where to and how.
        path: The file.
        name: What messages call it.
        now: Wall clock.
        stop: Whether to give up; then nothing of the file is taken in.

    Raises:
        UsageError: a setting that cannot be used, whatever the file holds.
        StoreError: the database cannot be used.
    """
    with RejectLog() as rejects:
        try:
            report = import_files(
                config.store_path,
                [path],
                app=config.app.name,
                now=now,
                day_zone=config.schedule.zone,
                reading=replace(reading_of(config), stop=stop),
                rejects=rejects,
                skip_bad=True,
                segment_keys=config.traffic.segment_keys(),
            )
        except DataFileError as error:
            problem = in_words_of_config(str(error).replace(str(path), name))
            return Taken(n_rejected=rejects.n, problem=problem)
        return _taken(report, rejects)


def _taken(report: ImportReport, rejects: RejectLog) -> Taken:
    return Taken(
        n_rows=report.n_rows,
        n_new=report.n_new,
        n_known=report.n_known,
        n_rejected=rejects.n,
        n_usable=report.n_answers,
        first_reject=first_reject_of(rejects),
        notes=tuple(_notes(report)),
    )


def _notes(report: ImportReport) -> Iterator[Note]:
    """What a person should know of what was imported."""
    for file in report.files:
        yield from (Note(text=in_words_of_config(note)) for note in file.notes)
    for n, one, many in (
        (report.n_completed, *_COMPLETED),
        (report.n_versions, *_VERSIONS),
        (report.n_without_time, *_WITHOUT_TIME),
        (report.n_ahead, *_AHEAD),
    ):
        if n:
            yield count_note(n, one, many)
    if report.redaction:
        yield Note(text=f"redacted: {report.redaction}")


def first_reject_of(rejects: RejectLog) -> str:
    """Line and reason of the first row that cannot be used; empty when there is none."""
    return next((f"line {row['line']}: {in_words_of_config(row['reason'])}" for row in rejects.rows(most=1)), "")


def number_of(n: int, what: str) -> str:
    """A number with its noun: "1 row", "120 rows"."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"
