"""``judgewatch check``: who moved, in words and numbers, with an exit code for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from evaluator.cli.check_runs import compare
from evaluator.cli.check_self_test import run_self_test
from evaluator.cli.current import Current, next_step, read_current, setup_option
from evaluator.cli.imported_history import history_sentences, imported_history
from evaluator.cli.output import bounds, counted, number, one_line, put, put_json, put_table, signed
from evaluator.cli.target import Target, json_option, target_options
from evaluator.errors import UsageError
from evaluator.store import read

if TYPE_CHECKING:
    from evaluator.findings import Findings, JudgeFinding, QualityFinding, Shares
    from evaluator.store.db import Store

EXIT_JUDGE, EXIT_QUALITY, EXIT_UNDECIDED = 2, 3, 4
_EXIT_CODES = {"judge": EXIT_JUDGE, "quality": EXIT_QUALITY, "undecided": EXIT_UNDECIDED}
_UNDECIDED = frozenset({"cannot_tell", "learning", "no_data"})
_COLUMNS = ("", "finding", "change", "interval", "n", "dates", "method")
_NAME_CHARS = 80  # of a judge, in the last line


class _FailOn(click.ParamType[frozenset[str]]):
    """A list of causes, separated by commas."""

    name = "causes"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> frozenset[str]:
        if isinstance(value, frozenset):
            return value
        causes = frozenset(part.strip() for part in str(value).split(",") if part.strip())
        unknown = sorted(causes - set(_EXIT_CODES))
        if unknown or not causes:
            self.fail(f"{value!r}: name some of {', '.join(_EXIT_CODES)}, separated by commas", param, ctx)
        return causes


@click.command("check")
@click.option(
    "--fail-on",
    type=_FailOn(),
    default=frozenset(),
    help="Exit with 2 for judge drift (judge), 3 for a change of quality or a crossed limit (quality), 4 while nothing"
    " can be told (undecided); separated by commas, the lowest code wins.",
)
@click.option(
    "--baseline",
    metavar="RUN",
    help="Compare two runs only: a run's id, its day, first or latest; or a file of scores. With --current.",
)
@click.option("--current", "current_run", metavar="RUN", help="The run, or the file, that --baseline is compared with.")
@click.option("--self-test", "is_self_test", is_flag=True, help="Try the alarm on this judge's own quiet runs.")
@setup_option
@target_options
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    *,
    target: Target,
    setup: int | None,
    fail_on: frozenset[str],
    baseline: str | None,
    current_run: str | None,
    is_self_test: bool,
    as_json: bool,
) -> None:
    """Say who moved, the judge or the assistant, with numbers, intervals and dates."""
    if baseline is not None or current_run is not None:
        ctx.exit(_compare_two(target, baseline, current_run, setup, fail_on, as_json=as_json))
    with target.reading() as store:
        current = read_current(target, store, setup=setup)
        if is_self_test:
            kept = run_self_test(target, store, current, as_json=as_json)
            ctx.exit(EXIT_UNDECIDED if kept is not True and "undecided" in fail_on else 0)
        _tell(store, current, as_json=as_json)
    ctx.exit(exit_code(current.findings, fail_on))


def _tell(store: Store, current: Current, *, as_json: bool) -> None:
    findings = current.findings
    history = imported_history(store, current.app, findings)
    if findings is None:
        step = next_step(store, current.app)
        if as_json:
            nothing = {"app": current.app, "judge": None, "assistant": None, "headline": step}
            put_json({**nothing, "imported_history": history})
            return
        for sentence in (step, *history_sentences(history)):
            put(sentence)
        return
    recheck = _newest_recheck(store, current.app)
    if as_json:
        put_json({**findings, "recheck": recheck, "imported_history": history})
    else:
        _put_findings(findings, current, recheck, history_sentences(history))


def _compare_two(
    target: Target,
    baseline: str | None,
    current_run: str | None,
    setup: int | None,
    fail_on: frozenset[str],
    *,
    as_json: bool,
) -> int:
    if baseline is None or current_run is None:
        raise UsageError("two runs are compared with --baseline RUN and --current RUN together")
    changed = compare(target, baseline=baseline, current=current_run, setup=setup, as_json=as_json)
    if changed and "judge" in fail_on:
        return EXIT_JUDGE
    return EXIT_UNDECIDED if changed is None and "undecided" in fail_on else 0


def exit_code(findings: Findings | None, fail_on: frozenset[str]) -> int:
    """Return the code of the first cause that is asked for and holds, 0 for none: judge, quality, undecided."""
    return next((_EXIT_CODES[cause] for cause in _EXIT_CODES if cause in fail_on and _holds(cause, findings)), 0)


def _holds(cause: str, findings: Findings | None) -> bool:
    if findings is None:
        return cause == "undecided"
    judge, assistant = findings["judge"]["state"], findings["assistant"]["state"]
    if cause == "judge":
        return judge == "changed"
    if cause == "quality":
        crossed = any(limit["state"] == "crossed" for limit in findings.get("limits", []))
        return assistant == "changed" or crossed or _segment_got_worse(findings)
    return judge in _UNDECIDED or assistant in _UNDECIDED


def _segment_got_worse(findings: Findings) -> bool:
    """Whether a segment lost enough to be in the headline."""
    smallest = findings["settings"]["smallest_change"]
    return any(
        row["state"] == "changed" and row["direction"] == "worse" and -(row["estimate"] or 0.0) >= smallest
        for row in findings["segments"]
    )


def _newest_recheck(store: Store, app: str) -> dict[str, Any] | None:
    """The newest finished recheck of an app: when, its sentence, and the judge's own move; None without one."""
    finished = (row for row in read.rechecks(store, app) if row["finished_utc"] is not None)
    row = next(finished, None)
    if row is None:
        return None
    result = row["result"]
    return {
        "recheck_id": row["recheck_id"],
        "finished_utc": row["finished_utc"],
        "headline": result["headline"],
        "drift": result["drift"],
    }


