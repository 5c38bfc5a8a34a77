"""``judgewatch check --self-test``: does the alarm keep its promise on this judge's own quiet runs?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from evaluator.cli.current import Current, settings_of
from evaluator.cli.output import counted, put, put_json
from evaluator.cli.target import Target
from evaluator.errors import UsageError

if TYPE_CHECKING:
    from evaluator.findings import Findings
    from evaluator.stats.self_test import SelfTest
    from evaluator.store.db import Store


def run_self_test(target: Target, store: Store, current: Current, *, as_json: bool) -> bool | None:
    """Try the alarm and print what came of it. Returns whether the promise is kept; None when it cannot be told.

    Raises:
        UsageError: no run has graded enough anchors yet.
    """
    from evaluator.analysis.health import longest_quiet_runs
    from evaluator.analysis.units import Scale
    from evaluator.stats.self_test import self_test

    findings = current.findings
    quiet = None
    if current.ruler is not None:
        days = _change_days(findings)
        quiet = longest_quiet_runs(store, app=current.app, setup=current.ruler, change_days=days)
    if quiet is None or current.ruler is None:
        raise UsageError(f"{current.app} has no run with enough scored anchors yet: there is nothing to test on")
    scale = Scale(low=float(current.ruler["scale_min"]), high=float(current.ruler["scale_max"]))
    settings = settings_of(target, findings)
    found = self_test(
        scale.low + (quiet.scores - 1.0) * scale.unit,
        scale=scale.bounds,
        false_alarms_per_year=settings.false_alarms_per_year,
        runs_per_year=settings.runs_per_year,
        smallest_change=settings.smallest_change,
    )
    if as_json:
        period = {"first_day": quiet.days[0], "last_day": quiet.days[-1]}
        put_json({"app": current.app, "self_test": {**asdict(found), **period}})
    else:
        _put_result(found, current.app, quiet.days)
    return found.passed


def _change_days(findings: Findings | None) -> list[str]:
    judge = None if findings is None else findings["judge"]
    if judge is None or judge["since_day"] is None:
        return []
    return [*judge["earlier_days"], judge["since_day"]]


def _put_result(found: SelfTest, app: str, days: tuple[str, ...]) -> None:
    period = f"{counted(found.n_runs, 'quiet run')} of {app}, {days[0]} to {days[-1]}"
    if found.per_year is None or found.per_year_se is None:
        put(f"{'Not passed' if found.passed is False else 'Cannot tell'}: {found.reason} ({period}).")
        return
    put(f"{'Passed' if found.passed else 'Not passed'}{': ' + found.reason if found.reason else ''} ({period}).")
    put()
    put(
        f"  Dealt anew in blocks of seven runs and watched for {found.n_years} years in which nothing changed:"
        f" {counted(found.false_alarms, 'alarm')}, {found.per_year:.2f} a year"
        f" (standard error {found.per_year_se:.2f});"
        f" promised {found.promised:g} a year."
    )
    if found.median_delay is not None:
        when = f"half of the alarms within {counted(round(found.median_delay), 'run')}"
    else:
        when = "more than half not within 60 runs: this change is too small for these anchors and this noise"
    put(f"  A change of {found.change:g} put in {found.n_changes} times: found {found.n_found} times; {when}.")
    put()
    put("The alarm on the anchors alone, with the whole budget of false alarms; in use it has its share of it.")
