"""An analysis in plain words: the headline, what is worth saying, and what needs a look. No statistics here."""

from __future__ import annotations

from datetime import date
from typing import Literal

from evaluator.analysis.segments import largest_first
from evaluator.findings import Findings, JudgeFinding, QualityFinding, SegmentFinding, Shares

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


def between(low: float | None, high: float | None) -> str:
    """Bounds in words; empty when there are none."""
    if low is None or high is None:
        return ""
    return f"between {_plain(low)} and {_plain(high)}"


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
            return f"{moved}; apart from that, answers in {segment_name(worst)} got worse on {day_text(worst['since_day'])}."
        if assistant["state"] == "changed":
            return f"Both moved: {moved[0].lower()}{moved[1:]}, and your assistant got {assistant['direction']}."
        return f"{moved}."
    if worst is not None:
        return (
            f"Answers in {segment_name(worst)} got worse on {day_text(worst['since_day'])}; no judge drift explains it."
        )
    if assistant["state"] == "changed":
        return f"Your assistant got {assistant['direction']} on {day_text(assistant['since_day'])}; the judge did not move."
    return _quiet_headline(judge)


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
    if judge["state"] == "changed":
        span = days_text(judge["since_first_day"], judge["since_last_day"])
        return (
            f"Judge: since {day_text(judge['since_day'])} (somewhere in {span}) it gives {signed(judge['estimate'])}"
            f"{_bounds(judge['low'], judge['high'])} for the same answers ({counts}; {judge['method']})."
        )
    if judge["state"] == "no_data":
        return "Judge: no run has graded at least half of the anchors and ten of them."
    if judge["state"] == "learning":
        return (
            f"Judge: {judge['n_runs_counted']} runs so far, {judge['learning_runs_left']} more before a change can be"
            f" told from noise ({counts})."
        )
    if judge["estimate"] is None:
        return f"Judge: too few runs after the reference to compare ({counts})."
    said = {
        "steady": f"steady within ±{findings['settings']['smallest_change']:.2f}",
        "no_change_shown": "no change shown",
        "cannot_tell": "not sure enough yet to say",
    }[judge["state"]]
    return (
        f"Judge: {said}; {signed(judge['estimate'])}{_bounds(judge['low'], judge['high'])} against its first runs"
        f" ({counts}; {judge['method']})."
    )


def assistant_sentence(findings: Findings) -> str:
    """What is known of the assistant, the judge's move taken out."""
    assistant = findings["assistant"]
    counts = f"{assistant['n_before']} answers before, {assistant['n_after']} after"
    if assistant["state"] == "no_data":
        return "Your assistant: no day has a corrected mean yet."
    if assistant["state"] == "learning":
        return "Your assistant: too few days yet to tell a change from noise."
    if assistant["state"] == "changed":
        span = days_text(assistant["since_first_day"], assistant["since_last_day"])
        return (
            f"Your assistant: {assistant['direction']} since {day_text(assistant['since_day'])} (somewhere in {span}),"
            f" {signed(assistant['estimate'])}{_bounds(assistant['low'], assistant['high'])} as the judge of the"
            f" first runs would have scored it ({counts}; {assistant['method']})."
        )
    said = _quality_said(assistant, findings["settings"]["smallest_change"])
    return (
        f"Your assistant: {said}; {signed(assistant['estimate'])}{_bounds(assistant['low'], assistant['high'])}"
        f" ({counts}; {assistant['method']})."
    )


def _quality_said(assistant: QualityFinding, smallest_change: float) -> str:
    return {
        "steady": f"steady within ±{smallest_change:.2f}",
        "no_change_shown": "no change shown",
        "cannot_tell": "cannot tell yet",
    }[assistant["state"]]


def shares_sentence(shares: Shares) -> str:
    """Where the raw change of the traffic mean comes from."""
    before = days_text(shares["before_first_day"], shares["before_last_day"])
    after = days_text(shares["after_first_day"], shares["after_last_day"])
    return (
        f"Of {signed(shares['raw'])} in the traffic mean ({before}, n {shares['n_before']}, against {after},"
        f" n {shares['n_after']}), the judge accounts for {_share(shares['judge'], shares['judge_low'], shares['judge_high'])};"
        f" the assistant for {_share(shares['assistant'], shares['assistant_low'], shares['assistant_high'])};"
        f" a changed mix of questions for {_share(shares['mix'], shares['mix_low'], shares['mix_high'])}."
    )


def _share(value: float, low: float | None, high: float | None) -> str:
    zero = " (could be zero)" if low is not None and high is not None and low <= 0 <= high else ""
    return f"{signed(value)}{_bounds(low, high)}{zero}"


def segment_sentence(row: SegmentFinding) -> str:
    """What is known of a segment that changed."""
    return (
        f"{segment_name(row)}: {row['direction']} since {day_text(row['since_day'])}, {signed(row['estimate'])}"
        f"{_bounds(row['low'], row['high'])}, judge taken out (n {row['n_before']} before, {row['n_after']} after)."
    )


def needs_a_look(findings: Findings) -> list[str]:
    """Segments worth a look: those that got worse first, then those below the rest."""
    worse = [row for row in _changed(findings) if row["direction"] == "worse"]
    named = {row["segment_id"] for row in worse}
    low = [row for row in findings["segments"] if row["stands_out"] and row["segment_id"] not in named]
    found = [segment_sentence(row) for row in worse[:MOST_LOOKS]]
    for row in low[: MOST_LOOKS - len(found)]:
        found.append(
            f"{segment_name(row)}: {_plain(row['mean'] or 0.0)}, {signed(row['against_rest'])}"
            f"{_bounds(row['against_rest_low'], row['against_rest_high'])} against the rest in the last"
            f" {findings['last_days']} days (n {row['n']})."
        )
    return found


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


def _bounds(low: float | None, high: float | None) -> str:
    text = between(low, high)
    return f", {text}," if text else ""
