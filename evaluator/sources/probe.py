"""Shows how the first rows of the sources are read: which column is which field, what is refused. Stores nothing."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from evaluator.clock import parse_utc
from evaluator.config import Config
from evaluator.errors import DataFileError
from evaluator.importers import Reject, Row, detect_format, read_rows
from evaluator.importers.base import Tally
from evaluator.importers.columns import FIELD_NAMES, Plan
from evaluator.importers.fields import RowConverter, RowError
from evaluator.importing.redacting import open_redactor, redacted, redacted_reject
from evaluator.records import Item
from evaluator.redaction import RedactionError
from evaluator.sources.asking import OUTPUT_NAME, fetch_output
from evaluator.sources.base import SourceKey, Taken, answer_fields, command_text, in_words_of_config, number_of
from evaluator.sources.files import find_files
from evaluator.sources.intake import notes_of
from evaluator.sources.lacking import count_needed, lacking_fields, no_answers, unfound_columns
from evaluator.sources.notes import merged_problems
from evaluator.sources.scores import import_scores
from evaluator.store.db import open_reader

if TYPE_CHECKING:
    from evaluator.analysis import AnalysisSettings

MOST_ROWS_LOOKED_AT = 1_000
SCORE_FILES_LOOKED_AT = 5
_FIELD_CHARS = 400
_REFUSED_SHOWN = 10


@dataclass(frozen=True, kw_only=True)
class ReadRow:
    """One row as it is understood.

    Attributes:
        place: The file, or the command.
        line: Its line, or its position in a file that is one JSON value.
        fields: What was found, by field: texts cut, the time in the zone of the store.
        columns: The column or path that each field was taken from.
        tags: What scores can be broken down by.
        marks: What the import has to say of it, like ``naive_time``.
    """

    place: str
    line: int
    fields: Mapping[str, str]
    columns: Mapping[str, str]
    tags: Mapping[str, str]
    marks: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class RefusedRow:
    """A row that cannot be used, and why."""

    place: str
    line: int
    reason: str
    text_start: str


@dataclass(kw_only=True)
class SourceTrial:
    """What came of trying one source. ``problem`` says why it failed; None when rows could be read.

    ``n_rows`` were looked at, ``n_refused`` of them cannot be used; ``refused`` names the first of these.
    """

    key: SourceKey
    source: str
    problem: str | None = None
    n_files: int = 0
    n_rows: int = 0
    n_refused: int = 0
    rows: list[ReadRow] = field(default_factory=list)
    refused: list[RefusedRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return the trial as plain JSON."""
        return asdict(self)


