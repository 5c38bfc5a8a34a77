"""An analysis in plain words: the headline, and what else is worth saying. No statistics here, and none of its terms.

Methods are in the findings, beside each interval; a sentence says what the interval means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Literal

from evaluator.analysis.daily import reasons_text
from evaluator.analysis.looks import MOST_LOOKS, changed_segments, segment_sentence, worst_segment
from evaluator.analysis.phrases import counted, day_text, days_text, number, segment_name, signed, since_text, size_text
from evaluator.analysis.watching import FEW_VALUES
from evaluator.findings import AnchorRun, Findings, JudgeFinding, QualityFinding, RawPeriod, Shares

MANY_UNSCORED = 0.1  # share of missing scores that is worth a look


def headline(findings: Findings) -> str:
    """The verdict in one sentence; in a second one that the newest runs do not count, if that is so."""
    left_out = runs_left_out(findings["judge"])
    if not left_out:
        return _verdict(findings)
    return f"{_verdict(findings)} {_left_out_clause(left_out)}."


def _verdict(findings: Findings) -> str:
    judge, moved = findings["judge"], _what_moved(findings)
    if judge["state"] == "no_data":
        return _without_judge(findings)
    if judge["state"] == "learning":
        return _learning(findings) + (f" Meanwhile, {moved}." if moved else "")
    if judge["state"] == "changed":
        change = f"the judge became {judge['direction']} on {day_text(judge['since_day'])}"
        if moved and findings["assistant"]["state"] == "changed":
            return f"Both moved: {change}, and {moved}."
        return _capital(f"{change}; apart from that, {moved}.") if moved else f"{_capital(change)}."
    return _capital(f"{moved}; {_judge_clause(judge)}.") if moved else _quiet_headline(findings)


def _what_moved(findings: Findings) -> str | None:
    """What happened to the answers, as a clause; None when nothing did that is worth a headline."""
    worst, assistant = worst_segment(findings), findings["assistant"]
    if worst is not None:
        return f"answers in {segment_name(worst)} got worse on {day_text(worst['since_day'])}"
    if assistant["state"] == "changed":
        return f"your assistant got {assistant['direction']} on {day_text(assistant['since_day'])}"
    return None


def _without_judge(findings: Findings) -> str:
    judge = findings["judge"]
    if findings.get("imported"):
        return _imported_headline(findings)
    if not judge["n_runs"]:
        return "The judge is not watched: no run has graded anchors."
    return "The judge is not watched yet: no run has graded enough anchors."


def _imported_headline(findings: Findings) -> str:
    """Of imported scores whose judge no anchors have measured."""
    setup = findings.get("anchor_setup")
    if setup is None:
        return "These scores were imported: no anchors, so a change cannot be split between judge and assistant yet."
    return (
        f"These scores were imported, and the anchors of judge setup v{setup} speak for their judge; no run has graded"
        " enough of them yet."
    )


def _learning(findings: Findings) -> str:
    judge, needed = findings["judge"], findings["settings"]["learning_runs"]
    new = f"Judge setup v{findings['setup']} is new, and its scores do not compare with those before. "
    return (
        (new if findings["setup"] > 1 and not findings.get("imported") else "")
        + f"Learning: run {judge['n_runs_counted']} of {needed};"
        + f" first alarm possible on {day_text(judge['first_alarm_day'])}."
    )


def _judge_clause(judge: JudgeFinding) -> str:
    return {
        "steady": "the judge is steady",
        "no_change_shown": "the judge shows no change",
        "cannot_tell": "whether the judge moved too cannot be told yet",
    }[judge["state"]]


def _mix_clause(shares: Shares | None, smallest_change: float) -> str:
    """A changed mix of questions that moved the mean score by more than matters; empty without one."""
    if shares is None or shares["mix_low"] is None or shares["mix_high"] is None:
        return ""
    is_sure = shares["mix_low"] > 0 or shares["mix_high"] < 0
    if not is_sure or abs(shares["mix"]) < smallest_change:
        return ""
    return f"; a changed mix of questions moved the mean score by {signed(shares['mix'])}"


def _quiet_headline(findings: Findings) -> str:
    judge, assistant = findings["judge"], findings["assistant"]
    if judge["state"] == "cannot_tell":
        if judge["n_runs_after"] < FEW_VALUES:
            left = counted(FEW_VALUES - judge["n_runs_after"], "more run")
            return f"Cannot tell yet whether the judge moved: about {left} needed."
        return "The judge may have moved; it is not sure enough yet for an alert."
    said = _capital(_judge_clause(judge))
    mix = _mix_clause(findings["shares"], findings["settings"]["smallest_change"])
    if assistant["state"] in ("no_data", "learning"):
        return f"{said}{mix}."
    same = assistant["state"] == judge["state"] and assistant["state"] in ("steady", "no_change_shown")
    if same:
        return f"{said}, and {'so is' if judge['state'] == 'steady' else 'nor does'} your assistant{mix}."
    return f"{said}; your assistant {_assistant_clause(assistant)}{mix}."


def _assistant_clause(assistant: QualityFinding) -> str:
    return {
        "steady": "is steady",
        "no_change_shown": "shows no change",
        "cannot_tell": "may have changed, which is not sure enough yet for an alert",
    }[assistant["state"]]


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def tone(findings: Findings) -> Literal["quiet", "unknown", "look"]:
    """How the verdict should look: calm, not known, or worth a look."""
    judge, assistant = findings["judge"]["state"], findings["assistant"]["state"]
    if "changed" in (judge, assistant) or worst_segment(findings) is not None:
        return "look"
    is_quiet = judge == "steady" and assistant != "cannot_tell" and not runs_left_out(findings["judge"])
    return "quiet" if is_quiet else "unknown"


# ---------------------------------------------------------------- sentences


def sentences(findings: Findings) -> list[str]:
    """Everything worth saying, the judge first, each with interval and dates."""
    judge, assistant, shares = findings["judge"], findings["assistant"], findings["shares"]
    found = [judge_sentence(findings)]
    if findings.get("imported"):
        found += imported_sentences(findings)
    if judge["likely_cause"] is not None:
        found.append(f"Likely cause: {judge['likely_cause']}.")
    found.append(assistant_sentence(findings))
    if assistant["likely_cause"] is not None:
        found.append(f"Likely cause: {assistant['likely_cause']}.")
    if shares is not None:
        found.append(shares_sentence(shares))
    return found + [segment_sentence(row) for row in changed_segments(findings["segments"])[:MOST_LOOKS]]


def judge_sentence(findings: Findings) -> str:
    """What is known of the judge."""
    judge = findings["judge"]
    counts = f"{counted(judge['n_anchors'], 'anchor')}, {counted(judge['n_runs_counted'], 'run')}"
    if judge["state"] == "no_data" and findings.get("imported") and not judge["n_runs"]:
        return "Judge: not watched; a change of the judge shows in anchors only, and there are none yet."
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
        said = _said(judge["state"], findings["settings"]["smallest_change"])
        return f"Judge: {said}; {size}, for the same answers as in its first runs ({counts})."
    when = since_text(judge["since_day"], judge["since_first_day"], judge["since_last_day"])
    return f"Judge: {when} it gives {size}, for the same answers ({counts}).{_earlier(judge)}"


def _earlier(judge: JudgeFinding) -> str:
    """A second sentence for a judge that moved more than once."""
    if not judge["earlier_days"] or judge["against_first_runs"] is None:
        return ""
    days = " and ".join(day_text(day) for day in judge["earlier_days"])
    size = size_text(judge["against_first_runs"], judge["against_first_runs_low"], judge["against_first_runs_high"])
    return f" It had moved before, on {days}; against its first runs it now gives {size}."


def imported_sentences(findings: Findings) -> list[str]:
    """What imported scores say by themselves, and what would let them say more."""
    found = []
    periods = findings.get("raw_periods", [])
    if len(periods) > 1:
        parts = [f"{_mean_text(period)}" for period in periods]
        found.append(f"Raw mean as the judge gave it: {parts[0]}, then {parts[1]}; `judgewatch history` has each day.")
    if findings.get("anchor_setup") is None:
        found.append(
            "To tell the two apart: grade anchors from today on with the same judge (`judgewatch import --verdicts FILE"
            " --same-judge`, then `judgewatch run once`), or have old and recent answers graded again now:"
            " `judgewatch recheck FILE`."
        )
    else:
        found.append(
            f"These scores were imported; the anchors of judge setup v{findings['anchor_setup']} speak for their judge."
        )
    return found


def _mean_text(period: RawPeriod) -> str:
    days = days_text(period["first_day"], period["last_day"])
    if period["mean"] is None or period["low"] is None or period["high"] is None:
        return f"none ({days}, n {period['n']:,})"
    bounds = f"between {number(period['low'])} and {number(period['high'])}"
    return f"{number(period['mean'])}, {bounds} ({days}, n {period['n']:,})"


def assistant_sentence(findings: Findings) -> str:
    """What is known of the assistant, the judge's move taken out."""
    assistant = findings["assistant"]
    if assistant["state"] == "no_data":
        if findings.get("imported"):
            return "Your assistant: not known apart from its judge."
        return "Your assistant: no day can be compared yet; that takes answers graded in runs that count."
    if assistant["state"] == "learning" or assistant["estimate"] is None:
        return "Your assistant: too few days yet to tell a change from chance."
    size = size_text(assistant["estimate"], assistant["low"], assistant["high"])
    counts = f"{counted(assistant['n_before'], 'answer')} before, {assistant['n_after']:,} after"
    if assistant["state"] == "changed":
        when = since_text(assistant["since_day"], assistant["since_first_day"], assistant["since_last_day"])
        changed = f"{assistant['direction']} {when}, {size}, with the judge's own change taken out"
        return f"Your assistant: {changed} ({counts})."
    said = _said(assistant["state"], findings["settings"]["smallest_change"])
    return f"Your assistant, day by day: {said}; {size} ({counts})."


