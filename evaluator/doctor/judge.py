"""Does the judge answer, can its replies be read, does it answer anew, is it pinned, do the clocks agree?

Every check here reads one interview; none calls the judge itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from email.utils import parsedate_to_datetime

from evaluator.config import JudgeConfig
from evaluator.doctor.alias import check_alias
from evaluator.doctor.base import Check, Patient, fail, ok, skipped, warn
from evaluator.doctor.calls import CALL_FAILED, Asked, Interview
from evaluator.doctor.gateway import NAME as CACHE
from evaluator.doctor.gateway import check_cache
from evaluator.records import UnscoredReason
from evaluator.starting.score_places import places_in_replies

CLOCK_SKEW_S = 60.0
MOSTLY = 0.5
_REPLY_CHARS = 80
_PLACES_NAMED = 5
_FEW = 3  # scores under which an order says nothing
_ERROR_NAME = re.compile(r"\w+\(['\"](.*?)['\"],?\)")
NEEDS_A_REPLY = ("replies", CACHE, "model version")
CLOCK = "clock"


def check_call(found: Interview, patient: Patient) -> Check:
    """The first call: status, the model that answered, how long it took, whether the reply could be read."""
    first = found.asked[0]
    last, judge = first.last, patient.config.judge
    where = judge.function or judge.base_url
    if last is None or first.outcome.instrument is None or not first.has_reply:
        if _is_unreachable(first):
            text = f"nothing answers at judge.base_url = {judge.base_url!r}: {_why_unreachable(first)}"
            return fail(
                "judge call", text, "start the judge's server, or correct judge.base_url; it usually ends in /v1"
            )
        return fail("judge call", f"{where} did not grade: {_why_not(first)}", _what_to_do(first))
    status = "" if last.http_status is None else f"status {last.http_status}, "
    model = first.outcome.instrument.resolved_model or judge.model
    how = f"{status}{model} answered in {last.duration_ms:,.0f} ms ({first.outcome.instrument.output_mode} mode)"
    refused = sum(attempt.reason == "refused_parameter" for attempt in first.outcome.attempts)
    if refused:
        how += f"; {refused} of the parameters asked for {'is' if refused == 1 else 'are'} refused and left out"
    return ok("judge call", how)


def _why_not(asked: Asked) -> str:
    verdict, last = asked.outcome.verdict, asked.last
    said = asked.outcome.stop_message or (verdict.detail if verdict is not None else "")
    reason = str(verdict.unscored_reason) if verdict is not None and verdict.unscored_reason is not None else ""
    status = f"status {last.http_status}" if last is not None and last.http_status is not None else ""
    return "; ".join(part for part in (status, said or reason) if part) or "no reply"


def _is_unreachable(asked: Asked) -> bool:
    verdict = asked.outcome.verdict
    return verdict is not None and verdict.unscored_reason is UnscoredReason.CONNECTION


def _why_unreachable(asked: Asked) -> str:
    """What the library says of a connection that did not come about, without its name for the fault."""
    detail = "" if asked.outcome.verdict is None else asked.outcome.verdict.detail
    return _ERROR_NAME.sub(r"\1", detail) or "the connection failed"


def _what_to_do(asked: Asked) -> str:
    stop = asked.outcome.stop
    fixes = {
        "auth": "check the key, and that it may use this model",
        "quota": "raise the quota at the provider, or use another key",
        "model_not_found": "check judge.model; ask the provider which models this key may use",
        "not_an_api": "check judge.base_url; it usually ends in /v1",
    }
    return fixes.get(str(stop), "check judge.base_url, judge.model and whether the server is up; then run this again")


def check_replies(found: Interview, patient: Patient) -> Check:
    """Whether five answers of different levels get a score that can be read."""
    scored = [asked for asked in found.asked if _score(asked) is not None]
    n = len(found.asked)
    text = f"{len(scored)} of {n} answers got a score" + _order(scored)
    if len(scored) == n:
        return ok("replies", text)
    unread = [asked for asked in found.asked if _score(asked) is None]
    reasons = Counter(_reason(asked) for asked in unread)
    text += f"; {', '.join(f'{count} {reason}' for reason, count in reasons.most_common())}{_beginning(unread)}"
    make = warn if len(scored) >= MOSTLY * n else fail
    return make("replies", text, _fix_of_replies(unread, found.asked, patient))


def _score(asked: Asked) -> float | None:
    return None if asked.outcome.verdict is None else asked.outcome.verdict.score


def _reason(asked: Asked) -> str:
    verdict = asked.outcome.verdict
    return str(asked.outcome.stop or "not tried") if verdict is None else str(verdict.unscored_reason)


def _beginning(unread: Sequence[Asked]) -> str:
    texts = (" ".join(asked.outcome.raw_reply.split()) for asked in unread)
    text = next((text for text in texts if text), "")
    return f"; a reply begins {text[:_REPLY_CHARS]!r}" if text else ""


def _fix_of_replies(unread: Sequence[Asked], asked: Sequence[Asked], patient: Patient) -> str:
    judge = patient.config.judge
    reasons = {each.outcome.verdict.unscored_reason for each in unread if each.outcome.verdict is not None}
    if reasons <= CALL_FAILED:
        return "the calls failed, not the replies; see the judge call, or try again later"
    if UnscoredReason.TRUNCATED in reasons:
        return f"raise judge.max_tokens (it is {judge.max_tokens}): the judge was cut off"
    if judge.prompt_file is None and judge.function is None:
        return "check judge.output_mode, or take another model: this one does not reply as it is asked to"
    if patient.rubric is None:
        return _CHECK_ALL
    replies = [each.outcome.raw_reply for each in asked if each.outcome.raw_reply.strip()]
    fields, patterns = places_in_replies(replies, rubric=patient.rubric)
    if fields or patterns:
        return _place_of_score(fields, patterns, judge)
    if reasons <= {UnscoredReason.OUT_OF_RANGE, UnscoredReason.FOREIGN_SCALE}:
        low, high = patient.rubric.scale_min, patient.rubric.scale_max
        return (
            f"the judge's scores are off the scale {low:g} to {high:g}; set judge.scale to the one that it is asked for"
        )
    return _CHECK_ALL


_CHECK_ALL = (
    "check judge.score_field or judge.score_pattern, judge.output_mode and the scale against what the reply says"
)


def _place_of_score(fields: Sequence[str], patterns: Sequence[str], judge: JudgeConfig) -> str:
    """The setting that reads every one of the replies, in the words of the configuration."""
    name, other = ("score_field", "score_pattern") if fields else ("score_pattern", "score_field")
    places = [f'judge.{name} = "{place}"' for place in fields] or [f"judge.{name} = '{place}'" for place in patterns]
    instead = f", without judge.{other}" if getattr(judge, other) is not None else ""
    if len(places) == 1:
        return f"set {places[0]}{instead}: every reply has a number on the scale there"
    return f"set the one that is the score{instead}: {' or '.join(places[:_PLACES_NAMED])}"


def _order(scored: Sequence[Asked]) -> str:
    """How the scores follow the expected ones: information, since five answers prove nothing."""
    pairs = [(asked.anchor.expected_score, _score(asked)) for asked in scored]
    known = [(expected, score) for expected, score in pairs if expected is not None and score is not None]
    if len(known) < _FEW:
        return ""
    shown = ", ".join(f"{expected:g}→{score:g}" for expected, score in sorted(known))
    found = rank_correlation([expected for expected, _ in known], [score for _, score in known])
    return f" (expected→given: {shown}" + (")" if found is None else f"; rank correlation {found:+.2f})")


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's correlation with mean ranks for ties; None when one side does not vary."""
    x, y = _ranks(first), _ranks(second)
    mean = (len(x) + 1) / 2
    products = sum((a - mean) * (b - mean) for a, b in zip(x, y, strict=True))
    spread = sum((a - mean) ** 2 for a in x) * sum((b - mean) ** 2 for b in y)
    return products / spread**0.5 if spread > 0 else None


