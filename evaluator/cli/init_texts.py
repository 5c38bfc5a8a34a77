"""What ``judgewatch init`` says: the file, the cost, what will be visible and when, and what to do next. Words only."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from evaluator.cli.output import counted, put, put_json, say, usd
from evaluator.clock import utc_text

if TYPE_CHECKING:
    from evaluator.starting.choices import Choices
    from evaluator.starting.forecast import Forecast, Load, Visible

_GENERAL_ANCHORS = "on the anchors that ship, general questions; your own come with `judgewatch anchors pick`"


def put_outcome(
    choices: Choices, look: Forecast, *, path: Path, kept: Path | None, notes: list[str], as_json: bool
) -> None:
    """Print what was written and what follows from it; notes of the choices come before those of the forecast."""
    all_notes = [*notes, *_notes(choices, look, path)]
    if as_json:
        put_json(_payload(choices, look, path, kept) | {"notes": all_notes, "next": _next_steps(choices, path)})
    else:
        put(f"wrote {path}" + ("" if kept is None else f"; what was there is kept as {kept}"))
        put()
        _put_cost(choices, look)
        put()
        _put_visible(choices, look)
    for note in all_notes:
        say(f"note: {note}")
    if not as_json:
        put()
        put("next:")
        for step in _next_steps(choices, path):
            put(f"  {step['command']:<36} {step['why']}".rstrip())


# ---------------------------------------------------------------- cost


def _put_cost(choices: Choices, look: Forecast) -> None:
    put(f"a day, anchors: {_load(look.anchors)}")
    put(f"a day, traffic: {_load(look.traffic)}")
    about, most = look.about_usd_a_day, look.most_usd_a_day
    calls = f"{_calls(look.calls_a_day)} a day, {_calls(look.calls_a_day * look.days_per_month)} a month"
    if about is None or most is None:
        put(f"together: {calls}; the price is {look.price_source}")
    else:
        months = look.days_per_month
        put(
            f"together: {calls}; about {usd(about)} a day and {usd(about * months)} a month,"
            f" at most {usd(most)} and {usd(most * months)}, without retries"
        )
        put(f"price: {look.price_source}")
    put(look.traffic_basis)
    put(f"the budget ends a day at {_budget(choices)}{_first_hour(choices, look)}")


def _first_hour(choices: Choices, look: Forecast) -> str:
    """What the budget that is proposed has room for; nothing of one that was given."""
    from evaluator.starting.forecast import PICKED, RECHECKED

    proposed = (look.suggested_usd_per_day, None if choices.usd_per_day is not None else look.suggested_calls_per_day)
    if (choices.usd_per_day, choices.calls_per_day) != proposed:
        return ""
    return (
        f": room for a day's runs, a recheck of {RECHECKED} answers and a pick of {PICKED} anchors; lower it when the"
        " first hour is over"
    )


def _load(load: Load) -> str:
    text = f"{_calls(load.calls)} of about {load.about_tokens:,.0f} tokens (at most {load.most_tokens:,.0f})"
    if load.about_usd is None or load.most_usd is None:
        return text
    return f"{text}, about {usd(load.about_usd)}, at most {usd(load.most_usd)}"


def _calls(n: float) -> str:
    return counted(round(n), "call") if n >= 1 or n == 0 else f"{n:.2f} calls"


def _budget(choices: Choices) -> str:
    limits = [usd(choices.usd_per_day)] if choices.usd_per_day is not None else []
    limits += [counted(choices.calls_per_day, "call")] if choices.calls_per_day is not None else []
    return " and ".join(limits)


# ---------------------------------------------------------------- what will be seen


def _put_visible(choices: Choices, look: Forecast) -> None:
    put("what will be seen, in half of all cases (once 20 runs have been learnt):")
    scale = f"of {look.scale[0]:g} to {look.scale[1]:g}"
    if look.judge is not None:
        put(f"  judge, {counted(look.n_anchors, 'anchor')}: {_changes(look.judge, scale)}")
        if choices.prompt_file is not None:
            put(f"    {_GENERAL_ANCHORS}")
    put(f"  assistant, {counted(choices.answers_per_day, 'answer')} a day: {_changes(look.assistant, scale)}")
    put(
        f"first run: {_local(look.first_run, choices)}; first possible alarm: {_local(look.first_alarm, choices)},"
        " with the eleventh run"
    )


def _changes(visible: Visible, scale: str) -> str:
    pairs = ((visible.within_soon, visible.soon_days), (visible.within_later, visible.later_days))
    parts = [f"{change:.2f} points within {_days(days)}" for change, days in pairs if change is not None]
    return (
        f"a change of {' or of '.join(parts)} ({scale})" if parts else f"no change within {_days(visible.later_days)}"
    )


def _days(days: float) -> str:
    return counted(round(days), "day") if days >= 1 else f"{days * 24:.0f} hours"


def _local(moment: Any, choices: Choices) -> str:
    return f"{moment.astimezone(ZoneInfo(choices.zone)):%Y-%m-%d %H:%M} {choices.zone}"


# ---------------------------------------------------------------- notes and next steps


def _notes(choices: Choices, look: Forecast, path: Path) -> list[str]:
    """What a person should know before the first run."""
    from evaluator.sources.files import find_files

    notes = []
    if look.judge is None:
        notes.append(f"{counted(look.n_anchors, 'anchor')} are too few, no alarm is possible under ten")
    about = look.about_usd_a_day
    if choices.usd_per_day is not None and about is not None and choices.usd_per_day < about:
        notes.append(f"a usual day costs about {usd(about)}, more than the budget: days will end early")
    found = find_files((choices.files,) if choices.files is not None else (), path.parent)
    alarm = "`judgewatch check --fail-on judge,quality`"
    url = "alerts.url is kept for a later version. " if choices.alert_url is not None else ""
    scheduler = f"Let a scheduler run {alarm} after each run and act on its exit code"
    return [*notes, *found.problems, *found.notes, f"this version sends no alerts. {url}{scheduler}"]


def _next_steps(choices: Choices, path: Path) -> list[dict[str, str]]:
    """Commands to give next, each with its reason."""
    steps = [] if path.parent == Path() else [(f"cd {path.parent}", "")]
    if choices.api_key_env:
        steps.append((f"export {choices.api_key_env}=...", "the key; it is stored nowhere"))
    steps += [
        ("judgewatch doctor", "is everything in order? at most six calls to the judge"),
        ("judgewatch import --verdicts FILE", "scores that you have already"),
        ("judgewatch recheck FILE", "did the judge move since it gave them?"),
        ("judgewatch anchors pick", "fixed answers from your own traffic, once there is some"),
        ("judgewatch run once --dry-run", "what the first run would grade and cost"),
        ("judgewatch run watch", "grade every scheduled run"),
    ]
    return [{"command": command, "why": why} for command, why in steps]


def _payload(choices: Choices, look: Forecast, path: Path, kept: Path | None) -> dict[str, Any]:
    return {
        "path": str(path),
        "kept": None if kept is None else str(kept),
        "configuration": choices.sections(),
        "budget_usd_per_day": choices.usd_per_day,
        "budget_calls_per_day": choices.calls_per_day,
        **asdict(look),
        "first_run": utc_text(look.first_run),
        "first_alarm": utc_text(look.first_alarm),
        "calls_per_day": look.calls_a_day,
        "about_usd_per_day": look.about_usd_a_day,
        "most_usd_per_day": look.most_usd_a_day,
        "days_per_month": look.days_per_month,
    }
