"""``judgewatch export``: verdicts, answers or daily means to a file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evaluator.cli.days import parse_day
from evaluator.cli.output import counted, put, put_json
from evaluator.cli.target import Target, json_option, target_options

if TYPE_CHECKING:
    from evaluator.exporting import FileFormat, What


@click.command("export")
@click.option(
    "--what",
    type=click.Choice(["verdicts", "items", "days"]),
    default="verdicts",
    show_default=True,
    help="Which rows.",
)
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["csv", "jsonl", "parquet"]),
    required=True,
    help="jsonl and parquet hold exact texts, csv is safe to open in a spreadsheet.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The file to write.")
@click.option("--since", metavar="DAY", help="First day.")
@click.option("--until", metavar="DAY", help="Last day.")
@click.option("--force", is_flag=True, help="Replace a file of that name.")
@target_options
@json_option
def command(
    *,
    target: Target,
    what: What,
    file_format: FileFormat,
    out: Path,
    since: str | None,
    until: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write verdicts, answers or daily means to a file, whole or not at all."""
    from evaluator.exporting import export

    first_day, last_day = parse_day("--since", since), parse_day("--until", until)
    with target.reading() as store:
        app = target.app_in(store)
        report = export(
            store,
            app=app,
            what=what,
            file_format=file_format,
            out=out,
            since=first_day,
            until=last_day,
            force=force,
        )
    if as_json:
        put_json({"app": app, "what": what, "format": file_format, **asdict(report)})
    else:
        put(f"{counted(report.n_rows, 'row')} of {what} written to {report.path}")
