"""A limit and where its level lies, in a sentence. No statistics here."""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.analysis.phrases import day_text, days_text, number
from evaluator.analysis.units import Scale
from evaluator.findings import JudgeFinding, LimitFinding


def limit_sentence(finding: LimitFinding, judge: JudgeFinding, scale: Scale) -> str:
    """What is known of a limit."""
    what, bound = _what(finding), _amount(finding, finding["bound"])
    if finding["segment"] and finding["segment_id"] is None:
        return f"{what}: no answer has been in this segment; limits.segments names it."
    if finding["kind"] == "mean_under" and not scale.low <= finding["bound"] <= scale.high:
        return f"{what}: the limit {bound} lies outside the scale, {number(scale.low)} to {number(scale.high)}."
    if finding["state"] in ("no_data", "learning") or finding["value"] is None:
        return f"{what}: too few days yet to compare with the limit {bound}."
    level = f"{_amount(finding, finding['value'])}{_between(finding)} ({_days(finding)}, n {finding['n']:,})"
    if finding["explained_by_judge"]:
        return _explained(finding, judge, what, bound, level)
    if finding["state"] == "crossed":
        beyond = "under" if finding["kind"] == "mean_under" else "over"
        return f"{what} is {beyond} the limit {bound} since {day_text(finding['since_day'])}: {level}."
    if finding["state"] == "inside":
        return f"{what} keeps the limit {bound}: {level}."
    return f"{what} is close to the limit {bound}, not sure on which side: {level}."


def _explained(finding: LimitFinding, judge: JudgeFinding, what: str, bound: str, level: str) -> str:
    moved = f"the judge became stricter on {day_text(judge['since_day'])}"
    if finding["kind"] == "mean_under":
        raw = f"The raw mean {_of(finding)} is under the limit {bound} because {moved}"
        return f"{raw}; corrected for that it is {level}."
    return f"{what} is over the limit {bound}: {level}. That came when {moved}, and is put down to the judge."


def crossed(limits: Sequence[LimitFinding]) -> list[LimitFinding]:
    """Limits that are crossed, in the order they were set."""
    return [limit for limit in limits if limit["state"] == "crossed"]


def crossed_clause(limits: Sequence[LimitFinding]) -> str:
    """A second sentence for a headline; empty when every limit is kept."""
    found = crossed(limits)
    if not found:
        return ""
    if len(found) > 1:
        return f"{len(found)} limits are crossed."
    (limit,) = found
    beyond = "under" if limit["kind"] == "mean_under" else "over"
    return f"{_what(limit)} is {beyond} the limit {_amount(limit, limit['bound'])}."


def _what(finding: LimitFinding) -> str:
    if finding["kind"] == "mean_under":
        return f"The corrected mean {_of(finding)}"
    where = f" in {finding['segment']}" if finding["segment"] else ""
    if finding["kind"] == "unscored_share":
        return f"The share of answers without a score{where}"
    return f"The share of answers at {finding['level'] or 0.0:g} or under{where}"


def _of(finding: LimitFinding) -> str:
    return f"in {finding['segment']}" if finding["segment"] else "of all answers"


def _amount(finding: LimitFinding, value: float) -> str:
    return number(value) if finding["kind"] == "mean_under" else f"{100 * value:.1f} %".replace(".0 %", " %")


def _between(finding: LimitFinding) -> str:
    if finding["low"] is None or finding["high"] is None:
        return ""
    return f", between {_amount(finding, finding['low'])} and {_amount(finding, finding['high'])}"


def _days(finding: LimitFinding) -> str:
    return days_text(finding["first_day"], finding["last_day"])
