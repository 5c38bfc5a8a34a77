"""Runs: what each one planned, scored and cost, why one failed or stopped, and what to do next."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import queries
from dashboard.charts.runs import plot_runs
from dashboard.components import (
    heading,
    render_chart,
    render_day,
    render_no_verdicts,
    render_table,
    require_scope,
    run_cause,
    say,
    small,
)
from dashboard.queries import Row
from dashboard.scope import Scope
from dashboard.wording import counted, day, days, duration, instant, reasons
from evaluator.records import Purpose, StopReason

MOST_CARDS = 3
MOST_EARLIER = 20
_COLUMNS = {
    "slot": "time",
    "purpose": "kind",
    "status": "status",
    "cause": "cause",
    "setup": "setup",
    "n_planned": "planned",
    "n_scored": "scored",
    "n_unscored": "not scored",
    "n_not_started": "not started",
    "reasons": "reasons",
    "n_calls": "calls",
    "cost_usd": "cost, USD",
    "duration": "took",
}
_PURPOSES: dict[str, str] = {
    Purpose.SCHEDULED: "scheduled run",
    Purpose.IMPORTED: "imported scores",
    Purpose.RECHECK: "recheck",
    Purpose.PICK: "choice of anchors",
}
_NOT_COUNTED_NEXT = "Switch the cache off for the judge, see what the command says, then wait for the next run."
_NEXT: dict[str, tuple[str, str]] = {
    StopReason.AUTH: (
        "The judge refused the key. Check the key and its variable, then run again.",
        "judgewatch run once --kind anchors",
    ),
    StopReason.QUOTA: ("The provider's quota is used up. Raise it there, then run again.", "judgewatch run once"),
    StopReason.MODEL_NOT_FOUND: (
        "The judge's model is not offered any more. Name another one in judgewatch.toml; it starts a new judge setup.",
        "judgewatch run once --kind anchors",
    ),
    StopReason.NOT_AN_API: ("What answers at base_url is no judge. Check the address.", "judgewatch run once"),
    StopReason.RATE_LIMITED: ("The provider asked for a pause. The rest is taken up again.", "judgewatch run once"),
    StopReason.BUDGET: (
        "The budget of the day is spent. The rest waits; raise usd_per_day or grade fewer answers a day.",
        "judgewatch run once",
    ),
    StopReason.INTERRUPTED: ("The scorer was ended. A new start takes the run up where it was.", "judgewatch run once"),
    StopReason.UNREADABLE: (
        "The judge answers and no reply holds a score. Read one (Answers), then mend model, rubric or output_mode.",
        "judgewatch run once --kind anchors",
    ),
    StopReason.UNREACHABLE: ("The judge could not be reached. Check network and base_url.", "judgewatch run once"),
}


def _table_row(run: Row, scope: Scope) -> dict[str, Any]:
    is_imported = run["purpose"] == Purpose.IMPORTED  # a day of scores: nothing was called, nothing was paid
    return {
        **run,
        "slot": day(run["slot_day"], year=True) if is_imported else instant(run["slot_utc"], scope.zone),
        "setup": f"v{run['setup']}",
        "purpose": _PURPOSES.get(run["purpose"], run["purpose"]),
        "reasons": reasons(run["reasons"]),
        "cost_usd": run["cost_usd"] or (None if is_imported or run["n_calls"] else 0.0),  # calls without a price
        "duration": "–" if is_imported else duration(run["started_utc"], run["finished_utc"]),
        "cause": run_cause(run) if run["status"] in ("failed", "stopped") else _not_counted(run),
    }


def _not_counted(run: Row) -> str:
    """Why a run that came to its end is no measurement; empty when it is one."""
    return f"does not count: {run['not_counted']}" if run["not_counted"] else ""


def _card(run: Row, scope: Scope) -> None:
    """One run that did not finish: its cause and the next step."""
    ending = "failed" if run["status"] == "failed" else "stopped before its end"
    with st.container(border=True):
        heading(f"The run of {instant(run['slot_utc'], scope.zone)} {ending}", 4)
        say(run_cause(run))
        step, command = _NEXT.get(run["stop_reason"] or "", ("Look into the scorer's log, then run again.", ""))
        say(f"Next step: {step}")
        if command:
            st.code(command, language=None, wrap_lines=True)


def _card_not_counted(run: Row, scope: Scope) -> None:
    """The newest run came to its end and is no measurement: why, and what to do."""
    with st.container(border=True):
        heading(f"The run of {instant(run['slot_utc'], scope.zone)} does not count", 4)
        say(run["not_counted"])
        st.text(f"Next step: {_NOT_COUNTED_NEXT}")
        st.code("judgewatch doctor", language=None, wrap_lines=True)


def _render(scope: Scope) -> None:
    everything = queries.runs(scope.key, scope.app, aside=True)
    if not everything:
        render_no_verdicts(scope)
        return
    render_day(scope)
    runs = [run for run in everything if run["purpose"] == Purpose.SCHEDULED]
    if runs:
        _render_scheduled(runs, scope)
    else:
        heading("No scheduled run yet", 4)
        st.code("judgewatch run once --dry-run", language=None, wrap_lines=True)
    imported = [run for run in everything if run["purpose"] == Purpose.IMPORTED]
    if imported:
        small(_imported_line(imported))
    rows = [_table_row(run, scope) for run in everything]
    render_table(rows, _COLUMNS, file_name="runs.csv", key="run_table", numbers=["cost_usd"])


def _render_scheduled(runs: list[Row], scope: Scope) -> None:
    """The runs that the scorer made on schedule: the one under way, what failed, what came of each."""
    newest = runs[0]
    if newest["status"] == "running":
        done = newest["n_scored"] + newest["n_unscored"]
        st.text(f"A run is under way: {done:,} of {newest['n_planned']:,} graded so far.")
    _render_failures(runs, scope)
    measured = next((run for run in runs if run["status"] == "finished"), None)
    if measured is not None and measured["not_counted"]:
        _card_not_counted(measured, scope)
    render_chart(plot_runs(list(reversed(_in_period(runs, scope)))), key="run_counts")


def _imported_line(imported: list[Row]) -> str:
    """How many scores were imported, of which days, under which judge setups."""
    n_scores = sum(run["n_scored"] for run in imported)
    days_of = sorted(run["slot_day"] for run in imported)
    setups = ", ".join(f"v{number}" for number in sorted({run["setup"] for run in imported}))
    return (
        f"Imported: {counted(n_scores, 'score')} of {days(days_of[0], days_of[-1])}, judge setup {setups}."
        " No judge was called for them."
    )


def _render_failures(runs: list[Row], scope: Scope) -> None:
    """What failed since the last run that finished stands open; what was overcome is folded away."""
    last_good = next((place for place, run in enumerate(runs) if run["status"] == "finished"), len(runs))
    failed = [(place, run) for place, run in enumerate(runs) if run["status"] in ("failed", "stopped")]
    for _, run in [found for found in failed if found[0] < last_good][:MOST_CARDS]:
        _card(run, scope)
    earlier = [run for place, run in failed if place > last_good]
    if earlier:
        with st.expander(f"Earlier runs that failed or stopped ({len(earlier)})"):
            for run in earlier[:MOST_EARLIER]:
                say(f"{instant(run['slot_utc'], scope.zone)}, {run['status']}: {run_cause(run)}")


def _in_period(runs: list[Row], scope: Scope) -> list[Row]:
    """Runs of the chosen days; all of them when there is none in these days."""
    if scope.period is None:
        return runs
    return [run for run in runs if scope.period[0] <= run["slot_day"] <= scope.period[1]] or runs


scope = require_scope()
heading("Runs", 2)
_render(scope)
