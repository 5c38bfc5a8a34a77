"""Takes in files of scores that somebody's own pipeline has given, and tells what came of each."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from evaluator.config import Config
from evaluator.errors import DataFileError
from evaluator.importing import RejectLog
from evaluator.importing.file_set import Stop, never
from evaluator.importing.redacting import open_redactor
from evaluator.sources.base import Taken, first_reject_of, in_words_of_config
from evaluator.sources.notes import Note, count_note

if TYPE_CHECKING:
    from evaluator.analysis import AnalysisSettings
    from evaluator.importing.verdicts import VerdictReport


def import_scores(
    config: Config,
    path: Path,
    *,
    settings: AnalysisSettings,
    now: datetime,
    judge_scale: tuple[float, float] | None = None,
    dry_run: bool = False,
    stop: Stop = never,
) -> Taken:
    """Import what can be used of one file of scores; ``n_new`` and ``n_known`` count scores.

    Args:
        config: Says where to and how.
        path: The file.
        settings: What the user decided about alarms, for the analysis.
        now: Wall clock.
        judge_scale: Lowest and highest score of the configured judge, as in ``VerdictReading``.
        dry_run: Only look; nothing is stored.
        stop: Whether to give up; then nothing of the file is taken in.

    Raises:
        UsageError: a setting that cannot be used, whatever the file holds.
        StoreError: the database cannot be used.
    """
    from evaluator.importing.verdicts import VerdictReading, import_verdicts

    traffic = config.traffic
    reading = VerdictReading(
        field_map=traffic.fields,
        naive_zone=traffic.naive_zone,
        time_format=traffic.time_format,
        redactor=open_redactor(traffic),
        keep_reasons=traffic.store_reasons,
        judge_scale=judge_scale,
        stop=stop,
    )
    with RejectLog() as rejects:
        try:
            report = import_verdicts(
                config.store_path,
                [path],
                app=config.app.name,
                now=now,
                reading=reading,
                settings=settings,
                day_zone=config.schedule.zone,
                segment_keys=traffic.segment_keys(),
                rejects=rejects,
                skip_bad=True,
                dry_run=dry_run,
            )
        except DataFileError as error:
            return Taken(n_rejected=rejects.n, problem=in_words_of_config(str(error)))
        return _taken(report, rejects)


def _taken(report: VerdictReport, rejects: RejectLog) -> Taken:
    notes = [Note(text=in_words_of_config(note)) for file in report.files for note in file.notes]
    for judge in report.judges:
        setup = f" (setup v{judge.setup})" if judge.setup is not None else ""
        who = f"{judge.judge}, {judge.criterion}{setup}: "
        notes.append(count_note(judge.n_scored, f"{who}1 score", f"{who}{{n}} scores"))
    if report.redaction:
        notes.append(Note(text=f"redacted: {report.redaction}"))
    return Taken(
        n_rows=report.n_rows,
        n_new=sum(judge.n_new for judge in report.judges),
        n_known=sum(judge.n_known for judge in report.judges),
        n_rejected=rejects.n,
        n_usable=report.n_scored,
        first_reject=first_reject_of(rejects),
        notes=tuple(notes),
    )
