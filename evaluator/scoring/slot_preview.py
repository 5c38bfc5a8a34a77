"""What a scheduled run would do and cost, before any call. Grading it is the business of ``slot``."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from evaluator.config import Config
from evaluator.importing.spooled import count_waiting
from evaluator.judges.base import Judge
from evaluator.scoring.allowance import Allowance, left_today
from evaluator.scoring.plan import PlanPreview, RunSettings, preview_run
from evaluator.scoring.schedule import runs_per_year
from evaluator.scoring.setup import build_judge, run_settings, schedule_zone, without_secrets
from evaluator.scoring.untouched import leaving_no_database
from evaluator.scoring.waiting import spool_path
from evaluator.sources import waiting_sources
from evaluator.store import read
from evaluator.store.db import open_store

DAYS_PER_YEAR = 365.25
DAYS_PER_MONTH = DAYS_PER_YEAR / 12
_ANSWERS_PRICED = 200  # of one day, where a plan has none to tell the cost of an answer from


@dataclass(frozen=True, kw_only=True)
class SlotPreview:
    """What a scheduled run would do and, at that rate, what the schedule costs.

    Money is the most that can be spent, without retries; None when no price is known. ``traffic_per_day`` and
    ``usd_per_answer`` are None while there are no answers to tell them from. ``n_spooled_files`` and
    ``n_source_files`` wait to be fetched, ``source_command`` would be run; what these hold is not counted in.
    """

    slot: datetime
    plan: PlanPreview
    anchors_usd: float | None
    traffic_usd: float | None
    runs_per_day: float
    traffic_per_day: float | None
    usd_per_day: float | None
    calls_per_day: int | None
    n_spooled_files: int
    usd_per_answer: float | None = None
    n_source_files: int = 0
    source_command: str | None = None
    left_today: Allowance = field(default_factory=Allowance)

    @property
    def anchor_calls_a_day(self) -> float:
        """Anchors to grade on an ordinary day."""
        return self.plan.n_anchors * self.runs_per_day

    @property
    def anchors_usd_a_day(self) -> float | None:
        """Most that the anchors of an ordinary day can cost."""
        return None if self.anchors_usd is None else self.anchors_usd * self.runs_per_day

    @property
    def usd_a_day(self) -> float | None:
        """Most that an ordinary day can cost, within the budget; None while a part of it is not known."""
        anchors, traffic = self.anchors_usd_a_day, self.traffic_usd_a_day
        if anchors is None or traffic is None:
            return None
        total = anchors + traffic
        return total if self.usd_per_day is None else min(total, self.usd_per_day)

    @property
    def days_per_month(self) -> float:
        """Length of the month that costs are named for."""
        return DAYS_PER_MONTH

    @property
    def traffic_usd_a_day(self) -> float | None:
        """Most that the answers of an ordinary day can cost."""
        if self.usd_per_answer is None or self.traffic_per_day is None:
            return None
        return self.usd_per_answer * self.traffic_per_day


async def preview_slot(
    config: Config, *, slot: datetime, kind: str = "all", since: str | None = None, now: datetime
) -> SlotPreview:
    """Plan a run and its cost without a call, without the judge's key, and without a database where there is none.

    Raises:
        JudgewatchError: the configuration, a file it names, or the store cannot be used.
    """
    with leaving_no_database(config) as looked_at:
        return await _preview_slot(looked_at, slot=slot, kind=kind, since=since, now=now)


async def _preview_slot(config: Config, *, slot: datetime, kind: str, since: str | None, now: datetime) -> SlotPreview:
    judge, rubric = build_judge(without_secrets(config))
    try:
        settings = run_settings(config, rubric, slot=slot, kind=kind, since=since)
        plan = preview_run(settings, judge)
        anchors_usd, traffic_usd = _apart(plan, settings, judge)
        traffic_per_day, usd_per_answer = _usual_traffic(config, plan, judge, traffic_usd)
    finally:
        await judge.close()
    spool = spool_path(config)
    sources = waiting_sources(config)
    return SlotPreview(
        slot=slot,
        plan=plan,
        anchors_usd=anchors_usd,
        traffic_usd=traffic_usd,
        runs_per_day=runs_per_year(config.schedule.cron, schedule_zone(config), now) / DAYS_PER_YEAR,
        traffic_per_day=traffic_per_day,
        usd_per_day=config.budget.usd_per_day,
        calls_per_day=config.budget.calls_per_day,
        n_spooled_files=0 if spool is None else count_waiting(spool),
        usd_per_answer=usd_per_answer,
        n_source_files=sources.n_files + sources.n_score_files,
        source_command=sources.command,
        left_today=left_today(config, now),
    )


def _apart(plan: PlanPreview, settings: RunSettings, judge: Judge) -> tuple[float | None, float | None]:
    """Split the most a plan can cost into anchors and traffic; a plan that was cut off has a share of its anchors."""
    all_anchors = judge.plan_cost([anchor.item for anchor in settings.anchors])
    if plan.most_usd is None or all_anchors is None:
        return None, None
    anchors = min(plan.most_usd, all_anchors * plan.n_anchors / max(1, len(settings.anchors)))
    return anchors, plan.most_usd - anchors


def _usual_traffic(
    config: Config, plan: PlanPreview, judge: Judge, traffic_usd: float | None
) -> tuple[float | None, float | None]:
    """Tell the answers of an ordinary day and the most that one can cost: from the plan, else from the newest day."""
    if plan.n_days and plan.n_traffic:
        return plan.n_traffic / plan.n_days, None if traffic_usd is None else traffic_usd / plan.n_traffic
    with open_store(config.store_path, zone=config.schedule.zone) as store:
        sizes = read.answer_days(store, config.app.name)
        if not sizes:
            return config.traffic.answers_per_day, None
        newest = max(sizes)
        drawn = read.sampling_order(store, config.app.name, newest, most=_ANSWERS_PRICED)
        items = [item for _, _, item in read.load_to_grade(store, [item_id for item_id, _ in drawn])]
    usd = judge.plan_cost(items)
    return _number_taken(config, sizes[newest]), None if usd is None or not items else usd / len(items)


def _number_taken(config: Config, n_answers: int) -> float:
    """How many answers of a day of that size the configured rate takes."""
    if config.traffic.answers_per_day is not None:
        return min(n_answers, config.traffic.answers_per_day)
    return n_answers * (config.traffic.sample_rate or 1.0)