def _said(state: str, smallest_change: float) -> str:
    return {
        "steady": f"steady within ±{number(smallest_change)}",
        "no_change_shown": "no change shown",
        "cannot_tell": "not sure enough yet for an alert",
    }[state]


def shares_sentence(shares: Shares) -> str:
    """Where the raw change of the traffic mean comes from."""
    before = days_text(shares["before_first_day"], shares["before_last_day"])
    after = days_text(shares["after_first_day"], shares["after_last_day"])
    judge, assistant, mix = (
        _share(shares["judge"], shares["judge_low"], shares["judge_high"]),
        _share(shares["assistant"], shares["assistant_low"], shares["assistant_high"]),
        _share(shares["mix"], shares["mix_low"], shares["mix_high"]),
    )
    return (
        f"Of {signed(shares['raw'])} in the mean score of all answers ({before}, n {shares['n_before']:,}, against"
        f" {after}, n {shares['n_after']:,}), the judge accounts for {judge}; the assistant for {assistant};"
        f" a changed mix of questions for {mix}."
    )


def _share(value: float, low: float | None, high: float | None) -> str:
    zero = " (could be zero)" if low is not None and high is not None and low <= 0 <= high else ""
    return f"{size_text(value, low, high)}{zero}"


def runs_left_out(judge: JudgeFinding) -> list[AnchorRun]:
    """The newest runs in a row that came to their end and are no measurement, oldest first."""
    left_out = list(takewhile(lambda run: run["not_counted"], reversed(judge["runs"])))
    return left_out[::-1]


