"""The newest analysis of an app, made anew where runs have finished since; and what to do where there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from evaluator.cli.output import counted, say
from evaluator.cli.target import Target
from evaluator.errors import StoreError, UsageError
from evaluator.freshness import newest_analysis
from evaluator.store import read

if TYPE_CHECKING:
    from evaluator.analysis import AnalysisSettings
    from evaluator.findings import Findings
    from evaluator.store.db import Store


class _SetupParam(click.ParamType[int]):
    """The number of a judge setup, also as it is shown: ``v3``."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value).strip().removeprefix("v")
        if not (text.isascii() and text.isdecimal() and 0 < len(text) <= _LONGEST_NUMBER and int(text)):
            self.fail(f"{value!r}: write it as a number from 1, like 2 or v2", param, ctx)
        return int(text)


_LONGEST_NUMBER = 9
setup_option = click.option(
    "--setup", "setup", type=_SetupParam(), help="Number of the judge setup (default: the newest that graded)."
)


@dataclass(frozen=True, kw_only=True)
class Current:
    """What is known of an app. ``ruler`` and ``findings`` are None before the first graded run."""

    app: str
    ruler: dict[str, Any] | None
    findings: Findings | None
    computed_utc: str | None


def read_current(target: Target, store: Store, *, setup: int | None = None) -> Current:
    """Return the newest analysis of the app in question, of the setup of that number where one is named.

    Raises:
        UsageError: which app is meant is not clear, or there is no such setup.
        StoreError: the database cannot be used.
    """
    app = target.app_in(store)
    ruler = read.newest_ruler(store, app) if setup is None else _ruler_of(store, app, setup)
    if ruler is None:
        return Current(app=app, ruler=None, findings=None, computed_utc=None)
    row, is_due = newest_analysis(store, app=app, ruler_id=ruler["ruler_id"], criterion=ruler["criterion"])
    if is_due:
        missing = "there is no analysis yet" if row is None else "runs have finished since the last analysis"
        say(f"note: {missing}; it is made now")
        findings = _analyse(target, store, app, ruler["ruler_id"], row)
        return Current(app=app, ruler=ruler, findings=findings, computed_utc=None)
    if row is None:
        return Current(app=app, ruler=ruler, findings=None, computed_utc=None)
    return Current(app=app, ruler=ruler, findings=row["payload"], computed_utc=row["computed_utc"])


def _ruler_of(store: Store, app: str, setup: int) -> dict[str, Any]:
    """The judge setup of a number."""
    known = read.rulers(store, app)
    found = next((row for row in known if row["position"] == setup), None)
    if found is None:
        listed = ", ".join(f"{row['position']} ({row['model_asked']}, {row['criterion']})" for row in known) or "none"
        raise UsageError(f"{app} has no judge setup {setup}; its setups: {listed}")
    return found


def _analyse(target: Target, store: Store, app: str, ruler_id: str, last: dict[str, Any] | None) -> Findings:
    from evaluator.analysis import analyse, analyse_and_store
    from evaluator.clock import SystemClock

    settings = settings_of(target, None if last is None else last["payload"])
    try:
        return analyse_and_store(target.db, app=app, ruler_id=ruler_id, settings=settings, now=SystemClock().now())
    except StoreError as error:  # a database that may only be read can be analysed all the same
        say(f"note: the analysis cannot be kept ({error})")
        return analyse(store, app=app, ruler_id=ruler_id, settings=settings)


def analyse_again(target: Target, store: Store, app: str, ruler: dict[str, Any]) -> Findings:
    """Make the analysis of a judge setup anew, after something other than a run changed what it says.

    Works also on a setup that has graded nothing yet; then it says so.
    """
    row, _ = newest_analysis(store, app=app, ruler_id=ruler["ruler_id"], criterion=ruler["criterion"])
    return _analyse(target, store, app, ruler["ruler_id"], row)


def settings_of(target: Target, last: Findings | None) -> AnalysisSettings:
    """The configured settings, else those of the last analysis, else the defaults."""
    from evaluator.analysis import AnalysisSettings
    from evaluator.analysis.settings import settings_from

    if target.config is not None:
        from evaluator.clock import SystemClock
        from evaluator.scoring.slot import analysis_settings

        return analysis_settings(target.config, SystemClock().now())
    if last is None:
        return AnalysisSettings()
    return settings_from(last["settings"])


def next_step(store: Store, app: str) -> str:
    """Say what is missing before there can be an answer, and the command that comes next."""
    counts = read.counts(store, app)
    if not counts["n_runs"]:
        if not counts["n_answers"]:
            return "There are no answers and no runs yet: `judgewatch import FILE`, then `judgewatch run once`."
        return f"Nothing is graded yet ({counted(counts['n_answers'], 'answer')} waiting): `judgewatch run once`."
    newest = read.runs(store, app, most=1, aside=False)[0]
    reasons = ", ".join(f"{n} {reason}" for reason, n in newest["reasons"].items())
    why = f": {newest['message'] or reasons}" if newest["message"] or reasons else ""
    return f"No run has a score yet; the last one, of {newest['slot_day']}, is {newest['status']}{why}."
