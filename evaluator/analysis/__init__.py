"""Who moved: reads the totals of a store, calls the statistics, and puts the answer into words and numbers.

``analyse`` is a pure function of what the store holds; ``analyse_and_store`` keeps its result for pages and commands.
The shape of the result is ``evaluator.findings``. One module a question:

    history, comparison                            the anchors, run by run, against their own baseline
    judge_search, judge_watch, judge               did the judge move, in which way, and what corrects its scores?
    totals, daily                                  the answers: what is each day's mean, raw and corrected?
    mix, series, quality, across, needed           did they get better or worse? what would it take to tell?
    segments, segment_tables, judge_in_segments    and some of them?
    shares, split                                  where does the change of the mean come from?
    limits, limit_series, seasons                  is a promise broken? is it the week, or a day that does not count?
    health, power, two_runs, rechecked             what else is asked of the anchors, and of stored scores
    phrases, looks, headlines, judge_words, limit_words, wording    the same in words
    settings, watching, events, units              what several of these need
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from datetime import datetime
from pathlib import Path

from evaluator.analysis.bridging import anchor_source, measured_by, raw_periods
from evaluator.analysis.daily import traffic_days
from evaluator.analysis.headlines import headline, tone
from evaluator.analysis.history import read_anchor_history
from evaluator.analysis.judge import Judge, find_judge
from evaluator.analysis.judge_in_segments import judge_in_segment_looks
from evaluator.analysis.limit_words import crossed, crossed_clause
from evaluator.analysis.limits import limit_findings
from evaluator.analysis.looks import needs_a_look
from evaluator.analysis.mix import mix_effects
from evaluator.analysis.quality import Budget, quality_finding
from evaluator.analysis.rechecked import newest_recheck_of
from evaluator.analysis.seasons import (
    find_season,
    grey_days,
    ignored_days,
    season_sentences,
    weekday_finding,
    without_days,
)
from evaluator.analysis.segments import segment_findings, segment_looks
from evaluator.analysis.series import watched_series
from evaluator.analysis.settings import ASSISTANT_WEIGHT, AnalysisSettings, n_watched, share_of_one
from evaluator.analysis.shares import change_shares
from evaluator.analysis.totals import read_traffic
from evaluator.analysis.units import Scale
from evaluator.analysis.wording import left_out_sentences, sentences, unscored_sentences
from evaluator.findings import SCHEMA_VERSION, AcceptedBaseline, EventMark, Findings, LimitUsed, SettingsUsed
from evaluator.records import Source
from evaluator.stats.detector import BASELINE_RUNS
from evaluator.stats.evidence import MIN_REFERENCE_RUNS
from evaluator.store import read, write
from evaluator.store.db import Store, open_store

CODE_VERSION = "4"  # raised when the same data would give another answer
LAST_DAYS = 14  # the recent period that tables and shares speak of
LEVEL = 0.95

__all__ = ["ASSISTANT_WEIGHT", "CODE_VERSION", "LAST_DAYS", "AnalysisSettings", "analyse", "analyse_and_store"]


def analyse_and_store(
    store_path: Path, *, app: str, ruler_id: str, settings: AnalysisSettings, now: datetime
) -> Findings:
    """Analyse what a judge setup has graded so far and keep the result.

    Raises:
        StoreError: the database cannot be used.
        KeyError: the app never used this setup.
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
            baseline=_baseline_name(findings),
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
    setups = read.rulers(store, app)
    setup = next((row for row in setups if row["ruler_id"] == ruler_id), None)
    if setup is None:
        raise KeyError(f"app {app!r} has no judge setup {ruler_id!r}")
    scale = Scale(low=float(setup["scale_min"]), high=float(setup["scale_max"]))
    anchors = anchor_source(store, app, setup)
    asked, events = _settings_used(settings, n_watched(setups)), _events(store, app, {ruler_id, anchors.ruler_id})
    used = share_of_one(asked)
    whose = {"app": app, "ruler_id": ruler_id, "criterion": str(setup["criterion"])}
    history = read_anchor_history(
        store, app=app, ruler_id=anchors.ruler_id, criterion=anchors.criterion, scale=scale.bounds
    )
    accepted = _accepted(store, app, anchors.ruler_id)
    judge = find_judge(history, scale=scale, settings=used, events=events, accepted=accepted)
    stand_ins = measured_by(read.run_slots(store, app), judge) if anchors.setup is not None else {}
    all_days = read_traffic(store, **whose, scale=scale, judge=judge, stand_ins=stand_ins)
    ignored = ignored_days(events)
    traffic = without_days(all_days, ignored)
    season = find_season(traffic.totals, traffic.everything, mix_effects(traffic, judge.baseline_runs))
    answers = watched_series(traffic.totals, traffic.everything, taken_out=season.taken_out, by_week=season.by_week)
    assistant = quality_finding(
        answers, judge.regimes, scale=scale, settings=used, events=events, budget=Budget(weight=ASSISTANT_WEIGHT)
    )
    segments = segment_findings(
        traffic,
        judge,
        scale=scale,
        settings=used,
        events=events,
        last_days=LAST_DAYS,
        tags=read.tags_of_items(store, history.item_ids),
    )
    graded_by = {Source.ANCHOR: anchors.ruler_id, Source.TRAFFIC: ruler_id}
    reasons = {source: _reasons(store, app, graded_by[source], source) for source in Source}
    findings = Findings(
        schema_version=SCHEMA_VERSION,
        app=app,
        ruler_id=ruler_id,
        setup=int(setup["position"]),
        model_asked=str(setup["model_asked"]),
        criterion=str(setup["criterion"]),
        zone=store.zone.key,
        scale_min=scale.low,
        scale_max=scale.high,
        first_day=min((*history.days, *traffic.days), default=None),
        last_day=max((*history.days, *traffic.days), default=None),
        baseline_first_day=_baseline_days(judge)[0],
        baseline_last_day=_baseline_days(judge)[1],
        last_days=LAST_DAYS,
        settings=asked,
        judge=judge.finding,
        assistant=assistant,
        segments=segments,
        shares=change_shares(traffic, judge, scale=scale, settings=used, last_days=LAST_DAYS),
        days=grey_days(
            traffic_days(
                all_days,
                judge,
                scale=scale,
                level=LEVEL,
                reasons=reasons[Source.TRAFFIC],
                missing=anchors.missing,
            ),
            ignored,
        ),
        events=events,
        headline="",
        tone="unknown",
        sentences=[],
        needs_a_look=[],
        look_segments=[],
        imported=anchors.is_imported,
        anchor_setup=anchors.setup,
        raw_periods=raw_periods(traffic, scale=scale, level=LEVEL, last_days=LAST_DAYS) if anchors.is_imported else [],
        rechecked=newest_recheck_of(store, app, setup),
        segment_looks=segment_looks(segments, traffic, judge, last_days=LAST_DAYS),
        limits=limit_findings(
            settings.limits,
            traffic,
            judge,
            assistant,
            scale=scale,
            settings=used,
            levels_of=lambda segment_id: read.day_levels(store, **whose, source=Source.TRAFFIC, segment_id=segment_id),
            ignored=list(ignored),
        ),
        weekdays=weekday_finding(season, answers, scale=scale, settings=used),
    )
    _put_into_words(findings, reasons)
    return findings