# ---------------------------------------------------------------- for people


def _put_findings(findings: Findings, current: Current, recheck: dict[str, Any] | None, history: Sequence[str]) -> None:
    put(findings["headline"])
    put()
    for sentence in (*findings["sentences"], *history):
        put(f"  {sentence}")
    if recheck is not None:
        put()
        put(f"Measured apart from the daily runs, by the recheck of {recheck['finished_utc'][:10]} (UTC):")
        put(f"  {recheck['headline']}")
    if findings["needs_a_look"]:
        put()
        put("Needs a look:")
        for sentence in findings["needs_a_look"]:
            put(f"  {sentence}")
    put()
    rows = [_judge_row(findings["judge"]), _assistant_row(findings["assistant"])]
    if findings["shares"] is not None:
        rows += _share_rows(findings["shares"])
    put_table(_COLUMNS, rows, numbers=("change",), long=("n", "dates", "method"), fold=True)
    put()
    put(_footer(findings, current))


def _judge_row(judge: JudgeFinding) -> list[object]:
    return [
        "judge",
        _judge_finding(judge),
        signed(judge["estimate"]),
        bounds(judge["low"], judge["high"]),
        f"{counted(judge['n_anchors'], 'anchor')}, {counted(judge['n_runs_counted'], 'run')}",
        _since(judge["since_day"], judge["since_first_day"], judge["since_last_day"]),
        judge["method"] or None,
    ]


def _judge_finding(judge: JudgeFinding) -> str:
    """The state, and in which way the judge changed."""
    kind = judge.get("kind")  # an analysis of an older version has none
    said = judge["state"].replace("_", " ")
    return said if kind is None else f"{said}: {kind.replace('_', ' ')}"


def _assistant_row(assistant: QualityFinding) -> list[object]:
    return [
        "assistant",
        assistant["state"].replace("_", " "),
        signed(assistant["estimate"]),
        bounds(assistant["low"], assistant["high"]),
        f"{assistant['n_before']:,} before, {assistant['n_after']:,} after",
        _since(assistant["since_day"], assistant["since_first_day"], assistant["since_last_day"]),
        assistant["method"] or None,
    ]


def _share_rows(shares: Shares) -> list[list[object]]:
    counts = f"{shares['n_before']:,} before, {shares['n_after']:,} after"
    dates = (
        f"{shares['before_first_day']} to {shares['before_last_day']},"
        f" {shares['after_first_day']} to {shares['after_last_day']}"
    )
    raw = f"{number(shares['raw_before'])} to {number(shares['raw_after'])}"
    parts: tuple[tuple[str, float, float | None, float | None], ...] = (
        ("of it judge", shares["judge"], shares["judge_low"], shares["judge_high"]),
        ("of it assistant", shares["assistant"], shares["assistant_low"], shares["assistant_high"]),
        ("of it mix", shares["mix"], shares["mix_low"], shares["mix_high"]),
    )
    rows: list[list[object]] = [["traffic mean", raw, signed(shares["raw"]), None, counts, dates, None]]
    rows += [
        [name, None, signed(value), bounds(low, high), counts, dates, shares["method"]]
        for name, value, low, high in parts
    ]
    return rows


def _since(day: str | None, first: str | None, last: str | None) -> str | None:
    if day is None:
        return None
    return f"since {day}" + (f" ({first} to {last})" if first is not None and first != last else "")


def _footer(findings: Findings, current: Current) -> str:
    computed = f"; computed {current.computed_utc[:16].replace('T', ' ')} UTC" if current.computed_utc else ""
    level = f"{findings['settings']['level']:.0%} intervals"
    return (
        f"{current.app}, judge setup v{findings['setup']} ({one_line(findings['model_asked'], _NAME_CHARS)}),"
        f" {findings['first_day']} to {findings['last_day']} ({findings['zone']}); {level}{computed}"
    )
