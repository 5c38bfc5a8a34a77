"""What an analysis has to say beyond its headline, in plain words. No statistics here, and none of its terms.

Methods are in the findings, beside each interval; a sentence says what the interval means.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluator.analysis.daily import reasons_text
from evaluator.analysis.headlines import left_out_clause, recheck_sentence, runs_left_out
from evaluator.analysis.judge_words import beside_the_judge, judge_sentence, state_words
from evaluator.analysis.looks import MOST_LOOKS, changed_segments, segment_sentence
from evaluator.analysis.phrases import counted, day_text, days_text, number, signed, since_text, size_text
from evaluator.findings import Findings, RawPeriod, Shares, TrafficDay
from evaluator.records import UnscoredReason

MANY_UNSCORED = 0.1  # share of missing scores that is worth a look


def sentences(findings: Findings) -> list[str]:
    """Everything worth saying, the judge first, each with interval and dates."""
    judge, assistant, shares = findings["judge"], findings["assistant"], findings["shares"]
    found = [judge_sentence(findings)]
    if findings.get("imported"):
        found += imported_sentences(findings)
    if judge["likely_cause"] is not None:
        found.append(f"Likely cause: {judge['likely_cause']}.")
    found += beside_the_judge(judge)
    found.append(assistant_sentence(findings))
    if assistant["likely_cause"] is not None:
        found.append(f"Likely cause: {assistant['likely_cause']}.")
    if shares is not None:
        found.append(shares_sentence(shares))
    return found + [segment_sentence(row) for row in changed_segments(findings["segments"])[:MOST_LOOKS]]


_GRADE_ANCHORS = (
    "grade anchors from today on with the same judge (`judgewatch import --verdicts FILE --same-judge`, then"
    " `judgewatch run once`)"
)


def imported_sentences(findings: Findings) -> list[str]:
    """What imported scores say by themselves, and what would let them say more."""
    found = []
    periods = findings.get("raw_periods", [])
    if len(periods) > 1:
        parts = [f"{_mean_text(period)}" for period in periods]
        found.append(f"Raw mean as the judge gave it: {parts[0]}, then {parts[1]}; `judgewatch history` has each day.")
    rechecked = findings.get("rechecked")
    if findings.get("anchor_setup") is None and rechecked is not None:
        found.append(f"{recheck_sentence(rechecked)} To see it from day to day: {_GRADE_ANCHORS}.")
    elif findings.get("anchor_setup") is None:
        found.append(
            f"To tell the two apart: {_GRADE_ANCHORS}, or have old and recent answers graded again now:"
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
    said = state_words(assistant["state"], findings["settings"]["smallest_change"])
    return f"Your assistant, day by day: {said}; {size} ({counts}).{_what_it_takes(findings)}"


def _what_it_takes(findings: Findings) -> str:
    """A second sentence: how many more days, or anchors, until a change that matters can be told; empty when enough."""
    assistant, smallest = findings["assistant"], findings["settings"]["smallest_change"]
    days, anchors = assistant.get("more_days"), assistant.get("more_anchors")
    wanted = [counted(days, "more day")] if days else []
    wanted += [counted(anchors, "more anchor")] if anchors else []
    if not wanted or assistant["state"] == "steady":
        return ""
    together = " and ".join(wanted) if assistant.get("more_together") else " or ".join(wanted)
    return f" To tell it to within ±{number(smallest)} takes about {together}."


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


def left_out_sentences(findings: Findings) -> list[str]:
    """Say why the newest runs do not count, and what follows from that."""
    left_out = runs_left_out(findings["judge"])
    if not left_out:
        return []
    why = left_out[-1]["not_counted"]
    unseen = "As long as that goes on, a change of the judge cannot be seen; `judgewatch doctor` says what to do."
    return [f"{left_out_clause(left_out)}: {why}. {unseen}"]


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
        found += _unscored_of_day(day, answers.get(day["day"], {}))
    return found


def _unscored_of_day(day: TrafficDay, reasons: Mapping[str, int]) -> list[str]:
    """What the judge left without a score, and what it could not be asked for: an answer without a text."""
    n, when = day["n"] + day["n_unscored"], day_text(day["day"])
    n_textless = reasons.get(UnscoredReason.NO_ANSWER_TEXT, 0)
    n_left = day["n_unscored"] - n_textless
    found = []
    if n_left and n_left >= MANY_UNSCORED * (n - n_textless):
        others = {reason: count for reason, count in reasons.items() if reason != UnscoredReason.NO_ANSWER_TEXT}
        why = f": {reasons_text(others)}" if others else ""
        found.append(f"The judge left {n_left} of {counted(n - n_textless, 'answer')} of {when} without a score{why}.")
    if n_textless and n_textless >= MANY_UNSCORED * n:
        verbs = "has no text and was not graded" if n_textless == 1 else "have no text and were not graded"
        found.append(f"{n_textless} of {counted(n, 'answer')} of {when} {verbs}.")
    return found