def _left_out_clause(left_out: Sequence[AnchorRun]) -> str:
    day = day_text(left_out[0]["day"])
    if len(left_out) == 1:
        return f"The run of {day} does not count"
    return f"The last {len(left_out)} runs, since {day}, do not count"


def left_out_sentences(findings: Findings) -> list[str]:
    """Say why the newest runs do not count, and what follows from that."""
    left_out = runs_left_out(findings["judge"])
    if not left_out:
        return []
    why = left_out[-1]["not_counted"]
    unseen = "As long as that goes on, a change of the judge cannot be seen; `judgewatch doctor` says what to do."
    return [f"{_left_out_clause(left_out)}: {why}. {unseen}"]


def unscored_sentences(
    findings: Findings, *, anchors: Mapping[str, Mapping[str, int]], answers: Mapping[str, Mapping[str, int]]
) -> list[str]:
    """Say when many scores are missing in the newest run or on the newest day: the judge was not there for them.

    Args:
        findings: The analysis.
        anchors: Run's day to reason to the number of anchors without a score.
        answers: Answered day to reason to the number of answers without a score.
    """
    found = []
    if findings["judge"]["runs"]:
        run = findings["judge"]["runs"][-1]
        reasons = anchors.get(run["day"], {})
        if sum(reasons.values()) >= MANY_UNSCORED * max(1, run["n_anchors"]):
            missing = f"{sum(reasons.values())} of {counted(run['n_anchors'], 'anchor')}"
            found.append(
                f"The judge left {missing} without a score on {day_text(run['day'])}: {reasons_text(reasons)}."
            )
    if findings["days"]:
        day = findings["days"][-1]
        n = day["n"] + day["n_unscored"]
        if n and day["n_unscored"] >= MANY_UNSCORED * n:
            why = f": {reasons_text(answers[day['day']])}" if day["day"] in answers else ""
            missing = f"{day['n_unscored']} of {counted(n, 'answer')} of {day_text(day['day'])}"
            found.append(f"The judge left {missing} without a score{why}.")
    return found
