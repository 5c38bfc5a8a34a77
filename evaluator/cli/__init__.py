"""The command ``judgewatch``. Each command is a file of its own, loaded when it is used; this file lists them."""

from __future__ import annotations

from typing import Any

import click

from evaluator.cli.root import Entry, Root
from evaluator.cli.target import Session

_SECTIONS = {
    "Start": {
        "demo": Entry(
            module="evaluator.cli.demo", name="demo", help="See it work, without a key: sixty simulated days."
        ),
        "init": Entry(module="evaluator.cli.init", name="init", help="Write a first configuration; see what it costs."),
        "recheck": Entry(module="evaluator.cli.recheck", help="Grade stored scores again: did your judge move?"),
        "doctor": Entry(module="evaluator.cli.doctor", help="Check that everything is in place; what to do if not."),
        "import": Entry(module="evaluator.cli.imports", help="Take in answers from files."),
        "source": Entry(module="evaluator.cli.source", help="Try the files and the command that answers come from."),
    },
    "Daily": {
        "run": Entry(module="evaluator.cli.run", help="Grade anchors and new answers, once or on schedule."),
        "check": Entry(module="evaluator.cli.check", help="Say who moved, the judge or the assistant."),
        "dashboard": Entry(module="evaluator.cli.dashboard", help="Open the page."),
    },
    "Investigate": {
        "history": Entry(module="evaluator.cli.history", help="Show the scores day by day."),
        "segments": Entry(module="evaluator.cli.segments", help="Show the scores by segment."),
        "items": Entry(module="evaluator.cli.items", help="List answers, or show one with every verdict."),
        "alerts": Entry(module="evaluator.cli.alerts", help="Show what would have fired on this history."),
        "export": Entry(module="evaluator.cli.export", help="Write verdicts, answers or days to a file."),
    },
    "Admin": {
        "local": Entry(module="evaluator.cli.local", help="Fetch a small model to judge with on this machine."),
        "anchors": Entry(module="evaluator.cli.anchors", help="Show the fixed answers that watch the judge."),
        "rubric": Entry(module="evaluator.cli.rubric", help="Show what a score means."),
        "baseline": Entry(
            module="evaluator.cli.baseline", help="Show or accept what is the judge's normal; take it back."
        ),
        "event": Entry(module="evaluator.cli.event", help="Log deploys and notes that may explain a change."),
        "db": Entry(module="evaluator.cli.db", help="Look after the database."),
    },
}


@click.command("judgewatch", cls=Root, sections=_SECTIONS, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show where an error happened (also: JUDGEWATCH_DEBUG=1).")
@click.version_option(package_name="judgewatch", prog_name="judgewatch", message="%(prog)s %(version)s")
@click.pass_obj
def cli(session: Session | None, *, debug: bool) -> None:
    """Watch an LLM judge: tell judge drift from quality change, every day, with error bars."""
    if session is not None and debug:
        session.debug = True


def main() -> Any:
    """Run the command line of this process."""
    return cli.main(prog_name="judgewatch")
