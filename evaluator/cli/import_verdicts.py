"""``judgewatch import --verdicts``: scores that the user's own pipeline has stored, without any judge call."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evaluator.cli.import_texts import payload_of
from evaluator.cli.output import bounds, counted, number, one_line, put, put_json, put_table, say
from evaluator.cli.target import Target
from evaluator.errors import UsageError

if TYPE_CHECKING:
    from evaluator.analysis import AnalysisSettings
    from evaluator.importing import RejectLog
    from evaluator.importing.verdicts import VerdictReading, VerdictReport
    from evaluator.records import Ruler

FORMATS = ("ragas", "promptfoo", "deepeval")  # those that hold scores only
_COLUMNS = ("setup", "judge", "criterion", "scored", "missing", "new", "mean", "interval", "scale", "days")
_NUMBERS = ("setup", "scored", "missing", "new", "mean")
_NAME_CHARS = 80  # of a judge and criterion, in a sentence


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """The options of ``import`` that are about scores, as they were given."""

    verdicts: bool
    judge: str | None
    criterion: str | None
    only: tuple[str, ...]
    graded_at: str | None
    scale: tuple[float, float] | None
    same_judge: bool

    def check(self, *, answered_at: str | None) -> None:
        """Refuse options that do not go together.

        Raises:
            UsageError: an option about scores without --verdicts, or one about answers with it; a scale upside down.
        """
        given = {
            "--judge": self.judge,
            "--criterion": self.criterion,
            "--only": self.only,
            "--graded-at": self.graded_at,
            "--scale": self.scale,
            "--same-judge": self.same_judge,
        }
        lone = next((name for name, value in given.items() if value), None)
        if not self.verdicts and lone is not None:
            raise UsageError(f"{lone} is about stored scores; it needs --verdicts")
        if self.verdicts and answered_at is not None:
            raise UsageError("--answered-at is about answers without scores; with --verdicts it is --graded-at TIME")
        if self.scale is not None and not self.scale[0] < self.scale[1]:
            raise UsageError(f"--scale {self.scale[0]:g} {self.scale[1]:g}: the lowest score comes first")


def score_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options about scores, passed to it as ``scores``."""

    @click.option("--verdicts", is_flag=True, help="The files hold scores that a judge gave; nothing is graded.")
    @click.option("--judge", help="With --verdicts: name of the judge of rows that name none.")
    @click.option("--criterion", help="With --verdicts: criterion of rows that name none.")
    @click.option("--only", multiple=True, metavar="CRITERION", help="With --verdicts: take this criterion only.")
    @click.option("--graded-at", metavar="TIME", help="With --verdicts: time of the scores that have none.")
    @click.option(
        "--scale",
        nargs=2,
        type=float,
        metavar="MIN MAX",
        help="With --verdicts: worst and best score (default: the configured judge's where the scores lie within"
        " it, else as the numbers say).",
    )
    @click.option(
        "--same-judge",
        is_flag=True,
        help="With --verdicts: the scores are of the configured judge (same model, prompt and scale), whose anchors"
        " then speak for them.",
    )
    @functools.wraps(command)
    def wrapped(*args: object, **options: Any) -> None:
        names = ("verdicts", "judge", "criterion", "only", "graded_at", "scale", "same_judge")
        scores = ScoreOptions(**{name: options.pop(name) for name in names})
        scores.check(answered_at=options["answered_at"])
        command(*args, scores=scores, **options)

    return wrapped


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """The options of ``import`` that scores share with answers."""

    files: tuple[Path, ...]
    app: str
    file_format: str | None
    fields: dict[str, str]
    encoding: str
    time_format: str | None
    naive_zone: str
    day_zone: str | None
    skip_bad: bool
    dry_run: bool


def import_scores(
    target: Target, scores: ScoreOptions, shared: ImportOptions, rejects: RejectLog, *, as_json: bool
) -> bool:
    """Import files of scores and tell what came of it; returns whether everything went in that should.

    Raises:
        JudgewatchError: nothing is stored.
    """
    from evaluator.clock import SystemClock
    from evaluator.importing.verdicts import import_verdicts

    config = target.config
    same_judge = _configured_ruler(target) if scores.same_judge else None
    report = import_verdicts(
        target.use_db(),
        shared.files,
        app=shared.app,
        now=SystemClock().now(),
        reading=_reading(target, scores, shared),
        settings=_settings(target),
        day_zone=shared.day_zone,
        segment_keys=None if config is None else config.traffic.segment_keys(),
        same_judge=same_judge,
        by_whom="import --same-judge",
        rejects=rejects,
        skip_bad=shared.skip_bad,
        dry_run=shared.dry_run,
    )
    if as_json:
        put_json(payload_of(report, rejects, dry_run=shared.dry_run))
    elif report.n_scored or report.judges:
        _tell(report, target.db, dry_run=shared.dry_run)
    return bool(report.n_scored) and (not report.n_rejected or shared.skip_bad)