def try_sources(
    config: Config,
    *,
    slot: datetime,
    n_rows: int,
    settings: AnalysisSettings | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> list[SourceTrial]:
    """Read the first rows of every configured source; nothing is stored.

    Args:
        config: The configuration.
        slot: The instant that a command is asked for answers up to.
        n_rows: How many rows to show of each source.
        settings: As in ``pull_sources``.
        stop: Whether to give up; asked often.

    Raises:
        UsageError: a setting that cannot be used.
        StoreError: the database cannot be used.
    """
    zone = _zone(config)
    trials = []
    if config.traffic.files:
        trials.append(_try_files(config, n_rows, zone))
    if config.traffic.command:
        trials.append(_try_command(config, slot, n_rows, zone, stop))
    if config.traffic.verdicts and settings is not None:
        trials.append(_try_scores(config, slot, settings))
    return trials


def _zone(config: Config) -> ZoneInfo:
    """The zone of the store's days, or of the store that would be made."""
    if config.store_path.exists() and config.store_path.stat().st_size:
        with open_reader(config.store_path) as store:
            return store.zone
    return ZoneInfo(config.schedule.zone)


def _try_files(config: Config, n_rows: int, zone: ZoneInfo) -> SourceTrial:
    """Read the newest files first, as many as it takes to have the rows."""
    trial = SourceTrial(key="traffic.files", source=", ".join(config.traffic.files))
    found = find_files(config.traffic.files, config.folder)
    trial.notes += found.notes
    wrong: list[tuple[str, str]] = []
    trial.n_files = len(found.files)
    for file in sorted(found.files, key=lambda file: (-file.mtime_ns, file.path)):
        if len(trial.rows) >= n_rows:
            break
        if not file.size_bytes:
            trial.notes.append(f"{file.path} is empty")
            continue
        problem = _Reading(config, trial, str(file.path), zone).read(file.path, n_rows)
        wrong += [(str(file.path), problem)] if problem else []
    problems = [*found.problems, *merged_problems(wrong)]
    if not found.files and not problems:
        problems.append("there is no file to read")
    trial.problem = "; ".join(problems) or None
    return trial


def _try_command(config: Config, slot: datetime, n_rows: int, zone: ZoneInfo, stop: Callable[[], bool]) -> SourceTrial:
    trial = SourceTrial(key="traffic.command", source=command_text(config))
    with tempfile.TemporaryDirectory(prefix="judgewatch-") as folder:
        output = Path(folder) / OUTPUT_NAME
        trial.problem = fetch_output(config, slot, output, stop)
        if trial.problem is None and output.stat().st_size:
            trial.problem = _Reading(config, trial, "its output", zone).read(output, n_rows)
        elif trial.problem is None:
            trial.notes.append("the command printed nothing: no answers since JUDGEWATCH_SINCE, or it found none")
    return trial


def _try_scores(config: Config, slot: datetime, settings: AnalysisSettings) -> SourceTrial:
    """Read the newest files of scores to their ends; what a row means depends on the others."""
    trial = SourceTrial(key="traffic.verdicts", source=", ".join(config.traffic.verdicts))
    found = find_files(config.traffic.verdicts, config.folder, key="traffic.verdicts")
    trial.notes += found.notes
    problems = list(found.problems)
    trial.n_files = len(found.files)
    newest = sorted(found.files, key=lambda file: (-file.mtime_ns, file.path))
    read: list[tuple[str, Taken]] = []
    for file in [file for file in newest if file.size_bytes][:SCORE_FILES_LOOKED_AT]:
        taken = import_scores(config, file.path, settings=settings, now=slot, dry_run=True)
        trial.n_rows += taken.n_rows
        trial.n_refused += taken.n_rejected
        read.append((str(file.path), taken))
        problems += [taken.problem] if taken.problem else []
    trial.notes += notes_of(read)
    if not found.files and not problems:
        problems.append("there is no file to read")
    trial.problem = "; ".join(problems) or None
    return trial


class _Reading:
    """Reads one file for a trial."""

    def __init__(self, config: Config, trial: SourceTrial, name: str, zone: ZoneInfo) -> None:
        traffic = config.traffic
        self._trial = trial
        self._name = name
        self._zone = zone
        self._converter = RowConverter(
            naive_zone=traffic.naive_zone, field_map=answer_fields(config), time_format=traffic.time_format
        )
        self._redactor = open_redactor(traffic)
        self._tally = Tally()
        self._fields = answer_fields(config)
        self._needed: Counter[str] = Counter()
        self._n_good = 0
        self._n_looked_at = 0

    def read(self, path: Path, n_rows: int) -> str | None:
        """Add rows to the trial; return why the file cannot be used, None when it can."""
        try:
            for entry in read_rows(path, format=detect_format(path), tally=self._tally):
                self._take(entry, n_rows)
                if len(self._trial.rows) >= n_rows or self._n_looked_at >= MOST_ROWS_LOOKED_AT:
                    break
        except DataFileError as error:
            return in_words_of_config(str(error).replace(str(path), self._name))
        self._add_notes()
        return self._problem()

    def _take(self, entry: Row | Reject, n_rows: int) -> None:
        self._n_looked_at += 1
        self._trial.n_rows += 1
        if isinstance(entry, Row):
            try:
                item = redacted(self._converter.convert(entry.values), self._redactor)
            except (RowError, RedactionError, RecursionError) as error:
                reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
                entry = Reject.of(entry.line_number, reason, f"columns {', '.join(map(repr, entry.values))}")
            else:
                self._n_good += 1
                count_needed(self._needed, item)
                if len(self._trial.rows) < n_rows:
                    self._trial.rows.append(self._shown(entry, item))
                return
        entry = redacted_reject(entry, self._redactor)
        self._trial.n_refused += 1
        if len(self._trial.refused) < _REFUSED_SHOWN:
            self._trial.refused.append(
                RefusedRow(
                    place=self._name,
                    line=entry.line_number,
                    reason=in_words_of_config(entry.reason),
                    text_start=entry.text_start,
                )
            )

    def _shown(self, row: Row, item: Item) -> ReadRow:
        values, plan = self._converter.locate(row.values)
        fields = {name: text for name, text in self._texts(item).items() if text}
        return ReadRow(
            place=self._name,
            line=row.line_number,
            fields={name: text[:_FIELD_CHARS] for name, text in fields.items()},
            columns={name: column for name in FIELD_NAMES if (column := _column(plan, name, values)) is not None},
            tags=dict(item.tags),
            marks=tuple(sorted(item.flags)),
        )

    def _texts(self, item: Item) -> dict[str, str | None]:
        """The fields of an item by the names that columns are named for."""
        answered = item.answered_utc
        return {
            "input": item.input,
            "output": item.output,
            "answered_at": None if answered is None else parse_utc(answered).astimezone(self._zone).isoformat(" "),
            "id": item.external_id,
            "conversation_id": item.conversation_id,
            "user_id": item.user_id,
            "model": item.model,
            "reference": item.reference,
            "contexts": "\n".join(item.contexts),
        }

    def _add_notes(self) -> None:
        notes = [in_words_of_config(note) for note in self._converter.notes()]
        if self._tally.n_skipped:
            spans = number_of(self._tally.n_skipped, "span")
            notes.append(f"{spans} left out: no call of a model, or one that failed without an answer")
        if self._n_good and not self._converter.planner.found("input"):
            notes.append("no row has a field for the question; name its column in traffic.fields")
        self._trial.notes += [f"{self._name}: {note}" for note in notes]

    def _problem(self) -> str | None:
        """Why no row of the file can be used, which named column it does not have, or what no row of it has."""
        converter = self._converter
        problem = unfound_columns(converter)
        if problem is None and self._n_good:
            problem = lacking_fields(converter, self._needed, self._fields)
        elif problem is None and self._n_looked_at:
            problem = no_answers(converter, self._fields)
            problem = problem or f"none of the {self._n_looked_at:,} rows looked at can be used"
        return None if problem is None else f"{self._name}: {problem}"


def _column(plan: Plan, name: str, values: Mapping[str, Any]) -> str | None:
    """The column that a field is taken from: the first filled one; None when there is none."""
    keys: tuple[str, ...] = getattr(plan, name)
    return next((key for key in keys if values[key] not in (None, "")), None)
