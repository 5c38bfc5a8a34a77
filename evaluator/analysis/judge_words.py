"""What is said of the judge: in which way it changed, by how much, since when. No statistics here."""

from __future__ import annotations

from evaluator.analysis.phrases import counted, day_text, number, since_text, size_text
from evaluator.findings import EndShift, Findings, JudgeFinding

TREND_LEVEL = 0.01
MOST_BROKEN = 3


def judge_change_clause(judge: JudgeFinding) -> str:
    """That the judge changed, as a clause for a headline."""
    day = day_text(judge["since_day"])
    if judge["kind"] == "single_anchor":
        return f"one anchor left its usual score on {day}"
    if judge["kind"] == "noisier":
        return f"the judge's scores began to scatter on {day}"
    if judge["kind"] == "calmer":
        return f"the judge began to repeat its scores more exactly on {day}"
    if judge["kind"] == "compression":
        return f"the judge began to pull scores together on {day}"
    if judge["kind"] == "stretch":
        return f"the judge began to pull scores apart on {day}"
    if judge["kind"] in ("low_end", "high_end"):
        end, answers = ("low", "weak") if judge["kind"] == "low_end" else ("high", "strong")
        shift = next((each for each in judge["ends"] if each["end"] == end), None)
        return f"the judge became {_direction(shift, judge)} with {answers} answers on {day}"
    return f"the judge became {judge['direction'] or 'another'} on {day}"


def _direction(shift: EndShift | None, judge: JudgeFinding) -> str:
    value = (judge["estimate"] if shift is None else shift["estimate"]) or 0.0
    return "more generous" if value > 0 else "stricter"


def judge_sentence(findings: Findings) -> str:
    """What is known of the judge."""
    judge = findings["judge"]
    counts = f"{counted(judge['n_anchors'], 'anchor')}, {counted(judge['n_runs_counted'], 'run')}"
    if judge["state"] == "no_data" and findings.get("imported") and not judge["n_runs"]:
        return "Judge: not watched from day to day; that takes anchors, and there are none yet."
    if judge["state"] == "no_data":
        return (
            "Judge: a run counts when it has graded at least ten anchors and half of those it was to grade;"
            f" so far none of {counted(judge['n_runs'], 'run')} has."
        )
    if judge["state"] == "learning":
        left = counted(judge["learning_runs_left"], "more run")
        return f"Judge: {left} needed before a change can be told from chance ({counts})."
    if judge["estimate"] is None:
        return f"Judge: too few runs after the first {findings['settings']['learning_runs']} to compare ({counts})."
    size = size_text(judge["estimate"], judge["low"], judge["high"])
    if judge["state"] != "changed":
        said = state_words(judge["state"], findings["settings"]["smallest_change"])
        return f"Judge: {said}; {size}, for the same answers as in {_compared_with(judge)} ({counts})."
    if judge["kind"] == "single_anchor":
        return f"Judge: all anchors but one together, {size}, for the same answers ({counts})."
    when = since_text(judge["since_day"], judge["since_first_day"], judge["since_last_day"])
    return f"Judge: {when} {_change(judge, size)} ({counts}).{_earlier(judge)}"


def _compared_with(judge: JudgeFinding) -> str:
    accepted = judge["accepted"]
    return "its first runs" if accepted is None else f"its runs from {day_text(accepted['from_day'])} on"


def _change(judge: JudgeFinding, size: str) -> str:
    """In which way, and by how much."""
    if judge["kind"] in ("noisier", "calmer"):
        ratio, low, high = judge["noise_ratio"], judge["noise_ratio_low"], judge["noise_ratio_high"]
        times = f"{number(ratio)} times as much as before" if ratio is not None else "otherwise than before"
        bounds = f", between {number(low)} and {number(high)}" if low is not None and high is not None else ""
        return f"its scores for the same answers scatter {times}{bounds}; their mean moved by {size}"
    if judge["kind"] in ("compression", "stretch", "low_end", "high_end"):
        ends = "; ".join(_end_text(each) for each in judge["ends"] if each["estimate"] is not None)
        return f"it gives {ends}; over all anchors {size}" if ends else f"it gives {size}, for the same answers"
    return f"it gives {size}, for the same answers"


def _end_text(end: EndShift) -> str:
    answers = "weak" if end["end"] == "low" else "strong"
    return f"{answers} answers {size_text(end['estimate'] or 0.0, end['low'], end['high'])} (n {end['n_anchors']})"


def _earlier(judge: JudgeFinding) -> str:
    """A second sentence for a judge that moved more than once."""
    if not judge["earlier_days"] or judge["against_first_runs"] is None:
        return ""
    days = " and ".join(day_text(day) for day in judge["earlier_days"])
    size = size_text(judge["against_first_runs"], judge["against_first_runs_low"], judge["against_first_runs_high"])
    return f" It had moved before, on {days}; against its first runs it now gives {size}."


def beside_the_judge(judge: JudgeFinding) -> list[str]:
    """What else is worth saying of the anchors: those that broke, a normal that was accepted, a norm that moved."""
    said = []
    for broken in judge["broken"][:MOST_BROKEN]:
        anchor = broken["anchor"]
        when = since_text(broken["since_day"], broken["since_first_day"], broken["since_last_day"])
        said.append(
            f"Anchor {anchor['anchor_id']}: {when} the judge gives it {number(anchor['after'])} instead of"
            f" {number(anchor['before'])} (n {anchor['n_before']} before, {anchor['n_after']} after); it is left out"
            " from then on."
        )
    if len(judge["broken"]) > MOST_BROKEN:
        said.append(f"{len(judge['broken']) - MOST_BROKEN} more anchors left their usual score and are left out.")
    accepted = judge["accepted"]
    if accepted is not None:
        since_first = size_text(
            judge["against_first_runs"] or 0.0, judge["against_first_runs_low"], judge["against_first_runs_high"]
        )
        against = f" Against its first runs it gives {since_first}." if judge["against_first_runs"] is not None else ""
        said.append(
            f"The judge's runs from {day_text(accepted['from_day'])} on were accepted as normal by"
            f" {accepted['by_whom']}: {accepted['note']}.{against}"
        )
    p, slope = judge["baseline_trend_p"], judge["baseline_trend"]
    if accepted is None and p is not None and slope is not None and p < TREND_LEVEL:
        said.append(
            f"Its first runs, which are the norm, themselves have a trend ({slope:+.3f} a run): a change that began"
            " then is not seen in full. `judgewatch anchors health` says what to do."
        )
    return said


def state_words(state: str, smallest_change: float) -> str:
    """What may be said of something that shows no change worth an alert."""
    return {
        "steady": f"steady within ±{number(smallest_change)}",
        "no_change_shown": "no change shown",
        "cannot_tell": "not sure enough yet for an alert",
    }[state]
