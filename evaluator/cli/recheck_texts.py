"""What rechecks say: the cost before, the result after. Words only; nothing is computed or run here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from evaluator.cli.money_texts import budget_lines
from evaluator.cli.output import bounds, counted, number, one_line, put, put_json, put_table, say, signed, usd
from evaluator.cli.progress import how_long

if TYPE_CHECKING:
    from evaluator.recheck import RecheckPreview, RecheckReport
    from evaluator.scoring.closing import RunReport

SHORT_ID = 12
_EXCERPT = 70


# ---------------------------------------------------------------- before


def put_preview(preview: RecheckPreview, *, as_json: bool) -> None:
    """Print what a recheck would do and cost."""
    if as_json:
        names = ("n_calls", "most_usd", "minutes", "is_begun", "is_finished", "facts")
        put_json({**{name: getattr(preview, name) for name in names}, **preview.left_today.as_dict()})
        return
    for line in preview_lines(preview):
        put(line)


def preview_lines(preview: RecheckPreview) -> list[str]:
    """The answers chosen, the calls, the most they can cost, and what the reader should know before."""
    if preview.is_finished:
        return ["this was rechecked before; the result is shown without a call (--again grades anew)"]
    facts = preview.facts
    cost = "price unknown" if preview.most_usd is None else f"at most {usd(preview.most_usd)}, without retries"
    if facts["model_asked"].startswith("python:"):
        cost = "at what the function spends"
    goes_on = "goes on with what is left: " if preview.is_begun else ""
    parts = (
        f"{goes_on}{counted(facts['n_recent_asked'], 'recent answer')} (of {facts['n_recent_there']:,}) and"
        f" {counted(facts['n_old_asked'], 'old answer')} (of {facts['n_old_there']:,}), scores of"
        f" {facts['stored_judge']}, criterion {facts['stored_criterion']}"
    )
    calls = f"{counted(preview.n_calls, 'call')} to {facts['model_asked']}, {cost}"
    calls += f", {how_long(preview.minutes, preview.pace)}"
    return [parts, calls, *budget_lines(preview.left_today, preview.n_calls, preview.most_usd), *_notes(facts)]


def _notes(facts: Mapping[str, Any]) -> list[str]:
    """What the reader should know of the choice before it is paid for."""
    from evaluator.recheck import FEW
    from evaluator.stats.recheck_limits import FEWEST

    notes = []
    if facts["unusable"]:
        told = ", ".join(f"{n:,}: {reason}" for reason, n in facts["unusable"].items())
        notes.append(f"note: not usable of {facts['n_scores']:,} stored scores: {told}")
    n_taken = facts["n_recent_asked"] + facts["n_old_asked"]
    if not facts["n_old_asked"]:
        notes.append("note: all scores are of one day, so only parity can be told: whether this judge reproduces them")
    elif n_taken < facts["n_asked"] // 2 * 2:
        notes.append(f"note: {facts['n_asked']:,} were asked for and {n_taken:,} are there in the two parts")
    if facts["n_old_asked"] and min(facts["n_recent_asked"], facts["n_old_asked"]) < FEWEST:
        notes.append(
            f"note: {counted(n_taken, 'answer')} cannot tell whether the judge moved: {FEWEST} of each part are needed,"
            f" and {FEW} in all say something"
        )
    elif n_taken < FEW:
        notes.append(f"note: {counted(n_taken, 'answer')} can show only a large change; {FEW} or more say something")
    if facts["stored_scale"] is not None and list(facts["stored_scale"]) != list(facts["scale"]):
        notes.append("note: stored scores {:g} to {:g} are mapped on {:g} to {:g}".format(
            *facts["stored_scale"], *facts["scale"]
        ))  # fmt: skip
    return notes


# ---------------------------------------------------------------- after


def put_report(report: RecheckReport, *, as_json: bool) -> None:
    """Print what came of a recheck; of one that was cut off, what is known so far and how it goes on."""
    run = report.run
    if as_json:
        put_json({**report.result, "is_complete": report.is_complete, "run": None if run is None else asdict(run)})
    elif report.is_complete:
        put_result(report.result)
    elif report.result["recent"]["n"] >= 2:
        put("So far: " + report.result["headline"])
    if run is None:
        when = str(report.result["rechecked_utc"])[:16].replace("T", " ")
        say(f"note: this is the result of {when} UTC; no call was made (--again grades anew)")
    elif not report.is_complete:
        _say_stopped(run)


def _say_stopped(run: RunReport) -> None:
    if run.stop_reason == "interrupted":
        say(f"the recheck was stopped with {counted(run.n_left, 'answer')} left; the same command goes on with them")
        return
    reasons = ", ".join(f"{n} {reason}" for reason, n in run.reasons.items())
    say(f"error: the recheck {'failed' if run.status == 'failed' else 'stopped'}: {run.message or reasons}")
    say("the same command goes on where it stopped")


def put_result(result: Mapping[str, Any]) -> None:
    """Print a result: the sentence, the numbers of both parts, what was left out, the largest differences."""
    put(result["headline"])
    put()
    parts = [("recent", result["recent"])] + ([] if result["old"] is None else [("old", result["old"])])
    rows = [
        [
            name,
            f"{part['first_day']} to {part['last_day']}",
            part["n"],
            _with_bounds(part["then"]),
            _with_bounds(part["now"]),
            _with_bounds(part["shift"], change=True),
            f"{part['n_same']:,} of {part['n']:,}",
        ]
        for name, part in parts
    ]
    put_table(("part", "scored", "n", "stored", "now", "now - stored", "same score"), rows, numbers=("n",))
    drift = result["drift"]
    if drift is not None:
        put(f"judge's own move (old less recent): {_with_bounds(drift, change=True)}")
        if drift["method"] is not None:
            put(f"interval: {result['level']:.0%}, {drift['method']}")
    _put_left_out(result)
    _put_furthest(result["furthest"])
    put(f"next: `judgewatch anchors pick --from-recheck {result['recheck_id'][:SHORT_ID]}` makes first anchors of them")


def _with_bounds(found: Mapping[str, Any], *, change: bool = False) -> str | None:
    value = signed(found["value"]) if change else number(found["value"])
    interval = bounds(found["low"], found["high"])
    return value if interval is None else f"{value} {interval}"


def _put_left_out(result: Mapping[str, Any]) -> None:
    for title, counts in (("not scored now", result["unscored"]), ("not usable in the file", result["unusable"])):
        if counts:
            put(f"{title}: " + ", ".join(f"{n:,} {reason}" for reason, n in counts.items()))


def _put_furthest(rows: Sequence[Mapping[str, Any]]) -> None:
    if not rows:
        return
    put()
    cells = [
        [
            row["item_id"][:SHORT_ID],
            row["part"],
            row["stored_utc"][:10],
            number(row["stored"]),
            number(row["now"]),
            one_line(row["explanation"], _EXCERPT),
        ]
        for row in rows
    ]
    columns = ("furthest apart", "part", "scored", "stored", "now", "the judge's reason now")
    put_table(columns, cells, numbers=("stored", "now"), long=("the judge's reason now",))
