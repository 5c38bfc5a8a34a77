"""``judgewatch items delete``: takes a person's answers out of the database for good."""

from __future__ import annotations

import getpass
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evaluator.cli.output import counted, put, put_json, say
from evaluator.cli.target import Target, json_option, target_options

if TYPE_CHECKING:
    from evaluator.deletion import DeletionReport

_SHOWN = 3


@click.command("delete")
@click.option("--id", "item_id", help="One item, by the start of its id.")
@click.option("--external-id", help="The answer under this id in your own system, every version of it.")
@click.option("--user", "user_id", help="Every answer to this user.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Only tell what would be deleted.")
@target_options
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    *,
    target: Target,
    item_id: str | None,
    external_id: str | None,
    user_id: str | None,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Delete a person's answers: texts, ids, and what the judge wrote.

    Scores stay, without a name, so no mean changes; importing the same file again does not bring the answers back.
    Exits with 1 while something of them is left that this command could not remove, and says what.
    """
    from evaluator.clock import SystemClock
    from evaluator.deletion import Whose, delete_answers, plan_deletion

    whose = Whose(item_id=item_id, external_id=external_id, user_id=user_id)
    path, spool = target.use_db(), _spool(target)
    with target.reading() as store:
        app = target.app_in(store)
    planned = plan_deletion(path, app, whose, spool=spool)
    if dry_run:
        _tell(planned, app, path, spool, dry_run=True, as_json=as_json)
        return
    if planned.n_items and not yes:
        click.confirm(f"delete {counted(planned.n_items, 'answer')} of {app} for good?", abort=True, err=True)
    report = delete_answers(path, app, whose, by_whom=_who(), now=SystemClock().now(), spool=spool)
    _tell(report, app, path, spool, dry_run=False, as_json=as_json)
    if not report.is_clean or report.anchors or report.n_waiting or report.tagged:
        ctx.exit(1)


def _spool(target: Target) -> Path | None:
    """The folder of recorded answers: that of the configuration, else the one that ``record`` would use here."""
    from evaluator.spool import spool_folder

    if target.config is not None:
        from evaluator.scoring.waiting import spool_path

        return spool_path(target.config)
    folder = spool_folder()
    return folder if folder.is_dir() else None


def _tell(report: DeletionReport, app: str, path: Path, spool: Path | None, *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        payload: dict[str, Any] = {"app": app, "dry_run": dry_run, **asdict(report)}
        put_json(payload)
    elif report.was_deleted:
        put("nothing is left to delete; it was deleted before")
    elif dry_run:
        put(f"{counted(report.n_items, 'answer')} of {app} would be deleted; nothing was written")
    else:
        put(f"{counted(report.n_items, 'answer')} of {app} deleted; scores stay, without texts and names")
    if not dry_run:
        _tell_bytes(report, path)
    _tell_rest(report, path, spool)


def _tell_bytes(report: DeletionReport, path: Path) -> None:
    if report.is_clean:
        say(f"{path} and its log hold none of it any more")
    else:
        say(
            f"error: another program reads {path} (a page?), so its log {path.name}-wal still holds the old texts;"
            " close it and give the same command again"
        )


def _tell_rest(report: DeletionReport, path: Path, spool: Path | None) -> None:
    """Say what else may hold the texts: files that this command leaves alone."""
    for anchor in report.anchors:
        say(
            f"still there: anchor {anchor.anchor_id} of the set {anchor.set_name} has the same texts; take it out of"
            f" the set's file, run once, then `judgewatch items delete --id {anchor.item_id[:12]}`"
        )
    if report.n_waiting:
        say(
            f"still there: {counted(report.n_waiting, 'recorded answer')} in {spool}; after the next run has taken them"
            " in, give the same command again (files set aside there, *.rejected.jsonl, are yours to remove)"
        )
    if report.tagged:
        from evaluator.deletion import tagged_text

        say(f"still there: {tagged_text(report.tagged)}")
    if report.databases:
        names = ", ".join(report.databases[:_SHOWN]) + (", ..." if len(report.databases) > _SHOWN else "")
        say(f"not touched: {counted(len(report.databases), 'other database')} beside {path.name}: {names}")
    say(
        "judgewatch does not know of backups made before (`db backup`), exported files, reports, anchor sets, or the"
        " files the answers were imported from: what they hold is still there"
    )


def _who() -> str:
    """The user's name, for the record; some containers have none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
