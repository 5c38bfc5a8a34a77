"""An analysis in one sentence, and how it should look. No statistics here, and none of its terms.

What else is worth saying is in ``wording``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Literal

from evaluator.analysis.judge_words import judge_change_clause
from evaluator.analysis.looks import worst_segment
from evaluator.analysis.phrases import counted, day_text, segment_name, signed, size_text
from evaluator.analysis.watching import FEW_VALUES
from evaluator.findings import AnchorRun, Findings, JudgeFinding, QualityFinding, Rechecked, Shares


def headline(findings: Findings) -> str:
    """The verdict in one sentence; in a second one that the newest runs do not count, if that is so."""
    left_out = runs_left_out(findings["judge"])
    if not left_out:
        return _verdict(findings)
    return f"{_verdict(findings)} {left_out_clause(left_out)}."


def _verdict(findings: Findings) -> str:
    judge, moved = findings["judge"], _what_moved(findings)
    if judge["state"] == "no_data":
        return _without_judge(findings)
    if judge["state"] == "learning":
        return _learning(findings) + (f" Meanwhile, {moved}." if moved else "")
    if judge["state"] == "changed":
        change = judge_change_clause(judge)
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
    setup, rechecked = findings.get("anchor_setup"), findings.get("rechecked")
    if setup is None and rechecked is not None and rechecked["finding"] in TOLD_BY_RECHECK:
        return f"These scores were imported, without anchors. {recheck_sentence(rechecked)}"
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
    rechecked = findings.get("rechecked")
    if judge == "no_data" and rechecked is not None and rechecked["finding"] == "changed":
        return "look"
    if "changed" in (judge, assistant) or worst_segment(findings) is not None:
        return "look"
    is_quiet = judge == "steady" and assistant != "cannot_tell" and not runs_left_out(findings["judge"])
    return "quiet" if is_quiet else "unknown"


def runs_left_out(judge: JudgeFinding) -> list[AnchorRun]:
    """The newest runs in a row that came to their end and are no measurement, oldest first."""
    left_out = list(takewhile(lambda run: run["not_counted"], reversed(judge["runs"])))
    return left_out[::-1]


def left_out_clause(left_out: Sequence[AnchorRun]) -> str:
    """That the newest runs do not count, as a clause."""
    day = day_text(left_out[0]["day"])
    if len(left_out) == 1:
        return f"The run of {day} does not count"
    return f"The last {len(left_out)} runs, since {day}, do not count"


# what a recheck finds that says something of the judge
TOLD_BY_RECHECK = frozenset({"changed", "small_change", "same", "no_change_shown"})


def recheck_sentence(rechecked: Rechecked) -> str:
    """What the newest recheck of imported scores found of their judge."""
    day, finding = day_text(rechecked["day"]), rechecked["finding"]
    if finding not in TOLD_BY_RECHECK or rechecked["value"] is None:
        return f"The recheck of {day} could not tell whether the judge moved."
    size = size_text(rechecked["value"], rechecked["low"], rechecked["high"])
    said = {
        "changed": "found that the judge changed",
        "small_change": "found that the judge changed a little",
        "same": "found that the judge did not change",
        "no_change_shown": "shows no change of the judge",
    }[finding]
    return f"The recheck of {day} {said}: {size}."
