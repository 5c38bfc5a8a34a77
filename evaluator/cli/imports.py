"""``judgewatch import``: answers from files into the store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evaluator.cli.fields import field_option, fields_of_files
from evaluator.cli.import_texts import payload_of, tell_rejects
from evaluator.cli.import_verdicts import FORMATS, ImportOptions, ScoreOptions, import_scores, score_options, tell_end
from evaluator.cli.output import counted, put, put_json, say
from evaluator.cli.target import DEFAULT_APP, Target, json_option, target_options

if TYPE_CHECKING:
    from evaluator.importing import ImportReport

_TAGS_SHOWN = 12


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["jsonl", "csv", "json", "otel", *FORMATS]),
    help="Format, if not as named.",
)
@field_option
@click.option("--encoding", default="utf-8", show_default=True, help="How text is written, like cp1252.")
@click.option("--time-format", help="How times are written, like '%d/%m/%Y %H:%M'.")
@click.option("--zone", "naive_zone", help="Zone of times that name none (default: traffic.naive_zone, else UTC).")
@click.option("--answered-at", help="Time of the answers that have none.")
@click.option("--day-zone", help="Zone of the days of a new database (default: schedule.zone, else UTC).")
@click.option("--skip-bad", is_flag=True, help="Import what can be read although some rows cannot.")
@click.option(
    "--rejects", "rejects_path", type=click.Path(path_type=Path), help="Write all rejected rows to this file."
)
@click.option("--dry-run", is_flag=True, help="Only look; write nothing.")
@score_options
@target_options
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    *,
    target: Target,
    scores: ScoreOptions,
    files: tuple[Path, ...],
    file_format: str | None,
    fields: tuple[tuple[str, str], ...],
    encoding: str,
    time_format: str | None,
    naive_zone: str | None,
    answered_at: str | None,
    day_zone: str | None,
    skip_bad: bool,
    rejects_path: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Take in answers from files of JSON lines, CSV, a JSON array, or spans of OpenTelemetry.

    All files are imported whole, or nothing is. The same file twice adds nothing. The database is made when it is
    missing. Every column that is no known field becomes a tag, to break scores down by.

    With --verdicts the files hold scores that your own pipeline has stored (also Ragas tables, promptfoo and DeepEval
    results). They are taken as they are, one judge setup for each judge and criterion, and shown at once.
    """
    config = target.config
    named = fields_of_files(
        files,
        given=fields,
        configured={} if config is None else config.traffic.fields,
        file_format=file_format,
        encoding=encoding,
        with_scores=scores.verdicts,
    )
    if scores.verdicts:
        shared = ImportOptions(
            files=files,
            app=_app(target),
            file_format=file_format,
            fields=named,
            encoding=encoding,
            time_format=time_format,
            naive_zone=naive_zone or (target.config.traffic.naive_zone if target.config is not None else "UTC"),
            day_zone=day_zone or (target.config.schedule.zone if target.config is not None else None),
            skip_bad=skip_bad,
            dry_run=dry_run,
        )
        if not _import_scores(target, scores, shared, rejects_path, as_json=as_json):
            ctx.exit(1)
        return
    from evaluator.clock import SystemClock
    from evaluator.importing import Reading, RejectLog, import_files
    from evaluator.importing.redacting import open_redactor
    from evaluator.scoring.noted import note_settings

    reading = Reading(
        format=file_format,
        field_map=named,
        naive_zone=naive_zone or (target.config.traffic.naive_zone if target.config is not None else "UTC"),
        time_format=time_format,
        default_answered_utc=answered_at,
        encoding=encoding,
        redactor=None if target.config is None else open_redactor(target.config.traffic),
    )
    with RejectLog() as rejects:
        report = import_files(
            target.use_db(),
            files,
            app=_app(target),
            now=SystemClock().now(),
            day_zone=day_zone or (config.schedule.zone if config is not None else None),
            reading=reading,
            rejects=rejects,
            skip_bad=skip_bad,
            dry_run=dry_run,
            segment_keys=None if config is None else config.traffic.segment_keys(),
        )
        if report.stored and config is not None:
            note_settings(config, imported_into=target.db, app=_app(target))
        if rejects_path is not None and rejects.n:
            rejects.write_to(rejects_path)
        if as_json:
            put_json(payload_of(report, rejects, dry_run=dry_run))
        elif report.n_answers or rejects.n:
            _tell(report, target.db, dry_run=dry_run, with_config=config is not None)
        if rejects.n:
            tell_rejects(rejects, rejects_path, listed=not as_json)
        _tell_end(report, skip_bad=skip_bad, dry_run=dry_run)
    if not report.n_answers or (report.n_rejected and not skip_bad):
        ctx.exit(1)


