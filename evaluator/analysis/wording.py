"""An analysis in plain words: the headline, what is worth saying, and what needs a look. No statistics here."""

from __future__ import annotations

from datetime import date
from typing import Literal

from evaluator.analysis.segments import largest_first
from evaluator.findings import Findings, JudgeFinding, SegmentFinding, Shares

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MOST_LOOKS = 5


def day_text(day: str | None) -> str:
    """A day as people write it: 12 Oct."""
    if day is None:
        return "an unknown day"
    found = date.fromisoformat(day)
    return f"{found.day} {MONTHS[found.month - 1]}"


def days_text(first: str | None, last: str | None) -> str:
    """A span of days: 10–13 Oct, or 29 Sep–2 Oct."""
    if first is None or last is None or first == last:
        return day_text(first or last)
    if first[:7] == last[:7]:
        return f"{date.fromisoformat(first).day}–{day_text(last)}"
    return f"{day_text(first)}–{day_text(last)}"


def signed(value: float | None) -> str:
    """A change with its sign, two digits, a real minus."""
    if value is None:
        return "?"
    text = f"{value:+.2f}"
    return "0.00" if text in ("+0.00", "-0.00") else text.replace("-", "−")


def size_text(value: float | None, low: float | None, high: float | None) -> str | None:
    """A change with its bounds: +0.31, between 0.22 and 0.40. None without a value."""
    if value is None:
        return None
    if low is None or high is None:
        return f"{signed(value)} (no interval yet)"
    return f"{signed(value)}, between {_plain(low)} and {_plain(high)}"


def _plain(value: float) -> str:
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", "−")


def headline(findings: Findings) -> str:
    """The verdict in one sentence."""
    judge, assistant = findings["judge"], findings["assistant"]
    worst = _worst(findings)
    if judge["state"] == "no_data":
        return "Nothing to say yet: no run has graded enough anchors."
    if judge["state"] == "learning":
        done, needed = judge["n_runs_counted"], findings["settings"]["learning_runs"]
        return f"Learning: run {done} of {needed}; first alarm possible on {day_text(judge['first_alarm_day'])}."
    if judge["state"] == "changed":
        moved = f"The judge became {judge['direction']} on {day_text(judge['since_day'])}"
        if worst is not None:
            segment = f"answers in {segment_name(worst)} got worse on {day_text(worst['since_day'])}"
            return f"{moved}; apart from that, {segment}."
        if assistant["state"] == "changed":
            return f"Both moved: {moved[0].lower()}{moved[1:]}, and your assistant got {assistant['direction']}."
        return f"{moved}."
    if worst is not None:
        return (
            f"Answers in {segment_name(worst)} got worse on {day_text(worst['since_day'])}; no judge drift explains it."
        )
    if assistant["state"] == "changed":
        since = day_text(assistant["since_day"])
        return f"Your assistant got {assistant['direction']} on {since}; the judge {_still(judge)}."
    return _quiet_headline(judge)


def _still(judge: JudgeFinding) -> str:
    return "is steady" if judge["state"] == "steady" else "shows no change"


def _quiet_headline(judge: JudgeFinding) -> str:
    return {
        "steady": "The judge is steady.",
        "no_change_shown": "No change shown: the judge may have moved a little, less than can be told yet.",
        "cannot_tell": "Cannot tell yet whether the judge moved.",
    }[judge["state"]]


def tone(findings: Findings) -> Literal["quiet", "unknown", "look"]:
    """How the verdict should look: calm, not known, or worth a look."""
    if findings["judge"]["state"] == "changed" or findings["assistant"]["state"] == "changed" or _worst(findings):
        return "look"
    return "quiet" if findings["judge"]["state"] == "steady" else "unknown"


def sentences(findings: Findings) -> list[str]:
    """Everything worth saying, the judge first, each with interval and dates."""
    found = [judge_sentence(findings)]
    if findings["judge"]["likely_cause"] is not None:
        found.append(f"Likely cause: {findings['judge']['likely_cause']}.")
    found.append(assistant_sentence(findings))
    shares = findings["shares"]
    if shares is not None:
        found.append(shares_sentence(shares))
    found += [segment_sentence(row) for row in _changed(findings)[:MOST_LOOKS]]
    return found


def judge_sentence(findings: Findings) -> str:
    """What is known of the judge."""
    judge = findings["judge"]
    counts = f"{judge['n_anchors']} anchors, {judge['n_runs_counted']} runs"
    if judge["state"] == "no_data":
        return "Judge: no run has graded at least half of the anchors and ten of them."
    if judge["state"] == "learning":
        return (
            f"Judge: {judge['n_runs_counted']} runs so far, {judge['learning_runs_left']} more before a change can be"
            f" told from noise ({counts})."
        )
    size = size_text(judge["estimate"], judge["low"], judge["high"])
    if size is None:
        return f"Judge: too few runs after the reference to compare ({counts})."
    if judge["state"] == "changed":
        span = days_text(judge["since_first_day"], judge["since_last_day"])
        return (
            f"Judge: since {day_text(judge['since_day'])} (95 % sure: {span}) it gives {size}, for the same answers"
            f" ({counts}; {judge['method']})."
        )
    said = _said(judge["state"], findings["settings"]["smallest_change"])
    return f"Judge: {said}; {size}, against its first runs ({counts}; {judge['method']})."


