"""What runs say: the cost before, the outcome after. Words only; nothing is computed or run here."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from evaluator.cli.money_texts import LOWERS_THE_SAMPLE, at_most, budget_lines, spent
from evaluator.cli.output import counted, put, put_json, say, usd
from evaluator.cli.progress import duration
from evaluator.cli.source_texts import put_waiting_sources, say_sources

if TYPE_CHECKING:
    from evaluator.config import Config
    from evaluator.findings import Findings
    from evaluator.importing.spooled import SpoolReport
    from evaluator.scoring.closing import RunReport
    from evaluator.scoring.slot import SlotReport
    from evaluator.scoring.slot_preview import SlotPreview
    from evaluator.scoring.waiting import Waiting


# ---------------------------------------------------------------- before


def put_preview(preview: SlotPreview, config: Config, *, as_json: bool) -> None:
    """Print what a run would do and what the schedule costs."""
    if as_json:
        put_json({**_preview_payload(preview), "price_source": config.price_source})
        return
    plan = preview.plan
    n_calls = plan.n_anchors + plan.n_traffic
    when = slot_text(preview.slot, config)
    if plan.already_finished:
        put(f"the run of {when} is finished; nothing is left to grade")
    else:
        what = f"{counted(plan.n_anchors, 'anchor')} and {counted(plan.n_traffic, 'answer')}"
        put(f"the run of {when} would grade {what}: {counted(n_calls, 'call')}{at_most(plan.most_usd, config)}")
        for line in budget_lines(preview.left_today, n_calls, plan.most_usd, rest=LOWERS_THE_SAMPLE):
            put(line)
        _put_per_day(preview, config)
        if config.judge.function is None:
            put(f"price of {config.judge.model}: {config.price_source}")
    if plan.n_older_answers:
        put(older_answers(plan.n_older_answers, config))
    if preview.n_spooled_files:
        are = "is" if preview.n_spooled_files == 1 else "are"
        put(
            f"{counted(preview.n_spooled_files, 'file')} of recorded answers {are} not fetched yet and not counted here"
        )
    put_waiting_sources(preview)


def _put_per_day(preview: SlotPreview, config: Config) -> None:
    anchors, traffic = preview.anchor_calls_a_day, preview.traffic_per_day
    put(f"a day, anchors: {_calls(anchors)}{at_most(preview.anchors_usd_a_day, config)}")
    is_priced = config.price is not None
    if traffic is None:
        put("a day, traffic: no answers to tell it from yet")
    elif is_priced and preview.usd_per_answer is None:
        put(f"a day, traffic: {_calls(traffic)}, at a cost that the first answers will tell")
    else:
        put(f"a day, traffic: {_calls(traffic)}{at_most(preview.traffic_usd_a_day, config)}")
    if is_priced or preview.anchors_usd is None:  # else nothing is paid for by tokens
        put(_together(preview, is_priced=is_priced))
    if preview.usd_per_day is not None:
        put(f"the budget ends a day at {usd(preview.usd_per_day)}")
    if preview.calls_per_day is not None:
        put(f"the budget ends a day at {counted(preview.calls_per_day, 'call')}")


def _together(preview: SlotPreview, *, is_priced: bool) -> str:
    per_day = preview.usd_a_day
    if not is_priced:
        return "the price of the judge is not known, so no total is named"
    if per_day is None:
        return "there are no answers yet to tell the cost of a day's traffic from, so no total is named"
    month = usd(per_day * preview.days_per_month)
    return f"together at most {usd(per_day)} a day, {month} a month, without retries"


def _calls(n: float) -> str:
    return counted(round(n), "call") if n >= 1 or n == 0 else f"{n:.2f} calls"


def _preview_payload(preview: SlotPreview) -> dict[str, Any]:
    per_day = preview.usd_a_day
    return {
        "slot_utc": preview.slot.isoformat(),
        **asdict(preview.plan),
        "calls": preview.plan.n_anchors + preview.plan.n_traffic,
        "most_usd_anchors": preview.anchors_usd,
        "most_usd_traffic": preview.traffic_usd,
        "runs_per_day": preview.runs_per_day,
        "traffic_per_day": preview.traffic_per_day,
        "most_usd_per_day": per_day,
        "most_usd_per_month": None if per_day is None else per_day * preview.days_per_month,
        "budget_usd_per_day": preview.usd_per_day,
        "budget_calls_per_day": preview.calls_per_day,
        **preview.left_today.as_dict(),
        "n_spooled_files": preview.n_spooled_files,
        "n_source_files": preview.n_source_files,
        "source_command": preview.source_command,
    }


# ---------------------------------------------------------------- after


def put_report(report: SlotReport, findings: Findings | None, config: Config, *, again: str, as_json: bool) -> None:
    """Print what came of a run; ``again`` is the command that goes on with it if it was cut off."""
    say_sources(report.sources)
    say_spool(report.spool)
    run = report.run
    if as_json:
        put_json(_report_payload(report, findings))
    elif run.already_finished:
        put(f"the run of {slot_text(run.slot_utc, config)} is finished already; there is nothing to do")
    else:
        told = _nothing_graded(report, config) or summary(replace(run, message="", not_counted=""), None, config)
        put(f"run of {slot_text(run.slot_utc, config)}: {told}")
    if findings is not None and not as_json:
        put(findings["headline"])
    if run.n_older_answers:
        say(older_answers(run.n_older_answers, config))
    if run.not_counted:
        say(f"warning: the anchors of this run do not count: {run.not_counted}")
    if run.already_finished or run.status == "finished":
        return
    if run.stop_reason == "interrupted" and run.status == "stopped":
        say(f"the run was stopped; `judgewatch {again}` goes on where it stopped")
    elif report.finished:
        say(f"note: {run.message}; what is left is not graded, which lowers the sample of those days")
    else:
        say(f"error: the run {'failed' if run.status == 'failed' else 'stopped'}: {run.message}")
        say(f"`judgewatch {again}` goes on where it stopped")


def _nothing_graded(report: SlotReport, config: Config) -> str | None:
    """What comes first where the day's budget was used up before anything was graded; None otherwise."""
    from evaluator.clock import SystemClock
    from evaluator.scoring.allowance import next_day

    run = report.run
    if run.status == "finished" or not report.finished or run.n_calls:
        return None
    budget = config.budget
    limits = {"budget.usd_per_day": budget.usd_per_day, "budget.calls_per_day": budget.calls_per_day}
    named = " or ".join(f"{key} = {value:g}" for key, value in limits.items() if value is not None)
    nothing = "nothing more" if run.n_scored else "nothing"
    return (
        f"{nothing} was graded, since today's budget is used up ({named}); there is a new one from"
        f" {next_day(config, SystemClock().now())} on ({config.schedule.zone}); {run.n_left:,} not tried"
    )