def _ranks(values: Sequence[float]) -> list[float]:
    return [
        sum(other < value for other in values) + (1 + sum(other == value for other in values)) / 2 for value in values
    ]


def check_gateway(found: Interview, patient: Patient) -> Check:
    """The same request twice: a reply out of a cache makes drift invisible."""
    if patient.config.judge.function is not None:
        return skipped(CACHE, "a function of one's own is not asked over HTTP here")
    first = found.asked[0].reply
    again = None if found.again is None else found.again.reply
    if first is None or again is None:
        return skipped(CACHE, "there are no two replies to compare")
    return check_cache(first, again, [asked.reply for asked in found.asked[1:] if asked.reply is not None])


def check_model(found: Interview, patient: Patient) -> Check:
    """Whether the name asked for stands for one version."""
    judge = patient.config.judge
    if judge.function is not None:
        return skipped("model version", "a function of one's own has no version that could be seen")
    instrument = next((asked.outcome.instrument for asked in found.asked if asked.outcome.instrument is not None), None)
    if instrument is None:
        return skipped("model version", "no reply to read it from")
    return check_alias(
        judge.model,
        instrument.resolved_model,
        base_url=judge.base_url,
        is_deployment=judge.azure_deployment is not None,
    )


def check_clock(found: Interview) -> Check:
    """This machine's clock against the server's: schedules, days and tokens that expire depend on it."""
    skew = _skew_s(found.asked)
    if skew is None:
        return skipped(CLOCK, "no answer carried the time of the server")
    if abs(skew) <= CLOCK_SKEW_S:
        return ok(CLOCK, f"within {max(1.0, abs(skew)):.0f} s of the server's")
    return warn(
        CLOCK,
        f"this machine is {abs(skew):,.0f} s {'behind' if skew > 0 else 'ahead of'} the judge's server",
        "set the clock (NTP); days, schedules and keys that expire depend on it",
    )


def _skew_s(asked: Iterable[Asked]) -> float | None:
    """Server's time less ours, where the smallest of the differences has the least delay in it."""
    skews = []
    for each in asked:
        if each.sighting is None or each.seen_s is None:
            continue
        try:
            told = parsedate_to_datetime(each.sighting.headers.get("date", "")).timestamp()
        except (ValueError, TypeError):
            continue
        skews.append(told - each.seen_s)
    return min(skews, key=abs, default=None)
