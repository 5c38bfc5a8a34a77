"""Reads a judge's reply: a score of the rubric, or the reason why there is none. Pure and strict.

The order of trust: the whole text as JSON; what follows the thinking as JSON; the last free-standing object with the
score's key; a form in prose. Where a pattern of one's own says what a score looks like, its last match counts and
nothing else. Quoted text stays text, a reply that was cut off is TRUNCATED, and nothing is repaired.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from evaluator.judges.json_scan import CONFLICT, INVALID, FoundObject, Scan, load_json, scan_objects, split_thinking
from evaluator.judges.patterns import SlowPatternError, last_group
from evaluator.judges.score_fields import Found, ScoreField
from evaluator.judges.scores import ScoreOrReason, read_score, read_score_text
from evaluator.judges.text_forms import declines, find_text_score
from evaluator.records import ParsedVerdict, Rubric, UnscoredReason

_BLANK = " \t\r\n\f\v\u00a0\ufeff\u200b\u2060"
_EXPLANATION_KEYS = (
    *("reasoning", "explanation", "rationale", "reason", "feedback", "why"),
    *("justification", "comment", "comments", "critique", "analysis"),
)
_BEFORE = re.compile(r"[\s`*]*(?:json)?\s*", re.IGNORECASE)
_AFTER = re.compile(r"[\s`*.]*")
_UNSAFE = re.compile("[\\x00\\ud800-\\udfff]")
_DETAIL_CHARS = 120
_T = TypeVar("_T")


def parse_reply(
    content: str | None,
    *,
    rubric: Rubric,
    finish_reason: str | None = None,
    refusal: str | None = None,
    reasoning: str | None = None,
    score_field: str = "score",
    score_pattern: str | None = None,
) -> ParsedVerdict:
    """Read one reply of a judge.

    Args:
        content: The message's text; None when the server sent none.
        rubric: The scale, and the names of its levels.
        finish_reason: As the server gave it: ``length`` marks a reply cut off, ``content_filter`` a withheld one.
        refusal: The message's refusal field.
        reasoning: Thinking that the server sent apart from the content; it never holds the verdict.
        score_field: The key of the score in the reply, any case, or the path to it, see ``score_fields``.
        score_pattern: A regular expression with one group, the score; its last match outside the thinking counts.
    Returns:
        A finite score inside the scale, or a reason; never raises, whatever the text.
    """
    reader = _Reader(
        rubric=rubric,
        field=ScoreField.parse(score_field),
        pattern=score_pattern,
        is_cut=finish_reason == "length",
        thinking=safe_text(reasoning or ""),
    )
    if refusal:
        return reader.unscored(UnscoredReason.REFUSAL, detail=refusal)
    if finish_reason == "content_filter":
        return reader.unscored(UnscoredReason.CONTENT_FILTER)
    return reader.read(content or "")


def verdict_from_mapping(members: Mapping[str, Any], *, rubric: Rubric, score_field: str = "score") -> ParsedVerdict:
    """Read a verdict that is already an object, keys of any case; ``score_field`` as for a reply."""
    lowered = {str(name).strip().casefold(): value for name, value in members.items()}
    reader = _Reader(rubric=rubric, field=ScoreField.parse(score_field), is_cut=False, thinking="")
    return reader.from_members(lowered)


def safe_text(text: str) -> str:
    """Replace NUL and half surrogate pairs, which no database stores, by U+FFFD."""
    return _UNSAFE.sub("\ufffd", text)


@dataclass(frozen=True, kw_only=True)
class _Reader:
    """One reading: what is the same for all steps of it."""

    rubric: Rubric
    field: ScoreField
    is_cut: bool
    thinking: str
    pattern: str | None = None

    def read(self, content: str) -> ParsedVerdict:
        """Whole text first, thinking aside second: a tag quoted inside a valid verdict must not destroy it."""
        text = content.strip(_BLANK)
        if not text:
            return self._no_answer()
        if self.pattern is not None:
            return self._outside_thinking(text)
        whole = load_json(text)
        if isinstance(whole, str):  # a verdict encoded twice
            text = whole.strip(_BLANK)
            whole = load_json(text)
        if whole is not INVALID:
            return self._from_value(whole)
        if text.startswith("{") and self._is_cut_verdict(text, scan_objects(text)):
            return self.unscored(UnscoredReason.TRUNCATED)
        return self._outside_thinking(text)

    def _outside_thinking(self, text: str) -> ParsedVerdict:
        split = split_thinking(text)
        if split.answer == text:
            return self._from_prose(text)
        thinking = "\n".join(part for part in (self.thinking, safe_text(split.text)) if part)
        return replace(self, thinking=thinking).after_thinking(split.answer, is_closed=split.is_closed)

    def after_thinking(self, answer: str, *, is_closed: bool) -> ParsedVerdict:
        """Read what follows the thinking; without an end of it there is no verdict, whatever it mentions."""
        text = answer.strip(_BLANK)
        if not is_closed:
            return self.unscored(UnscoredReason.UNPARSED, detail="the thinking never ended")
        if not text:
            return self._no_answer()
        whole = INVALID if self.pattern is not None else load_json(text)
        return self._from_prose(text) if whole is INVALID else self._from_value(whole)

    def _no_answer(self) -> ParsedVerdict:
        return self.unscored(UnscoredReason.EMPTY)

    def _from_value(self, value: Any) -> ParsedVerdict:
        """Read a reply that is JSON as a whole."""
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
            value = value[0]
        if isinstance(value, dict):
            return self.from_members(value)
        if value is None or value == []:
            return self.unscored(UnscoredReason.MISSING)
        if isinstance(value, list):
            return self.unscored(UnscoredReason.WRONG_TYPE, detail="a list instead of one verdict")
        if self.is_cut:  # "4" may be the start of "45"
            return self.unscored(UnscoredReason.TRUNCATED)
        return self._verdict(read_score(value, rubric=self.rubric), value)

    def from_members(self, members: Mapping[str, Any]) -> ParsedVerdict:
        """Read one verdict object, or the only object inside a wrapper; reasons may stand around the score."""
        found = self.field.find(members) or Found(value=None, holders=(members,))
        score = UnscoredReason.AMBIGUOUS if found.value is CONFLICT else read_score(found.value, rubric=self.rubric)
        return self._verdict(
            score,
            found.value,
            explanation=_first(_explanation(holder) for holder in found.holders) or "",
            strengths=_first(_texts(holder.get("strengths")) for holder in found.holders) or (),
            weaknesses=_first(_texts(holder.get("weaknesses")) for holder in found.holders) or (),
        )

    def _from_prose(self, text: str) -> ParsedVerdict:
        """Read a text that is not JSON as a whole."""
        if self.pattern is not None:
            return self._from_pattern(text, self.pattern)
        scan = scan_objects(text)
        if self._is_cut_verdict(text, scan):
            return self.unscored(UnscoredReason.TRUNCATED)
        verdicts = [found for found in scan.objects if self._holds_score(found)]
        if self.is_cut:
            # more may have followed: only a verdict that opens the reply cannot be a quotation
            if len(verdicts) == 1 and _BEFORE.fullmatch(text, 0, verdicts[0].start):
                return self.from_members(verdicts[0].members)
            return self.unscored(UnscoredReason.TRUNCATED)
        if verdicts:
            chosen = self._choose(text, verdicts)
            if chosen is None:
                return self.unscored(UnscoredReason.AMBIGUOUS, detail="verdicts that may be quotations")
            return self.from_members(chosen.members)
        return self._from_words(text, scan)

    def _from_pattern(self, text: str, pattern: str) -> ParsedVerdict:
        """Read what the last match of one's own pattern holds; of a reply that was cut off, nobody knows the last."""
        if self.is_cut:
            return self.unscored(UnscoredReason.TRUNCATED)
        try:
            span = last_group(pattern, text)
        except SlowPatternError as error:
            return self.unscored(UnscoredReason.UNPARSED, detail=f"{error}; it can be matched in too many ways")
        if span is not None:
            value = text[slice(*span)] if span[0] >= 0 else ""
            return self._verdict(read_score_text(value, rubric=self.rubric), value, explanation=text)
        reason = UnscoredReason.REFUSAL if declines(text) else UnscoredReason.UNPARSED
        return self.unscored(reason, detail=text)

    def _from_words(self, text: str, scan: Scan) -> ParsedVerdict:
        score = find_text_score(text, rubric=self.rubric)
        if score is not None:
            return self._verdict(score, text, explanation=text)
        if declines(text):
            return self.unscored(UnscoredReason.REFUSAL, detail=text)
        for found in scan.objects:
            if _explanation(found.members):
                return self.from_members(found.members)
        return self.unscored(UnscoredReason.UNPARSED, detail=text)

    def _choose(self, text: str, verdicts: list[FoundObject]) -> FoundObject | None:
        """Return the last verdict that stands free; None when there is none, or when a later one contradicts it."""
        last = verdicts[-1]
        ends_text = _AFTER.fullmatch(text, last.end) is not None
        free = [found for found in verdicts if _has_own_lines(text, found)]
        if free:
            is_contradicted = ends_text and self._score_of(last) != self._score_of(free[-1])
            return None if is_contradicted else free[-1]
        opens_text = len(verdicts) == 1 and _BEFORE.fullmatch(text, 0, last.start) is not None
        return last if ends_text or opens_text else None

    def _holds_score(self, found: FoundObject) -> bool:
        return self.field.find(found.members) is not None

    def _score_of(self, found: FoundObject) -> ScoreOrReason:
        verdict = self.from_members(found.members)
        return verdict.score if verdict.score is not None else verdict.unscored_reason or UnscoredReason.MISSING

    def _is_cut_verdict(self, text: str, scan: Scan) -> bool:
        """Whether the end of the reply cuts a verdict off, said by the server or to be seen."""
        if scan.cut_start is None:
            return False
        own = (self.field.key, self.field.last_key)
        keys = "|".join(re.escape(name) for name in (*own, "strengths", "weaknesses", *_EXPLANATION_KEYS))
        return self.is_cut or re.search(rf'"(?:{keys})"\s*:', text[scan.cut_start :], re.IGNORECASE) is not None

    def _verdict(self, score: ScoreOrReason, value: object, **texts: Any) -> ParsedVerdict:
        if isinstance(score, UnscoredReason):
            return self.unscored(score, detail=_shown(value), **texts)
        return ParsedVerdict(score=score, unscored_reason=None, thinking=self.thinking, **_safe(texts))

    def unscored(self, reason: UnscoredReason, *, detail: str = "", **texts: Any) -> ParsedVerdict:
        """A verdict without a score. Where the reply was cut off, an unreadable or absent one is TRUNCATED."""
        if self.is_cut and reason in (UnscoredReason.EMPTY, UnscoredReason.UNPARSED):
            reason = UnscoredReason.TRUNCATED
        return ParsedVerdict(
            score=None,
            unscored_reason=reason,
            thinking=self.thinking,
            detail=safe_text(detail)[:_DETAIL_CHARS],
            **_safe(texts),
        )