def assistant_sentence(findings: Findings) -> str:
    """What is known of the assistant, the judge's move taken out."""
    assistant = findings["assistant"]
    counts = f"{assistant['n_before']} answers before, {assistant['n_after']} after"
    if assistant["state"] == "no_data":
        return "Your assistant: no day has a corrected mean yet."
    size = size_text(assistant["estimate"], assistant["low"], assistant["high"])
    if assistant["state"] == "learning" or size is None:
        return "Your assistant: too few days yet to tell a change from noise."
    if assistant["state"] == "changed":
        span = days_text(assistant["since_first_day"], assistant["since_last_day"])
        return (
            f"Your assistant: {assistant['direction']} since {day_text(assistant['since_day'])} (95 % sure: {span}),"
            f" {size}, as the judge of the first runs would have scored it ({counts}; {assistant['method']})."
        )
    said = _said(assistant["state"], findings["settings"]["smallest_change"])
    return f"Your assistant: {said}; {size} ({counts}; {assistant['method']})."


def _said(state: str, smallest_change: float) -> str:
    return {
        "steady": f"steady within ±{smallest_change:.2f}",
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
        f"Of {signed(shares['raw'])} in the traffic mean ({before}, n {shares['n_before']}, against {after},"
        f" n {shares['n_after']}), the judge accounts for {judge}; the assistant for {assistant}; a changed mix of"
        f" questions for {mix}."
    )


def _share(value: float, low: float | None, high: float | None) -> str:
    zero = " (could be zero)" if low is not None and high is not None and low <= 0 <= high else ""
    return f"{size_text(value, low, high)}{zero}"


def segment_sentence(row: SegmentFinding) -> str:
    """What is known of a segment that changed."""
    size = size_text(row["estimate"], row["low"], row["high"])
    return (
        f"{segment_name(row)}: {row['direction']} since {day_text(row['since_day'])}, {size}, judge taken out"
        f" (n {row['n_before']} before, {row['n_after']} after)."
    )


def needs_a_look(findings: Findings) -> list[str]:
    """Segments worth a look: those that got worse first, then those below the rest."""
    worse = [row for row in _changed(findings) if row["direction"] == "worse"]
    named = {(row["key"], row["value"], row["key2"], row["value2"]) for row in worse}
    low = []
    for row in sorted(findings["segments"], key=lambda row: (row["key2"] != "", row["against_rest"] or 0.0)):
        own = (row["key"], row["value"], row["key2"], row["value2"])
        parents = {(row["key"], row["value"], "", ""), (row["key2"], row["value2"], "", "")}
        # a crossed segment that only repeats what one of its two keys says is no news
        if row["stands_out"] and not ({own} | parents) & named:
            low.append(row)
            named.add(own)
    found = [segment_sentence(row) for row in worse[:MOST_LOOKS]]
    return found + [_low_sentence(row, findings["last_days"]) for row in low[: MOST_LOOKS - len(found)]]


def _low_sentence(row: SegmentFinding, last_days: int) -> str:
    size = size_text(row["against_rest"], row["against_rest_low"], row["against_rest_high"])
    mean = "no mean" if row["mean"] is None else f"{row['mean']:.2f}"
    return f"{segment_name(row)}: {mean}, {size}, against the rest in the last {last_days} days (n {row['n']})."


def segment_name(row: SegmentFinding) -> str:
    """A segment as people call it: refunds, or billing · German."""
    return f"{row['value']} · {row['value2']}" if row["key2"] else str(row["value"])


def _changed(findings: Findings) -> list[SegmentFinding]:
    """Changed segments; a crossed one is left out when one of its two keys tells the same story."""
    rows = largest_first(findings["segments"])
    singles = {(row["key"], row["value"]): row for row in rows if not row["key2"]}
    return [
        row
        for row in rows
        if not row["key2"]
        or not any(pair in singles for pair in ((row["key"], row["value"]), (row["key2"], row["value2"])))
    ]


def _worst(findings: Findings) -> SegmentFinding | None:
    """The segment that got worse by most, when it is worth an alert."""
    smallest = findings["settings"]["smallest_change"]
    worse = [row for row in _changed(findings) if row["direction"] == "worse" and -(row["estimate"] or 0.0) >= smallest]
    return worse[0] if worse else None
