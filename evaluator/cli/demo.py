"""``judgewatch demo``: a simulated calendar, graded for real against the practice judge, then the page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click

from evaluator.cli.output import put, say


@click.command()
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("data/demo"),
    show_default=True,
    help="Folder for the database and its configuration.",
)
@click.option("--days", type=click.IntRange(2, 365), default=60, show_default=True, help="Length of the calendar.")
@click.option("--fresh", is_flag=True, help="Replace the demo of an earlier call in the same folder.")
@click.option("--no-dashboard", is_flag=True, help="Do not open the page afterwards.")
@click.option("--port", type=click.IntRange(1, 65535), default=8501, show_default=True, help="Port of the page.")
@click.option("--no-browser", is_flag=True, help="Start the page without opening a browser.")
def demo(*, folder: Path, days: int, fresh: bool, no_dashboard: bool, port: int, no_browser: bool) -> None:
    """Show judgewatch at work, without a key.

    A practice judge on this machine grades a small invented shop's answers over a calendar of 60 days. On one day it
    silently becomes generous; on another the answers in one topic get worse. See whether judgewatch tells them apart.
    """
    from evaluator.demo import is_demo, remove_demo, run_demo

    if is_demo(folder):
        if not fresh:
            say(f"the demo in {folder} is kept as it is; --fresh grades a new one")
            if not no_dashboard:
                _open_page(folder, port, no_browser=no_browser)
            return
        remove_demo(folder)
    with click.progressbar(length=days, label="Grading the calendar", file=sys.stderr) as bar:
        report = run_demo(folder, days=days, on_day=lambda _done, _all: bar.update(1))
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
    put(f"Look closer: judgewatch check --db {folder / 'judgewatch.db'}")
    if not no_dashboard:
        _open_page(folder, port, no_browser=no_browser)


def _open_page(folder: Path, port: int, *, no_browser: bool) -> None:
    """Run the page until it is ended."""
    command = [sys.executable, "-m", "evaluator.cli", "dashboard", "--db", str(folder / "judgewatch.db")]
    command += ["--port", str(port), *(["--no-browser"] if no_browser else [])]
    try:
        subprocess.run(command, check=False)  # noqa: S603 - our own command
    except KeyboardInterrupt:
        say("the page was closed; the demo's database stays")
