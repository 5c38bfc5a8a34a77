"""What a page shows: database, app, judge setup and period, worked out from the view; or why there is nothing.

Every state of the database is named here with what to do about it, so that no page meets it as an exception.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from dashboard import mean_queries, queries
from dashboard.filters import View, clip_days
from dashboard.launch import DB_VARIABLE
from dashboard.queries import Row, Setup, StoreKey
from dashboard.wording import day as day_text
from dashboard.wording import days as days_text
from evaluator.errors import NewerDatabaseError, StoreError
from evaluator.findings import Findings
from evaluator.records import Purpose

DEFAULT_DAYS = 90


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Nothing can be shown: what is missing, why, and the next step as a command. All plain text."""

    title: str
    text: str
    command: str = ""


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Everything that a page's questions are asked about.

    ``days`` are the first and last day with verdicts under the setup, ``period`` the chosen part of them; both are
    None while there are no verdicts, and ``period`` is None too when the chosen days hold none.
    """

    key: StoreKey
    view: View
    zone: ZoneInfo
    apps: list[str]
    app: str
    setups: list[Row]
    setup_row: Row
    setup: Setup
    days: tuple[str, str] | None
    period: tuple[str, str] | None
    findings: Findings | None

    @property
    def scale(self) -> tuple[float, float]:
        """Lowest and highest score of the rubric."""
        return self.setup.scale_min, self.setup.scale_max

    @property
    def is_imported(self) -> bool:
        """Whether the scores were imported, so that no judge was called for them."""
        return bool(self.setup_row["output_mode"] == Purpose.IMPORTED)

    @property
    def anchor_setup(self) -> Setup | None:
        """The setup whose anchors tell how the judge scores: its own, or the one that speaks for imported scores."""
        if not self.is_imported:
            return self.setup
        position = None if self.findings is None else self.findings.get("anchor_setup")
        row = next((row for row in self.setups if row["position"] == position), None)
        return None if row is None else _setup(self.app, row)

    @property
    def level(self) -> float:
        """Coverage of the intervals of the analysis, else of the page."""
        return self.findings["settings"]["level"] if self.findings is not None else mean_queries.LEVEL


def database_path() -> Path:
    """The database to show: set by `judgewatch dashboard`, else the first argument, else the usual name here."""
    named = os.environ.get(DB_VARIABLE) or (sys.argv[1] if len(sys.argv) > 1 else "data/judgewatch.db")
    return Path(named)


def find_scope(path: Path, view: View) -> Scope | Problem:
    """Work out what to show; a choice that does not exist in this database falls back to the default."""
    try:
        key = queries.store_key(path)
        return _scope(key, view)
    except StoreError as error:
        return _store_problem(path, error)


def _scope(key: StoreKey, view: View) -> Scope | Problem:
    apps = queries.apps(key)
    if not apps:
        return Problem(
            title="No answers yet",
            text="The database is ready and empty. Import answers of your assistant, then grade them.",
            command="judgewatch import answers.jsonl\njudgewatch run once",
        )
    app = view.app if view.app in apps else apps[0]
    setups = queries.setups(key, app)
    if not setups:
        n_answers = queries.counts(key, app)["n_answers"]
        return Problem(
            title="No scores yet",
            text=f"{n_answers:,} answers are imported and none is graded. Run the scorer once, or let it watch.",
            command="judgewatch run once",
        )
    row = _chosen_setup(setups, view.setup, queries.newest_setup(key, app))
    setup = _setup(app, row)
    days = queries.graded_days(key, setup)
    return Scope(
        key=key,
        view=view,
        zone=ZoneInfo(queries.zone(key)),
        apps=apps,
        app=app,
        setups=setups,
        setup_row=row,
        setup=setup,
        days=days,
        period=None if days is None else _period(view, days),
        findings=queries.findings(key, setup),
    )


def _setup(app: str, row: Row) -> Setup:
    return Setup(app, row["ruler_id"], row["criterion"], row["scale_min"], row["scale_max"])


def _chosen_setup(setups: list[Row], wanted: int | None, newest: int | None) -> Row:
    by_number = {row["position"]: row for row in setups}
    return by_number.get(wanted or newest or 0) or by_number.get(newest or 0) or setups[-1]


def _period(view: View, days: tuple[str, str]) -> tuple[str, str] | None:
    if view.first_day is None and view.last_day is None:
        return default_period(days)
    return clip_days(view, *days)


def default_period(days: tuple[str, str], n_days: int = DEFAULT_DAYS) -> tuple[str, str]:
    """The newest ``n_days`` of the days there are."""
    start = (date.fromisoformat(days[1]) - timedelta(days=n_days - 1)).isoformat()
    return max(start, days[0]), days[1]


def _store_problem(path: Path, error: StoreError) -> Problem:
    """Say what is wrong with the file; the command is the next step, not the error."""
    shown = path.absolute()
    if not path.exists():
        return Problem(
            title="There is no database here",
            text=f"Looked for {shown}. Nothing was created. Name the right file, or make a first one with the demo.",
            command="judgewatch dashboard --db PATH\njudgewatch demo",
        )
    if path.is_file() and path.stat().st_size == 0:
        return Problem(
            title="The database is an empty file",
            text=f"{shown} has 0 bytes. Import answers into it and run the scorer, or name another file.",
            command=f"judgewatch import answers.jsonl --db {path}\njudgewatch run once --db {path}",
        )
    if isinstance(error, NewerDatabaseError):
        return Problem(
            title="The database is of a newer judgewatch", text=str(error), command="pip install -U judgewatch"
        )
    if "db migrate" in str(error):
        return Problem(
            title="The database is of an older judgewatch",
            text=str(error),
            command=f"judgewatch db migrate --db {path}",
        )
    return Problem(title="The database cannot be read", text=str(error), command=f"judgewatch db info --db {path}")


def no_days_text(scope: Scope) -> str:
    """Why a page has no day to show: the chosen period lies beside the days there are."""
    if scope.days is None:
        return "No verdicts yet under this judge setup."
    first, last = scope.view.first_day, scope.view.last_day
    if first is not None and last is not None:
        chosen = f"in {days_text(first, last)}"
    else:
        chosen = f"from {day_text(first, year=True)} on" if first else f"until {day_text(last or '', year=True)}"
    return f"No graded answers {chosen}. There are some in {days_text(*scope.days)}."
