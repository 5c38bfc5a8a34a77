"""Does the day's budget cover what a day grades?"""

from __future__ import annotations

from dataclasses import dataclass

from evaluator.doctor.base import Check, Patient, fail, ok, warn
from evaluator.scoring.schedule import runs_per_year
from evaluator.scoring.setup import schedule_zone
from evaluator.scoring.slot_preview import DAYS_PER_YEAR
from evaluator.store import read

NAME = "budget"


@dataclass(frozen=True, kw_only=True)
class DayPlan:
    """What an ordinary day grades. ``answers`` and money are None where they are not known."""

    anchors: float
    answers: float | None
    usd_per_call: float | None

    @property
    def calls(self) -> float:
        """Calls without retries."""
        return self.anchors + (self.answers or 0.0)

    @property
    def usd(self) -> float | None:
        """The most that they cost: every reply as long as it may be."""
        return None if self.usd_per_call is None else self.calls * self.usd_per_call


def plan_day(patient: Patient, anchors_usd: float | None) -> DayPlan:
    """Tell an ordinary day from the schedule, the anchors and the newest day of answers.

    Args:
        patient: What is looked at.
        anchors_usd: The most that grading all anchors once costs; None when no price is known.
    """
    config, n = patient.config, len(patient.anchors)
    a_day = runs_per_year(config.schedule.cron, schedule_zone(config), patient.now) / DAYS_PER_YEAR
    return DayPlan(
        anchors=n * a_day,
        answers=_answers_a_day(patient),
        usd_per_call=None if anchors_usd is None or not n else anchors_usd / n,
    )


def _answers_a_day(patient: Patient) -> float | None:
    traffic = patient.config.traffic
    if not traffic.grade:
        return 0.0
    sizes = {} if patient.store is None else read.answer_days(patient.store, patient.config.app.name)
    newest = sizes[max(sizes)] if sizes else None
    if traffic.answers_per_day is not None:
        return float(traffic.answers_per_day if newest is None else min(newest, traffic.answers_per_day))
    return None if newest is None else newest * (traffic.sample_rate or 1.0)


def check_budget(patient: Patient, plan: DayPlan) -> Check:
    """The whole day fits, or what does not."""
    config = patient.config
    config.check_budget()
    limits = (
        _compare(plan.calls, plan.anchors, config.budget.calls_per_day, "calls", "budget.calls_per_day"),
        _compare(
            plan.usd,
            None if plan.usd_per_call is None else plan.anchors * plan.usd_per_call,
            config.budget.usd_per_day,
            "dollars at most",
            "budget.usd_per_day",
        ),
    )
    found = [check for check in limits if check is not None]
    bad = next((check for check in found if check.status != "ok"), None)
    if bad is not None:
        return bad
    unknown = "" if plan.answers is not None else "; how many answers a day brings is not known yet"
    if not found:
        return ok(NAME, f"a day makes about {plan.calls:,.0f} calls{unknown}")
    return ok(NAME, "; ".join(check.found for check in found) + unknown)


def _compare(need: float | None, anchors: float | None, limit: float | None, unit: str, key: str) -> Check | None:
    if limit is None or need is None or anchors is None:
        return None
    text = f"a day needs {_amount(need)} {unit}, {key} = {limit:g}"
    if anchors > limit:
        # of dollars this is the most that could be spent, and replies are seldom as long as they may be
        make = fail if unit == "calls" else warn
        return make(NAME, f"{text}: not even the anchors fit ({_amount(anchors)})", f"raise {key}, or run less often")
    if need > limit:
        return warn(NAME, f"{text}: the day's sample would end early", f"raise {key}, or lower traffic.answers_per_day")
    return ok(NAME, text)


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
