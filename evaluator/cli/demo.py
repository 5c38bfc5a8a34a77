"""``judgewatch demo``: a simulated calendar, graded for real against the practice judge, then the page."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evaluator.cli.output import put, say
from evaluator.errors import UsageError

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar

    from evaluator.demo import DemoReport


@click.command()
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("data/demo"),
    show_default=True,
    help="Folder for the database and its configuration.",
)
@click.option(
    "--days", type=click.IntRange(2, 365), help="Length of the calendar (default: 60; 15 with a local model)."
)
@click.option(
    "--judge",
    type=click.Choice(["practice", "local"]),
    default="practice",
    show_default=True,
    help="Who grades: a practice judge, or a real small model on this machine (15 to 30 minutes).",
)
@click.option("--gguf", type=click.Path(dir_okay=False, path_type=Path), help="Model file of the local judge.")
@click.option("--fresh", is_flag=True, help="Replace the demo of an earlier call in the same folder.")
@click.option("--no-dashboard", is_flag=True, help="Do not open the page afterwards.")
@click.option("--port", type=click.IntRange(1, 65535), default=8501, show_default=True, help="Port of the page.")
@click.option("--no-browser", is_flag=True, help="Start the page without opening a browser.")
def demo(
    *,
    folder: Path,
    days: int | None,
    judge: str,
    gguf: Path | None,
    fresh: bool,
    no_dashboard: bool,
    port: int,
    no_browser: bool,
) -> None:
    """Show judgewatch at work, without a key.

    A practice judge on this machine grades a small invented shop's answers over a calendar of 60 days. On one day it
    silently becomes generous; on another the answers in one topic get worse. See whether judgewatch tells them apart.
    """
    from evaluator.demo import DAYS, is_demo, remove_demo

    if gguf is not None and judge != "local":
        raise UsageError("--gguf names the model of a local judge; add --judge local")
    days = days or _usual_days(judge, DAYS)
    if is_demo(folder):
        if not fresh:
            say(f"the demo in {folder} is kept as it is{_other_length(folder, days)}; --fresh grades a new one")
            if not no_dashboard:
                _open_page(folder, port, no_browser=no_browser)
            return
        remove_demo(folder)
    with _progress(days) as on_day:
        report = _run(folder, days, on_day, gguf, is_local=judge == "local")
    put(
        f"{report.n_scored} answers scored in {report.n_calls} calls and {report.n_runs} runs,"
        f" {report.elapsed_s:.0f} s, all over HTTP on this machine."
    )
    put("")
    put(report.findings["headline"])
    for sentence in report.findings["sentences"]:
        put(f"  {sentence}")
    put("")
    if report.judge_changed_day is not None:
        put(f"What really happened: the judge was switched on {report.judge_changed_day};")
    if report.answers_worse_day is not None:
        put(f"answers about {report.worse_topic} got worse on {report.answers_worse_day}.")
    if judge == "practice" and days < DAYS:
        put(_too_short(days))
    put(f"Look closer: judgewatch check --db {folder / 'judgewatch.db'}")
    if not no_dashboard:
        _open_page(folder, port, no_browser=no_browser)


def _usual_days(judge: str, practice_days: int) -> int:
    """Length of the calendar; each answer takes a local model seconds."""
    if judge == "practice":
        return practice_days
    from evaluator.local_demo import DAYS

    return DAYS


def _run(
    folder: Path, days: int, on_day: Callable[[int, int], None], gguf: Path | None, *, is_local: bool
) -> DemoReport:
    if not is_local:
        from evaluator.demo import run_demo

        return run_demo(folder, days=days, on_day=on_day)
    from evaluator.judges.local.models import find_gguf
    from evaluator.judges.local.process import check_installed
    from evaluator.local_demo import run_local_demo

    check_installed()
    return run_local_demo(folder, find_gguf(gguf), days=days, on_day=on_day)


@contextmanager
def _progress(days: int) -> Iterator[Callable[[int, int], None]]:
    """A bar that appears with the first day that is graded: what is refused before shows none."""
    with ExitStack() as stack:
        bars: list[ProgressBar[int]] = []

        def on_day(_done: int, _all: int) -> None:
            if not bars:
                bar = click.progressbar(length=days, label="Grading the calendar", file=sys.stderr)
                bars.append(stack.enter_context(bar))
            bars[0].update(1)

        yield on_day


def _other_length(folder: Path, days: int) -> str:
    """The length of a kept demo, where it is not the one that was asked for."""
    from evaluator.demo import DATABASE
    from evaluator.store import read
    from evaluator.store.db import open_reader

    with open_reader(folder / DATABASE) as store:
        n_days = sum(read.counts(store, app)["n_runs"] for app in read.apps(store))
    return "" if n_days == days else f", a calendar of {n_days} days and not of {days}"


def _too_short(days: int) -> str:
    """What a short calendar leaves out."""
    from evaluator.demo import ANSWERS_WORSE_IN_RUN, DAYS, JUDGE_CHANGES_IN_RUN

    if days < JUDGE_CHANGES_IN_RUN:
        left_out = "holds no change"
    elif days < ANSWERS_WORSE_IN_RUN:
        left_out = "holds only the judge's change"
    else:
        left_out = "may be too short to show both changes"
    return f"A calendar of {days} days {left_out}; for both it needs at least {DAYS}."


def _open_page(folder: Path, port: int, *, no_browser: bool) -> None:
    """Run the page until it is ended."""
    command = [sys.executable, "-m", "evaluator.cli", "dashboard", "--db", str(folder / "judgewatch.db")]
    command += ["--port", str(port), *(["--no-browser"] if no_browser else [])]
    try:
        subprocess.run(command, check=False)  # noqa: S603 - our own command
    except KeyboardInterrupt:
        say("the page was closed; the demo's database stays")