def _import_scores(
    target: Target, scores: ScoreOptions, shared: ImportOptions, rejects_path: Path | None, *, as_json: bool
) -> bool:
    from evaluator.importing import RejectLog

    with RejectLog() as rejects:
        is_good = import_scores(target, scores, shared, rejects, as_json=as_json)
        if rejects_path is not None and rejects.n:
            rejects.write_to(rejects_path)
        if rejects.n:
            tell_rejects(rejects, rejects_path, listed=not as_json)
        tell_end(is_good, rejects, skip_bad=shared.skip_bad, dry_run=shared.dry_run)
    return is_good


def _app(target: Target) -> str:
    """The app to import into; one named by hand may be new."""
    if target.app_name is not None:
        return target.app_name
    if target.config is not None:
        return target.config.app.name
    if not target.db.exists() or not target.db.stat().st_size:
        return DEFAULT_APP
    with target.reading() as store:
        return target.app_in(store)


def _tell(report: ImportReport, db: Path, *, dry_run: bool, with_config: bool) -> None:
    for file in report.files:
        blank = f", {counted(file.n_blank, 'blank line')}" if file.n_blank else ""
        rejected = f", {file.n_rejected:,} of them rejected" if file.n_rejected else ""
        put(f"{file.path}: {counted(file.n_rows, 'row')}{rejected}{blank}")
    if report.created:
        put(f"created {db} (days in zone {report.zone})")
    if report.stored or dry_run:
        _tell_counts(report, db, dry_run=dry_run)
    for note in dict.fromkeys(note for file in report.files for note in file.notes):
        put(f"note: {note}")
    if report.stored and report.n_new:
        hint = "" if with_config else '; it needs a judgewatch.toml (README, "Configure")'
        put(f"next: `judgewatch run once --dry-run` shows what grading them costs{hint}")


def _tell_counts(report: ImportReport, db: Path, *, dry_run: bool) -> None:
    verb = "would be new" if dry_run else "new"
    if report.n_new == 0 and report.n_known:
        put(f"nothing new: {counted(report.n_known, 'answer')} known already, in {db}")
    else:
        put(f"{counted(report.n_new, 'answer')} {verb}, {report.n_known:,} known already, in {db}")
    if report.n_completed:
        verb = "would be completed" if dry_run else f"{'was' if report.n_completed == 1 else 'were'} completed"
        put(f"{counted(report.n_completed, 'answer')} that came with scores {verb}: texts, time, names and tags")
    for theirs, ours in report.same_tags.items():
        put(f"{theirs} says the same as {ours}: kept once")
    if report.n_versions:
        listed = ", ".join(report.version_ids) + (", ..." if report.n_versions > len(report.version_ids) else "")
        put(f"{counted(report.n_versions, 'answer')} came with another text under a known id, kept beside it: {listed}")
    if report.redaction:
        put(f"redacted: {report.redaction}")
    if report.n_empty:
        put(f"{counted(report.n_empty, 'answer')} without any text: kept, and counted as unscored")
    if report.n_ahead:
        put(
            f"note: {counted(report.n_ahead, 'answer')} more than a day in the future; is the zone or the format right?"
        )
    if report.n_without_time:
        put(
            f"{counted(report.n_without_time, 'answer')} without a time: no day counts them and no run grades them;"
            " import them with --answered-at TIME, or name the column with --field answered_at=COLUMN"
        )
    if report.first_day is not None:
        put(f"days: {report.first_day} to {report.last_day} ({report.zone})")
    if report.tags:
        from evaluator.importing import MOST_VALUES

        shown = [
            f"{name} ({n}{' or more' if n >= MOST_VALUES else ''})"
            for name, n in list(report.tags.items())[:_TAGS_SHOWN]
        ]
        more = f" and {len(report.tags) - _TAGS_SHOWN} more" if len(report.tags) > _TAGS_SHOWN else ""
        put(f"tags, with their number of values: {', '.join(shown)}{more}")


def _tell_end(report: ImportReport, *, skip_bad: bool, dry_run: bool) -> None:
    """Say what the rejects, or a lack of answers, meant for the import."""
    if report.stored and report.n_rejected:
        say(f"{counted(report.n_rejected, 'row')} skipped")
    elif not report.n_answers:
        names = ", ".join(file.path for file in report.files)
        said = f"none of the {counted(report.n_rows, 'row')} can be used" if report.n_rows else "there is no answer"
        say(f"error: {said} in {names}; nothing was imported")
    elif report.n_rejected and not skip_bad and not dry_run:
        say(
            f"error: {counted(report.n_rejected, 'row')} cannot be used, so nothing was imported; correct"
            f" {'it' if report.n_rejected == 1 else 'them'}, or import the rest with --skip-bad"
        )
