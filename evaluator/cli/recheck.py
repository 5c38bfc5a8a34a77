"""``judgewatch recheck``: stored scores of one's own judge, graded again now; says whether the judge moved."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evaluator.cli.days import parse_day
from evaluator.cli.fields import field_option, fields_of_files
from evaluator.cli.output import counted, put, put_json, put_table, say
from evaluator.cli.progress import shown, stoppable
from evaluator.cli.recheck_texts import SHORT_ID, preview_lines, put_preview, put_report, put_result
from evaluator.cli.target import Target, json_option, target_options
from evaluator.errors import UsageError

if TYPE_CHECKING:
    from evaluator.config import Config
    from evaluator.recheck import Question, RecheckPreview, RecheckReport


@click.command("recheck")
@click.argument("file", required=False, type=click.Path(path_type=Path), metavar="[FILE]")
@click.option("--n", "n", type=click.IntRange(2, 100_000), default=200, show_default=True, help="Answers to grade.")
@click.option("--split", metavar="DAY", help="Old is before this day (default: the oldest third of the period).")
@click.option("--judge", "judges", multiple=True, help="Only scores of this judge of the file.")
@click.option("--criterion", help="Only scores of this criterion of the file.")
@click.option(
    "--scale", nargs=2, type=float, metavar="MIN MAX", help="Scale of the file; mapped on the judge's if it is another."
)
@click.option("--format", "file_format", help="Format of the file, if not as named.")
@field_option
@click.option("--encoding", default="utf-8", show_default=True, help="How text is written, like cp1252.")
@click.option("--time-format", help="How times are written, like '%d/%m/%Y %H:%M'.")
@click.option("--zone", "naive_zone", help="Zone of times that name none (default: traffic.naive_zone).")
@click.option("--again", is_flag=True, help="Grade anew what was rechecked before.")
@click.option("--dry-run", is_flag=True, help="Show answers, calls and cost; call nothing.")
@click.option("--yes", is_flag=True, help="Do not ask before the first call.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@target_options
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    *,
    target: Target,
    file: Path | None,
    n: int,
    split: str | None,
    judges: tuple[str, ...],
    criterion: str | None,
    scale: tuple[float, float] | None,
    file_format: str | None,
    fields: tuple[tuple[str, str], ...],
    encoding: str,
    time_format: str | None,
    naive_zone: str | None,
    again: bool,
    dry_run: bool,
    yes: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Grade stored scores of your own judge again, and say whether it moved.

    FILE holds scores that your judge gave, with their time and the texts. A random half is taken from the recent ones
    (does the configured judge reproduce them?) and half from the old ones (did they move?). Cut off, it goes on where
    it stopped; asked again, it shows its result. Without FILE the results of earlier rechecks are shown.

    The cost is shown and asked for before the first call; where there is no terminal, --yes is needed. --dry-run shows
    the cost alone, --json prints the cost or the result for programs.
    """
    if file is None:
        _show_stored(target, as_json=as_json)
        return
    from evaluator.clock import SystemClock
    from evaluator.recheck import Question, Reading, preview_recheck

    config = target.needed_config()
    # without stored scores among the sources this speaks of files of answers, which are written otherwise
    reads_as_configured = bool(config.traffic.verdicts)
    question = Question(
        path=file,
        n=n,
        split=parse_day("--split", split),
        reading=Reading(
            format=file_format,
            field_map=fields_of_files(
                [file],
                given=fields,
                configured=config.traffic.fields,
                file_format=file_format,
                encoding=encoding,
                with_scores=True,
            ),
            naive_zone=naive_zone or config.traffic.naive_zone,
            time_format=time_format or (config.traffic.time_format if reads_as_configured else None),
            encoding=encoding,
            judges=judges,
            criterion=criterion,
            scale=scale,
        ),
        again=again,
    )
    preview = preview_recheck(config, question, clock=SystemClock())
    if dry_run:
        put_preview(preview, as_json=as_json)
        return
    if not preview.is_finished:
        _ask(preview, yes=yes)
    report = _grade(config, question, preview, quiet=quiet)
    put_report(report, as_json=as_json)
    if not report.is_complete:
        ctx.exit(1)


def _grade(config: Config, question: Question, preview: RecheckPreview, *, quiet: bool) -> RecheckReport:
    from evaluator.clock import SystemClock
    from evaluator.recheck import run_recheck

    with shown(quiet=quiet) as on_progress:

        def grade(stop: asyncio.Event) -> Awaitable[RecheckReport]:
            return run_recheck(
                config, question, clock=SystemClock(), prepared=preview.prepared, on_progress=on_progress, stop=stop
            )

        try:
            return asyncio.run(stoppable(grade))
        except asyncio.CancelledError as error:
            say("ended at once; start it again to go on, what was graded is kept")
            raise click.exceptions.Exit(1) from error


# ---------------------------------------------------------------- before


def _ask(preview: RecheckPreview, *, yes: bool) -> None:
    """Say what will be spent, and ask, unless that was answered beforehand.

    Raises:
        UsageError: nobody sits at a terminal who could be asked.
    """
    for line in preview_lines(preview):
        say(line)
    if yes or not preview.n_calls:
        return
    if not _is_terminal():
        raise UsageError(f"not a terminal: add --yes to grade {counted(preview.n_calls, 'answer')}")
    click.confirm("Go on?", abort=True, err=True)


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


# ---------------------------------------------------------------- earlier ones


def _show_stored(target: Target, *, as_json: bool) -> None:
    from evaluator.store import read

    with target.reading() as store:
        app = target.app_in(store)
        rows = read.rechecks(store, app)
        done = [row for row in rows if row["finished_utc"] is not None]
        for row in done:
            row["result"]["furthest"] = read.with_reasons(store, row["recheck_id"], row["result"]["furthest"])
    if as_json:
        put_json({"app": app, "rechecks": [_listed(row) for row in rows]})
        return
    if not rows:
        put("No recheck yet: `judgewatch recheck FILE` grades stored scores of your judge again.")
        return
    if done:
        put_result(done[0]["result"])
    others = [row for row in rows if not done or row is not done[0]]
    if done and others:
        put()
    if others:
        put_table(
            ("recheck", "started", "file", "outcome"),
            [[row["recheck_id"][:SHORT_ID], row["started_utc"][:16], row["source"], _outcome(row)] for row in others],
            long=("outcome",),
        )


def _outcome(row: Mapping[str, Any]) -> str:
    if row["finished_utc"] is None:
        return f"not finished; `judgewatch recheck {row['source']}` goes on with it"
    return str(row["result"]["headline"])


def _listed(row: Mapping[str, Any]) -> dict[str, Any]:
    names = ("recheck_id", "started_utc", "finished_utc", "source", "stored_judge", "criterion", "n_asked", "run_id")
    result = None if row["finished_utc"] is None else row["result"]
    return {**{name: row[name] for name in names}, "result": result}