def _has_own_lines(text: str, found: FoundObject) -> bool:
    """Whether nothing but a fence or a full stop shares the first and the last line of an object."""
    line_start = text.rfind("\n", 0, found.start) + 1
    line_end = text.find("\n", found.end)
    before = _BEFORE.fullmatch(text, line_start, found.start)
    after = _AFTER.fullmatch(text, found.end, len(text) if line_end < 0 else line_end)
    return before is not None and after is not None


def _first(values: Iterable[_T]) -> _T | None:
    """The first value that is not empty."""
    return next((value for value in values if value), None)


def _explanation(members: Mapping[str, Any]) -> str:
    for name in _EXPLANATION_KEYS:
        value = members.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def _shown(value: object) -> str:
    """Return the value that was no score, for people; of a nested one only the kind."""
    if value is None or value is CONFLICT:
        return ""
    if isinstance(value, str):
        return value
    return repr(value) if isinstance(value, int | float) else type(value).__name__


def _texts(value: object) -> tuple[str, ...]:
    """Return a list of texts from whatever stands there; a single text is one entry, not its letters."""
    entries = [value] if isinstance(value, str) else value
    if not isinstance(entries, list | tuple):
        return ()
    return tuple(entry.strip() for entry in entries if isinstance(entry, str) and entry.strip())


def _safe(texts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: safe_text(value) if isinstance(value, str) else tuple(safe_text(entry) for entry in value)
        for name, value in texts.items()
    }
