"""What is said of the sources of answers: before a run, after it, and when they are tried. Words only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from evaluator.cli.output import counted, one_line, put, put_table, say

if TYPE_CHECKING:
    from evaluator.scoring.slot_preview import SlotPreview
    from evaluator.sources import PullOutcome, SourceTrial

_SHOWN_CHARS = 100

HOW_TO_CONFIGURE = (
    'no source is configured; name files in judgewatch.toml, under [traffic]: files = "answers/*.jsonl", or a command'
    ' that prints a JSON object a line: command = "python pull.py" (docs/sources.md has ready ones)'
)


def put_waiting_sources(preview: SlotPreview) -> None:
    """Print what a run would ask for answers before it grades."""
    n = preview.n_source_files
    if n:
        put(f"{counted(n, 'file')} of the sources {'is' if n == 1 else 'are'} not read yet and not counted here")
    if preview.source_command is not None:
        put(f"a run first asks traffic.command ({preview.source_command}) for new answers; they are not counted here")


def say_sources(outcomes: Iterable[PullOutcome]) -> None:
    """Tell what came from each source, what went wrong, and which one has been quiet for long."""
    from evaluator.sources.notes import shown_notes

    for outcome in outcomes:
        key = outcome.key
        if outcome.status == "failed":
            say(f"warning: {key} ({outcome.source}) failed: {outcome.message}; the run goes on with what is stored")
        if outcome.n_new or outcome.status == "ok":
            say(f"{key}: {_counts(outcome)}")
        elif outcome.status == "nothing_new":
            say(f"{key}: nothing new; {outcome.message}")
        for note in shown_notes(outcome.notes):
            say(f"note: {note}")
        if outcome.is_quiet:
            say(
                f"warning: {key} ({outcome.source}) has brought nothing new for {outcome.n_quiet} runs in a row; are"
                " answers still written there?"
            )


def _counts(outcome: PullOutcome) -> str:
    known = f", {outcome.n_known:,} known already" if outcome.n_known else ""
    rejected = f", {counted(outcome.n_rejected, 'row')} left out" if outcome.n_rejected else ""
    files = f", from {counted(outcome.n_files, 'file')}" if outcome.kind == "files" else ""
    what = "new score" if outcome.key == "traffic.verdicts" else "new answer"
    return f"{counted(outcome.n_new, what)}{known}{rejected}{files}"


def put_trial(trial: SourceTrial) -> None:
    """Print how the first rows of a source are read."""
    from evaluator.sources.notes import shown_notes

    where = f", {counted(trial.n_files, 'file')}" if trial.key != "traffic.command" else ""
    refused = f", {trial.n_refused:,} of them cannot be used" if trial.n_refused else ""
    put(f"{trial.key} = {trial.source}{where}: {counted(trial.n_rows, 'row')} looked at{refused}")
    place = ""
    for number, row in enumerate(trial.rows, start=1):
        if row.place != place:
            place = row.place
            put(f"\n{place}")
        put(f"\nrow {number}, line {row.line}" + (f" ({', '.join(row.marks)})" if row.marks else ""))
        cells = [(name, row.columns.get(name), one_line(text, _SHOWN_CHARS)) for name, text in row.fields.items()]
        cells += [("tag", key, one_line(value, _SHOWN_CHARS)) for key, value in row.tags.items()]
        put_table(("field", "column", "value"), cells, long=("value",))
    for refusal in trial.refused:
        put(f"refused: {refusal.place}, line {refusal.line}: {refusal.reason}: {refusal.text_start}".rstrip(": "))
    if trial.n_refused > len(trial.refused):
        put(f"... and {trial.n_refused - len(trial.refused):,} more")
    for note in shown_notes(trial.notes):
        put(f"note: {note}")