def summary(run: RunReport, findings: Findings | None, config: Config) -> str:
    """The outcome of a run in one line: with the headline where there is one, with the cause where it went wrong."""
    if run.already_finished:
        return "finished already"
    reasons = ", ".join(f"{n} {reason}" for reason, n in sorted(run.reasons.items(), key=lambda pair: -pair[1]))
    unscored = f", {run.n_unscored:,} unscored" if run.n_unscored else ""
    unscored += f" ({reasons})" if run.n_unscored and reasons else ""
    left = f", {run.n_left:,} not tried" if run.n_left else ""
    text = (
        f"{run.status}, {counted(run.n_anchors, 'anchor')} and {counted(run.n_traffic, 'answer')}:"
        f" {run.n_scored:,} scored{unscored}{left}; {counted(run.n_calls, 'call')}"
        f"{spent(run.spent_usd, config)}, {duration(run.elapsed_s)}"
    )
    if run.message:
        text += f"; {run.message}"
    if run.not_counted:
        text += f"; its anchors do not count: {run.not_counted}"
    return text if findings is None else f"{text}. {findings['headline']}"


def _report_payload(report: SlotReport, findings: Findings | None) -> dict[str, Any]:
    return {
        **asdict(report.run),
        "complete": report.finished,
        "headline": None if findings is None else findings["headline"],
        "sources": [asdict(outcome) for outcome in report.sources],
        "spool": None if report.spool is None else asdict(report.spool),
    }


def older_answers(n: int, config: Config) -> str:
    """The hint about answers that lie before the window of a run."""
    return (
        f"{counted(n, 'older answer')} (before the last {counted(config.traffic.lookback_days, 'day')} with answers,"
        f" traffic.lookback_days) {'is' if n == 1 else 'are'} not graded; `judgewatch run once --since DAY` takes"
        f" {'it' if n == 1 else 'them'} in"
    )


def say_missing_spool(folder: Path | None) -> None:
    """Tell of a configured folder of recorded answers that is not there; an application may make it later."""
    if folder is not None:
        say(f"note: traffic.spool names {folder}, and there is no such folder; record() makes it with its first answer")


def say_waiting(waiting: Waiting, config: Config) -> None:
    """Tell how many stored answers no run has taken yet, and what they wait for."""
    if waiting.ended:
        say(
            f"{_of_days(waiting.ended)} not taken by a run yet; the next run takes them, or now"
            f" `judgewatch run once --since {min(waiting.ended)}`"
        )
    if waiting.for_next:
        say(
            f"{_of_days(waiting.for_next)} {_wait(waiting.for_next)} for the next scheduled run,"
            f" {slot_text(waiting.next_run, config)}; or now"
            f" `judgewatch run once --since {min(waiting.for_next)}`"
        )
    if waiting.going_on:
        them = "it" if sum(waiting.going_on.values()) == 1 else "them"
        ends = "the day has ended" if len(waiting.going_on) == 1 else "the days have ended"
        say(
            f"{_of_days(waiting.going_on)} {_wait(waiting.going_on)} until {ends}; the run of"
            f" {slot_text(waiting.run_after, config)} takes {them}"
        )


def _wait(sizes: dict[str, int]) -> str:
    return "waits" if sum(sizes.values()) == 1 else "wait"


def _of_days(sizes: dict[str, int]) -> str:
    """Answers with the day or days they are of."""
    first, last = min(sizes), max(sizes)
    return f"{counted(sum(sizes.values()), 'answer')} of {first}" + (f" to {last}" if last > first else "")


def say_spool(spool: SpoolReport | None) -> None:
    """Tell what came from applications, and what could not be used."""
    if spool is None or not spool.n_files:
        return
    known = f", {spool.n_known:,} known already" if spool.n_known else ""
    say(f"recorded answers: {spool.n_new:,} new{known}, from {counted(spool.n_files, 'file')}")
    for path, problem in zip(spool.set_aside, spool.problems, strict=True):
        say(f"note: some recorded answers cannot be used and are kept in {path}: {problem}")


def slot_text(slot: datetime | str, config: Config) -> str:
    """A scheduled instant as the user's clock shows it."""
    moment = datetime.fromisoformat(slot) if isinstance(slot, str) else slot
    return f"{moment.astimezone(ZoneInfo(config.schedule.zone)):%Y-%m-%d %H:%M} {config.schedule.zone}"