def _baseline_name(findings: Findings) -> str:
    accepted = findings["judge"]["accepted"]
    return "first runs" if accepted is None else f"accepted from {accepted['from_day']}"


def _put_into_words(findings: Findings, reasons: Mapping[Source, Mapping[str, Mapping[str, int]]]) -> None:
    looks = needs_a_look(findings)
    limits, judged = findings.get("limits", []), judge_in_segment_looks(findings)
    missing = [limit["sentence"] for limit in crossed(limits)] + left_out_sentences(findings)
    missing += unscored_sentences(findings, anchors=reasons[Source.ANCHOR], answers=reasons[Source.TRAFFIC])
    findings["headline"] = " ".join(filter(None, (headline(findings), crossed_clause(limits))))
    findings["tone"] = "look" if crossed(limits) else tone(findings)
    findings["sentences"] = [
        *sentences(findings),
        *(sentence for _, sentence in judged),
        *(limit["sentence"] for limit in limits),
        *season_sentences(findings),
    ]
    looks = [*judged, *looks]
    findings["needs_a_look"] = [*missing, *(sentence for _, sentence in looks)]
    findings["look_segments"] = [*(None for _ in missing), *(segment_id for segment_id, _ in looks)]


def _settings_used(settings: AnalysisSettings, n_setups: int) -> SettingsUsed:
    return SettingsUsed(
        level=LEVEL,
        false_alarms_per_year=settings.false_alarms_per_year,
        runs_per_year=settings.runs_per_year,
        smallest_change=settings.smallest_change,
        baseline_runs=BASELINE_RUNS,
        learning_runs=MIN_REFERENCE_RUNS,
        n_watched=n_setups,
        limits=[
            LimitUsed(kind=limit.kind, bound=limit.bound, level=limit.level, segment=limit.segment)
            for limit in settings.limits
        ],
    )


def _events(store: Store, app: str, ruler_ids: Set[str]) -> list[EventMark]:
    return [
        EventMark(day=row["day"], kind=row["kind"], text=row["text"])
        for row in read.events(store, app)
        if row["ruler_id"] is None or row["ruler_id"] in ruler_ids
    ]


def _reasons(store: Store, app: str, ruler_id: str, source: Source) -> dict[str, dict[str, int]]:
    """Why scores are missing, by day."""
    found: dict[str, dict[str, int]] = {}
    for row in read.unscored_reasons(store, app=app, ruler_id=ruler_id, source=source):
        found.setdefault(row["day"], {})[row["unscored_reason"]] = row["n"]
    return found


def _accepted(store: Store, app: str, ruler_id: str) -> AcceptedBaseline | None:
    """The later normal that holds, if a person accepted one."""
    row = read.accepted_baseline(store, app, ruler_id)
    if row is None:
        return None
    return AcceptedBaseline(
        from_day=row["from_day"], accepted_utc=row["accepted_utc"], by_whom=row["by_whom"], note=row["note"]
    )


def _baseline_days(judge: Judge) -> tuple[str | None, str | None]:
    history = judge.history
    days = [day for day, run_id in zip(history.days, history.run_ids, strict=True) if run_id in judge.baseline_runs]
    return (days[0], days[-1]) if days else (None, None)
