"""``judgewatch import``: answers from files into the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evaluator.cli.output import counted, put, put_json, say
from evaluator.cli.target import DEFAULT_APP, Target, json_option, target_options

if TYPE_CHECKING:
    from evaluator.importing import ImportReport, Reading, RejectLog

REJECTS_SHOWN = 20
_TAGS_SHOWN = 12


class _FieldParam(click.ParamType[tuple[str, str]]):
    """``FIELD=COLUMN``; an empty column says that the file has none."""

    name = "field=column"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        field, sign, column = str(value).partition("=")
        if not sign or not field.strip():
            self.fail(f"{value!r}: write it as FIELD=COLUMN, like output=reply", param, ctx)
        return field.strip(), column


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--format", "file_format", type=click.Choice(["jsonl", "csv", "json"]), help="Format, if not as named.")
@click.option("--field", "fields", multiple=True, type=_FieldParam(), help="Column of a field, like output=reply.")
@click.option("--time-format", help="How times are written, like '%d/%m/%Y %H:%M'.")
@click.option("--zone", "naive_zone", help="Zone of times that name none (default: traffic.naive_zone, else UTC).")
@click.option("--answered-at", help="Time of the answers that have none.")
@click.option("--day-zone", help="Zone of the days of a new database (default: schedule.zone, else UTC).")
@click.option("--skip-bad", is_flag=True, help="Import what can be read although some rows cannot.")
@click.option(
    "--rejects", "rejects_path", type=click.Path(path_type=Path), help="Write all rejected rows to this file."
)
@click.option("--dry-run", is_flag=True, help="Only look; write nothing.")
@target_options
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    *,
    target: Target,
    files: tuple[Path, ...],
    file_format: str | None,
    fields: tuple[tuple[str, str], ...],
    time_format: str | None,
    naive_zone: str | None,
    answered_at: str | None,
    day_zone: str | None,
    skip_bad: bool,
    rejects_path: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Take in answers from files of JSON lines, CSV or a JSON array.

    All files are imported whole, or nothing is. The same file twice adds nothing. The database is made when it is
    missing. Every column that is no known field becomes a tag, to break scores down by.
    """
    from evaluator.clock import SystemClock
    from evaluator.importing import RejectLog, import_files

    reading = _reading(target, file_format, dict(fields), naive_zone, time_format, answered_at)
    config = target.config
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
        )
        if rejects_path is not None and rejects.n:
            rejects.write_to(rejects_path)
        if as_json:
            put_json(_payload(report, rejects, dry_run=dry_run))
        else:
            _tell(report, target.db, dry_run=dry_run, with_config=config is not None)
        if rejects.n:
            _tell_rejects(rejects, rejects_path, stored=report.stored, dry_run=dry_run, listed=not as_json)
    if report.n_rejected and not skip_bad:
        ctx.exit(1)


def _reading(
    target: Target,
    file_format: str | None,
    fields: Mapping[str, str],
    naive_zone: str | None,
    time_format: str | None,
    answered_at: str | None,
) -> Reading:
    from evaluator.importing import Reading

    configured = target.config.traffic.naive_zone if target.config is not None else "UTC"
    return Reading(
        format=file_format,
        field_map=fields,
        naive_zone=naive_zone or configured,
        time_format=time_format,
        default_answered_utc=answered_at,
    )


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


def _payload(report: ImportReport, rejects: RejectLog, *, dry_run: bool) -> dict[str, Any]:
    return {
        **asdict(report),
        "n_rows": report.n_rows,
        "n_rejected": report.n_rejected,
        "dry_run": dry_run,
        "rejects": list(rejects.rows()),
    }


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
    if report.n_versions:
        listed = ", ".join(report.version_ids) + (", ..." if report.n_versions > len(report.version_ids) else "")
        put(f"{counted(report.n_versions, 'answer')} came with another text under a known id, kept beside it: {listed}")
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


def _tell_rejects(rejects: RejectLog, path: Path | None, *, stored: bool, dry_run: bool, listed: bool) -> None:
    if listed:
        for row in rejects.rows(most=REJECTS_SHOWN):
            say(f"{row['file']}, line {row['line']}: {row['reason']}: {row['text_start']}".rstrip(": "))
        if rejects.n > REJECTS_SHOWN:
            say(f"... and {rejects.n - REJECTS_SHOWN:,} more" + ("" if path else "; --rejects FILE writes them all"))
    if path is not None:
        say(f"all rejected rows are in {path}")
    if stored:
        say(f"{counted(rejects.n, 'row')} skipped")
    elif not dry_run:
        say(
            f"error: {counted(rejects.n, 'row')} cannot be used, so nothing was imported; correct them, or import the"
            " rest with --skip-bad"
        )