def tell_end(report_is_good: bool, rejects: RejectLog, *, skip_bad: bool, dry_run: bool) -> None:
    """Say what rejects, or a lack of scores, meant for the import."""
    if rejects.n and skip_bad and report_is_good:
        say(f"{counted(rejects.n, 'row')} skipped")
    elif rejects.n and not skip_bad and not dry_run:
        say(
            f"error: {counted(rejects.n, 'score')} cannot be used, so nothing was imported; correct"
            f" {'it' if rejects.n == 1 else 'them'}, or import the rest with --skip-bad"
        )
    elif not report_is_good and not rejects.n:
        say("error: there is no score in the files; nothing was imported")


def _reading(target: Target, scores: ScoreOptions, shared: ImportOptions) -> VerdictReading:
    from evaluator.importing.redacting import open_redactor
    from evaluator.importing.verdicts import VerdictReading

    traffic = None if target.config is None else target.config.traffic
    return VerdictReading(
        format=shared.file_format,
        field_map=shared.fields,
        naive_zone=shared.naive_zone,
        time_format=shared.time_format,
        encoding=shared.encoding,
        judge=scores.judge,
        criterion=scores.criterion,
        graded_at=scores.graded_at,
        only=scores.only,
        scale=scores.scale,
        judge_scale=_judge_scale(target),
        redactor=None if traffic is None else open_redactor(traffic),
        keep_reasons=traffic is None or traffic.store_reasons,
    )


def _judge_scale(target: Target) -> tuple[float, float] | None:
    """Lowest and highest score of the configured judge; None without a configuration."""
    if target.config is None:
        return None
    from evaluator.scoring.setup import configured_rubric

    rubric = configured_rubric(target.config)
    return rubric.scale_min, rubric.scale_max


def _settings(target: Target) -> AnalysisSettings:
    """The configured decisions, else the defaults."""
    from evaluator.analysis import AnalysisSettings

    if target.config is None:
        return AnalysisSettings()
    from evaluator.clock import SystemClock
    from evaluator.scoring.slot import analysis_settings

    return analysis_settings(target.config, SystemClock().now())


def _configured_ruler(target: Target) -> Ruler:
    """The judge setup of the configuration. Nothing is called."""
    from evaluator.scoring.setup import build_judge

    config = target.needed_config()
    judge, _ = build_judge(config)
    ruler = judge.ruler
    asyncio.run(judge.close())
    return ruler


# ---------------------------------------------------------------- what is told


def _tell(report: VerdictReport, db: Path, *, dry_run: bool) -> None:
    for file in report.files:
        blank = f", {counted(file.n_blank, 'blank line')}" if file.n_blank else ""
        rejected = f", {counted(file.n_rejected, 'score')} rejected" if file.n_rejected else ""
        put(f"{file.path}: {counted(file.n_rows, 'row')}{rejected}{blank}")
    if report.created:
        put(f"created {db} (days in zone {report.zone})")
    if report.stored or dry_run:
        _tell_judges(report, db, dry_run=dry_run)
    for note in dict.fromkeys(note for file in report.files for note in file.notes):
        put(f"note: {note}")
    if report.n_bare:
        put(
            f"note: of {counted(report.n_bare, 'answer')} only the id is known: stored without texts. Import the"
            " answers first, under the same ids, to have them beside their scores"
        )
    if report.redaction:
        put(f"redacted: {report.redaction}")
    if report.stored:
        _tell_next(report)


def _tell_judges(report: VerdictReport, db: Path, *, dry_run: bool) -> None:
    rows = [
        [
            None if judge.setup is None else f"v{judge.setup}",
            judge.judge,
            judge.criterion,
            f"{judge.n_scored:,}",
            f"{judge.n_missing:,}",
            f"{judge.n_new:,}",
            number(judge.mean),
            bounds(judge.low, judge.high),
            "none: no score" if judge.scale_low is None else f"{judge.scale_low:g} to {judge.scale_high:g}",
            None if judge.first_day is None else f"{judge.first_day} to {judge.last_day} ({judge.n_days:,})",
        ]
        for judge in report.judges
    ]
    put_table(_COLUMNS, rows, numbers=_NUMBERS, long=("judge", "criterion", "days"), fold=True)
    for judge in report.judges:
        name = one_line(f"{judge.judge}, {judge.criterion}", _NAME_CHARS)
        if judge.scale_low is not None:
            put(f"scale of {name}: {judge.scale_low:g} to {judge.scale_high:g} ({judge.scale_how})")
        if judge.n_earlier:
            put(f"{name}: {counted(judge.n_earlier, 'earlier grading')} of the same answers; the latest counts")
        if judge.n_other:
            put(f"{name}: {counted(judge.n_other, 'answer')} with another score stored already; that one is kept")
    n_new = sum(judge.n_new for judge in report.judges)
    verb = "would be new" if dry_run else "new"
    added = f"{counted(n_new, 'verdict')} and {counted(report.n_new_answers, 'answer')}"
    put(f"{added} {verb}, in {db}; no judge was called")


def _tell_next(report: VerdictReport) -> None:
    if any(judge.is_bridged for judge in report.judges):
        put(
            "next: the configured judge's anchors speak for these scores; `judgewatch run once` grades them"
            " (traffic.grade = false in judgewatch.toml leaves it at anchors)"
        )
    else:
        put("next: `judgewatch check`, `judgewatch history`, or `judgewatch recheck FILE`: did the judge move?")
