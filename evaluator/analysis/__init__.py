"""Who moved: reads the totals of a store, calls the statistics, and puts the answer into words and numbers.

``analyse`` is a pure function of what the store holds; ``analyse_and_store`` keeps its result for pages and commands.
The shape of the result is ``evaluator.findings``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from evaluator.analysis.anchors import AnchorHistory, judge_finding, read_anchor_history
from evaluator.analysis.segments import segment_findings
from evaluator.analysis.shares import change_shares
from evaluator.analysis.traffic import Traffic, quality_finding, read_traffic, traffic_days
from evaluator.analysis.wording import headline, needs_a_look, sentences, tone
from evaluator.findings import SCHEMA_VERSION, EventMark, Findings, SettingsUsed
from evaluator.records import content_hash
from evaluator.stats.detector import BASELINE_RUNS
from evaluator.stats.evidence import MIN_REFERENCE_RUNS
from evaluator.store import read, write
from evaluator.store.db import Store, open_store

CODE_VERSION = "1"  # raised when the same data would give another answer
LAST_DAYS = 14  # the recent period that tables and shares speak of
LEVEL = 0.95


@dataclass(frozen=True, kw_only=True)
class AnalysisSettings:
    """What the user decides: how many false alarms a year, and the smallest change worth one (rubric units)."""

    false_alarms_per_year: float = 1.0
    smallest_change: float = 0.1
    runs_per_year: float = 365.0

    @property
    def settings_hash(self) -> str:
        """Hash of the settings."""
        return content_hash(asdict(self))


def analyse_and_store(
    store_path: Path, *, app: str, ruler_id: str, settings: AnalysisSettings, now: datetime
) -> Findings:
    """Analyse what a judge setup has graded so far and keep the result.

    Raises:
        StoreError: the database cannot be used.
    """
    with open_store(store_path, create=False) as store:
        revision = store.revision
        findings = analyse(store, app=app, ruler_id=ruler_id, settings=settings)
        write.save_analysis(
            store,
            app=app,
            ruler_id=ruler_id,
            criterion=findings["criterion"],
            first_day=findings["first_day"],
            last_day=findings["last_day"],
            baseline="first runs",
            settings_hash=settings.settings_hash,
            code_version=CODE_VERSION,
            schema_version=SCHEMA_VERSION,
            payload=findings,
            revision=revision,
            now=now,
        )
    return findings


def analyse(store: Store, *, app: str, ruler_id: str, settings: AnalysisSettings) -> Findings:
    """Analyse what a judge setup has graded so far.

    Args:
        store: A store, read-only is enough.
        app: The app.
        ruler_id: The judge setup; scores of another one are never mixed in.
        settings: The user's decisions.

    Raises:
        KeyError: the app never used this setup.
    """
    setup = next((row for row in read.rulers(store, app) if row["ruler_id"] == ruler_id), None)
    if setup is None:
        raise KeyError(f"app {app!r} has no judge setup {ruler_id!r}")
    scale = (float(setup["scale_min"]), float(setup["scale_max"]))
    history = read_anchor_history(store, app=app, ruler_id=ruler_id, criterion=setup["criterion"], scale=scale)
    traffic = read_traffic(store, app=app, ruler_id=ruler_id, criterion=setup["criterion"], scale=scale)
    used = _settings_used(settings)
    events = _events(store, app, ruler_id)
    judge, change = judge_finding(history, scale=scale, settings=used, events=events)
    days = traffic_days(traffic, history, change, scale=scale, level=LEVEL)
    shares = change_shares(traffic, history, change, scale=scale, settings=used, last_days=LAST_DAYS)
    assistant = quality_finding(traffic.everything, history, change, scale=scale, settings=used, weight=0.35)
    segments = segment_findings(traffic, history, change, scale=scale, settings=used, last_days=LAST_DAYS)
    findings = Findings(
        schema_version=SCHEMA_VERSION,
        app=app,
        ruler_id=ruler_id,
        setup=int(setup["position"]),
        model_asked=str(setup["model_asked"]),
        criterion=str(setup["criterion"]),
        zone=store.zone.key,
        scale_min=scale[0],
        scale_max=scale[1],
        first_day=_first_day(history, traffic),
        last_day=_last_day(history, traffic),
        baseline_first_day=history.baseline_days[0] if history.baseline_days else None,
        baseline_last_day=history.baseline_days[-1] if history.baseline_days else None,
        last_days=LAST_DAYS,
        settings=used,
        judge=judge,
        assistant=assistant,
        segments=segments,
        shares=shares,
        days=days,
        events=events,
        headline="",
        tone="unknown",
        sentences=[],
        needs_a_look=[],
    )
    findings["headline"] = headline(findings)
    findings["tone"] = tone(findings)
    findings["sentences"] = sentences(findings)
    findings["needs_a_look"] = needs_a_look(findings)
    return findings


def _settings_used(settings: AnalysisSettings) -> SettingsUsed:
    return SettingsUsed(
        level=LEVEL,
        false_alarms_per_year=settings.false_alarms_per_year,
        runs_per_year=settings.runs_per_year,
        smallest_change=settings.smallest_change,
        baseline_runs=BASELINE_RUNS,
        learning_runs=MIN_REFERENCE_RUNS,
    )


def _events(store: Store, app: str, ruler_id: str) -> list[EventMark]:
    rows = read.events(store, app)
    return [
        EventMark(day=row["day"], kind=row["kind"], text=row["text"])
        for row in rows
        if row["ruler_id"] in (None, ruler_id)
    ]


def _first_day(history: AnchorHistory, traffic: Traffic) -> str | None:
    return min((*history.days, *traffic.days), default=None)


def _last_day(history: AnchorHistory, traffic: Traffic) -> str | None:
    return max((*history.days, *traffic.days), default=None)
