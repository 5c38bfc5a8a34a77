"""``judgewatch check --baseline A --current B``: two stored runs, or two files of scores, compared at once."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluator.cli.current import read_current, settings_of
from evaluator.cli.output import bounds, number, put, put_json, put_table, signed
from evaluator.cli.target import Target
from evaluator.errors import UsageError

if TYPE_CHECKING:
    from evaluator.analysis.two_runs import RunComparison, Side
    from evaluator.cli.current import Current
    from evaluator.store.db import Store


def compare(target: Target, *, baseline: str, current: str, setup: int | None, as_json: bool) -> bool | None:
    """Compare and print. Returns whether the second differs; None when it cannot be told.

    Raises:
        UsageError: a run that is not there, or a run against a file.
        DataFileError: a file that cannot be read.
    """
    from evaluator.analysis.settings import AnalysisSettings
    from evaluator.analysis.two_runs import compare_sides, side_of_file

    files = [Path(each) for each in (baseline, current) if Path(each).is_file()]
    if len(files) == 1:
        raise UsageError(
            f"{files[0]} is a file and the other is not: compare two runs, or two files of scores"
            " (`judgewatch import --verdicts` makes runs of a file)"
        )
    if files:
        before, after = (side_of_file(path) for path in files)
        settings = AnalysisSettings() if target.config is None else settings_of(target, None)
    else:
        with target.reading() as store:
            known = read_current(target, store, setup=setup)
            before, after = _sides(store, known, baseline, current)
        settings = settings_of(target, known.findings)
    found = compare_sides(before, after, smallest_change=settings.smallest_change)
    if as_json:
        put_json({**_as_json(found), "sentence": found.sentence()})
    else:
        _put_comparison(found)
    finding = found.result.finding.value
    return None if finding == "cannot_tell" else finding.startswith("changed")


def _sides(store: Store, known: Current, baseline: str, current: str) -> tuple[Side, Side]:
    from evaluator.analysis.two_runs import side_of_run

    if known.ruler is None:
        raise UsageError(f"{known.app} has no graded run yet; name two files of scores, or grade first")
    before = side_of_run(store, app=known.app, setup=known.ruler, wanted=baseline)
    return before, side_of_run(store, app=known.app, setup=known.ruler, wanted=current)


def _as_json(found: RunComparison) -> dict[str, Any]:
    payload = asdict(found)
    for side in (payload["before"], payload["after"]):
        side["n_scored"] = len(side.pop("scores"))
        del side["questions"]  # texts: no part of a number
    return payload


def _put_comparison(found: RunComparison) -> None:
    result = found.result
    put(found.sentence())
    put()
    put_table(
        ("", "n", "mean", "only there", "dates"),
        [
            [found.before.name, result.n, number(result.mean_before), result.n_only_before, found.before.day or None],
            [found.after.name, result.n, number(result.mean_after), result.n_only_after, found.after.day or None],
        ],
        numbers=("n", "mean", "only there"),
    )
    put()
    put(f"Difference {signed(result.estimate)} {bounds(result.low, result.high) or '(no interval)'}: {result.method}.")
    if result.sign_test_p is not None:
        put(f"Sign test, {result.n_up} up against {result.n_down} down: p {result.sign_test_p:.2g}, exact.")
    for side in (found.before, found.after):
        if side.n_rejected:
            put(f"{side.name}: {side.n_rejected} rows could not be read and are left out.")
    if found.moved:
        put()
        put_table(
            ("moved most", "before", "after"),
            [[moved.item, number(moved.before), number(moved.after)] for moved in found.moved],
            numbers=("before", "after"),
        )
