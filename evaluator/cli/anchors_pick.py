"""``judgewatch anchors pick`` and ``anchors freeze``: an anchor set from one's own traffic."""

from __future__ import annotations

import asyncio
import getpass
import sys
from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evaluator.cli.days import parse_day
from evaluator.cli.money_texts import budget_lines
from evaluator.cli.output import counted, say
from evaluator.cli.progress import shown, stoppable
from evaluator.cli.target import Target, json_option, target_options
from evaluator.errors import UsageError

if TYPE_CHECKING:
    from evaluator.config import Config
    from evaluator.picking.grading import GradingPreview
    from evaluator.picking.pick import PickRequest
    from evaluator.picking.steps import PickPreview, PickRun

DEFAULT_NAME = "own"


@click.command("pick")
@click.option("--n", type=click.IntRange(10, 2000), default=100, show_default=True, help="Anchors wanted.")
@click.option(
    "--per-segment",
    metavar="KEY",
    is_flag=False,
    flag_value="",
    help="Spread over the values of this tag in equal shares (without KEY: the first configured or commonest one).",
)
@click.option("--from-recheck", metavar="ID", help="Take candidates from the answers of a recheck.")
@click.option("--name", default=DEFAULT_NAME, show_default=True, help="Name of the set.")
@click.option("--since", metavar="DAY", help="First day to draw from.")
@click.option("--until", metavar="DAY", help="Last day to draw from.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the review as CSV, with an empty column keep.")
@click.option("--yes", "accept", is_flag=True, help="Accept all that are not flagged for personal data.")
@click.option("--accept-flagged", is_flag=True, help="With --yes: accept flagged ones too.")
@click.option("--restart", is_flag=True, help="Begin anew, whatever a pick of that name has come to.")
@click.option("--dry-run", is_flag=True, help="Show candidates, calls and cost; call and write nothing.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@target_options
@json_option
@click.pass_context
def pick(
    ctx: click.Context,
    *,
    target: Target,
    n: int,
    per_segment: str | None,
    from_recheck: str | None,
    name: str,
    since: str | None,
    until: str | None,
    out: Path | None,
    accept: bool,
    accept_flagged: bool,
    restart: bool,
    dry_run: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Pick anchors from your own traffic: draw, grade twice afresh, review, then freeze them.

    Three candidates are drawn at random for each anchor wanted, never by a stored score. The judge grades them once;
    that grade only spreads the choice over the levels of the scale. Those chosen are graded a second time, which shows
    how much a grade jumps. Neither grade is kept as a reference: answers picked for a high score were partly lucky and
    fall back when graded again (regression to the mean), which would look like a judge that turned strict. The
    reference is made of the judge's own first runs on the frozen set.

    With --yes those that may hold personal data are left out before choosing, so that as many are chosen as are wanted.
    Where there is no terminal to review at, --yes or --out is needed. The same command goes on where it was stopped.
    """
    from evaluator.picking.pick import PickRequest
    from evaluator.picking.setup import check_name

    if from_recheck is not None and (since is not None or until is not None):
        raise UsageError("--from-recheck names its answers already; leave --since and --until out")
    if accept_flagged and not accept:
        raise UsageError("--accept-flagged goes with --yes; in a review, say yes to each flagged answer yourself")
    if out is not None and out.exists():
        raise UsageError(f"{out} exists already and may hold somebody's marks; name another file with --out")
    request = PickRequest(
        name=check_name(name),
        n=n,
        per_segment=per_segment,
        from_recheck=from_recheck,
        since=parse_day("--since", since),
        until=parse_day("--until", until),
    )
    config = target.needed_config()
    if dry_run:
        _preview(config, request, restart=restart, as_json=as_json)
        return
    if not (accept or out is not None or is_terminal()):
        _refuse_unattended(config, request, restart=restart)
    run = _grade(config, request, restart=restart, quiet=quiet, without_flagged=accept and not accept_flagged)
    if not run.is_complete:
        from evaluator.cli.pick_texts import put_stopped

        put_stopped(run, config, as_json=as_json)
        ctx.exit(1)
    _review(config, run, out=out, accept=accept, accept_flagged=accept_flagged, as_json=as_json)


def _look_ahead(config: Config, request: PickRequest, *, restart: bool) -> PickPreview:
    from evaluator.clock import SystemClock
    from evaluator.picking.steps import preview_pick

    return asyncio.run(preview_pick(config, request, restart=restart, now=SystemClock().now()))


def _preview(config: Config, request: PickRequest, *, restart: bool, as_json: bool) -> None:
    from evaluator.cli.pick_texts import put_preview

    put_preview(_look_ahead(config, request, restart=restart), config, as_json=as_json)


def _refuse_unattended(config: Config, request: PickRequest, *, restart: bool) -> None:
    """Refuse to pay for a pick that nobody could review; one that is graded already costs nothing and is shown.

    Raises:
        UsageError: there is something to grade.
    """
    n_calls = _look_ahead(config, request, restart=restart).grading.n_calls
    if n_calls:
        raise UsageError(
            f"not a terminal, so nobody could review what is picked with {counted(n_calls, 'call')}: add --yes to"
            " accept all that are not flagged for personal data, or --out FILE.csv to review them as a table"
        )


def _grade(config: Config, request: PickRequest, *, restart: bool, quiet: bool, without_flagged: bool) -> PickRun:
    """Begin or go on with a pick and grade what is left of it; the cost is said before the first call."""
    from evaluator.cli.pick_texts import cost_before
    from evaluator.clock import SystemClock
    from evaluator.picking.steps import run_pick
    from evaluator.scoring.allowance import left_today

    clock = SystemClock()

    def tell(left: GradingPreview) -> None:
        say(cost_before(left, config))
        for line in budget_lines(left_today(config, clock.now()), left.n_calls, left.most_usd):
            say(line)

    with shown(quiet=quiet) as on_progress:

        def work(stop: asyncio.Event) -> Awaitable[PickRun]:
            return run_pick(
                config,
                request,
                restart=restart,
                clock=clock,
                on_start=tell,
                on_progress=on_progress,
                stop=stop,
                without_flagged=without_flagged,
            )

        try:
            return asyncio.run(stoppable(work))
        except asyncio.CancelledError as error:
            say("ended at once; start it again to go on, what was graded is kept")
            raise click.exceptions.Exit(1) from error


def _review(
    config: Config, run: PickRun, *, out: Path | None, accept: bool, accept_flagged: bool, as_json: bool
) -> None:
    """Tell what came of grading, and let a person decide: here, in a table, or all at once."""
    from evaluator.cli.pick_review import decide_in_terminal
    from evaluator.cli.pick_texts import put_next_step, put_picked, put_picked_json
    from evaluator.clock import SystemClock
    from evaluator.picking.steps import accept_unflagged, open_review
    from evaluator.picking.table import save_review
    from evaluator.store.db import open_store

    clock = SystemClock()
    with open_store(config.store_path, create=False) as store:
        review = open_review(store, run.pick, run.rubric)
        n_flagged_out = None
        if accept:
            review, n_flagged_out = accept_unflagged(
                store, review, flagged_too=accept_flagged, by_whom=who(), now=clock.now()
            )
        if out is not None:
            save_review(review.items, out)
        if as_json:
            put_picked_json(review, out=out, n_flagged_out=n_flagged_out)
            return
        put_picked(review)
        if not accept and out is None and is_terminal():
            review = decide_in_terminal(store, review, by_whom=who(), clock=clock)
        put_next_step(review, out=out, n_flagged_out=n_flagged_out, skipped_flagged=accept and not accept_flagged)


def is_terminal() -> bool:
    """Whether a person can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def who() -> str:
    """The user's name, for the record; some containers have none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


@click.command("freeze")
@click.option("--name", default=DEFAULT_NAME, show_default=True, help="Name of the pick.")
@click.option("--from", "marks_file", type=click.Path(path_type=Path), help="Read the marks of a CSV that --out wrote.")
@click.option("--force", is_flag=True, help="Replace a file of that name with other anchors in it.")
@target_options
@json_option
def freeze(*, target: Target, name: str, marks_file: Path | None, force: bool, as_json: bool) -> None:
    """Write the accepted answers of a pick as an anchor set beside the configuration.

    No score of the pick goes with them: expected scores stay empty, and the judge's own first runs become the baseline.
    """
    from evaluator.cli.freeze_texts import put_frozen
    from evaluator.clock import SystemClock
    from evaluator.picking.setup import check_name
    from evaluator.picking.steps import freeze as freeze_set

    config = target.needed_config()
    frozen, review, marks = freeze_set(
        config, check_name(name), marks_file=marks_file, by_whom=who(), now=SystemClock().now(), force=force
    )
    put_frozen(frozen, review, marks, config, as_json=as_json)
